import { type Candidate, findCandidates } from './candidates.ts'
import type { Config } from './config.ts'
import { warnOfConfig } from './config-warnings.ts'
import { withCpuMachine } from './cpu-machines.ts'
import { clusterOf, knowsPartitions, namedGpus, preferencesOf, warnOfGpuTypes } from './gpu-choices.ts'
import { gpusAtOnce } from './gpus-in-use.ts'
import type { Job } from './job.ts'
import { warnOfLogs } from './log-warnings.ts'
import { adviseOn } from './missing-facts.ts'
import { listPrices } from './prices/index.ts'
import { isSpot, type Tier } from './prices/price-source.ts'
import type { Tables } from './pricing-data.ts'
import { type Quote, quoteCandidate } from './quote.ts'
import { type EarlierLog, locate } from './runtimes/earlier-log.ts'
import { predictRuntime } from './runtimes/index.ts'
import type { Past, Working } from './runtimes/runtime-model.ts'
import { type SessionCost, sessionCostOf, sessionWarnings } from './session-costs.ts'
import { type Currency, countOf, formatDuration, formatMoney, formatPercent } from './units.ts'
import type { Warning } from './warning.ts'
import type { Workload } from './workload.ts'
import { readWorkloads } from './workloads/index.ts'
import type { ReferredFiles } from './workloads/workload-reader.ts'

/** A job with what it computes and what that takes and costs on each candidate; as written comes first. */
export interface Fare {
  readonly job: Job
  /** The common names of the GPU types that the job names, by the names as written. */
  readonly gpuNames: ReadonlyMap<string, readonly string[]>
  readonly workloads: readonly Workload[]
  readonly quotes: readonly Quote[]
  readonly warnings: readonly Warning[]
  /** Of a notebook, an editor or a shell, at the rate of the job as written. */
  readonly session?: SessionCost
  /** Logs of earlier runs, with the GPUs these had. */
  readonly earlierLogs?: readonly EarlierLog[]
}

/** Candidates of one job and what it takes and costs on them. */
interface QuotedCandidates {
  readonly candidates: readonly Candidate[]
  readonly quotes: readonly Quote[]
  readonly logs: readonly EarlierLog[]
}

/** Quotes that were made, for jobs that differ in nothing but name and file: of thousands many do. */
export class QuoteMemory {
  private readonly known = new Map<string, { readonly file: string; readonly quoted: QuotedCandidates }>()

  recall(job: Job, workloads: readonly Workload[], config: Config, quote: () => QuotedCandidates): QuotedCandidates {
    const { file } = job.place
    const asked = JSON.stringify([{ ...job, name: '', labels: {}, warnings: [] }, workloads, config.files])
    // A NUL, which JSON spells out, stands for nothing else than the file.
    const name = JSON.stringify(file)
    const key = asked.replaceAll(name, '\0').replaceAll(`${name.slice(1, -1)}:`, '\0')
    const found = this.known.get(key) ?? { file, quoted: quote() }
    if (this.known.size < mostRemembered) this.known.set(key, found)
    return found.file === file ? found.quoted : movedTo(file, found.file, found.quoted)
  }
}

/** The same quotes, read in the same lines of another file. */
function movedTo(file: string, from: string, { candidates, quotes, logs }: QuotedCandidates): QuotedCandidates {
  const isThere = ({ origin }: Working) => 'place' in origin && origin.place.file === from
  const moved = (step: Working): Working =>
    'place' in step.origin && isThere(step)
      ? { ...step, origin: { ...step.origin, place: { ...step.origin.place, file } } }
      : step
  return {
    candidates,
    logs,
    quotes: quotes.map(quote =>
      quote.runtime?.working.some(isThere)
        ? { ...quote, runtime: { ...quote.runtime, working: quote.runtime.working.map(moved) } }
        : quote,
    ),
  }
}

/** A quote with its key takes some 50 KB. */
const mostRemembered = 500

