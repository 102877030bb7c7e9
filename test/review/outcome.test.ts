import { expect, test } from 'vitest'
import type { Allocation } from '../../src/history/allocation.ts'
import type { QuoteRecord } from '../../src/quote-record.ts'
import { joinOutcomes } from '../../src/review/outcome.ts'
import { reviewOf, runtimeError, unitCost } from '../../src/review/summary.ts'

const at = 1_800_000_000
const record: QuoteRecord = {
  key: 'ab',
  at: new Date(at * 1_000).toISOString(),
  scheduler: 'slurm',
  cluster: 'east',
  id: '7',
  name: 'train',
  kind: 'batch script',
  digest: '',
  basis: 'model',
  runtimeSeconds: { p10: 3_000, p50: 3_600, p90: 4_800 },
  usd: { p10: 15, p50: 18, p90: 24 },
  usdPerTaskHour: 18,
  gpus: 8,
  billedGpus: 8,
  tasks: 1,
  gpuModel: '8x A100-80GB',
  rates: [
    { provider: 'aws', machine: 'm', region: 'r', tier: 'on-demand', usdPerMachineHour: 18, machineGpus: 8, asOf: '' },
  ],
  gpufareVersion: '0.1.0',
}
const allocation: Allocation = {
  cluster: 'east',
  jobId: '7',
  task: '',
  component: '',
  state: 'completed',
  submitSeconds: at,
  startSeconds: at + 60,
  elapsedSeconds: 7_200,
  gpus: 8,
  gpuType: 'a100',
  user: 'ada',
  account: 'research',
  name: 'train',
  comment: '',
}

function outcome(records: readonly QuoteRecord[], allocations: readonly Allocation[]) {
  const [first] = joinOutcomes(records, allocations)
  if (first === undefined) throw new Error('an outcome is expected')
  return first
}

test('a run of twice the time costs twice the money', () => {
  const found = outcome([record], [allocation])
  expect(found).toMatchObject({ ending: 'done', usd: 36, gpuHours: 16, runtimeSeconds: 7_200 })
  expect(runtimeError(found)).toBe(1)
  expect(unitCost(outcome([{ ...record, tokens: 2e9 }], [allocation]))).toEqual({ usd: 18, unit: 'billion tokens' })
  expect(unitCost(outcome([{ ...record, epochs: 4 }], [allocation]))).toEqual({ usd: 9, unit: 'epoch' })
})

test('a job of the same id at another time or on another cluster is another job', () => {
  const day = 86_400
  expect(outcome([record], [{ ...allocation, submitSeconds: at + 30 * day }]).ending).toBe('unknown')
  expect(outcome([record], [{ ...allocation, cluster: 'west' }]).ending).toBe('unknown')
})

test('one that goes on from its checkpoint wastes nothing when its time is over', () => {
  const timedOut = { ...allocation, state: 'timeout' } as const
  expect(outcome([record], [timedOut]).waste.timedOutUsd).toBe(36)
  expect(outcome([{ ...record, resumes: true }], [timedOut]).waste.timedOutUsd).toBe(0)
})

test('no price, no cost: what is not known is not nothing', () => {
  const { usdPerTaskHour: _, ...unpriced } = record
  expect(outcome([unpriced], [allocation]).usd).toBeUndefined()
})

test('another number of GPUs than was quoted is paid by the GPU', () => {
  expect(outcome([record], [{ ...allocation, gpus: 4 }]).usd).toBe(18)
})

test('idle GPUs have their price where somebody counts', () => {
  const found = outcome([record], [{ ...allocation, gpuBusyShare: 0.75 }])
  expect(found.waste.idleUsd).toBe(9)
  expect(found.idleShare).toBeCloseTo(0.25, 9)
  expect(outcome([record], [allocation]).idleShare).toBeUndefined()
})

test('the baseline is what was never free, and what a commitment to just that saves', () => {
  const runs = [
    { ...allocation, startSeconds: at, elapsedSeconds: 36_000, gpus: 8 },
    { ...allocation, jobId: '8', startSeconds: at + 3_600, elapsedSeconds: 18_000, gpus: 8 },
  ]
  const time = { sinceSeconds: at, untilSeconds: at + 36_000 }
  const review = reviewOf(joinOutcomes([record], runs), runs, time, 'team', () => 10)
  // 80 of 120 GPU-hours; each GPU-hour is (18 - 10) / 8 = 1 dollar cheaper.
  expect(review.baselines).toEqual([{ gpuType: 'a100', gpus: 8, share: 80 / 120, savedUsd: 80 }])
  const later = reviewOf([], runs, { ...time, untilSeconds: at + 40_000 }, 'team', () => 10)
  expect(later.baselines).toMatchObject([{ gpus: 0 }])
})
