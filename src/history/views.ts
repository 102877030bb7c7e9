import { chosenLimit, type EarlierRun, type RunRequest } from './earlier-run.ts'
import type { Masked } from './likeness.ts'
import { binOf, cutAbove, emptyHistogram, type LogHistogram, spread } from './log-histogram.ts'

/** A run of the same user, and how alike it is to the one that is asked about. */
export interface Alike {
  readonly known: Masked<EarlierRun>
  readonly likeness: number
}

/**
 * Ways of looking at the same past: how many batches of runs back it counts (half-life: the last one, a few, all of them), whether
 * runtimes grow with the time limit that was asked for, and how exactly they repeat. Which one is right differs by user, so all are kept
 * and weighed (mixture.ts).
 */
const halfLives = [1, 4, 30]
const kernelWidths = [0.02, 0.12, 0.5]
const limitScalings = [false, true]

/** How many views there are. */
export const viewCount = halfLives.length * kernelWidths.length * limitScalings.length

const mostBatches = 8

/** Runs submitted within ten minutes of each other are one batch (a sweep, an array): they share what is behind them. */
const batchSeconds = 600

/** A kind of run that was seen once is believed as much as everything less alike together. */
const backOffRuns = 1

/** What each view expects. `runs` are oldest first; `site` is what others' runs say, and the last resort. */
export function viewsOf(request: RunRequest, runs: readonly Alike[], site: LogHistogram): readonly LogHistogram[] {
  const limit = chosenLimit(request)
  const logLimit = limit === undefined ? undefined : Math.log(limit)
  const kinds = kindsOf(runs)
  // Where no limit differs, to scale by it changes nothing.
  const scales = logLimit !== undefined && runs.some(({ known }) => (chosenLimit(known.run) ?? limit) !== limit)
  const ofScaling = (scaled: boolean) =>
    halfLives.flatMap(halfLife => {
      const expected = backOff(kinds, site, halfLife, scaled ? logLimit : undefined)
      if (logLimit !== undefined) cutAbove(expected, logLimit)
      return kernelWidths.map(width => spread(expected, width))
    })
  const plain = ofScaling(false)
  return limitScalings.flatMap(scaled => (scaled && scales ? ofScaling(true) : plain))
}

/** Runs by likeness, most alike first, newest first within. */
function kindsOf(runs: readonly Alike[]): readonly (readonly EarlierRun[])[] {
  const kinds = new Map<number, EarlierRun[]>()
  for (const { known, likeness } of runs.toReversed()) {
    const kind = kinds.get(likeness)
    if (kind === undefined) kinds.set(likeness, [known.run])
    else kind.push(known.run)
  }
  return [...kinds].sort(([a], [b]) => b - a).map(([, kind]) => kind)
}

/**
 * The most alike runs first; the less they are, the more is left to the next kind (as language models back off to shorter contexts).
 * With `logLimit` runtimes are moved by the ratio of the limits.
 */
function backOff(
  kinds: readonly (readonly EarlierRun[])[],
  site: LogHistogram,
  halfLife: number,
  logLimit: number | undefined,
): LogHistogram {
  const expected = emptyHistogram()
  let left = 1
  for (const kind of kinds) {
    const weights = batchWeights(kind, halfLife)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const each = left / (total + backOffRuns)
    weights.forEach((weight, index) => {
      const run = kind[index]
      if (run === undefined) return
      const limit = chosenLimit(run)
      const moved = logLimit === undefined || limit === undefined ? 0 : logLimit - Math.log(limit)
      const bin = binOf(Math.log(run.elapsedSeconds) + moved)
      expected[bin] = (expected[bin] ?? 0) + weight * each
    })
    left *= backOffRuns / (total + backOffRuns)
  }
  for (let bin = 0; bin < expected.length; bin++) expected[bin] = (expected[bin] ?? 0) + left * (site[bin] ?? 0)
  return expected
}

/** Weights of runs, newest first, that halve every `halfLife` batches; a batch of n counts as the root of n runs. */
function batchWeights(runs: readonly EarlierRun[], halfLife: number): readonly number[] {
  const weights: number[] = []
  for (let from = 0, batch = 0; from < runs.length && batch < 10 * halfLife; batch++) {
    let until = from + 1
    while (until < runs.length && isSameBatch(runs[until - 1], runs[until])) until++
    const weight = 0.5 ** (batch / halfLife) / Math.sqrt(until - from)
    for (; from < until; from++) weights.push(weight)
  }
  return weights
}

/** How many batches of runs, which are oldest first, were submitted before a moment; more than a handful are not told apart. */
export function batchesBefore(runs: readonly Alike[], moment: number): number {
  let batches = 0
  let last: EarlierRun | undefined
  for (let index = runs.length - 1; index >= 0 && batches < mostBatches; index--) {
    const run = runs[index]?.known.run
    if (run === undefined || run.submitSeconds > moment) continue
    if (!isSameBatch(last, run)) batches++
    last = run
  }
  return batches
}

function isSameBatch(a: EarlierRun | undefined, b: EarlierRun | undefined): boolean {
  return a !== undefined && b !== undefined && Math.abs(a.submitSeconds - b.submitSeconds) <= batchSeconds
}
