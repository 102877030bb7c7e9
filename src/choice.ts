import type { Candidate } from './candidates.ts'
import type { Cluster, Config, Pool } from './config.ts'
import { canRun, type Fare, requestedQuotes } from './fare.ts'
import type { Job } from './job.ts'
import type { Retarget } from './manifests/manifest-format.ts'
import type { Option } from './prompt.ts'
import type { Quote } from './quote.ts'
import { rowsOf } from './reporters/comparison.ts'
import { countOf, describeGpus } from './reporters/words.ts'
import { type Currency, formatMoney } from './units.ts'

/** Other GPUs than the manifest asks for. */
export interface Another {
  readonly kind: 'another'
  /** `8x L40S`. */
  readonly gpus: string
  readonly target: Retarget
}

/** What the person wants done with the jobs. */
export type Choice =
  | { readonly kind: 'as written' }
  | Another
  | { readonly kind: 'show all' }
  | { readonly kind: 'stop' }

/** Alternatives offered in the question; the table shows the others. */
const alternativesOffered = 4

/**
 * What can be chosen for these jobs, the harmless answer last. Alternatives only for a single job, and only those that its cluster
 * has and that its manifest can be changed to.
 */
export function optionsFor(
  fares: readonly Fare[],
  config: Config,
  showsAll: boolean,
  canChange: (another: Another) => boolean,
): [...Option<Choice>[], Option<Choice>] {
  const [fare] = fares
  const hasCandidates = fares.some(({ quotes }) => quotes.length > 0)
  return [
    { label: `as written, ${describeFares(fares, config.currency)}`, value: { kind: 'as written' } },
    ...(fare === undefined || fares.length > 1 ? [] : alternativesTo(fare, config, canChange)),
    ...(showsAll || !hasCandidates ? [] : [{ label: 'show every candidate', value: { kind: 'show all' } as const }]),
    { label: 'stop', value: { kind: 'stop' } },
  ]
}

/** `8x A100-80GB, about $86`, or `3 jobs, up to $1,900`. */
export function describeFares(fares: readonly Fare[], currency: Currency): string {
  const quotes = fares.map(dearestOf)
  if (fares.length === 0) return 'no job'
  if (quotes.every(quote => quote === undefined)) return `${countOf(fares.length, 'job')} without GPUs, not priced`
  const [only, ...more] = fares
  const types = only === undefined ? [] : requestedQuotes(only).map(({ candidate }) => describeGpus(candidate))
  const what = more.length === 0 ? [...new Set(types)].join(' or ') : countOf(fares.length, 'job')
  return `${what}, ${describeTotal(quotes, currency)}`
}

/** Of the GPU types that a job may get, the one that costs most, or whose cost is not known. */
function dearestOf(fare: Fare): Quote | undefined {
  const usdOf = ({ cost }: Quote) =>
    cost.kind === 'unknown' ? Number.POSITIVE_INFINITY : cost.kind === 'bound' ? cost.upperBoundUsd : cost.usd.p50
  return requestedQuotes(fare).toSorted((a, b) => usdOf(b) - usdOf(a))[0]
}

/** Names of places a job goes to, in the order in which people say them. */
const places = ['cluster', 'context', 'namespace', 'partition', 'account', 'qos', 'reservation', 'queue', 'priority']

/** `cluster gpushop, partition a100, account research`: what the scheduler said, and over it what the jobs say themselves. */
export function describeDestination(found: Readonly<Record<string, string>>, jobs: readonly Job[]): string {
  const named = places.flatMap(place => {
    const own = jobs.flatMap(job => job.destination[place] ?? [])
    const names = own.length > 0 ? [...new Set(own)] : (found[place] ?? [])
    return names.length === 0 ? [] : [`${place} ${[names].flat().join(' and ')}`]
  })
  return named.join(', ')
}

/** Of all jobs together: about the median, at most where a time limit bounds one of them, or that it is not known. */
function describeTotal(quotes: readonly (Quote | undefined)[], currency: Currency): string {
  let usd = 0
  let isBound = false
  for (const quote of quotes) {
    if (quote === undefined || quote.cost.kind === 'unknown') return 'cost not known'
    isBound ||= quote.cost.kind === 'bound'
    usd += quote.cost.kind === 'bound' ? quote.cost.upperBoundUsd : quote.cost.usd.p50
  }
  return `${isBound ? 'up to' : 'about'} ${formatMoney(usd, currency)}`
}

function alternativesTo(
  fare: Fare,
  config: Config,
  canChange: (another: Another) => boolean,
): readonly Option<Choice>[] {
  const offered: Option<Choice>[] = []
  for (const { quote, trade } of rowsOf(fare, config.currency, true)) {
    const { candidate } = quote
    const target = canRun(candidate) && !candidate.asRequested ? targetOf(candidate, fare, config) : undefined
    const another = target && ({ kind: 'another', gpus: describeGpus(candidate), target } as const)
    if (another === undefined || !canChange(another)) continue
    const gain = trade === undefined ? '' : `: ${trade.replace(/:.*/, '')}`
    offered.push({ label: `on ${another.gpus} instead${gain}`, value: another })
    if (offered.length === alternativesOffered) break
  }
  return offered
}

/** Whether a job asks for these GPUs, written as in `Another`. */
export function asksFor(gpus: string, fare: Fare): boolean {
  return requestedQuotes(fare).some(({ candidate }) => describeGpus(candidate) === gpus)
}

/** How the job's own cluster calls a candidate; undefined where it does not have it. */
export function targetOf(candidate: Candidate, fare: Fare, config: Config): Retarget | undefined {
  const [placement, ...more] = candidate.placements
  if (placement === undefined || more.length > 0) return undefined
  const { machine, gpuCount } = placement
  const cluster = config.clusters.find(
    ({ name, scheduler }) => name === machine.provider && scheduler === fare.job.scheduler,
  )
  const pool = cluster?.pools.find(({ name }) => name === machine.name)
  const role = fare.job.roles.find(({ name }) => name === placement.role)
  // Several pods may stand on one node, so their number stays; Slurm counts nodes.
  const replicas = fare.job.scheduler === 'kubernetes' ? role?.replicas.value : placement.machineCount
  const gpusPerReplica = gpuCount / (replicas ?? Number.NaN)
  if (cluster === undefined || pool === undefined || replicas === undefined) return undefined
  if (!Number.isInteger(gpusPerReplica)) return undefined
  return { replicas, gpusPerReplica, ...namesIn(cluster, pool) }
}

function namesIn(cluster: Cluster, pool: Pool): Omit<Retarget, 'replicas' | 'gpusPerReplica'> {
  if (cluster.scheduler === 'slurm') {
    return { partition: pool.name, ...(pool.gresType === undefined ? {} : { gresType: pool.gresType }) }
  }
  const { nodeSelector, resourceName } = pool
  return { resourceName, ...(nodeSelector === undefined ? {} : { nodeSelector }) }
}
