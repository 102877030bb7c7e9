import type { CommandLine } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../workload.ts'
import {
  type EngineConfig,
  findFile,
  fsdpSharding,
  namesConfigFile,
  precisionOf,
  readAccelerateConfig,
  readDeepspeedConfig,
  referredPath,
  ZERO_STAGES,
} from './config-files.ts'
import { explainRepeated, type Flags, findFlag, known, parseNumber, readFlags, switchFlag, textFlag } from './flags.ts'
import { countingLaunch, launchOption } from './processes.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { ReferredFiles, WorkloadReader } from './workload-reader.ts'

/** Names of TrainingArguments, the run_*.py examples, TRL, PEFT and diffusers. */
const TABLE: FlagTable = {
  steps: ['max-steps', 'max-train-steps'],
  epochs: ['num-train-epochs'],
  samples: ['max-train-samples'],
  microBatch: ['per-device-train-batch-size'],
  gradientAccumulation: ['gradient-accumulation-steps'],
  sequenceLength: ['block-size', 'max-seq-length', 'max-seq-len', 'model-max-length', 'max-length', 'cutoff-len'],
  loraRank: ['lora-r', 'lora-rank'],
  modelName: ['model-name-or-path', 'pretrained-model-name-or-path', 'model-name', 'model', 'config-name'],
  dataset: ['dataset-name', 'dataset'],
  optimizer: ['optim'],
}
/** The examples of diffusers call a device's batch so. */
const DIFFUSERS_TABLE: FlagTable = { ...TABLE, microBatch: ['train-batch-size'], loraRank: ['rank'] }
const EVALUATION_TABLE: FlagTable = { ...TABLE, microBatch: ['per-device-eval-batch-size'] }

/** Flags that no other trainer has. */
const OWN_FLAGS = [
  'per-device-train-batch-size',
  'per-device-eval-batch-size',
  'num-train-epochs',
  'model-name-or-path',
  'pretrained-model-name-or-path',
]
/** Flags of trainers that make their own training text (TRL's GRPO and PPO). */
const GENERATES = ['num-generations', 'max-completion-length', 'num-ppo-epochs']
/** TRL's command, and its example scripts. */
const TRL = /^(trl|(sft|dpo|orpo|kto|cpo|grpo|rloo|ppo|reward_modeling)\w*\.py)$/

const once = sourced(1, { kind: 'assumed', reason: "the Trainer's own default" })

/** Hugging Face's Trainer, and the scripts and libraries that take its flags. */
export const huggingface: WorkloadReader = {
  name: 'hf-trainer',

  refersTo(commandLine) {
    const flags = readFlags(commandLine)
    return configWords(flags, commandLine).flatMap(word => referredPath(word) ?? [])
  },

  read(commandLine, { files, processes }) {
    const flags = readFlags(commandLine)
    if (!runsTrainer(commandLine) || !hasFlag(flags, OWN_FLAGS)) return undefined
    const { config, warnings } = readEngine(flags, commandLine, files)
    const isEvaluation = hasFlag(flags, ['do-eval', 'do-predict']) && !hasFlag(flags, ['do-train'])
    const generates = hasFlag(flags, GENERATES)
    const values = isEvaluation ? evaluationValues(flags) : trainingValues(flags, commandLine, config)
    const workload: Workload = {
      purpose: isEvaluation ? 'evaluate' : 'train',
      framework: sourced(frameworkOf(flags, commandLine), { kind: 'manifest', place: commandLine.place }),
      place: commandLine.place,
      role: '',
      repetitions: commandLine.repetitions,
      conditional: commandLine.conditional,
      ...withoutAbsent({
        ...values,
        dataset: values.dataset ?? glueTask(flags, commandLine),
        sequenceLength: generates ? generatedLength(flags) : values.sequenceLength,
        precision: precisionFrom(flags, commandLine) ?? config.precision,
        parallelism: config.sharding && sourced(dataParallel(config.sharding.value), config.sharding.origin),
        cpuOffload: config.cpuOffload,
        flashAttention: flashOf(flags),
        compiled: known(switchFlag(flags, ['torch-compile'])),
        processes: processes ?? config.processes,
      }),
    }
    return {
      workload,
      notDerived: generates ? ['tokens'] : [],
      warnings: [...warnings, ...explainRepeated(flags, [...namesOf(TABLE), 'bf16', 'fp16'])],
    }
  },
}

