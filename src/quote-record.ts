import { describeGpus } from './candidates.ts'
import type { Config } from './config.ts'
import { type Fare, requestedQuotes } from './fare.ts'
import { fingerprintOf } from './runtimes/fingerprint.ts'
import type { Basis, Range, RangedRuntime, Runtime } from './runtimes/runtime-model.ts'
import { tagOf } from './tags.ts'

/** A price that a quote was worked out with. */
export interface RecordedRate {
  readonly provider: string
  readonly machine: string
  readonly region: string
  readonly tier: string
  readonly usdPerMachineHour: number
  readonly machineGpus: number
  /** Day the price was read; empty where the source does not say it. */
  readonly asOf: string
}

/** What was quoted for a job, short enough to be kept for good. */
export interface QuotedFigures {
  /** Also in the stamp that the scheduler keeps. */
  readonly key: string
  readonly basis?: Basis
  /** Of one task. */
  readonly runtimeSeconds?: Range
  /** P50 before it was corrected by what earlier quotes were off by. */
  readonly estimatedSeconds?: number
  /** What quotes of the job are recognised by; absent where they cannot be off by the same again. */
  readonly fingerprint?: string
  /** Where only the time limit is known. */
  readonly runtimeUpperBoundSeconds?: number
  /** Of all tasks together. */
  readonly usd?: Range
  readonly upperBoundUsd?: number
  /** What an hour of one task costs. */
  readonly usdPerTaskHour?: number
  /** GPUs that one task asks for; those it is billed for may be more, where whole machines are taken. */
  readonly gpus: number
  readonly billedGpus: number
  readonly tasks: number
  /** `8x A100-80GB`. */
  readonly gpuModel: string
}

/** A job that was handed over: what was quoted, and how to find it again. */
export interface QuoteRecord extends QuotedFigures {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly scheduler: 'slurm' | 'kubernetes'
  readonly cluster?: string
  readonly namespace?: string
  /** Job id of Slurm, uid of Kubernetes; absent where the scheduler's program did not print it. */
  readonly id?: string
  /** `job.batch/train`. */
  readonly reference?: string
  readonly name: string
  readonly kind: string
  readonly user?: string
  readonly team?: string
  readonly costCenter?: string
  /** SHA-256 of the bytes that were handed over, hexadecimal. */
  readonly digest: string
  readonly rates: readonly RecordedRate[]
  readonly framework?: string
  readonly model?: string
  /** Of one task, where known. */
  readonly tokens?: number
  readonly epochs?: number
  /** Whether it goes on from its last checkpoint when it is started again; absent where nobody knows. */
  readonly resumes?: boolean
  /** P50 in US dollars of the job as it was written, where the person chose another candidate. */
  readonly insteadOfUsd?: number
  readonly gpufareVersion: string
}

/** What is known of a hand-over before it is made. */
export interface Occasion {
  readonly key: string
  readonly at: string
  readonly user?: string
  readonly digest: string
  readonly gpufareVersion: string
  readonly config: Config
  /** The same job as it was written, where another candidate was chosen. */
  readonly insteadOf?: Fare
}

/** The longest name that is kept: a record has to stay small enough to be written at once. */
const longestText = 200
/** Jobs of more machine types are rare, and a record has to stay small. */
const mostRates = 8

/** The record of a job before its scheduler has given it an id. */
export function quoteRecordOf(fare: Fare, occasion: Occasion): QuoteRecord {
  const { job, workloads } = fare
  const { key, at, user, digest, gpufareVersion, config, insteadOf } = occasion
  const team = tagOf('team', job, config)
  const costCenter = tagOf('cost-center', job, config)
  const [workload, ...others] = workloads.filter(each => each.purpose === 'train' || each.purpose === 'infer')
  const only = others.length === 0 ? workload : undefined
  const resumes = workload?.checkpoint?.resumes?.value
  const insteadOfUsd = insteadOf === undefined ? undefined : medianUsd(insteadOf)
  return {
    key,
    at,
    scheduler: job.scheduler === 'kubernetes' ? 'kubernetes' : 'slurm',
    name: cut(job.name),
    kind: cut(job.kind),
    ...(user !== undefined && { user: cut(user) }),
    ...(team !== undefined && { team: cut(team) }),
    ...(costCenter !== undefined && { costCenter: cut(costCenter) }),
    digest,
    ...figuresOf(fare),
    ...(workload?.framework !== undefined && { framework: cut(workload.framework.value) }),
    ...(workload?.modelName !== undefined && { model: cut(workload.modelName.value) }),
    ...(only?.tokens !== undefined && { tokens: only.tokens.value * only.repetitions }),
    ...(only?.epochs !== undefined && { epochs: only.epochs.value * only.repetitions }),
    ...(resumes !== undefined && { resumes }),
    ...(insteadOfUsd !== undefined && { insteadOfUsd }),
    gpufareVersion,
  }
}

