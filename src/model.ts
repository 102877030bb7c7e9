import { GpufareError } from './errors.ts'
import { type Sourced, sourced } from './sourced.ts'

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
  /**
   * Parameters that one token is multiplied with: fewer than `parameterCount` in a mixture of experts, more where
   * layers share their weights.
   */
  readonly activeParameterCount: number
  /** Of a multimodal model: its language part. */
  readonly shape?: TransformerShape
  /** Forward FLOPs (two for each multiply-add) of one sample at its native size, for networks that read no tokens. */
  readonly forwardFlopsPerSample?: number
  /** The size that `forwardFlopsPerSample` is for: `224 px`, `30 s`. */
  readonly nativeSize?: string
}

/** Dimensions of a transformer. */
export interface TransformerShape {
  /** Layers of the stack; of the encoder where there are two. */
  readonly layers: number
  /** Layers of the second stack, which also attends to the first: encoder-decoders only. */
  readonly decoderLayers?: number
  readonly hidden: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly headSize: number
  /** Width of one feed-forward projection. */
  readonly feedForward: number
  /** Three feed-forward matrices (SwiGLU, GeGLU) instead of two. */
  readonly gatedFeedForward: boolean
  /** Tokens known; of a vision transformer the classes of its head, 0 without one. */
  readonly vocabulary: number
  /** Longest sequence; of a vision transformer its tokens at native size. */
  readonly contextLength: number
  readonly tiedEmbeddings: boolean
  /** Width of the embedding where it is not `hidden` (ALBERT, ELECTRA small). */
  readonly embeddingSize?: number
  /** Layers with weights of their own, where the others reuse them (ALBERT: 1). */
  readonly distinctLayers?: number
  /** Side of one square patch of a vision transformer, in pixels. */
  readonly patchSize?: number
  /** Experts in all and per token, where the feed-forward is a mixture. */
  readonly experts?: {
    readonly count: number
    readonly perToken: number
    readonly shared: number
    readonly feedForward: number
    /** Layers that keep one plain feed-forward of the shape's own width. */
    readonly denseLayers: number
  }
  /** Queries, keys and values that pass through a narrow bottleneck (DeepSeek-V2 and V3). */
  readonly latentAttention?: {
    readonly queryRank?: number
    readonly keyValueRank: number
    /** Width of the part of each head that carries the position. */
    readonly rotarySize: number
  }
}

/** Finds one model by a spelling of its name that `canonicalSpelling` made. */
export interface ModelTable {
  find(spelling: string): { readonly model: Model; readonly source: string } | undefined
}

/**
 * Parameters of a transformer of this shape, without biases and learned positions: 1.6 % of the smallest, else less.
 * Formula: Korthikanti et al., arXiv 2205.05198, with grouped keys (2305.13245), gated feed-forward (2002.05202),
 * experts (2401.04088) and latent attention (2412.19437).
 */
export function countParameters(kind: ModelKind, shape: TransformerShape): number {
  const distinctLayers = shape.distinctLayers ?? shape.layers
  return embeddingParameters(kind, shape) + stackParameters(shape, distinctLayers, shape.experts?.count ?? 0)
}

/**
 * Parameters that one token is multiplied with: of the experts only those it is routed to and those it shares, and
 * layers that reuse weights once for each use.
 */
export function activeParameters(kind: ModelKind, shape: TransformerShape): number {
  return embeddingParameters(kind, shape) + stackParameters(shape, shape.layers, shape.experts?.perToken ?? 0)
}

/** What stands before and after the layers. An encoder ends with a dense layer: BERT's pooler, the head of ESM-2. */
function embeddingParameters(kind: ModelKind, shape: TransformerShape): number {
  const { hidden, vocabulary, contextLength, embeddingSize = hidden, patchSize = 0 } = shape
  if (kind === 'vision-transformer') return (3 * patchSize ** 2 + contextLength + vocabulary) * hidden
  const tables = shape.tiedEmbeddings ? 1 : 2
  const projection = embeddingSize === hidden ? 0 : embeddingSize * hidden
  const lastDense = kind === 'encoder' ? hidden ** 2 : 0
  return tables * (vocabulary * embeddingSize + projection) + lastDense
}

function stackParameters(shape: TransformerShape, layers: number, routedExperts: number): number {
  const attention = attentionParameters(shape)
  const feedForward = feedForwardParameters(shape, layers, routedExperts)
  const decoderLayers = shape.decoderLayers ?? 0
  const encoder = layers * (attention + 2 * shape.hidden) + feedForward
  const decoder = decoderLayers * (2 * attention + 3 * shape.hidden + oneFeedForward(shape, shape.feedForward))
  return encoder + decoder + shape.hidden
}