function runsTrainer({ launches, program }: CommandLine): boolean {
  return launches.length > 0 || /\.py$|^trl$/.test(baseName(program))
}

function frameworkOf(flags: Flags, { program }: CommandLine): string {
  if (hasFlag(flags, GENERATES) || TRL.test(baseName(program))) return 'trl'
  return hasFlag(flags, ['pretrained-model-name-or-path']) ? 'diffusers' : 'hf-trainer'
}

type Values = Partial<Workload>

function evaluationValues(flags: Flags): Values {
  const { modelName, dataset, samples, microBatch, sequenceLength } = readTable(flags, EVALUATION_TABLE)
  return withoutAbsent({
    modelName: known(modelName),
    dataset: known(dataset),
    samples: known(samples),
    microBatch: known(microBatch),
    sequenceLength: known(sequenceLength),
  })
}

function trainingValues(flags: Flags, commandLine: CommandLine, config: EngineConfig): Values {
  const given = readTable(flags, hasFlag(flags, ['pretrained-model-name-or-path']) ? DIFFUSERS_TABLE : TABLE)
  // With a recipe, what is not on the command line may stand there.
  const hasRecipe = namesConfigFile(commandLine)
  const otherwise = config.gradientAccumulation ?? (hasRecipe ? undefined : once)
  return withoutAbsent({
    modelName: known(given.modelName),
    dataset: known(given.dataset),
    // Steps win over epochs (TrainingArguments, max_steps).
    steps: known(given.steps),
    epochs: given.steps === undefined ? known(given.epochs) : undefined,
    samples: known(given.samples),
    globalBatch: config.globalBatch,
    microBatch: given.microBatch === undefined ? config.microBatch : known(given.microBatch),
    gradientAccumulation: given.gradientAccumulation === undefined ? otherwise : known(given.gradientAccumulation),
    sequenceLength: known(given.sequenceLength),
    method: methodOf(flags, commandLine, hasRecipe),
    loraRank: known(given.loraRank),
    activationRecompute: recomputeOf(flags),
    optimizer: given.optimizer,
  })
}

function dataParallel(sharding: Parallelism['sharding']): Parallelism {
  return { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding }
}

/** `--deepspeed FILE` of the script, `--config_file FILE` and `--deepspeed_config_file FILE` of accelerate. */
function configWords(flags: Flags, commandLine: CommandLine) {
  const ofScript = findFlag(flags, ['deepspeed', 'deepspeed-config'])?.value
  const launch = countingLaunch(commandLine)
  const ofLauncher = launch?.options.flatMap((word, index) => {
    const match = /^--(?:deepspeed[-_])?config[-_]file(?:=(.*))?$/.exec(word.written)
    if (match === null) return []
    const next = launch.options[index + 1]
    return match[1] === undefined ? (next ?? []) : { ...word, text: word.text && match[1], written: match[1] }
  })
  return [...(ofScript === undefined ? [] : [ofScript]), ...(ofLauncher ?? [])]
}

