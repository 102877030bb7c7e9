/** A GPU type: one row of pricing-data/gpus.csv. Rates are dense peaks, in FLOP/s; absent = the GPU cannot do it. */
export interface Gpu {
  /** Canonical name, `a100-80gb`. */
  readonly name: string
  readonly vendor: 'NVIDIA' | 'AMD' | 'Intel' | 'Google'
  readonly architecture: string
  readonly year: number
  readonly memoryBytes: number
  readonly bandwidthBytesPerSecond: number
  readonly flopsPerSecond: {
    readonly fp32?: number
    readonly tf32?: number
    readonly fp16?: number
    readonly bf16?: number
    readonly fp8?: number
  }
  readonly int8OperationsPerSecond?: number
  /** NVLink or its like, both directions together, of one GPU. */
  readonly linkBytesPerSecond?: number
  readonly pcieGeneration?: number
  readonly powerWatts?: number
  readonly migProfiles: readonly string[]
  /** Every other way a manifest may spell it, lower case. */
  readonly aliases: readonly string[]
  readonly source: string
}

/** A GPU type that no table knows: a name and nothing else, so that no figure of another GPU is taken for its own. */
export interface UnknownGpu {
  /** As the manifest or the configuration spells it; empty where no type is named. */
  readonly name: string
  readonly vendor: 'unknown'
}
