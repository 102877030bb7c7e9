import { describePlace } from '../errors.ts'
import { plainText } from '../escaping.ts'
import { canRun, type Fare } from '../fare.ts'
import { totalToApprove } from '../policy.ts'
import { isSpot } from '../prices/price-source.ts'
import type { Quote } from '../quote.ts'
import { dayOf, formatMoney } from '../units.ts'
import type { Warning } from '../warning.ts'
import { describeCheckpoints } from './checkpoint-words.ts'
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
  describeSource,
  describeTasks,
  describeWorkload,
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
    ...footLines(rows, report, options),
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
  const work = fare.workloads.flatMap(workload => {
    const lines = [
      `${describeWorkload(workload)} (line ${workload.place.line ?? '?'})`,
      describeCheckpoints(workload, fare),
    ]
    return lines.filter(line => line !== undefined)
  })
  const [first = '', ...rest] = wrap(title, options.width, '')
  return [options.paint.bold(first), ...rest, ...[...roles, ...work].flatMap(line => wrap(line, options.width, '  '))]
}

const columns = ['', 'GPUs', 'runtime', 'cost', 'memory'] as const

/** The grid: a line of figures for each row, and below it where that is and what the trade means. */
function gridLines(rows: readonly Row[], report: Report, options: RenderOptions): string[] {
  const shared = sharedRemarks(rows)
  const cells = [[...columns], ...rows.map(row => cellsOf(row, report))]
  const shown = columnsWithin(cells, options.width)
  const widths = columns.slice(0, shown).map((_, index) => widthOf(cells, index))
  const line = (texts: readonly string[]): string =>
    `  ${widths.map((width, index) => (texts[index] ?? '').padEnd(width)).join('  ')}`.trimEnd()
  const indent = ' '.repeat(4 + (widths[0] ?? 0))
  return [
    options.paint.dim(line(columns)),
    ...rows.flatMap(row => {
      const figures = cellsOf(row, report)
      if (cannotRun(row.quote))
        return refusalLines(row, line(figures.slice(0, 2)).padEnd(4 + widthOf(cells, 0) + widthOf(cells, 1)), options)
      // A terminal too narrow for the figures has them below the GPUs.
      const below = shown < fewestColumns ? [figures.slice(2, fewestColumns).join(', ')] : []
      const withoutMemory = shown < columns.length ? hiddenMemory(row) : []
      const details = [...below, ...withoutMemory, ...detailsOf(row, shared, report)]
      return [
        paintRow(line(figures), row, options),
        ...details.flatMap(detail => wrap(detail, options.width, indent).map(options.paint.dim)),
      ]
    }),
  ]
}

function cellsOf({ quote, label }: Row, report: Report): string[] {
  const gpus = plainText(describeGpus(quote.candidate))
  if (cannotRun(quote)) return [label, gpus]
  return [label, gpus, describeRuntime(quote), describeCost(quote, report.currency), describeFit(quote.candidate)]
}

/** A candidate that cannot run has reasons in place of figures; what was written keeps both. */
function cannotRun({ candidate }: Quote): boolean {
  return !canRun(candidate) && !candidate.asRequested
}

function refusalLines(row: Row, start: string, options: RenderOptions): string[] {
  const indent = ' '.repeat(start.length + 2)
  return wrap(row.quote.candidate.obstacles.join('; '), options.width, indent, `${start}  `).map(options.paint.red)
}

/** Up to the cost; what does not fit beside the GPUs stands below them. */
const fewestColumns = 4

/** How many columns stay within the width: all, those up to the cost, or the first two. */
function columnsWithin(cells: readonly (readonly string[])[], width: number): number {
  const totalOf = (count: number) =>
    columns.slice(0, count).reduce((sum, _, index) => sum + widthOf(cells, index) + 2, 0)
  return [columns.length, fewestColumns].find(count => totalOf(count) <= width) ?? 2
}

function widthOf(cells: readonly (readonly string[])[], column: number): number {
  return Math.max(...cells.map(texts => texts[column]?.length ?? 0))
}

function paintRow(text: string, row: Row, options: RenderOptions): string {
  if (!canRun(row.quote.candidate)) return options.paint.red(text)
  if (row.label === 'cheaper' || row.label === 'better') return options.paint.green(text)
  return row.label === 'as written' ? options.paint.bold(text) : text
}

