import { RecentMap } from './recent-map.ts'

/** What is said of a kind counts as this many runs that were seen, and what was seen fades over a hundred runs. */
const claimedRuns = 10
const fading = 0.99

/** Kinds that are remembered; the oldest are forgotten. */
const mostKinds = 5_000

/** How often claims came true: Beta priors around what was claimed, the mean of each kind being the prior of the next. */
export class HeldShares {
  private readonly kinds = new RecentMap<{ readonly held: number; readonly seen: number }>(mostKinds)

  /** The share that is to be expected where `claimed` is said of kinds, the most general first. */
  expected(claimed: number, kinds: readonly string[]): number {
    return kinds.reduce((prior, name) => {
      const { held, seen } = this.of(name)
      return (held + claimedRuns * prior) / (seen + claimedRuns)
    }, claimed)
  }

  /** Whether a claim of these kinds came true. */
  learn(kinds: readonly string[], isHeld: boolean): void {
    for (const name of kinds) {
      const { held, seen } = this.of(name)
      this.kinds.set(name, { held: held * fading + (isHeld ? 1 : 0), seen: seen * fading + 1 })
    }
  }

  private of(name: string) {
    return this.kinds.get(name) ?? { held: 0, seen: 0 }
  }
}
