import { describe, expect, it } from 'vitest'
import { coursesOf, secondsTogether } from '../src/courses.ts'
import { type Sourced, sourced } from '../src/sourced.ts'
import { trainingWork } from '../src/training-work.ts'
import type { Workload } from '../src/workload.ts'
import { candidateOf, gpuOf, jobOf, machineOf, placementOf, roleOf } from './builders.ts'

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

const job = jobOf({ roles: [roleOf({ name: 'master' }), roleOf({ name: 'worker', gpuCount: said(24) })] })

describe('courses of a job', () => {
  it('join master and workers that start the same run, over all their GPUs', () => {
    const courses = coursesOf(job, [run('master'), run('worker')], candidate)
    expect(courses).toMatchObject([{ gpuCount: 32, runs: [{ hardware: { gpuCount: 32, gpusPerMachine: 8 } }] }])
  })

  it('stand side by side where roles do different things', () => {
    const courses = coursesOf(job, [run('master'), run('worker', { steps: said(7) })], candidate)
    expect(courses?.map(course => course.gpuCount)).toEqual([8, 24])
  })

  it('keep runs of one role in their order', () => {
    const courses = coursesOf(job, [run('master'), run('master', { steps: said(7) })], candidate)
    expect(courses?.[0]?.runs.map(({ workload }) => workload.steps?.value)).toEqual([100, 7])
  })

  it('are unknown where a GPU type is', () => {
    const strange = { ...placementOf(machine, 8, { role: 'master' }), gpu: { name: 'xpu', vendor: 'unknown' } as const }
    expect(coursesOf(job, [run('master')], candidateOf(strange))).toBeUndefined()
  })
})

describe('GPUs at work', () => {
  const eight = candidateOf(placementOf(machine, 8))
  const single = jobOf()
  const gpusOf = (processes: number, given = eight) =>
    coursesOf(single, [run('job', { processes: said(processes) })], given)?.[0]?.runs[0]?.hardware.gpuCount

  it('are as many as the processes where fewer were started than GPUs requested', () => {
    expect([1, 4, 8].map(processes => gpusOf(processes))).toEqual([1, 4, 8])
  })

  it('are all of a candidate with fewer or more GPUs than requested', () => {
    expect(gpusOf(4, candidateOf(placementOf(machine, 2)))).toBe(2)
    expect(gpusOf(8, candidateOf(placementOf(machine, 16)))).toBe(16)
  })

  it('of runs in the background are shared: eight runs of an hour on one of eight GPUs each take an hour', () => {
    const beside = run('job', { processes: said(1), background: true, repetitions: 8 })
    const [course] = coursesOf(single, [beside], eight) ?? []
    if (course === undefined) throw new Error('no course')
    expect(secondsTogether(course, [8 * 3600])).toBe(3600)
    const [few] = coursesOf(single, [{ ...beside, repetitions: 2 }], eight) ?? []
    if (few === undefined) throw new Error('no course')
    expect(secondsTogether(few, [2 * 3600])).toBe(3600)
  })

  it('work through runs in the foreground one after the other', () => {
    const [course] = coursesOf(single, [run('job'), run('job', { background: true })], eight) ?? []
    if (course === undefined) throw new Error('no course')
    expect(secondsTogether(course, [100, 30])).toBe(130)
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
