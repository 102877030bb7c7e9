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

describe('narrow', () => {
  test('is not said of runs that could not have taken longer and be known', () => {
    // A sweep that began five minutes ago: what ended are the short ones.
    const start = run(100, 0).submitSeconds
    const sweep = days(30).map(number =>
      run(100, 100, { id: `s${number}`, submitSeconds: start + number, endSeconds: start + number + 100 }),
    )
    const of = (afterSeconds: number) => historyOf(sweep).forecast(run(100, 0, { submitSeconds: start + afterSeconds }))
    expect(of(140)?.narrow).toBe(false)
    expect(of(40_000)?.narrow).toBe(true)
  })

  test('is no longer said of a user whose runs did not keep to it', () => {
    // Two alike, then one of ten times as long, over and over: each seems to repeat and does not.
    const steady = days(200).map(day => run(day, 3_600, { user: 'ada', id: `a${day}` }))
    const moody = days(200).map(day => run(day, day % 3 === 2 ? 36_000 : 3_600, { user: 'bob', id: `b${day}` }))
    const history = historyOf([...steady, ...moody])
    expect(history.forecast(run(201, 0, { user: 'ada' }))?.narrow).toBe(true)
    expect(history.forecast(run(201, 0, { user: 'bob' }))?.narrow).toBe(false)
  })

  test('is not said of others alone', () => {
    const history = historyOf(days(100).map(day => run(day, 3_600)))
    expect(history.forecast(run(101, 0, { user: 'bob' }))?.narrow).toBe(false)
  })
})

test('ranges hold eight of ten where the expected distribution is far from right', () => {
  // Runtimes that drift by a third from run to run, so that what was seen is always behind.
  const history = new RunHistory()
  let seconds = 3_600
  let held = 0
  for (const day of days(2_000)) {
    seconds *= day % 40 < 20 ? 1.33 : 1 / 1.33
    const now = run(day, Math.round(seconds), { limitSeconds: 'unlimited' })
    const forecast = history.open(now.id, now)
    if (day >= 1_000 && forecast !== undefined) {
      if (forecast.seconds.p10 <= now.elapsedSeconds && now.elapsedSeconds <= forecast.seconds.p90) held++
    }
    history.add(now)
  }
  expect(held / 1_000).toBeGreaterThan(0.76)
  expect(held / 1_000).toBeLessThan(0.87)
})

describe('chance to hit the limit', () => {
  test('is that of the site where nothing is known of a user, before any run ended one in twenty', () => {
    const history = new RunHistory()
    expect(history.limitChance(run(0, 0))).toBeCloseTo(0.05)
    for (const day of days(400)) history.add(run(day, 86_400, { state: 'timeout', id: `t${day}` }))
    expect(history.limitChance(run(401, 0, { user: 'bob' }))).toBeGreaterThan(0.9)
    expect(history.limitChance(run(401, 0, { limitSeconds: 'unlimited' }))).toBeUndefined()
  })

  test('goes by whatever foresaw the ends best: of users whose runs time out by chance their rate', () => {
    // Every fifth run, whatever it is called: neither the last runs nor the name say more than the rate.
    const history = new RunHistory()
    let loss = 0
    let lossOfRate = 0
    for (const day of days(3_000)) {
      const isHit = (day * 7_919) % 10_007 < 2_001
      const now = run(day, isHit ? 86_400 : 3_600, { state: isHit ? 'timeout' : 'completed', name: `n${day % 3}x` })
      const chance = history.open(now.id, now)?.limitChance ?? 0.5
      if (day >= 500) {
        loss += (chance - (isHit ? 1 : 0)) ** 2
        lossOfRate += (0.2 - (isHit ? 1 : 0)) ** 2
      }
      history.add(now)
    }
    expect(loss).toBeLessThan(1.05 * lossOfRate)
  })

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
