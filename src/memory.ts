import { layerParameterCount } from './flops.ts'
import type { Gpu } from './gpu.ts'
import type { Model, TransformerShape } from './model.ts'
import { bytesPerGib } from './units.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from './workload.ts'

/** Whether one GPU's memory holds its share of the work. */
export interface MemoryFit {
  readonly verdict: 'fits' | 'tight' | 'does not fit' | 'unknown'
  /** With what is not said taken as frameworks have it by default; absent where the batch or the sequence is not known. */
  readonly needBytes?: number
  /** With what is not said as lean as it could be: what certainly is needed. */
  readonly leastBytes?: number
  /** What the driver and its allocator leave of the card; absent where the GPU is not known. */
  readonly haveBytes?: number
  /** What the need is made of, largest first. */
  readonly items: readonly MemoryItem[]
  /** What nobody said, and what `needBytes` takes for it. */
  readonly assumed?: readonly string[]
}

/** One part of the need. */
export interface MemoryItem {
  readonly what: string
  readonly bytes: number
}

/** An "80 GB" A100 shows 79.2 GiB to its programs, and the caching allocator loses 2 to 3 % to fragments. */
const usableShare = 0.97

/** A fit that fills more than this share of what is usable is called tight. */
const tightShare = 0.9

/** CUDA context and kernels: 0.5 to 1.8 GB on GPUs of 2017 to 2024. */
const contextBytes = 1 * bytesPerGib

/** NCCL's buffers: about 1 GB inside a machine, up to 2 GB where there is a network between. */
const collectiveBytes = { oneMachine: 1 * bytesPerGib, severalMachines: 1.5 * bytesPerGib }

/** Bytes of a weight kept in NF4 with its block scales (Dettmers et al., arXiv 2305.14314). */
const nf4BytesPerWeight = 0.5625

/**
 * Bytes of one token and vocabulary entry: 16-bit logits, their FP32 copy and its gradient; the stock loss of transformers keeps one copy
 * more, a fused loss none.
 */
const logitBytes = { usual: 10, transformers: 16, fused: 2 }

/** What the leanest of runs keep of the usual activations: a formula's own error, and selective recompute of every other product. */
const leanActivations = 0.85
const leanSelective = 0.36

/**
 * Activations that a network without a transformer's shape keeps, in bytes of 16-bit numbers for each forward FLOP. ResNet-50 keeps
 * about 50 MB of an image and computes 8.2 GFLOP (batch 256 fits a 16 GB V100, batch 1280 an 80 GB A100). The wide layers of diffusion
 * models compute more with each number: SDXL's 10 blocks of 4,096 x 640 and 60 of 1,024 x 1,280 (Podell et al., arXiv 2307.01952) keep
 * about 60 bytes of each, with its convolutions 7 GB of an image of 1024 px for 6 TFLOP.
 */
const activationBytesPerFlop = { usual: 0.0062, diffusion: 0.0012 }

/** Such a figure may be this much too large. */
const leanFigure = 0.4

/** What checkpoints leave of a network's activations: 7 of 48 GB of a ResNet of 1,000 layers (Chen et al., arXiv 1604.06174). */
const checkpointedShare = 7 / 48

/** Whisper's encoder sees 30 s as 1,500 frames, whatever the length of the text (Radford et al., arXiv 2212.04356). */
const audioFrames = 1_500

/** Adapter rank where none is said: peft's examples. */
const usualLoraRank = 16

/**
 * What the manifest leaves open: taken as frameworks have it by default, or as lean as it could be. A job that does not fit even
 * then does not fit; one that fits only then is unknown.
 */
type Reading = 'usual' | 'leanest'

/**
 * Whether a GPU's memory holds its share of a run, item by item. Formulas: Korthikanti et al., arXiv 2205.05198 (activations);
 * Rajbhandari et al., arXiv 1910.02054 (sharded states). The global batch stays as it is whatever the number of GPUs.
 */
