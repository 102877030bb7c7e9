import type { Place } from './errors.ts'
import type { Sourced } from './sourced.ts'
import type { Currency } from './units.ts'

/** A partition or node pool: equal machines of a cluster, and what their GPUs cost. */
export interface Pool {
  /** Slurm partition or a name for the Kubernetes node pool. */
  readonly name: string
  /** GPU type as the file spells it; any name that gpus.csv knows. */
  readonly gpu: string
  readonly gpusPerNode: number
  readonly nodes?: number
  /** The site's own rate in US dollars per GPU-hour, after currency. */
  readonly usdPerGpuHour?: Sourced<number>
  /** A rented machine behind the pool: priced by the price table. */
  readonly machine?: { readonly provider: string; readonly instanceType: string; readonly region: string }
  readonly spot: boolean
  /** How Slurm calls the GPU in `--gres=gpu:TYPE:n`; absent = untyped. */
  readonly gresType?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** Kubernetes resource name; `nvidia.com/gpu` by default. */
  readonly resourceName: string
  readonly maxTimeSeconds?: number
}

/** A cluster that jobs go to. */
export interface Cluster {
  readonly name: string
  readonly scheduler: 'slurm' | 'kubernetes'
  /** Slurm ClusterName or kube context it stands for; absent = any. */
  readonly context?: string
  readonly pools: readonly Pool[]
}

/** gpufare.yaml, the files of repository, user and site laid over each other. */
export interface Config {
  /** The files read, nearest first. */
  readonly files: readonly string[]
  readonly clusters: readonly Cluster[]
  /** Candidates to consider, as written: `l40s`, `8xt4`. */
  readonly candidates: readonly Sourced<string>[]
  /** Clouds whose list prices are shown, in order of preference. */
  readonly providers: readonly string[]
  /** Regions, in order of preference. */
  readonly regions: readonly string[]
  readonly currency: Currency
  /** Taken off list prices, 0 to 1. */
  readonly discount?: Sourced<number>
  /** P90 total in US dollars under which no question is asked; only the user's or site's file can set it. */
  readonly askAboveUsd?: Sourced<number>
  readonly team?: Sourced<string>
  readonly costCenter?: Sourced<string>
  /** Where each top-level key stands, for messages. */
  readonly places: Readonly<Record<string, Place>>
}
