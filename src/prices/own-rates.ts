import type { Cluster, Pool } from '../config.ts'
import { describePlace } from '../errors.ts'
import { findGpus, type Gpu, type UnknownGpu } from '../gpu.ts'
import type { Machine } from '../machine.ts'
import type { Price } from './price-source.ts'

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

/** A pool's own rate for one of its nodes; undefined where the configuration gives none. */
export function ownRate(pool: Pool, machine: Machine): Price | undefined {
  const rate = pool.usdPerGpuHour
  if (rate === undefined) return undefined
  const source = rate.origin.kind === 'config' ? describePlace(rate.origin.place) : 'gpufare.yaml'
  return { machine, region: '', tier: 'own', usdPerMachineHour: rate.value * machine.gpuCount, asOf: '', source }
}

function gpusOfPool(pool: Pool, gpus: readonly Gpu[], rented: Machine | undefined): readonly (Gpu | UnknownGpu)[] {
  const found = findGpus(pool.gpu, gpus)
  const behind = found.filter(gpu => gpu.name === rented?.gpu.name)
  if (behind.length > 0) return behind
  return found.length > 0 ? found : [{ name: pool.gpu, vendor: 'unknown' }]
}