export function fitMemory(workload: Workload, gpu: Gpu, gpuCount: number, gpusPerMachine: number): MemoryFit {
  const haveBytes = gpu.memoryBytes * usableShare
  const model = workload.model?.value
  if (model === undefined) return { verdict: 'unknown', haveBytes, items: [] }

  const machines = gpuCount > gpusPerMachine ? 'severalMachines' : 'oneMachine'
  const collectives = gpuCount > 1 ? collectiveBytes[machines] : 0
  const fixed = { what: 'CUDA context and NCCL', bytes: contextBytes + collectives }
  const needOf = (reading: Reading): Need => {
    const split = splitOf(workload, model, gpu, gpuCount, reading)
    const need =
      workload.purpose === 'train'
        ? trainingNeed(model, workload, split, reading)
        : inferenceNeed(model, workload, split)
    return { ...need, items: [...need.items, fixed] }
  }

  const usual = needOf('usual')
  const needBytes = usual.complete ? sumBytes(usual.items) : undefined
  const leastBytes = sumBytes(needOf('leanest').items)
  return {
    verdict: verdictOf(needBytes, leastBytes, haveBytes),
    ...(needBytes !== undefined && { needBytes }),
    leastBytes,
    haveBytes,
    items: usual.items.filter(item => item.bytes > 0).sort((a, b) => b.bytes - a.bytes),
    assumed: workload.purpose === 'train' ? assumptionsOf(model, workload, usual.split) : [],
  }
}

/** What the usual reading takes for granted, in words. */
function assumptionsOf(model: Model, workload: Workload, split: Split): string[] {
  const { parallelism, activationRecompute, flashAttention, optimizer, precision, microBatch, gradientAccumulation } =
    workload
  const isOpen = split.data > 1 && (parallelism === undefined || parallelism.value.sharding === 'unknown')
  return [
    ...(precision === undefined ? ['32-bit numbers'] : []),
    ...(optimizer === undefined ? [model.kind === 'convolutional' ? 'SGD with momentum' : 'Adam'] : []),
    ...(isOpen ? [split.sharding === 'weights' ? 'weights and optimizer sharded' : 'nothing sharded'] : []),
    ...(microBatch === undefined && gradientAccumulation === undefined ? ['no gradient accumulation'] : []),
    ...(activationRecompute === undefined ? ['activations kept, not recomputed'] : []),
    ...(flashAttention === undefined && model.shape !== undefined
      ? ['attention scores not stored (SDPA or flash: the default of transformers since 4.36)']
      : []),
  ]
}

function verdictOf(needBytes: number | undefined, leastBytes: number, haveBytes: number): MemoryFit['verdict'] {
  if (leastBytes > haveBytes) return 'does not fit'
  if (needBytes === undefined || needBytes > haveBytes) return 'unknown'
  return needBytes > haveBytes * tightShare ? 'tight' : 'fits'
}

/** Items of the need; incomplete where a part of it cannot be known. */
interface Need {
  readonly items: readonly MemoryItem[]
  readonly complete: boolean
  readonly split: Split
}

/** How the work is cut for one GPU. */
interface Split extends Parallelism {
  readonly data: number
}

function splitOf(workload: Workload, model: Model, gpu: Gpu, gpuCount: number, reading: Reading): Split {
  const known = workload.parallelism?.value ?? {
    tensor: 1,
    pipeline: 1,
    interleave: 1,
    context: 1,
    expert: 1,
    sharding: 'unknown',
  }
  // A candidate with fewer GPUs than the stages need is refused elsewhere; here its shares just get larger.
  const tensor = Math.min(known.tensor, gpuCount)
  const pipeline = Math.max(1, Math.min(known.pipeline, Math.floor(gpuCount / tensor)))
  const data = Math.max(1, Math.floor(gpuCount / (tensor * pipeline * known.context)))
  const method = workload.method?.value ?? 'full'
  const guess = reading === 'leanest' ? 'weights' : usualSharding(model, method, gpu, data, tensor * pipeline)
  return { ...known, tensor, pipeline, data, sharding: known.sharding === 'unknown' ? guess : known.sharding }
}

/** Mixed precision keeps 16 bytes a parameter; more than this share of the card and data parallelism has to shard (arXiv 1910.02054). */
export const stateBytesPerParameter = 16
const stateShareOfMemory = 0.8

