import { describe, expect, it } from 'vitest'
import type { Model } from '../src/model.ts'
import { worstFit } from '../src/obstacles.ts'
import { type Sourced, sourced } from '../src/sourced.ts'
import type { Workload } from '../src/workload.ts'
import { gpuOf, jobOf, machineOf, placementOf } from './builders.ts'
import { llama2 } from './published-models.ts'

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'manifest', place: { file: 'job.yaml', line: 1 } })
}

const sharded = (model: Model, processes: number): Workload => ({
  purpose: 'train',
  place: { file: 'job.yaml' },
  role: 'job',
  repetitions: 1,
  conditional: false,
  model: said(model),
  microBatch: said(1),
  sequenceLength: said(2_048),
  processes: said(processes),
  parallelism: said({ tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'weights' }),
})

describe('memory of a placement', () => {
  it('is shared by the GPUs at work: four processes on eight GPUs hold a quarter of the optimizer each', () => {
    const placements = [placementOf(machineOf(gpuOf('a100-80gb'), 8), 8)]
    const optimizerOf = (processes: number) =>
      worstFit(jobOf(), placements, [sharded(llama2, processes)]).items.find(item => item.what === 'optimizer')?.bytes
    expect(optimizerOf(4)).toBe(2 * (optimizerOf(8) ?? 0))
  })
})