function figuresOf(fare: Fare): Omit<QuotedFigures, 'key'> & Pick<QuoteRecord, 'rates'> {
  const quotes = requestedQuotes(fare)
  const [quote] = quotes
  if (quote === undefined) return { gpus: 0, billedGpus: 0, tasks: 1, gpuModel: '', rates: [] }
  const { runtime, cost, usdPerHour, concurrentTasks, tasks, candidate } = quote
  const { placements } = candidate
  const ranged = rangedIn(runtime)
  const fingerprint = quotes.every(each => isAlike(rangedIn(each.runtime), ranged))
    ? fingerprintIn(fare, ranged)
    : undefined
  return {
    ...(runtime !== undefined && { basis: runtime.basis }),
    ...(ranged !== undefined && { runtimeSeconds: ranged.seconds }),
    ...(ranged?.correction !== undefined && { estimatedSeconds: ranged.correction.estimatedSeconds.p50 }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(runtime?.basis === 'limit' && { runtimeUpperBoundSeconds: runtime.upperBoundSeconds }),
    ...(cost.kind === 'range' && { usd: cost.usd }),
    ...(cost.kind === 'bound' && { upperBoundUsd: cost.upperBoundUsd }),
    // What takes turns has no one rate.
    ...(usdPerHour !== undefined && fare.job.turns === undefined && { usdPerTaskHour: usdPerHour / concurrentTasks }),
    gpus: placements.reduce((sum, { gpuCount }) => sum + gpuCount, 0),
    billedGpus: placements.reduce(
      (sum, each) => sum + (each.wholeMachine ? each.machine.gpuCount * each.machineCount : each.gpuCount),
      0,
    ),
    tasks,
    gpuModel: describeGpus(candidate),
    rates: quote.prices.slice(0, mostRates).flatMap(price => {
      if (price === undefined) return []
      const { machine, region, tier, usdPerMachineHour, asOf } = price
      const { provider, name, gpuCount } = machine
      return [{ provider, machine: name, region, tier, usdPerMachineHour, machineGpus: gpuCount, asOf }]
    }),
  }
}

function rangedIn(runtime: Runtime | undefined): RangedRuntime | undefined {
  return runtime?.basis === 'limit' ? undefined : runtime
}

/** What several ways of knowing made together is off by nobody knows whose fault. */
function fingerprintIn({ job, workloads }: Fare, runtime: RangedRuntime | undefined): string | undefined {
  return runtime === undefined || runtime.evidence !== undefined
    ? undefined
    : fingerprintOf(job, workloads, runtime.basis)
}

/** Whether it makes no difference which of two GPU types a job gets that asks for either (`a100`), as far as was estimated. */
function isAlike(one: RangedRuntime | undefined, other: RangedRuntime | undefined): boolean {
  if (one === undefined || other === undefined) return false
  const estimateOf = ({ correction, seconds }: RangedRuntime) => correction?.estimatedSeconds ?? seconds
  const { p50 } = estimateOf(one)
  const { p10, p90 } = estimateOf(other)
  return p50 >= p10 && p50 <= p90
}

function medianUsd(fare: Fare): number | undefined {
  const [quote] = requestedQuotes(fare)
  return quote?.cost.kind === 'range' ? quote.cost.usd.p50 : undefined
}

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text
}
