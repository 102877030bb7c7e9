import { describe, expect, test } from 'vitest'
import { type Interval, quantile, steadyRate } from '../../src/logs/steady-rate.ts'

const reports = (seconds: readonly number[]): readonly Interval[] =>
  seconds.map((each, index) => ({ line: index + 1, steps: 1, seconds: each }))
const times = (count: number, seconds: number) => Array.from({ length: count }, () => seconds)

describe('the steady time of a step', () => {
  test('slow first reports are left out and told', () => {
    expect(steadyRate(reports([40, ...times(20, 2)]))).toMatchObject({
      secondsPerStep: 2,
      slowStart: true,
      unsteady: false,
    })
  })

  test('a pause is no step, and its length is known', () => {
    const rate = steadyRate(reports([...times(10, 2), 32, ...times(10, 2)]))
    expect(rate).toMatchObject({ secondsPerStep: 2, unsteady: false })
    expect(rate?.pauses).toEqual([{ line: 11, steps: 1, seconds: 30 }])
  })

  test('of two levels the last counts', () => {
    expect(steadyRate(reports([...times(12, 2), ...times(10, 3)]))).toMatchObject({
      secondsPerStep: 3,
      unsteady: true,
      fromLine: 13,
    })
  })

  test('of many levels the last counts', () => {
    const levels = [...times(40, 0.012), ...times(40, 0.02), ...times(40, 0.026)]
    expect(steadyRate(reports(levels))).toMatchObject({ secondsPerStep: 0.026, unsteady: true, fromLine: 81 })
  })

  test('reports that spread widely have their mean', () => {
    const rate = steadyRate(reports(Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? 3 : 1))))
    // the first report is warm-up; of the other 39, nine take 3 s, which are pauses of three more reports' time
    expect(rate?.secondsPerStep).toBeCloseTo(1)
  })

  test('nothing comes of nothing', () => {
    expect(steadyRate([])).toBeUndefined()
    expect(steadyRate(reports([0, 0, 0]))).toBeUndefined()
  })

  test('quantiles lie between neighbours', () => {
    expect(quantile([4, 1, 3, 2], 0.25)).toBe(1.75)
  })
})
