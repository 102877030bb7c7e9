import { describe, expect, test } from 'vitest'
import { correctionsOf, type LearntRun } from '../../src/runtimes/corrections.ts'
import { fingerprintOf } from '../../src/runtimes/fingerprint.ts'
import { isTellingRun, learntError } from '../../src/runtimes/learnt-error.ts'
import { p90Deviations, type RangedRuntime, rangeAround } from '../../src/runtimes/runtime-model.ts'
import { sourced } from '../../src/sourced.ts'
import { candidateOf, gpuOf, jobOf, machineOf, placementOf } from '../builders.ts'

/** Numbers from a seed (mulberry32), so that a world is the same each time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Standard normal numbers (Box and Muller). */
function normalOf(seed: number): () => number {
  const random = randomOf(seed)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

const hour = 3_600

/** Jobs whose estimates are off by a factor of their own, `bias`, and whose runs scatter by `noise`, each a deviation of the logarithm. */
interface World {
  readonly bias: number
  readonly noise: number
  /** What estimates say of themselves. */
  readonly claimed: number
}

/** How the next run of many jobs lies to its estimate after some runs: share within the range, and the median error of the logarithm. */
function nextRuns({ bias, noise, claimed }: World, count: number, seed: number) {
  const normal = normalOf(seed)
  const jobs = 2_000
  const seen = Array.from({ length: jobs }, () => {
    const own = bias * normal()
    const secondsOf = () => hour * Math.exp(own + noise * normal())
    const runs = Array.from({ length: count }, () => ({ id: '', at: '', estimatedSeconds: hour, seconds: secondsOf() }))
    const { factor, sigma } = learntError(runs, claimed) ?? { factor: 1, sigma: claimed }
    const error = Math.abs(Math.log(secondsOf() / (hour * factor)))
    return { error, isWithin: error <= p90Deviations * sigma }
  })
  const errors = seen.map(({ error }) => error).sort((a, b) => a - b)
  return { within: seen.filter(({ isWithin }) => isWithin).length / jobs, error: errors[jobs / 2] ?? Number.NaN }
}

describe('in a world whose errors are known', () => {
  test.each([
    ['estimates are off and sure of themselves', { bias: 0.7, noise: 0.07, claimed: 0.07 }],
    ['estimates are off, sure of themselves, and runs scatter', { bias: 0.7, noise: 0.3, claimed: 0.1 }],
    ['estimates are off by what they say', { bias: 0.3, noise: 0.3, claimed: 0.42 }],
    ['estimates are right and claim too little', { bias: 0, noise: 0.3, claimed: 0.15 }],
  ])('ten runs bring the ranges to eight in ten, and the error down to the noise: %s', (_, world) => {
    const before = nextRuns(world, 0, 1)
    const after = nextRuns(world, 10, 2)
    expect(after.within).toBeGreaterThan(0.75)
    expect(after.within).toBeLessThan(0.85)
    // The median of the absolute value of a normal number is 0.6745 deviations.
    expect(after.error).toBeLessThan(0.6745 * world.noise * 1.15)
    if (world.bias > 0) expect(after.error).toBeLessThan(before.error)
  })

  test('ranges that claim too much become narrower, never too narrow', () => {
    const world = { bias: 0.1, noise: 0.1, claimed: 0.5 }
    expect(nextRuns(world, 0, 3).within).toBeGreaterThan(0.99)
    const after = nextRuns(world, 20, 4)
    expect(after.within).toBeGreaterThan(0.78)
    expect(after.within).toBeLessThan(0.92)
  })

  test('few runs are better than none where estimates are off, and do no harm where they are right', () => {
    const off = { bias: 0.5, noise: 0.1, claimed: 0.3 }
    const [none, one, two] = [0, 1, 2].map(count => nextRuns(off, count, 5))
    expect(one?.error).toBeLessThan((none?.error ?? 0) * 0.75)
    expect(two?.error).toBeLessThan((none?.error ?? 0) * 0.4)
    const right = { bias: 0, noise: 0.1, claimed: 0.1 }
    expect(nextRuns(right, 1, 6).error).toBeLessThan(nextRuns(right, 0, 6).error * 1.25)
    expect(nextRuns(right, 1, 6).within).toBeGreaterThan(0.78)
  })
})

/** A job that says of itself that it takes an hour, on the GPUs it asks for. */
const said = { kind: 'annotation', place: { file: 'job.sbatch', line: 2 } } as const
const job = jobOf({ name: 'train-1', declarations: { runtime: sourced({ seconds: hour }, said) } })
const fingerprint = fingerprintOf(job, [], 'declared') ?? ''
const candidate = (name: string) => candidateOf(placementOf(machineOf(gpuOf(name), 8), 8))
const estimate: RangedRuntime = { basis: 'declared', seconds: rangeAround(hour, 0.1), working: [] }

function runOf(hours: number, more: Partial<LearntRun> = {}): LearntRun {
  const { gpus = '8x A' } = more
  return {
    key: String(hours),
    fingerprint,
    name: job.name,
    id: '7',
    at: '2026-11-30T12:00:00.000Z',
    estimatedSeconds: hour,
    seconds: hours * hour,
    ...more,
    gpus,
  }
}

function corrected(runs: readonly LearntRun[], more: Partial<{ on: string; of: typeof job; basis: 'model' }> = {}) {
  return correctionsOf(wanted => runs.filter(run => run.fingerprint === wanted)).correct(
    { ...estimate, ...(more.basis && { basis: more.basis }) },
    more.of ?? job,
    [],
    candidate(more.on ?? 'A'),
  )
}

const width = ({ seconds: { p10, p90 } }: RangedRuntime) => Math.log(p90 / p10)

describe('a correction', () => {
  test('by one run is half of what it was off, by four that agree nearly all, with a narrower range', () => {
    const one = corrected([runOf(2)])
    expect(one.correction?.factor).toBeCloseTo(Math.SQRT2, 9)
    expect(width(one)).toBeGreaterThan(width(estimate))
    const four = corrected([2, 2.02, 1.98, 2.01].map(hours => runOf(hours)))
    expect(four.correction?.factor).toBeGreaterThan(1.95)
    expect(width(four)).toBeLessThan(width(one) / 3)
    expect(four.correction?.estimatedSeconds).toEqual(estimate.seconds)
  })

  test('by runs that contradict each other is small, and the range wide', () => {
    const found = corrected([0.4, 2.5, 1, 2].map(hours => runOf(hours)))
    expect(Math.abs(Math.log(found.correction?.factor ?? 9))).toBeLessThan(0.2)
    expect(width(found)).toBeGreaterThan(Math.log(2.5 / 0.4))
  })

  test('is not turned by one run that did other work, first or later', () => {
    expect(corrected([runOf(0.02)]).correction?.factor).toBeGreaterThan(0.6)
    const found = corrected([2, 2.1, 1.9, 2, 0.02].map(hours => runOf(hours)))
    expect(found.correction?.factor).toBeGreaterThan(1.5)
  })

  test('is drawn up by runs that their limit stopped, and never made surer by them', () => {
    const done = [1, 1.1, 0.9].map(hours => runOf(hours))
    const stopped = [1.5, 1.5, 1.5].map(hours => runOf(hours, { isStopped: true }))
    const [without, withThem] = [corrected(done), corrected([...done, ...stopped])]
    expect(withThem.correction?.factor).toBeGreaterThan((without.correction?.factor ?? 0) * 1.1)
    expect(width(withThem)).toBeGreaterThan(width(without))
    const early = corrected([...done, ...stopped.map(run => ({ ...run, seconds: 0.01 * hour }))])
    expect(early.correction?.factor).toBeCloseTo(without.correction?.factor ?? 0, 2)
    expect(width(early)).toBeGreaterThanOrEqual(width(without) * 0.99)
    expect(corrected(stopped)).toEqual(estimate)
  })

  test('goes by the newest twenty', () => {
    const old = Array.from({ length: 30 }, () => runOf(9, { at: '2026-01-01T12:00:00.000Z' }))
    const recent = Array.from({ length: 20 }, (_, index) => runOf(2 + (index % 2) / 50))
    const found = corrected([...recent, ...old])
    expect(found.correction?.factor).toBeCloseTo(2, 1)
    expect(found.correction?.runs).toHaveLength(20)
  })

  test('names the runs it goes by, and how to drop it', () => {
    const runs = [runOf(2, { id: '4711' }), runOf(2, { id: '4712', at: '2026-12-01T12:00:00.000Z' })]
    const text = corrected([...runs, runOf(3, { isStopped: true, id: '4713' })])
      .working.map(({ figure, origin }) => `${figure} ${'formula' in origin ? origin.formula : ''}`)
      .join('\n')
    expect(text).toContain('2 runs on 8x A, and 1 run that the time limit stopped')
    expect(text).toContain('jobs 4712 of 2026-12-01, 4711 of 2026-11-30')
    expect(text).toContain(`gpufare review --forget ${fingerprint}`)
  })

  test('counts for GPUs that the job never ran on as well, without a narrower range, until it ran there', () => {
    const onA = [2, 2, 2, 2].map(hours => runOf(hours))
    const there = corrected(onA, { on: 'B' })
    expect(there.seconds.p50).toBeCloseTo(corrected(onA).seconds.p50, 6)
    expect(width(there)).toBeCloseTo(width(estimate), 6)
    expect(there.correction?.gpus).toBe('8x A')
    const own = corrected([...onA, runOf(0.5, { gpus: '8x B' })], { on: 'B' })
    expect(own.correction?.factor).toBeCloseTo(Math.sqrt(0.5), 9)
  })
})

describe('another fingerprint is not touched', () => {
  const runs = [2, 2, 2].map(hours => runOf(hours))
  const withRuntime = (seconds: number) => ({ runtime: sourced({ seconds }, said) })
  test.each([
    ['another script', jobOf({ ...job, name: 'evaluate' })],
    ['another scheduler', jobOf({ ...job, scheduler: 'kubernetes' })],
    ['another declaration', jobOf({ ...job, declarations: withRuntime(2 * hour) })],
    ['a name that says nothing', jobOf({ ...job, name: 'wrap' })],
  ])('%s', (_, of) => {
    expect(corrected(runs, { of })).toEqual(estimate)
  })

  test('but a counter in the name, and lines that moved, are the same', () => {
    const moved = sourced({ seconds: hour }, { ...said, place: { file: 'copy.sbatch', line: 9 } })
    const of = jobOf({ ...job, name: 'train-27', declarations: { runtime: moved } })
    expect(corrected(runs, { of }).correction?.runs).toHaveLength(3)
  })

  test('nor another basis, and history and limits have none', () => {
    expect(corrected(runs, { basis: 'model' }).correction).toBe(undefined)
    expect(fingerprintOf(job, [], 'history')).toBeUndefined()
    expect(fingerprintOf(job, [], 'limit')).toBeUndefined()
  })
})

test('a run below a minute is a trial where more was expected', () => {
  expect(isTellingRun({ seconds: 5, estimatedSeconds: hour })).toBe(false)
  expect(isTellingRun({ seconds: 5, estimatedSeconds: 50 })).toBe(true)
  expect(isTellingRun({ seconds: 0, estimatedSeconds: 50 })).toBe(false)
  expect(isTellingRun({ seconds: 100, estimatedSeconds: hour })).toBe(true)
})
