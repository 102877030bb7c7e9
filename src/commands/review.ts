import { askForAllocations } from '../accounting/allocations.ts'
import { configHomes, emptyConfig, findConfigs, readConfigs } from '../config.ts'
import { withEnded } from '../ended-jobs.ts'
import { GpufareError } from '../errors.ts'
import { markdownText, plainText, visibleJson } from '../escaping.ts'
import type { Allocation } from '../history/allocation.ts'
import { type KubernetesAnswer, kubernetesAllocations } from '../kubernetes-allocations.ts'
import { forgetLearnt, keepLearnt, readLearnt } from '../learnt.ts'
import { ledgerPath, readLedger } from '../ledger.ts'
import { listPrices } from '../prices/index.ts'
import { readTables } from '../pricing-data.ts'
import type { QuoteRecord } from '../quote-record.ts'
import { tablesFolder } from '../quoted-manifests.ts'
import { userName } from '../recording.ts'
import { lessonsOf } from '../review/learning.ts'
import { joinOutcomes, type Outcome } from '../review/outcome.ts'
import { reviewDocument, reviewRows } from '../review/records.ts'
import { type CommittedPrice, type Grouping, reviewOf } from '../review/summary.ts'
import { describeReview, type ReviewWords, type TextTable } from '../review/tables.ts'
import { statePath } from '../state-files.ts'
import { loadPaint, type Paint, processTerminal, type Terminal, tell, withSpinner } from '../terminal.ts'
import { countOf, secondsPerDay } from '../units.ts'

/** What `gpufare review` can be told. */
export interface ReviewOptions {
  readonly format: 'table' | 'json' | 'markdown' | 'csv'
  /** Days. */
  readonly since: number
  readonly by: Grouping
  readonly allUsers?: true
  /** What was learnt of a job or by a fingerprint, true for all of it. */
  readonly forget?: string | true
  readonly config?: string
  readonly color: boolean
}

/** Whoever reviews can wait for the schedulers. */
const patienceMilliseconds = 30_000

/** Shows what was quoted and what it took. */
export async function review(
  options: ReviewOptions,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
  folder: string = process.cwd(),
  nowSeconds: number = Math.floor(Date.now() / 1_000),
): Promise<number> {
  const { environment } = terminal
  if (options.forget !== undefined) return forget(options.forget, terminal, nowSeconds)
  const { currency } = await readConfigs(findConfigs(folder, configHomes(environment), options.config))
  const sinceSeconds = nowSeconds - options.since * secondsPerDay
  const records = (await recordsOf(terminal)).filter(({ at }) => Date.parse(at) / 1_000 >= sinceSeconds)
  const asking = {
    environment,
    sinceSeconds,
    nowSeconds,
    everybody: options.allUsers === true,
    timeoutMilliseconds: patienceMilliseconds,
  }
  const allocations = await withSpinner(terminal, 'asking the schedulers', allocationsOf(records, asking, terminal))
  const outcomes = joinOutcomes(records, allocations)
  learnFrom(outcomes, terminal)
  const time = { sinceSeconds, untilSeconds: nowSeconds }
  const found = reviewOf(outcomes, allocations, time, options.by, committedPrices())
  if (options.format === 'json')
    terminal.stdout.write(`${visibleJson(JSON.stringify(reviewDocument(found), null, 2))}\n`)
  else if (options.format === 'csv') terminal.stdout.write(`${reviewRows(found)}\n`)
  else if (outcomes.length === 0) terminal.stdout.write('no job that gpufare quoted is known in this time\n')
  else {
    const words = describeReview(found, currency)
    const paint = await loadPaint(terminal, 'stdout')
    terminal.stdout.write(`${options.format === 'markdown' ? asMarkdown(words) : asText(words, paint)}\n`)
  }
  return 0
}

/** Keeps what the next quotes of the same jobs go by; that it can't is said, and no more. */
function learnFrom(outcomes: readonly Outcome[], terminal: Terminal): void {
  const path = statePath(terminal.environment, 'learnt.jsonl')
  const lessons = lessonsOf(outcomes, userName(terminal.environment))
  if (path === undefined || lessons.length === 0) return
  try {
    const { knows } = readLearnt(path)
    const runs = lessons.filter(run => !knows(run))
    keepLearnt(path, runs)
    if (runs.length > 0)
      tell(terminal, `${countOf(runs.length, 'run')} learnt from: the next quotes of these jobs go by them`)
  } catch (error) {
    if (!(error instanceof GpufareError)) throw error
    tell(terminal, `nothing was learnt: ${error.message}`)
  }
}

