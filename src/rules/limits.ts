import type { LimitBasis, Policy } from '../rulebook.ts'
import type { Range } from '../runtimes/runtime-model.ts'

/** What is known of a figure: its estimate, and what the time limit bounds it to. */
export interface Figures {
  readonly range: Range | undefined
  readonly bound: number | undefined
}

/** A figure over its limit. */
export interface Excess {
  readonly level: 'warn' | 'deny'
  readonly figure: number
  /** Which figure it is; of a job without an estimate it can only be the bound. */
  readonly basis: LimitBasis
  /** The figure of another candidate by the same measure. */
  measure(figures: Figures): number | undefined
}

/**
 * Whether a figure is over a policy's limit. A policy that says neither level nor basis warns on the P90 and denies on the P50.
 * Without an estimate the bound stands for the P90, but never for the P50: what a job costs at most says nothing about what
 * it will cost, so such a job is warned of (and `unknown-cost` can deny it).
 */
export function overLimit(policy: Policy, limit: number, figures: Figures): Excess | undefined {
  const checks = checksOf(policy)
  for (const { level, basis } of checks) {
    const measure = (other: Figures) => figureAt(basis, other)
    const figure = measure(figures)
    if (figure !== undefined && figure > limit) {
      return { level, figure, basis: figures.range === undefined ? 'bound' : basis, measure }
    }
  }
  const { range, bound } = figures
  const wantsEstimate = range === undefined && checks.some(({ basis }) => basis === 'p50')
  if (!wantsEstimate || bound === undefined || bound <= limit) return undefined
  return { level: 'warn', figure: bound, basis: 'bound', measure: other => figureAt('p90', other) }
}

function checksOf({ level, basis }: Policy): readonly { level: 'warn' | 'deny'; basis: LimitBasis }[] {
  if (basis !== undefined) return [{ level: level ?? 'deny', basis }]
  const usual = [
    { level: 'deny', basis: 'p50' },
    { level: 'warn', basis: 'p90' },
  ] as const
  return level === undefined ? usual : usual.filter(each => each.level === level)
}

/** A job is stopped by its time limit at the latest, so no figure is above its bound. */
function figureAt(basis: LimitBasis, { range, bound }: Figures): number | undefined {
  if (basis === 'bound') return bound
  if (range === undefined) return basis === 'p90' ? bound : undefined
  return Math.min(range[basis], bound ?? Number.POSITIVE_INFINITY)
}

/** `P50`, `P90`, `at most, by its time limit`. */
export const basisWords: Readonly<Record<LimitBasis, string>> = {
  p50: 'P50',
  p90: 'P90',
  bound: 'at most, by its time limit',
}
