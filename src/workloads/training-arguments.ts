import type { CommandLine, CommandWord } from '../command-lines.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../workload.ts'
import {
  type EngineConfig,
  findFile,
  fsdpSharding,
  precisionOf,
  readAccelerateConfig,
  readDeepspeedConfig,
  ZERO_STAGES,
} from './config-files.ts'
import { type Flags, findFlag, known, numberFlag, parseNumber, switchFlag, textFlag } from './flags.ts'
import { countingLaunch, launchOption } from './processes.ts'
import { hasFlag } from './training-flags.ts'
import type { FilesAtHand } from './workload-reader.ts'

/** Ranks that each hold a copy of the model, and what they share of it. */
export function dataParallel(sharding: Sourced<Parallelism['sharding']>): Sourced<Parallelism> {
  return sourced(
    { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: sharding.value },
    sharding.origin,
  )
}

/** The path of a DeepSpeed configuration: `--deepspeed FILE` or `deepspeed: FILE`. */
export function deepspeedWords(flags: Flags): readonly CommandWord[] {
  const word = findFlag(flags, ['deepspeed', 'deepspeed-config'])?.value
  return word !== undefined && /\.json$/.test(word.written) ? [word] : []
}

/** The files of the engine below the trainer: DeepSpeed's, and `--config_file` or `--deepspeed_config_file` of accelerate. */
export function engineWords(flags: Flags, commandLine: CommandLine): readonly CommandWord[] {
  const launch = countingLaunch(commandLine)
  const ofLauncher = launch?.options.flatMap((word, index) => {
    const match = /^--(?:deepspeed[-_])?config[-_]file(?:=(.*))?$/.exec(word.written)
    if (match === null) return []
    const next = launch.options[index + 1]
    return match[1] === undefined ? (next ?? []) : { ...word, text: word.text && match[1], written: match[1] }
  })
  return [...deepspeedWords(flags), ...(ofLauncher ?? [])]
}

/** What DeepSpeed, FSDP or accelerate are told by their files and options. */
export function readEngine(
  flags: Flags,
  commandLine: CommandLine,
  files: FilesAtHand,
): { config: EngineConfig; warnings: Warning[] } {
  const warnings: Warning[] = []
  let config: EngineConfig = engineOptions(flags, commandLine)
  for (const word of engineWords(flags, commandLine)) {
    const file = findFile(word, commandLine, files)
    if ('warning' in file) {
      warnings.push(file.warning)
      config = {
        sharding: sourced<Parallelism['sharding']>('unknown', { kind: 'manifest', place: word.place }),
        ...config,
      }
      continue
    }
    const read = readDeepspeedConfig(file.text, file.origin) ?? readAccelerateConfig(file.text, file.origin)
    config = { ...read, ...config }
  }
  return { config, warnings }
}

function engineOptions(flags: Flags, commandLine: CommandLine): EngineConfig {
  const origin = { kind: 'manifest', place: commandLine.place } as const
  const fsdp = fsdpOptions(flags)
  if (fsdp !== undefined) return fsdp
  const launch = countingLaunch(commandLine)
  const ofScript = known(numberFlag(flags, ['zero-stage']))
  const ofLauncher = launch && parseNumber(launchOption(launch, ['zero-stage']))
  const stage = ofScript?.value ?? ofLauncher
  const accumulation = launch && parseNumber(launchOption(launch, ['gradient-accumulation-steps']))
  const strategy = launch && launchOption(launch, ['fsdp-sharding-strategy'])
  const usesFsdp = launch !== undefined && launchOption(launch, ['use-fsdp']) !== undefined
  const usesDeepspeed =
    hasFlag(flags, ['deepspeed', 'deepspeed-config']) ||
    (launch !== undefined && launchOption(launch, ['use-deepspeed']) !== undefined)
  const sharding = usesFsdp
    ? fsdpSharding(strategy ?? 'FULL_SHARD')
    : stage !== undefined
      ? ZERO_STAGES[stage]
      : launch?.launcher === 'torchrun' && !usesDeepspeed
        ? 'none'
        : undefined
  return withoutAbsent({
    sharding: sharding && sourced(sharding, ofScript?.origin ?? origin),
    gradientAccumulation: accumulation === undefined ? undefined : sourced(accumulation, origin),
  })
}

