import type { Cluster, Config, Pool } from '../config.ts'
import { describePlace } from '../errors.ts'
import type { Gpu } from '../gpu.ts'
import type { Machine } from '../machine.ts'
import { formatPercent } from '../units.ts'
import { ownRate, poolMachines } from './own-rates.ts'
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
   * has one price, whichever tier `on-demand` or `own` is asked for: its own rate, else that of the rented machine behind
   * it, else the list price of the same GPU.
   */
  priceOf(machine: Machine, tier: Tier): Price | undefined
}

/** Clouds where most jobs run first, then those with fixed machine types, marketplaces of other people's machines last. */
const usualProviders = [
  ...['aws', 'gcp', 'azure', 'oci', 'lambda', 'coreweave', 'nebius', 'crusoe', 'verda', 'vultr', 'digitalocean'],
  ...['hyperstack', 'runpod', 'modal', 'jarvislabs', 'novita', 'akash', 'vast'],
]

/** Each large cloud's own first region; elsewhere the first that the table has. */
const usualRegions = ['us-east-1', 'us-central1', 'eastus', 'us-east-2', 'us-west-2', 'us-east4', 'eastus2', 'westus2']

/** What price lists write where a price holds in every region. */
const everywhere = new Set(['all', 'global'])

/** Where two know the same machine, region and tier, the earlier wins. */
const sources: readonly PriceSource[] = [priceTable]

/** The prices of all sources, as the configuration prefers them. */
export function listPrices(tables: PriceTables, config: Config): PriceList {
  const offered = (prices: readonly Price[]) => prices.filter(price => isOffered(price, config))
  const knownPrices = new Map<string, readonly Price[]>()
  const pricesOf = (gpu: Gpu): readonly Price[] => {
    const known = knownPrices.get(gpu.name) ?? offered(sources.flatMap(source => source.pricesOf(gpu, tables)))
    knownPrices.set(gpu.name, known)
    return known
  }
  const pricesOfMachine = (name: string) => sources.flatMap(source => source.pricesOfMachine(name, tables))

  const tablePrice = (machine: Machine, tier: Tier): Price | undefined => {
    if (machine.gpu.vendor === 'unknown') return undefined
    const prices = pricesOf(machine.gpu).filter(price => price.tier === tier && isSame(price.machine, machine))
    return discounted(inPreferredRegion(prices, config), config)
  }
  const machinesWith = (gpu: Gpu) => machinesIn(pricesOf(gpu), config)

  const rentedPrice = (pool: Pool, machine: Machine): Price | undefined => {
    const { machine: rented } = pool
    if (rented === undefined) return undefined
    const price = pricesOfMachine(rented.instanceType).find(
      ({ machine: { provider }, region, tier }) =>
        provider === rented.provider && region === rented.region && tier === tierOf(pool),
    )
    return price && nodePrice(discounted(price, config) ?? price, machine, 'rented')
  }
  const sameGpuPrice = (pool: Pool, machine: Machine): Price | undefined => {
    if (machine.gpu.vendor === 'unknown') return undefined
    const prices = machinesWith(machine.gpu).flatMap(each => tablePrice(each, tierOf(pool)) ?? [])
    const provider = prices[0]?.machine.provider
    const price = nearest(
      prices.filter(each => each.machine.provider === provider),
      machine.gpuCount,
    )
    return price && nodePrice(price, machine, 'no own rate, list price of the same GPU')
  }
  const poolPrice = (pool: Pool, machine: Machine): Price | undefined =>
    ownRate(pool, machine) ?? (pool.machine ? rentedPrice(pool, machine) : sameGpuPrice(pool, machine))

  return {
    machinesWith,
    machinesNamed: name => machinesIn(offered(pricesOfMachine(name)), config),
    machinesOf: (cluster, pool) => {
      const rented = pool.machine
      const prices = rented === undefined ? [] : pricesOfMachine(rented.instanceType)
      const behind = prices.find(price => price.machine.provider === rented?.provider)
      return poolMachines(cluster, pool, tables.gpus, behind?.machine)
    },
    priceOf: (machine, tier) => {
      const pool = poolOf(machine, config)
      if (pool === undefined) return tablePrice(machine, tier)
      return tier === 'on-demand' || tier === 'own' ? poolPrice(pool, machine) : undefined
    },
  }
}

function poolOf(machine: Machine, config: Config): Pool | undefined {
  return config.clusters
    .find(cluster => cluster.name === machine.provider)
    ?.pools.find(pool => pool.name === machine.name)
}

function tierOf(pool: Pool): Tier {
  return pool.spot ? 'spot' : 'on-demand'
}

function isSame(a: Machine, b: Machine): boolean {
  return a.provider === b.provider && a.name === b.name
}

/** Regions and providers that the configuration names are the only ones that count. */
function isOffered(price: Price, { providers, regions }: Config): boolean {
  const provider = providers.length === 0 || providers.includes(price.machine.provider)
  const region = regions.length === 0 || regions.includes(price.region) || everywhere.has(price.region)
  return provider && region
}

function inPreferredRegion(prices: readonly Price[], { regions }: Config): Price | undefined {
  return inOrder(prices, price => price.region, regions.length > 0 ? regions : usualRegions)[0]
}

/** Distinct machines that have an on-demand price. */
function machinesIn(prices: readonly Price[], { providers }: Config): readonly Machine[] {
  const machines = new Map<string, Machine>()
  for (const { machine, tier } of prices) {
    const key = `${machine.provider} ${machine.name}`
    if (tier === 'on-demand' && !machines.has(key)) machines.set(key, machine)
  }
  return inOrder([...machines.values()], machine => machine.provider, providers.length > 0 ? providers : usualProviders)
}

/** Sorted by the place of their keys in a list; what is not in it comes last, in the order it had. */
function inOrder<T>(items: readonly T[], keyOf: (item: T) => string, order: readonly string[]): readonly T[] {
  const rankOf = (item: T) => {
    const rank = order.indexOf(keyOf(item))
    return rank < 0 ? order.length : rank
  }
  return items.toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Of a machine with as many GPUs, since hosts cost too; else the lowest for one GPU. */
function nearest(prices: readonly Price[], gpuCount: number): Price | undefined {
  const alike = prices.filter(price => price.machine.gpuCount === gpuCount)
  return (alike.length > 0 ? alike : prices).toSorted((a, b) => usdPerGpuHour(a) - usdPerGpuHour(b))[0]
}

function usdPerGpuHour(price: Price): number {
  return price.usdPerMachineHour / price.machine.gpuCount
}

/** A price of a rented machine as the price of a pool's node, by the number of their GPUs. */
function nodePrice(price: Price, node: Machine, why: string): Price {
  const { provider, name } = price.machine
  return {
    ...price,
    machine: node,
    usdPerMachineHour: usdPerGpuHour(price) * node.gpuCount,
    source: `${why}: ${provider} ${name}; ${price.source}`,
  }
}

/** Spot prices are what the market asks: no agreement takes anything off them. */
function discounted(price: Price | undefined, { discount }: Config): Price | undefined {
  if (price === undefined || discount === undefined || price.tier === 'spot') return price
  const where = discount.origin.kind === 'config' ? ` (${describePlace(discount.origin.place)})` : ''
  return {
    ...price,
    usdPerMachineHour: price.usdPerMachineHour * (1 - discount.value),
    source: `${price.source}; less ${formatPercent(discount.value)}${where}`,
  }
}