function attentionParameters(shape: TransformerShape): number {
  const { hidden, heads, keyValueHeads, headSize, latentAttention } = shape
  if (latentAttention === undefined) return 2 * hidden * (heads + keyValueHeads) * headSize
  const { queryRank, keyValueRank, rotarySize } = latentAttention
  const queryWidth = heads * (headSize + rotarySize)
  const query = queryRank === undefined ? hidden * queryWidth : queryRank * (hidden + queryWidth)
  const keyValue = hidden * (keyValueRank + rotarySize) + keyValueRank * heads * 2 * headSize
  return query + keyValue + heads * headSize * hidden
}

function feedForwardParameters(shape: TransformerShape, layers: number, routedExperts: number): number {
  const dense = oneFeedForward(shape, shape.feedForward)
  if (shape.experts === undefined) return layers * dense
  const { count, shared, feedForward, denseLayers } = shape.experts
  const router = shape.hidden * count
  const mixture = router + (routedExperts + shared) * oneFeedForward(shape, feedForward)
  return denseLayers * dense + (layers - denseLayers) * mixture
}

function oneFeedForward(shape: TransformerShape, width: number): number {
  return (shape.gatedFeedForward ? 3 : 2) * shape.hidden * width
}

/**
 * The model that a name means, or undefined: never a neighbour of another size or family. Understood are hub and file
 * paths, upper case, any separators, and endings that leave the shape as it is (`-chat-hf`, `-GPTQ`, `-v0.3`).
 */
export function findModel(name: string, models: ModelTable): Sourced<Model> | undefined {
  for (const spelling of spellingsOf(name)) {
    const found = models.find(spelling)
    if (found === undefined) continue
    const row = found.model.name
    return sourced(found.model, { kind: 'table', table: 'models.csv', row, source: found.source })
  }
  return undefined
}

/** Lower case, no separators but the one that keeps two numbers apart: `Llama_2-7B` and `llama2-7b` are `llama2-7b`. */
export function canonicalSpelling(name: string): string {
  return name
    .toLowerCase()
    .replace(/[-_ :]+/g, '-')
    .replace(/(?<!\d)-|-(?!\d)/g, '')
}

/**
 * The line of models.csv whose name or alias has this canonical spelling. A search over the text, since parsing every
 * row for one name would cost a quote more than all its arithmetic.
 */
export function findModelLine(csv: string, spelling: string): string | undefined {
  const pattern = Array.from(spelling, (letter, index) => separatorBefore(spelling, index) + escaped(letter)).join('')
  const anyName = new RegExp(`^(?:[^,;\\n]*,(?:[^,;\\n]*;)*)?${pattern}(?=[,;])`, 'm')
  const rows = csv.slice(csv.indexOf('\n') + 1)
  const start = anyName.exec(rows)?.index
  return start === undefined ? undefined : rows.slice(start).split('\n', 1)[0]
}

function separatorBefore(spelling: string, index: number): string {
  const neighbours = spelling.slice(Math.max(index - 1, 0), index + 1)
  return index === 0 || /\d\d|-/.test(neighbours) ? '' : '[-_]?'
}

function escaped(letter: string): string {
  return letter === '-' ? '[-_]' : letter.replace(/[^a-z0-9]/u, '\\$&')
}

/** Folders and files that say nothing about the model in them; their parent does. */
const namelessPart =
  /^(?:[0-9a-f]{40}|(?:checkpoint|step|global_step|epoch|iter)[-_]?\d+|snapshots|hf|main|original|final|best|last|merged|weights|(?:pytorch_)?model(?:\.[a-z]+)?|consolidated\.[\w.]+)$/

/** Endings that change what a model says, or how its weights are stored, but not its shape. */
const harmlessEnding =
  /-(?:hf|chat|instruct|it|base|pt|sft|dpo|rlhf|preview|gptq|awq|gguf|exl2|unsloth|bnb|nf4|int[48]|[48]-?bit|fp8|fp16|bf16|w\d+a\d+|dynamic|quantized|lora|qlora|\d+k|1m|deduped|finetuned.*)$/

/** Versions and dates after a size (`-7b-v0.3`, `-8B-Instruct-2410`); v2 and later may be another shape. */
const harmlessRelease = /(?<=-(?:\d+x)?\d+(?:\.\d+)?[bm](?:-.*)?)-(?:v0\.\d|v1(?:\.\d)?|\d{4})$/

/** Canonical spellings to look for, the most specific first. */
function spellingsOf(name: string): string[] {
  const spellings: string[] = []
  let rest: string | undefined = ownName(name)
  while (rest) {
    spellings.push(canonicalSpelling(rest))
    rest = withoutEnding(rest)
  }
  return spellings
}

/** No file has a longer name (NAME_MAX of Linux): what is longer names no model, and no time is spent on it. */
const longestName = 255

