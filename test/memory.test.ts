import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openTable } from '../src/csv.ts'
import { fitMemory } from '../src/memory.ts'
import { findModel, type Model } from '../src/model.ts'
import { readTables } from '../src/pricing-data.ts'
import { type Sourced, sourced } from '../src/sourced.ts'
import { bytesPerGib } from '../src/units.ts'
import type { Parallelism, Workload } from '../src/workload.ts'
import { compareMemory } from './bench/memory.ts'
import { decoder, llama2 } from './published-models.ts'

const folder = fileURLToPath(new URL('../pricing-data/', import.meta.url))
const tables = readTables(folder)

function gpuNamed(name: string) {
  const gpu = tables.gpus.find(each => each.name === name)
  if (gpu === undefined) throw new Error(`no ${name} in the table`)
  return gpu
}

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'assumed', reason: 'test' })
}

const plain: Parallelism = { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'none' }

function training(model: Model, facts: Partial<Workload> = {}): Workload {
  return {
    purpose: 'train',
    place: { file: 'job' },
    role: 'job',
    repetitions: 1,
    conditional: false,
    model: said(model),
    precision: said('bf16'),
    optimizer: said('adam'),
    microBatch: said(1),
    sequenceLength: said(2048),
    activationRecompute: said('none'),
    flashAttention: said(true),
    parallelism: said(plain),
    ...facts,
  }
}

function itemBytes(workload: Workload, gpuName: string, gpuCount: number, what: string): number {
  return fitMemory(workload, gpuNamed(gpuName), gpuCount, 8).items.find(item => item.what === what)?.bytes ?? 0
}

describe('memory of one GPU', () => {
  it('holds 16 bytes for each parameter trained in mixed precision with Adam', () => {
    // Rajbhandari et al., arXiv 1910.02054, section 3.1: 2 + 2 + 12 bytes.
    const states = ['weights', 'gradients', 'optimizer'].map(what => itemBytes(training(llama2), 'a100-80gb', 1, what))
    expect(states.map(bytes => Math.round(bytes / llama2.parameterCount))).toEqual([2, 2, 12])
  })

  it('holds a share of what ZeRO shards, stage by stage', () => {
    // Rajbhandari et al., figure 1: 7.5 billion parameters on 64 GPUs keep 31.4, 16.6 and 1.9 GB.
    const shape = { layers: 36, hidden: 4160, heads: 32, vocabulary: 50_257 }
    const model = { ...decoder('7.5B', shape), parameterCount: 7.5e9, activeParameterCount: 7.5e9 }
    const gigabytes = (['optimizer', 'gradients', 'weights'] as const).map(sharding => {
      const workload = training(model, { parallelism: said({ ...plain, sharding }) })
      const bytes = ['weights', 'gradients', 'optimizer'].reduce(
        (sum, what) => sum + itemBytes(workload, 'v100-32gb', 64, what),
        0,
      )
      return Math.round(bytes / 1e8) / 10
    })
    expect(gigabytes).toEqual([31.4, 16.6, 1.9])
  })

  it('keeps s·b·h·34 bytes of activations a layer in a Megatron block whose attention is recomputed', () => {
    // Korthikanti et al., arXiv 2205.05198, equation 1 and table 2.
    const model = decoder('GPT-22B', { layers: 48, hidden: 6144, heads: 64, vocabulary: 51_200 })
    const selective = training(model, {
      activationRecompute: said('selective'),
      flashAttention: said(false),
      microBatch: said(4),
    })
    expect(itemBytes(selective, 'a100-80gb', 1, 'activations')).toBe(2048 * 4 * 6144 * 34 * 48)
    const none = training(model, { flashAttention: said(false), microBatch: said(4) })
    expect(itemBytes(none, 'a100-80gb', 1, 'activations')).toBeCloseTo(
      2048 * 4 * 6144 * 48 * (34 + (5 * 64 * 2048) / 6144),
      0,
    )
  })

  it('keeps 10 bytes for every logit', () => {
    expect(itemBytes(training(llama2), 'a100-80gb', 1, 'logits')).toBe(2048 * 32_000 * 10)
  })

  it('refuses Llama 2 7B trained whole on one 80 GB card in FP16, and says what it needs', () => {
    const fit = fitMemory(training(llama2, { precision: said('fp16') }), gpuNamed('a100-80gb'), 1, 8)
    expect(fit.verdict).toBe('does not fit')
    expect((fit.needBytes ?? 0) / bytesPerGib).toBeGreaterThan(100)
    expect(fit.items[0]?.what).toBe('optimizer')
  })

  it('takes Llama 2 7B sharded over eight', () => {
    const workload = training(llama2, { parallelism: said({ ...plain, sharding: 'weights' }) })
    expect(fitMemory(workload, gpuNamed('a100-80gb'), 8, 8).verdict).toBe('fits')
  })

  it('holds 4-bit weights for QLoRA: Llama 2 7B fits a 16 GB T4', () => {
    const facts = {
      method: said('qlora' as const),
      precision: said('fp16' as const),
      activationRecompute: said('full' as const),
    }
    expect(fitMemory(training(llama2, facts), gpuNamed('t4'), 1, 1).verdict).toBe('fits')
  })

  it('is unknown without a model', () => {
    const { model: _, ...nameless } = training(llama2)
    expect(fitMemory(nameless, gpuNamed('a100-80gb'), 8, 8)).toMatchObject({ verdict: 'unknown', items: [] })
  })

  it('is unknown without a batch, unless weights and optimizer alone are too much', () => {
    const { microBatch: _, ...open } = training(decoder('GPT-2', { layers: 12, hidden: 768, heads: 12 }))
    expect(fitMemory(open, gpuNamed('a100-80gb'), 1, 8).verdict).toBe('unknown')
    const { microBatch: __, ...large } = training(llama2, { precision: said('fp16') })
    expect(fitMemory(large, gpuNamed('t4'), 1, 1).verdict).toBe('does not fit')
  })

  it('keeps the global batch: on fewer GPUs a micro-batch is no larger than it was written', () => {
    const workload = training(llama2, { globalBatch: said(64), microBatch: said(2) })
    expect(itemBytes(workload, 'a100-80gb', 1, 'activations')).toBe(itemBytes(workload, 'a100-80gb', 8, 'activations'))
  })

  it('never needs more on more GPUs, nor less for a larger batch', () => {
    const gpu = gpuNamed('a100-80gb')
    const sharding = fc.constantFrom('none' as const, 'optimizer' as const, 'gradients' as const, 'weights' as const)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 32 }),
        sharding,
        (exponent, microBatch, kind) => {
          const workload = training(llama2, {
            microBatch: said(microBatch),
            parallelism: said({ ...plain, sharding: kind }),
          })
          const need = (each: Workload, count: number) => fitMemory(each, gpu, count, 64).needBytes ?? 0
          const count = 2 ** exponent
          expect(need(workload, 2 * count)).toBeLessThanOrEqual(need(workload, count))
          expect(need({ ...workload, microBatch: said(microBatch + 1) }, count)).toBeGreaterThan(need(workload, count))
        },
      ),
    )
  })
})

