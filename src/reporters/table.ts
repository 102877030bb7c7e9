import { describePlace } from '../errors.ts'
import { canRun, type Fare } from '../fare.ts'
import { totalToApprove } from '../policy.ts'
import type { Price } from '../prices/price-source.ts'
import type { Quote } from '../quote.ts'
import { formatMoney } from '../units.ts'
import type { Warning } from '../warning.ts'
import { type Row, rowsOf } from './comparison.ts'
import { explainFare } from './explanation.ts'
import type { RenderOptions, Report, Reporter } from './reporter.ts'
import {
  countOf,
  describeCost,
  describeFit,
  describeGpus,
  describeOffer,
  describeRole,
  describeRuntime,
  describeWorkload,
  tierWords,
} from './words.ts'
import { wrap } from './wrap.ts'

/** The quote as a person reads it in a terminal, 60 columns or wider. */
export const table: Reporter = {
  name: 'table',
  render(report, options) {
    const parts = report.fares.map(fare => renderFare(fare, report, options))
    return [...parts, ...totalLines(report, options), ...remarkLines(report.remarks, options)].join('\n')
  },
}

function renderFare(fare: Fare, report: Report, options: RenderOptions): string {
  const rows = rowsOf(fare, report.currency, options.all)
  return [
    ...headLines(fare, options),
    '',
    ...(rows.length === 0 ? ['  no GPU is asked for: nothing to price'] : gridLines(rows, report, options)),
    ...footLines(rows, options),
    ...warningLines(fare, options),
    ...(options.explain ? ['', ...explainFare(fare, report.currency, options)] : []),
    '',
  ].join('\n')
}

function headLines(fare: Fare, options: RenderOptions): string[] {
  const { job } = fare
  const place = Object.entries(job.destination).map(([key, value]) => `${key} ${value}`)
  const title = `${job.place.file}  ${job.kind} ${job.name}${place.length === 0 ? '' : `, ${place.join(', ')}`}`
  const roles = job.roles.map(role => (job.roles.length > 1 ? `${role.name}: ` : '') + describeRole(role, job))
  const work = fare.workloads.map(workload => `${describeWorkload(workload)} (line ${workload.place.line ?? '?'})`)
  const [first = '', ...rest] = wrap(title, options.width, '')
  return [options.paint.bold(first), ...rest, ...[...roles, ...work].flatMap(line => wrap(line, options.width, '  '))]
}

const columns = ['', 'GPUs', 'runtime', 'cost', 'memory'] as const

