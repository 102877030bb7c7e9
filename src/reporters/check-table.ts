import { type CheckedJob, type CheckReport, type CheckReporter, comparedUsd, type JobChange } from '../check-report.ts'
import { describeFault, describePlace } from '../errors.ts'
import { plainText } from '../escaping.ts'
import type { Finding } from '../finding.ts'
import type { Paint } from '../terminal.ts'
import { type Currency, countOf } from '../units.ts'
import {
  countWords,
  differenceWords,
  moneyWords,
  placeWords,
  rankedFindings,
  runtimeWords,
  standingOf,
  totalDifferenceWords,
  totalWords,
  verdictReason,
  verdictWords,
} from './check-words.ts'
import { wrap } from './wrap.ts'

/** Jobs listed one by one; of more the dearest. */
const mostJobs = 20

/** The outcome as a person reads it in a terminal: what to change first, then the jobs, then the verdict and how it came about. */
export const checkTable: CheckReporter = {
  name: 'table',
  render(report, { width, paint }) {
    const sections = [
      report.faults.flatMap(fault => wrapped(describeFault(fault), width, paint.red)),
      rankedFindings(report.findings).flatMap(finding => findingLines(finding, width, paint)),
      report.base === undefined
        ? jobLines(report.jobs, report.currency, width)
        : changeLines(report.base.changes, report.currency, width, paint),
      report.notRendered.flatMap(({ file, reason }) => wrapped(`${file}  ${reason}`, width, paint.dim)),
      report.remarks.flatMap(remark => wrapped(remark, width, paint.dim)),
      verdictLines(report, width, paint),
    ]
    return sections.flatMap(lines => (lines.length === 0 ? [] : [...lines, ''])).join('\n')
  },
}

function wrapped(text: string, width: number, colour: (text: string) => string): string[] {
  return wrap(plainText(text), width, '    ', '').map(colour)
}

function findingLines(finding: Finding, width: number, paint: Paint): string[] {
  const { place, rule, message, remedy, level, exemption } = finding
  const colour = exemption !== undefined ? paint.dim : level === 'deny' ? paint.red : paint.yellow
  const head = `${describePlace(place)}  ${rule}: ${message} (${standingOf(finding)})`
  return [...wrapped(head, width, colour), ...wrap(plainText(remedy), width, '    ')]
}

function jobLines(jobs: readonly CheckedJob[], currency: Currency, width: number): string[] {
  const dearest = jobs.length > mostJobs ? jobs.toSorted((a, b) => orderOf(b) - orderOf(a)) : jobs
  const rows = dearest
    .slice(0, mostJobs)
    .map(job => [placeWords(job.place), job.name, job.gpus, runtimeWords(job), moneyWords(job, currency)])
  const left = jobs.length - rows.length
  return [
    ...gridLines(['file', 'job', 'GPUs', 'runtime', 'cost'], rows, width),
    ...(left > 0 ? [`  and ${countOf(left, 'job')} more that cost less`] : []),
  ]
}

function changeLines(changes: readonly JobChange[], currency: Currency, width: number, paint: Paint): string[] {
  const differing = changes.filter(change => change.differenceUsd !== 0 || change.before?.gpus !== change.after?.gpus)
  const rows = differing.slice(0, mostJobs).map(change => {
    const { file, renamedFrom, before, after, differenceUsd } = change
    const kind = before === undefined ? ' (new)' : after === undefined ? ' (deleted)' : ''
    return [
      renamedFrom === undefined ? file + kind : `${renamedFrom} -> ${file}`,
      (after ?? before)?.name ?? '',
      before === undefined ? '-' : moneyWords(before, currency),
      after === undefined ? '-' : moneyWords(after, currency),
      differenceWords(differenceUsd, currency),
    ]
  })
  const left = differing.length - rows.length
  const same = changes.length - differing.length
  return [
    ...gridLines(['file', 'job', 'old', 'new', 'difference'], rows, width),
    ...(left > 0 ? [`  and ${countOf(left, 'job')} more that changed`] : []),
    ...(same > 0 ? [paint.dim(`  ${countOf(same, 'job')} at the same cost as before`)] : []),
  ]
}

/** Columns as wide as their texts; where that is too wide, each row is broken into lines instead. */
function gridLines(head: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  if (rows.length === 0) return []
  const lines = [head, ...rows].map(row => row.map(plainText))
  const widths = head.map((_, index) => Math.max(...lines.map(line => line[index]?.length ?? 0)))
  const lineOf = (texts: readonly string[]) =>
    `  ${texts.map((text, index) => text.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd()
  if (widths.reduce((sum, each) => sum + each + 2, 0) <= width) return lines.map(lineOf)
  return lines.slice(1).flatMap(([first = '', ...rest]) => {
    const labelled = rest.map((text, index) => `${head[index + 1]} ${text}`)
    return [`  ${first}`, ...wrap(labelled.join(', '), width, '    ')]
  })
}

function verdictLines(report: CheckReport, width: number, paint: Paint): string[] {
  const colours = { pass: paint.green, warn: paint.yellow, deny: paint.red, broken: paint.red, unknown: paint.yellow }
  const verdict = `${verdictWords[report.verdict]}: ${verdictReason(report)}`
  const totals = [totalWords(report), totalDifferenceWords(report)].filter(words => words !== '')
  return [
    ...wrapped(verdict, width, text => paint.bold(colours[report.verdict](text))),
    ...totals.flatMap(words => wrap(plainText(words), width, '  ')),
    ...wrap(countWords(report), width, '  ').map(paint.dim),
  ]
}

function orderOf(job: CheckedJob): number {
  return comparedUsd(job) ?? -1
}
