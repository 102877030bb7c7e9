import { chosenLimit, type EarlierRun, type RunRequest, reachedLimit } from './earlier-run.ts'
import type { Alike } from './views.ts'

/** Weights halve every five runs of the same likeness. */
const halfLife = 5

/** A kind of run that was seen once is believed as much as everything less alike together. */
const backOffRuns = 1

/**
 * How likely the run is ended by its time limit, 0 to 1: the share among the most alike runs that were, as far as there are any, then among
 * the less alike, and at last the site's `rate`. Runs that somebody cancelled say nothing and are not among `runs`.
 */
export function limitChance(request: RunRequest, runs: readonly Alike[], rate: number): number | undefined {
  const limit = chosenLimit(request)
  if (limit === undefined) return undefined
  const kinds = new Map<number, { hit: number; total: number; weight: number }>()
  for (const { known, likeness } of runs.toReversed()) {
    const outcome = wouldReach(known.run, limit)
    if (outcome === undefined) continue
    const kind = kinds.get(likeness) ?? { hit: 0, total: 0, weight: 1 }
    kind.hit += outcome ? kind.weight : 0
    kind.total += kind.weight
    kind.weight *= 0.5 ** (1 / halfLife)
    kinds.set(likeness, kind)
  }
  let chance = rate
  for (const [, { hit, total }] of [...kinds].sort(([a], [b]) => a - b)) {
    chance = (hit + backOffRuns * chance) / (total + backOffRuns)
  }
  return chance
}

/** Undefined where a shorter limit ended it: how long it would have run, nobody knows. */
function wouldReach(run: EarlierRun, limit: number): boolean | undefined {
  if (run.elapsedSeconds >= limit) return true
  const own = chosenLimit(run)
  if (!reachedLimit(run)) return false
  return own === undefined || own >= limit ? true : undefined
}
