import { shortestSeconds } from '../history/log-histogram.ts'
import { median } from '../logs/steady-rate.ts'
import { repeatSpread, unplannedSpread } from './known-run.ts'
import { type CorrectingRun, p90Deviations } from './runtime-model.ts'
import { spreadOf } from './sightings.ts'

/** How far off the next estimate is, by the runs before it. */
export interface LearntError {
  /** What the estimate is multiplied by. */
  readonly factor: number
  /** What completed runs took over what was estimated, before it is drawn towards 1. */
  readonly seen: number
  /** Share of the error, as a logarithm, that is taken for lasting, 0 to 1. */
  readonly credibility: number
  /** Of the corrected estimate, as a standard deviation of the logarithm; not below that of a run repeated. */
  readonly sigma: number
}

/** Whether a run tells anything: one below a minute that was quoted for more is a crash or a trial. */
export function isTellingRun({
  seconds,
  estimatedSeconds,
}: Pick<CorrectingRun, 'seconds' | 'estimatedSeconds'>): boolean {
  return seconds > 0 && estimatedSeconds > 0 && (seconds >= shortestSeconds || estimatedSeconds < shortestSeconds)
}

/** Standard deviations beyond which a run did other work than the others (three-sigma rule). */
const outlierDeviations = 3

/** From the median absolute deviation of a normal distribution to its standard deviation. */
const madDeviations = 1.4826

/**
 * What earlier errors of an estimate, each the logarithm of the time taken over the time estimated, say of the next; `sigma` is what the
 * estimate says of itself, as a standard deviation of the logarithm. Undefined where no run was completed.
 *
 * Credibility theory (Bühlmann 1967; the same as the BLUP of a random effect, Searle, Casella and McCulloch 1992, chapter 7): the mean of
 * n errors counts n / (n + k), where k is the variance of the noise over that of lasting errors. Both variances are estimated from these
 * runs (empirical Bayes, Efron and Morris 1975), with what the estimate says of itself as one more observation, half noise and half
 * lasting; so is the error of a single run, of which nobody knows. The range is that of Student's t, since both are only estimated.
 */
export function learntError(runs: readonly CorrectingRun[], sigma: number): LearntError | undefined {
  const errors = runs.map(({ seconds, estimatedSeconds, isStopped }) => ({
    value: Math.log(seconds / estimatedSeconds),
    atLeast: isStopped === true,
  }))
  const count = errors.filter(({ atLeast }) => !atLeast).length
  const clip = clipped(
    errors.flatMap(({ value, atLeast }) => (atLeast ? [] : [value])),
    sigma,
  )
  // Sightings of the factor instead of the time.
  const spread = spreadOf(errors.map(({ value, atLeast }) => ({ seconds: Math.exp(clip(value)), sigma, atLeast })))
  if (spread === undefined) return undefined
  const mean = Math.log(spread.p50)
  const own = sigma ** 2 / 2
  const noise = count === 1 ? (own + mean ** 2 / 2) / 2 : spread.sigma ** 2 / (1 + 1 / count)
  const lasting = count === 1 ? noise : (own + Math.max(0, mean ** 2 - noise / count)) / 2
  const credibility = count / (count + noise / lasting)
  const left = 1 / (count / noise + 1 / lasting)
  return {
    factor: Math.exp(credibility * mean),
    seen: Math.exp(mean),
    credibility,
    sigma: Math.max(repeatSpread, (Math.sqrt(noise + left) * studentP90(count + 1)) / p90Deviations),
  }
}

/**
 * Draws errors in that lie apart from the others (winsorising), by more than requests scatter where nothing says that their work is the
 * same; a single one is held against the estimate itself.
 */
function clipped(known: readonly number[], sigma: number): (value: number) => number {
  const centre = known.length > 1 ? median(known) : 0
  const scatter = known.length > 1 ? madDeviations * median(known.map(value => Math.abs(value - centre))) : 0
  const most = outlierDeviations * Math.max(sigma, unplannedSpread, scatter)
  return value => Math.min(centre + most, Math.max(centre - most, value))
}

/** P90 of Student's t (Abramowitz and Stegun 26.7.5), 2 % off at most from two degrees of freedom. */
function studentP90(degrees: number): number {
  const z = p90Deviations
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
}
