import { numberIn, type Row } from './csv.ts'
import type { Gpu, UnknownGpu } from './gpu.ts'
import { bytesPerGib, bytesPerGigabit, bytesPerGigabyte } from './units.ts'

/** A kind of machine that holds GPUs: a cloud's instance type, or a node of a cluster's partition or pool. */
export interface Machine {
  /** `aws`, `gcp`, or the name of an own cluster. */
  readonly provider: string
  /** Instance type, partition or node pool. */
  readonly name: string
  /** A whole one, where `Placement.gpu` may be a slice of it. */
  readonly gpu: Gpu | UnknownGpu
  readonly gpuCount: number
  readonly cpuCount?: number
  readonly memoryBytes?: number
  /** Between the GPUs of one machine, bytes/s per GPU both directions; absent = unknown. */
  readonly linkBytesPerSecond?: number
  /** Network of the whole machine, bytes/s; absent = unknown. */
  readonly networkBytesPerSecond?: number
  readonly rdma?: boolean
  /** Made to work on one job together (placement group, cluster fabric). */
  readonly clusters?: boolean
}

/** How a machine's GPUs reach each other and other machines; what is absent is unknown. */
export type Links = Pick<Machine, 'linkBytesPerSecond' | 'networkBytesPerSecond' | 'rdma' | 'clusters'>

/** A machine as a row of prices.csv describes it, and a row of networks.csv if there is one. */
export function machineOf(price: Row, network: Row | undefined, gpu: Gpu): Machine {
  const cpuCount = numberIn(price, 'cpu_count')
  const memoryGib = numberIn(price, 'memory_gib')
  return {
    provider: price['provider'] ?? '',
    name: price['machine'] ?? '',
    gpu,
    gpuCount: Number(price['gpu_count']),
    ...(cpuCount !== undefined && { cpuCount }),
    ...(memoryGib !== undefined && { memoryBytes: memoryGib * bytesPerGib }),
    ...(network && linksOf(network)),
  }
}

function linksOf(network: Row): Links {
  const link = numberIn(network, 'link_gb_s')
  const gigabits = numberIn(network, 'network_gbit_s')
  return {
    ...(link !== undefined && { linkBytesPerSecond: link * bytesPerGigabyte }),
    ...(gigabits !== undefined && { networkBytesPerSecond: gigabits * bytesPerGigabit }),
    // "part": RDMA for the processors, but not straight into the memory of the GPUs.
    rdma: network['rdma'] === 'yes',
    clusters: network['clusters'] === 'yes',
  }
}
