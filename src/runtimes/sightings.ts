/** What one earlier run says of the time of the next. */
export interface Sighting {
  readonly seconds: number
  /** How far off the next run is by this one alone, as a standard deviation of the logarithm. */
  readonly sigma: number
  /** It was stopped on its way: the work takes longer, nobody knows how much. */
  readonly atLeast: boolean
}

/** Beyond these the estimate no longer moves by a thousandth. */
const rounds = 50

/**
 * Median and spread of the next run by some earlier ones, log-normal; undefined where none is known but by a bound.
 *
 * What one run alone leaves open counts as one more observation of the spread. Runs that were stopped count by expectation-maximisation
 * for a censored normal distribution (Dempster, Laird and Rubin 1977): they draw the estimate up and never down.
 */
export function spreadOf(sightings: readonly Sighting[]): { readonly p50: number; readonly sigma: number } | undefined {
  const known = sightings.filter(({ atLeast }) => !atLeast)
  if (known.length === 0) return undefined
  // The difference of two runs has twice the variance of each.
  const alone = Math.max(...known.map(({ sigma }) => sigma)) ** 2 / 2
  const seen = known.map(({ seconds }): Expected => ({ mean: Math.log(seconds), variance: 0 }))
  const bounds = sightings.filter(({ atLeast }) => atLeast).map(({ seconds }) => Math.log(seconds))
  let next = summary(seen, alone)
  for (let round = 0; round < rounds && bounds.length > 0; round++) {
    next = summary([...seen, ...bounds.map(bound => above(bound, next))], alone)
  }
  // The median itself is known from so many runs only; those that are but bounded do not count.
  return { p50: Math.exp(next.mean), sigma: Math.sqrt(next.variance * (1 + 1 / known.length)) }
}

/** Mean and variance of a logarithm. */
interface Expected {
  readonly mean: number
  readonly variance: number
}

function summary(values: readonly Expected[], alone: number): Expected {
  const mean = values.reduce((sum, value) => sum + value.mean, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value.mean - mean) ** 2 + value.variance, alone)
  return { mean, variance: squares / values.length }
}

/** The part of a normal distribution above a bound. */
function above(bound: number, { mean, variance }: Expected): Expected {
  const sigma = Math.sqrt(variance)
  const z = (bound - mean) / sigma
  const hazard = hazardAt(z)
  return { mean: mean + sigma * hazard, variance: variance * Math.max(0, 1 + z * hazard - hazard ** 2) }
}

/** Density over tail of the standard normal distribution; far out by its asymptote (Abramowitz and Stegun 26.2.12). */
function hazardAt(z: number): number {
  return z > 5 ? z + 1 / z : density(z) / tailAbove(z)
}

function density(z: number): number {
  return Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI)
}

/** Abramowitz and Stegun 26.2.17, 7.5e-8 off at most. */
function tailAbove(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const tail = density(z) * series
  return z >= 0 ? tail : 1 - tail
}
