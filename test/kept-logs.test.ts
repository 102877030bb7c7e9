import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { forgetLogs, type KeptLog, keepLogs, readKeptLogs } from '../src/kept-logs.ts'
import { usualTexts } from '../src/logs/progress-warning.ts'
import { progressFigures } from '../src/logs/run.ts'
import { makeFolder } from './folders.ts'

const kept: KeptLog = {
  path: '/runs/slurm-1.out',
  digest: 'a1',
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
    const longer = { ...kept, digest: 'a2', writtenSeconds: kept.writtenSeconds + 60 }
    const named = { ...longer, jobName: 'sft' }
    expect(keepLogs(file, [kept])).toHaveLength(1)
    expect(keepLogs(file, [kept])).toHaveLength(0)
    expect(keepLogs(file, [longer])).toHaveLength(1)
    expect(keepLogs(file, [named])).toHaveLength(1)
    expect(readKeptLogs(file)).toEqual([named])
    // The job that it is of was said once.
    const longest = { ...kept, digest: 'a3' }
    expect(keepLogs(file, [longer, longest])).toEqual([{ ...longest, jobName: 'sft' }])
    expect(readKeptLogs(file)).toEqual([{ ...longest, jobName: 'sft' }])
  })

  test('are known again where they were moved or copied to, and lie for their script where it wrote them', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    const copy = { ...kept, path: '/archive/1.out', writtenSeconds: kept.writtenSeconds + 9_000 }
    expect(keepLogs(file, [kept, copy])).toEqual([kept])
    expect(keepLogs(file, [{ ...copy, jobName: 'sft' }])).toEqual([{ ...kept, jobName: 'sft' }])
    expect(readKeptLogs(file)).toEqual([{ ...kept, jobName: 'sft' }])
  })

  test('take a page at most, and count all the same', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    const figure = { value: 7, origin: { kind: 'computed', formula: 'ü'.repeat(300) } } as const
    const figures = Object.fromEntries(progressFigures.map(name => [name, figure]))
    const { stepsDone: _, secondsPerStep: __, ...progress } = kept.progress
    keepLogs(file, [{ ...kept, progress: { ...progress, ...figures } }])
    expect(readFileSync(file).length).toBeLessThan(4_096)
    expect(readKeptLogs(file)[0]?.progress).toMatchObject({ stepsDone: { value: 7 }, worldSize: { value: 7 } })
  })

  test('are forgotten until they are learnt from again', () => {
    const file = join(makeFolder(), 'logs.jsonl')
    const { stepsDone: _, ...progress } = kept.progress
    const other: KeptLog = { ...kept, path: '/runs/slurm-2.out', digest: 'b1', progress }
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