/** The grid: a line of figures for each row, and below it where that is and what the trade means. */
function gridLines(rows: readonly Row[], report: Report, options: RenderOptions): string[] {
  const cells = rows.map(row => cellsOf(row.quote, row.label, report, options))
  const shared = sharedRemarks(rows)
  const shown = fitColumns([[...columns], ...cells], options.width)
  const [head = [], ...body] = shown
  const widths = head.map((_, index) => Math.max(...shown.map(line => line[index]?.length ?? 0)))
  const line = (texts: readonly string[]): string =>
    `  ${texts.map((text, index) => text.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd()
  const indent = ' '.repeat(4 + (widths[0] ?? 0))
  return [
    options.paint.dim(line(head)),
    ...rows.flatMap((row, index) => [
      paintRow(line(body[index] ?? []), row, options),
      ...detailsOf(row, shared, report).flatMap(detail => wrap(detail, options.width, indent).map(options.paint.dim)),
    ]),
  ]
}

function cellsOf(quote: Quote, label: string, report: Report, options: RenderOptions): string[] {
  const able = canRun(quote.candidate) || quote.candidate.asRequested
  return [
    label,
    describeGpus(quote.candidate),
    able ? describeRuntime(quote) : '-',
    able ? describeCost(quote, report.currency) : '-',
    options.width < 80 && !able ? '' : describeFit(quote.candidate),
  ]
}

/** Drops the last columns until the lines stay within the width. */
function fitColumns(lines: readonly (readonly string[])[], width: number): readonly (readonly string[])[] {
  const count = lines[0]?.length ?? 0
  const total = Array.from(
    { length: count },
    (_, index) => Math.max(...lines.map(line => line[index]?.length ?? 0)) + 2,
  ).reduce((a, b) => a + b, 0)
  return total <= width || count <= 4
    ? lines
    : fitColumns(
        lines.map(line => line.slice(0, -1)),
        width,
      )
}

function paintRow(text: string, row: Row, options: RenderOptions): string {
  if (!canRun(row.quote.candidate)) return options.paint.red(text)
  if (row.label === 'cheaper' || row.label === 'better') return options.paint.green(text)
  return row.label === 'as written' ? options.paint.bold(text) : text
}

function detailsOf({ quote, trade }: Row, shared: readonly string[], report: Report): string[] {
  const { candidate } = quote
  const remarks = candidate.remarks.filter(remark => !shared.includes(remark))
  if (!canRun(candidate) && !candidate.asRequested) return [...candidate.obstacles]
  return [
    describeOffer(quote, report.currency),
    ...candidate.obstacles,
    ...(trade === undefined ? [] : [trade]),
    ...remarks,
  ]
}

/** What holds for every row but those as written is said once, below. */
function sharedRemarks(rows: readonly Row[]): readonly string[] {
  const [first, ...others] = rows
    .filter(row => !row.quote.candidate.asRequested)
    .map(row => row.quote.candidate.remarks)
  return (first ?? []).filter(remark => others.length > 0 && others.every(remarks => remarks.includes(remark)))
}

/** What the figures rest on: basis, price sources with their dates, and what is left out. */
function footLines(rows: readonly Row[], options: RenderOptions): string[] {
  if (rows.length === 0) return []
  const bases = [...new Set(rows.flatMap(row => row.quote.runtime?.basis ?? []))]
  const prices = [
    ...new Set(
      rows.flatMap(row => row.quote.prices.flatMap(price => (price === undefined ? [] : [describeSource(price)]))),
    ),
  ]
  const notes = [
    ...bases.map(basis => `runtime by ${basisWords[basis]}`),
    ...sharedRemarks(rows).map(remark => `the others: ${remark}`),
    prices.length === 0 ? 'no price is known' : `prices: ${prices.join('; ')}`,
    'not included: storage, network, queueing, failed runs, tax',
  ]
  return ['', ...notes.flatMap(note => wrap(note, options.width, '  ').map(options.paint.dim))]
}

const basisWords = {
  history: 'history: earlier runs of this job',
  measured: 'measured: a measured rate, scaled',
  declared: 'declared: the manifest says it itself',
  model: 'model: formulas fitted to published runs; 8 of 10 should fall inside the range',
  limit: 'limit: only the time limit bounds it',
} as const

function warningLines({ warnings, job }: Fare, options: RenderOptions): string[] {
  const { file } = job.place
  return warnings.flatMap(warning => {
    return wrap(placed(warning, file), options.width, '    ').map((line, index) =>
      index === 0 ? `  ${options.paint.yellow('!')} ${line.trimStart()}` : line,
    )
  })
}

/** `aws on-demand 2026-07-20`, `research own rate`. */
function describeSource({ machine, listedFor, tier, asOf }: Price): string {
  return [listedFor?.provider ?? machine.provider, tierWords[tier], asOf].filter(Boolean).join(' ')
}

/** A warning with its line; the file is named where it is another one than the manifest. */
function placed({ text, place }: Warning, manifest: string): string {
  if (place?.line === undefined) return text
  return place.file === manifest ? `line ${place.line}: ${text}` : `${describePlace(place)}: ${text}`
}

function totalLines(report: Report, options: RenderOptions): string[] {
  if (report.fares.length < 2) return []
  const totalUsd = totalToApprove(report.fares)
  const amount =
    totalUsd === undefined
      ? '? (a part is not known)'
      : `at most ${formatMoney(totalUsd, report.currency)} (P90 or time limit)`
  const text = `${countOf(report.fares.length, 'job')} as written, together: ${amount}`
  return [...wrap(text, options.width, '').map(options.paint.bold), '']
}

function remarkLines(remarks: readonly string[], options: RenderOptions): string[] {
  return remarks.flatMap(remark => wrap(remark, options.width, '  '))
}
