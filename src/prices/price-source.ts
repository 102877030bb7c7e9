import type { Table } from '../csv.ts'
import type { Place } from '../errors.ts'
import type { Gpu } from '../gpu.ts'
import type { Machine } from '../machine.ts'

/** How an hour is bought. `own` is a cluster's own rate, `own-spot` one of machines that can be taken away at any time. */
export type Tier = 'on-demand' | 'spot' | 'reserved-1y' | 'reserved-3y' | 'own' | 'own-spot'

/** Whether machines bought so can be taken away at any time: such a price is compared with its like only. */
export function isSpot(tier: Tier): boolean {
  return tier === 'spot' || tier === 'own-spot'
}

/** What one hour of one machine costs. */
export interface Price {
  readonly machine: Machine
  /** Empty for an own cluster. */
  readonly region: string
  readonly tier: Tier
  /** For a node without an own rate: the rented machine whose list price stands in for one, and whether somebody said which. */
  readonly listedFor?: { readonly provider: string; readonly machine: string; readonly assumed: boolean }
  /** Of the whole machine, in US dollars, less the discount. */
  readonly usdPerMachineHour: number
  /** What the configuration takes off the list price. */
  readonly discount?: Discount
  /** Of the zones of a region the lowest counts; in others it may cost more. */
  readonly lowestZone?: true
  /** Day (or year) this very price was read, ISO 8601; empty where the source does not say it, and for an own rate. */
  readonly asOf: string
  /** List and day, or the place in gpufare.yaml that says an own rate. */
  readonly source: string
}

/** A part taken off a list price. */
export interface Discount {
  /** 0 to 1. */
  readonly share: number
  readonly listUsdPerMachineHour: number
  /** Where it is configured. */
  readonly place?: Place
}

/** The tables that price sources read from. */
export interface PriceTables {
  readonly gpus: readonly Gpu[]
  readonly prices: Table
  readonly networks: Table
}

/** A line of a price list: a machine in a region, its prices read when they are wanted. */
export interface Listing {
  readonly provider: string
  readonly machineName: string
  readonly region: string
  prices(): readonly Price[]
}

/**
 * A list of prices: what machines cost, in every region and tier that it knows. It is asked for one GPU type or one machine at a
 * time, since a list may be long and a quote needs little of it. What it does not know is not in the answer.
 */
export interface PriceSource {
  readonly name: string
  listingsOf(gpu: Gpu, tables: PriceTables): readonly Listing[]
  /** By the name that manifests use in `node.kubernetes.io/instance-type`. */
  listingsOfMachine(name: string, tables: PriceTables): readonly Listing[]
}
