import { expertParameterCount, type Flops, forwardFlopsPerSample } from '../flops.ts'
import type { Gpu } from '../gpu.ts'
import { fitMemory, roomForStates, stateBytesPerParameter, usualSharding } from '../memory.ts'
import type { Model } from '../model.ts'
import { sourced } from '../sourced.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../workload.ts'
import type { Hardware } from './communication.ts'

/** How a run is laid out on its GPUs: what the workload says, and what was assumed where it does not. */
export interface Plan {
  readonly model: Model
  readonly tokensPerSample: number
  readonly forwardPerSample: Flops
  readonly method: TrainingMethod
  readonly precision: Precision
  readonly recompute: 'none' | 'selective' | 'full'
  readonly split: Parallelism & { readonly data: number }
  readonly globalBatch: number
  readonly microBatch: number
  /** Micro-batches one data-parallel rank works through in a step. */
  readonly microBatches: number
  readonly cpuOffload: boolean
  /** The micro-batch follows from what the workload says. */
  readonly isBatchKnown: boolean
  /** What nobody said, and what was taken for it. */
  readonly assumed: readonly string[]
}

/** Tokens per GPU of a micro-batch where none is known: common recipes use 4k to 32k. */
const usualMicroBatchTokens = 8_192

/** Samples per GPU of a micro-batch for networks that are no transformers. */
const usualMicroBatchSamples = 64

/** Micro-batches for each pipeline stage where nobody said: with fewer the stages idle for much of the time. */
const usualMicroBatchesPerStage = 8

/** A sequence length nobody said. */
const usualSequenceLength = 1_024

/** Forward FLOPs per parameter of networks without a known count: ResNet-50 does 320, VGG-16 220, EfficientNet-B4 440. */
const usualFlopsPerParameter = 300

/** Sharded weights are gathered for every micro-batch; past a few hundred GPUs that no longer hides under the computation. */
const mostShardingGpus = 512

/** Stages of the longest pipeline that is assumed; published runs seldom have more. */
const longestUsualPipeline = 16

/** How the run would be laid out on these GPUs; undefined where the model is unknown or the GPU cannot compute in its precision. */
export function planRun(workload: Workload, hardware: Hardware): Plan | undefined {
  const { gpu } = hardware
  const named = workload.model?.value
  if (named === undefined) return undefined
  const assumed: string[] = []
  const model = withShape(named, assumed)
  const usualPrecision = gpu.flopsPerSecond.bf16 === undefined ? 'fp16' : 'bf16'
  const precision = workload.precision?.value ?? usualPrecision
  if (workload.precision === undefined) assumed.push(`mixed precision, ${precision}`)
  if (peakFlops(gpu, precision) === undefined) return undefined
  const tokensPerSample = tokensOf(model, workload, assumed)
  const method = workload.method?.value ?? 'full'
  const split = splitOver(hardware, model, method, workload, assumed)
  const batches = batchesOf(workload, split, tokensPerSample, assumed)
  const laidOut = { model, tokensPerSample, precision, split, microBatch: batches.microBatch }
  return {
    model,
    tokensPerSample,
    forwardPerSample: forwardOf(model, tokensPerSample),
    method,
    precision,
    recompute: workload.activationRecompute?.value ?? usualRecompute(workload, hardware, laidOut, assumed),
    split,
    ...batches,
    cpuOffload: workload.cpuOffload?.value ?? false,
    isBatchKnown: workload.microBatch !== undefined || workload.globalBatch !== undefined,
    assumed,
  }
}

/** Activations are kept where nobody said, unless they do not fit: then whoever runs it has them recomputed. */
function usualRecompute(
  workload: Workload,
  { gpu, gpuCount, gpusPerMachine }: Hardware,
  laidOut: Pick<Plan, 'model' | 'tokensPerSample' | 'precision' | 'split' | 'microBatch'>,
  assumed: string[],
): Plan['recompute'] {
  const taken = <T>(value: T) => sourced(value, { kind: 'assumed', reason: 'how the run would be laid out' })
  const kept: Workload = {
    ...workload,
    model: taken(laidOut.model),
    precision: taken(laidOut.precision),
    sequenceLength: taken(laidOut.tokensPerSample),
    microBatch: taken(laidOut.microBatch),
    parallelism: taken(laidOut.split),
    activationRecompute: taken('none'),
  }
  const { needBytes = 0, haveBytes = Number.POSITIVE_INFINITY } =
    workload.purpose === 'train' ? fitMemory(kept, gpu, gpuCount, gpusPerMachine) : {}
  const recompute = needBytes > haveBytes ? 'full' : 'none'
  assumed.push(
    recompute === 'none' ? 'activations kept, not recomputed' : 'activations recomputed, since kept they do not fit',
  )
  return recompute
}

