import { describe, expect, it } from 'vitest'
import { coursesOf } from '../src/courses.ts'
import { type Sourced, sourced } from '../src/sourced.ts'
import { trainingWork } from '../src/training-work.ts'
import type { Workload } from '../src/workload.ts'
import { candidateOf, gpuOf, machineOf, placementOf } from './builders.ts'

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'manifest', place: { file: 'job.yaml', line: 1 } })
}

const run = (role: string, facts: Partial<Workload> = {}): Workload => ({
  purpose: 'train',
  place: { file: 'job.yaml' },
  role,
  repetitions: 1,
  conditional: false,
  steps: said(100),
  ...facts,
})

const machine = machineOf(gpuOf('a100-80gb'), 8)
const candidate = candidateOf(placementOf(machine, 8, { role: 'master' }), {
  placements: [placementOf(machine, 8, { role: 'master' }), placementOf(machine, 24, { role: 'worker' })],
})

describe('courses of a job', () => {
  it('join master and workers that start the same run, over all their GPUs', () => {
    const courses = coursesOf([run('master'), run('worker')], candidate)
    expect(courses).toMatchObject([{ hardware: { gpuCount: 32, gpusPerMachine: 8 } }])
  })

  it('stand side by side where roles do different things', () => {
    const courses = coursesOf([run('master'), run('worker', { steps: said(7) })], candidate)
    expect(courses?.map(course => course.hardware.gpuCount)).toEqual([8, 24])
  })

  it('keep runs of one role in their order', () => {
    const courses = coursesOf([run('master'), run('master', { steps: said(7) })], candidate)
    expect(courses?.[0]?.workloads.map(workload => workload.steps?.value)).toEqual([100, 7])
  })

  it('are unknown where a GPU type is', () => {
    const strange = { ...placementOf(machine, 8, { role: 'master' }), gpu: { name: 'xpu', vendor: 'unknown' } as const }
    expect(coursesOf([run('master')], candidateOf(strange))).toBeUndefined()
  })
})

describe('work of a run', () => {
  it.each([
    ['steps of the global batch', { steps: said(100), globalBatch: said(64) }, 6_400],
    [
      'steps before epochs, as trainers count',
      { steps: said(100), globalBatch: said(64), samples: said(50_000), epochs: said(3) },
      6_400,
    ],
    ['samples of every epoch', { samples: said(50_000), epochs: said(3) }, 150_000],
    ['tokens by the length of a sequence', { tokens: said(2_048_000) }, 1_000],
  ])('is %s', (_, facts, samples) => {
    const { steps: _steps, ...open } = run('master')
    expect(trainingWork({ ...open, ...facts }, 2_048)?.samples).toBe(samples)
  })

  it('is unknown where nothing says how long it trains', () => {
    const { steps: _, ...open } = run('master')
    expect(trainingWork({ ...open, globalBatch: said(64) }, 2_048)).toBeUndefined()
    expect(trainingWork(run('master'), 2_048)).toBeUndefined()
  })
})
