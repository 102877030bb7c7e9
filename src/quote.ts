import type { Candidate } from './candidates.ts'
import type { Price } from './prices/price-source.ts'
import type { Range, Runtime } from './runtimes/runtime-model.ts'

/** What the whole job costs on a candidate: a range, a bound from the time limit, or what is missing to know. */
export type Cost =
  | { readonly kind: 'range'; readonly usd: Range }
  | { readonly kind: 'bound'; readonly upperBoundUsd: number }
  | { readonly kind: 'unknown'; readonly missing: readonly string[] }

/** Hours and dollars on one candidate at one price tier. */
export interface Quote {
  readonly candidate: Candidate
  readonly runtime: Runtime | undefined
  /** One for each placement, in its order; undefined = price not known. */
  readonly prices: readonly (Price | undefined)[]
  readonly usdPerHour: number | undefined
  readonly cost: Cost
  readonly gpuHours: Range | { readonly upperBound: number } | undefined
}
