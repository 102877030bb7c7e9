import type { Model, TransformerShape } from '../src/model.ts'

/** A decoder of a given shape; what is not given is as in GPT-2: plain feed-forward of four times the width, tied embeddings. */
export function decoder(
  name: string,
  given: Pick<TransformerShape, 'layers' | 'hidden' | 'heads'> & Partial<TransformerShape>,
): Model {
  const shape: TransformerShape = {
    keyValueHeads: given.heads,
    headSize: given.hidden / given.heads,
    feedForward: 4 * given.hidden,
    gatedFeedForward: false,
    vocabulary: 50_257,
    contextLength: 2_048,
    tiedEmbeddings: true,
    ...given,
  }
  const projections = shape.gatedFeedForward ? 3 : 2
  const layer =
    2 * shape.hidden * (shape.heads + shape.keyValueHeads) * shape.headSize +
    projections * shape.hidden * shape.feedForward
  const tables = shape.tiedEmbeddings ? 1 : 2
  const parameterCount =
    shape.layers * (layer + 2 * shape.hidden) + tables * shape.vocabulary * shape.hidden + shape.hidden
  return { name, kind: 'decoder', parameterCount, activeParameterCount: parameterCount, shape }
}

/** Brown et al., arXiv 2005.14165, table 2.1. */
export const gpt3 = decoder('GPT-3', { layers: 96, hidden: 12288, heads: 96 })

/** Touvron et al., arXiv 2307.09288, and its published configuration. */
export const llama2 = decoder('Llama-2-7B', {
  layers: 32,
  hidden: 4096,
  heads: 32,
  feedForward: 11008,
  gatedFeedForward: true,
  vocabulary: 32_000,
  contextLength: 4_096,
  tiedEmbeddings: false,
})
