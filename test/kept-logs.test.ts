import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { forgetLogs, type KeptLog, keepLogs, readKeptLogs } from '../src/kept-logs.ts'
import { usualTexts } from '../src/logs/progress-warning.ts'
import { makeFolder } from './folders.ts'

const kept: KeptLog = {
  path: '/runs/slurm-1.out',
  writtenSeconds: 1_780_000_000,
  progress: {
    framework: 'lightning',
    outcome: 'finished',
    runs: 1,
    unit: 'optimizer-step',
    stepsDone: { value: 500, origin: { kind: 'file', place: { file: '/runs/slurm-1.out', line: 9 } } },
    secondsPerStep: { value: 0.25, origin: { kind: 'computed', formula: 'by time stamps' } },
    warnings: [{ code: 'resumed', text: usualTexts.resumed }],
  },
  gpuNames: ['NVIDIA A100-SXM4-80GB'],
}

describe('logs that are kept', () => {
  test('are read as they were kept', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    expect(keepLogs(file, [kept])).toEqual([kept])
    expect(readKeptLogs(file)).toEqual([kept])
  })

  test('are kept again once they were written to or are of another job, and count once', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    const longer = { ...kept, writtenSeconds: kept.writtenSeconds + 60 }
    const named = { ...longer, jobName: 'sft' }
    expect(keepLogs(file, [kept])).toHaveLength(1)
    expect(keepLogs(file, [kept])).toHaveLength(0)
    expect(keepLogs(file, [longer])).toHaveLength(1)
    expect(keepLogs(file, [named])).toHaveLength(1)
    expect(readKeptLogs(file)).toEqual([named])
  })

  test('are forgotten until they are learnt from again', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    const { stepsDone: _, ...progress } = kept.progress
    const other: KeptLog = { ...kept, path: '/runs/slurm-2.out', progress }
    keepLogs(file, [kept, other])
    expect(forgetLogs(file, ({ path }) => path === kept.path)).toBe(1)
    expect(readKeptLogs(file)).toEqual([other])
    expect(keepLogs(file, [kept])).toEqual([kept])
    expect(readKeptLogs(file)).toHaveLength(2)
  })

  test('a line that broke off, or that a later version wrote, hides no others', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    appendFileSync(file, '{"schemaVersion":2,"path":"/a"}\n{"schemaVersion":1,"pa')
    keepLogs(file, [kept])
    expect(readKeptLogs(file)).toEqual([kept])
  })
})
