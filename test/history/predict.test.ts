import { describe, expect, test } from 'vitest'
import type { EarlierRun } from '../../src/history/earlier-run.ts'
import { maskedName } from '../../src/history/names.ts'
import { historyOf, RunHistory } from '../../src/history/predict.ts'

/** A run a day, `seconds` long. */
function run(day: number, seconds: number, more: Partial<EarlierRun> = {}): EarlierRun {
  const submitSeconds = 1_780_000_000 + day * 86_400
  return {
    id: String(day),
    name: 'train',
    user: 'ada',
    account: '',
    partition: 'a100',
    qos: '',
    state: 'completed',
    submitSeconds,
    startSeconds: submitSeconds,
    endSeconds: submitSeconds + seconds,
    elapsedSeconds: seconds,
    limitSeconds: 86_400,
    gpus: 1,
    ...more,
  }
}

const days = (count: number) => Array.from({ length: count }, (_, day) => day)

describe('forecast', () => {
  test('a job that always takes an hour is narrow around it', () => {
    const forecast = historyOf(days(60).map(day => run(day, 3_600 * (1 + 0.01 * (day % 3))))).forecast(run(60, 0))
    expect(forecast?.narrow).toBe(true)
    expect(forecast?.seconds.p50).toBeGreaterThan(3_400)
    expect(forecast?.seconds.p50).toBeLessThan(3_900)
    expect(forecast).toMatchObject({ runs: 60, runsOfName: 60 })
  })

  test('one run tells a figure, but no narrow one', () => {
    const forecast = historyOf([run(0, 3_600)]).forecast(run(1, 0))
    expect(forecast?.narrow).toBe(false)
  })

  test('runs of another name, GPU type or below a minute do not count as alike', () => {
    const history = historyOf([
      ...days(40).map(day => run(day, 36_000, { name: 'eval', id: `e${day}` })),
      ...days(40).map(day => run(day, 30, { id: `s${day}` })),
      ...days(40).map(day => run(day, 50_000, { gpuType: 'h100', id: `h${day}` })),
      ...days(40).map(day => run(day, 7_200, { gpuType: 'a100', id: `t${day}` })),
    ])
    const forecast = history.forecast(run(41, 0, { gpuType: 'a100' }))
    expect(forecast?.seconds.p50).toBeGreaterThan(6_500)
    expect(forecast?.seconds.p50).toBeLessThan(8_000)
  })

  test('nothing is expected beyond the time limit', () => {
    const forecast = historyOf(days(30).map(day => run(day, 40_000))).forecast(run(31, 0, { limitSeconds: 7_200 }))
    expect(forecast?.seconds.p90).toBe(7_200)
  })

  test('of no runs nothing is said', () => {
    expect(new RunHistory().forecast(run(0, 0))).toBeUndefined()
  })

  test('the order in which runs are given changes nothing', () => {
    const runs = days(50).map(day => run(day, 1_000 + 500 * (day % 5)))
    expect(historyOf(runs.toReversed()).forecast(run(51, 0))).toEqual(historyOf(runs).forecast(run(51, 0)))
  })
})

describe('chance to hit the limit', () => {
  test('follows the runs that are most alike', () => {
    const history = historyOf(
      days(40).flatMap(day => [
        run(day, 86_400, { name: 'long', state: 'timeout', id: `l${day}` }),
        run(day, 600, { name: 'short', id: `s${day}` }),
      ]),
    )
    expect(history.forecast(run(41, 0, { name: 'long' }))?.limitChance).toBeGreaterThan(0.8)
    expect(history.forecast(run(41, 0, { name: 'short' }))?.limitChance).toBeLessThan(0.2)
  })

  test('is not known without a limit', () => {
    const history = historyOf(days(5).map(day => run(day, 600)))
    expect(history.forecast(run(6, 0, { limitSeconds: 'unlimited' }))).not.toHaveProperty('limitChance')
  })
})

test('a history of a hundred thousand runs is bounded, and asked in a moment', () => {
  const history = new RunHistory()
  for (let day = 0; day < 100_000; day++)
    history.add(run(day % 1_000, 600 + day, { id: String(day), user: `u${day % 5}` }))
  const forecast = history.forecast(run(1_001, 0, { user: 'u1' }))
  expect(forecast?.runs).toBe(500)
})

test.each([
  ['train_3', 'train_#'],
  ['job-2026-01-31', 'job-#'],
  ['run-9f86d081884c7d65', 'run-#'],
  ['facade', 'facade'],
])('%s without what varies', (name, expected) => {
  expect(maskedName(name)).toBe(expected)
})