/** What a job takes and costs as written and on every other candidate. */
export function fareOf(
  job: Job,
  files: ReferredFiles,
  tables: Tables,
  config: Config,
  memory?: QuoteMemory,
  past: Past = {},
): Fare {
  const { workloads, warnings } = readWorkloads(job, files, tables.models, tables.datasets)
  const prices = listPrices(tables, preferencesOf(job, config))
  const quote = () => quoteAll(job, workloads, tables, config, past)
  // What is remembered goes by all but the name, which earlier runs are known by.
  const hasPast = past.runs?.knows(job) === true || past.corrections !== undefined || (past.logs ?? []).length > 0
  const { candidates, quotes, logs } = (hasPast ? undefined : memory)?.recall(job, workloads, config, quote) ?? quote()
  const asWritten = quotes.find(quote => quote.candidate.asRequested)
  const cluster = clusterOf(job, config.clusters)
  const areKnown = job.roles.every(role => role.gpuCount.value === 0 || knowsPartitions(cluster, role))
  const session = sessionCostOf(job, asWritten)
  return {
    job,
    ...(session !== undefined && { session }),
    ...(logs.length > 0 && { earlierLogs: logs }),
    gpuNames: namedGpus(job, tables.gpus, prices),
    workloads,
    quotes,
    warnings: [
      ...withIdleCost(
        job.warnings.filter(({ code }) => code !== 'gpu-type-hint-only' || !areKnown),
        job,
        asWritten,
        config.currency,
      ),
      ...strandedGpus(job, asWritten),
      ...warnOfGpuTypes(job, tables.gpus, prices, config, requestedGpus(candidates)),
      ...warnOfConfig(job, config, tables),
      ...withIdleCost(
        withCpuMachine(warnings, job, asWritten, tables.prices, config.currency),
        job,
        asWritten,
        config.currency,
      ),
      ...adviseOn(job, workloads, asWritten?.runtime),
      ...warnOfLogs(logs, asWritten?.runtime),
      ...limitWarnings(asWritten, config.currency),
      ...endingWarnings(asWritten),
      ...uncountedRuns(job, asWritten, past),
      ...correctionWarnings(asWritten),
      ...looseLimit(job, asWritten, config.currency),
      ...sessionWarnings(job, session, config.currency),
    ],
  }
}

function quoteAll(
  job: Job,
  workloads: readonly Workload[],
  tables: Tables,
  config: Config,
  past: Past,
): QuotedCandidates {
  const prices = listPrices(tables, preferencesOf(job, config))
  const candidates = findCandidates(job, workloads, { gpus: tables.gpus, prices, config })
  const logs = locate(past.logs ?? [], candidates, tables.gpus)
  const quotes = candidates.flatMap(candidate => {
    const runtime = predictRuntime(job, workloads, candidate, { ...past, logs }, tables)
    return tiersOf(candidate)
      .map(tier => quoteCandidate(job, candidate, runtime, tier, prices.priceOf))
      .filter(quote => candidate.spot || quote.tier !== 'spot' || quote.usdPerHour !== undefined)
  })
  return { candidates, quotes, logs }
}

/** Names of the GPU types that the job may get as written. */
function requestedGpus(candidates: readonly Candidate[]): ReadonlySet<string> {
  const requested = candidates.filter(candidate => candidate.asRequested)
  return new Set(requested.flatMap(({ placements }) => placements.map(({ gpu }) => gpu.name)))
}

/** The quotes of the job as written; several where the manifest leaves the GPU type open. Spot rows are offers, not requests. */
export function requestedQuotes(fare: Fare): readonly Quote[] {
  const asWritten = fare.quotes.filter(quote => quote.candidate.asRequested)
  const firm = asWritten.filter(quote => !isSpot(quote.tier))
  return firm.length > 0 ? firm : asWritten
}

/** Whether a candidate can run the job, as far as is known. */
export function canRun(candidate: Candidate): boolean {
  return candidate.obstacles.length === 0
}

/** The tiers a candidate is quoted at: its own rate or on-demand, and spot in a row of its own; only spot where the job insists on it. */
export function tiersOf(candidate: Candidate): readonly Tier[] {
  if (candidate.spot) return ['spot']
  return candidate.asRequested && canRun(candidate) ? ['on-demand', 'spot'] : ['on-demand']
}

/** What the GPUs that have nothing to do cost an hour, where the price is known. */
function withIdleCost(
  warnings: readonly Warning[],
  job: Job,
  asWritten: Quote | undefined,
  currency: Currency,
): readonly Warning[] {
  const gpus = gpusAtOnce(job)
  const { usdPerHour, concurrentTasks } = asWritten ?? {}
  if (usdPerHour === undefined || concurrentTasks === undefined || gpus === 0) return warnings
  return warnings.map(warning => {
    if (warning.idleGpus === undefined) return warning
    const idleUsd = (usdPerHour * warning.idleGpus * concurrentTasks) / gpus
    return { ...warning, text: `${warning.text}; ${formatMoney(idleUsd, currency)} an hour buy nothing` }
  })
}

/** GPUs of machines that are taken whole on request and were not asked for. */
function strandedGpus(job: Job, asWritten: Quote | undefined): readonly Warning[] {
  if (asWritten === undefined) return []
  return asWritten.candidate.placements.flatMap(({ role, machine, machineCount, gpuCount }): Warning[] => {
    const exclusive = job.roles.some(({ name, exclusive }) => name === role && exclusive)
    const paid = machineCount * machine.gpuCount
    if (!exclusive || paid <= gpuCount) return []
    const share = formatPercent((paid - gpuCount) / paid)
    const text = `${role}: of the ${paid} GPUs of ${countOf(machineCount, 'whole node')} (${machine.name}) ${gpuCount} are asked for: ${share} of the price is for the others`
    return [{ code: 'exclusive-whole-node', text, idleGpus: paid - gpuCount }]
  })
}

