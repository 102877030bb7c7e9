import type { Gpu, UnknownGpu } from './gpu.ts'

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
  /** Several of them can work on one job (placement group, cluster fabric). */
  readonly clusters?: boolean
}
