import type { Cluster, Config, Pool } from '../config.ts'
import type { Gpu } from '../gpu.ts'
import type { Machine } from '../machine.ts'
import { once } from '../once.ts'
import { discounted, listingsByProvider, type Offer, offersIn, type ProviderListings } from './offers.ts'
import { poolMachines, poolPrice } from './own-rates.ts'
import type { Price, PriceSource, PriceTables, Tier } from './price-source.ts'
import { priceTable } from './table.ts'

/** What can be had, and for how much, with the preferences of the configuration already in it. */
export interface PriceList {
  /** Who has this GPU type where the configuration looks, in order of preference. */
  providersWith(gpu: Gpu): readonly string[]
  /** Machines with this GPU type on offer there. */
  machinesWith(gpu: Gpu, provider: string): readonly Machine[]
  /** Machines on offer by this name, such as `p4d.24xlarge`. */
  machinesNamed(name: string): readonly Machine[]
  /** Nodes of a partition or node pool; one, or one for each GPU type that its name may mean. */
  machinesOf(cluster: Cluster, pool: Pool): readonly Machine[]
  /**
   * The price of a machine in the most preferred region that has it; undefined = not known, never 0. A node of an own pool
   * has one price, whichever of the tiers `on-demand`, `own` and `own-spot` is asked for.
   */
  priceOf(machine: Machine, tier: Tier): Price | undefined
}

/** Tiers of a site's own rates, to which no discount on list prices applies. */
const ownTiers: readonly Tier[] = ['own', 'own-spot']
const poolTiers: readonly Tier[] = ['on-demand', ...ownTiers]

/** Where two know the same machine, region and tier, the earlier wins. */
const sources: readonly PriceSource[] = [priceTable]

const madeLists = new WeakMap<PriceTables, WeakMap<Config, PriceList>>()

/** The prices of all sources, as the configuration prefers them. Made once for the same tables and configuration. */
export function listPrices(tables: PriceTables, config: Config): PriceList {
  const lists = madeLists.get(tables) ?? new WeakMap<Config, PriceList>()
  const list = lists.get(config) ?? makeList(tables, config)
  madeLists.set(tables, lists.set(config, list))
  return list
}

function makeList(tables: PriceTables, config: Config): PriceList {
  const listingsOf = once((gpuName: string): readonly ProviderListings[] => {
    const gpu = tables.gpus.find(each => each.name === gpuName)
    return gpu === undefined
      ? []
      : listingsByProvider(
          sources.flatMap(source => source.listingsOf(gpu, tables)),
          config,
        )
  })
  const offersAt = once((gpuName: string) =>
    once((provider: string): readonly Offer[] =>
      offersIn(listingsOf(gpuName).find(each => each.provider === provider)?.listings ?? [], config),
    ),
  )
  const listingsNamed = once((name: string) => sources.flatMap(source => source.listingsOfMachine(name, tables)))
  const offersNamed = once((name: string) =>
    listingsByProvider(listingsNamed(name), config).flatMap(({ listings }) => offersIn(listings, config)),
  )
  const rentedBehind = ({ machine }: Pool): readonly Price[] =>
    machine === undefined
      ? []
      : listingsNamed(machine.instanceType)
          .filter(listing => listing.provider === machine.provider)
          .flatMap(listing => listing.prices())

  const listPrice = ({ gpu, provider, name }: Machine, tier: Tier): Price | undefined =>
    offersAt(gpu.name)(provider)
      .find(offer => offer.machine.name === name)
      ?.priceAt(tier)
  const nodePrice = (pool: Pool, node: Machine): Price | undefined => {
    const [first] = listingsOf(node.gpu.name)
    const offers = first === undefined ? [] : offersAt(node.gpu.name)(first.provider)
    return poolPrice(pool, node, { rented: rentedBehind(pool), offers })
  }

  return {
    providersWith: gpu => listingsOf(gpu.name).map(each => each.provider),
    machinesWith: (gpu, provider) => offersAt(gpu.name)(provider).map(offer => offer.machine),
    machinesNamed: name => offersNamed(name).map(offer => offer.machine),
    machinesOf: (cluster, pool) => poolMachines(cluster, pool, tables.gpus, rentedBehind(pool)[0]?.machine),
    priceOf: (machine, tier) => {
      const pool = poolOf(machine, config)
      if (pool !== undefined && !poolTiers.includes(tier)) return undefined
      const price = pool === undefined ? listPrice(machine, tier) : nodePrice(pool, machine)
      return price && (ownTiers.includes(price.tier) ? price : discounted(price, config))
    },
  }
}

function poolOf(machine: Machine, config: Config): Pool | undefined {
  return config.clusters
    .find(cluster => cluster.name === machine.provider)
    ?.pools.find(pool => pool.name === machine.name)
}
