import { describe, expect, test } from 'vitest'
import type { CheckedJob, CheckReport } from '../../src/check-report.ts'
import type { Finding } from '../../src/finding.ts'
import { judgePush } from '../../src/hooks/outcome.ts'
import { usDollars } from '../../src/units.ts'

const place = { file: 'train.sbatch', line: 3 }
const denial: Finding = {
  rule: 'job-cost',
  level: 'deny',
  jobName: 'train',
  place,
  message: '$180 (P50) is over $100',
  remedy: '--time=4:00:00 passes',
}
const exempted: Finding = {
  ...denial,
  exemption: { rule: 'job-cost', reason: 'paper deadline', until: '2030-01-01', place },
}
const job: CheckedJob = {
  name: 'train',
  kind: 'sbatch',
  place,
  team: undefined,
  gpuCount: 8,
  gpus: '8x A100-80GB',
  basis: 'declared',
  runtimeSeconds: { p10: 3000, p50: 3600, p90: 4000 },
  gpuHours: { p10: 7, p50: 8, p90: 9 },
  totalUsd: { p10: 15, p50: 16, p90: 18 },
  upperBoundUsd: undefined,
  usdPerHour: 16,
  candidates: [],
  warnings: [],
}

function reportWith(more: Partial<CheckReport> = {}, jobs: readonly CheckedJob[] = [job]): CheckReport {
  const changes = jobs.map(after => ({
    file: after.place.file,
    before: undefined,
    after,
    differenceUsd: after.totalUsd?.p50,
  }))
  return {
    verdict: 'pass',
    currency: usDollars,
    filesLookedAt: 1,
    filesWithJobs: 1,
    jobsPriced: jobs.length,
    jobsUnknown: 0,
    jobs,
    findings: [],
    faults: [],
    notRendered: [],
    base: { revision: 'abc', changes },
    remarks: [],
    ...more,
  }
}

describe('a push', () => {
  test('without a change to a job goes on without a word', () => {
    expect(judgePush([[reportWith({}, [])]], false)).toEqual({ exitCode: 0, text: '' })
  })

  test('within the limits goes on with one line', () => {
    const { exitCode, text } = judgePush([[reportWith()]], false)
    expect(exitCode).toBe(0)
    expect(text).toBe('gpufare: 1 job changed, up to $18 together, within the limits')
  })

  test('with a warning or an exemption still takes one line, which counts them', () => {
    const findings: Finding[] = [exempted, { ...denial, level: 'warn', rule: 'gpu-count' }]
    expect(judgePush([[reportWith({ findings })]], false)).toEqual({
      exitCode: 0,
      text: 'gpufare: 1 job changed, up to $18 together, 1 warning, 1 exempted, within the limits',
    })
  })

  test('with a price that is not known says so, and counts it for nothing else', () => {
    const unknown = { ...job, name: 'other', totalUsd: undefined }
    expect(judgePush([[reportWith({}, [job, unknown])]], false).text).toContain('up to $18 together (1 not known)')
    expect(judgePush([[reportWith({}, [unknown])]], false).text).toBe('gpufare: 1 job changed, within the limits')
  })

  test('over a limit is stopped: what, how much, how to go on', () => {
    const { exitCode, text } = judgePush([[reportWith({ findings: [denial] })]], false)
    expect(exitCode).toBe(3)
    expect(text).toContain('train.sbatch:3  job-cost: $180 (P50) is over $100')
    expect(text).toContain('--time=4:00:00 passes')
    expect(text).toMatch(/exempted.*--no-verify/)
  })

  test('with a manifest that is broken is stopped', () => {
    const { exitCode, text } = judgePush([[reportWith({ faults: [{ place, message: 'bad' }] }, [])]], false)
    expect(exitCode).toBe(2)
    expect(text).toContain('train.sbatch:3  bad')
  })

  test('with a job that cannot be estimated is stopped only where that is asked for', () => {
    const ranges = [[reportWith({}, [{ ...job, basis: undefined, totalUsd: undefined }])]]
    expect(judgePush(ranges, false).exitCode).toBe(0)
    expect(judgePush(ranges, true)).toMatchObject({ exitCode: 5, text: expect.stringContaining('train.sbatch:3') })
  })

  test('of several refs says the same finding once', () => {
    const { text } = judgePush([[reportWith({ findings: [denial] })], [reportWith({ findings: [denial] })]], false)
    expect(text).toContain('1 finding over')
  })

  test('of a merge is not stopped by what one of its sides brought to the remote before', () => {
    const ours = reportWith({ findings: [denial] })
    const theirs = reportWith({}, [])
    expect(judgePush([[ours, theirs]], false)).toEqual({ exitCode: 0, text: '' })
    expect(judgePush([[ours, ours]], false).exitCode).toBe(3)
  })

  test('with many findings shows ten and counts the rest', () => {
    const findings = Array.from({ length: 15 }, (_, index) => ({ ...denial, place: { ...place, line: index } }))
    const { text } = judgePush([[reportWith({ findings })]], false)
    expect(text.match(/ {2}job-cost: /g)).toHaveLength(10)
    expect(text).toContain('and 5 more')
  })

  test('names files that would play tricks on a terminal without obeying them', () => {
    const findings = [{ ...denial, place: { file: 'a\u001b[31m\nb.sbatch', line: 1 } }]
    const { text } = judgePush([[reportWith({ findings })]], false)
    expect(text).not.toContain('\u001b')
    expect(text).toContain('\\u001b[31m b.sbatch:1')
  })
})
