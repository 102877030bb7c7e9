import { describe, expect, test } from 'vitest'
import { readTables } from '../../src/pricing-data.ts'
import { ReportDocument } from '../../src/reporters/schema.ts'
import { readInvocation } from '../cases.ts'
import { ExpectedAnswer } from './manifests/case-schema.ts'
import { gradeAnswer } from './manifests/grade.ts'
import { literalsIn } from './manifests/refusal.ts'

const { gpus } = readTables('pricing-data')
const stated = { kind: 'manifest', place: { file: 'job.sbatch', line: 2 } } as const
const assumed = { kind: 'assumed', reason: 'nobody says so' } as const

function reportWith(role: object, workload: object = {}, warnings: readonly object[] = []): ReportDocument {
  return ReportDocument.parse({
    schemaVersion: 1,
    currency: { code: 'USD', perUsd: 1 },
    jobs: [
      {
        name: 'job',
        file: 'job.sbatch',
        scheduler: 'slurm',
        kind: 'batch script',
        endless: false,
        destination: {},
        roles: [
          {
            name: 'job',
            replicas: { value: 2, origin: stated },
            gpusPerReplica: { value: 4, origin: stated },
            gpuCount: { value: 8, origin: stated },
            gpuTypes: [],
            gpuTypeBasis: 'none',
            exclusive: false,
            partitions: [],
            tasks: 1,
            concurrentTasks: 1,
            ...role,
          },
        ],
        totals: { gpus: 8 },
        workloads: [
          {
            purpose: 'train',
            place: { file: 'job.sbatch', line: 9 },
            role: 'job',
            repetitions: 1,
            runs: 1,
            conditional: false,
            ...workload,
          },
        ],
        quotes: [],
        warnings,
      },
    ],
    remarks: [],
  })
}

/** Verdicts by key on a job with one role. */
function verdicts(expected: object, report: ReportDocument | undefined): Readonly<Record<string, string>> {
  const { facts } = gradeAnswer(ExpectedAnswer.parse(expected), report, gpus)
  return Object.fromEntries(facts.map(({ key, verdict }) => [key, verdict]))
}

function role(facts: object): object {
  return { resources: [{ role: 'job', ...facts }] }
}

describe('a fact', () => {
  test('that is left out is not graded', () => {
    expect(verdicts(role({ nodes: 2 }), reportWith({}))).toEqual({ nodes: 'right' })
  })

  test('is right, wrong, unknown or guessed', () => {
    const report = reportWith({ timeLimitSeconds: { value: 5_400, origin: stated } })
    expect(verdicts(role({ nodes: 2, gpus_per_replica: 8, cpus: 4, time_limit_hours: null }), report)).toEqual({
      nodes: 'right',
      gpus_per_replica: 'wrong',
      cpus: 'unknown',
      time_limit_hours: 'guessed',
    })
  })

  test('that nobody knows may be assumed if that is said', () => {
    expect(
      verdicts({ workload: { precision: null } }, reportWith({}, { precision: { value: 'fp32', origin: assumed } })),
    ).toEqual({ precision: 'right' })
  })

  test('that is in doubt may be left open, others of the case may not', () => {
    const expected = { workload: { steps: 100, epochs: 3 }, uncertain: true, uncertain_why: 'steps are arguable' }
    expect(verdicts(expected, reportWith({}))).toEqual({ steps: 'right', epochs: 'unknown' })
  })

  test('is unknown where the program refused', () => {
    expect(verdicts(role({ nodes: 2, memory: null }), undefined)).toEqual({ nodes: 'unknown', memory: 'right' })
  })
})

test('memory is compared in bytes', () => {
  const report = reportWith({ memoryBytesPerReplica: { value: 700e9, origin: stated } })
  expect(verdicts(role({ memory: '700G' }), report)).toEqual({ memory: 'right' })
  expect(verdicts(role({ memory: '700Gi' }), report)).toEqual({ memory: 'wrong' })
})

describe('a GPU type', () => {
  const a100 = {
    gpuTypes: [{ value: 'NVIDIA-A100-SXM4-80GB', origin: stated, gpu: 'a100-80gb' }],
    gpuTypeBasis: 'label',
  }

  test('is compared by its common name, with the memory that is stated', () => {
    expect(verdicts(role({ gpu_type: 'a100-80gb' }), reportWith(a100))).toEqual({ gpu_type: 'right' })
    expect(verdicts(role({ gpu_type: 'a100' }), reportWith(a100))).toEqual({ gpu_type: 'wrong' })
  })

  test('from a name of something else counts only as the hint that is expected', () => {
    const hint = { ...a100, gpuTypeBasis: 'partition-hint' }
    expect(verdicts(role({ gpu_type: null, gpu_type_hint: 'a100-80gb' }), reportWith(hint))).toEqual({
      gpu_type: 'right',
    })
    expect(verdicts(role({ gpu_type: null, gpu_type_hint: 'h100' }), reportWith(hint))).toEqual({ gpu_type: 'guessed' })
    expect(verdicts(role({ gpu_type: 'a100-80gb' }), reportWith(hint))).toEqual({ gpu_type: 'unknown' })
  })
})

test('warnings: the missing ones, and those of the list that nobody asked for', () => {
  const warnings = ['conflict', 'no-estimate', 'no-time-limit'].map(code => ({ code, text: '' }))
  const grade = gradeAnswer(
    ExpectedAnswer.parse({ must_warn: ['conflict', 'suspended'] }),
    reportWith({}, {}, warnings),
    gpus,
  )
  expect(grade.warnings).toEqual({
    expected: 2,
    missing: ['suspended'],
    spurious: [{ code: 'no-time-limit', text: '' }],
  })
})

test('an invocation is taken apart', () => {
  expect(readInvocation('TP=2 sbatch --nodes=4 job.sbatch one two')).toEqual({
    environment: { TP: '2' },
    schedulerArguments: ['--nodes=4'],
    scriptArguments: ['one', 'two'],
  })
})

test('of a message, what has to be said in these very words', () => {
  expect(literalsIn('line 6: unknown option --cpus-per-tsk (did you mean --cpus-per-task?), not 2h30m')).toEqual([
    'line 6',
    '--cpus-per-tsk',
    '2h30m',
  ])
})
