import { chosenLimit, type EarlierRun, type RunRequest, reachedLimit } from './earlier-run.ts'
import type { Alike } from './views.ts'

/** Before anything is known, one run in twenty reaches its limit; that counts as twenty runs. */
const firstRate = 0.05
const firstRateRuns = 20
/** A site's rate halves its memory in 350 runs. */
const rateFading = 0.998

/**
 * Opinions of how far to trust the most alike runs: how many less alike ones a kind of runs is weighed against (the strength of a Beta
 * prior), and in how many runs of a kind its weights halve.
 */
const backOffs: readonly { readonly strength: number; readonly halfLife: number }[] = [
  { strength: 0.3, halfLife: 5 },
  { strength: 2, halfLife: 5 },
  { strength: 0.3, halfLife: 30 },
  { strength: 2, halfLife: 30 },
]

/** The square loss of shares is exp-concave up to this rate, whatever the data (Cesa-Bianchi and Lugosi 2006, section 3.3). */
const lossRate = 0.5

/**
 * How likely runs are ended by their time limits. Each opinion, the user's plain rate and the site's among them, is weighed by the square
 * loss that it had so far (exponentially weighted average forecaster): in the long run none of them is better than all together.
 */
export class LimitChances {
  private readonly losses = new Float64Array(backOffs.length + 2)
  private hits = firstRate * firstRateRuns
  private limited = firstRateRuns

  /**
   * What each opinion says of a request, 0 to 1; undefined without a limit that somebody chose. Runs that somebody cancelled say
   * nothing and are not among `runs`, which are oldest first.
   */
  opinions(request: RunRequest, runs: readonly Alike[]): readonly number[] | undefined {
    const limit = chosenLimit(request)
    if (limit === undefined) return undefined
    const site = this.hits / this.limited
    const kinds = kindsOf(runs, limit)
    const ofUser = runs
      .filter(({ known }) => chosenLimit(known.run) !== undefined)
      .map(({ known }) => reachedLimit(known.run))
    return [
      ...backOffs.map(({ strength, halfLife }) => backOff(kinds, site, strength, halfLife)),
      ofUser.length === 0 ? site : ofUser.filter(hit => hit).length / ofUser.length,
      site,
    ]
  }

  /** All opinions together. */
  chance(opinions: readonly number[]): number {
    const least = this.losses.reduce((a, b) => Math.min(a, b))
    const weights = this.losses.map(loss => Math.exp(lossRate * (least - loss)))
    const total = weights.reduce((a, b) => a + b)
    return opinions.reduce((sum, opinion, index) => sum + (opinion * (weights[index] ?? 0)) / total, 0)
  }

  /** A run has ended that nobody cancelled; `opinions` is what was said of it before. */
  learn(run: EarlierRun, opinions: readonly number[] | undefined): void {
    if (chosenLimit(run) === undefined) return
    const hit = reachedLimit(run) ? 1 : 0
    opinions?.forEach((opinion, index) => {
      this.losses[index] = (this.losses[index] ?? 0) + (opinion - hit) ** 2
    })
    this.hits = this.hits * rateFading + hit
    this.limited = this.limited * rateFading + 1
  }
}

/** Whether runs would have reached this limit, newest first, by likeness, the least alike first. */
function kindsOf(runs: readonly Alike[], limit: number): readonly (readonly boolean[])[] {
  const kinds = new Map<number, boolean[]>()
  for (const { known, likeness } of runs.toReversed()) {
    const outcome = wouldReach(known.run, limit)
    if (outcome === undefined) continue
    const kind = kinds.get(likeness)
    if (kind === undefined) kinds.set(likeness, [outcome])
    else kind.push(outcome)
  }
  return [...kinds].sort(([a], [b]) => a - b).map(([, kind]) => kind)
}

/** The share among the most alike runs, as far as there are any, then among the less alike, and at last the site's. */
function backOff(kinds: readonly (readonly boolean[])[], site: number, strength: number, halfLife: number): number {
  const fading = 0.5 ** (1 / halfLife)
  return kinds.reduce((prior, outcomes) => {
    let hit = strength * prior
    let total = strength
    let weight = 1
    for (const outcome of outcomes) {
      if (outcome) hit += weight
      total += weight
      weight *= fading
    }
    return hit / total
  }, site)
}

/** Undefined where a shorter limit ended it: how long it would have run, nobody knows. */
function wouldReach(run: EarlierRun, limit: number): boolean | undefined {
  if (run.elapsedSeconds >= limit) return true
  const own = chosenLimit(run)
  if (!reachedLimit(run)) return false
  return own === undefined || own >= limit ? true : undefined
}
