import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findModel } from '../../src/model.ts'
import { readTables } from '../../src/pricing-data.ts'
import { predictRuntime } from '../../src/runtimes/index.ts'
import type { Runtime } from '../../src/runtimes/runtime-model.ts'
import { type Sourced, sourced } from '../../src/sourced.ts'
import { modelFlops } from '../../src/throughput/fastest-run.ts'
import { type Pace, predictPace } from '../../src/throughput/pace.ts'
import { peakFlops } from '../../src/throughput/run-plan.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../../src/workload.ts'
import { candidateOf, jobOf, machineOf, placementOf, roleOf } from '../builders.ts'

const tables = readTables(fileURLToPath(new URL('../../pricing-data/', import.meta.url)))

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'manifest', place: { file: 'job.sbatch', line: 7 } })
}

/** What a manifest says of a run: sequence length, micro-batch and accumulation of one GPU. */
interface Facts {
  readonly framework?: string
  readonly sequence?: number
  readonly micro: number
  readonly accumulation?: number
  readonly precision: Precision
  readonly method?: TrainingMethod
  readonly split?: Partial<Parallelism>
}

const plain = { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'unknown' } as const

function workloadOf(modelName: string, gpuCount: number, facts: Facts): Workload {
  const model = findModel(modelName, tables.models)?.value
  if (model === undefined) throw new Error(`no ${modelName} in the table`)
  const { framework, sequence, micro, accumulation = 1, precision, method = 'full', split } = facts
  const data = gpuCount / ((split?.tensor ?? 1) * (split?.pipeline ?? 1))
  return {
    purpose: 'train',
    place: { file: 'job.sbatch', line: 7 },
    role: 'job',
    repetitions: 1,
    conditional: false,
    model: said(model),
    steps: said(10_000),
    microBatch: said(micro),
    gradientAccumulation: said(accumulation),
    globalBatch: said(micro * accumulation * data),
    precision: said(precision),
    method: said(method),
    ...(framework !== undefined && { framework: said(framework) }),
    ...(sequence !== undefined && { sequenceLength: said(sequence) }),
    ...(split !== undefined && { parallelism: said({ ...plain, ...split }) }),
  }
}

function hardwareOf(gpuName: string, gpuCount: number) {
  const gpu = tables.gpus.find(each => each.name === gpuName)
  if (gpu === undefined) throw new Error(`no ${gpuName} in the table`)
  return { gpu, gpuCount, gpusPerMachine: Math.min(8, gpuCount) }
}

function paceOf(modelName: string, gpuName: string, gpuCount: number, facts: Facts): Pace {
  const workload = workloadOf(modelName, gpuCount, facts)
  const pace = predictPace(workload, hardwareOf(gpuName, gpuCount), tables.calibration, 'elapsed')
  if (pace === undefined) throw new Error('no estimate')
  return pace
}

function runtimeOf(modelName: string, gpuName: string, gpuCount: number, facts: Facts): Runtime {
  const { gpu } = hardwareOf(gpuName, gpuCount)
  const job = jobOf({ roles: [roleOf({ gpuCount: said(gpuCount) })] })
  const candidate = candidateOf(placementOf(machineOf(gpu, Math.min(8, gpuCount)), gpuCount))
  const runtime = predictRuntime(job, [workloadOf(modelName, gpuCount, facts)], candidate, {}, tables)
  if (runtime === undefined) throw new Error('no estimate')
  return runtime
}

const hf = 'hf-trainer'
const zero3 = { sharding: 'weights' } as const

