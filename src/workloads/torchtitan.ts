import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Parallelism, Precision, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import { explainRepeated, type Flags, findFlag, known, positiveFlag, readFlags, switchFlag, textFlag } from './flags.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** Names of torchtitan's job configuration; a batch is a data-parallel rank's where nothing else is said (config_manager.py). */
const TABLE: FlagTable = {
  steps: ['training.steps'],
  globalBatch: ['training.global-batch-size'],
  microBatch: ['training.local-batch-size', 'training.batch-size'],
  sequenceLength: ['training.seq-len'],
  dataset: ['training.dataset', 'dataloader.dataset'],
  optimizer: ['optimizer.name'],
}

const DEGREES: DegreeNames = {
  tensor: ['parallelism.tensor-parallel-degree', 'training.tensor-parallel-degree'],
  pipeline: ['parallelism.pipeline-parallel-degree', 'experimental.pipeline-parallel-degree'],
  context: ['parallelism.context-parallel-degree', 'experimental.context-parallel-degree'],
  expert: ['parallelism.expert-parallel-degree'],
}

/** Processes a node that run_train.sh starts where NGPU says nothing. */
const SCRIPT_PROCESSES = 8

const onceAStep = sourced(1, { kind: 'assumed', reason: 'torchtitan accumulates nothing without a global batch' })

/** torchtitan: a TOML file, and `--section.name value` over it; run_train.sh names the file by a variable. */
export const torchtitan: WorkloadReader = {
  name: 'torchtitan',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, processes: launched, peers }) {
    const configured = readConfigured(commandLine, configWords(commandLine), files)
    const { flags, typed, warnings } = configured
    if (!isTorchtitan(commandLine, flags)) return undefined
    const given = readTable(flags, TABLE)
    const accumulates = known(given.globalBatch) !== undefined
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'torchtitan'),
      method: sourced('full', { kind: 'assumed', reason: 'torchtitan trains all parameters' }),
      ...withoutAbsent({
        modelName: modelNameOf(flags),
        dataset: known(given.dataset),
        steps: known(given.steps),
        globalBatch: known(given.globalBatch),
        microBatch: known(given.microBatch),
        gradientAccumulation: accumulates || given.globalBatch === 'unknown' ? undefined : onceAStep,
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(configured),
        parallelism: splitOf(flags, commandLine),
        activationRecompute: recomputeOf(flags),
        compiled: known(switchFlag(flags, ['compile.enable', 'training.compile'])),
        optimizer: given.optimizer,
        checkpoint: checkpointOf(flags),
        processes: launched ?? scriptProcesses(commandLine, peers.machines),
      }),
    }
    return { workload, warnings: [...warnings, ...explainRepeated(typed, namesOf(TABLE))] }
  },
}

function isRunScript({ program }: CommandLine): boolean {
  return baseName(program) === 'run_train.sh'
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const typed = findFlag(readFlags(commandLine), ['job.config-file'])?.value
  if (typed !== undefined) return [typed]
  const named = isRunScript(commandLine) ? commandLine.environment['CONFIG_FILE'] : undefined
  return named === undefined ? [] : [{ text: named, written: named, place: commandLine.place }]
}

function isTorchtitan(commandLine: CommandLine, flags: Flags): boolean {
  if (isRunScript(commandLine)) return configWords(commandLine).length > 0 || hasFlag(flags, ['training.steps'])
  return (
    /^torchtitan\.(?!.*convert)/.test(commandLine.program) ||
    hasFlag(flags, ['job.config-file']) ||
    (hasFlag(flags, ['model.flavor']) && hasFlag(flags, ['training.steps']))
  )
}

/** `--module llama3 --config llama3_8b` of newer versions, `model.name` and `model.flavor` of the files before them. */
function modelNameOf(flags: Flags): Sourced<string> | undefined {
  const recipe = known(textFlag(flags, ['config']))
  if (recipe !== undefined) return recipe
  const name = known(textFlag(flags, ['model.name']))
  const flavor = known(textFlag(flags, ['model.flavor']))
  return name && flavor && sourced(`${name.value} ${flavor.value}`, flavor.origin)
}

/** Without a word FSDP computes in bfloat16 (`mixed_precision_param` of job_config.py). */
function precisionFrom({ flags, isComplete }: Configured): Sourced<Precision> | undefined {
  const converters = flags.list.filter(flag => /^model\.converters(\.\d+)?$/.test(flag.name))
  const float8 = converters.find(flag => /float8/.test(flag.value?.text ?? ''))
  if (float8 !== undefined) return sourced('fp8', float8.origin)
  const parameter = textFlag(flags, ['training.mixed-precision-param'])
  const precision = precisionOf(known(parameter)?.value)
  if (parameter !== undefined && parameter !== 'unknown') return precision && sourced(precision, parameter.origin)
  if (parameter === 'unknown' || !isComplete || converters.some(flag => flag.value?.text === undefined))
    return undefined
  return sourced('bf16', { kind: 'assumed', reason: "torchtitan's own default" })
}

/** Ranks that split no model share its weights, unless the degree of sharding is said to be 1. */
function splitOf(flags: Flags, commandLine: CommandLine): Sourced<Parallelism> | undefined {
  const degrees = degreesOf(flags, DEGREES)
  if (degrees === undefined) return undefined
  const shard = positiveFlag(flags, [
    'parallelism.data-parallel-shard-degree',
    'training.data-parallel-shard-degree',
    'training.data-parallel-degree',
  ])
  const sharding = shard === 'unknown' ? 'unknown' : shard?.value === 1 ? 'none' : 'weights'
  return sourced({ ...degrees, interleave: 1, sharding }, { kind: 'manifest', place: commandLine.place })
}

function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const mode = known(textFlag(flags, ['activation-checkpoint.mode']))
  const kind = (['none', 'selective', 'full'] as const).find(each => each === mode?.value)
  return kind && mode && sourced(kind, mode.origin)
}

/** Where checkpoints are written, a run goes on from the last one in their folder (checkpoint.py, `load_step` -1). */
function checkpointOf(flags: Flags): Checkpointing | undefined {
  const isOn = known(switchFlag(flags, ['checkpoint.enable', 'checkpoint.enable-checkpoint']))
  if (isOn?.value !== true) return undefined
  const interval = known(positiveFlag(flags, ['checkpoint.interval']))
  const inSeconds = known(textFlag(flags, ['checkpoint.interval-type']))?.value === 'seconds'
  return {
    content: sourced('full', isOn.origin),
    resumes: sourced(true, isOn.origin),
    ...withoutAbsent({
      intervalSteps: inSeconds ? undefined : interval,
      intervalSeconds: inSeconds ? interval : undefined,
      destination: known(textFlag(flags, ['checkpoint.folder'])),
    }),
  }
}

/** run_train.sh, where it was not read, starts torchrun with NGPU processes on each node. */
function scriptProcesses(commandLine: CommandLine, machines: number): Sourced<number> | undefined {
  if (!isRunScript(commandLine) || machines !== 1) return undefined
  const count = commandLine.environment['NGPU'] ?? String(SCRIPT_PROCESSES)
  if (!/^\d+$/.test(count)) return undefined
  return sourced(Number(count), { kind: 'computed', formula: `run_train.sh starts NGPU=${count} processes` })
}