/** `--fsdp "full_shard auto_wrap offload"`, the same as a list in a file, and `fsdp_config` of newer versions. */
function fsdpOptions(flags: Flags): EngineConfig | undefined {
  const listed = flags.list.filter(flag => /^fsdp(\.\d+)?$/.test(flag.name) && flag.value?.text)
  const words = listed.map(flag => flag.value?.text).join(' ')
  const strategy = known(textFlag(flags, ['fsdp-config.fsdp-sharding-strategy']))
  const version = known(numberFlag(flags, ['fsdp-version', 'fsdp-config.fsdp-version']))
  const reshards = known(
    switchFlag(flags, ['fsdp-config.reshard-after-forward', 'fsdp-config.fsdp-reshard-after-forward']),
  )
  const offload = known(switchFlag(flags, ['fsdp-config.fsdp-offload-params', 'fsdp-config.offload-params']))
  const origin = listed[0]?.origin ?? version?.origin ?? strategy?.origin ?? reshards?.origin
  if (origin === undefined || /^(false|none)$/i.test(words)) return undefined
  const named = strategy?.value ?? (words === '' ? undefined : words)
  const sharding = named === undefined ? (reshards?.value === false ? 'gradients' : 'weights') : fsdpSharding(named)
  return { sharding: sourced(sharding, origin), cpuOffload: offload ?? sourced(/offload/.test(words), origin) }
}

/** Mixed precision by the Trainer's switches, then by its launcher, then the format that weights are loaded in. */
export function trainerPrecision(flags: Flags, commandLine: CommandLine): Sourced<Precision> | undefined {
  for (const name of ['bf16', 'fp16', 'tf32'] as const) {
    const on = known(switchFlag(flags, [name]))
    if (on?.value === true) return sourced(name, on.origin)
  }
  const launch = countingLaunch(commandLine)
  const word =
    known(textFlag(flags, ['mixed-precision']))?.value ?? (launch && launchOption(launch, ['mixed-precision']))
  const precision = precisionOf(word)
  if (precision !== undefined) return sourced(precision, { kind: 'manifest', place: commandLine.place })
  // Weights loaded in a number format, and no mixed precision asked for: that is what it computes in.
  const loaded = known(textFlag(flags, ['torch-dtype', 'dtype', 'param-dtype']))
  const format = precisionOf(loaded?.value)
  return format && loaded && sourced(format, loaded.origin)
}

/** The method a word names, `lora` with 4-bit weights being QLoRA; undefined for any other word. */
export function methodNamed(
  word: Sourced<string> | undefined,
  quantized: Sourced<boolean> | undefined,
): Sourced<TrainingMethod> | undefined {
  const name = word?.value.toLowerCase()
  if (word === undefined || name === undefined) return undefined
  if (/^(full|sft)$/.test(name)) return sourced('full', word.origin)
  if (name === 'qlora') return sourced('qlora', word.origin)
  if (!/^(lora|dora|adalora|longlora)$/.test(name)) return undefined
  return quantized?.value === true ? sourced('qlora', quantized.origin) : sourced('lora', word.origin)
}

/** Whether activations are computed anew in the backward pass. */
export function trainerRecompute(flags: Flags): Workload['activationRecompute'] | undefined {
  const names = ['gradient-checkpointing', 'use-gradient-checkpointing']
  const on = known(switchFlag(flags, names))
  return on && sourced(on.value ? 'full' : 'none', on.origin)
}

/** Whether attention scores are not stored: FlashAttention, or PyTorch's own kernel. */
export function trainerFlash(flags: Flags): Sourced<boolean> | undefined {
  const implementation = known(textFlag(flags, ['attn-implementation', 'attn-impl']))
  if (implementation !== undefined) return sourced(/flash|sdpa/.test(implementation.value), implementation.origin)
  return known(
    switchFlag(flags, [
      'use-flash-attn',
      'use-flash-attention',
      'use-flash-attention-2',
      'use-flash-attn-2',
      'flash-attention',
    ]),
  )
}
