import type { Machine } from '../machine.ts'

/** How an hour is bought. `own` is a cluster's own rate. */
export type Tier = 'on-demand' | 'spot' | 'reserved-1y' | 'reserved-3y' | 'own'

/** What one hour of one machine costs. */
export interface Price {
  readonly machine: Machine
  /** Empty for an own cluster. */
  readonly region: string
  readonly tier: Tier
  /** Of the whole machine, in US dollars. */
  readonly usdPerMachineHour: number
  /** Day (or year) the price was read, ISO 8601. */
  readonly asOf: string
  readonly source: string
}

/** A table of prices; where two know the same machine, region and tier, the earlier in the list wins. */
export interface PriceSource {
  readonly name: string
  read(): readonly Price[]
}
