import { pathBesideManifest } from '../bash/folders.ts'
import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Place } from '../errors.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Parallelism, Precision } from '../workload.ts'
import { parseNumber } from './flags.ts'
import type { FilesAtHand } from './workload-reader.ts'

/** A file that a command line names: its text, or the warning that says why it is not here. */
export type NamedFile = { readonly text: string; readonly origin: Origin } | { readonly warning: Warning }

/** The path of a word as it is looked up, or undefined where it is only known when the job runs. */
export function referredPath(word: CommandWord | undefined): string | undefined {
  if (word === undefined) return undefined
  return pathBesideManifest(word.written, word.text !== undefined)
}

/** What the script wrote to a path before, `run.sh` and `./run.sh` being one. */
export function findWritten({ writtenFiles }: CommandLine, path: string): string | undefined {
  const bare = path.replace(/^\.\//, '')
  return writtenFiles.get(path) ?? writtenFiles.get(bare) ?? writtenFiles.get(`./${bare}`)
}

/** Whether the program is given a recipe or configuration of its own, where anything may stand. */
export function namesConfigFile(commandLine: CommandLine): boolean {
  return commandLine.arguments.some(isConfigFile)
}

/** Whether a word ends as the name of a configuration does. */
export function isConfigFile(word: CommandWord): boolean {
  return /\.(ya?ml|toml|gin|conf|cfg|ini)$/.test(word.written)
}

/** Finds a file that a word names: one that the script itself wrote, or one that lies beside the manifest. */
export function findFile(word: CommandWord, commandLine: CommandLine, files: FilesAtHand): NamedFile {
  const written = findWritten(commandLine, word.written)
  if (written !== undefined) return { text: written, origin: { kind: 'manifest', place: word.place } }
  const path = referredPath(word)
  const found = path === undefined ? undefined : files.get(path)
  if (path === undefined)
    return { warning: missingFile(word.written, 'what it is or says is only known when the job runs', word.place) }
  if (found === undefined) return { warning: missingFile(path, 'not found', word.place) }
  if ('text' in found) return { text: found.text, origin: { kind: 'file', place: { file: path } } }
  return { warning: missingFile(path, found.notRead, word.place) }
}

/** Says that a file which a run reads was not read. */
export function missingFile(path: string, why: string, place: Place): Warning {
  return { code: 'external-file-missing', text: `${path} decides part of the run and was not read: ${why}`, place }
}

/** What a DeepSpeed or accelerate configuration says; `auto` says nothing. */
export interface EngineConfig {
  readonly sharding?: Sourced<Parallelism['sharding']>
  readonly cpuOffload?: Sourced<boolean>
  readonly precision?: Sourced<Precision>
  readonly globalBatch?: Sourced<number>
  readonly microBatch?: Sourced<number>
  readonly gradientAccumulation?: Sourced<number>
  readonly processes?: Sourced<number>
}

/** What data-parallel ranks share, by ZeRO stage (Rajbhandari et al., arXiv 1910.02054). */
export const ZERO_STAGES: readonly Parallelism['sharding'][] = ['none', 'optimizer', 'gradients', 'weights']

/** Reads a DeepSpeed configuration (JSON); undefined where it is not one. */
export function readDeepspeedConfig(text: string, origin: Origin): EngineConfig | undefined {
  const root = parseJson(text)
  if (root === undefined) return undefined
  const zero = member(root, 'zero_optimization')
  const stage = member(zero, 'stage')
  const number = (key: string) => {
    const value = member(root, key)
    return typeof value === 'number' ? sourced(value, origin) : undefined
  }
  const isOn = (key: string) => member(member(root, key), 'enabled') === true
  const devices = ['offload_optimizer', 'offload_param'].map(key => member(member(zero, key), 'device'))
  const precision = isOn('bf16') || isOn('bfloat16') ? 'bf16' : isOn('fp16') ? 'fp16' : undefined
  const sharding = zero === undefined ? 'none' : typeof stage === 'number' ? ZERO_STAGES[stage] : undefined
  return withoutAbsent({
    sharding: sharding && sourced(sharding, origin),
    cpuOffload:
      zero === undefined
        ? undefined
        : sourced(
            devices.some(device => device === 'cpu' || device === 'nvme'),
            origin,
          ),
    precision: precision && sourced<Precision>(precision, origin),
    globalBatch: number('train_batch_size'),
    microBatch: number('train_micro_batch_size_per_gpu'),
    gradientAccumulation: number('gradient_accumulation_steps'),
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return new Map<string, unknown>(Object.entries(value)).get(key)
}

/**
 * Reads the configuration that `accelerate config` writes: keys and values, and one level of sections. Enough of YAML for
 * that file, which is written by a program.
 */
export function readAccelerateConfig(text: string, origin: Origin): EngineConfig {
  const values = new Map<string, string>()
  let section = ''
  for (const line of text.split('\n')) {
    const match = /^(\s*)([\w-]+):(.*)$/.exec(line)
    if (match === null || line.trimStart().startsWith('#')) continue
    const [, indent = '', key = '', rest = ''] = match
    const written = rest.replace(/\s#.*$/, '').trim()
    if (indent === '') section = written === '' ? key : ''
    values.set(indent === '' ? key : `${section}.${key}`, written.replace(/^(['"])(.*)\1$/, '$2'))
  }
  const number = (key: string) => {
    const value = parseNumber(values.get(key))
    return value === undefined ? undefined : sourced(value, origin)
  }
  const precision = precisionOf(values.get('mixed_precision'))
  const type = values.get('distributed_type')
  const stage = parseNumber(values.get('deepspeed_config.zero_stage'))
  const sharding =
    type === 'FSDP'
      ? fsdpSharding(values.get('fsdp_config.fsdp_sharding_strategy') ?? 'FULL_SHARD')
      : type === 'DEEPSPEED'
        ? stage === undefined
          ? 'unknown'
          : ZERO_STAGES[stage]
        : type === 'MULTI_GPU' || type === 'NO'
          ? 'none'
          : undefined
  const offload = ['deepspeed_config.offload_optimizer_device', 'deepspeed_config.offload_param_device'].some(
    key => values.get(key) === 'cpu',
  )
  return withoutAbsent({
    sharding: sharding && sourced(sharding, origin),
    cpuOffload: offload || values.get('fsdp_config.fsdp_offload_params') === 'true' ? sourced(true, origin) : undefined,
    precision: precision && sourced(precision, origin),
    gradientAccumulation: number('deepspeed_config.gradient_accumulation_steps'),
    processes: number('num_processes'),
  })
}

/** What FSDP's strategies share, by number or name (PyTorch, ShardingStrategy). */
export function fsdpSharding(strategy: string): Parallelism['sharding'] {
  if (/^(1|full|full_shard|fully_shard)\b|full_shard|hybrid/i.test(strategy)) return 'weights'
  if (/^2$|shard_grad_op|grad_op/i.test(strategy)) return 'gradients'
  return /^3$|no_shard|none/i.test(strategy) ? 'none' : 'unknown'
}

/** The number format that a word means: `bf16`, `bf16-mixed`, `16-true`, `float32`, `half`; undefined for any other. */
export function precisionOf(word: string | undefined): Precision | undefined {
  if (word === undefined) return undefined
  const text = word.toLowerCase().replace(/^torch\./, '')
  if (/^(bf16|bfloat16)(-mixed|-true|_mixed)?$|^amp_(bf16|bfloat16)$/.test(text)) return 'bf16'
  if (/^(fp16|float16|half|16)(-mixed|-true|_mixed)?$|^amp_fp16$/.test(text)) return 'fp16'
  if (/^(fp32|float32|float|32|full)(-true)?$/.test(text)) return 'fp32'
  if (text === 'tf32') return 'tf32'
  return /^(fp8|amp_fp8|e4m3|hybrid)$/.test(text) ? 'fp8' : undefined
}
