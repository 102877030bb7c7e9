import { activeParameters, countParameters, type Model, type ModelKind, type TransformerShape } from '../model.ts'
import { type Sourced, sourced } from '../sourced.ts'

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
