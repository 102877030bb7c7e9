import type { CandidateLine, CheckedJob, CheckReport, JobChange } from '../../src/check-report.ts'
import type { Finding } from '../../src/finding.ts'
import type { Range } from '../../src/runtimes/runtime-model.ts'
import { secondsPerHour, usDollars } from '../../src/units.ts'

const rangeOf = (p50: number): Range => ({ p10: p50 * 0.8, p50, p90: p50 * 1.25 })

/** A job whose total is its hours times its rate, as written on 8 A100s. */
export function checkedJobOf(more: Partial<CheckedJob> = {}, runHours = 4, usdPerHour = 22): CheckedJob {
  const runtimeSeconds = rangeOf(runHours * secondsPerHour)
  const totalUsd = rangeOf(runHours * usdPerHour)
  return {
    name: 'train',
    kind: 'batch script',
    place: { file: 'jobs/train.sbatch', line: 1 },
    team: 'vision',
    gpuCount: 8,
    gpus: '8x A100',
    basis: 'model',
    runtimeSeconds,
    totalUsd,
    upperBoundUsd: 48 * usdPerHour,
    usdPerHour,
    gpuHours: rangeOf(runHours * 8),
    candidates: [
      candidateLineOf({ asRequested: true, gpus: '8x A100', runtimeSeconds, totalUsd, usdPerHour }),
      candidateLineOf({ note: 'saves $28 and 2h00m' }),
      candidateLineOf({
        gpus: '8x T4',
        offer: 'aws g4dn.metal us-east-1, $7.82/h on-demand',
        runtimeSeconds: rangeOf(19 * secondsPerHour),
        totalUsd: rangeOf(149),
        usdPerHour: 7.82,
        note: 'costs $61 more and takes 15h00m longer',
      }),
    ],
    warnings: ['line 12: 8 GPUs are requested, torchrun starts 4 processes'],
    ...more,
  }
}

export function candidateLineOf(more: Partial<CandidateLine> = {}): CandidateLine {
  return {
    asRequested: false,
    gpus: '8x L40S',
    offer: 'aws g6e.48xlarge us-east-1, $30.13/h on-demand',
    runtimeSeconds: rangeOf(2 * secondsPerHour),
    totalUsd: rangeOf(60),
    upperBoundUsd: undefined,
    usdPerHour: 30.13,
    canRun: true,
    ...more,
  }
}

export function findingOf(more: Partial<Finding> = {}): Finding {
  return {
    rule: 'job-cost',
    level: 'deny',
    jobName: 'train',
    place: { file: 'jobs/train.sbatch', line: 4 },
    message: '$88 (P50) is over $50 for team vision',
    remedy: 'ask for 8x L40S: about $60, 2h00m sooner',
    ...more,
  }
}

export function reportOf(more: Partial<CheckReport> = {}): CheckReport {
  return {
    verdict: 'pass',
    currency: usDollars,
    filesLookedAt: 12,
    filesWithJobs: 1,
    jobsPriced: 1,
    jobsUnknown: 0,
    jobs: [checkedJobOf()],
    findings: [],
    faults: [],
    notRendered: [],
    base: undefined,
    remarks: [],
    ...more,
  }
}

export function changeOf(before: CheckedJob | undefined, after: CheckedJob | undefined): JobChange {
  const [was, is] = [before?.totalUsd?.p50, after?.totalUsd?.p50]
  return {
    file: (after ?? before)?.place.file ?? '',
    before,
    after,
    differenceUsd:
      (before !== undefined && was === undefined) || (after !== undefined && is === undefined)
        ? undefined
        : (is ?? 0) - (was ?? 0),
  }
}

const smallJob = checkedJobOf(
  {
    name: 'finetune',
    place: { file: 'jobs/finetune.yaml', line: 3 },
    kind: 'Job',
    team: undefined,
    gpuCount: 1,
    gpus: '1x L4',
    candidates: [
      candidateLineOf({ asRequested: true, gpus: '1x L4', offer: 'gcp g2-standard-4 us-central1, $0.71/h on-demand' }),
    ],
    warnings: [],
  },
  3,
  0.71,
)

const unknownJob = checkedJobOf({
  name: 'notebook',
  place: { file: 'jobs/notebook.yaml', line: 1 },
  kind: 'Deployment',
  basis: undefined,
  runtimeSeconds: undefined,
  totalUsd: undefined,
  upperBoundUsd: undefined,
  gpuHours: undefined,
  candidates: [],
  warnings: ['no command line is known: add gpufare.dev/runtime'],
})