/** How data-parallel ranks share their states where nobody said: not at all, unless whole they would not fit. */
export function usualSharding(
  model: Model,
  method: TrainingMethod,
  gpu: Gpu,
  data: number,
  modelRanks: number,
): 'none' | 'weights' {
  const stateBytes = model.parameterCount * (method === 'full' ? stateBytesPerParameter : 2)
  return data > 1 && stateBytes / modelRanks > roomForStates(gpu) ? 'weights' : 'none'
}

/** Bytes of a card that weights, gradients and optimizer may fill. */
export function roomForStates(gpu: Gpu): number {
  return stateShareOfMemory * gpu.memoryBytes
}

function trainingNeed(model: Model, workload: Workload, split: Split, reading: Reading): Need {
  const states = stateItems(model, workload, split, reading)
  const activations = activationItems(model, workload, split, reading)
  return { items: [...states, ...(activations ?? [])], complete: activations !== undefined, split }
}

/** Weights, gradients and optimizer states. Mixed precision keeps 16-bit weights and gradients and an FP32 master copy. */
function stateItems(model: Model, workload: Workload, split: Split, reading: Reading): MemoryItem[] {
  const { sharding, data } = split
  const modelShare = 1 / (split.tensor * split.pipeline)
  const weightBytes = bytesPerNumber(workload.precision?.value)
  const method = workload.method?.value ?? 'full'
  const trained = method === 'full' ? model.parameterCount : adapterParameterCount(model, workload, reading)
  const masterBytes = weightBytes === 4 || (reading === 'leanest' && mayLackMaster(workload, sharding)) ? 0 : 4

  const weights = method === 'qlora' ? quantisedWeightBytes(model) : model.parameterCount * weightBytes
  const adapters = method === 'full' ? 0 : trained * weightBytes
  const shardedBy = (from: Parallelism['sharding'][]): number => (from.includes(sharding) ? 1 / data : 1)
  const onGpu = workload.cpuOffload?.value === true ? 0 : 1
  const weightsOnGpu = onGpu === 0 && sharding === 'weights' && reading === 'leanest' ? 0 : 1
  return [
    { what: 'weights', bytes: (weights + adapters) * modelShare * shardedBy(['weights']) * weightsOnGpu },
    { what: 'gradients', bytes: trained * weightBytes * modelShare * shardedBy(['weights', 'gradients']) * onGpu },
    {
      what: 'optimizer',
      bytes:
        trained *
        (masterBytes + momentBytes(model, workload, sharding, reading)) *
        modelShare *
        shardedBy(['weights', 'gradients', 'optimizer']) *
        onGpu,
    },
    {
      what: 'gathered layers',
      bytes: sharding === 'weights' && data > 1 ? gatheredBytes(model, weights) / split.tensor : 0,
    },
  ]
}

/**
 * BF16 can be trained without an FP32 copy of the weights (torchtune, or a model loaded in BF16); FP16 cannot, and the optimizers that
 * Megatron-LM and DeepSpeed shard always keep one.
 */
function mayLackMaster(workload: Workload, sharding: Parallelism['sharding']): boolean {
  const isSharded = sharding === 'optimizer' || sharding === 'gradients'
  return !isSharded && (workload.precision === undefined || workload.precision.value === 'bf16')
}

function bytesPerNumber(precision: Precision | undefined): number {
  return precision === undefined || precision === 'fp32' || precision === 'tf32' ? 4 : 2
}

/** Optimizer states beside the master copy, bytes per trained parameter: two FP32 moments of Adam, one of SGD. */
function momentBytes(model: Model, workload: Workload, sharding: Parallelism['sharding'], reading: Reading): number {
  switch (workload.optimizer?.value) {
    case 'adam':
      return reading === 'leanest' && mayLackMaster(workload, sharding) ? 4 : 8
    case 'adam-8bit':
      // Paged, its states go to the host when the card is full (Dettmers et al., arXiv 2305.14314).
      return reading === 'leanest' ? 0 : 2
    case 'sgd':
      return 4
    case 'adafactor':
      return 0
    default:
      if (reading === 'leanest') return model.kind === 'convolutional' ? 0 : 2
      return model.kind === 'convolutional' ? 4 : 8
  }
}

