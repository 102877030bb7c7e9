import type { Cluster, Pool } from '../config.ts'
import { describePlace } from '../errors.ts'
import { findGpus, type Gpu, type UnknownGpu } from '../gpu.ts'
import type { Machine } from '../machine.ts'
import { type Offer, usdPerGpuHour } from './offers.ts'
import type { Price, Tier } from './price-source.ts'

/** What is known beside the configuration when a pool is priced. */
export interface PoolMarket {
  /** All prices of the rented machine behind the pool; empty where it has none or no table knows it. */
  readonly rented: readonly Price[]
  /** Machines with the same GPU at the most preferred provider. */
  readonly offers: readonly Offer[]
}

/**
 * A node of a partition or node pool as a machine; several where the configuration names a GPU type that is ambiguous. The
 * rented machine behind it, if it is known, says how its GPUs reach each other and which variant they are.
 */
export function poolMachines(
  cluster: Cluster,
  pool: Pool,
  gpus: readonly Gpu[],
  rented: Machine | undefined,
): readonly Machine[] {
  const { provider: _provider, name: _name, gpuCount: _count, ...rest } = rented ?? {}
  const place = { provider: cluster.name, name: pool.name, gpuCount: pool.gpusPerNode }
  return gpusOfPool(pool, gpus, rented).map(gpu => ({ clusters: true, ...rest, ...place, gpu }))
}

/**
 * The price of one node of a pool: its own rate, else that of the rented machine behind it, else the list price of the same GPU,
 * each labelled as what it is. Undefined = not known.
 */
export function poolPrice(pool: Pool, node: Machine, { rented, offers }: PoolMarket): Price | undefined {
  const rate = pool.usdPerGpuHour
  if (rate !== undefined) {
    const source = rate.origin.kind === 'config' ? describePlace(rate.origin.place) : 'gpufare.yaml'
    const usdPerMachineHour = rate.value * node.gpuCount
    const tier = pool.spot ? 'own-spot' : 'own'
    return { machine: node, region: '', tier, usdPerMachineHour, asOf: '', source }
  }
  const tier: Tier = pool.spot ? 'spot' : 'on-demand'
  const { machine } = pool
  if (machine !== undefined) {
    const price = rented.find(each => each.region === machine.region && each.tier === tier)
    return price && nodePrice(price, node, false)
  }
  const price = nearestPrice(offers, tier, node.gpuCount)
  return price && nodePrice(price, node, true)
}

function gpusOfPool(pool: Pool, gpus: readonly Gpu[], rented: Machine | undefined): readonly (Gpu | UnknownGpu)[] {
  const found = findGpus(pool.gpu, gpus)
  const behind = found.filter(gpu => gpu.name === rented?.gpu.name)
  if (behind.length > 0) return behind
  return found.length > 0 ? found : [{ name: pool.gpu, vendor: 'unknown' }]
}

/** Of a machine with as many GPUs, since hosts cost too; else the lowest for one GPU. */
function nearestPrice(offers: readonly Offer[], tier: Tier, gpuCount: number): Price | undefined {
  const prices = offers.flatMap(offer => offer.priceAt(tier) ?? [])
  const alike = prices.filter(price => price.machine.gpuCount === gpuCount)
  return (alike.length > 0 ? alike : prices).toSorted((a, b) => usdPerGpuHour(a) - usdPerGpuHour(b))[0]
}

/** A price of a rented machine as the price of a pool's node, by the number of their GPUs. */
function nodePrice(price: Price, node: Machine, assumed: boolean): Price {
  const { provider, name } = price.machine
  return {
    ...price,
    machine: node,
    usdPerMachineHour: usdPerGpuHour(price) * node.gpuCount,
    listedFor: { provider, machine: name, assumed },
  }
}
