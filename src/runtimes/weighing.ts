import { formatDuration, formatPercent } from '../units.ts'
import { sigmaOf } from './known-run.ts'
import { type Evidence, type RangedRuntime, rangeAround, type Working } from './runtime-model.ts'

/**
 * One runtime of several: their logarithms averaged with the inverse of their variances as weights. Where they lie further apart than their
 * ranges allow, the range is as much wider (Birge 1932; as the Particle Data Group does). The basis is that which weighs most.
 * `shared` says how much of the runs that an estimate goes by another one goes by as well, 0 to 1: each run counts once, half of it for each.
 */
export function weighTogether(
  estimates: readonly RangedRuntime[],
  shared: ReadonlyMap<RangedRuntime, number> = new Map(),
): RangedRuntime | undefined {
  if (estimates.length < 2) return estimates[0]
  // A range that a time limit cuts looks surer than it is.
  const runtimes = estimates.map(each => ({ ...each, seconds: each.unlimitedSeconds ?? each.seconds }))
  const precisions = runtimes.map(({ seconds }, index) => {
    const estimate = estimates[index]
    const told = estimate === undefined ? 0 : (shared.get(estimate) ?? 0)
    return (1 - told / 2) / sigmaOf(seconds) ** 2
  })
  const total = precisions.reduce((sum, each) => sum + each, 0)
  const mean = runtimes.reduce(
    (sum, { seconds }, index) => sum + ((precisions[index] ?? 0) / total) * Math.log(seconds.p50),
    0,
  )
  const chiSquare = runtimes.reduce(
    (sum, { seconds }, index) => sum + (precisions[index] ?? 0) * (Math.log(seconds.p50) - mean) ** 2,
    0,
  )
  const sigma = Math.sqrt(Math.max(1, chiSquare / (runtimes.length - 1)) / total)
  const weighed = runtimes.map((runtime, index) => ({ runtime, weight: (precisions[index] ?? 0) / total }))
  const [most, ...others] = weighed.toSorted((a, b) => b.weight - a.weight)
  if (most === undefined) return undefined
  const inOrder = [most, ...others]
  const endings = inOrder.find(({ runtime }) => runtime.endings !== undefined)?.runtime.endings
  const { limitChance } = most.runtime
  const completed = inOrder.find(({ runtime }) => runtime.completed !== undefined)?.runtime.completed
  const logs = inOrder.find(({ runtime }) => runtime.logs !== undefined)?.runtime.logs
  const seconds = rangeAround(Math.exp(mean), sigma)
  return {
    basis: most.runtime.basis,
    seconds,
    ...(most.runtime.narrow !== undefined && { narrow: seconds.p90 <= 2 * seconds.p10 }),
    ...(limitChance !== undefined && { limitChance }),
    ...(endings !== undefined && { endings }),
    ...(completed !== undefined && { completed }),
    ...(logs !== undefined && { logs }),
    evidence: inOrder.map(
      ({ runtime, weight }): Evidence => ({ basis: runtime.basis, seconds: runtime.seconds, weight }),
    ),
    working: [...inOrder.flatMap(({ runtime }) => runtime.working), ...inOrder.map(weightLine)],
  }
}

function weightLine({ runtime: { basis, seconds }, weight }: { runtime: RangedRuntime; weight: number }): Working {
  const { p10, p50, p90 } = seconds
  return {
    what: `weight of ${basis}`,
    figure: `${formatPercent(weight)} for ${formatDuration(p50)} (${formatDuration(p10)}-${formatDuration(p90)})`,
    origin: { kind: 'computed', formula: 'inverse of the variance of the logarithm' },
  }
}