/** Two layers at their full width: one at work, one fetched ahead (Zhao et al., arXiv 2304.11277). */
function gatheredBytes(model: Model, weights: number): number {
  const { shape } = model
  if (shape === undefined) return 0
  const bytesPerWeight = Math.min(2, weights / model.parameterCount)
  return Math.max(2 * layerParameterCount(shape) * bytesPerWeight, shape.vocabulary * shape.hidden * 2)
}

/** QLoRA quantises the layers' matrices; embeddings and the output layer stay in 16 bits. */
function quantisedWeightBytes(model: Model): number {
  const { shape } = model
  const kept = shape === undefined ? 0 : shape.vocabulary * shape.hidden * (shape.tiedEmbeddings ? 1 : 2)
  return (model.parameterCount - kept) * nf4BytesPerWeight + kept * 2
}

/** LoRA adds rank x (in + out) to each matrix it adapts: all of them, or at the least query and value (Hu et al., arXiv 2106.09685). */
function adapterParameterCount(model: Model, workload: Workload, reading: Reading): number {
  const rank = workload.loraRank?.value ?? usualLoraRank
  const { shape } = model
  if (shape === undefined) return 0.001 * rank * model.parameterCount * (reading === 'leanest' ? 0.1 : 1)
  const { hidden } = shape
  const attentionWidth = shape.heads * shape.headSize
  const keyValueWidth = shape.keyValueHeads * shape.headSize
  const queryAndValue = 2 * hidden + attentionWidth + keyValueWidth
  if (reading === 'leanest') return shape.layers * rank * queryAndValue
  const feedForward = (shape.gatedFeedForward ? 3 : 2) * (hidden + shape.feedForward)
  return shape.layers * rank * (2 * queryAndValue + feedForward)
}

function activationItems(model: Model, workload: Workload, split: Split, reading: Reading): MemoryItem[] | undefined {
  const samples = samplesPerGpu(workload, split.data, reading)
  if (samples === undefined) return undefined
  const { shape } = model
  if (shape === undefined) {
    const perSample = shapelessActivationBytes(model, workload, reading)
    return perSample === undefined ? undefined : [{ what: 'activations', bytes: samples * perSample }]
  }
  const sequence = sequenceOf(model, shape, workload)
  if (sequence === undefined) return undefined
  const tokens = (samples * sequence) / split.context
  const vocabulary = model.kind === 'decoder' || model.kind === 'encoder-decoder' ? shape.vocabulary : 0
  return [
    { what: 'activations', bytes: transformerActivationBytes(shape, tokens, sequence, workload, split, reading) },
    { what: 'logits', bytes: (tokens * vocabulary * bytesPerLogit(workload, reading)) / split.tensor },
  ]
}

/** Activations of one sample of a network of known FLOPs; undefined where they are not known. */
function shapelessActivationBytes(model: Model, workload: Workload, reading: Reading): number | undefined {
  if (model.forwardFlopsPerSample === undefined) return undefined
  const isLeanest = reading === 'leanest'
  const figure =
    activationBytesPerFlop[model.kind === 'diffusion' ? 'diffusion' : 'usual'] * (isLeanest ? leanFigure : 1)
  const recompute = workload.activationRecompute?.value ?? (isLeanest ? 'full' : 'none')
  const kept = recompute === 'none' ? 1 : checkpointedShare
  return (model.forwardFlopsPerSample * figure * kept * bytesPerNumber(workload.precision?.value)) / 2
}

function bytesPerLogit(workload: Workload, reading: Reading): number {
  if (workload.framework?.value === 'hf-trainer') return logitBytes.transformers
  return reading === 'leanest' ? logitBytes.fused : logitBytes.usual
}

/** Tokens of a sample; an image has as many patches as the model's input, and 30 s of sound as many frames. */
function sequenceOf({ kind }: Model, shape: TransformerShape, workload: Workload): number | undefined {
  if (kind === 'audio') return audioFrames
  return workload.sequenceLength?.value ?? (kind === 'vision-transformer' ? shape.contextLength : undefined)
}

