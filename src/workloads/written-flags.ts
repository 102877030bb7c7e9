import type { Model, ModelTable } from '../model.ts'
import { type Sourced, sourced } from '../sourced.ts'
import { type Flags, known, positiveFlag, textFlag } from './flags.ts'
import { vocabularyOf } from './megatron-vocabulary.ts'
import { modelOfTransformer } from './written-shape.ts'

/** The network of a language model's own script that is told its dimensions, where the family says how its blocks are built. */
export function modelOfWrittenFlags(
  flags: Flags,
  contextNames: readonly string[],
  models: ModelTable,
): Sourced<Model> | undefined {
  const family = known(textFlag(flags, ['model-type', 'model-arch']))?.value
  const vocabulary = vocabularyOf(flags, models)
  if (family === undefined || !/^(llama|mistral)/i.test(family) || vocabulary === undefined || vocabulary.assumed)
    return undefined
  const dimension = (...names: string[]) => positiveFlag(flags, names)
  return modelOfTransformer(family, {
    layers: dimension('num-layers', 'num-hidden-layers', 'n-layers', 'n-layer'),
    hidden: dimension('hidden-width', 'hidden-size', 'd-model', 'dim'),
    heads: dimension('num-heads', 'num-attention-heads', 'n-heads', 'n-head'),
    keyValueHeads: dimension('num-key-value-heads', 'num-kv-heads', 'n-kv-heads'),
    feedForward: dimension('intermediate-size', 'ffn-hidden-size', 'ffn-dim'),
    vocabulary: sourced(vocabulary.count, { kind: 'computed', formula: 'the vocabulary of its tokenizer' }),
    contextLength: positiveFlag(flags, contextNames),
    gatedFeedForward: true,
    tiedEmbeddings: false,
    learnsPositions: false,
  })
}
