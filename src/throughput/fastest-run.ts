import type { Precision, Workload } from '../workload.ts'
import type { Hardware } from './communication.ts'
import { type Plan, peakFlops } from './run-plan.ts'

/**
 * Model FLOP/s (6 for each weight and token, attention over the causal half; of frozen weights 4) over the dense peak, the most that
 * any published training run reached: 16-bit formats by llm-foundry, 7B on A100-80GB; FP32 by NeuSight's GPT-3 XL on A100 (arXiv
 * 2407.13853); FP8 by MLPerf Training 5.1, Llama 2 70B LoRA on B200. All rows of published-runs.csv.
 */
const bestShares: Readonly<Record<Precision, number>> = { fp16: 0.62, bf16: 0.62, tf32: 0.62, fp32: 0.8, fp8: 0.44 }

/** So much faster than the best that was published may the luckiest tenth be. */
const unpublishedGain = 1.15

/**
 * Host time of one layer's kernels, forward and backward, at the least: MLPerf Training 4.0's BERT-large on H100 with CUDA graphs spends
 * 32 ms on 24 layers; launched one by one from Python, LitGPT's LoRA of Phi-1.5 97 ms on 24 (both published-runs.csv). The Trainer of
 * transformers makes 15 to 25 steps a second of BERT-base, 12 layers, on any recent GPU.
 */
const layerSeconds = { graphs: 1.3e-3, eager: 2.5e-3 }

/** Loading the batch, clipping, the optimizer's own kernels, logging: the rest of a step of an eager loop. */
const loopSeconds = { graphs: 0, eager: 0.01 }

/** Frameworks that launch every kernel from Python unless told to compile; what nobody named is taken for one of them. */
const eagerFrameworks = /^(hf-trainer|trl|diffusers|pytorch|lightning|accelerate|litgpt)$/

/** Seconds of one sample of a training run, all GPUs together, below which nothing is believed. */
export interface FastestRun {
  /** For the middle of a range. */
  readonly p50: number
  /** For its quick end. */
  readonly p10: number
}

/** The fastest that a training run may be: what the GPUs can compute, and how fast Python can tell them to. */
export function fastestRun(plan: Plan, workload: Workload, { gpu, gpuCount }: Hardware): FastestRun {
  const framework = workload.framework?.value.toLowerCase()
  const isEager = workload.compiled?.value !== true && (framework === undefined || eagerFrameworks.test(framework))
  const peak = gpuCount * (peakFlops(gpu, plan.precision) ?? Number.POSITIVE_INFINITY)
  const computed = plan.model.shape === undefined ? 0 : modelFlops(plan) / (peak * bestShares[plan.precision])
  return {
    p50: Math.max(computed, launchedSeconds(plan, isEager ? 'eager' : 'graphs')),
    p10: Math.max(computed / unpublishedGain, launchedSeconds(plan, 'graphs')),
  }
}

/** FLOPs of training on one sample that no kernel can skip. */
export function modelFlops({ model, forwardPerSample, method }: Plan): number {
  const attended = model.kind === 'decoder' ? 0.5 : 1
  return (method === 'full' ? 3 : 2) * forwardPerSample.matrix + 3 * attended * forwardPerSample.attention
}

function launchedSeconds({ model, split, microBatches, globalBatch }: Plan, way: 'graphs' | 'eager'): number {
  if (model.shape === undefined) return 0
  const layers = (model.shape.layers + (model.shape.decoderLayers ?? 0)) / split.pipeline
  return (microBatches * layers * layerSeconds[way] + loopSeconds[way]) / globalBatch
}
