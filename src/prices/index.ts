import type { Cluster, Config, Pool } from '../config.ts'
import type { Gpu } from '../gpu.ts'
import type { Machine } from '../machine.ts'
import { once } from '../once.ts'
import { discounted, type Offer, offersIn } from './offers.ts'
import { poolMachines, poolPrice } from './own-rates.ts'
import type { Price, PriceSource, PriceTables, Tier } from './price-source.ts'
import { priceTable } from './table.ts'

/** What can be had, and for how much, with the preferences of the configuration already in it. */
export interface PriceList {
  /** Machines with this GPU type that are on offer in the regions that count, providers in order of preference. */
  machinesWith(gpu: Gpu): readonly Machine[]
  /** Machines on offer by this name, such as `p4d.24xlarge`. */
  machinesNamed(name: string): readonly Machine[]
  /** Nodes of a partition or node pool; one, or one for each GPU type that its name may mean. */
  machinesOf(cluster: Cluster, pool: Pool): readonly Machine[]
  /**
   * The price of a machine in the most preferred region that has it; undefined = not known, never 0. A node of an own pool
   * has one price, whichever of the tiers `on-demand` and `own` is asked for.
   */
  priceOf(machine: Machine, tier: Tier): Price | undefined
}

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
  const offersOf = once((gpuName: string): readonly Offer[] => {
    const gpu = tables.gpus.find(each => each.name === gpuName)
    return gpu === undefined
      ? []
      : offersIn(
          sources.flatMap(source => source.pricesOf(gpu, tables)),
          config,
        )
  })
  const pricesNamed = once((name: string) => sources.flatMap(source => source.pricesOfMachine(name, tables)))
  const offersNamed = once((name: string) => offersIn(pricesNamed(name), config))
  const rentedBehind = ({ machine }: Pool): readonly Price[] =>
    machine === undefined
      ? []
      : pricesNamed(machine.instanceType).filter(price => price.machine.provider === machine.provider)

  const listPrice = (machine: Machine, tier: Tier): Price | undefined =>
    offersOf(machine.gpu.name)
      .find(offer => offer.machine.name === machine.name && offer.machine.provider === machine.provider)
      ?.prices.get(tier)
  const nodePrice = (pool: Pool, node: Machine, tier: Tier): Price | undefined =>
    tier === 'on-demand' || tier === 'own'
      ? poolPrice(pool, node, { rented: rentedBehind(pool), offers: offersOf(node.gpu.name) })
      : undefined

  return {
    machinesWith: gpu => offersOf(gpu.name).map(offer => offer.machine),
    machinesNamed: name => offersNamed(name).map(offer => offer.machine),
    machinesOf: (cluster, pool) => poolMachines(cluster, pool, tables.gpus, rentedBehind(pool)[0]?.machine),
    priceOf: (machine, tier) => {
      const pool = poolOf(machine, config)
      const price = pool === undefined ? listPrice(machine, tier) : nodePrice(pool, machine, tier)
      return price && (price.tier === 'own' ? price : discounted(price, config))
    },
  }
}

function poolOf(machine: Machine, config: Config): Pool | undefined {
  return config.clusters
    .find(cluster => cluster.name === machine.provider)
    ?.pools.find(pool => pool.name === machine.name)
}
