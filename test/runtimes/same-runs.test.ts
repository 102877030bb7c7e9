import { expect, test } from 'vitest'
import { type RangedRuntime, rangeAround, type SeenRun } from '../../src/runtimes/runtime-model.ts'
import { toldTwice } from '../../src/runtimes/same-runs.ts'

const start = 1_780_000_000

/** A run of an hour of the accounting. */
function recorded(id: string, startSeconds = start): SeenRun {
  return { id, startSeconds, endSeconds: startSeconds + 3_600 }
}

/** The share of the first estimate's runs, and of the second's, that the other one tells as well. */
function shares(...sources: readonly (readonly SeenRun[])[]): readonly (number | undefined)[] {
  const estimates = sources.map((seen): RangedRuntime => {
    return { basis: 'history', seconds: rangeAround(3_600, 0.3), working: [], seen }
  })
  const shared = toldTwice(estimates)
  return estimates.map(estimate => shared.get(estimate))
}

test.each<[string, SeenRun, boolean]>([
  ['a log of the same number, copied a year later', { id: '7', endSeconds: start + 31_536_000 }, true],
  ['a log of another number, written while the run lasted', { id: '8', endSeconds: start + 1_800 }, false],
  ['a log without a number, last written before the run ended', { endSeconds: start + 3_590 }, true],
  ['a log whose file server is some seconds ahead', { endSeconds: start + 3_620 }, true],
  ['a log without a number, written an hour later', { endSeconds: start + 7_200 }, false],
  ['a log of an array task, which has another kind of number', { id: '3_1', endSeconds: start + 3_590 }, true],
])('%s', (_, log, isSame) => {
  expect(shares([recorded('7')], [log])).toEqual(isSame ? [1, 1] : [0, 0])
})

test('one log among runs of the accounting is a part of these, and all there is of the logs', () => {
  const runs = ['1', '2', '3', '4'].map((id, index) => recorded(id, start + index * 10_000))
  expect(shares(runs, [{ id: '4', endSeconds: start }])).toEqual([0.25, 1])
})

test('a formula tells no runs', () => {
  const model: RangedRuntime = { basis: 'model', seconds: rangeAround(3_600, 0.3), working: [] }
  expect([...toldTwice([model, model]).values()]).toEqual([0])
})
