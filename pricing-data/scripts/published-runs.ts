import { numberIn, type Row } from '../../src/csv.ts'
import { forwardFlopsPerSample, layerParameterCount } from '../../src/flops.ts'
import { findGpus, type Gpu } from '../../src/gpu.ts'
import { findModel, type Model, type ModelKind, type ModelTable, type TransformerShape } from '../../src/model.ts'
import type { Tables } from '../../src/pricing-data.ts'
import type { Sourced } from '../../src/sourced.ts'
import type { Hardware } from '../../src/throughput/communication.ts'
import { modelFlops } from '../../src/throughput/fastest-run.ts'
import { peakFlops, planRun } from '../../src/throughput/run-plan.ts'
import { bytesPerGigabit, secondsPerHour } from '../../src/units.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../../src/workload.ts'

/** What a published run is judged in: a rate in steady state, the time from start to end, or answers served. */
export type Group = 'steady' | 'end-to-end' | 'serving'

/** A published run as gpufare would have seen it before it ran, and what it took. */
export interface Observation {
  readonly id: string
  /** The publication and its table: rows of one are near-duplicates, and are left out together. */
  readonly family: string
  readonly group: Group
  readonly workload: Workload
  readonly hardware: Hardware
  /** Seconds of the whole job for one sample; known for steady runs, and for whole runs whose work is known. */
  readonly secondsPerSample: number | undefined
  /** From start to end, where that was published. */
  readonly elapsedSeconds: number | undefined
}

/**
 * Whether a sample's length is known. Those of data sets that were not packed are far shorter than the sequence length, nobody says by how
 * much; of a transformer whose sequence length is not published, samples/s say nothing.
 */
function isLengthKnown(row: Row, { model, sequenceLength }: Workload): boolean {
  if (/natural lengths|varying length/.test(row['notes'] ?? '')) return false
  const readsText = model?.value.shape !== undefined && /^(decoder|encoder|encoder-decoder)$/.test(model.value.kind)
  return !readsText || sequenceLength !== undefined || row['metric'] !== 'samples_per_s_total'
}

/** Large matrix products alone reach no more than about this share of the dense peak. */
const mostOfPeak = 0.9

/** A row whose rate would pass the peak is not what its columns say: unpacked samples counted as full ones, TF32 called FP32. */
function isPossible(workload: Workload, hardware: Hardware, seconds: number | undefined): boolean {
  const plan = planRun(workload, hardware)
  if (plan?.model.shape === undefined || workload.purpose !== 'train' || seconds === undefined) return true
  const peak = peakFlops(hardware.gpu, plan.precision) ?? Number.NaN
  return !(modelFlops(plan) / (seconds * hardware.gpuCount * peak) > mostOfPeak)
}

/** The family of a row: its id up to the second dash, `foundry-h100` of `foundry-h100-1b-s1024-g8`. */
export function familyOf(id: string): string {
  return id.split('-').slice(0, 2).join('-')
}

/** Which group a row belongs to. */
export function groupOf(row: Row): Group {
  if (row['kind'] === 'inference') return 'serving'
  return row['metric'] === 'elapsed_hours' || row['metric'] === 'gpu_hours' ? 'end-to-end' : 'steady'
}

/** A row as an observation; undefined where its GPU is none that the table knows. */
export function observationOf(row: Row, { gpus, models }: Pick<Tables, 'gpus' | 'models'>): Observation | undefined {
  const gpu = gpuNamed(row['gpu'] ?? '', gpus)
  if (gpu === undefined) return undefined
  const hardware = hardwareOf(row, gpu)
  const workload = workloadOf(row, hardware, models)
  const id = row['id'] ?? ''
  const seconds = secondsPerSample(row, workload, hardware)
  return {
    id,
    family: familyOf(id),
    group: groupOf(row),
    workload,
    hardware,
    secondsPerSample: isLengthKnown(row, workload) && isPossible(workload, hardware, seconds) ? seconds : undefined,
    elapsedSeconds: elapsedSeconds(row, hardware),
  }
}

