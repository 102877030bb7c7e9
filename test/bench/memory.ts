/**
 * Memory verdicts against published ones: `npm run bench:memory [-- --json] [-- --rows]`. Prints how many verdicts were right, how many
 * were given, and how many false "fits" there were, the costly kind.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openTable, type Row } from '../../src/csv.ts'
import { findGpus, type Gpu } from '../../src/gpu.ts'
import { fitMemory, type MemoryFit } from '../../src/memory.ts'
import { findModel, type Model, type ModelTable } from '../../src/model.ts'
import { readTables, type Tables } from '../../src/pricing-data.ts'
import { type Sourced, sourced } from '../../src/sourced.ts'
import { bytesPerGib } from '../../src/units.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../../src/workload.ts'

/** A published verdict beside ours. */
interface MemoryComparison {
  readonly row: Row
  readonly fits: boolean
  readonly fit: MemoryFit
}

/** Our verdict on every row of memory-fit.csv. */
export function compareMemory(rows: readonly Row[], tables: Tables): MemoryComparison[] {
  return rows.map(row => {
    const gpu = gpuOf(row, tables.gpus)
    const gpuCount = Number(row['gpus'])
    return {
      row,
      fits: row['fits'] === 'yes',
      fit: fitMemory(workloadOf(row, tables.models), gpu, gpuCount, Math.min(8, gpuCount)),
    }
  })
}

/** Published names (`A100-SXM-40GB`, `RTX-3090-24GB`) are ours but for the memory; `24GB-GPU` is any card of that size. */
function gpuOf(row: Row, gpus: readonly Gpu[]): Gpu {
  const name = row['gpu'] ?? ''
  const memoryGib = Number(/(\d+)GB/.exec(name)?.[1] ?? 0)
  const spellings = [
    name,
    name.replace('-SXM', ''),
    name.replace(/-\d+GB/, ''),
    name.replace(/-\d+GB/, '-80GB'),
    'a100-80gb',
  ]
  const gpu = spellings.flatMap(spelling => findGpus(spelling, gpus))[0]
  if (gpu === undefined) throw new Error(`no GPU like ${name}`)
  return { ...gpu, memoryBytes: memoryGib * bytesPerGib }
}

const published = { kind: 'table', table: 'memory-fit.csv', row: '', source: '' } as const

function said<T>(value: T): Sourced<T> {
  return sourced(value, published)
}

function workloadOf(row: Row, models: ModelTable): Workload {
  const cell = (column: string): string => row[column] ?? ''
  const model = modelOf(cell('model'), models)
  const precision = cell('precision')
  const recompute = { full: 'full', selective: 'selective', yes: 'full', no: 'none' } as const
  const checkpointing = Object.entries(recompute).find(([word]) => word === cell('checkpointing'))?.[1]
  const sequence = model?.kind === 'convolutional' || model?.kind === 'diffusion' ? undefined : Number(cell('seq'))
  return {
    purpose: cell('method') === 'inference' ? 'infer' : 'train',
    place: { file: 'memory-fit.csv' },
    role: 'job',
    repetitions: 1,
    conditional: false,
    ...(model && { model: said(model) }),
    microBatch: said(Number(cell('batch'))),
    ...(sequence !== undefined && { sequenceLength: said(sequence) }),
    precision: said(precisionOf(precision)),
    method: said(methodOf(cell('method'), precision)),
    parallelism: said(parallelismOf(cell('sharding'))),
    ...(checkpointing && { activationRecompute: said(checkpointing) }),
    ...(precision.includes('8bit') && { optimizer: said('adam-8bit' as const) }),
    ...(cell('sharding').includes('offload') && { cpuOffload: said(true) }),
    ...(cell('note').startsWith('hf+') && { framework: said('hf-trainer') }),
    // Megatron's tables of 2022 and eager attention are the only ones here that keep attention scores.
    ...(cell('source').includes('2205.05198') && { flashAttention: said(false) }),
  }
}

