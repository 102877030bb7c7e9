import type { CheckedJob, CheckReport, JobMoney } from '../check-report.ts'
import { describePlace } from '../errors.ts'
import type { Finding } from '../finding.ts'
import type { Range } from '../runtimes/runtime-model.ts'
import { type Currency, formatDuration, formatMoney } from '../units.ts'
import { countOf } from './words.ts'

/** The outcome in a few words, as a heading. */
export const verdictWords = {
  pass: 'within limits',
  warn: 'within limits, with warnings',
  deny: 'over the limit',
  broken: 'cannot be read',
  unknown: 'not known',
} as const

/** What the outcome rests on: how many findings, faults or unknown jobs. */
export function verdictReason(report: CheckReport): string {
  const counted = report.findings.filter(finding => finding.exemption === undefined)
  const denied = counted.filter(finding => finding.level === 'deny').length
  switch (report.verdict) {
    case 'pass':
      return report.jobs.length === 0 ? 'no GPU job was found' : 'nothing speaks against it'
    case 'warn':
      return `${countOf(counted.length, 'warning')}, nothing stops it`
    case 'deny':
      return `${countOf(denied, 'finding')} ${denied === 1 ? 'stops' : 'stop'} it`
    case 'broken':
      return `${countOf(report.faults.length, 'fault')} in manifests or the configuration`
    case 'unknown':
      return `${countOf(report.jobsUnknown, 'job')} could not be estimated`
  }
}

/** What counts: denials, then warnings, then what was let pass; in the order of files within each. */
export function rankedFindings(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(finding: Finding): number {
  if (finding.exemption !== undefined) return 2
  return finding.level === 'deny' ? 0 : 1
}

/** `stops it`, `warning`, `let pass until 2027-01-31: agreed with finance`. */
export function standingOf({ level, exemption }: Finding): string {
  if (exemption !== undefined) return `let pass until ${exemption.until}: ${exemption.reason}`
  return level === 'deny' ? 'stops it' : 'warning'
}

/** `$70-$102`, `up to $1,900`, or `?`; `joint` stands between the ends of the range. */
export function moneyWords(money: JobMoney, currency: Currency, joint = '-'): string {
  if (money.totalUsd !== undefined) {
    const [low, high] = [formatMoney(money.totalUsd.p10, currency), formatMoney(money.totalUsd.p90, currency)]
    return low === high ? low : `${low}${joint}${high}`
  }
  return money.upperBoundUsd === undefined ? '?' : `up to ${formatMoney(money.upperBoundUsd, currency)}`
}

/** `4h00m (3h12m-5h00m)`, `up to 2d00h`, or `?`. */
export function runtimeWords(job: {
  readonly runtimeSeconds: Range | undefined
  readonly runtimeUpperBoundSeconds?: number
}): string {
  if (job.runtimeSeconds !== undefined) {
    const { p10, p50, p90 } = job.runtimeSeconds
    const [low, high] = [formatDuration(p10), formatDuration(p90)]
    return low === high ? formatDuration(p50) : `${formatDuration(p50)} (${low}-${high})`
  }
  return job.runtimeUpperBoundSeconds === undefined ? '?' : `up to ${formatDuration(job.runtimeUpperBoundSeconds)}`
}

/** `+$44`, `-$22`, `0`, or `?`. */
export function differenceWords(usd: number | undefined, currency: Currency): string {
  if (usd === undefined) return '?'
  if (usd === 0) return '0'
  return `${usd > 0 ? '+' : ''}${formatMoney(usd, currency)}`
}

/** All jobs together: `at most $1,060 (P90 or time limit) for 3 jobs; 1 job is not known`. */
export function totalWords(report: CheckReport): string {
  const amounts = report.jobs.map(job => job.totalUsd?.p90 ?? job.upperBoundUsd)
  const known = amounts.filter(amount => amount !== undefined)
  const unknown = amounts.length - known.length
  const total = formatMoney(
    known.reduce((sum, amount) => sum + amount, 0),
    report.currency,
  )
  const parts = [
    ...(known.length === 0 ? [] : [`at most ${total} (P90 or time limit) for ${countOf(known.length, 'job')}`]),
    ...(unknown === 0 ? [] : [`${countOf(unknown, 'job')} ${unknown === 1 ? 'is' : 'are'} not known`]),
  ]
  return parts.join('; ')
}

/** Against the base: `$33 more than at origin/main`; empty without one. */
export function totalDifferenceWords(report: CheckReport): string {
  if (report.base === undefined) return ''
  const { changes, revision } = report.base
  if (changes.length === 0) return `no job changed against ${revision}`
  const known = changes.flatMap(change => change.differenceUsd ?? [])
  const usd = known.reduce((sum, difference) => sum + difference, 0)
  const unknown = changes.length - known.length
  const more =
    usd === 0 ? 'as much as' : `${formatMoney(Math.abs(usd), report.currency)} ${usd > 0 ? 'more' : 'less'} than`
  return `${more} at ${revision}${unknown === 0 ? '' : `, ${countOf(unknown, 'difference')} not known`}`
}

/** `41 files looked at, 4 with GPU jobs; 3 jobs priced, 1 not known`. */
export function countWords(report: CheckReport): string {
  const unknown = report.jobsUnknown === 0 ? '' : `, ${report.jobsUnknown} not known`
  return `${countOf(report.filesLookedAt, 'file')} looked at, ${report.filesWithJobs} with GPU jobs; ${countOf(report.jobsPriced, 'job')} priced${unknown}`
}

/** `jobs/train.sbatch:4`: without the column, which helps editors only. */
export function placeWords(place: { readonly file: string; readonly line?: number }): string {
  return describePlace(place.line === undefined ? { file: place.file } : { file: place.file, line: place.line })
}

/** The findings about each job, looked up in one go: there may be ten thousand jobs. */
export function findingsByJob(report: CheckReport): (job: CheckedJob) => readonly Finding[] {
  const found = new Map<string, Finding[]>()
  for (const finding of report.findings) {
    const key = keyOf(finding.jobName, finding.place.file)
    found.set(key, [...(found.get(key) ?? []), finding])
  }
  return job => found.get(keyOf(job.name, job.place.file)) ?? []
}

function keyOf(jobName: string, file: string): string {
  return `${file}\n${jobName}`
}