/** Publications write `a100-80gb-sxm`, `rtxa6000`, `p100-16gb-pcie`; SXM is the plain name in our table. */
function gpuNamed(name: string, gpus: readonly Gpu[]): Gpu | undefined {
  const reordered = name.replace(/-(\d+gb)-(sxm|pcie)$/, '-$2-$1')
  const exact = [reordered.replace('-sxm', ''), name, reordered, name.replace(/-\d+gb/, ''), `${name}-80gb`]
  for (const spelling of exact) {
    const found = findGpus(spelling, gpus)
    if (found.length === 1) return found[0]
  }
  const ambiguous = findGpus(name.replace('-sxm', ''), gpus)
  return ambiguous.find(gpu => !gpu.name.includes('pcie')) ?? ambiguous[0]
}

/** Model-card totals in GPU-hours seldom name the GPU count; a pre-training run of their time used about this many. */
const usualPretrainingGpus = 256

function hardwareOf(row: Row, gpu: Gpu): Hardware {
  const gpuCount = numberIn(row, 'gpus_total') ?? usualPretrainingGpus
  const gpusPerMachine = Math.min(gpuCount, numberIn(row, 'gpus_per_node') ?? 8)
  const wires = row['interconnect'] ?? ''
  const network = networkBytesPerSecond(wires)
  return {
    gpu: wires.startsWith('PCIe') ? withoutLink(gpu) : gpu,
    gpuCount,
    gpusPerMachine,
    ...(network === undefined ? {} : { networkBytesPerSecond: network }),
  }
}

function withoutLink(gpu: Gpu): Gpu {
  const { linkBytesPerSecond: _, ...rest } = gpu
  return rest
}

/** Network of a machine from the words of its publication: `8 x 200 Gb/s`, `400 Gb/s RDMA per GPU`; other words leave it open. */
function networkBytesPerSecond(wires: string): number | undefined {
  const several = /(\d+) ?x [^;,]*?(\d+) ?(?:Gb|G)(?:\/s|it|e|ps)/i.exec(wires) ?? /(\d+) x HDR(\d+)/.exec(wires)
  if (several !== null) return Number(several[1]) * Number(several[2]) * bytesPerGigabit
  const perGpu = /(\d+) Gb\/s RDMA per GPU/.exec(wires)
  if (perGpu !== null) return Number(perGpu[1]) * 8 * bytesPerGigabit
  const single = /(\d+) ?Gb\/s/.exec(wires)
  if (single !== null) return Number(single[1]) * bytesPerGigabit
  return /omni-path/i.test(wires) ? 4 * 100 * bytesPerGigabit : undefined
}

function workloadOf(row: Row, { gpu, gpuCount }: Hardware, models: ModelTable): Workload {
  const cell = (column: string): string => row[column] ?? ''
  const said = <T>(value: T): Sourced<T> => ({
    value,
    origin: { kind: 'table', table: 'published-runs.csv', row: cell('id'), source: cell('source') },
  })
  const known = <K extends string, T>(key: K, value: T | undefined) =>
    value === undefined ? {} : { [key]: said(value) }
  const model = modelOf(row, models)
  const answer = outputTokensOf(row, model)
  const sequence = model.kind === 'convolutional' ? undefined : promptTokensOf(row, answer)
  const microBatch = numberIn(row, 'micro_batch')
  const parallelism = parallelismOf(cell('parallelism'), gpuCount)
  const total = numberIn(row, 'work_total')
  const countsTokens =
    total !== undefined &&
    ((isLanguageModel(row) && total >= fewestTokens) || /\btokens|target length/.test(cell('notes')))
  return {
    purpose: row['kind'] === 'inference' ? 'infer' : 'train',
    place: { file: 'published-runs.csv' },
    role: 'job',
    repetitions: 1,
    conditional: false,
    model: said(model),
    ...known('framework', cell('framework') || undefined),
    ...known('tokens', countsTokens ? total : undefined),
    ...known('samples', countsTokens ? undefined : total),
    ...known('globalBatch', numberIn(row, 'global_batch')),
    ...known('microBatch', microBatch),
    ...known('gradientAccumulation', numberIn(row, 'grad_accum')),
    ...known('sequenceLength', sequence),
    ...known('outputTokens', answer),
    ...known('precision', precisionOf(cell('precision'), gpu)),
    ...known('method', methodOf(cell('kind'))),
    ...known('parallelism', parallelism),
    ...known('activationRecompute', recomputeOf(cell('activation_checkpointing'))),
    ...known('cpuOffload', /offload/i.test(cell('parallelism')) ? true : undefined),
  }
}