/** What DeepSpeed, FSDP or accelerate are told by their files and options. */
function readEngine(
  flags: Flags,
  commandLine: CommandLine,
  files: ReferredFiles,
): { config: EngineConfig; warnings: Warning[] } {
  const warnings: Warning[] = []
  let config: EngineConfig = engineOptions(flags, commandLine)
  for (const word of configWords(flags, commandLine)) {
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
  const fsdp = known(textFlag(flags, ['fsdp']))
  if (fsdp !== undefined && fsdp.value !== '') {
    return {
      sharding: sourced(fsdpSharding(fsdp.value), fsdp.origin),
      cpuOffload: sourced(/offload/.test(fsdp.value), fsdp.origin),
    }
  }
  const launch = countingLaunch(commandLine)
  if (launch === undefined) return {}
  const accumulation = parseNumber(launchOption(launch, ['gradient-accumulation-steps']))
  const stage = parseNumber(launchOption(launch, ['zero-stage']))
  const strategy = launchOption(launch, ['fsdp-sharding-strategy'])
  const usesFsdp = launchOption(launch, ['use-fsdp']) !== undefined
  const usesDeepspeed = launchOption(launch, ['use-deepspeed']) !== undefined || hasFlag(flags, ['deepspeed'])
  const sharding = usesFsdp
    ? fsdpSharding(strategy ?? 'FULL_SHARD')
    : stage !== undefined
      ? ZERO_STAGES[stage]
      : launch.launcher === 'torchrun' && !usesDeepspeed
        ? 'none'
        : undefined
  return withoutAbsent({
    sharding: sharding && sourced(sharding, origin),
    gradientAccumulation: accumulation === undefined ? undefined : sourced(accumulation, origin),
  })
}

function precisionFrom(flags: Flags, commandLine: CommandLine): Sourced<Precision> | undefined {
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
  const loaded = known(textFlag(flags, ['torch-dtype', 'dtype']))
  const format = precisionOf(loaded?.value)
  return format && loaded && sourced(format, loaded.origin)
}

function methodOf(flags: Flags, commandLine: CommandLine, hasRecipe: boolean): Sourced<TrainingMethod> | undefined {
  const asked = switchFlag(flags, ['use-peft', 'use-lora', 'lora', 'peft', 'use-qlora', 'qlora'])
  const quantized = switchFlag(flags, ['load-in-4bit', 'use-4bit', 'use-qlora', 'qlora', 'q-lora'])
  if (asked === 'unknown' || quantized === 'unknown') return undefined
  const manifest = { kind: 'manifest', place: commandLine.place } as const
  if (asked?.value === false) return sourced('full', asked.origin)
  if (quantized?.value === true) return sourced('qlora', quantized.origin)
  if (asked?.value === true) return sourced('lora', asked.origin)
  const rank = findFlag(flags, ['lora-r', 'lora-rank', 'lora-alpha', 'lora-target-modules'])
  if (rank !== undefined) return sourced('lora', { kind: 'manifest', place: rank.place })
  const name = baseName(commandLine.program).toLowerCase()
  if (/qlora/.test(name)) return sourced('qlora', manifest)
  if (/lora|peft|adapter/.test(name)) return sourced('lora', manifest)
  return hasRecipe ? undefined : sourced('full', { kind: 'assumed', reason: 'no adapter option is given' })
}

/** `run_glue.py` names its data by a task of the GLUE benchmark. */
function glueTask(flags: Flags, commandLine: CommandLine): Sourced<string> | undefined {
  const task = known(textFlag(flags, ['task-name']))
  return task && /glue/.test(commandLine.program) ? sourced(`glue/${task.value}`, task.origin) : undefined
}

/** Where the training text is generated: the prompt and the longest answer. */
function generatedLength(flags: Flags): Sourced<number> | undefined {
  const prompt = known(readTable(flags, { sequenceLength: ['max-prompt-length'] }).sequenceLength)
  const answer = known(
    readTable(flags, { sequenceLength: ['max-completion-length', 'response-length'] }).sequenceLength,
  )
  if (prompt === undefined || answer === undefined) return undefined
  return sourced(prompt.value + answer.value, {
    kind: 'computed',
    formula: `prompt ${prompt.value} + answer ${answer.value}, at most`,
  })
}

function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const on = known(switchFlag(flags, ['gradient-checkpointing', 'use-gradient-checkpointing']))
  return on && sourced(on.value ? 'full' : 'none', on.origin)
}

function flashOf(flags: Flags): Sourced<boolean> | undefined {
  const implementation = known(textFlag(flags, ['attn-implementation']))
  if (implementation !== undefined) return sourced(/flash|sdpa/.test(implementation.value), implementation.origin)
  return known(
    switchFlag(flags, ['use-flash-attn', 'use-flash-attention', 'use-flash-attention-2', 'use-flash-attn-2']),
  )
}