function precisionOf(text: string): Precision {
  if (text.startsWith('fp32')) return 'fp32'
  if (text.startsWith('fp8') || text.startsWith('int8')) return 'fp8'
  return text.includes('fp16') ? 'fp16' : 'bf16'
}

function methodOf(method: string, precision: string): TrainingMethod {
  if (method.startsWith('qlora') || precision.startsWith('nf4')) return 'qlora'
  return method === 'lora' ? 'lora' : 'full'
}

function parallelismOf(text: string): Parallelism {
  const degree = (name: string): number => Number(new RegExp(`${name}(\\d+)`).exec(text)?.[1] ?? 1)
  const zero = { zero1: 'optimizer', zero2: 'gradients', zero3: 'weights', fsdp: 'weights' } as const
  const sharding = Object.entries(zero).find(([word]) => text.includes(word))?.[1] ?? 'none'
  return { tensor: degree('tp'), pipeline: degree('pp'), interleave: 1, context: 1, expert: 1, sharding }
}

/** GPTs of the Megatron papers (arXiv 2104.04473 table 1, 2205.05198 table 3) and of ZeRO's, which no hub holds: layers, width, heads. */
const paperModels: Readonly<Record<string, readonly [number, number, number]>> = {
  'gpt-22b': [48, 6144, 64],
  'gpt-175b': [96, 12288, 96],
  'gpt-530b': [105, 20480, 128],
  'gpt-1t': [128, 25600, 160],
  'gpt2-1.5b': [48, 1600, 25],
  'gpt2-10b': [50, 4096, 32],
}

function modelOf(name: string, models: ModelTable): Model | undefined {
  const known = findModel(name.replace('-squad', '-uncased').replace('mt0-xxl-12b', 'mt0-xxl'), models)?.value
  const paper = paperModels[name]
  if (paper === undefined) return known
  const [layers, hidden, heads] = paper
  const parameterCount = 12 * layers * hidden ** 2 + 51_200 * hidden
  const shape = {
    layers,
    hidden,
    heads,
    keyValueHeads: heads,
    headSize: hidden / heads,
    feedForward: 4 * hidden,
    gatedFeedForward: false,
    vocabulary: 51_200,
    contextLength: 2_048,
    tiedEmbeddings: true,
  }
  return { name, kind: 'decoder', parameterCount, activeParameterCount: parameterCount, shape }
}

function main(): void {
  const folder = fileURLToPath(new URL('../../pricing-data/', import.meta.url))
  const rows = openTable(readFileSync(`${folder}memory-fit.csv`, 'utf8')).rows()
  const comparisons = compareMemory(rows, readTables(folder))
  const given = comparisons.filter(({ fit }) => fit.verdict !== 'unknown')
  const right = given.filter(({ fits, fit }) => fits === (fit.verdict !== 'does not fit'))
  const falseFits = given.filter(({ fits, fit }) => !fits && fit.verdict !== 'does not fit')
  if (process.argv.includes('--rows')) {
    for (const { row, fits, fit } of comparisons) {
      const need = fit.needBytes === undefined ? '?' : (fit.needBytes / bytesPerGib).toFixed(1)
      const items = fit.items.map(({ what, bytes }) => `${what} ${(bytes / bytesPerGib).toFixed(1)}`).join(', ')
      const cells = [
        row['model'],
        row['method'],
        row['gpus'],
        row['gpu'],
        row['precision'],
        `b${row['batch']}`,
        `s${row['seq']}`,
      ]
      console.log(
        [
          ...cells,
          fits ? 'fits' : 'does not',
          fit.verdict,
          `need ${need} published ${row['peak_gib'] || '-'} have ${((fit.haveBytes ?? 0) / bytesPerGib).toFixed(1)} GiB`,
          items,
        ].join(' | '),
      )
    }
  }
  console.log(`${rows.length} rows, ${given.length} verdicts, ${right.length} right, ${falseFits.length} false "fits"`)
  if (process.argv.includes('--json')) {
    console.log(
      JSON.stringify({ rows: rows.length, verdicts: given.length, right: right.length, falseFits: falseFits.length }),
    )
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
