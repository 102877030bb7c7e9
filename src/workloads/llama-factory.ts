import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Precision, TrainingMethod, Workload } from '../workload.ts'
import { trainerCheckpoint } from './checkpoints.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  known,
  numberFlag,
  parseNumber,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { gpusOnMachine } from './processes.ts'
import { dataParallel, engineWords, methodNamed, readEngine, trainerPrecision } from './training-arguments.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

/** Names of the Trainer's arguments and of LLaMA-Factory's own (hparams). `max_samples` is a ceiling for each data set, no size. */
const TABLE: FlagTable = {
  steps: ['max-steps'],
  epochs: ['num-train-epochs'],
  microBatch: ['per-device-train-batch-size'],
  gradientAccumulation: ['gradient-accumulation-steps'],
  sequenceLength: ['cutoff-len', 'max-source-length'],
  loraRank: ['lora-rank'],
  modelName: ['model-name-or-path'],
  dataset: ['dataset'],
  optimizer: ['optim'],
}

/** What its commands do; the rest converts and looks. */
const PURPOSES: Readonly<Record<string, Workload['purpose']>> = {
  train: 'train',
  api: 'serve',
  webchat: 'serve',
  chat: 'infer',
  eval: 'evaluate',
}
const PROGRAMS = ['llamafactory-cli', 'lmf', 'llamafactory.cli']
/** Scripts of the source tree: the Trainer alone, started by the user's own launcher. */
const SCRIPTS = /(^|\/)(train_bash|src\/train|src\/train_sft)\.py$|^llamafactory\.(launcher|train\.tuner)$/

const byDefault = (value: number, name: string) =>
  sourced(value, { kind: 'assumed', reason: `LLaMA-Factory's default for ${name}` })

/** LLaMA-Factory: a YAML or JSON file with `key=value` over it, or the Trainer's flags. */
export const llamaFactory: WorkloadReader = {
  name: 'llama-factory',

  refersTo(commandLine, files) {
    if (commandOf(commandLine) === undefined) return []
    const { flags } = configure(commandLine, files)
    return pathsOf([...configWords(commandLine), ...engineWords(flags, commandLine)])
  },

  read(commandLine, context) {
    const command = commandOf(commandLine)
    if (command === undefined) return undefined
    const configured = configure(commandLine, context.files)
    const { flags, typed } = configured
    const purpose = purposeOf(command, flags)
    if (purpose !== 'train') return { workload: otherRun(commandLine, purpose, flags), warnings: [] }
    const { config, warnings } = readEngine(flags, commandLine, context.files)
    const isPacked = known(switchFlag(flags, ['packing', 'neat-packing']))?.value === true
    const workload: Workload = {
      ...runOf(commandLine, purpose, 'llama-factory'),
      ...withoutAbsent({
        ...trainingValues(configured),
        precision: precisionFrom(flags, commandLine) ?? config.precision,
        parallelism: config.sharding && dataParallel(config.sharding),
        cpuOffload: config.cpuOffload,
        checkpoint: trainerCheckpoint(flags, {
          savesAlone: configured.isComplete,
          resumesAlone: configured.isComplete,
        }),
        processes: processesOf(commandLine, context),
      }),
    }
    // A sample is as long as it is, and `cutoff_len` its most, unless several are packed into one sequence.
    return {
      workload,
      notDerived: isPacked ? ['steps'] : ['tokens'],
      warnings: [...configured.warnings, ...warnings, ...explainRepeated(typed, namesOf(TABLE))],
    }
  },
}

function commandOf({ program, arguments: words }: CommandLine): string | undefined {
  if (PROGRAMS.includes(baseName(program))) return words[0]?.text
  if (!SCRIPTS.test(program)) return undefined
  // `src/train.py` may be anybody's.
  const isOwn =
    /train_bash|llamafactory/.test(program) ||
    words.some(({ written }) => /^--?(stage|finetuning_type)\b|\.(ya?ml|json)$/.test(written))
  return isOwn ? 'train' : undefined
}

function purposeOf(command: string, flags: Flags): Workload['purpose'] {
  const purpose = ownEntry(PURPOSES, command) ?? 'other'
  const trains = known(switchFlag(flags, ['do-train']))
  const tests = ['do-eval', 'do-predict'].some(name => known(switchFlag(flags, [name]))?.value === true)
  return purpose === 'train' && tests && trains?.value !== true ? 'evaluate' : purpose
}

