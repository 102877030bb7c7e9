/** What a workflow does, as far as it bears on which pods are there at one time. Pods are numbers: those of one role are the same one. */
export type Plan =
  | { readonly kind: 'pod'; readonly role: number }
  /** Beside each other, at most `limit` of them at one time. */
  | { readonly kind: 'together'; readonly plans: readonly Plan[]; readonly limit?: number }
  | { readonly kind: 'turns'; readonly plans: readonly Plan[] }
  /** Each after those it waits for. */
  | {
      readonly kind: 'graph'
      readonly plans: readonly Plan[]
      readonly after: readonly (readonly number[])[]
      readonly limit?: number
    }
  | { readonly kind: 'times'; readonly plan: Plan; readonly count: number; readonly limit?: number }

/** Number of pods of each role. */
export type Pods = ReadonlyMap<number, number>

export const NOTHING: Plan = { kind: 'together', plans: [] }

/** How many pods of each role a plan starts in all. */
export function countPods(plan: Plan): Pods {
  if (plan.kind === 'pod') return new Map([[plan.role, 1]])
  if (plan.kind === 'times') return scaled(countPods(plan.plan), plan.count)
  return sum(plan.plans.map(countPods))
}

/**
 * The pods that weigh most of all that may be there at one time. `limit` is the workflow's own number of pods; of more
 * the heaviest count.
 */
export function heaviest(plan: Plan, weights: readonly number[], limit = Number.POSITIVE_INFINITY): Pods {
  const weigh = (pods: Pods) => weightOf(limited(pods, weights, limit), weights)
  const best = (candidates: readonly Pods[]) =>
    candidates.reduce<Pods>((a, b) => (weigh(b) > weigh(a) ? b : a), new Map())
  const among = (inner: readonly Pods[], most = Number.POSITIVE_INFINITY) =>
    sum([...inner].sort((a, b) => weigh(b) - weigh(a)).slice(0, most))
  const find = (each: Plan): Pods => {
    if (each.kind === 'pod') return new Map([[each.role, 1]])
    if (each.kind === 'times') return scaled(find(each.plan), Math.min(each.count, each.limit ?? each.count))
    const inner = each.plans.map(find)
    if (each.kind === 'together') return among(inner, each.limit)
    if (each.kind === 'turns') return best(inner)
    const heavy = [...inner.keys()].filter(index => weigh(inner[index] ?? new Map()) > 0)
    return best(
      sideBySide(heavy, each.after).map(set =>
        among(
          set.map(index => inner[index] ?? new Map()),
          each.limit,
        ),
      ),
    )
  }
  return limited(find(plan), weights, limit)
}

/** Sets of a graph's members of which none waits for another: with more of them than are looked through, all members at once. */
const MOST_SETS = 4_096

function sideBySide(members: readonly number[], after: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const before = after.map((_, index) => ancestors(index, after))
  let sets: (readonly number[])[] = [[]]
  for (const index of members) {
    const fits = (set: readonly number[]) =>
      set.every(other => before[index]?.has(other) !== true && before[other]?.has(index) !== true)
    sets = [...sets, ...sets.filter(fits).map(set => [...set, index])]
    if (sets.length > MOST_SETS) return [members]
  }
  return sets
}

function ancestors(index: number, after: readonly (readonly number[])[]): ReadonlySet<number> {
  const found = new Set<number>()
  const open = [...(after[index] ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...(after[next] ?? []))
  }
  return found
}

function limited(pods: Pods, weights: readonly number[], limit: number): Pods {
  let free = limit
  const kept = new Map<number, number>()
  for (const [role, count] of [...pods].sort(([a], [b]) => (weights[b] ?? 0) - (weights[a] ?? 0))) {
    const taken = Math.min(count, free)
    if (taken > 0) kept.set(role, taken)
    free -= taken
  }
  return kept
}

function weightOf(pods: Pods, weights: readonly number[]): number {
  return [...pods].reduce((total, [role, count]) => total + count * (weights[role] ?? 0), 0)
}

function sum(all: readonly Pods[]): Pods {
  const total = new Map<number, number>()
  for (const pods of all) {
    for (const [role, count] of pods) total.set(role, (total.get(role) ?? 0) + count)
  }
  return total
}

function scaled(pods: Pods, factor: number): Pods {
  return new Map([...pods].map(([role, count]) => [role, count * factor]))
}
