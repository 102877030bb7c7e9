import type { Candidate } from '../candidates.ts'
import type { Gpu } from '../gpu.ts'
import type { Job } from '../job.ts'
import type { Outcome } from '../logs/outcome.ts'
import type { Sourced } from '../sourced.ts'
import type { Calibration } from '../throughput/pace.ts'
import type { Workload } from '../workload.ts'
import type { EarlierLog } from './earlier-log.ts'

/** How a runtime is known; users see these five words in every row. */
export type Basis = 'history' | 'measured' | 'declared' | 'model' | 'limit'

/** Eight of ten actual runs should fall between `p10` and `p90`. */
export interface Range {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

/** Standard deviations from the median to P90 of a normal distribution. */
export const p90Deviations = 1.2816

/** Log-normal range around a median, from the standard deviation of its logarithm. Nothing is below `least`. */
export function rangeAround(p50: number, sigma: number, least = 0): Range {
  const factor = Math.exp(p90Deviations * sigma)
  return { p10: Math.min(p50, Math.max(least, p50 / factor)), p50, p90: p50 * factor }
}

/** A range times a factor that is itself known but for a standard deviation of its logarithm. */
export function widened({ p10, p50, p90 }: Range, factor: number, sigma: number): Range {
  const further = (tail: number) => Math.exp(Math.hypot(Math.log(tail), p90Deviations * sigma))
  return { p10: (p50 * factor) / further(p50 / p10), p50: p50 * factor, p90: p50 * factor * further(p90 / p50) }
}

/** How likely a log-normal figure with this range is above a bound, 0 to 1. */
export function chanceAbove({ p10, p50, p90 }: Range, bound: number): number {
  const distance = Math.log(bound / p50)
  const tail = distance > 0 ? Math.log(p90 / p50) : Math.log(p50 / p10)
  if (tail === 0) return distance < 0 ? 1 : 0
  return 1 - normalShareBelow((distance / tail) * p90Deviations)
}

/** Share of the standard normal distribution below z, by the logistic approximation of Bowling et al. (2009), 0.0002 off at most. */
function normalShareBelow(z: number): number {
  return 1 / (1 + Math.exp(-0.07056 * z ** 3 - 1.5976 * z))
}

/** One line of the arithmetic behind a runtime, for `--explain`. */
export interface Working {
  readonly what: string
  /** The figure with its unit, ready to read. */
  readonly figure: string
  readonly origin: Sourced<unknown>['origin']
}

/** What one way of knowing says where several do, and what it counts, 0 to 1. */
export interface Evidence {
  readonly basis: Exclude<Basis, 'limit'>
  readonly seconds: Range
  readonly weight: number
}

/** A runtime that is known as a range. */
export interface RangedRuntime {
  readonly basis: Exclude<Basis, 'limit'>
  readonly seconds: Range
  readonly working: readonly Working[]
  /** The same if no time limit ended it, where `seconds` ends with the limit. */
  readonly unlimitedSeconds?: Range
  /** Whether P90 is no more than twice P10; of earlier runs that scatter wider no single figure is shown. */
  readonly narrow?: boolean
  /** How likely the time limit ends it, 0 to 1, by how often it ended earlier runs; otherwise the range tells. */
  readonly limitChance?: number
  /** How the latest runs like it ended. */
  readonly endings?: Endings
  /** Present where more than one way of knowing has an answer. */
  readonly evidence?: readonly Evidence[]
  /** Completed runs of the job's name that it goes by. */
  readonly completed?: CompletedRuns
  /** The latest runs that it goes by, completed ones of the accounting or those of logs. */
  readonly seen?: readonly SeenRun[]
  /** Logs it goes by, the newest first. */
  readonly logs?: readonly LogEvidence[]
  /** Present where earlier quotes of the job turned out wrong by a factor that is made up for. */
  readonly correction?: Correction
}

/** A run of the past as one source tells of it. */
export interface SeenRun {
  /** As its scheduler numbers it: `4711`, of an array `4711_3`. */
  readonly id?: string
  /** Seconds since 1970; absent of a log, which does not say when its job began. */
  readonly startSeconds?: number
  /** When it ended, or its log was last written. */
  readonly endSeconds: number
}

/** Runs that were completed. */
export interface CompletedRuns {
  readonly count: number
  /** When the last of them ended, in seconds since 1970. */
  readonly lastEndSeconds: number
  /** Where they are recorded: a file, or `sacct`. */
  readonly source: string
}

/** What an estimate was multiplied by, and why. */
export interface Correction {
  readonly factor: number
  /** Before it. */
  readonly estimatedSeconds: Range
  /** What earlier quotes are put together by. */
  readonly fingerprint: string
  /** The GPUs that these runs had, as they are shown: the candidate's, or others where the job never ran on those. */
  readonly gpus: string
  /** The newest first. */
  readonly runs: readonly CorrectingRun[]
}

/** A run that was quoted, and what became of it. */
export interface CorrectingRun {
  readonly id: string
  /** When it was quoted, ISO 8601, UTC. */
  readonly at: string
  /** P50 before any correction. */
  readonly estimatedSeconds: number
  readonly seconds: number
  /** Its time limit stopped it: the work takes longer. */
  readonly isStopped?: true
}

/** What the log of an earlier run says of today's. */
export interface LogEvidence {
  readonly kind: 'log'
  readonly file: string
  readonly outcome: Outcome
  /** Of today's work on the candidate; absent where it only bounds it. */
  readonly seconds?: number
}

/** How long one task of the job runs: a range, or only a bound where nothing but the time limit is known. */
export type Runtime =
  | RangedRuntime
  | { readonly basis: 'limit'; readonly upperBoundSeconds: number; readonly working: readonly Working[] }

/** How many of the latest runs did not come to their end. */
export interface Endings {
  readonly runs: number
  readonly failed: number
  readonly cancelled: number
  readonly timedOut: number
}

/** How many runs tell nothing. */
export interface UncountedRuns {
  /** Completed in no time. */
  readonly short: number
  /** Ended by their cluster, or begun again after that. */
  readonly interrupted: number
}

/** What the earlier runs of a job say of it on some GPUs. */
export interface PastForecast {
  /** Not above the limit that was asked for. */
  readonly seconds: Range
  readonly unlimitedSeconds: Range
  readonly narrow: boolean
  /** Absent where the manifest sets no limit. */
  readonly limitChance?: number
  readonly endings: Endings
  /** Those of the name on these GPUs. */
  readonly completed: CompletedRuns
  /** The latest of them. */
  readonly seen: readonly SeenRun[]
}

/** Earlier runs of jobs. Whoever quotes reads them, late, for most quotes have none. */
export interface PastRuns {
  /** Whether any run has the job's name, but for its digits. */
  knows(job: Job): boolean
  /** By runs on as many GPUs of the type, an empty name standing for any; of GPUs that are requested runs count whose type nobody recorded, too. */
  forecast(job: Job, gpuName: string, gpuCount: number, asRequested: boolean): PastForecast | undefined
  /** Whether a run of the job's name has this number. */
  isNumbered(job: Job, id: string): boolean
  /** GPUs that runs of the job had, the most frequent first; those whose type nobody recorded are left out. */
  gpusOf(job: Job): readonly { readonly gpuName: string; readonly gpuCount: number }[]
  /** Runs of the job that tell nothing of how long it takes, where no other tells it. */
  uncounted(job: Job): UncountedRuns
}

/** What earlier quotes were wrong by. Whoever quotes reads it, late, where there is any. */
export interface Corrections {
  /** The estimate made better by them; itself where there are none. */
  correct(estimate: RangedRuntime, job: Job, workloads: readonly Workload[], candidate: Candidate): RangedRuntime
}

/** What is known of earlier times, each kind absent where there is none. */
export interface Past {
  readonly corrections?: Corrections
  readonly runs?: PastRuns
  /** Logs of earlier runs of this very job. */
  readonly logs?: readonly EarlierLog[]
}

/** What runtimes are predicted from, read from pricing-data/ by whoever asks. */
export interface RuntimeTables {
  /** Every GPU type known: a declared runtime may name one that is no candidate. */
  readonly gpus: readonly Gpu[]
  /** A getter in what readTables gives, so that a declared or limited job does not wait for the table of runs. */
  readonly calibration: Calibration
}

/**
 * One way of knowing how long a job takes on a candidate. It answers undefined when it does not know, and never guesses:
 * the next one in the list is asked then. The last in the list, `limit`, knows only a bound.
 */
export interface RuntimeModel {
  readonly basis: Basis
  predict(
    job: Job,
    workloads: readonly Workload[],
    candidate: Candidate,
    past: Past,
    tables: RuntimeTables,
  ): Runtime | undefined
}
