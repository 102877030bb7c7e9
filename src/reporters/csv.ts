import { type CheckReporter, comparedUsd, type JobChange } from '../check-report.ts'
import { csvCell } from '../escaping.ts'
import { canRun } from '../fare.ts'
import type { Finding } from '../finding.ts'
import type { Quote } from '../quote.ts'
import { findingsByJob } from './check-words.ts'
import type { Reporter } from './reporter.ts'
import { describeGpus, describeOffer } from './words.ts'

type Cell = string | number | undefined

/** A row a job, for spreadsheets: plain numbers with the unit in the column's name, US dollars. An empty cell is not known. */
export const checkCsv: CheckReporter = {
  name: 'csv',
  render(report) {
    const changes = report.base?.changes ?? report.jobs.map(job => ({ ...unchanged, file: job.place.file, after: job }))
    const findingsOf = findingsByJob(report)
    return table(
      changes.map(change => [
        ...checkedCells(change),
        ...findingCounts(change.after === undefined ? [] : findingsOf(change.after)),
      ]),
      checkColumns,
    )
  },
}

/** A row a quote, with price, tier, source and date. */
export const csv: Reporter = {
  name: 'csv',
  render(report) {
    return table(
      report.fares.flatMap(({ job, quotes }) =>
        quotes.map(quote => [
          job.place.file,
          job.place.line,
          job.name,
          ...quoteCells(quote, describeOffer(quote, report.currency)),
        ]),
      ),
      quoteColumns,
    )
  },
}

const unchanged = { before: undefined, differenceUsd: undefined } as const

const checkColumns = [
  'file',
  'line',
  'job',
  'kind',
  'team',
  'gpu_count',
  'gpus',
  'basis',
  'runtime_seconds_p10',
  'runtime_seconds_p50',
  'runtime_seconds_p90',
  'usd_per_hour',
  'cost_usd_p10',
  'cost_usd_p50',
  'cost_usd_p90',
  'cost_usd_upper_bound',
  'base_cost_usd',
  'difference_usd',
  'denials',
  'warnings',
  'exemptions',
] as const

function checkedCells({ file, before, after, differenceUsd }: JobChange): readonly Cell[] {
  const job = after ?? before
  return [
    file,
    job?.place.line,
    job?.name,
    job?.kind,
    job?.team,
    after?.gpuCount,
    after?.gpus,
    after?.basis,
    after?.runtimeSeconds?.p10,
    after?.runtimeSeconds?.p50,
    after?.runtimeSeconds?.p90,
    after?.usdPerHour,
    after?.totalUsd?.p10,
    after?.totalUsd?.p50,
    after?.totalUsd?.p90,
    after?.upperBoundUsd,
    comparedUsd(before),
    differenceUsd,
  ]
}

function findingCounts(findings: readonly Finding[]): readonly number[] {
  const counted = findings.filter(finding => finding.exemption === undefined)
  return [
    counted.filter(finding => finding.level === 'deny').length,
    counted.filter(finding => finding.level === 'warn').length,
    findings.length - counted.length,
  ]
}

const quoteColumns = [
  'file',
  'line',
  'job',
  'as_written',
  'can_run',
  'gpus',
  'offer',
  'tier',
  'basis',
  'runtime_seconds_p10',
  'runtime_seconds_p50',
  'runtime_seconds_p90',
  'runtime_seconds_upper_bound',
  'usd_per_hour',
  'cost_usd_p10',
  'cost_usd_p50',
  'cost_usd_p90',
  'cost_usd_upper_bound',
  'price_date',
  'price_source',
  'obstacles',
] as const

function quoteCells(quote: Quote, offer: string): readonly Cell[] {
  const { candidate, runtime, cost } = quote
  const seconds = runtime === undefined || runtime.basis === 'limit' ? undefined : runtime.seconds
  const usd = cost.kind === 'range' ? cost.usd : undefined
  const listed = (of: 'asOf' | 'source') => [...new Set(quote.prices.flatMap(price => price?.[of] ?? []))].join('; ')
  return [
    candidate.asRequested ? 'yes' : 'no',
    canRun(candidate) ? 'yes' : 'no',
    describeGpus(candidate),
    offer,
    quote.tier,
    runtime?.basis,
    seconds?.p10,
    seconds?.p50,
    seconds?.p90,
    runtime?.basis === 'limit' ? runtime.upperBoundSeconds : undefined,
    quote.usdPerHour,
    usd?.p10,
    usd?.p50,
    usd?.p90,
    cost.kind === 'bound' ? cost.upperBoundUsd : quote.limitUsd,
    listed('asOf'),
    listed('source'),
    candidate.obstacles.join('; '),
  ]
}

function table(rows: readonly (readonly Cell[])[], columns: readonly string[]): string {
  return [columns, ...rows].map(row => row.map(csvCell).join(',')).join('\n')
}
