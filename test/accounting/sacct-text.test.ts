import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readSacct } from '../../src/accounting/sacct-text.ts'

const traces = new URL('./traces/', import.meta.url)

describe('real records', () => {
  const files = readdirSync(traces).filter(file => file.endsWith('.psv'))

  test.each(files)('every row of %s is a run', file => {
    const { runs, skipped } = readSacct(readFileSync(new URL(file, traces), 'utf8'))
    expect({ runs: runs.length, skipped }).toEqual({ runs: 20, skipped: 0 })
  })

  test('typed and untyped GPUs are the same GPUs; a limit is seconds', () => {
    const [run] = readSacct(
      'JobID|User|State|ElapsedRaw|Timelimit|Start|End|AllocTRES\n' +
        '7|Ada|COMPLETED|60|1-02:00:00|2026-01-01T00:00:00|2026-01-01T00:01:00|billing=20,gres/gpu:a100=2,gres/gpu=2,gres/gpumem=3,node=1\n',
    ).runs
    expect(run).toMatchObject({
      user: 'ada',
      gpus: 2,
      gpuType: 'a100',
      limitSeconds: 93_600,
      elapsedSeconds: 60,
      nodes: 1,
    })
  })
})

const head = 'JobID|JobName|State|ElapsedRaw|TimelimitRaw|Start|End|NNodes|AllocTRES\n'
const row = (id: string, name: string, state = 'COMPLETED', seconds = '90', limit = '60') =>
  `${id}|${name}|${state}|${seconds}|${limit}|1780000000|1780000090|1|cpu=1,node=1\n`

describe('what sacct does not quote', () => {
  test('a delimiter in a name', () => {
    const { runs } = readSacct(head + row('1', 'train|lr=0.1') + row('2', 'b'))
    expect(runs.map(({ id, name, elapsedSeconds }) => [id, name, elapsedSeconds])).toEqual([
      ['1', 'train|lr=0.1', 90],
      ['2', 'b', 90],
    ])
  })

  test('a line break in a name', () => {
    const { runs } = readSacct(head + row('1', 'two\nlines') + row('2', 'b'))
    expect(runs.map(({ id, name }) => [id, name])).toEqual([
      ['1', 'two\nlines'],
      ['2', 'b'],
    ])
  })

  test('a line break in a name that stands last does not move the next row', () => {
    const text = 'JobID|State|ElapsedRaw|End|JobName\n1|COMPLETED|5|1780000000|two\nlines\n2|FAILED|6|1780000000|b\n'
    expect(readSacct(text).runs.map(({ id }) => id)).toEqual(['1', '2'])
  })

  test('any delimiter, one at the end of each line too', () => {
    const text = (head + row('1', 'a')).replaceAll('|', '\u001f').replaceAll('\n', '\u001f\n')
    expect(readSacct(text).runs).toMatchObject([{ id: '1', name: 'a' }])
  })
})

describe('what is a run', () => {
  test('steps, waiting and running jobs, and those cancelled while waiting are none', () => {
    const text =
      head +
      row('1.batch', 'batch') +
      row('2', 'a', 'RUNNING') +
      row('11_[2-4%1]', 'a', 'PENDING', '0') +
      row('4', 'a', 'CANCELLED by 0', '0')
    expect(readSacct(text)).toEqual({ runs: [], skipped: 0 })
  })

  test.each([
    ['CANCELLED by 1000', 'cancelled'],
    ['CANCELLED+', 'cancelled'],
    ['OUT_OF_ME+', 'out-of-memory'],
    ['TIMEOUT', 'timeout'],
    ['NODE_FAIL', 'interrupted'],
  ])('%s', (state, expected) => {
    expect(readSacct(head + row('1', 'a', state)).runs).toMatchObject([{ state: expected }])
  })

  test.each([
    ['UNLIMITED', 'unlimited'],
    ['Partition_Limit', 'partition-default'],
    ['5', 300],
    ['00:05:00', 300],
    ['', undefined],
  ])('limit %s', (limit, expected) => {
    expect(readSacct(head + row('1', 'a', 'COMPLETED', '90', limit)).runs[0]?.limitSeconds).toBe(expected)
  })

  test('components of a heterogeneous job are one run, of a job that was requeued the last record counts', () => {
    const tres = (id: string, gpus: number) =>
      `${id}|a|COMPLETED|90|60|1780000000|1780000090|1|gres/gpu=${gpus},node=1\n`
    expect(readSacct(head + tres('442+0', 2) + tres('442+1', 4)).runs).toMatchObject([
      { id: '442', gpus: 6, nodes: 2, elapsedSeconds: 90 },
    ])
    expect(readSacct(head + row('5', 'a', 'FAILED') + row('5', 'a')).runs).toMatchObject([
      { id: '5', state: 'completed' },
    ])
  })
})
