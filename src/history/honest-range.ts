import { HeldShares } from './held-shares.ts'
import type { Cumulative } from './log-histogram.ts'

/** P10, P50 and P90 of the logarithm of seconds. */
export interface LogRange {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

type Tails = Pick<LogRange, 'p10' | 'p90'>

/** What a range rests on. */
export interface Evidence {
  readonly user: string
  /** Batches of this user's runs that were submitted at least so many seconds ago: a run of that length among them would have ended. */
  readonly batchesBefore: (seconds: number) => number
}

/** A part of the expected runtimes that spans a factor of two. */
interface Window {
  readonly from: number
  readonly until: number
}

/** A range with what is needed to learn from how it turns out. */
export interface Promised extends LogRange {
  readonly levelKinds: readonly string[]
  readonly window: Window
  readonly windowKinds: readonly string[]
  readonly userKind: string
}

/**
 * What keeps the single figure of a wide range from leaving the median for where runs crowd; see `Cumulative.typical`. Whichever of seven public traces
 * is left out, 0.05 to 0.1 is best on the others: the median error gets less, and the mean one of logarithms no more.
 */
const pull = 0.1

/**
 * Below and above which share of the expected runtimes a range ends, before anything is learned: 10 % would be right of
 * a distribution that is right, and no distribution learned from few runs is.
 */
const firstLevel = 0.06
/** Runs that may lie on either side: a little less than one in ten, so that a range that is learned late still holds eight of ten. */
const aim = 0.0925
/** How far a run moves the logits of levels; half and twice of it hold as many runs (within 2 %). */
const levelRate = 0.01
const leastLevel = 0.002
const mostLevel = 0.3

/** Narrow is what lies within a factor of two. */
const narrowWidth = Math.LN2

/** A window is called narrow if such windows held this share of runs; those that clear it hold eight of ten together. */
const narrowShare = 0.7

/**
 * Ranges that hold what they promise. The levels they end at are moved by every run that lies outside or inside, for all ranges and for
 * those of the same width (adaptive conformal inference, Gibbs and Candès 2021; on logits, so that no level leaves 0 to 1). Narrow is only
 * said where windows that claimed as much held, with as many runs behind them, and those of the same user, too.
 */
export class HonestRange {
  private readonly offsets = new Map<string, { readonly lower: number; readonly upper: number }>()
  private readonly held = new HeldShares()

  /** The range of an expected distribution. */
  promise(expected: Cumulative, evidence: Evidence): Promised {
    const width = Math.min(5, Math.floor((expected.quantile(0.9) - expected.quantile(0.1)) / narrowWidth))
    const levelKinds = ['all', `width ${width}`]
    const { lower, upper } = this.levelsOf(levelKinds)
    const median = expected.quantile(0.5)
    const tails = {
      p10: Math.min(median, expected.quantile(lower)),
      p90: Math.max(median, expected.quantile(1 - upper)),
    }
    const window = expected.densestWindow(narrowWidth)
    const batches = evidence.batchesBefore(Math.exp(window.until))
    const tenths = Math.floor(Math.min(0.999, window.share) * 20)
    const windowKinds = [
      `share ${tenths}`,
      `share ${tenths}, batches ${Math.min(3, Math.floor(Math.log2(1 + batches)))}`,
    ]
    const userKind = `${tenths < 12 ? 'wide' : 'narrow'} of ${evidence.user}`
    const share = this.held.expected(window.share, windowKinds)
    // A user whose windows held may be lucky; one whose windows failed is to be believed less.
    const isNarrow = batches > 0 && Math.min(share, this.held.expected(share, [userKind])) >= narrowShare
    const { p10, p90 } = isNarrow ? narrowed(tails, window) : widened(tails)
    const p50 = isNarrow ? expected.medianWithin(p10, p90) : expected.typical(pull)
    return {
      p10: Math.min(p10, p50),
      p50,
      p90: Math.max(p90, p50),
      levelKinds,
      window,
      windowKinds,
      userKind,
    }
  }

  /** A run that a range was promised for has ended. */
  learn(promised: Promised, logSeconds: number): void {
    const { p10, p90, window, levelKinds, windowKinds, userKind } = promised
    for (const kind of levelKinds) {
      const { lower, upper } = this.offsetsOf(kind)
      this.offsets.set(kind, {
        lower: lower + levelRate * (aim - (logSeconds < p10 ? 1 : 0)),
        upper: upper + levelRate * (aim - (logSeconds > p90 ? 1 : 0)),
      })
    }
    this.held.learn([...windowKinds, userKind], logSeconds >= window.from && logSeconds <= window.until)
  }

  private levelsOf(kinds: readonly string[]) {
    const offsets = kinds.map(kind => this.offsetsOf(kind))
    return {
      lower: levelAt(offsets.reduce((sum, { lower }) => sum + lower, 0)),
      upper: levelAt(offsets.reduce((sum, { upper }) => sum + upper, 0)),
    }
  }

  private offsetsOf(kind: string) {
    return this.offsets.get(kind) ?? { lower: 0, upper: 0 }
  }
}

/** A window may lie anywhere, unlike equal tails, and so leaves out a few runs that all lie on one side. */
function narrowed(tails: Tails, { from, until }: Window): Tails {
  return tails.p90 - tails.p10 > narrowWidth ? { p10: from, p90: until } : tails
}

/** Just beyond narrow, evenly on both sides. */
function widened({ p10, p90 }: Tails): Tails {
  const missing = Math.max(0, (narrowWidth + 0.02 - (p90 - p10)) / 2)
  return { p10: p10 - missing, p90: p90 + missing }
}

/** The level that lies `offset` logits from the first. */
function levelAt(offset: number): number {
  const odds = (firstLevel / (1 - firstLevel)) * Math.exp(offset)
  return Math.min(mostLevel, Math.max(leastLevel, odds / (1 + odds)))
}
