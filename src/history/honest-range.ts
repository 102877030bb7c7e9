import type { Cumulative } from './log-histogram.ts'

/** P10, P50 and P90 of the logarithm of seconds. */
export interface LogRange {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

/** A range with what is needed to learn from how it turns out. */
export interface Promised extends LogRange {
  readonly widthClass: number
  readonly window: { readonly from: number; readonly until: number }
  readonly shareClass: number
}

/** How far the single figure is drawn from the median to where runs crowd; see `Cumulative.typical`. */
const pull = 0.15

/**
 * Below and above which share of the expected runtimes a range ends, before anything is learned: 10 % would be right of
 * a distribution that is right, and no distribution learned from few runs is.
 */
const firstLevel = 0.075
const aim = 0.1
/** One miss among ten moves a level by a fiftieth of it, so that a burst of a hundred like runs does not run away with it. */
const levelRate = 0.002
const leastLevel = 0.004
const mostLevel = 0.2

/** Narrow is what lies within a factor of two. */
const narrowWidth = Math.LN2

/**
 * A window is called narrow if such windows held 74 % of runs; those that clear this hold eight of ten together. Unlike equal tails a
 * window may lie anywhere, and so leaves out a few runs that all lie on one side.
 */
const narrowShare = 0.74
/** Between these shares a range stays as its tails say, so that it does not flicker. */
const wideShare = 0.71
/** A claimed share counts as this many runs that were seen, and what was seen fades over a hundred runs. */
const claimedRuns = 10
const fading = 0.99

/**
 * Ranges that hold what they promise: the levels they end at, and the share a narrow window holds, are corrected by how
 * ranges of the same width turned out (adaptive conformal inference, Gibbs and Candès 2021).
 */
export class HonestRange {
  private readonly levels = new Map<number, { readonly lower: number; readonly upper: number }>()
  private readonly windows = new Map<number, { readonly held: number; readonly seen: number }>()

  /** The range of an expected distribution. */
  promise(expected: Cumulative): Promised {
    const widthClass = Math.min(5, Math.floor((expected.quantile(0.9) - expected.quantile(0.1)) / narrowWidth))
    const { lower, upper } = this.levelsOf(widthClass)
    const median = expected.quantile(0.5)
    const p10 = Math.min(median, expected.quantile(lower))
    const p90 = Math.max(median, expected.quantile(1 - upper))
    const window = expected.densestWindow(narrowWidth)
    const shareClass = Math.floor(Math.min(0.999, window.share) * 20)
    const { held, seen } = this.windowsOf(shareClass)
    const share = (held + claimedRuns * window.share) / (seen + claimedRuns)
    const typical = expected.typical(pull)
    const range = settle({ p10, p50: typical, p90 }, window, share)
    return {
      p10: Math.min(range.p10, typical),
      p50: typical,
      p90: Math.max(range.p90, typical),
      widthClass,
      window,
      shareClass,
    }
  }

  /** A run that a range was promised for has ended. */
  learn(promised: Promised, logSeconds: number): void {
    const { lower, upper } = this.levelsOf(promised.widthClass)
    this.levels.set(promised.widthClass, {
      lower: nextLevel(lower, logSeconds < promised.p10),
      upper: nextLevel(upper, logSeconds > promised.p90),
    })
    const { held, seen } = this.windowsOf(promised.shareClass)
    const isHeld = logSeconds >= promised.window.from && logSeconds <= promised.window.until
    this.windows.set(promised.shareClass, { held: held * fading + (isHeld ? 1 : 0), seen: seen * fading + 1 })
  }

  private levelsOf(widthClass: number) {
    return this.levels.get(widthClass) ?? { lower: firstLevel, upper: firstLevel }
  }

  private windowsOf(shareClass: number) {
    return this.windows.get(shareClass) ?? { held: 0, seen: 0 }
  }
}

function settle(range: LogRange, window: { readonly from: number; readonly until: number }, share: number): LogRange {
  const width = range.p90 - range.p10
  if (share >= narrowShare && width > narrowWidth) return { ...range, p10: window.from, p90: window.until }
  if (share >= wideShare || width > narrowWidth) return range
  // Just beyond narrow, evenly on both sides.
  const missing = (narrowWidth + 0.02 - width) / 2
  return { ...range, p10: range.p10 - missing, p90: range.p90 + missing }
}

function nextLevel(level: number, isMissed: boolean): number {
  return Math.min(mostLevel, Math.max(leastLevel, level + levelRate * (aim - (isMissed ? 1 : 0))))
}
