import { describe, expect, it } from 'vitest'
import { type Sourced, sourced } from '../../src/sourced.ts'
import { fastestRun, modelFlops } from '../../src/throughput/fastest-run.ts'
import { type Plan, planRun } from '../../src/throughput/run-plan.ts'
import type { Workload } from '../../src/workload.ts'
import { gpuOf } from '../builders.ts'
import { decoder, llama2 } from '../published-models.ts'

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'manifest', place: { file: 'job.sbatch', line: 7 } })
}

const training = (facts: Partial<Workload> = {}): Workload => ({
  purpose: 'train',
  place: { file: 'job.sbatch' },
  role: 'job',
  repetitions: 1,
  conditional: false,
  model: said(llama2),
  sequenceLength: said(2048),
  globalBatch: said(32),
  microBatch: said(4),
  gradientAccumulation: said(1),
  precision: said('bf16'),
  ...facts,
})

/** Eight GPUs of 300 TFLOP/s. */
const hardware = { gpu: gpuOf('a100-80gb'), gpuCount: 8, gpusPerMachine: 8 }

function planOf(workload: Workload): Plan {
  const plan = planRun(workload, hardware)
  if (plan === undefined) throw new Error('no plan')
  return plan
}

describe('the fastest that a training run may be', () => {
  it('computes 6 FLOPs for each weight and token, and attention over the half before it', () => {
    // Llama 2 7B without its input embedding: 6,607,077,376 weights; 32 layers of width 4,096.
    const flops = 6 * 6_607_077_376 * 2048 + (3 * (4 * 32 * 4096 * 2048) * 2048) / 2
    expect(modelFlops(planOf(training())) / flops).toBeCloseTo(1, 3)
  })

  it('never passes 62 % of the 16-bit peak, nor 71 % at the quick end', () => {
    const workload = training()
    const plan = planOf(workload)
    const { p50, p10 } = fastestRun(plan, workload, hardware)
    expect(modelFlops(plan) / (p50 * 8 * 300e12)).toBeCloseTo(0.62, 6)
    expect(modelFlops(plan) / (p10 * 8 * 300e12)).toBeCloseTo(0.713, 6)
  })

  it('waits for Python where the model is small: 12 layers at 2.5 ms and 10 ms besides are 25 steps a second', () => {
    const small = training({
      model: said(decoder('tiny', { layers: 12, hidden: 64, heads: 1 })),
      sequenceLength: said(128),
      framework: said('hf-trainer'),
    })
    expect(1 / (fastestRun(planOf(small), small, hardware).p50 * 32)).toBeCloseTo(25, 6)
    const compiled = { ...small, compiled: said(true) }
    expect(1 / (fastestRun(planOf(compiled), compiled, hardware).p50 * 32)).toBeCloseTo(1 / (12 * 1.3e-3), 6)
  })
})
