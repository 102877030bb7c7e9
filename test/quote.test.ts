import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountToApprove, quoteCandidate } from '../src/quote.ts'
import { sourced } from '../src/sourced.ts'
import { candidateOf, gpuOf, hours, jobOf, limitOf, machineOf, placementOf, pricesOf, roleOf } from './builders.ts'

const eight = machineOf(gpuOf('a100'), 8)
const limit = (seconds: number) =>
  sourced(seconds, { kind: 'manifest', place: { file: 'job.sbatch', line: 3 } } as const)

describe('a quote', () => {
  test('costs the hours times the price of the machines taken', () => {
    const quote = quoteCandidate(
      jobOf(),
      candidateOf(placementOf(eight, 8)),
      hours(3, 4, 5),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.usdPerHour).toBe(22)
    expect(quote.cost).toEqual({ kind: 'range', usd: { p10: 66, p50: 88, p90: 110 } })
    expect(quote.gpuHours).toEqual({ p10: 24, p50: 32, p90: 40 })
  })

  test('pays a whole machine although the job uses half of it', () => {
    const quote = quoteCandidate(
      jobOf(),
      candidateOf(placementOf(eight, 4)),
      hours(1, 1, 1),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.usdPerHour).toBe(22)
    expect(quote.gpuHours).toEqual({ p10: 8, p50: 8, p90: 8 })
  })

  test('pays its GPUs only where the machine is shared', () => {
    const placement = placementOf(eight, 4, { wholeMachine: false })
    const quote = quoteCandidate(
      jobOf(),
      candidateOf(placement),
      hours(1, 1, 1),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.usdPerHour).toBe(11)
  })

  test('pays a slice by its share of the GPU', () => {
    const placement = placementOf(eight, 1, { wholeMachine: false, share: 3 / 7 })
    const quote = quoteCandidate(
      jobOf(),
      candidateOf(placement),
      hours(1, 1, 1),
      'on-demand',
      pricesOf({ '8xa100': 56 }),
    )
    expect(quote.usdPerHour).toBeCloseTo(3)
  })

  test('counts every task of an array in the total, and only the concurrent ones in the rate', () => {
    const job = jobOf({ roles: [roleOf({ tasks: 10, concurrentTasks: 2 })] })
    const quote = quoteCandidate(
      job,
      candidateOf(placementOf(eight, 8)),
      hours(1, 1, 1),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.usdPerHour).toBe(44)
    expect(quote.cost).toEqual({ kind: 'range', usd: { p10: 220, p50: 220, p90: 220 } })
  })

  test('has no cost without a price, and none without a runtime', () => {
    const candidate = candidateOf(placementOf(eight, 8))
    expect(quoteCandidate(jobOf(), candidate, hours(1, 1, 1), 'on-demand', pricesOf({})).cost).toEqual({
      kind: 'unknown',
      missing: ['price'],
    })
    expect(quoteCandidate(jobOf(), candidate, undefined, 'on-demand', pricesOf({ '8xa100': 22 })).cost).toEqual({
      kind: 'unknown',
      missing: ['runtime'],
    })
  })

  test('of the time limit alone is a bound', () => {
    const job = jobOf({ roles: [roleOf({ timeLimitSeconds: limit(7_200) })] })
    const quote = quoteCandidate(
      job,
      candidateOf(placementOf(eight, 8)),
      limitOf(2),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.cost).toEqual({ kind: 'bound', upperBoundUsd: 44 })
    expect(amountToApprove(quote)).toBe(44)
  })

  test('counts a limit that spans all tasks once for each that runs at a time', () => {
    const role = roleOf({ tasks: 10, concurrentTasks: 2, timeLimitSeconds: limit(3_600), limitSpansTasks: true })
    const candidate = candidateOf(placementOf(eight, 8))
    const quote = quoteCandidate(
      jobOf({ roles: [role] }),
      candidate,
      limitOf(1),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.cost).toEqual({ kind: 'bound', upperBoundUsd: 44 })
    expect(quote.gpuHours).toEqual({ upperBound: 16 })
  })

  test('costs no more than the time limit lets it, and knows what the whole run would', () => {
    const candidate = candidateOf(placementOf(eight, 8))
    const prices = pricesOf({ '8xa100': 22 })
    expect(amountToApprove(quoteCandidate(jobOf(), candidate, hours(3, 4, 5), 'on-demand', prices))).toBe(110)
    const limited = jobOf({ roles: [roleOf({ timeLimitSeconds: limit(4.5 * 3_600) })] })
    const quote = quoteCandidate(limited, candidate, hours(3, 4, 5), 'on-demand', prices)
    expect(quote.cost).toEqual({ kind: 'range', usd: { p10: 66, p50: 88, p90: 99 } })
    expect(quote.wholeRunUsd).toEqual({ p10: 66, p50: 88, p90: 110 })
    expect(quote.gpuHours).toEqual({ p10: 24, p50: 32, p90: 36 })
    expect(amountToApprove(quote)).toBe(99)
  })

  test('says how likely the time limit stops it', () => {
    const stopWith = (limitHours: number) => {
      const job = jobOf({ roles: [roleOf({ timeLimitSeconds: limit(limitHours * 3_600) })] })
      return quoteCandidate(job, candidateOf(placementOf(eight, 8)), hours(3, 4, 5), 'on-demand', pricesOf({})).stop
    }
    expect(stopWith(4)?.chance).toBeCloseTo(0.5)
    expect(stopWith(3)?.chance).toBeCloseTo(0.9)
    expect(stopWith(5.1)).toBeUndefined() // less likely than one in ten
  })

  test('of many tasks under one limit is stopped when their waves take longer', () => {
    const role = roleOf({ tasks: 6, concurrentTasks: 2, timeLimitSeconds: limit(10 * 3_600), limitSpansTasks: true })
    const job = jobOf({ roles: [role] })
    const quote = quoteCandidate(
      job,
      candidateOf(placementOf(eight, 8)),
      hours(3, 4, 5),
      'on-demand',
      pricesOf({ '8xa100': 22 }),
    )
    expect(quote.stop?.chance).toBeGreaterThan(0.5) // three waves of four hours
    expect(quote.cost).toMatchObject({ usd: { p50: 440 } }) // two at a time for ten hours
  })

  test('never costs less for more hours', () => {
    const hour = fc.double({ min: 0.01, max: 1_000, noNaN: true })
    const costOf = (h: number) => {
      const { cost } = quoteCandidate(
        jobOf(),
        candidateOf(placementOf(eight, 8)),
        hours(h, h, h),
        'on-demand',
        pricesOf({ '8xa100': 22 }),
      )
      return cost.kind === 'range' ? cost.usd.p50 : Number.NaN
    }
    fc.assert(fc.property(hour, hour, (a, b) => costOf(Math.max(a, b)) >= costOf(Math.min(a, b))))
  })
})