/** Dense peak in the precision really used; FP16 on a GPU without tensor cores runs at its FP32 rate. Undefined = it cannot. */
export function peakFlops(gpu: Gpu, precision: Precision): number | undefined {
  const { flopsPerSecond } = gpu
  if (precision === 'tf32') return flopsPerSecond.tf32 ?? flopsPerSecond.fp32
  if (precision === 'fp16') return flopsPerSecond.fp16 ?? flopsPerSecond.fp32
  return flopsPerSecond[precision]
}

/**
 * A decoder of which only the size is known, as one of usual proportions: N = 12·L·h² (Kaplan et al., arXiv 2001.08361) with 128 units of
 * width for each layer, about what GPT-3 and Llama have.
 */
function withShape(model: Model, assumed: string[]): Model {
  if (model.kind !== 'decoder' || model.shape !== undefined) return model
  const layers = Math.max(1, Math.round(Math.cbrt(model.activeParameterCount / 12 / 128 ** 2)))
  const hidden = 128 * layers
  assumed.push(`${layers} layers of width ${hidden}, usual for this size`)
  const heads = { heads: layers, keyValueHeads: layers, headSize: 128 }
  const rest = { vocabulary: 32_000, contextLength: usualSequenceLength, gatedFeedForward: false, tiedEmbeddings: true }
  return { ...model, shape: { layers, hidden, ...heads, feedForward: 4 * hidden, ...rest } }
}

/** Tokens of a sample; 1 for networks whose samples are no sequences. */
function tokensOf(model: Model, workload: Workload, assumed: string[]): number {
  if (model.shape === undefined && model.forwardFlopsPerSample !== undefined) return 1
  const known = workload.sequenceLength?.value ?? (hasFixedLength(model) ? model.shape?.contextLength : undefined)
  if (known !== undefined) return known
  if (model.shape === undefined && !isLanguageModel(model)) return 1
  assumed.push(`sequence length ${usualSequenceLength}`)
  return usualSequenceLength
}

/** Patches of an image or frames of audio: every sample is as long as the model's input. */
function hasFixedLength({ kind }: Model): boolean {
  return kind === 'vision-transformer' || kind === 'audio'
}

function isLanguageModel({ kind }: Model): boolean {
  return kind === 'decoder' || kind === 'encoder' || kind === 'encoder-decoder'
}

function forwardOf(model: Model, tokensPerSample: number): Flops {
  const isCounted = model.shape !== undefined || model.forwardFlopsPerSample !== undefined || isLanguageModel(model)
  const counted = isCounted ? forwardFlopsPerSample(model, tokensPerSample) : undefined
  return counted ?? { matrix: usualFlopsPerParameter * model.activeParameterCount, attention: 0 }
}

function splitOver(
  hardware: Hardware,
  model: Model,
  method: TrainingMethod,
  workload: Workload,
  assumed: string[],
): Plan['split'] {
  const { gpu, gpuCount } = hardware
  const known = workload.parallelism?.value ?? usualSplit(hardware, model, workload, assumed)
  const tensor = Math.min(known.tensor, gpuCount)
  const pipeline = Math.max(1, Math.min(known.pipeline, Math.floor(gpuCount / tensor)))
  const context = Math.max(1, Math.min(known.context, Math.floor(gpuCount / (tensor * pipeline))))
  const data = Math.max(1, Math.floor(gpuCount / (tensor * pipeline * context)))
  const expert = workload.parallelism?.value.expert ?? usualExpertParallel(hardware, model, data, assumed)
  if (known.sharding !== 'unknown') return { ...known, tensor, pipeline, context, expert, data }
  const sharding = usualSharding(model, method, gpu, data, tensor * pipeline)
  if (data > 1)
    assumed.push(sharding === 'weights' ? 'weights sharded, since whole they do not fit' : 'plain data parallel')
  return { ...known, tensor, pipeline, context, expert, data, sharding }
}