/** The part of a path or hub name that names the model, without what follows a dot (`.pt`, `.Q4_K_M.gguf`), or a colon in GGUF repositories (`:Q4_K_M`). */
function ownName(name: string): string {
  const parts = name.toLowerCase().split('/')
  const own = parts.findLast(part => part !== '' && !namelessPart.test(part))
  if (own === undefined || own.length > longestName) return ''
  return own
    .replace(/^models--.*--/, '')
    .replace(/(-gguf):\w+$/, '$1')
    .replace(/\.[a-z].*$/, '')
    .replace(/[_ :]/g, '-')
    .replace(/^meta-(?=llama)/, '')
}

function withoutEnding(name: string): string | undefined {
  const shorter = name.replace(harmlessEnding, '').replace(harmlessRelease, '')
  return shorter === name ? undefined : shorter
}

/** A row of models.csv: cells by column. */
type ModelRow = Readonly<Record<string, string>>

/** Reads one row of models.csv. A row that lacks a figure it must have is a fault of the table's. */
export function modelOf(row: ModelRow): Model {
  const shape = cell(row, 'layers') ? shapeOf(row) : undefined
  const gigaflops = optionalFigure(row, 'forward_gflops')
  const nativeSize = cell(row, 'native_size')
  const parameterCount = figure(row, 'params')
  return {
    name: cell(row, 'name') ?? rowFault(row, 'name', 'a name'),
    kind: kindOf(row),
    parameterCount,
    activeParameterCount: optionalFigure(row, 'active_params') ?? parameterCount,
    ...(shape && { shape }),
    ...(gigaflops && { forwardFlopsPerSample: gigaflops * 1e9 }),
    ...(nativeSize && { nativeSize }),
  }
}

function shapeOf(row: ModelRow): TransformerShape {
  const decoderLayers = optionalFigure(row, 'decoder_layers')
  const embeddingSize = optionalFigure(row, 'embedding_size')
  const distinctLayers = optionalFigure(row, 'distinct_layers')
  const patchSize = optionalFigure(row, 'patch_size')
  const experts = cell(row, 'experts') ? expertsOf(row) : undefined
  const latentAttention = cell(row, 'key_value_rank') ? latentAttentionOf(row) : undefined
  return {
    layers: figure(row, 'layers'),
    hidden: figure(row, 'hidden'),
    heads: figure(row, 'heads'),
    keyValueHeads: figure(row, 'kv_heads'),
    headSize: figure(row, 'head_size'),
    feedForward: figure(row, 'ffn'),
    gatedFeedForward: cell(row, 'gated') === 'yes',
    vocabulary: figure(row, 'vocab'),
    contextLength: figure(row, 'context'),
    tiedEmbeddings: cell(row, 'tied') === 'yes',
    ...(decoderLayers && { decoderLayers }),
    ...(embeddingSize && { embeddingSize }),
    ...(distinctLayers && { distinctLayers }),
    ...(patchSize && { patchSize }),
    ...(experts && { experts }),
    ...(latentAttention && { latentAttention }),
  }
}

function expertsOf(row: ModelRow): NonNullable<TransformerShape['experts']> {
  return {
    count: figure(row, 'experts'),
    perToken: figure(row, 'experts_per_token'),
    shared: optionalFigure(row, 'shared_experts') ?? 0,
    feedForward: figure(row, 'expert_ffn'),
    denseLayers: optionalFigure(row, 'dense_layers') ?? 0,
  }
}

function latentAttentionOf(row: ModelRow): NonNullable<TransformerShape['latentAttention']> {
  const queryRank = optionalFigure(row, 'query_rank')
  return {
    keyValueRank: figure(row, 'key_value_rank'),
    rotarySize: figure(row, 'rotary_size'),
    ...(queryRank && { queryRank }),
  }
}

const modelKinds: readonly ModelKind[] = [
  'decoder',
  'encoder',
  'encoder-decoder',
  'vision-transformer',
  'convolutional',
  'diffusion',
  'audio',
  'multimodal',
  'other',
]

function kindOf(row: ModelRow): ModelKind {
  return modelKinds.find(kind => kind === cell(row, 'kind')) ?? rowFault(row, 'kind', modelKinds.join(', '))
}

function figure(row: ModelRow, column: string): number {
  return optionalFigure(row, column) ?? rowFault(row, column, 'a number')
}

function optionalFigure(row: ModelRow, column: string): number | undefined {
  const text = cell(row, column)
  if (text === undefined) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : rowFault(row, column, 'a number')
}

/** What stands in a cell; an empty one says that the figure is unknown or has no meaning there. */
function cell(row: ModelRow, column: string): string | undefined {
  return row[column] || undefined
}

function rowFault(row: ModelRow, column: string, expected: string): never {
  const message = `models.csv: row "${cell(row, 'name')}", column "${column}" is "${cell(row, column) ?? ''}", expected ${expected}`
  throw new GpufareError(message, 1)
}
