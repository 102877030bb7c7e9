import type { Hardware } from './communication.ts'
import type { Plan } from './run-plan.ts'
import { peakFlops } from './run-plan.ts'
import { computeSeconds, type StepEfficiency } from './step-time.ts'

/** Constants of generation beside those of a forward pass. */
export interface InferenceEfficiency extends StepEfficiency {
  /** Share of the memory's rate at which weights and cache are read for each token. */
  readonly decodeShare: number
}

/** Requests that an engine works on at a time where nobody said, as far as the cache has room (vLLM's and TensorRT-LLM's defaults). */
const mostRequestsAtOnce = 256

/** Part of the card that engines give to weights and cache. */
const cacheShare = 0.9

/** Requests are on average about half done: their cache holds the prompt and this part of the answer. */
const averageAnswer = 0.55

/**
 * Seconds for one sample on all GPUs together. Without an answer it is a forward pass. With one it is a prefill and `outputTokens` decode
 * steps, each of which reads all weights and the cache of every request in flight, or computes for them, whichever is slower (Pope et al.,
 * arXiv 2211.05102). Replicas work side by side.
 */
export function inferenceSeconds(
  plan: Plan,
  hardware: Hardware,
  efficiency: InferenceEfficiency,
  outputTokens: number | undefined,
): number {
  const { split, microBatch } = plan
  const { gpu } = hardware
  const forwardSeconds = computeSeconds(plan, gpu, efficiency, plan.forwardPerSample, 1)
  const { shape } = plan.model
  if (outputTokens === undefined || shape === undefined) return forwardSeconds / (microBatch * split.data)

  const bytesPerWeight = weightBytes(plan)
  const gpusPerReplica = split.tensor * split.pipeline
  const weights = plan.model.parameterCount * bytesPerWeight
  const cachePerToken = 2 * shape.layers * shape.keyValueHeads * shape.headSize * Math.min(2, bytesPerWeight)
  const context = plan.tokensPerSample + averageAnswer * outputTokens
  const room = (gpu.memoryBytes * cacheShare * gpusPerReplica - weights) / (context * cachePerToken)
  const wished = plan.isBatchKnown ? plan.globalBatch / split.data : mostRequestsAtOnce
  const requests = Math.max(1, Math.min(wished, room))

  const rate = gpu.bandwidthBytesPerSecond * efficiency.decodeShare * gpusPerReplica
  const readSeconds = (weights + requests * context * cachePerToken) / rate
  const peak = (peakFlops(gpu, plan.precision) ?? 0) * efficiency.matrixShare * gpusPerReplica
  const computedSeconds = (2 * plan.model.activeParameterCount * requests) / peak
  const launchSeconds = (shape.layers * efficiency.launchSecondsPerLayer) / 3
  const decodeSeconds = Math.max(readSeconds, computedSeconds) + launchSeconds
  const prefillSeconds = forwardSeconds / microBatch
  return (prefillSeconds + (outputTokens * decodeSeconds) / requests) / split.data
}

function weightBytes({ method, precision }: Plan): number {
  if (method === 'qlora') return 0.5625
  if (precision === 'fp8') return 1
  return precision === 'fp32' || precision === 'tf32' ? 4 : 2
}
