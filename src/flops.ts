import { activeParameters, type Model, type TransformerShape } from './model.ts'
import type { TrainingMethod, Workload } from './workload.ts'

/** Floating-point operations, those of attention scores apart: they run at another efficiency and grow with the sequence. */
export interface Flops {
  readonly matrix: number
  readonly attention: number
}

/** Weights of the routed experts of all layers; none without a mixture. */
export function expertParameterCount({ hidden, layers, experts, gatedFeedForward }: TransformerShape): number {
  if (experts === undefined) return 0
  const one = (gatedFeedForward ? 3 : 2) * hidden * experts.feedForward
  return (layers - experts.denseLayers) * experts.count * one
}

/** Weights of one layer's matrices, those of all its experts. */
export function layerParameterCount(shape: TransformerShape): number {
  const { hidden, heads, keyValueHeads, headSize, experts } = shape
  const attention = 2 * hidden * (heads + keyValueHeads) * headSize
  const projections = shape.gatedFeedForward ? 3 : 2
  if (experts === undefined) return attention + projections * hidden * shape.feedForward
  return (
    attention + (experts.count + experts.shared) * projections * hidden * experts.feedForward + hidden * experts.count
  )
}

/**
 * Forward FLOPs of one token: 2 for each weight it meets, and 4·L·h·s for attention scores over the whole sequence, no causal half
 * skipped (Narayanan et al., arXiv 2104.04473, appendix). Looking an embedding up costs nothing, an output layer does; an encoder has
 * none for every token. An encoder-decoder's token is one of the source and one of the target.
 */
export function forwardFlopsPerToken(model: Model, sequenceLength: number): Flops {
  const { shape, kind } = model
  if (shape === undefined) return { matrix: 2 * model.activeParameterCount, attention: 0 }
  const tables = kind === 'encoder' || kind === 'vision-transformer' || !shape.tiedEmbeddings ? 1 : 0
  const lookedUp = tables * shape.vocabulary * (shape.embeddingSize ?? shape.hidden)
  const counted = { ...shape, tiedEmbeddings: shape.tiedEmbeddings || kind === 'encoder' }
  // Each decoder layer attends to its own sequence and to the encoder's.
  const attentions = shape.layers + 2 * (shape.decoderLayers ?? 0)
  return {
    matrix: 2 * (activeParameters(kind, counted) - lookedUp),
    attention: 4 * attentions * shape.heads * shape.headSize * sequenceLength,
  }
}

/**
 * Forward FLOPs of one sample: as the model table says for networks that are no transformers, else tokens times FLOPs per token.
 * Undefined where neither is known.
 */
export function forwardFlopsPerSample(model: Model, sequenceLength: number | undefined): Flops | undefined {
  if (model.forwardFlopsPerSample !== undefined) return { matrix: model.forwardFlopsPerSample, attention: 0 }
  if (sequenceLength === undefined) return undefined
  const perToken = forwardFlopsPerToken(model, sequenceLength)
  return { matrix: perToken.matrix * sequenceLength, attention: perToken.attention * sequenceLength }
}

type Recompute = NonNullable<Workload['activationRecompute']>['value']

/**
 * FLOPs of a training step from those of its forward pass. The backward pass costs two forward passes, of which frozen weights
 * (LoRA) need one; full recompute repeats the forward pass, selective recompute its attention (Korthikanti et al., arXiv 2205.05198).
 */
export function trainingFlops(forward: Flops, method: TrainingMethod, recompute: Recompute): Flops {
  const matrixPasses = (method === 'full' ? 3 : 2) + (recompute === 'full' ? 1 : 0)
  const attentionPasses = 3 + (recompute === 'none' ? 0 : 1)
  return { matrix: forward.matrix * matrixPasses, attention: forward.attention * attentionPasses }
}