/** Lengths of a short chat, where an inference row names none. */
const usualPromptTokens = 128
const usualOutputTokens = 128

/** Tokens that a generating row generates for each request: `osl=128` in its notes; 0 is a forward pass. */
function outputTokensOf(row: Row, { kind }: Model): number | undefined {
  if (row['kind'] !== 'inference' || kind !== 'decoder') return undefined
  const stated = /\bosl=(\d+)/.exec(row['notes'] ?? '')?.[1]
  return stated === '0' ? undefined : Number(stated ?? usualOutputTokens)
}

/** Tokens that go in: of a generating row its prompt, `isl=128` in its notes. */
function promptTokensOf(row: Row, answer: number | undefined): number | undefined {
  if (answer === undefined) return trainedLengthOf(row)
  return Number(/\bisl=(\d+)/.exec(row['notes'] ?? '')?.[1] ?? usualPromptTokens)
}

/**
 * Share of the tokens that is no padding where BERT is trained on Wikipedia in sequences of 512 (Krell et al., arXiv 2107.02027: up
 * to half is padding). MLPerf's submissions drop the padding, and so does NVIDIA's PyTorch phase 2: counted in full, its 149.6
 * sequences/s on 8 V100 in FP32 would be 123 % of their peak.
 */
const unpaddedShare = 0.5

/** Tokens of a sample; where a run has several lengths its first, which most of its steps have: `seq 128 (7038 steps) then seq 512`. */
function trainedLengthOf(row: Row): number | undefined {
  const stated =
    numberIn(row, 'seq_len') ?? numberIn({ first: /\bseq (\d+)/.exec(row['notes'] ?? '')?.[1] ?? '' }, 'first')
  return stated === 512 && dropsPadding(row) ? stated * unpaddedShare : stated
}

function dropsPadding(row: Row): boolean {
  return /^BERT.*MLPerf/.test(row['model'] ?? '') || (row['id'] ?? '').startsWith('dle-pt-bert-pre-')
}

/** Totals of language models are tokens; one below this is a number of examples (FLAN-T5, Unsloth). */
const fewestTokens = 1e6

function isLanguageModel(row: Row): boolean {
  return ['pretrain', 'finetune', 'lora', 'qlora', 'rlhf'].includes(row['kind'] ?? '')
}

function methodOf(kind: string): TrainingMethod {
  return kind === 'lora' || kind === 'qlora' ? kind : 'full'
}

function recomputeOf(text: string): 'none' | 'selective' | 'full' | undefined {
  return text === 'none' || text === 'selective' || text === 'full' ? text : undefined
}

/** `amp-fp16`, `mixed`, `nf4+bf16`, `mxfp8`: the format of the matrix products. */
function precisionOf(text: string, gpu: Gpu): Precision | undefined {
  if (text === '') return undefined
  if (text === 'mixed' || text === 'amp') return gpu.flopsPerSecond.bf16 === undefined ? 'fp16' : 'bf16'
  if (text.startsWith('bf16')) return 'bf16'
  const formats = ['fp8', 'tf32', 'fp32', 'bf16', 'fp16'] as const
  return formats.find(format => text.includes(format)) ?? (/fp4/.test(text) ? 'fp8' : undefined)
}

