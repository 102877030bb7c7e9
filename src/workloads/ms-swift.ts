import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Parallelism, TrainingMethod, Workload } from '../workload.ts'
import { trainerCheckpoint } from './checkpoints.ts'
import { ZERO_STAGES } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { explainRepeated, type Flags, findFlag, known, parseNumber, readFlags, switchFlag, textFlag } from './flags.ts'
import { gpusOnMachine } from './processes.ts'
import {
  dataParallel,
  engineWords,
  readEngine,
  trainerFlash,
  trainerPrecision,
  trainerRecompute,
} from './training-arguments.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

/** Names of the Trainer's arguments and of ms-swift's own, those of its second version behind them. */
const TABLE: FlagTable = {
  steps: ['max-steps'],
  epochs: ['num-train-epochs'],
  microBatch: ['per-device-train-batch-size', 'batch-size'],
  gradientAccumulation: ['gradient-accumulation-steps'],
  sequenceLength: ['max-length'],
  loraRank: ['lora-rank'],
  modelName: ['model', 'model-id-or-path', 'model-type'],
  optimizer: ['optim'],
}

/** What its commands do; the rest converts and looks. */
const PURPOSES: Readonly<Record<string, Workload['purpose']>> = {
  sft: 'train',
  pt: 'train',
  rlhf: 'train',
  infer: 'infer',
  eval: 'evaluate',
  deploy: 'serve',
  app: 'serve',
}
const MODULE = /^swift\.cli\.(\w+)$/
/** Kinds of `rlhf` whose training text the model itself writes. */
const GENERATES = /^(grpo|ppo|gkd)$/

/** ms-swift: `swift sft` and its sisters, with flags or one YAML file. */
export const msSwift: WorkloadReader = {
  name: 'ms-swift',

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
    const purpose = ownEntry(PURPOSES, command) ?? 'other'
    const { modelName } = readTable(flags, TABLE)
    const run: Workload = {
      ...runOf(commandLine, purpose, 'ms-swift'),
      ...withoutAbsent({ modelName: known(modelName) }),
    }
    if (purpose !== 'train') return { workload: run, warnings: [] }
    const { config, warnings } = readEngine(flags, commandLine, context.files)
    const sharding = presetSharding(flags) ?? config.sharding
    const generates = GENERATES.test(known(textFlag(flags, ['rlhf-type']))?.value ?? '')
    const workload: Workload = {
      ...run,
      ...withoutAbsent({
        ...trainingValues(configured),
        precision: trainerPrecision(flags, commandLine) ?? config.precision,
        parallelism: sharding && dataParallel(sharding),
        cpuOffload: config.cpuOffload,
        checkpoint: trainerCheckpoint(flags, { savesAlone: configured.isComplete }),
        processes: processesOf(commandLine, context),
        generates: generates ? (true as const) : undefined,
      }),
    }
    const isPacked = known(switchFlag(flags, ['packing']))?.value === true
    return {
      workload,
      notDerived: isPacked ? ['steps'] : ['tokens'],
      warnings: [...configured.warnings, ...warnings, ...explainRepeated(typed, namesOf(TABLE))],
    }
  },
}

function commandOf({ program, arguments: words }: CommandLine): string | undefined {
  return baseName(program) === 'swift' ? words[0]?.text : MODULE.exec(program)?.[1]
}

function configWords({ arguments: words }: CommandLine): readonly CommandWord[] {
  return words.slice(0, 2).filter(({ written }) => /^[^-].*\.ya?ml$/.test(written))
}

function configure(commandLine: CommandLine, files: FilesAtHand): Configured {
  return readConfigured(commandLine, configWords(commandLine), files, readFlags(commandLine))
}

function trainingValues({ flags, isComplete }: Configured): Partial<Workload> {
  const given = readTable(flags, TABLE)
  return withoutAbsent({
    ...datasetOf(flags),
    steps: known(given.steps),
    epochs: given.steps === undefined ? known(given.epochs) : undefined,
    // What is not said hangs on the batch: ms-swift accumulates to about 16.
    microBatch: known(given.microBatch),
    gradientAccumulation: known(given.gradientAccumulation),
    sequenceLength: known(given.sequenceLength),
    method: methodOf(flags, isComplete),
    loraRank: known(given.loraRank),
    activationRecompute: trainerRecompute(flags),
    flashAttention: trainerFlash(flags),
    optimizer: given.optimizer,
  })
}

/** `--dataset name#500`: a data set, and how many of its samples are taken. */
function datasetOf(flags: Flags): Pick<Workload, 'dataset' | 'samples'> {
  const dataset = known(textFlag(flags, ['dataset', 'dataset.0']))
  const hasMore =
    findFlag(flags, ['dataset.1', 'custom-train-dataset-path']) !== undefined || flags.positionals.length > 1
  const [, name = '', count] = /^([^#]+?)(?:#(\d+))?$/.exec(dataset?.value ?? '') ?? []
  if (dataset === undefined || name === '' || hasMore) return {}
  return withoutAbsent({
    dataset: sourced(name, dataset.origin),
    samples: count === undefined ? undefined : sourced(Number(count), dataset.origin),
  })
}

/** LoRA where nothing is said; with weights in 4 bits QLoRA. */
function methodOf(flags: Flags, isComplete: boolean): Sourced<TrainingMethod> | undefined {
  const type = textFlag(flags, ['train-type', 'tuner-type', 'sft-type'])
  const bits = known(textFlag(flags, ['quant-bits', 'quantization-bit']))
  const loads = known(switchFlag(flags, ['load-in-4bit']))
  const isQuantized = bits?.value === '4' || loads?.value === true
  const origin = loads?.origin ?? bits?.origin
  const otherwise = isComplete
    ? sourced('lora' as const, { kind: 'assumed', reason: "ms-swift's default for its train_type" } as const)
    : undefined
  const named = type === undefined ? otherwise : known(type)
  if (named === undefined || !/^(lora|full)$/.test(named.value)) return undefined
  if (named.value === 'full') return sourced('full', named.origin)
  return isQuantized && origin !== undefined ? sourced('qlora', origin) : sourced('lora', named.origin)
}

/** `--deepspeed zero2`: a configuration that comes with ms-swift. */
function presetSharding(flags: Flags): Sourced<Parallelism['sharding']> | undefined {
  const preset = known(textFlag(flags, ['deepspeed']))
  const stage = parseNumber(/^(?:default-)?zero(\d)(?:_offload)?$/.exec(preset?.value ?? '')?.[1])
  const sharding = stage === undefined ? undefined : ZERO_STAGES[stage]
  return preset && sharding && sourced(sharding, preset.origin)
}

/** Its command starts torchrun where NPROC_PER_NODE or NNODES is set, and one process otherwise. */
function processesOf(commandLine: CommandLine, { peers, processes }: RunContext): Sourced<number> | undefined {
  const { environment, program } = commandLine
  if (baseName(program) !== 'swift' || commandLine.launches.some(launch => launch.launcher === 'torchrun'))
    return processes
  const perNode =
    environment['NPROC_PER_NODE'] === 'gpu'
      ? gpusOnMachine(commandLine, peers)
      : parseNumber(environment['NPROC_PER_NODE'])
  const nodes = parseNumber(environment['NNODES']) ?? (peers.machines === 1 ? 1 : undefined)
  if (perNode === undefined || nodes === undefined) return processes
  return sourced(nodes * perNode, { kind: 'computed', formula: `${nodes} nodes x ${perNode} processes (swift)` })
}
