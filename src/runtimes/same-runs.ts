import type { RangedRuntime, SeenRun } from './runtime-model.ts'

/** By so many seconds the clocks of a file server and of the accounting may differ. */
const clockSeconds = 60

/** How much of the runs that each estimate goes by another one goes by as well, 0 to 1; of those that tell no runs nothing. */
export function toldTwice(estimates: readonly RangedRuntime[]): ReadonlyMap<RangedRuntime, number> {
  return new Map(
    estimates.map(estimate => {
      const others = estimates.filter(each => each !== estimate).flatMap(({ seen = [] }) => seen)
      const { seen = [] } = estimate
      const shared = seen.filter(run => others.some(other => isSame(run, other))).length
      return [estimate, seen.length === 0 ? 0 : shared / seen.length]
    }),
  )
}

/** By their numbers where both have one of a kind, otherwise by the time: a log is written to while its run lasts. */
function isSame(a: SeenRun, b: SeenRun): boolean {
  if (a.id !== undefined && b.id !== undefined && kindOf(a.id) === kindOf(b.id)) return a.id === b.id
  return isWithin(a, b) || isWithin(b, a)
}

/** Job numbers are of one kind, those of array tasks of another, and names that other programs give of a third. */
function kindOf(id: string): string {
  return /^\d+$/.test(id) ? 'job' : /^\d+_\d+$/.test(id) ? 'task' : 'other'
}

function isWithin({ endSeconds }: SeenRun, { startSeconds, endSeconds: end }: SeenRun): boolean {
  return startSeconds !== undefined && endSeconds >= startSeconds && endSeconds <= end + clockSeconds
}
