import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Precision, Workload } from '../workload.ts'
import { asCheckpoint, destinationOf, resumption } from './checkpoints.ts'
import { precisionOf } from './config-files.ts'
import { runOf } from './configured.ts'
import {
  explainRepeated,
  type Flag,
  type Flags,
  flagName,
  known,
  parseNumber,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { inheritedPaths, readInherited } from './inherited-settings.ts'
import { countingLaunch } from './processes.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { RunContext, WorkloadReader } from './workload-reader.ts'

/** Keys of MMEngine's runner, and of MMCV 1.x before it; `--cfg-options` has the same. */
const TABLE: FlagTable = {
  steps: ['train-cfg.max-iters', 'runner.max-iters', 'total-iters'],
  epochs: ['train-cfg.max-epochs', 'runner.max-epochs', 'total-epochs'],
  microBatch: ['train-dataloader.batch-size', 'data.train-dataloader.samples-per-gpu', 'data.samples-per-gpu'],
  gradientAccumulation: ['optim-wrapper.accumulative-counts', 'optimizer-config.cumulative-iters'],
  optimizer: ['optim-wrapper.optimizer.type', 'optimizer.type'],
}
const LOOP = ['train-cfg.type', 'runner.type']
const DATA = ['train-dataloader.dataset.data-root', 'data.train.data-root', 'data-root']
/** Data sets that are not gone through once in an epoch. */
const REPEATING = /^(RepeatDataset|ClassBalancedDataset|ConcatDataset)$/

/** Where nothing is accumulated (MMEngine, OptimWrapper). */
const once = sourced(1, { kind: 'assumed', reason: 'the default of MMEngine' })

/** Options of tools/train.py that few other programs of that name have. */
const OWN_FLAGS = ['cfg-options', 'work-dir', 'launcher', 'auto-scale-lr', 'no-validate']
const OWN_KEYS = [
  'train-cfg.max-epochs',
  'train-cfg.max-iters',
  'runner.type',
  'train-dataloader.batch-size',
  'default-scope',
]

const SCOPES: Readonly<Record<string, string>> = {
  mmdet: 'mmdetection',
  mmdet3d: 'mmdetection3d',
  mmseg: 'mmsegmentation',
  mmaction: 'mmaction2',
  mmcls: 'mmclassification',
}

/** Where no scope is said: each project has a preprocessor of its own. */
const PREPROCESSORS: Readonly<Record<string, string>> = {
  DetDataPreprocessor: 'mmdetection',
  Det3DDataPreprocessor: 'mmdetection3d',
  SegDataPreProcessor: 'mmsegmentation',
  PoseDataPreprocessor: 'mmpose',
  ClsDataPreprocessor: 'mmpretrain',
  ActionDataPreprocessor: 'mmaction2',
}

/** How a run is started: its configuration, and the processes where the command says them. */
interface Start {
  readonly config: CommandWord
  readonly isTest: boolean
  readonly processes: Sourced<number> | undefined
}

/** MMDetection, MMSegmentation and their relatives: one configuration in Python, which begins with others. */
export const openmmlab: WorkloadReader = {
  name: 'openmmlab',

  refersTo(commandLine, files) {
    const start = startOf(commandLine)
    return start === undefined ? [] : inheritedPaths(start.config, commandLine, files)
  },

  read(commandLine, context) {
    const start = startOf(commandLine)
    if (start === undefined) return undefined
    const typed = withConfigOptions(readFlags(commandLine))
    const { flags, isComplete, warnings } = readInherited([start.config], commandLine, context.files, typed)
    if (!isOpenmmlab(commandLine, start.config, flags)) return undefined
    const dataFolder = firstText(flags, DATA)
    const source = firstText(flags, ['train-dataloader.dataset.type', 'data.train.type'])?.value ?? ''
    const workload: Workload = {
      ...runOf(commandLine, start.isTest ? 'evaluate' : 'train', frameworkOf(commandLine, start.config, flags)),
      ...withoutAbsent({
        modelName: modelNameOf(start.config),
        microBatch: known(readTable(flags, TABLE).microBatch),
        precision: precisionFrom(flags),
        processes: start.processes ?? processesOf(commandLine, context),
      }),
      ...(start.isTest ? {} : trainingValues(flags, isComplete)),
    }
    return {
      workload,
      ...(!REPEATING.test(source) && { epochOf: 'samples' as const }),
      ...(dataFolder && { dataFolder }),
      warnings: [...warnings, ...explainRepeated(typed, namesOf(TABLE))],
    }
  },
}

/** tools/dist_train.sh CONFIG GPUS, tools/slurm_train.sh PARTITION JOB CONFIG, tools/train.py CONFIG, `mim train mmdet CONFIG`. */
function startOf(commandLine: CommandLine): Start | undefined {
  const { positionals } = readFlags(commandLine)
  const program = baseName(commandLine.program)
  const [, kind, script] = /^(?:(dist|slurm)_)?(train|test)\.(?:sh|py)$/.exec(program) ?? []
  const at = kind === 'slurm' ? 2 : 0
  const config = program === 'mim' ? positionals[2] : script === undefined ? undefined : positionals[at]
  if (config === undefined || !/\.(py|ya?ml|json)$/.test(config.written)) return undefined
  const isTest = (script ?? positionals[0]?.text) !== 'train'
  return { config, isTest, processes: startedProcesses(kind ?? program, commandLine) }
}

function startedProcesses(kind: string, commandLine: CommandLine): Sourced<number> | undefined {
  const { environment, place } = commandLine
  const flags = readFlags(commandLine)
  if (kind === 'mim') return known(positiveFlag(flags, ['gpus']))
  // slurm_train.sh: `GPUS=${GPUS:-8}`; dist_train.sh: `NNODES=${NNODES:-1}`
  if (kind === 'slurm') return sourced(parseNumber(environment['GPUS']) ?? 8, { kind: 'manifest', place })
  const perMachine = kind === 'dist' ? parseNumber(flags.positionals[1]?.text) : undefined
  if (perMachine === undefined) return undefined
  const machines = parseNumber(environment['NNODES']) ?? 1
  const formula = `${machines} nodes x ${perMachine} processes`
  return sourced(perMachine * machines, { kind: 'computed', formula })
}

function processesOf(commandLine: CommandLine, { processes }: RunContext): Sourced<number> | undefined {
  if (processes !== undefined || countingLaunch(commandLine) !== undefined) return processes
  return baseName(commandLine.program) === 'train.py'
    ? sourced(1, { kind: 'computed', formula: 'train.py without a launcher is one process' })
    : undefined
}

/** Options behind `--cfg-options`, of which the first looks like its value. */
function withConfigOptions(flags: Flags): Flags {
  const list = flags.list.flatMap((flag): Flag[] => {
    const [, name, rest] = /^([\w.]+)=(.*)$/s.exec(flag.value?.written ?? '') ?? []
    if (!['cfg-options', 'options'].includes(flag.name) || flag.value === undefined || name === undefined) return [flag]
    const value = { ...flag.value, text: flag.value.text === undefined ? undefined : rest, written: rest ?? '' }
    return [flag, { ...flag, name: flagName(name), written: name, value }]
  })
  return { ...flags, list }
}

function isOpenmmlab({ program }: CommandLine, config: CommandWord, flags: Flags): boolean {
  const isOfTools = /(^|\/)tools\/|_(train|test)\.sh$|^mim$/.test(program) && /(^|\/)configs?\//.test(config.written)
  return isOfTools || program === 'mim' || hasFlag(flags, OWN_FLAGS) || hasFlag(flags, OWN_KEYS)
}

function frameworkOf(commandLine: CommandLine, config: CommandWord, flags: Flags): string {
  const { program, arguments: words, folder = '' } = commandLine
  const written = [folder, program, config.written].join(' ').toLowerCase()
  const [repository] =
    /mm(detection3d|detection|segmentation|pretrain|pose|action2|classification|ocr|rotate|yolo)/.exec(written) ?? []
  const scope =
    (program === 'mim' ? words[1]?.text : undefined) ??
    firstText(flags, ['default-scope'])?.value ??
    basePackageOf(flags)
  if (repository !== undefined) return repository
  if (scope !== undefined) return ownEntry(SCOPES, scope) ?? scope
  const preprocessor = firstText(flags, ['model.data-preprocessor.type'])?.value ?? ''
  return ownEntry(PREPROCESSORS, preprocessor.replace(/^\w+\./, '')) ?? 'openmmlab'
}

/** `mmdet::_base_/default_runtime.py` begins with a configuration that an installed package brings. */
function basePackageOf({ list }: Flags): string | undefined {
  const bases = list.filter(({ name }) => /^-?base-?(\.\d+)?$/.test(name))
  return bases.map(({ value }) => /^(\w+)::/.exec(value?.text ?? '')?.[1]).find(name => name !== undefined)
}

function trainingValues(flags: Flags, isComplete: boolean): Partial<Workload> {
  const given = readTable(flags, TABLE)
  const accumulation = isComplete && given.gradientAccumulation === undefined ? once : known(given.gradientAccumulation)
  const loop = firstText(flags, LOOP)?.value ?? ''
  const byEpoch = known(switchFlag(flags, ['train-cfg.by-epoch']))?.value
  // What a base said of the other kind of loop is still there.
  const countsSteps = /Iter/.test(loop) || byEpoch === false
  const countsEpochs = /Epoch/.test(loop) || byEpoch === true
  return withoutAbsent({
    steps: countsEpochs ? undefined : stepsOf(known(given.steps), accumulation),
    epochs: countsSteps || (given.steps !== undefined && !countsEpochs) ? undefined : known(given.epochs),
    gradientAccumulation: accumulation,
    optimizer: given.optimizer,
    method: sourced<'full'>('full', { kind: 'assumed', reason: 'it trains all parameters' }),
    checkpoint: checkpointOf(flags),
  })
}

/** An iteration is one batch of each process, of which an update may take several. */
function stepsOf(
  iterations: Sourced<number> | undefined,
  accumulation: Sourced<number> | undefined,
): Sourced<number> | undefined {
  if (iterations === undefined || accumulation === undefined) return undefined
  if (accumulation.value === 1) return iterations
  const formula = `${iterations.value} iterations / ${accumulation.value} accumulated`
  return sourced(Math.floor(iterations.value / accumulation.value), { kind: 'computed', formula })
}

function checkpointOf(flags: Flags): Checkpointing | undefined {
  const interval = known(positiveFlag(flags, ['default-hooks.checkpoint.interval', 'checkpoint-config.interval']))
  const byEpoch = switchFlag(flags, ['default-hooks.checkpoint.by-epoch', 'checkpoint-config.by-epoch'])
  const isBySteps = known(byEpoch)?.value === false
  return asCheckpoint({
    intervalEpochs: isBySteps ? undefined : interval,
    intervalSteps: isBySteps ? interval : undefined,
    destination: destinationOf(flags, ['work-dir']),
    resumes: resumption(flags, ['resume', 'auto-resume', 'resume-from']),
  })
}

function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const amp = known(switchFlag(flags, ['amp']))
  const wrapper = firstText(flags, ['optim-wrapper.type'])
  const on = amp?.value === true ? amp : wrapper?.value === 'AmpOptimWrapper' ? wrapper : undefined
  const scale = flags.list.find(({ name }) => name.startsWith('fp16.'))
  if (on === undefined) return scale && sourced('fp16', scale.origin)
  return sourced(precisionOf(firstText(flags, ['optim-wrapper.dtype'])?.value) ?? 'fp16', on.origin)
}

/** The model zoo calls a model as its configuration. */
function modelNameOf({ text, place }: CommandWord): Sourced<string> | undefined {
  return text === undefined ? undefined : sourced(baseName(text).replace(/\.\w+$/, ''), { kind: 'manifest', place })
}

function firstText(flags: Flags, names: readonly string[]): Sourced<string> | undefined {
  return names.map(name => known(textFlag(flags, [name]))).find(text => text !== undefined)
}