function parallelismOf(text: string, gpuCount: number): Parallelism | undefined {
  if (text === '') return undefined
  const degree = (name: string): number => Number(new RegExp(`\\b${name}(\\d+)`).exec(text)?.[1] ?? 1)
  const tensor = degree('TP')
  const pipeline = degree('PP')
  const sharding = /FSDP|ZeRO-3|HSDP/.test(text)
    ? 'weights'
    : /ZeRO-2|grad-op/.test(text)
      ? 'gradients'
      : /ZeRO/.test(text)
        ? 'optimizer'
        : 'none'
  return {
    tensor: Math.min(tensor, gpuCount),
    pipeline,
    interleave: /interleaved/.test(text) ? 2 : degree('VP'),
    context: degree('CP'),
    expert: degree('EP'),
    sharding: /grad-op/.test(text) ? 'gradients' : sharding,
  }
}

/** Parameters of networks whose publication gives none, by kind of task: an order of magnitude, corrected by runs of the same network. */
const nominalParameterCounts: Readonly<Record<string, number>> = { nlp: 2e8, recsys: 3e4, forecasting: 3e4 }
const nominalParameterCount = 3e7

function modelOf(row: Row, models: ModelTable): Model {
  const name = row['model'] ?? ''
  const known = numberIn(row, 'layers') === undefined ? tabledModel(name, models) : undefined
  if (known?.forwardFlopsPerSample !== undefined) return known
  const nominal = nominalParameterCounts[row['kind'] ?? ''] ?? nominalParameterCount
  const parameterCount = (numberIn(row, 'params_b') ?? nominal / 1e9) * 1e9
  const activeParameterCount = (numberIn(row, 'active_params_b') ?? parameterCount / 1e9) * 1e9
  const shape = shapeOf(row, activeParameterCount)
  return { name, kind: kindOf(row), parameterCount, activeParameterCount, ...(shape === undefined ? {} : { shape }) }
}

/** Publications' names of networks in models.csv, and how many of its samples one of theirs is (by pixels). */
const tabledNames: Readonly<Record<string, { readonly name: string; readonly samples: number }>> = {
  'Stable Diffusion 2 base U-Net 256x256': { name: 'stable-diffusion-2-1-base', samples: 0.25 },
  'Stable Diffusion 2 base U-Net 512x512': { name: 'stable-diffusion-2-1-base', samples: 1 },
  'Stable Diffusion v2': { name: 'stable-diffusion-2-1-base', samples: 1 },
  'Stable Diffusion v1': { name: 'stable-diffusion-v1-5', samples: 1 },
  'CLIP ViT-B/32 LAION-400M': { name: 'clip-vit-base-patch32', samples: 1 },
  'CLIP ViT-B/16 LAION-400M': { name: 'clip-vit-base-patch16', samples: 1 },
  'CLIP ViT-L/14 LAION-400M': { name: 'clip-vit-large-patch14', samples: 1 },
  'YOLOv3-SPP 416 px': { name: 'yolov3', samples: (416 / 640) ** 2 },
}

/** A network without a shape by its row of models.csv: `ResNet-50 v1.5 (MLPerf)` is resnet50. */
function tabledModel(name: string, models: ModelTable): Model | undefined {
  const plain = name.replace(/ ?\(.*\)/, '')
  const { name: tabledName, samples } = tabledNames[plain] ?? { name: plain.replace(/ v\d+(\.\d+)?/, ''), samples: 1 }
  const known = findModel(tabledName, models)?.value
  const flops = known?.forwardFlopsPerSample
  return known === undefined || flops === undefined ? known : { ...known, forwardFlopsPerSample: flops * samples }
}

function kindOf(row: Row): ModelKind {
  const kind = row['kind'] ?? ''
  const isTransformer = (numberIn(row, 'layers') ?? 0) > 0
  if (/bert|esm/i.test(row['model'] ?? '')) return 'encoder'
  if (kind === 'nlp' || /\bt5/i.test(row['model'] ?? '')) return 'encoder-decoder'
  // A step of RLHF generates, scores and trains: no run of plain training says how long that takes.
  if (kind === 'rlhf') return 'other'
  if (isTransformer || ['pretrain', 'finetune', 'lora', 'qlora'].includes(kind)) return 'decoder'
  if (kind === 'inference' && row['metric'] === 'images_per_s_total') return 'convolutional'
  const kinds: Readonly<Record<string, ModelKind>> = {
    vision: 'convolutional',
    speech: 'audio',
    diffusion: 'diffusion',
  }
  return kinds[kind] ?? 'other'
}

