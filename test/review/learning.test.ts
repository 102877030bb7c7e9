import { expect, test } from 'vitest'
import type { Allocation } from '../../src/history/allocation.ts'
import type { QuoteRecord } from '../../src/quote-record.ts'
import { lessonsOf } from '../../src/review/learning.ts'
import { joinOutcomes } from '../../src/review/outcome.ts'
import { stampOf } from '../../src/stamp.ts'

const at = 1_800_000_000
const record: QuoteRecord = {
  key: 'ab',
  at: new Date(at * 1_000).toISOString(),
  scheduler: 'slurm',
  cluster: 'east',
  id: '7',
  name: 'train',
  kind: 'batch script',
  user: 'ada',
  digest: '',
  basis: 'model',
  runtimeSeconds: { p10: 3_000, p50: 3_600, p90: 4_800 },
  fingerprint: '00ff',
  gpus: 8,
  billedGpus: 8,
  tasks: 1,
  gpuModel: '8x A100-80GB',
  rates: [],
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
const lesson = {
  key: 'ab',
  fingerprint: '00ff',
  gpus: '8x A100-80GB',
  name: 'train',
  id: '7',
  at: record.at,
  estimatedSeconds: 3_600,
  seconds: 7_200,
}

function taught(quoted: Partial<QuoteRecord>, ...allocations: readonly Partial<Allocation>[]) {
  const own = allocations.map(each => ({ ...allocation, ...each }))
  return lessonsOf(joinOutcomes([{ ...record, ...quoted }], own), 'ada')
}

test('a run that is done teaches what it took for what was estimated, before a correction where there was one', () => {
  expect(taught({}, {})).toEqual([lesson])
  expect(taught({ estimatedSeconds: 5_000 }, {})).toEqual([{ ...lesson, estimatedSeconds: 5_000 }])
})

test('one that its limit stopped teaches that it takes longer', () => {
  expect(taught({}, { state: 'timeout' })).toEqual([{ ...lesson, isStopped: true }])
})

test('of an array the middle of its tasks counts, and where the limit stopped one that it takes longer', () => {
  const tasks = [3_600, 4_000, 9_000].map((elapsedSeconds, index) => ({ elapsedSeconds, task: String(index) }))
  expect(taught({}, ...tasks)).toEqual([{ ...lesson, seconds: 4_000 }])
  const stopped = tasks.map(task => (task.task === '2' ? { ...task, state: 'timeout' as const } : task))
  expect(taught({}, ...stopped)).toEqual([{ ...lesson, seconds: 9_000, isStopped: true }])
})

test.each<readonly [string, Partial<QuoteRecord>, readonly Partial<Allocation>[]]>([
  ['failed', {}, [{ state: 'failed' }]],
  ['ran out of memory', {}, [{ state: 'out-of-memory' }]],
  ['was cancelled', {}, [{ state: 'cancelled' }]],
  ['still runs', {}, [{ state: 'running' }]],
  [
    'was begun again, and may have gone on from a checkpoint',
    {},
    [{ state: 'interrupted' }, { startSeconds: at + 9_999 }],
  ],
  ['nobody knows the end of', {}, []],
  ['was over in a minute though an hour was quoted', {}, [{ elapsedSeconds: 30 }]],
  ['is a colleague’s', { user: 'grace' }, [{ user: 'grace' }]],
])('one that %s teaches nothing', (_, quoted, allocations) => {
  expect(taught(quoted, ...allocations)).toEqual([])
})

test('one that may have gone on from where the one before was stopped teaches nothing, unless it is known to begin anew', () => {
  const later = { ...record, key: 'cd', id: '8', at: new Date((at + 9_000) * 1_000).toISOString(), name: 'train-2' }
  const runs = [
    { ...allocation, state: 'timeout' as const },
    { ...allocation, jobId: '8', submitSeconds: at + 9_000, elapsedSeconds: 1_800 },
  ]
  const idsWith = (resumes?: boolean) => {
    const quoted = resumes === undefined ? later : { ...later, resumes }
    return lessonsOf(joinOutcomes([{ ...record, name: 'train-1' }, quoted], runs), 'ada').map(({ id }) => id)
  }
  expect(idsWith()).toEqual(['7'])
  expect(idsWith(true)).toEqual(['7'])
  expect(idsWith(false)).toEqual(['7', '8'])
})

test('nor does one that was quoted without a fingerprint, as earlier versions did', () => {
  const { fingerprint: _, ...earlier } = record
  expect(lessonsOf(joinOutcomes([earlier], [allocation]), 'ada')).toEqual([])
})

test('a stamp alone teaches the same', () => {
  const comment = stampOf(record, '0.1.0')
  const [alone] = lessonsOf(joinOutcomes([], [{ ...allocation, comment }]), 'ada')
  expect(alone).toEqual(lesson)
  const corrected = stampOf({ ...record, estimatedSeconds: 1_800 }, '0.1.0')
  expect(lessonsOf(joinOutcomes([], [{ ...allocation, comment: corrected }]), 'ada')).toMatchObject([
    { estimatedSeconds: 1_800, seconds: 7_200 },
  ])
})
