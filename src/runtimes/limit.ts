import { formatDuration } from '../units.ts'
import type { RuntimeModel } from './runtime-model.ts'

/** Nothing is known but that the scheduler ends it: a bound, and no estimate. */
export const limit: RuntimeModel = {
  basis: 'limit',
  predict(job) {
    // Only GPUs are priced: a driver beside them that nothing limits bounds no cost.
    const priced = job.roles.filter(role => role.gpuCount.value > 0)
    const limits = (priced.length > 0 ? priced : job.roles).map(role => role.timeLimitSeconds)
    const longest = limits.reduce(
      (a, b) => (a === undefined || b === undefined ? undefined : a.value >= b.value ? a : b),
      limits[0],
    )
    if (longest === undefined) return undefined
    const working = [{ what: 'time limit', figure: formatDuration(longest.value), origin: longest.origin }]
    return { basis: 'limit', upperBoundSeconds: longest.value, working }
  },
}
