import { expertParameterCount, type Flops, layerParameterCount, trainingFlops } from '../flops.ts'
import type { Gpu } from '../gpu.ts'
import type { Precision } from '../workload.ts'
import {
  allReduceSeconds,
  allToAllSeconds,
  gatherSeconds,
  type Hardware,
  type WireEfficiency,
} from './communication.ts'
import { type Plan, peakFlops } from './run-plan.ts'

/** Constants of the step model; fitted by pricing-data/scripts/fit-efficiency.ts, kept in pricing-data/efficiency.csv with their units. */
export interface StepEfficiency extends WireEfficiency {
  /** Shares of the dense peak that large matrix products and attention kernels reach. */
  readonly matrixShare: number
  readonly fp8MatrixShare: number
  /** The same for FP32 without tensor cores, whose small peak is easier to reach. */
  readonly vectorShare: number
  readonly attentionShare: number
  /** Share of the peak that convolutions reach, and the bytes they move for each FLOP. */
  readonly convolutionShare: number
  readonly convolutionBytesPerFlop: number
  /** Tokens of a micro-batch, and width of a tensor rank, at which matrix products reach half of that. */
  readonly halfEfficiencyTokens: number
  readonly halfEfficiencyWidth: number
  /** Bytes of activations that element-wise kernels move, for each token, layer and unit of width. */
  readonly elementwiseBytes: number
  /** Host time to launch one layer's kernels, forward and backward. */
  readonly launchSecondsPerLayer: number
  /** Share of the computation under which communication hides. */
  readonly overlapShare: number
  /** Bytes that the optimizer moves for each trained parameter on the GPU. */
  readonly optimizerBytes: number
}

/** One optimizer step, and what it is made of; the parts overlap, so they need not add up. */
export interface StepTime {
  readonly seconds: number
  readonly computeSeconds: number
  readonly communicationSeconds: number
  readonly bubbleSeconds: number
  readonly optimizerSeconds: number
}

/**
 * Seconds of one optimizer step: t_micro x (m + (p-1)/v), then what of the gradient exchange is not hidden, then the optimizer
 * (Narayanan et al., arXiv 2104.04473, section 2; the bubble of 1F1B and of the interleaved schedule).
 */
export function stepTime(plan: Plan, hardware: Hardware, efficiency: StepEfficiency): StepTime {
  const { split, microBatches } = plan
  const compute = microBatchCompute(plan, hardware, efficiency)
  const tensorSeconds = tensorExchange(plan, hardware, efficiency)
  const shardSeconds = exposed(
    weightGather(plan, hardware, efficiency) + expertExchange(plan, hardware, efficiency),
    compute,
    efficiency,
  )
  const micro = compute + tensorSeconds + shardSeconds
  const bubble = (micro * (split.pipeline - 1)) / Math.max(1, split.interleave)
  const gradientSeconds = exposed(gradientExchange(plan, hardware, efficiency), compute, efficiency)
  const optimizerSeconds = optimizerUpdate(plan, hardware.gpu, efficiency)
  return {
    seconds: micro * microBatches + bubble + gradientSeconds + optimizerSeconds,
    computeSeconds: compute * microBatches,
    communicationSeconds: (tensorSeconds + shardSeconds) * microBatches + gradientSeconds,
    bubbleSeconds: bubble,
    optimizerSeconds,
  }
}

function exposed(communication: number, compute: number, { overlapShare }: StepEfficiency): number {
  return Math.max(0, communication - overlapShare * compute)
}

/** Forward and backward of one micro-batch on one GPU. */
function microBatchCompute(plan: Plan, hardware: Hardware, efficiency: StepEfficiency): number {
  const flops = trainingFlops(plan.forwardPerSample, plan.method, plan.recompute)
  return computeSeconds(plan, hardware.gpu, efficiency, flops, plan.recompute === 'full' ? 4 : 3)
}

/**
 * One GPU's computation for a micro-batch of samples of so many FLOPs: matrix products, attention, and the element-wise kernels between
 * them, of which a training step has three passes and a forward pass one.
 */
