import type { CheckedJob, CheckReport } from '../check-report.ts'
import { describeFault, describePlace, type Fault } from '../errors.ts'
import { plainText } from '../escaping.ts'
import type { Finding } from '../finding.ts'
import { countOf, formatMoney } from '../units.ts'

/** What a pre-push hook answers: whether the push goes on (0), and what is said of it, without a line end; often nothing. */
export interface PushOutcome {
  readonly exitCode: 0 | 2 | 3 | 5
  readonly text: string
}

/** A message has to be read in a terminal between git's own lines. */
const mostFindings = 10

/**
 * What is said of a push whose commits were checked: for each range the reports against each of its bases, of which one is
 * enough to let a finding pass, since what the remote has there was pushed before.
 */
export function judgePush(ranges: readonly (readonly CheckReport[])[], strict: boolean): PushOutcome {
  const findings = distinct(ranges.flatMap(reports => common(reports.map(each => each.findings))))
  const faults = distinct(ranges.flatMap(reports => common(reports.map(each => each.faults))))
  const jobs = distinct(ranges.flatMap(reports => common(reports.map(changedJobs))))
  const counted = findings.filter(finding => finding.exemption === undefined)
  const denials = counted.filter(finding => finding.level === 'deny')
  const unknown = strict ? jobs.filter(job => job.basis === undefined) : []
  if (faults.length > 0) return { exitCode: 2, text: describeBroken(faults) }
  if (denials.length > 0) return { exitCode: 3, text: describeDenials(denials) }
  if (unknown.length > 0) return { exitCode: 5, text: describeUnknown(unknown) }
  return { exitCode: 0, text: describePassed(ranges, jobs, counted.length, findings.length - counted.length) }
}

function describeDenials(denials: readonly Finding[]): string {
  const shown = denials
    .slice(0, mostFindings)
    .flatMap(({ place, rule, message, remedy }) => [
      `  ${plainText(`${describePlace(place)}  ${rule}: ${message}`)}`,
      ...(remedy === '' ? [] : [`    ${plainText(remedy)}`]),
    ])
  return [
    `gpufare: push stopped, ${countOf(denials.length, 'finding')} over the limits`,
    ...shown,
    ...more(denials.length),
    '  to go on: ask for less; or have it exempted, with a reason and a last day; or git push --no-verify',
  ].join('\n')
}

function describeBroken(faults: readonly Fault[]): string {
  return [
    `gpufare: push stopped, ${countOf(faults.length, 'fault')} in manifests or the configuration`,
    ...faults.slice(0, mostFindings).map(fault => `  ${plainText(describeFault(fault))}`),
    ...more(faults.length),
    '  to go on: mend them; or git push --no-verify',
  ].join('\n')
}

function describeUnknown(jobs: readonly CheckedJob[]): string {
  return [
    `gpufare: push stopped, ${countOf(jobs.length, 'job')} cannot be estimated and --strict is set`,
    ...jobs.slice(0, mostFindings).map(({ place, name }) => `  ${plainText(`${describePlace(place)}  ${name}`)}`),
    ...more(jobs.length),
    '  to go on: say in the manifest how long it runs, #GPUFARE runtime=4h; or git push --no-verify',
  ].join('\n')
}

function more(count: number): readonly string[] {
  return count > mostFindings ? [`  and ${count - mostFindings} more`] : []
}

/** One line, or none where the push changes no job. */
function describePassed(
  ranges: readonly (readonly CheckReport[])[],
  jobs: readonly CheckedJob[],
  warnings: number,
  exempted: number,
): string {
  if (jobs.length === 0) return ''
  const parts = [
    `${countOf(jobs.length, 'job')} changed`,
    ...costOf(jobs, ranges),
    ...(warnings > 0 ? [countOf(warnings, 'warning')] : []),
    ...(exempted > 0 ? [`${exempted} exempted`] : []),
    'within the limits',
  ]
  return `gpufare: ${parts.join(', ')}`
}

function costOf(jobs: readonly CheckedJob[], ranges: readonly (readonly CheckReport[])[]): readonly string[] {
  const currency = ranges[0]?.[0]?.currency
  const bounds = jobs.map(job => job.totalUsd?.p90 ?? job.upperBoundUsd)
  const known = bounds.filter(bound => bound !== undefined)
  if (known.length === 0) return []
  const sum = formatMoney(
    known.reduce((total, bound) => total + bound, 0),
    currency,
  )
  const without = bounds.length - known.length
  return [`up to ${sum} together${without === 0 ? '' : ` (${without} not known)`}`]
}

/** Jobs that are new or other than in the base; all of them where there is none. */
function changedJobs(report: CheckReport): readonly CheckedJob[] {
  if (report.base === undefined) return report.jobs
  return report.base.changes.map(change => change.after).filter(job => job !== undefined)
}

/** What every list has. */
function common<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first = [], ...others] = lists
  const keys = others.map(list => new Set(list.map(keyOf)))
  return first.filter(each => keys.every(those => those.has(keyOf(each))))
}

function distinct<T>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map(each => [keyOf(each), each])).values()]
}

/** Equal for two of equal contents, which were read from the same lines. */
function keyOf(value: unknown): string {
  return JSON.stringify(value)
}
