import initSqlJs from 'sql.js/dist/sql-wasm-inline.js'
import { describe, expect, test } from 'vitest'
import { pseudonymOf, withPseudonyms } from '../../src/accounting/digest.ts'
import { readRuns } from '../../src/accounting/index.ts'
import { mergeRuns } from '../../src/accounting/merged-runs.ts'
import { writeRunsCsv } from '../../src/accounting/runs-csv.ts'
import { maskedName } from '../../src/history/names.ts'

const file = (text: string, path = 'runs') => ({ path, text, bytes: new TextEncoder().encode(text) })
const read = async (text: string) => readRuns([file(text)], 'runs')

describe('sacct --json', () => {
  const job = (state: unknown, limit: unknown, elapsed: unknown, start: unknown) => ({
    job_id: 12,
    name: 'train',
    user: 'ada',
    array: { job_id: 11, task_id: 3 },
    state: { current: state },
    time: { elapsed, start, end: 1_780_000_100, submission: 1_780_000_000, limit },
    tres: {
      allocated: [
        { type: 'gres', name: 'gpu', count: 8 },
        { type: 'gres', name: 'gpu:a100', count: 8 },
      ],
    },
  })

  test.each([
    ['22.05', job('TIMEOUT', 10, 600, 1_780_000_000)],
    ['23.11', job(['TIMEOUT'], { set: true, infinite: false, number: 10 }, 600, 1_780_000_000)],
  ])('of %s', async (_, written) => {
    const { runs, format } = await read(JSON.stringify({ meta: {}, jobs: [written] }))
    expect(format.name).toBe('sacct --json')
    expect(runs).toMatchObject([
      { id: '11_3', state: 'timeout', limitSeconds: 600, elapsedSeconds: 600, gpus: 8, gpuType: 'a100' },
    ])
  })

  test.each([[null], [{ set: false, infinite: true, number: 0 }]])('no limit: %j', async limit => {
    const { runs } = await read(JSON.stringify({ jobs: [job('COMPLETED', limit, 60, 1_780_000_000)] }))
    expect(runs).toMatchObject([{ limitSeconds: 'unlimited' }])
  })

  test('what runs is no run, what is broken is counted', async () => {
    const running = job(['RUNNING'], null, 60, 1_780_000_000)
    expect(await read(JSON.stringify({ jobs: [running, { job_id: 'x' }] }))).toMatchObject({ runs: [], skipped: 1 })
  })
})

test('a CSV with plain column names, quotes and line breaks', async () => {
  const text = 'Job Name,Started At,Runtime (s),GPU count,Status\n"a ""b"",\nc",2026-01-01T00:00:00Z,120.4,2,success\n'
  const { runs } = await read(text)
  expect(runs).toMatchObject([
    { name: 'a "b",\nc', startSeconds: 1_767_225_600, elapsedSeconds: 120, gpus: 2, state: 'completed' },
  ])
})

test('a file store of MLflow; a run that goes on is none', async () => {
  const meta = (id: string, status: number, end: string) =>
    file(
      `end_time: ${end}\nrun_id: ${id}\nrun_name: train-llama\nstart_time: 1780000000000\nstatus: ${status}\nuser_id: ada\n`,
      `mlruns/0/${id}/meta.yaml`,
    )
  const files = [
    meta('aa', 3, '1780000600000'),
    meta('bb', 1, 'null'),
    file('experiment_id: 0\n', 'mlruns/0/meta.yaml'),
  ]
  const { runs, format } = await readRuns(files, 'mlruns')
  expect(format.name).toBe('MLflow')
  expect(runs).toMatchObject([{ id: 'aa', name: 'train-llama', user: 'ada', elapsedSeconds: 600, state: 'completed' }])
})

test('the database of MLflow; deleted runs and those that go on are none', async () => {
  const sql = await initSqlJs()
  const database = new sql.Database()
  // The columns of MLflow's own table that are used.
  database.run(
    'create table runs (run_uuid text, name text, user_id text, status text, start_time bigint, end_time bigint, lifecycle_stage text)',
  )
  for (const row of [
    ['aa', 'train-llama', 'FINISHED', 1_780_000_600_000, 'active'],
    ['bb', 'train-llama', 'RUNNING', null, 'active'],
    ['cc', 'train-llama', 'FINISHED', 1_780_000_600_000, 'deleted'],
  ]) {
    const [id = null, name = null, status = null, end = null, stage = null] = row
    database.run('insert into runs values (?, ?, ?, ?, ?, ?, ?)', [
      id,
      name,
      'ada',
      status,
      1_780_000_000_000,
      end,
      stage,
    ])
  }
  const bytes = database.export()
  const { runs, skipped } = await readRuns([{ path: 'mlflow.db', bytes, text: '' }], 'mlflow.db')
  expect(runs).toMatchObject([{ id: 'aa', name: 'train-llama', user: 'ada', elapsedSeconds: 600, state: 'completed' }])
  expect(skipped).toBe(0)
})

test('runs of W&B', async () => {
  const run = {
    id: 'x1',
    displayName: 'sweep-3',
    state: 'finished',
    createdAt: '2026-01-01T00:00:00',
    summary: { _runtime: 3_600.7, loss: 1 },
    metadata: { gpu: 'NVIDIA A100', gpu_count: 4 },
  }
  const { runs, format } = await read(JSON.stringify([run]))
  expect(format.name).toBe('W&B')
  expect(runs).toMatchObject([{ id: 'x1', name: 'sweep-3', elapsedSeconds: 3_601, gpus: 4, state: 'completed' }])
})

test('a text of no format is refused', async () => {
  await expect(read('hello\n')).rejects.toThrow('in no format')
})

describe('runs.csv', () => {
  const run = {
    id: '7',
    name: 'train_lr0.1, b',
    user: 'ada',
    account: 'lab',
    partition: 'a100',
    qos: '',
    state: 'timeout',
    submitSeconds: 1_780_000_000,
    startSeconds: 1_780_000_010,
    endSeconds: 1_780_003_610,
    elapsedSeconds: 3_600,
    limitSeconds: 3_600,
    nodes: 1,
    cpus: 8,
    gpus: 2,
    gpuType: 'a100',
    submitLineDigest: 'abcdefghij',
  } as const

  test('is read back as it was', async () => {
    const others = [
      { ...run, id: '8', limitSeconds: 'unlimited', state: 'out-of-memory' },
      { ...run, id: '9', limitSeconds: 'partition-default', state: 'interrupted' },
    ] as const
    expect((await read(writeRunsCsv([run, ...others]))).runs).toEqual([run, ...others])
  })

  test('holds each run once, in the order of submission, whatever was added first', () => {
    const earlier = { ...run, id: '3', submitSeconds: 1_770_000_000 }
    expect(mergeRuns([run], [earlier, run])).toEqual([earlier, run])
    expect(writeRunsCsv([run, earlier])).toBe(writeRunsCsv([earlier, run]))
  })

  test('holds no names, and names that differ by digits stay alike', () => {
    const text = writeRunsCsv([withPseudonyms(run)])
    expect(text).not.toMatch(/ada|lab|train/)
    const [first, second] = [pseudonymOf('seed_1'), pseudonymOf('seed_2')]
    expect(first).not.toBe(second)
    expect(maskedName(first)).toBe(maskedName(second))
    expect(pseudonymOf(first)).toBe(first)
    expect(pseudonymOf('wrap')).toBe('wrap')
  })
})