export function computeSeconds(plan: Plan, gpu: Gpu, efficiency: StepEfficiency, flops: Flops, passes: number): number {
  const peak = peakFlops(gpu, plan.precision) ?? 0
  const share = plan.microBatch / (plan.split.tensor * plan.split.pipeline * plan.split.context)
  const { shape } = plan.model
  if (shape === undefined) {
    const work = (flops.matrix + flops.attention) * share
    const width = plan.precision === 'fp32' || plan.precision === 'tf32' ? 2 : 1
    const traffic = (work * efficiency.convolutionBytesPerFlop * width) / gpu.bandwidthBytesPerSecond
    const reached = plan.precision === 'fp32' ? efficiency.vectorShare : efficiency.convolutionShare
    return work / (peak * reached) + traffic
  }
  const tokens = (plan.microBatch * plan.tokensPerSample) / plan.split.context
  const width = shape.hidden / plan.split.tensor
  const filled =
    (tokens / (tokens + efficiency.halfEfficiencyTokens)) * (width / (width + efficiency.halfEfficiencyWidth))
  // Attention stays in 16 bits when the matrices go to FP8.
  const attentionPeak = plan.precision === 'fp8' ? (peakFlops(gpu, 'bf16') ?? peak) : peak
  const matrixSeconds = (flops.matrix * share) / (peak * matrixShareOf(plan.precision, efficiency) * filled)
  const attentionSeconds = (flops.attention * share) / (attentionPeak * efficiency.attentionShare)
  const layers = shape.layers / plan.split.pipeline
  const bytesPerLayer = tokens * width * efficiency.elementwiseBytes * (plan.precision === 'fp32' ? 2 : 1)
  const elementwiseSeconds = (layers * bytesPerLayer * passes) / 3 / gpu.bandwidthBytesPerSecond
  const launchSeconds = (layers * efficiency.launchSecondsPerLayer * passes) / 3
  return smoothMaximum(matrixSeconds + attentionSeconds + elementwiseSeconds, launchSeconds)
}

function matrixShareOf(precision: Precision, efficiency: StepEfficiency): number {
  if (precision === 'fp32') return efficiency.vectorShare
  return precision === 'fp8' ? efficiency.fp8MatrixShare : efficiency.matrixShare
}

/** Host and GPU work side by side; where both take alike, neither hides the other quite. */
function smoothMaximum(a: number, b: number): number {
  return (a ** 3 + b ** 3) ** (1 / 3)
}

/** Four all-reduces of the activations for each layer, six where the forward pass is repeated (Shoeybi et al., arXiv 1909.08053). */
function tensorExchange(plan: Plan, hardware: Hardware, efficiency: StepEfficiency): number {
  const { tensor, pipeline, context } = plan.split
  const { shape } = plan.model
  if (tensor === 1 || shape === undefined) return 0
  const bytes = (2 * plan.microBatch * plan.tokensPerSample * shape.hidden) / context
  const exchanges = plan.recompute === 'full' ? 6 : 4
  return (shape.layers / pipeline) * exchanges * allReduceSeconds(bytes, tensor, hardware, efficiency)
}

/** Tokens go to their experts and back in the forward pass, and the same way in the backward pass (Lepikhin et al., arXiv 2006.16668). */
function expertExchange(plan: Plan, hardware: Hardware, efficiency: StepEfficiency): number {
  const { expert, pipeline, context } = plan.split
  const { shape } = plan.model
  if (expert === 1 || shape?.experts === undefined) return 0
  const bytes = (2 * plan.microBatch * plan.tokensPerSample * shape.hidden) / context
  const exchanges = plan.recompute === 'full' ? 6 : 4
  const layers = (shape.layers - shape.experts.denseLayers) / pipeline
  return layers * exchanges * allToAllSeconds(bytes, shape.experts.perToken, expert, hardware, efficiency)
}

/** Sharded weights are gathered for the forward and the backward pass of every micro-batch, gradients scattered once. */
function weightGather(plan: Plan, hardware: Hardware, efficiency: StepEfficiency): number {
  if (plan.split.sharding !== 'weights') return 0
  const bytes = 2 * localParameterCount(plan)
  return (plan.method === 'full' ? 3 : 2) * gatherSeconds(bytes, plan.split.data, hardware, efficiency)
}

function gradientExchange(plan: Plan, hardware: Hardware, efficiency: StepEfficiency): number {
  if (plan.split.sharding === 'weights') return 0
  const bytesPerGradient = plan.split.sharding === 'none' ? 4 : 2
  return allReduceSeconds(trainedParameterCount(plan) * bytesPerGradient, plan.split.data, hardware, efficiency)
}

function optimizerUpdate(plan: Plan, gpu: Gpu, efficiency: StepEfficiency): number {
  const ranks = plan.split.sharding === 'none' ? 1 : plan.split.data
  const parameters = trainedParameterCount(plan) / ranks
  const rate = plan.cpuOffload ? hostBytesPerSecond : gpu.bandwidthBytesPerSecond
  return (parameters * efficiency.optimizerBytes) / rate
}

/** What the host's own memory gives one of eight ranks that update their parameters on the CPU. */
const hostBytesPerSecond = 25e9

/** Weights of one rank's part of the model, sharded or not; of the experts those that stand on its GPU. */
function localParameterCount({ model, split }: Plan): number {
  const experts = model.shape === undefined ? 0 : expertParameterCount(model.shape)
  return (model.parameterCount - experts * (1 - 1 / split.expert)) / (split.tensor * split.pipeline)
}

function trainedParameterCount(plan: Plan): number {
  if (plan.method === 'full') return localParameterCount(plan)
  const { shape } = plan.model
  // A LoRA adapter of rank 16 on every matrix is about 16 x 2 / hidden of the layer.
  return shape === undefined ? 0 : (shape.layers * layerParameterCount(shape) * 32) / shape.hidden / plan.split.pipeline
}
