import type { Sourced } from './sourced.ts'

/** A measured speed the user vouches for: `2450 samples/s on 8xa100-80gb`. */
export interface DeclaredThroughput {
  readonly perSecond: number
  readonly unit: 'samples' | 'tokens' | 'steps'
  readonly gpuCount: number
  readonly gpuName: string
}

/** A runtime the user vouches for: `4h on 8xa100-80gb`. */
export interface DeclaredRuntime {
  readonly seconds: number
  /** Absent: as requested. */
  readonly gpuCount?: number
  readonly gpuName?: string
}

/** What the manifest says for itself; wins over whatever is derived. Keys as in README. */
export interface Declarations {
  readonly model?: Sourced<string>
  readonly params?: Sourced<number>
  readonly tokens?: Sourced<number>
  readonly samples?: Sourced<number>
  readonly epochs?: Sourced<number>
  readonly steps?: Sourced<number>
  readonly batch?: Sourced<number>
  readonly sequenceLength?: Sourced<number>
  readonly precision?: Sourced<string>
  readonly method?: Sourced<string>
  readonly throughput?: Sourced<DeclaredThroughput>
  readonly runtime?: Sourced<DeclaredRuntime>
  readonly checkpointIntervalSeconds?: Sourced<number>
  readonly team?: Sourced<string>
  readonly costCenter?: Sourced<string>
  /** Candidates to consider, as written: `8xt4`, `l40s`. */
  readonly gpus?: Sourced<readonly string[]>
}
