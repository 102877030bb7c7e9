import { activeParameters, countParameters, type Model, type ModelKind, type TransformerShape } from '../model.ts'
import { type Sourced, sourced } from '../sourced.ts'
import { type Given, known } from './flags.ts'

/** The network that flags or a configuration describe by its dimensions; `learnedPositions` is the length of their table. */
export function modelOfShape(
  name: string,
  kind: ModelKind,
  shape: TransformerShape,
  learnedPositions: number,
  formula: string,
): Sourced<Model> {
  const positions = learnedPositions * shape.hidden
  const model: Model = {
    name,
    kind,
    parameterCount: countParameters(kind, shape) + positions,
    activeParameterCount: activeParameters(kind, shape) + positions,
    shape,
  }
  return sourced(model, { kind: 'computed', formula })
}

/** GPT-2's network (Radford et al., 2019): heads over the whole width, a feed-forward four times as wide, one table of tokens. */
export function gpt2Shape(
  layers: number,
  hidden: number,
  heads: number,
  vocabulary: number,
  contextLength: number,
): TransformerShape {
  return {
    layers,
    hidden,
    heads,
    keyValueHeads: heads,
    headSize: hidden / heads,
    feedForward: 4 * hidden,
    gatedFeedForward: false,
    vocabulary,
    contextLength,
    tiedEmbeddings: true,
  }
}

/** A transformer as a configuration writes it, its values as given; `feedForward` and all after it may be left out. */
export interface WrittenTransformer {
  readonly layers: Given<number>
  readonly hidden: Given<number>
  readonly heads: Given<number>
  readonly vocabulary: Given<number>
  readonly contextLength: Given<number>
  readonly feedForward: Given<number>
  readonly keyValueHeads?: Given<number>
  readonly headSize?: Given<number>
  readonly gatedFeedForward: boolean
  readonly tiedEmbeddings: boolean
  /** A table of positions that is learned, as long as the context. */
  readonly learnsPositions: boolean
}

/** The network that was written, its parameters counted; undefined where a dimension is given but not known, or left out. */
export function modelOfTransformer(family: string, written: WrittenTransformer): Sourced<Model> | undefined {
  const { layers, hidden, heads, vocabulary, contextLength, feedForward, keyValueHeads, headSize } = written
  const all = [layers, hidden, heads, vocabulary, contextLength, feedForward]
  if (all.some(value => value === 'unknown' || value === undefined) || [keyValueHeads, headSize].includes('unknown'))
    return undefined
  const numberOf = (given: Given<number>): number => known(given)?.value ?? Number.NaN
  const shape: TransformerShape = {
    layers: numberOf(layers),
    hidden: numberOf(hidden),
    heads: numberOf(heads),
    keyValueHeads: known(keyValueHeads)?.value ?? numberOf(heads),
    headSize: known(headSize)?.value ?? numberOf(hidden) / numberOf(heads),
    feedForward: numberOf(feedForward),
    gatedFeedForward: written.gatedFeedForward,
    vocabulary: numberOf(vocabulary),
    contextLength: numberOf(contextLength),
    tiedEmbeddings: written.tiedEmbeddings,
  }
  const name = `${family} ${shape.layers}x${shape.hidden}`
  const positions = written.learnsPositions ? shape.contextLength : 0
  return modelOfShape(name, 'decoder', shape, positions, `parameters of ${name} by its configuration`)
}
