/** What a network is, as far as arithmetic needs to know. */
export type ModelKind =
  | 'decoder'
  | 'encoder'
  | 'encoder-decoder'
  | 'vision-transformer'
  | 'convolutional'
  | 'diffusion'
  | 'audio'
  | 'multimodal'
  | 'other'

/** A network: its size, and its shape where known. Parameters are counts, not billions. */
export interface Model {
  readonly name: string
  readonly kind: ModelKind
  readonly parameterCount: number
  /** Parameters used for one token; smaller than `parameterCount` in a mixture of experts. */
  readonly activeParameterCount: number
  readonly shape?: TransformerShape
  /** Forward FLOPs of one sample at its native size, for networks that are no transformers. */
  readonly forwardFlopsPerSample?: number
}

/** Dimensions of a transformer. */
export interface TransformerShape {
  readonly layers: number
  readonly hidden: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly headSize: number
  /** Width of one feed-forward projection. */
  readonly feedForward: number
  /** Three feed-forward matrices (SwiGLU, GeGLU) instead of two. */
  readonly gatedFeedForward: boolean
  readonly vocabulary: number
  readonly contextLength: number
  readonly tiedEmbeddings: boolean
  /** Experts in all and per token, where the feed-forward is a mixture. */
  readonly experts?: { readonly count: number; readonly perToken: number; readonly shared: number; readonly feedForward: number }
}