function configWords({ arguments: words }: CommandLine): readonly CommandWord[] {
  return words.filter(({ written }) => /^[^-=][^=]*\.(ya?ml|json)$/.test(written)).slice(0, 1)
}

function configure(commandLine: CommandLine, files: FilesAtHand): Configured {
  return readConfigured(commandLine, configWords(commandLine), files, readFlags(commandLine))
}

function otherRun(commandLine: CommandLine, purpose: Workload['purpose'], flags: Flags): Workload {
  const { modelName } = readTable(flags, TABLE)
  return { ...runOf(commandLine, purpose, 'llama-factory'), ...withoutAbsent({ modelName: known(modelName) }) }
}

function trainingValues({ flags, isComplete }: Configured): Partial<Workload> {
  const given = readTable(flags, TABLE)
  const otherwise = (value: number, name: string) => (isComplete ? byDefault(value, name) : undefined)
  const disabled = known(switchFlag(flags, ['disable-gradient-checkpointing']))
  const flash = known(textFlag(flags, ['flash-attn']))
  const method = methodOf(flags, isComplete)
  return withoutAbsent({
    modelName: known(given.modelName),
    dataset: known(given.dataset),
    steps: known(given.steps),
    epochs:
      given.steps !== undefined
        ? undefined
        : given.epochs === undefined
          ? otherwise(3, 'num_train_epochs')
          : known(given.epochs),
    microBatch: given.microBatch === undefined ? otherwise(8, 'per_device_train_batch_size') : known(given.microBatch),
    gradientAccumulation:
      given.gradientAccumulation === undefined
        ? otherwise(1, 'gradient_accumulation_steps')
        : known(given.gradientAccumulation),
    sequenceLength: known(given.sequenceLength),
    method,
    loraRank:
      given.loraRank === undefined && method !== undefined && method.value !== 'full'
        ? otherwise(8, 'lora_rank')
        : known(given.loraRank),
    activationRecompute:
      disabled === undefined
        ? isComplete
          ? sourced('full', { kind: 'assumed', reason: 'LLaMA-Factory recomputes activations unless told not to' })
          : undefined
        : sourced(disabled.value ? 'none' : 'full', disabled.origin),
    flashAttention: flash && /^(fa2|fa3|sdpa)$/.test(flash.value) ? sourced(true, flash.origin) : undefined,
    optimizer: given.optimizer,
  })
}

/** LoRA where nothing is said; with weights in 4 bits QLoRA. */
function methodOf(flags: Flags, isComplete: boolean): Sourced<TrainingMethod> | undefined {
  const type = textFlag(flags, ['finetuning-type'])
  const bits = known(numberFlag(flags, ['quantization-bit']))
  const otherwise = isComplete
    ? sourced('lora', { kind: 'assumed', reason: "LLaMA-Factory's default for finetuning_type" })
    : undefined
  const named = type === undefined ? otherwise : known(type)
  return methodNamed(named, bits && sourced(bits.value === 4, bits.origin))
}

function precisionFrom(flags: Flags, commandLine: CommandLine): Sourced<Precision> | undefined {
  const pure = known(switchFlag(flags, ['pure-bf16']))
  return pure?.value === true ? sourced('bf16', pure.origin) : trainerPrecision(flags, commandLine)
}

/** Its command starts torchrun by NNODES and NPROC_PER_NODE, on one node and all of its GPUs where these are not set. */
function processesOf(commandLine: CommandLine, { peers, processes }: RunContext): Sourced<number> | undefined {
  const { program, environment } = commandLine
  if (processes !== undefined || !PROGRAMS.includes(baseName(program))) return processes
  const perNode = parseNumber(environment['NPROC_PER_NODE']) ?? gpusOnMachine(commandLine, peers)
  const nodes = parseNumber(environment['NNODES']) ?? (peers.machines === 1 ? 1 : undefined)
  if (nodes === undefined || perNode === 0) return undefined
  return sourced(nodes * perNode, {
    kind: 'computed',
    formula: `${nodes} nodes x ${perNode} processes (llamafactory-cli)`,
  })
}
