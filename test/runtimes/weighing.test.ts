import { expect, test } from 'vitest'
import { type RangedRuntime, rangeAround } from '../../src/runtimes/runtime-model.ts'
import { weighTogether } from '../../src/runtimes/weighing.ts'

/** `factor` is P90 over P50. */
function estimate(basis: 'history' | 'model', p50: number, factor: number): RangedRuntime {
  // 1.2816 standard deviations lie between the median and P90 of a normal distribution
  return { basis, seconds: rangeAround(p50, Math.log(factor) / 1.2816), working: [] }
}

test('two that know nothing of each other make the range narrower', () => {
  const both = weighTogether([estimate('history', 1_000, 2), estimate('model', 1_000, 2)])
  expect(both?.seconds.p50).toBeCloseTo(1_000)
  expect(both?.seconds.p90).toBeCloseTo(1_000 * 2 ** Math.SQRT1_2, 0)
})

test('two that go by the same runs tell no more than one, and weigh no more beside a third', () => {
  const [accounting, logs, model] = [
    estimate('history', 1_000, 2),
    estimate('history', 1_000, 2),
    estimate('model', 4_000, 2),
  ]
  const same = new Map([
    [accounting, 1],
    [logs, 1],
  ])
  expect(weighTogether([accounting, logs], same)?.seconds.p90).toBeCloseTo(2_000, 0)
  // One against one: the geometric mean of both.
  expect(weighTogether([accounting, logs, model], same)?.seconds.p50).toBeCloseTo(2_000, 0)
})

test('of two that share no runs each counts whole, of two that share half of them three quarters', () => {
  const [accounting, logs] = [estimate('history', 1_000, 2), estimate('history', 1_000, 2)]
  const p90 = (share: number) =>
    weighTogether(
      [accounting, logs],
      new Map([
        [accounting, share],
        [logs, share],
      ]),
    )?.seconds.p90
  expect(p90(0)).toBeCloseTo(1_000 * 2 ** Math.SQRT1_2, 0)
  // The variances of two, each 4/3 as wide, come to 2/3 of one.
  expect(p90(0.5)).toBeCloseTo(1_000 * 2 ** Math.sqrt(2 / 3), 0)
})
