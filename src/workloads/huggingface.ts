import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import { words } from '../word-list.ts'
import type { Checkpointing, TrainingMethod, Workload } from '../workload.ts'
import { trainerCheckpoint } from './checkpoints.ts'
import { type EngineConfig, namesConfigFile } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { explainRepeated, type Flags, findFlag, known, numberFlag, readFlags, switchFlag, textFlag } from './flags.ts'
import { processesOfAllGpus } from './processes.ts'
import { isCalledTraining } from './program-purpose.ts'
import { trainerEpoch } from './trainer-epochs.ts'
import {
  dataParallel,
  engineWords,
  readEngine,
  trainerFlash,
  trainerPrecision,
  trainerRecompute,
} from './training-arguments.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

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
/** Flags by which a program that has a model is one for training, or for the Trainer's evaluation. */
const TRAINER_FLAGS = words(`
  per-device-train-batch-size per-device-eval-batch-size train-batch-size gradient-accumulation-steps num-train-epochs
  max-steps max-train-steps max-train-samples do-train do-eval do-predict learning-rate lr-scheduler-type warmup-ratio
  warmup-steps save-steps save-strategy evaluation-strategy eval-strategy optim deepspeed fsdp gradient-checkpointing
  num-generations
`)
/** A Ray Trainer's workers, as scripts call them. */
const RAY_WORKERS = ['num-workers', 'num-training-workers']
/** Flags of trainers that make their own training text (TRL's GRPO and PPO). */
const GENERATES = ['num-generations', 'max-completion-length', 'num-ppo-epochs']
/** Switches of TRL's ModelConfig and SFTConfig, by which a script takes its adapters and fills its sequences. */
const TRL_FLAGS = ['use-peft', 'packing', 'assistant-only-loss', 'completion-only-loss']
/** TRL's command, its example scripts, and the modules that its command starts. */
const TRL = /^(trl|(sft|dpo|orpo|kto|cpo|grpo|rloo|ppo|reward_modeling)\w*\.py|trl\.scripts\.\w+)$/

const once = sourced(1, { kind: 'assumed', reason: "the Trainer's own default" })

/** Hugging Face's Trainer, and the scripts and libraries that take its flags. */
export const huggingface: WorkloadReader = {
  name: 'hf-trainer',

  refersTo(commandLine, files) {
    if (!runsTrainer(commandLine)) return []
    const { flags, typed } = configure(commandLine, files)
    return pathsOf([...configWords(commandLine, typed), ...engineWords(flags, commandLine)])
  },

  read(commandLine, context) {
    if (!runsTrainer(commandLine)) return undefined
    const configured = configure(commandLine, context.files)
    const { flags, typed } = configured
    if (!hasFlag(flags, OWN_FLAGS)) return undefined
    // Any program may be told a model.
    if (configured.isComplete && !hasFlag(flags, TRAINER_FLAGS) && !isNamedTraining(commandLine, typed))
      return undefined
    const { config, warnings } = readEngine(flags, commandLine, context.files)
    const isEvaluation = isOn(flags, ['do-eval', 'do-predict']) && !isOn(flags, ['do-train'])
    const generates = writesItsText(flags, commandLine)
    const values = isEvaluation ? evaluationValues(flags) : trainingValues(configured, commandLine, config)
    const workload: Workload = {
      ...runOf(commandLine, isEvaluation ? 'evaluate' : 'train', frameworkOf(flags, commandLine, context)),
      ...withoutAbsent({
        ...values,
        dataset:
          values.dataset ?? mixedDatasets(flags) ?? chatDatasets(flags, commandLine) ?? glueTask(flags, commandLine),
        sequenceLength: generates ? generatedLength(flags) : values.sequenceLength,
        precision: trainerPrecision(flags, commandLine) ?? config.precision,
        parallelism: config.sharding && dataParallel(config.sharding),
        cpuOffload: config.cpuOffload,
        flashAttention: trainerFlash(flags),
        compiled: known(switchFlag(flags, ['torch-compile'])),
        generates: generates ? (true as const) : undefined,
        checkpoint: isEvaluation ? undefined : checkpointOf(configured, commandLine),
        processes: processesOf(typed, commandLine, context) ?? config.processes,
      }),
    }
    return {
      workload,
      notDerived: generates ? ['tokens'] : [],
      ...trainerEpoch(flags, commandLine, generates),
      warnings: [...configured.warnings, ...warnings, ...explainRepeated(typed, [...namesOf(TABLE), 'bf16', 'fp16'])],
    }
  },
}