function forget(what: string | true, terminal: Terminal, nowSeconds: number): number {
  const path = statePath(terminal.environment, 'learnt.jsonl')
  const wanted = what === true ? undefined : what
  const at = new Date(nowSeconds * 1_000).toISOString()
  const dropped = path === undefined ? 0 : forgetLearnt(path, wanted, at)
  const of = wanted === undefined ? '' : ` of ${wanted}`
  terminal.stdout.write(`${plainText(`${countOf(dropped, 'run')}${of} forgotten`)}\n`)
  return 0
}

async function recordsOf(terminal: Terminal) {
  const path = ledgerPath(terminal.environment)
  if (path === undefined) return []
  const { records, skipped } = await readLedger(path)
  if (skipped > 0) tell(terminal, `${path}: lines that are no whole record were passed over: ${skipped}`)
  return records
}

interface AskedOf {
  readonly environment: Terminal['environment']
  readonly sinceSeconds: number
  readonly nowSeconds: number
  readonly everybody: boolean
  readonly timeoutMilliseconds: number
}

/** Where a scheduler does not answer the ledger alone is shown of its jobs. */
async function allocationsOf(
  records: readonly QuoteRecord[],
  asking: AskedOf,
  terminal: Terminal,
): Promise<readonly Allocation[]> {
  const [slurm, kubernetes] = await Promise.all([
    slurmAllocations(asking),
    kubernetesAllocations({ ...asking, records }),
  ])
  // A machine that only ever submits to Kubernetes has no sacct, and needs none.
  const missesSlurm =
    records.length > 0 ? records.some(({ scheduler }) => scheduler === 'slurm') : kubernetes.allocations.length === 0
  const faults = [...(missesSlurm ? slurm.faults : []), ...kubernetes.faults]
  for (const fault of faults) tell(terminal, plainText(fault))
  return [...slurm.allocations, ...(await withBefore(kubernetes, asking.sinceSeconds, terminal))]
}

/** With jobs that an earlier review saw end and that are no longer there. */
async function withBefore(
  { allocations, quoted }: KubernetesAnswer,
  sinceSeconds: number,
  terminal: Terminal,
): Promise<readonly Allocation[]> {
  const path = statePath(terminal.environment, 'ended.jsonl')
  if (path === undefined) return allocations
  try {
    const isQuoted = ({ jobId }: Allocation) => quoted.has(jobId)
    const told = await withEnded(path, allocations.filter(isQuoted))
    const isRecent = ({ state, startSeconds = 0, elapsedSeconds }: Allocation) =>
      state === 'gone' || state === 'waiting' || startSeconds + elapsedSeconds >= sinceSeconds
    return [...allocations.filter(each => !isQuoted(each)), ...told.filter(isRecent)]
  } catch (error) {
    if (!(error instanceof GpufareError)) throw error
    tell(terminal, `what ended on Kubernetes is not kept: ${error.message}`)
    return allocations
  }
}

async function slurmAllocations({ everybody: allUsers, ...asking }: AskedOf) {
  try {
    return { allocations: await askForAllocations({ ...asking, allUsers }), faults: [] }
  } catch (error) {
    if (!(error instanceof GpufareError)) throw error
    return { allocations: [], faults: [`what jobs of Slurm took is not known: ${error.message}`] }
  }
}

/** The same machine in the same region, for whoever commits to a year. */
function committedPrices(): CommittedPrice {
  const tables = readTables(tablesFolder)
  return ({ provider, machine: name, region }) => {
    const prices = listPrices(tables, { ...emptyConfig, providers: [provider], regions: [region] })
    const [machine] = prices.machinesNamed(name)
    return machine && prices.priceOf(machine, 'reserved-1y')?.usdPerMachineHour
  }
}

function asText({ tables, sentences }: ReviewWords, paint: Paint): string {
  const written = tables.map(({ title, head, rows }) => {
    const cells = rows.map(row => row.map(plainText))
    const widths = head.map((name, index) => Math.max(name.length, ...cells.map(row => row[index]?.length ?? 0)))
    const line = (row: readonly string[]) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()
    return [paint.bold(title), paint.dim(line(head)), ...cells.map(line)].join('\n')
  })
  return [...written, sentences.map(plainText).join('\n')].join('\n\n')
}

function asMarkdown({ tables, sentences }: ReviewWords): string {
  return [...tables.map(markdownTable), sentences.map(each => `- ${markdownText(each)}`).join('\n')].join('\n\n')
}

function markdownTable({ title, head, rows }: TextTable): string {
  const line = (row: readonly string[]) => `| ${row.map(markdownText).join(' | ')} |`
  return [`### ${title}`, '', line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