/** Samples in flight on one GPU; undefined where neither micro-batch nor global batch is known. */
function samplesPerGpu(workload: Workload, data: number, reading: Reading): number | undefined {
  const share = workload.globalBatch === undefined ? undefined : Math.max(1, workload.globalBatch.value / data)
  if (workload.microBatch !== undefined) return Math.min(workload.microBatch.value, share ?? Number.POSITIVE_INFINITY)
  if (share === undefined) return undefined
  if (workload.gradientAccumulation !== undefined) return Math.max(1, share / workload.gradientAccumulation.value)
  return reading === 'leanest' ? 1 : share
}

/**
 * Activations of the first pipeline stage, which holds a whole network's worth of layers of micro-batches (1F1B). Bytes per token and
 * layer: 18·h + 4·f for a plain block, 24·h + 8·f for a gated one (45·h measured on Llama 2), attention scores 5·a·s where they are stored.
 */
function transformerActivationBytes(
  shape: TransformerShape,
  tokens: number,
  sequence: number,
  workload: Workload,
  split: Split,
  reading: Reading,
): number {
  const width = bytesPerNumber(workload.precision?.value) / 2
  const recompute = workload.activationRecompute?.value ?? (reading === 'leanest' ? 'full' : 'none')
  const flash = workload.flashAttention?.value ?? true
  const { hidden, experts, heads } = shape
  // A decoder layer keeps a second attention, about a third of what a layer keeps.
  const layers = shape.layers + (4 / 3) * (shape.decoderLayers ?? 0)
  const { tensor, pipeline, interleave } = split
  const feedForward =
    experts === undefined ? shape.feedForward : (experts.perToken + experts.shared) * experts.feedForward
  const block = shape.gatedFeedForward ? 24 * hidden + 8 * feedForward : 18 * hidden + 4 * feedForward

  const isLeanest = reading === 'leanest'
  // Without sequence parallelism the norms and dropouts, 10·h, and what is kept for recompute stand whole on every tensor rank.
  const whole = isLeanest || tensor === 1 ? 0 : 10 * hidden
  const divided = (isLeanest ? leanActivations : 1) * (whole + (block - whole) / tensor)
  const scores = flash || recompute !== 'none' ? 0 : (5 * heads * sequence) / tensor
  const stages = layers * (1 + (interleave > 1 ? (pipeline - 1) / (pipeline * interleave) : 0))
  const inputs = (2 * hidden) / (isLeanest ? tensor : 1)
  if (recompute === 'full') return tokens * width * (inputs * stages + divided)
  const kept = recompute === 'selective' && isLeanest ? leanSelective : 1
  return tokens * width * (divided * kept + scores) * stages
}

/** Weights and the KV cache of the known batch; an engine that fills the card with cache takes what is left. */
function inferenceNeed(model: Model, workload: Workload, split: Split): Need {
  const shards = split.tensor * split.pipeline * (split.sharding === 'weights' ? split.data : 1)
  const weightBytes = workload.precision?.value === 'fp8' ? 1 : bytesPerNumber(workload.precision?.value ?? 'fp16')
  const bits = workload.weightBits?.value
  const plain = model.parameterCount * (bits === undefined ? weightBytes : bits / 8)
  const weights = workload.method?.value === 'qlora' ? quantisedWeightBytes(model) : plain
  const { shape } = model
  const samples = workload.microBatch?.value ?? workload.globalBatch?.value ?? 1
  const sequence = workload.sequenceLength?.value ?? 0
  const cachePerToken = shape === undefined ? 0 : 2 * shape.layers * shape.keyValueHeads * shape.headSize * 2
  return {
    items: [
      { what: 'weights', bytes: weights / shards },
      { what: 'KV cache', bytes: (samples * sequence * cachePerToken) / (split.tensor * split.pipeline) },
    ],
    complete: true,
    split,
  }
}

function sumBytes(items: readonly MemoryItem[]): number {
  return items.reduce((sum, item) => sum + item.bytes, 0)
}