/**
 * A layout nobody said. Data parallel as far as the global batch has samples and gathering sharded weights hides (a few hundred GPUs);
 * beyond that the GPUs of a machine share each layer, and several machines the layers, as Megatron-LM runs do (arXiv 2104.04473).
 */
function usualSplit(
  { gpu, gpuCount, gpusPerMachine }: Hardware,
  model: Model,
  workload: Workload,
  assumed: string[],
): Parallelism {
  const batch = workload.globalBatch?.value ?? gpuCount
  const stateBytes = model.parameterCount * stateBytesPerParameter
  const roomBytes = roomForStates(gpu)
  const isWide = stateBytes > roomBytes && gpuCount > mostShardingGpus
  if (!isWide && gpuCount <= batch) {
    return { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'unknown' }
  }
  // A mixture of experts spreads its experts over the machine instead of cutting each layer (arXiv 2412.19437, section 3.2).
  const widest = model.shape?.experts === undefined ? gpusPerMachine : 1
  const tensor = isWide ? widest : Math.min(gpusPerMachine, powerOfTwo(gpuCount / batch))
  const forMemory = powerOfTwo(stateBytes / (roomBytes * tensor))
  const forBatch = powerOfTwo(gpuCount / (tensor * batch))
  const pipeline = Math.min(longestUsualPipeline, Math.max(1, forMemory, forBatch))
  assumed.push(`tensor parallel ${tensor}, pipeline ${pipeline}`)
  return { tensor, pipeline, interleave: pipeline > 1 ? 2 : 1, context: 1, expert: 1, sharding: 'optimizer' }
}

/** Part of a card that one GPU's experts may fill: with less DeepSeek-V3 would need more than its 64 GPUs (arXiv 2412.19437, section 3.2). */
const expertShareOfMemory = 0.3

/** Experts stand on the GPUs of one machine, or on as many machines as hold them; nobody gathers them all on each GPU. */
function usualExpertParallel({ gpu, gpusPerMachine }: Hardware, model: Model, data: number, assumed: string[]): number {
  const { shape } = model
  if (shape?.experts === undefined || data === 1) return 1
  const forMemory = powerOfTwo((2 * expertParameterCount(shape)) / (expertShareOfMemory * gpu.memoryBytes))
  const expert = Math.min(data, shape.experts.count, Math.max(gpusPerMachine, forMemory))
  assumed.push(`experts spread over ${expert} GPUs`)
  return expert
}

function powerOfTwo(atLeast: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(atLeast)))
}

/** A pipeline works through single samples, so that its stages seldom idle. */
function usualMicroBatch(tokensPerSample: number, pipeline: number): number {
  if (tokensPerSample === 1) return usualMicroBatchSamples
  return pipeline > 1 ? 1 : Math.max(1, Math.floor(usualMicroBatchTokens / tokensPerSample))
}

/** The global batch stays as it is on any number of GPUs; only what one GPU takes of it at a time changes. */
function batchesOf(
  workload: Workload,
  { data, pipeline }: Plan['split'],
  tokensPerSample: number,
  assumed: string[],
): { globalBatch: number; microBatch: number; microBatches: number } {
  const usual = usualMicroBatch(tokensPerSample, pipeline)
  const accumulation = workload.gradientAccumulation?.value
  const total = workload.globalBatch?.value
  const share = total === undefined ? undefined : Math.max(1, total / data)
  const derived = share === undefined || accumulation === undefined ? undefined : Math.max(1, share / accumulation)
  const wished = workload.microBatch?.value ?? derived ?? usual
  const microBatch = Math.min(wished, share ?? wished)
  if (workload.microBatch === undefined && derived === undefined) assumed.push(`micro-batch ${microBatch}`)
  const usualAccumulation = pipeline > 1 ? pipeline * usualMicroBatchesPerStage : 1
  const globalBatch = total ?? microBatch * data * (accumulation ?? usualAccumulation)
  if (total === undefined) assumed.push(`global batch ${globalBatch}`)
  return { globalBatch, microBatch, microBatches: Math.max(1, globalBatch / (microBatch * data)) }
}
