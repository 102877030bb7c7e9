import { describe, expect, test } from 'vitest'
import { recordsOf } from '../../src/logs/records.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const textsOf = (text: string) => recordsOf({ head: bytes(text) }).map(record => record.text)

describe('records of a log', () => {
  test('a bar is a record for each refresh, without colours, cursor moves and backspaces', () => {
    expect(textsOf('\r 1/3\u001b[A\r\u001b[32m 2/3\u001b[0m\b\b\b\r   \n3/3\r\n')).toEqual([' 1/3', ' 2/3', '3/3'])
  })

  test('only what ends with a line feed is closed', () => {
    expect(recordsOf({ head: bytes('\r1/2\r2/2\nnext') }).map(({ line, closed }) => [line, closed])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ])
  })

  test.each([
    ['[rank3]: step 5', '3', 'step 5'],
    ['0: step 5', '0', 'step 5'],
    ['[default7]:step 5', '7', 'step 5'],
    ['[1,2]<stdout>:step 5', '2', 'step 5'],
    ['(TaskRunner pid=4035) step:5', '4035', 'step:5'],
  ])('%s is of a rank', (text, rank, rest) => {
    expect(recordsOf({ head: bytes(text) })).toMatchObject([{ rank, text: rest }])
  })

  test('a stamp in front is the clock, one within a sentence is not', () => {
    const [front, within] = recordsOf({ head: bytes('2024-05-03 10:00:00 INFO a\njob 1 on 2024-05-03T10:00:00 b\n') })
    expect(front).toMatchObject({ timeSeconds: Date.UTC(2024, 4, 3, 10) / 1000, text: 'INFO a' })
    expect(within?.timeSeconds).toBeUndefined()
  })

  test('JSON lines tell their time wherever it stands', () => {
    const [stamp, epoch] = recordsOf({
      head: bytes('{"step": 1, "timestamp": "2024-05-03T10:00:00"}\n{"step": 2, "time": 1714730410.5}\n'),
    })
    expect((epoch?.timeSeconds ?? 0) - (stamp?.timeSeconds ?? 0)).toBe(10.5)
  })

  test('stamps without a year take that of others; a clock that passes midnight goes on', () => {
    const [glog, dated] = recordsOf({
      head: bytes('W0503 09:59:00.000000 71 run.py:1] a\n2024-05-03 10:00:00,000 b\n'),
    })
    expect((dated?.timeSeconds ?? 0) - (glog?.timeSeconds ?? 0)).toBe(60)
    const [late, early] = recordsOf({ head: bytes('23:59:50 a\n00:00:10 b\n') })
    expect((early?.timeSeconds ?? 0) - (late?.timeSeconds ?? 0)).toBe(20)
  })

  test('of a long file the lines in the middle count, the pieces where it was cut do not', () => {
    const records = recordsOf({ head: bytes('a\nb\ncut'), tail: bytes('cut\ny\nz\n'), linesLeftOut: 5 })
    expect(records.map(({ text, line }) => [text, line])).toEqual([
      ['a', 1],
      ['b', 2],
      ['y', 9],
      ['z', 10],
    ])
  })

  test('a record longer than any report is cut', () => {
    expect(textsOf("{'a': 1, ".repeat(10_000))[0]).toHaveLength(16_384)
  })

  test('bad UTF-8 and UTF-16 are read as well', () => {
    expect(recordsOf({ head: new Uint8Array([0x61, 0xff, 0x62]) })[0]?.text).toBe('a\ufffdb')
    expect(
      recordsOf({ head: new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0x62, 0]) }).map(({ text }) => text),
    ).toEqual([expect.stringContaining('a'), 'b'])
  })

  test('numbers in front that only rise are a counter, not the ranks of srun', () => {
    expect(textsOf('1: 2.5, a\n2: 2.4, a\n3: 2.2, a\n4: 2.1, a\n')[3]).toBe('4: 2.1, a')
    expect(textsOf('0: a\n1: b\n0: c\n1: d\n')).toEqual(['a', 'b', 'c', 'd'])
  })

  test('rich leaves the stamp out where it is that of the line before', () => {
    const text = '[01/15/23 18:11:55] INFO     starts here\n                    INFO     step 1\n  unrelated\n'
    const [first, second, third] = recordsOf({ head: bytes(text) })
    expect(first?.timeSeconds).toBe(Date.UTC(2023, 0, 15, 18, 11, 55) / 1000)
    expect(second?.timeSeconds).toBe(first?.timeSeconds)
    expect(third?.timeSeconds).toBeUndefined()
  })
})