describe('what is not said', () => {
  const open = (model: Model, facts: Partial<Workload> = {}): Workload => {
    const { activationRecompute: _, flashAttention: __, ...rest } = training(model, facts)
    return rest
  }
  const verdictOn = (gpuName: string, workload: Workload, gpuCount = 1) =>
    fitMemory(workload, gpuNamed(gpuName), gpuCount, 8)

  it('makes no hard no of what may be recomputed: LoRA of SDXL at 1024 px and batch 4 is made on 24 to 80 GB', () => {
    const sdxl = findModel('stable-diffusion-xl-base-1.0', tables.models)?.value
    if (sdxl === undefined) throw new Error('no SDXL in the table')
    const { sequenceLength: _, ...lora } = open(sdxl, { method: said('lora'), microBatch: said(4) })
    expect(verdictOn('h200', lora).verdict).toBe('fits')
    expect(verdictOn('a100-80gb', lora).verdict).toBe('fits')
    expect(verdictOn('rtx4090', lora).verdict).toBe('unknown')
    // 60 bytes of each of 10 x 4,096 x 640 and 60 x 1,024 x 1,280 numbers, and 1 GB of its convolutions: 7 GB an image.
    const activations = lora && itemBytes(lora, 'h200', 1, 'activations')
    expect(activations / (4 * 7.3e9)).toBeGreaterThan(0.8)
    expect(activations / (4 * 7.3e9)).toBeLessThan(1.25)
  })

  it('is shown as a range: Llama 2 13B under ZeRO-3 keeps 26 GB of states on each of eight, and activations or not', () => {
    const model = decoder('13B', { layers: 40, hidden: 5120, heads: 40, vocabulary: 32_000 })
    const workload = open(model, {
      microBatch: said(8),
      sequenceLength: said(4096),
      parallelism: said({ ...plain, sharding: 'weights' }),
    })
    const { verdict, needBytes = 0, leastBytes = 0, haveBytes = 0 } = verdictOn('a100-80gb', workload, 8)
    expect(verdict).toBe('unknown')
    expect(needBytes).toBeGreaterThan(haveBytes)
    expect(leastBytes).toBeGreaterThan((model.parameterCount * 12) / 8)
    expect(leastBytes).toBeLessThan(haveBytes)
  })

  it('is known to be too much as soon as the leanest reading is: 44 GiB fit 78, and not surely 39', () => {
    const workload = open(llama2, { method: said('lora'), microBatch: said(4), sequenceLength: said(1304) })
    const large = verdictOn('a100-80gb', workload)
    const small = verdictOn('a100-40gb', workload)
    expect(large.verdict).toBe('fits')
    expect(small).toMatchObject({ verdict: 'unknown', needBytes: large.needBytes, leastBytes: large.leastBytes })
    expect(small.needBytes ?? 0).toBeGreaterThan(small.haveBytes ?? Number.POSITIVE_INFINITY)
  })

  it('is named: attention that stores no scores, activations kept', () => {
    const { assumed = [] } = verdictOn('a100-80gb', open(llama2))
    expect(assumed.join()).toMatch(/activations kept/)
    expect(assumed.join()).toMatch(/SDPA/)
    expect(verdictOn('a100-80gb', training(llama2)).assumed).toEqual([])
  })

  it('leaves the need open without a batch, and says what is certain', () => {
    const { microBatch: _, ...rest } = training(llama2)
    const fit = fitMemory(rest, gpuNamed('h200'), 1, 8)
    expect(fit.needBytes).toBeUndefined()
    expect(fit.leastBytes ?? 0).toBeGreaterThan(6 * llama2.parameterCount)
  })
})

describe('published verdicts', () => {
  it('are given for most of the table, right in nine of ten, and hardly ever a false "fits"', () => {
    const comparisons = compareMemory(openTable(readFileSync(`${folder}memory-fit.csv`, 'utf8')).rows(), tables)
    const given = comparisons.filter(({ fit }) => fit.verdict !== 'unknown')
    const right = given.filter(({ fits, fit }) => fits === (fit.verdict !== 'does not fit'))
    const falseFits = given.filter(({ fits, fit }) => !fits && fit.verdict === 'fits')
    expect(given.length / comparisons.length).toBeGreaterThan(0.8)
    expect(right.length / given.length).toBeGreaterThan(0.9)
    expect(falseFits).toEqual([])
  })
})