/** Ordinary training at batches that fill the GPU. */
const usual: readonly (readonly [model: string, gpu: string, gpuCount: number, facts: Facts])[] = [
  ['bert-large-uncased', 'v100-32gb', 8, { sequence: 512, micro: 16, accumulation: 2, precision: 'fp16' }],
  ['bert-large-uncased', 'v100-32gb', 8, { framework: 'pytorch', sequence: 128, micro: 64, precision: 'fp16' }],
  ['bert-large-uncased', 'a100-80gb', 8, { framework: hf, sequence: 512, micro: 32, precision: 'bf16' }],
  ['bert-large-uncased', 'a100-40gb', 1, { framework: 'pytorch', sequence: 384, micro: 32, precision: 'fp16' }],
  ['bert-large-uncased', 'h100-80gb', 8, { sequence: 512, micro: 32, precision: 'bf16' }],
  ['bert-large-uncased', 'l40s', 4, { framework: hf, sequence: 512, micro: 16, precision: 'bf16' }],
  ['roberta-large', 'v100-32gb', 8, { sequence: 512, micro: 16, accumulation: 2, precision: 'fp16' }],
  ['roberta-large', 'a10g', 4, { framework: hf, sequence: 256, micro: 16, precision: 'fp16' }],
  ['roberta-base', 'a100-40gb', 4, { framework: hf, sequence: 512, micro: 64, precision: 'bf16' }],
  ['bert-base-uncased', 'v100-16gb', 4, { framework: 'pytorch', sequence: 512, micro: 32, precision: 'fp16' }],
  ['bert-base-uncased', 'rtx4090', 1, { framework: hf, sequence: 512, micro: 32, precision: 'fp16' }],
  ['bert-base-uncased', 't4', 1, { framework: hf, sequence: 256, micro: 32, precision: 'fp16' }],
  ['distilbert-base-uncased', 'rtx4090', 1, { sequence: 512, micro: 64, precision: 'fp16' }],
  ['deberta-v3-large', 'a100-80gb', 1, { framework: hf, sequence: 512, micro: 32, precision: 'bf16' }],
  ['t5-large', 'a100-40gb', 4, { framework: hf, sequence: 512, micro: 16, precision: 'bf16' }],
  ['gpt2', 'a100-40gb', 8, { framework: 'nanogpt', sequence: 1024, micro: 12, accumulation: 5, precision: 'bf16' }],
  ['gpt2', 'a100-40gb', 1, { framework: hf, sequence: 1024, micro: 8, precision: 'bf16' }],
  ['gpt2-medium', 'v100-32gb', 8, { framework: hf, sequence: 1024, micro: 4, accumulation: 2, precision: 'fp16' }],
  ['gpt2-xl', 'a100-80gb', 8, { framework: 'pytorch', sequence: 1024, micro: 8, precision: 'bf16' }],
  ['opt-1.3b', 'a10g', 4, { framework: hf, sequence: 1024, micro: 4, accumulation: 2, precision: 'bf16' }],
  ['pythia-1.4b', 'a100-40gb', 16, { framework: 'gpt-neox', sequence: 2048, micro: 8, precision: 'fp16' }],
  ['vit-large-patch16-224', 'a100-80gb', 8, { framework: 'pytorch', micro: 128, precision: 'bf16' }],
  ['llama-2-7b', 'a100-80gb', 8, { framework: hf, sequence: 2048, micro: 4, accumulation: 4, precision: 'bf16' }],
  ['llama-2-7b', 'h100-80gb', 8, { sequence: 4096, micro: 2, accumulation: 8, precision: 'bf16' }],
  ['llama-2-7b', 'h200', 8, { framework: hf, sequence: 4096, micro: 2, accumulation: 8, precision: 'bf16' }],
  ['llama-2-13b', 'a100-80gb', 8, { framework: hf, sequence: 2048, micro: 4, precision: 'bf16', split: zero3 }],
  [
    'llama-2-13b',
    'h100-80gb',
    16,
    { framework: 'lightning', sequence: 4096, micro: 2, precision: 'bf16', split: zero3 },
  ],
  ['llama-3-8b', 'h100-80gb', 8, { framework: 'torchtune', sequence: 8192, micro: 1, precision: 'bf16' }],
  ['llama-3-8b', 'a100-80gb', 32, { sequence: 4096, micro: 2, precision: 'bf16', split: zero3 }],
  ['falcon-40b', 'a100-80gb', 64, { sequence: 2048, micro: 4, precision: 'bf16' }],
  [
    'llama-2-70b',
    'h100-80gb',
    64,
    {
      framework: 'megatron-lm',
      sequence: 4096,
      micro: 1,
      accumulation: 64,
      precision: 'bf16',
      split: { tensor: 8, pipeline: 4, sharding: 'optimizer' },
    },
  ],
  ['llama-3-70b', 'h100-80gb', 64, { sequence: 8192, micro: 1, accumulation: 4, precision: 'bf16' }],
  ['mistral-7b', 'a100-80gb', 1, { framework: hf, sequence: 2048, micro: 4, precision: 'bf16', method: 'lora' }],
  ['mistral-7b', 'h100-80gb', 1, { framework: hf, sequence: 2048, micro: 4, precision: 'bf16', method: 'lora' }],
  ['mistral-7b', 'l40s', 1, { framework: hf, sequence: 2048, micro: 4, precision: 'bf16', method: 'lora' }],
  ['llama-2-7b', 'a10g', 4, { framework: hf, sequence: 1024, micro: 2, precision: 'bf16', method: 'qlora' }],
  ['llama-2-7b', 'rtx4090', 1, { framework: hf, sequence: 1024, micro: 2, precision: 'bf16', method: 'qlora' }],
  ['llama-3-70b', 'a100-80gb', 8, { framework: hf, sequence: 2048, micro: 1, precision: 'bf16', method: 'qlora' }],
  ['mixtral-8x7b', 'h100-80gb', 64, { sequence: 4096, micro: 2, accumulation: 4, precision: 'bf16' }],
  ['qwen3-30b-a3b', 'a100-80gb', 64, { sequence: 4096, micro: 2, accumulation: 4, precision: 'bf16' }],
]

