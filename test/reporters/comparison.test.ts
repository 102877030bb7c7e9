import { describe, expect, test } from 'vitest'
import { quoteCandidate } from '../../src/quote.ts'
import { rowsOf } from '../../src/reporters/comparison.ts'
import type { Runtime } from '../../src/runtimes/runtime-model.ts'
import { sourced } from '../../src/sourced.ts'
import { usDollars } from '../../src/units.ts'
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

const prices = pricesOf({ '8xa100': 22, '8xt4': 8, '8xh100': 55, '8xl40s': 11, '8xold': 4 })

function quoteOn(name: string, runtime: Runtime | undefined, more = {}) {
  const candidate = candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), more)
  return quoteCandidate(jobOf(), candidate, runtime, 'on-demand', prices)
}
const asWritten = quoteOn('a100', hours(4, 4, 4), { asRequested: true }) // $88

function rowFor(name: string, runtime: Runtime | undefined, more = {}) {
  return rowsOf(fareWith([asWritten, quoteOn(name, runtime, more)]), usDollars, true)[1]
}

describe('a row', () => {
  test('that is cheaper says what it saves and what a saved dollar costs in time', () => {
    // $77 instead of $88, 7 h instead of 4 h: 180 minutes for 11 dollars
    expect(rowFor('l40s', hours(7, 7, 7))).toMatchObject({
      label: 'cheaper',
      trade: 'saves $11, takes 3h00m longer: 16m for each $1.00 saved',
    })
  })

  test('whose cost the time limit cuts says what the whole run costs, which is what is compared', () => {
    // 4 h at $22 against 2 h at $55, of which the limit lets 1 h be paid: $88 and $110, shown as $22 and $55.
    const job = jobOf({ roles: [roleOf({ timeLimitSeconds: sourced(3_600, { kind: 'assumed', reason: 'a test' }) })] })
    const on = (name: string, took: number, more = {}) => {
      const candidate = candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), more)
      return quoteCandidate(job, candidate, hours(took, took, took), 'on-demand', prices)
    }
    const [, row] = rowsOf(fareWith([on('a100', 4, { asRequested: true }), on('h100', 2)]), usDollars, true)
    expect(row?.quote.cost).toMatchObject({ kind: 'range', usd: { p50: 55 } })
    expect(row).toMatchObject({
      label: 'faster',
      trade: 'saves 2h00m, costs $22 more: $11 for each hour saved; to its end it costs $110 against $88',
    })
  })

  test('of an array tells the time of a task, and counts that of all against the money of all', () => {
    // Ten tasks: $880 and $1,100, two hours of each of ten tasks are saved: $220 for 20 hours.
    const job = jobOf({ roles: [roleOf({ tasks: 10, concurrentTasks: 10 })] })
    const on = (name: string, took: number, more = {}) => {
      const candidate = candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), more)
      return quoteCandidate(job, candidate, hours(took, took, took), 'on-demand', prices)
    }
    const [, row] = rowsOf(fareWith([on('a100', 4, { asRequested: true }), on('h100', 2)]), usDollars, true)
    expect(row?.trade).toBe('saves 2h00m a task, costs $220 more: $11 for each hour saved')
  })

  test('whose machines can be taken away is compared with its like only', () => {
    const spotPrices = pricesOf({ '8xa100': 10, '8xl40s': 5 }, 'spot')
    const ownSpot: typeof prices = (machine, tier) => {
      const price = prices(machine, tier)
      return price && { ...price, tier: 'own-spot' }
    }
    const on = (name: string, hoursTaken: number, priceOf: typeof prices, more = {}) => {
      const candidate = candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), more)
      const tier = priceOf === spotPrices ? 'spot' : 'on-demand'
      return quoteCandidate(jobOf(), candidate, hours(hoursTaken, hoursTaken, hoursTaken), tier, priceOf)
    }
    const labels = (...quotes: ReturnType<typeof on>[]) =>
      rowsOf(fareWith(quotes), usDollars, true).map(({ label, trade }) => [label, trade])
    const firm = on('a100', 4, prices, { asRequested: true })
    const spot = on('a100', 4, spotPrices, { asRequested: true })
    expect(labels(firm, spot, on('l40s', 4, ownSpot))).toEqual([
      ['as written', undefined],
      ['spot', undefined],
      ['spot', undefined],
    ])
    // Spot is insisted on: $20 for 4 h against $40.
    expect(labels(spot, on('l40s', 4, spotPrices), on('t4', 4, prices))).toEqual([
      ['as written', undefined],
      ['cheaper', 'saves $20 in about the same time'],
      ['other', undefined],
    ])
  })

  test('that is faster says what an hour saved costs', () => {
    // $110 for 2 h: $22 for two hours
    expect(rowFor('h100', hours(2, 2, 2))).toMatchObject({
      label: 'faster',
      trade: 'saves 2h00m, costs $22 more: $11 for each hour saved',
    })
  })

  test('whose cost differs by less than an estimate can tell claims no saving', () => {
    // $55 x 1.6 h = $88
    expect(rowFor('h100', hours(1.6, 1.6, 1.6))).toMatchObject({
      label: 'faster',
      trade: 'saves 2h24m at about the same cost',
    })
  })

  test('whose time differs by less than an estimate can tell claims none', () => {
    expect(rowFor('h100', hours(4, 4, 4))).toMatchObject({ label: 'dearer', trade: 'costs $132 more and is no faster' })
    expect(rowFor('l40s', hours(4.1, 4.1, 4.1))).toMatchObject({
      label: 'cheaper',
      trade: 'saves $43 in about the same time',
    })
  })

  test('that is cheaper by the hour and dearer in all says so', () => {
    // $8/h, but 16 h: $128
    expect(rowFor('t4', hours(16, 16, 16))).toMatchObject({
      label: 'dearer',
      trade: 'costs $40 more and takes 12h00m longer, though less an hour',
    })
  })

  test('without runtimes compares rates only, and claims no saving', () => {
    const fare = fareWith([quoteOn('a100', limitOf(12), { asRequested: true }), quoteOn('t4', limitOf(12))])
    expect(rowsOf(fare, usDollars, true)[1]).toMatchObject({
      label: 'lower rate',
      trade: 'cheaper if it is no more than 2.8 times slower',
    })
  })

  test('that its time limit would stop before it is done claims no saving and comes after those that finish', () => {
    const job = jobOf({
      roles: [roleOf({ timeLimitSeconds: sourced(5 * 3_600, { kind: 'config', place: { file: 'x' } }) })],
    })
    const quotes = [
      { name: 'a100', runtime: hours(4, 4, 4), more: { asRequested: true } },
      { name: 'l40s', runtime: hours(7, 7, 7), more: {} },
      { name: 'h100', runtime: hours(2, 2, 2), more: {} },
    ].map(({ name, runtime, more }) =>
      quoteCandidate(job, candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), more), runtime, 'on-demand', prices),
    )
    const rows = rowsOf(fareWith(quotes, { job }), usDollars, true)
    expect(rows.map(row => row.label)).toEqual(['as written', 'faster', 'stopped'])
    expect(rows[2]?.trade).toBe('the time limit stops it after 5h00m, before it is done')
  })

  test('without a price claims nothing', () => {
    expect(rowFor('unpriced', hours(1, 1, 1))).toMatchObject({ label: 'other' })
  })

  test('that cannot run comes last, and the cheapest that can is never cut', () => {
    const many = Array.from({ length: 12 }, (_, index) => quoteOn('h100', hours(10 + index, 10 + index, 10 + index)))
    const rows = rowsOf(
      fareWith([
        asWritten,
        quoteOn('old', hours(9, 9, 9), { obstacles: ['too small'] }),
        ...many,
        quoteOn('old', hours(9, 9, 9)),
      ]),
      usDollars,
      false,
    )
    expect(rows).toHaveLength(8)
    expect(rows[1]?.quote.candidate.placements[0]?.gpu.name).toBe('old')
    expect(rows[1]?.quote.candidate.obstacles).toEqual([])
  })
})