/** What a column without room would say, where it is more than that it fits; obstacles say that it does not. */
function hiddenMemory({ quote: { candidate } }: Row): string[] {
  const { verdict, leastBytes } = candidate.fit
  const isTold = verdict === 'tight' || (verdict === 'unknown' && leastBytes !== undefined)
  return isTold ? [`memory ${describeFit(candidate)}`] : []
}

function detailsOf({ quote, trade }: Row, shared: readonly string[], report: Report): string[] {
  const { candidate } = quote
  const remarks = candidate.remarks.filter(remark => !shared.includes(remark))
  const details = [
    describeOffer(quote, report.currency),
    ...candidate.obstacles,
    describeTasks(quote),
    trade,
    ...remarks,
  ]
  return details.filter(detail => detail !== undefined)
}

/** What holds for every row but those as written is said once, below. */
function sharedRemarks(rows: readonly Row[]): readonly string[] {
  const [first, ...others] = rows
    .filter(row => !row.quote.candidate.asRequested)
    .map(row => row.quote.candidate.remarks)
  return (first ?? []).filter(remark => others.length > 0 && others.every(remarks => remarks.includes(remark)))
}

/** What the figures rest on: basis, price sources with their dates, and what is left out. */
function footLines(rows: readonly Row[], { currency }: Report, options: RenderOptions): string[] {
  if (rows.length === 0) return []
  const bases = [...new Set(rows.flatMap(({ quote }) => (cannotRun(quote) ? [] : (quote.runtime?.basis ?? []))))]
  const prices = [
    ...new Set(
      rows.flatMap(row => row.quote.prices.flatMap(price => (price === undefined ? [] : [describeSource(price)]))),
    ),
  ]
  const notes = [
    ...bases.map(basis => `runtime by ${basisWords[basis]}`),
    ...runNotes(rows),
    ...logNotes(rows),
    ...memoryNotes(rows),
    ...sharedRemarks(rows).map(remark => `the others: ${remark}`),
    ...(rows.some(row => isSpot(row.quote.tier)) ? ['spot: its machines can be taken away at any time'] : []),
    ...(currency.source === undefined
      ? []
      : [`amounts in ${currency.code}: ${currency.perUsd} for 1 USD (${currency.source})`]),
    prices.length === 0 ? 'no price is known' : `prices: ${prices.join('; ')}`,
    'not included: storage, network, queueing, failed runs, tax',
  ]
  return ['', ...notes.flatMap(note => wrap(note, options.width, '  ').map(options.paint.dim))]
}

/** Where memory hangs on what is not said: what the larger figure takes for it. */
function memoryNotes(rows: readonly Row[]): string[] {
  const fits = rows.map(({ quote }) => quote.candidate.fit)
  const unsure = fits.find(({ verdict, needBytes }) => verdict === 'unknown' && needBytes !== undefined)
  const assumed = unsure?.assumed ?? []
  return assumed.length === 0
    ? []
    : [`memory unsure: the larger figure is for ${assumed.join('; ')}, the smaller for the leanest run`]
}

/** Which recorded runs the runtimes go by. */
function runNotes(rows: readonly Row[]): string[] {
  const found = rows.flatMap(({ quote: { runtime } }) =>
    runtime === undefined || runtime.basis === 'limit' || runtime.completed === undefined
      ? []
      : [{ basis: runtime.basis, ...runtime.completed }],
  )
  const [first] = found
  if (first === undefined) return []
  const { basis, count, lastEndSeconds, source } = first
  return [`${basis}: ${countOf(count, 'earlier run')} in ${plainText(source)}, the last on ${dayOf(lastEndSeconds)}`]
}

/** Which logs the runtimes go by. */
function logNotes(rows: readonly Row[]): string[] {
  const logs = rows.flatMap(({ quote: { runtime } }) => (runtime?.basis === 'limit' ? [] : (runtime?.logs ?? [])))
  const [newest, ...others] = new Set(logs.map(({ file }) => plainText(file)))
  const basis = rows.find(({ quote: { runtime } }) => runtime?.basis !== 'limit' && runtime?.logs)?.quote.runtime?.basis
  if (newest === undefined) return []
  return [`${basis}: ${countOf(others.length + 1, 'earlier log')}, ${others.length === 0 ? '' : 'newest '}${newest}`]
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
