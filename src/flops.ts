import type { Model, TransformerShape } from './model.ts'
import type { TrainingMethod, Workload } from './workload.ts'

/** Floating-point operations, those of attention scores apart: they run at another efficiency and grow with the sequence. */
export interface Flops {
  readonly matrix: number
  readonly attention: number
}

/** Parameters of one layer; of a mixture of experts all of them, or only those that one token meets. */
export function layerParameterCount(shape: TransformerShape, experts: 'all' | 'active'): number {
  const attentionWidth = shape.heads * shape.headSize
  const keyValueWidth = shape.keyValueHeads * shape.headSize
  const attention = 2 * shape.hidden * (attentionWidth + keyValueWidth)
  const feedForwardMatrices = shape.gatedFeedForward ? 3 : 2
  if (shape.experts === undefined) return attention + feedForwardMatrices * shape.hidden * shape.feedForward
  const { count, perToken, shared, feedForward } = shape.experts
  const used = (experts === 'all' ? count : perToken) + shared
  return attention + used * feedForwardMatrices * shape.hidden * feedForward + shape.hidden * count
}

/**
 * Forward FLOPs of one token: 2 for each weight it meets, and 4·L·h·s for attention scores over the whole sequence, no causal half
 * skipped (Narayanan et al., arXiv 2104.04473, appendix). An encoder has no output layer for every token. Without a shape: 2·N.
 */
export function forwardFlopsPerToken(model: Model, sequenceLength: number): Flops {
  const { shape } = model
  if (shape === undefined || model.kind === 'encoder-decoder')
    return { matrix: 2 * model.activeParameterCount, attention: 0 }
  const outputLayer = model.kind === 'decoder' ? shape.vocabulary * shape.hidden : 0
  return {
    matrix: 2 * (shape.layers * layerParameterCount(shape, 'active') + outputLayer),
    attention: 4 * shape.layers * shape.heads * shape.headSize * sequenceLength,
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