function configure(commandLine: CommandLine, files: FilesAtHand): Configured {
  const typed = readFlags(commandLine)
  return readConfigured(commandLine, configWords(commandLine, typed), files, typed)
}

/** `--config FILE` (TRL), or the file that stands for all options (HfArgumentParser, the alignment handbook). */
function configWords(commandLine: CommandLine, typed: Flags): readonly CommandWord[] {
  const named = findFlag(typed, ['config'])?.value
  const words =
    named === undefined ? typed.positionals.slice(0, TRL.test(baseName(commandLine.program)) ? 2 : 1) : [named]
  return words.filter(word => /\.(ya?ml|json)$/.test(word.written))
}

function runsTrainer({ launches, program }: CommandLine): boolean {
  return launches.length > 0 || /\.py$|^trl$/.test(baseName(program))
}

/** TRL's programs, the run_*.py examples, and whatever is called training. */
function isNamedTraining(commandLine: CommandLine, typed: Flags): boolean {
  const name = baseName(commandLine.program)
  return TRL.test(name) || /^run_(?!eval|infer|test|gen)\w+\.py$/.test(name) || isCalledTraining(commandLine, typed)
}

/** Scripts without the Trainer save when they are told to; the run_*.py examples go on from what they find. */
function checkpointOf({ flags, isComplete }: Configured, { program }: CommandLine): Checkpointing | undefined {
  const name = baseName(program)
  const usesTrainer = !/no_trainer/.test(name) && !hasFlag(flags, ['pretrained-model-name-or-path'])
  return trainerCheckpoint(flags, {
    savesAlone: usesTrainer && isComplete,
    resumesAlone: usesTrainer && /^run_\w+\.py$/.test(name),
  })
}

/** Whether the model writes the text it is trained on: by flags of such trainers, or `trl grpo` and `grpo.py`. */
function writesItsText(flags: Flags, { program, arguments: words }: CommandLine): boolean {
  const name = baseName(program) === 'trl' ? (words[0]?.text ?? '') : baseName(program).replace(/^trl\.scripts\./, '')
  return hasFlag(flags, GENERATES) || (TRL.test(baseName(program)) && /^(grpo|ppo|rloo)/.test(name))
}

/** Whether a switch is there, `do_train: true` of a file included. */
function isOn(flags: Flags, names: readonly string[]): boolean {
  return names.some(name => known(switchFlag(flags, [name]))?.value === true)
}

function frameworkOf(flags: Flags, commandLine: CommandLine, { job }: RunContext): string {
  const { program } = commandLine
  if (job.kind === 'RayJob' && hasFlag(flags, RAY_WORKERS)) return 'ray-train'
  if (/unsloth/.test(baseName(program))) return 'unsloth'
  if (isDeepspeedChat(flags, commandLine)) return 'deepspeed-chat'
  if (/(^|\/|\.)fastchat[./]/.test(program)) return 'fastchat'
  if (hasFlag(flags, GENERATES) || isOn(flags, TRL_FLAGS) || TRL.test(baseName(program))) return 'trl'
  return hasFlag(flags, ['pretrained-model-name-or-path']) ? 'diffusers' : 'hf-trainer'
}

/** DeepSpeed-Chat's main.py, by its folder or by options that no other trainer has (applications/DeepSpeed-Chat/training). */
function isDeepspeedChat(flags: Flags, { program, folder = '' }: CommandLine): boolean {
  const isInItsFolder = /deepspeed-?chat|step[123]_(?:supervised_finetuning|reward_model_finetuning|rlhf_finetuning)/i
  return (
    isInItsFolder.test(`${folder}/${program}`) ||
    hasFlag(flags, ['actor-model-name-or-path']) ||
    (hasFlag(flags, ['data-split']) && hasFlag(flags, ['zero-stage']))
  )
}

