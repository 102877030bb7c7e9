import type { Candidate } from '../candidates.ts'
import type { Gpu } from '../gpu.ts'
import type { Job } from '../job.ts'
import type { Sourced } from '../sourced.ts'
import type { Calibration } from '../throughput/pace.ts'
import type { Workload } from '../workload.ts'

/** How a runtime is known; users see these five words in every row. */
export type Basis = 'history' | 'measured' | 'declared' | 'model' | 'limit'

/** Eight of ten actual runs should fall between `p10` and `p90`. */
export interface Range {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

/**
 * Log-normal range around a median, from the standard deviation of its logarithm; 1.2816 is the normal distribution's P90. Nothing is
 * below `least`.
 */
export function rangeAround(p50: number, sigma: number, least = 0): Range {
  const factor = Math.exp(1.2816 * sigma)
  return { p10: Math.min(p50, Math.max(least, p50 / factor)), p50, p90: p50 * factor }
}

/** How likely a log-normal figure with this range is above a bound, 0 to 1. */
export function chanceAbove({ p10, p50, p90 }: Range, bound: number): number {
  const distance = Math.log(bound / p50)
  const tail = distance > 0 ? Math.log(p90 / p50) : Math.log(p50 / p10)
  if (tail === 0) return distance < 0 ? 1 : 0
  return 1 - normalShareBelow((distance / tail) * 1.2816)
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

/** How long one task of the job runs: a range, or only a bound where nothing but the time limit is known. */
export type Runtime =
  | { readonly basis: Exclude<Basis, 'limit'>; readonly seconds: Range; readonly working: readonly Working[] }
  | { readonly basis: 'limit'; readonly upperBoundSeconds: number; readonly working: readonly Working[] }

/** A run that is over: what the history and measured bases go by. */
export interface PastRun {
  readonly jobName: string
  readonly gpuName: string
  readonly gpuCount: number
  readonly seconds: number
  readonly origin: Sourced<unknown>['origin']
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
    past: readonly PastRun[],
    tables: RuntimeTables,
  ): Runtime | undefined
}
