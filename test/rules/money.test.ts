import { describe, expect, test } from 'vitest'
import type { Fare } from '../../src/fare.ts'
import { quoteCandidate } from '../../src/quote.ts'
import type { Runtime } from '../../src/runtimes/runtime-model.ts'
import { sourced } from '../../src/sourced.ts'
import {
  candidateOf,
  fareWith,
  gpuOf,
  hours,
  jobOf,
  limitOf,
  machineOf,
  placementOf,
  pricesOf,
  roleOf,
} from '../builders.ts'
import { findingsOf } from './policies.ts'

const prices = pricesOf({ '8xa100': 20, '8xl40s': 8 })
const timeLine = { file: 'job.sbatch', line: 7 }
const limited = (limitHours: number, tasks = 1) =>
  jobOf({
    roles: [
      roleOf({
        timeLimitSeconds: sourced(limitHours * 3_600, { kind: 'manifest', place: timeLine }),
        tasks,
        concurrentTasks: tasks,
      }),
    ],
  })

/** On eight A100 at $20/h, and with `l40sHours` also on eight L40S at $8/h. */
function fareOn(runtime: Runtime | undefined, job = jobOf(), l40sHours?: number, more: Partial<Fare> = {}): Fare {
  const on = (name: string, asRequested: boolean) =>
    candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), { asRequested })
  const other = l40sHours === undefined ? [] : [hours(l40sHours, l40sHours, l40sHours)]
  return fareWith(
    [
      quoteCandidate(job, on('a100', true), runtime, 'on-demand', prices),
      ...other.map(time => quoteCandidate(job, on('l40s', false), time, 'on-demand', prices)),
    ],
    { job, ...more },
  )
}

describe('job-cost', () => {
  const limit = (usd: number) => ({ rule: 'job-cost', limit: usd }) as const
  const fare = fareOn(hours(3, 4, 6)) // $60, $80, $120

  test.each([
    [120, []],
    [119, ['warn']],
    [80, ['warn']],
    [79, ['deny']],
  ])('of $%i warns above on the P90 and denies above on the P50', (usd, levels) => {
    expect(findingsOf(limit(usd), fare).map(({ level }) => level)).toEqual(levels)
  })

  test('compares the figure that it names, at the level that it names', () => {
    expect(findingsOf({ ...limit(100), level: 'deny', basis: 'p90' }, fare)).toMatchObject([{ level: 'deny' }])
    expect(findingsOf({ ...limit(100), level: 'deny' }, fare)).toEqual([])
    expect(findingsOf({ ...limit(100), level: 'warn', basis: 'p50' }, fare)).toEqual([])
  })

  test('says the figures and the line that asks for the GPUs', () => {
    expect(findingsOf(limit(50), fare)).toMatchObject([
      { rule: 'job-cost', jobName: 'train', place: { line: 1 }, message: '$80 (P50) is over $50' },
    ])
  })

  test('in another currency compares and prints amounts in it', () => {
    const currency = { code: 'EUR', perUsd: 0.5 }
    expect(findingsOf(limit(39), fare, { currency })).toMatchObject([{ message: '€40 (P50) is over €39' }])
  })

  test('proposes the quickest GPU type that passes', () => {
    const [finding] = findingsOf(limit(50), fareOn(hours(3, 4, 6), jobOf(), 5)) // $40
    expect(finding?.remedy).toBe('on 8x L40S it would cost about $40 in 5h00m')
  })

  test('proposes nothing that is over the limit too', () => {
    const [finding] = findingsOf(limit(30), fareOn(hours(3, 4, 6), jobOf(), 5))
    expect(finding?.remedy).not.toContain('L40S')
  })

  test('of an array proposes as many of its tasks as pass', () => {
    const [finding] = findingsOf(limit(100), fareOn(hours(1, 1, 1), limited(2, 10))) // $20 each
    expect(finding?.remedy).toContain('5 of the 10 array tasks would pass')
  })

  test('without an estimate warns of the bound and proposes a time limit that passes, at its line', () => {
    const [finding, ...others] = findingsOf(limit(90), fareOn(limitOf(48), limited(48))) // $960
    expect(others).toEqual([])
    expect(finding).toMatchObject({
      level: 'warn',
      place: timeLine,
      message: '$960 (at most, by its time limit) is over $90',
      remedy: '--time=4:30:00 would cost at most $90',
    })
  })

  test('never proposes a time limit that stops the job before it is done', () => {
    const [finding] = findingsOf({ ...limit(60), basis: 'bound' }, fareOn(hours(3, 4, 6), limited(48)))
    expect(finding?.level).toBe('deny')
    expect(finding?.remedy).not.toContain('--time')
  })

  test('of a job whose cost is not known says that it cannot be compared', () => {
    expect(findingsOf(limit(50), fareOn(undefined))).toMatchObject([
      { rule: 'unknown-cost', level: 'warn', message: expect.stringContaining("job-cost can't be compared") },
    ])
  })
})

describe('hourly-cost', () => {
  test('needs no runtime, and proposes fewer GPUs', () => {
    expect(findingsOf({ rule: 'hourly-cost', limit: 10 }, fareOn(undefined))).toMatchObject([
      { level: 'deny', message: '$20.00/h is over $10.00/h', remedy: '4 GPUs instead of 8 would pass' },
    ])
    expect(findingsOf({ rule: 'hourly-cost', limit: 20 }, fareOn(undefined))).toEqual([])
  })

  test('of an array proposes fewer tasks at a time', () => {
    const [finding] = findingsOf({ rule: 'hourly-cost', limit: 70 }, fareOn(hours(1, 1, 1), limited(2, 10)))
    expect(finding?.remedy).toContain('--array=...%3')
  })
})

describe('an increase', () => {
  const fare = fareOn(hours(4, 4, 4)) // $80
  const from = (usd: number) => ({ change: { beforeUsd: { p10: usd, p50: usd, p90: usd } } })
  const byAmount = { rule: 'cost-increase', limit: 30 } as const
  const byPercent = { rule: 'cost-increase-percent', limit: 25 } as const

  test.each([
    [byAmount, 50, []],
    [byAmount, 49, ['deny']],
    [byAmount, 0, ['deny']],
    [byPercent, 64, []],
    [byPercent, 63, ['deny']],
    [byPercent, 0, []],
  ])('%j from $%i', (policy, before, levels) => {
    expect(findingsOf(policy, fare, {}, from(before)).map(({ level }) => level)).toEqual(levels)
  })

  test('is not judged where there is no base, or where its cost is not known', () => {
    expect(findingsOf(byAmount, fare)).toEqual([])
    expect(findingsOf(byAmount, fare, {}, { change: { beforeUsd: undefined } })).toEqual([])
  })

  test('says what the base costs', () => {
    expect(findingsOf(byPercent, fare, {}, from(40))).toMatchObject([
      { message: '$80 (P50) is over the $40 of the base by more than 25 %' },
    ])
  })
})

describe('unknown-cost', () => {
  test('is content with a bound, unless an estimate is wanted', () => {
    const bounded = fareOn(limitOf(5), limited(5))
    expect(findingsOf({ rule: 'unknown-cost' }, bounded)).toEqual([])
    expect(findingsOf({ rule: 'unknown-cost', basis: 'p50', level: 'deny' }, bounded)).toMatchObject([
      { level: 'deny', message: 'the cost is not known, only that it is at most $100' },
    ])
  })

  test('says what is missing', () => {
    expect(findingsOf({ rule: 'unknown-cost' }, fareOn(undefined))).toMatchObject([
      { level: 'warn', message: 'the cost is not known (missing: runtime)' },
    ])
  })
})