/** Its data sets stand behind one option, one after the other. */
function chatDatasets(flags: Flags, commandLine: CommandLine): Sourced<string> | undefined {
  if (!isDeepspeedChat(flags, commandLine)) return undefined
  const at = commandLine.arguments.findIndex(word => /^--data_path(=|$)/.test(word.written))
  const [option, ...rest] = commandLine.arguments.slice(at)
  if (at === -1 || option === undefined) return undefined
  const glued = /^--data_path=(.*)$/s.exec(option.text ?? '')?.[1]
  const end = rest.findIndex(word => word.written.startsWith('-'))
  const names = [
    ...(glued === undefined ? [] : [glued]),
    ...rest.slice(0, end === -1 ? undefined : end).map(word => word.text),
  ]
  return names.length === 0 || names.includes(undefined)
    ? undefined
    : sourced(names.join(', '), { kind: 'manifest', place: option.place })
}

/** Ray's workers are its processes; `trl` starts accelerate, which takes every GPU of the machine. */
function processesOf(typed: Flags, commandLine: CommandLine, context: RunContext): Sourced<number> | undefined {
  const workers = context.job.kind === 'RayJob' ? known(numberFlag(typed, RAY_WORKERS)) : undefined
  if (workers !== undefined) return workers
  if (baseName(commandLine.program) !== 'trl') return context.processes
  return (
    known(numberFlag(typed, ['num-processes'])) ?? context.processes ?? processesOfAllGpus(commandLine, context.peers)
  )
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

function trainingValues(
  { flags, typed, isComplete }: Configured,
  commandLine: CommandLine,
  config: EngineConfig,
): Values {
  const given = readTable(flags, hasFlag(flags, ['pretrained-model-name-or-path']) ? DIFFUSERS_TABLE : TABLE)
  // With a recipe that was not read, what is not on the command line may stand there.
  const hasRecipe = !isComplete || (configWords(commandLine, typed).length === 0 && namesConfigFile(commandLine))
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
    activationRecompute: trainerRecompute(flags),
    optimizer: given.optimizer,
  })
}

function methodOf(flags: Flags, commandLine: CommandLine, hasRecipe: boolean): Sourced<TrainingMethod> | undefined {
  const asked = switchFlag(flags, ['use-peft', 'use-lora', 'lora', 'peft', 'use-qlora', 'qlora'])
  const quantized = switchFlag(flags, ['load-in-4bit', 'use-4bit', 'use-qlora', 'qlora', 'q-lora'])
  if (asked === 'unknown' || quantized === 'unknown') return undefined
  const manifest = { kind: 'manifest', place: commandLine.place } as const
  if (asked?.value === false) return sourced('full', asked.origin)
  if (quantized?.value === true) return sourced('qlora', quantized.origin)
  if (asked?.value === true) return sourced('lora', asked.origin)
  if (/unsloth/.test(baseName(commandLine.program))) return sourced('lora', manifest)
  const rank = findFlag(flags, ['lora-r', 'lora-rank', 'lora-alpha', 'lora-target-modules'])
  if (rank !== undefined) return sourced('lora', rank.origin)
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

/** The data sets that the alignment handbook mixes: `dataset_mixer: {name: share}`, in newer versions a list with ids. */
function mixedDatasets(flags: Flags): Sourced<string> | undefined {
  const listed = flags.list.flatMap(({ written, value, origin }) => {
    const id = /^dataset_mixture\.datasets\.\d+\.id$/.test(written)
      ? value?.text
      : /^dataset_mixer\.(.+)$/.exec(written)?.[1]
    return id === undefined ? [] : [{ id, origin }]
  })
  const first = listed[0]
  return first && sourced(listed.map(({ id }) => id).join(', '), first.origin)
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