/** A run that its own time limit may cut off: how likely, what is paid by then, and the limit to ask for. */
function limitWarnings(asWritten: Quote | undefined, currency: Currency): readonly Warning[] {
  const { stop, runtime } = asWritten ?? {}
  if (stop === undefined || runtime === undefined || runtime.basis === 'limit') return []
  const limit = formatDuration(stop.limitSeconds)
  const code = 'time-limit-too-short-to-judge' as const
  const paid = stop.lostUsd === undefined ? '' : `, with ${formatMoney(stop.lostUsd, currency)} paid by then`
  const { neededLimitSeconds: needed } = stop
  const remedy = needed === undefined ? '' : `; ${formatDuration(needed)} would do for 95 of 100`
  if (stop.chance <= 0.5) {
    const text = `the time limit of ${limit} stops it before it is done in about ${Math.round(stop.chance * 10)} of 10 cases${paid}${remedy}`
    return [{ code, text }]
  }
  if (runtime.basis === 'history' && runtime.limitChance !== undefined) {
    const text = `most earlier runs like it would not be done within the time limit of ${limit}${paid}${remedy}`
    return [{ code, text }]
  }
  const need = formatDuration(runtime.seconds.p50)
  return [
    {
      code,
      text: `the run needs about ${need}, the time limit stops it after ${limit}${paid}: this job is one part of it${remedy}`,
    },
  ]
}

/** Failures and cancellations tell a risk, and nothing of how long a run takes. */
function endingWarnings(asWritten: Quote | undefined): readonly Warning[] {
  const { runtime } = asWritten ?? {}
  const endings = runtime === undefined || runtime.basis === 'limit' ? undefined : runtime.endings
  if (endings === undefined) return []
  const kinds = [
    [endings.failed, 'failed'],
    [endings.cancelled, endings.cancelled === 1 ? 'was cancelled' : 'were cancelled'],
    [endings.timedOut, 'reached the time limit'],
  ] as const
  const told = kinds.flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`))
  if (told.length === 0) return []
  return [{ code: 'earlier-runs', text: `of the last ${countOf(endings.runs, 'run')} like it ${told.join(', ')}` }]
}

/**
 * Runs of under a minute failed at their start, or were tries; those begun again may have gone on from a checkpoint: whoever knows of them
 * wants to know that they do not count.
 */
function uncountedRuns(job: Job, asWritten: Quote | undefined, { runs }: Past): readonly Warning[] {
  if (runs === undefined || asWritten?.runtime?.basis === 'history') return []
  const { short, interrupted } = runs.uncounted(job)
  const kinds = [
    [short, 'took less than a minute', short === 1 ? '' : ' each'],
    [interrupted, interrupted === 1 ? 'was interrupted' : 'were interrupted', ' or begun again'],
  ] as const
  return kinds.flatMap(([count, verb, more]) => {
    const text = `${countOf(count, 'earlier run')} of this name ${verb}${more} and count${count === 1 ? 's' : ''} for nothing`
    return count === 0 ? [] : [{ code: 'earlier-runs', text } as const]
  })
}

/** An estimate that earlier quotes have moved out of its own range. */
function correctionWarnings(asWritten: Quote | undefined): readonly Warning[] {
  const { runtime } = asWritten ?? {}
  const correction = runtime === undefined || runtime.basis === 'limit' ? undefined : runtime.correction
  if (runtime === undefined || runtime.basis === 'limit' || correction === undefined) return []
  const { estimatedSeconds: before, runs, factor } = correction
  if (runtime.seconds.p50 >= before.p10 && runtime.seconds.p50 <= before.p90) return []
  const text = `${countOf(runs.length, 'earlier quote')} of it ${runs.length === 1 ? 'was' : 'were'} off: ${formatDuration(before.p50)} became ${formatDuration(runtime.seconds.p50)} (x${factor.toFixed(2)})`
  return [{ code: 'corrected', text }]
}

/** A time limit that is so many times the estimate bounds nothing any more. */
const LOOSE = 10

/** What a run that hangs until its far time limit costs over what it needs. */
function looseLimit(job: Job, asWritten: Quote | undefined, currency: Currency): readonly Warning[] {
  const { runtime, limitUsd, cost } = asWritten ?? {}
  if (runtime === undefined || runtime.basis === 'limit' || limitUsd === undefined || cost?.kind !== 'range') return []
  const limits = job.roles.flatMap(role => (role.limitSpansTasks === true ? [] : (role.timeLimitSeconds ?? [])))
  const [longest] = [...limits].sort((a, b) => b.value - a.value)
  const times = (longest?.value ?? 0) / runtime.seconds.p50
  if (longest === undefined || times < LOOSE) return []
  const need = formatDuration(runtime.seconds.p50)
  const text = `the time limit of ${formatDuration(longest.value)} is ${Math.floor(times)} times the ${need} that the run needs: if it hangs, ${formatMoney(limitUsd - cost.usd.p50, currency)} more are at risk`
  const place = 'place' in longest.origin ? { place: longest.origin.place } : {}
  return [{ code: 'time-limit-too-long', text, ...place }]
}