function shapeOf(row: Row, activeParameterCount: number): TransformerShape | undefined {
  const layers = numberIn(row, 'layers')
  const hidden = numberIn(row, 'hidden')
  if (layers === undefined || hidden === undefined) return undefined
  const heads = numberIn(row, 'heads') ?? Math.max(1, Math.round(hidden / 128))
  const plain: TransformerShape = {
    layers,
    hidden,
    heads,
    keyValueHeads: numberIn(row, 'kv_heads') ?? heads,
    headSize: hidden / heads,
    feedForward: numberIn(row, 'ffn_hidden') ?? 4 * hidden,
    gatedFeedForward: false,
    vocabulary: numberIn(row, 'vocab') ?? 50_000,
    contextLength: numberIn(row, 'seq_len') ?? 2_048,
    tiedEmbeddings: false,
  }
  const gated = { ...plain, gatedFeedForward: true }
  const countOf = (shape: TransformerShape): number => layers * layerParameterCount(shape) + shape.vocabulary * hidden
  const miss = (shape: TransformerShape): number => Math.abs(Math.log(countOf(shape) / activeParameterCount))
  const nearer = miss(gated) < miss(plain) ? gated : plain
  // A mixture of experts: as wide as the parameters that one token meets.
  if (numberIn(row, 'active_params_b') === undefined) return nearer
  const attention = layers * layerParameterCount({ ...gated, feedForward: 0 }) + 2 * gated.vocabulary * hidden
  return { ...gated, feedForward: Math.max(hidden / 4, (activeParameterCount - attention) / (layers * 3 * hidden)) }
}

function secondsPerSample(row: Row, workload: Workload, hardware: Hardware): number | undefined {
  const value = numberIn(row, 'value')
  const model = workload.model?.value
  if (value === undefined || model === undefined) return undefined
  const tokens = planRun(workload, hardware)?.tokensPerSample
  if (tokens === undefined) return undefined
  switch (row['metric']) {
    case 'tokens_per_s_per_gpu':
      return (workload.outputTokens?.value ?? tokens) / (value * hardware.gpuCount)
    case 'images_per_s_total':
    case 'samples_per_s_total':
      return 1 / value
    case 'tflops_per_gpu':
      return flopsOfSample(row, model, tokens) / (value * 1e12 * hardware.gpuCount)
    case 'mfu': {
      const peak = peakFlops(hardware.gpu, workload.precision?.value ?? 'bf16')
      return peak === undefined ? undefined : flopsOfSample(row, model, tokens) / (value * peak * hardware.gpuCount)
    }
    case 'elapsed_hours':
    case 'gpu_hours': {
      const samples =
        workload.samples?.value ?? (workload.tokens === undefined ? undefined : workload.tokens.value / tokens)
      const seconds = elapsedSeconds(row, hardware)
      return samples === undefined || seconds === undefined ? undefined : seconds / samples
    }
    default:
      return undefined
  }
}

function elapsedSeconds(row: Row, { gpuCount }: Hardware): number | undefined {
  const value = numberIn(row, 'value')
  if (value === undefined) return undefined
  if (row['metric'] === 'elapsed_hours') return value * secondsPerHour
  return row['metric'] === 'gpu_hours' ? (value / gpuCount) * secondsPerHour : undefined
}

/** FLOPs of a sample as the publication counted them: with its recompute or without, attention whole or its causal half. */
function flopsOfSample(row: Row, model: Model, tokens: number): number {
  const notes = row['notes'] ?? ''
  const forward = forwardFlopsPerSample(model, tokens) ?? { matrix: Number.NaN, attention: 0 }
  const passes = /recompute counted|counts full activation recompute|hardware TFLOP/i.test(notes) ? 4 : 3
  return passes * (forward.matrix + forward.attention * (/causal/i.test(notes) ? 0.5 : 1))
}