const limitedJob = checkedJobOf({
  name: 'sweep',
  place: { file: 'jobs/sweep.sbatch', line: 1 },
  basis: 'limit',
  runtimeSeconds: undefined,
  runtimeUpperBoundSeconds: 48 * secondsPerHour,
  totalUsd: undefined,
  gpuHours: { upperBound: 384 },
  candidates: [],
  warnings: [],
})

/** One of everything that a check can say. */
export const fullReport = reportOf({
  verdict: 'deny',
  filesLookedAt: 41,
  filesWithJobs: 4,
  jobsPriced: 3,
  jobsUnknown: 1,
  jobs: [checkedJobOf(), smallJob, limitedJob, unknownJob],
  findings: [
    findingOf({
      rule: 'idle-gpus',
      level: 'warn',
      place: { file: 'jobs/train.sbatch', line: 12, column: 3 },
      message: '8 GPUs are requested, 4 processes use them',
      remedy: 'set --gpus=4',
    }),
    findingOf(),
    findingOf({
      rule: 'time-limit',
      jobName: 'sweep',
      place: { file: 'jobs/sweep.sbatch', line: 2 },
      message: 'up to $1,060 by its time limit is over $500',
      remedy: 'set --time=20:00:00',
      exemption: {
        rule: 'time-limit',
        reason: 'quarterly sweep, agreed with finance',
        until: '2027-01-31',
        place: { file: 'jobs/sweep.sbatch', line: 3 },
      },
    }),
  ],
  notRendered: [{ file: 'charts/train', reason: 'a Helm chart: render it with helm template' }],
  base: {
    revision: 'origin/main',
    changes: [
      changeOf(checkedJobOf({}, 2), checkedJobOf()),
      changeOf(undefined, smallJob),
      changeOf(checkedJobOf({ name: 'old', place: { file: 'jobs/old.sbatch', line: 1 } }, 1), undefined),
      { ...changeOf(limitedJob, limitedJob), renamedFrom: 'jobs/grid.sbatch' },
    ],
  },
  remarks: ['ask-above in gpufare.yaml does not count: it belongs into your own or the site file'],
})

/** A manifest that cannot be read. */
export const brokenReport = reportOf({
  verdict: 'broken',
  jobs: [],
  jobsPriced: 0,
  faults: [
    {
      place: { file: 'jobs/a.yaml', line: 7, column: 9 },
      message: 'gpus: banana is no number',
      hint: 'a whole number',
    },
    { place: { file: 'jobs/b.sbatch', line: 3 }, message: '--time=banana: not a time Slurm knows' },
  ],
})

/** Names as somebody would choose them who wants to break out of a report. */
export const hostileNames = [
  'a|b',
  '<script>alert(1)</script>',
  '`rm -rf`',
  '```\n</details>',
  '\u001b[31mred\u001b[2J',
  '=HYPERLINK("http://evil.example","x")',
  '+cmd|calc',
  '::error file=x::pwned',
  'x\n::set-output name=a::b',
  '##[error]pwned',
  '##vso[task.complete result=Succeeded]',
  'train\u202egpj',
  '--> <!-- gpufare -->',
  '[link](https://evil.example) @everyone #1',
  ']]><x/>',
  '# heading',
  '- item',
  '12. item',
  '---',
  '"><img src=x onerror=alert(1)>',
  '\ud83d',
  '\u0000\u0007\uffff',
]

/** A report in which everything that comes from a repository bears such a name. */
export function hostileReport(name: string): CheckReport {
  const place = { file: `jobs/${name}.yaml`, line: 3 }
  const job = checkedJobOf({
    name,
    place,
    team: name,
    gpus: name,
    warnings: [name],
    candidates: [candidateLineOf({ gpus: name, offer: name, note: name })],
  })
  const exemption = { rule: 'job-cost', reason: name, until: '2027-01-31', place }
  return reportOf({
    verdict: 'deny',
    jobs: [job],
    findings: [
      findingOf({ jobName: name, place, message: name, remedy: name }),
      findingOf({ jobName: name, place, message: name, remedy: name, exemption }),
    ],
    faults: [{ place, message: name, hint: name }],
    notRendered: [{ file: name, reason: name }],
    base: { revision: name, changes: [{ ...changeOf(job, job), file: name, renamedFrom: name }] },
    remarks: [name],
  })
}
