/** Time for some counts of a counter. */
export interface Interval {
  readonly line: number
  readonly steps: number
  readonly seconds: number
  /** By how much the seconds may be wrong, where the clock is a coarse one. */
  readonly errorSeconds?: number
}

/** Time of one count when nothing else is done. */
export interface SteadyRate {
  readonly secondsPerStep: number
  /** The first reports took half as long again as the rest, or more. */
  readonly slowStart: boolean
  /** The time of a step has levels or a wide spread. */
  readonly unsteady: boolean
  /** Single intervals that took longer: the counter stood still, for evaluation or a checkpoint. */
  readonly pauses: readonly Interval[]
  /** Counts that the rate was taken from. */
  readonly steps: number
  /** Line of the first report that it was taken from. */
  readonly fromLine: number
}

/** A report counts as slow from this multiple of the median: half a report's time went into something else. */
const slowFactor = 1.5
/** Share of the reports that may be warm-up. */
const warmUpShare = 0.1
/** A level counts as one from this difference: less is noise of shared machines and networks. */
const levelDifference = 0.1
/** Interquartile range over the median from which the mean says more than the median. */
const wideSpread = 0.2
/** Reports are joined down to this number before they are searched for levels. */
const mostReports = 160

/**
 * The steady time of a step: warm-up and pauses taken out, the last level where there are several, then the median of the reports;
 * the mean where they spread widely.
 */
export function steadyRate(intervals: readonly Interval[]): SteadyRate | undefined {
  const given = joined(intervals.filter(({ steps, seconds }) => steps > 0 && seconds > 0))
  if (given.length === 0) return undefined
  const warmUp = warmUpOf(given)
  const warm = given.slice(warmUp)
  const usual = median(warm.map(perStep))
  const pauses = warm.filter((_one, index) => isPause(warm, index, usual))
  const running = warm.filter(one => !pauses.includes(one))
  const level = lastLevel(running)
  const rates = level.map(perStep)
  const blur = level.length === 0 ? 0 : 2 * median(level.map(one => (one.errorSeconds ?? 0) / one.seconds))
  const spread = rates.length < 4 ? 0 : (quantile(rates, 0.75) - quantile(rates, 0.25)) / median(rates)
  const isWide = spread > wideSpread + blur
  return {
    secondsPerStep: isWide || rates.length < 3 || blur > 0 ? mean(level) : median(rates),
    slowStart: warmUp > 0 && given.slice(0, warmUp).some(one => perStep(one) > slowFactor * usual),
    unsteady: isWide || level.length < running.length || (rates.length < 4 && fewDiffer(rates, blur)),
    pauses: pauses.map(one => ({ ...one, seconds: one.seconds - one.steps * usual })),
    steps: sum(level, one => one.steps),
    fromLine: level[0]?.line ?? 0,
  }
}

function perStep({ steps, seconds }: Interval): number {
  return seconds / steps
}

function mean(intervals: readonly Interval[]): number {
  return sum(intervals, one => one.seconds) / sum(intervals, one => one.steps)
}

function fewDiffer(rates: readonly number[], blur: number): boolean {
  return Math.max(...rates) > (1 + wideSpread + blur) * Math.min(...rates)
}

/** At least the first report where there are five or more; further ones while they are slow, at most a tenth of all. */
function warmUpOf(intervals: readonly Interval[]): number {
  const most = Math.max(1, Math.floor(intervals.length * warmUpShare))
  const slowAt = (index: number) =>
    perStep(intervals[index] ?? { line: 0, steps: 1, seconds: 0 }) >
    slowFactor * median(intervals.slice(index + 1).map(perStep))
  if (intervals.length < 3) return intervals.length === 2 && slowAt(0) ? 1 : 0
  let count = intervals.length >= 5 || slowAt(0) ? 1 : 0
  while (count > 0 && count < most && slowAt(count)) count += 1
  return count
}

/** Slow, and those beside it are not: two in a row may be a pause that lies across a report. */
function isPause(intervals: readonly Interval[], index: number, usual: number): boolean {
  const slow = (at: number) => {
    const one = intervals[at]
    return one !== undefined && perStep(one) > (slowFactor + (2 * (one.errorSeconds ?? 0)) / one.seconds) * usual
  }
  return (
    slow(index) &&
    !(slow(index - 1) && slow(index + 1)) &&
    !(slow(index - 1) && slow(index - 2)) &&
    !(slow(index + 1) && slow(index + 2))
  )
}

/** The reports behind the last change of level, of which there may be several; all where there is none. */
function lastLevel(intervals: readonly Interval[]): readonly Interval[] {
  if (intervals.length < 9) return intervals
  const logs = intervals.map(one => Math.log(perStep(one)))
  const whole = deviation(logs)
  const least = Math.max(3, Math.ceil(logs.length / 6))
  let best = { at: 0, cost: whole }
  for (let at = least; at <= logs.length - least; at++) {
    const cost = deviation(logs.slice(0, at)) + deviation(logs.slice(at))
    if (cost < best.cost) best = { at, cost }
  }
  const before = logs.slice(0, best.at)
  const after = logs.slice(best.at)
  const isLevel =
    best.at > 0 &&
    Math.abs(median(after) - median(before)) > Math.log(1 + levelDifference) &&
    isLong(intervals.slice(best.at)) &&
    // a split of mere noise saves little
    best.cost < 0.75 * whole
  return isLevel ? lastLevel(intervals.slice(best.at)) : intervals
}

/** Of a clock's intervals a level has ten counts at least; a report of its own may stand for any number. */
function isLong(intervals: readonly Interval[]): boolean {
  return intervals.every(one => one.errorSeconds === undefined) || sum(intervals, one => one.steps) >= 10
}

function deviation(values: readonly number[]): number {
  const middle = median(values)
  return values.reduce((sum, value) => sum + Math.abs(value - middle), 0)
}

/** Neighbours joined until few enough are left. */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const together = Math.ceil(intervals.length / mostReports)
  if (together <= 1) return intervals
  const groups: Interval[] = []
  for (let at = 0; at < intervals.length; at += together) {
    const group = intervals.slice(at, at + together)
    groups.push({
      line: group[0]?.line ?? 0,
      steps: sum(group, one => one.steps),
      seconds: sum(group, one => one.seconds),
      errorSeconds: group[0]?.errorSeconds ?? 0,
    })
  }
  return groups
}

function sum(intervals: readonly Interval[], of: (one: Interval) => number): number {
  return intervals.reduce((total, one) => total + of(one), 0)
}

/** Middle of a list; NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Linear between the neighbours, as most statistics programs do. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}