describe('the middle of an estimate for an ordinary run', () => {
  it.each(usual)('of %s on a %s (%i) computes 8 to 62 %% of the dense peak', (model, gpuName, gpuCount, facts) => {
    const pace = paceOf(model, gpuName, gpuCount, facts)
    const { gpu } = hardwareOf(gpuName, gpuCount)
    const peak = gpuCount * (peakFlops(gpu, facts.precision) ?? Number.NaN)
    const share = modelFlops(pace.plan) / pace.secondsPerSample / peak
    expect(share).toBeGreaterThan(0.08)
    expect(share).toBeLessThanOrEqual(0.62 + 1e-9)
    expect(modelFlops(pace.plan) / pace.leastSecondsPerSample / peak).toBeLessThan(0.8)
  })
})

describe('small models', () => {
  const bert = (gpuName: string, framework?: string) => {
    const facts = { ...(framework && { framework }), sequence: 128, micro: 32, precision: 'fp16' } as const
    return 1 / (paceOf('bert-base-uncased', gpuName, 1, facts).secondsPerSample * 32)
  }

  it('make 15 to 25 steps a second under the Trainer of transformers, however fast the GPU', () => {
    for (const gpuName of ['a100-80gb', 'h100-80gb', 'rtx4090']) {
      expect(bert(gpuName, hf)).toBeLessThanOrEqual(25)
      expect(bert(gpuName, hf)).toBeGreaterThan(12)
    }
  })

  it('take on a Titan RTX the hours that the examples of transformers report for MNLI, within the range', () => {
    // Their table of GLUE tasks, FP16: 3 x 392,702 / 32 steps in 1:17:06; bert-base, batch 32, length 128.
    const facts = { framework: hf, sequence: 128, micro: 32, precision: 'fp16' } as const
    const runtime = runtimeOf('bert-base-uncased', 'titan-rtx', 1, facts)
    if (runtime.basis === 'limit') throw new Error('no estimate')
    const published = (10_000 * 32 * 4_626) / (3 * 392_702)
    expect(runtime.seconds.p10).toBeLessThan(published)
    expect(runtime.seconds.p90).toBeGreaterThan(published)
  })
})

describe('mixtures of experts', () => {
  it('spend on DeepSeek-V3 about the 180,000 H800 hours for each trillion tokens of its report', () => {
    // arXiv 2412.19437, section 1 and table 1: 14.8 trillion tokens on 2,048 H800 in 2,664,000 GPU hours, sequences of 4,096, batch 15,360.
    const facts = { sequence: 4096, micro: 1, accumulation: 15_360 / 2048, precision: 'bf16' } as const
    const pace = paceOf('deepseek-v3', 'h800-80gb', 2048, facts)
    const hoursPerTrillion = ((pace.secondsPerSample / 4096) * 1e12 * 2048) / 3600
    expect(hoursPerTrillion / 180_000).toBeGreaterThan(0.5)
    expect(hoursPerTrillion / 180_000).toBeLessThan(2.5)
  })

  it('spread their experts where nobody said how, and do not gather them all', () => {
    const { plan } = paceOf('qwen3-30b-a3b', 'a100-80gb', 64, { sequence: 4096, micro: 2, precision: 'bf16' })
    expect(plan.split.expert).toBe(8)
    expect(plan.assumed).toContain('experts spread over 8 GPUs')
  })
})

describe('the order of GPU types', () => {
  const seconds = (gpuName: string, model: string, gpuCount: number, facts: Facts) =>
    paceOf(model, gpuName, gpuCount, facts).secondsPerSample

  const lora = { framework: hf, sequence: 2048, micro: 4, precision: 'bf16', method: 'lora' } as const
  const full = { sequence: 2048, micro: 2, accumulation: 4, precision: 'bf16' } as const
  const encoder = { sequence: 512, micro: 16, precision: 'bf16' } as const

  it.each([
    // MLPerf Training, BERT sequences/s of one GPU: A100 300, L40S 104 to 122.
    ['a100-80gb', 'l40s'],
    ['h100-80gb', 'a100-80gb'],
    ['l40s', 'l4'],
    ['a100-80gb', 'a10g'],
    ['l40s', 'a10g'],
    ['h200', 'a100-80gb'],
    ['a100-80gb', 'a6000'],
  ])('has %s before %s for language models, tuned or trained', (faster, slower) => {
    for (const model of ['mistral-7b', 'llama-2-7b']) {
      expect(seconds(faster, model, 1, lora)).toBeLessThan(seconds(slower, model, 1, lora))
      expect(seconds(faster, model, 8, full)).toBeLessThan(seconds(slower, model, 8, full))
    }
    expect(seconds(faster, 'bert-large-uncased', 1, encoder)).toBeLessThan(
      seconds(slower, 'bert-large-uncased', 1, encoder),
    )
  })
})

describe('ranges', () => {
  const widthOf = (runtime: Runtime): number => {
    if (runtime.basis === 'limit') throw new Error('no estimate')
    return runtime.seconds.p90 / runtime.seconds.p10
  }

  it('are no wider than 3.5 for a language model on a GPU type that was measured, whatever the framework', () => {
    const facts = { sequence: 2048, micro: 4, accumulation: 4, precision: 'bf16' } as const
    expect(widthOf(runtimeOf('llama-2-7b', 'a100-80gb', 8, facts))).toBeLessThan(3.5)
  })
})
