import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../workload.ts'
import { asCheckpoint, destinationOf, resumption } from './checkpoints.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { degreesOf } from './degrees.ts'
import {
  explainRepeated,
  type Flags,
  known,
  numberFlag,
  parseNumber,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { launchOption, processesOfAllGpus } from './processes.ts'
import { engineWords, methodNamed, readEngine, trainerFlash, trainerRecompute } from './training-arguments.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

/** Keys of axolotl's configuration (its schema, utils/schemas). */
const TABLE: FlagTable = {
  steps: ['max-steps'],
  epochs: ['num-epochs'],
  microBatch: ['micro-batch-size'],
  gradientAccumulation: ['gradient-accumulation-steps'],
  sequenceLength: ['sequence-len'],
  loraRank: ['lora-r'],
  modelName: ['base-model'],
  optimizer: ['optimizer'],
}
const TENSOR = ['tensor-parallel-size']
const CONTEXT = ['context-parallel-size', 'sequence-parallel-degree']

/** What its commands do; the rest prepares, converts and looks. */
const PURPOSES: Readonly<Record<string, Workload['purpose']>> = {
  train: 'train',
  'scripts/finetune.py': 'train',
  inference: 'infer',
  evaluate: 'evaluate',
  'lm-eval': 'evaluate',
  'vllm-serve': 'serve',
}

const byDefault = (value: number, name: string) =>
  sourced(value, { kind: 'assumed', reason: `axolotl's default for ${name}` })

/** Axolotl: one YAML file, and options over it. */
export const axolotl: WorkloadReader = {
  name: 'axolotl',

  refersTo(commandLine, files) {
    if (purposeOf(commandLine) === undefined) return []
    const { flags } = configure(commandLine, files)
    return pathsOf([...configWords(commandLine), ...engineWords(flags, commandLine)])
  },

  read(commandLine, context) {
    const purpose = purposeOf(commandLine)
    if (purpose === undefined) return undefined
    const configured = configure(commandLine, context.files)
    const { flags, typed } = configured
    const isTraining = purpose === 'train'
    const { config, warnings } = readEngine(flags, commandLine, context.files)
    const isPacked = known(switchFlag(flags, ['sample-packing']))?.value === true
    const given = readTable(flags, TABLE)
    const workload: Workload = {
      ...runOf(commandLine, purpose, 'axolotl'),
      ...withoutAbsent({
        modelName: known(given.modelName),
        dataset: purpose === 'other' ? undefined : datasetsOf(flags),
        ...(isTraining ? trainingValues(configured) : {}),
        precision: isTraining ? (precisionOf(flags) ?? config.precision) : undefined,
        parallelism: isTraining ? parallelismOf(flags, config.sharding) : undefined,
        cpuOffload: isTraining ? config.cpuOffload : undefined,
        processes: isTraining ? processesOf(commandLine, context) : undefined,
      }),
    }
    // Several samples to a sequence: how many sequences there are shows when they are packed. Without packing a sample
    // is as long as it is, and `sequence_len` its most.
    return {
      workload,
      notDerived: isPacked ? ['steps'] : ['tokens'],
      warnings: isTraining ? [...configured.warnings, ...warnings, ...explainRepeated(typed, namesOf(TABLE))] : [],
    }
  },
}

/** `axolotl train`, `python -m axolotl.cli.train`, and `scripts/finetune.py` of its first versions. */
function purposeOf({ program, arguments: words }: CommandLine): Workload['purpose'] | undefined {
  if (/(^|\/)axolotl\/scripts\/finetune\.py$|^scripts\/finetune\.py$/.test(program) && words.some(isYaml)) {
    const asked = words
      .map(word => word.written)
      .find(word => /^--(inference|merge[-_]lora|shard|prepare_ds_only)/.test(word))
    return asked === undefined ? 'train' : asked === '--inference' ? 'infer' : 'other'
  }
  const module = /^axolotl\.cli\.(\w+)$/.exec(program)?.[1]
  const command = baseName(program) === 'axolotl' ? words[0]?.text : module
  return command === undefined ? undefined : (ownEntry(PURPOSES, command.replaceAll('_', '-')) ?? 'other')
}

function isYaml(word: CommandWord): boolean {
  return /\.ya?ml$/.test(word.written)
}

function configWords({ arguments: words }: CommandLine): readonly CommandWord[] {
  return words.filter(isYaml).slice(0, 1)
}

function configure(commandLine: CommandLine, files: FilesAtHand): Configured {
  return readConfigured(commandLine, configWords(commandLine), files, readFlags(commandLine))
}

function trainingValues({ flags, isComplete }: Configured): Partial<Workload> {
  const given = readTable(flags, TABLE)
  const once = isComplete ? byDefault(1, 'gradient_accumulation_steps') : undefined
  // An older key: the batch of one process and step, all accumulated passes together.
  const perStep = known(positiveFlag(flags, ['batch-size']))
  const micro =
    known(given.microBatch) ??
    (isComplete && given.microBatch === undefined ? byDefault(1, 'micro_batch_size') : undefined)
  const fromBatch = perStep && micro && sourced(perStep.value / micro.value, perStep.origin)
  const onlyEpoch = isComplete && given.epochs === undefined ? byDefault(1, 'num_epochs') : undefined
  const compiled = switchFlag(flags, ['torch-compile'])
  return withoutAbsent({
    // Steps win over epochs, as in the Trainer below it.
    steps: known(given.steps),
    epochs: given.steps === undefined ? (known(given.epochs) ?? onlyEpoch) : undefined,
    microBatch: micro,
    gradientAccumulation:
      given.gradientAccumulation === undefined ? (fromBatch ?? once) : known(given.gradientAccumulation),
    sequenceLength: known(given.sequenceLength),
    method: methodOf(flags, isComplete),
    loraRank: known(given.loraRank),
    activationRecompute: trainerRecompute(flags),
    flashAttention: trainerFlash(flags),
    optimizer: given.optimizer,
    compiled: known(compiled),
    checkpoint: checkpointOf(flags),
  })
}

/** `adapter: qlora` keeps 4-bit weights by itself; `lora` does with `load_in_4bit`; none trains all weights. */
function methodOf(flags: Flags, isComplete: boolean): Sourced<TrainingMethod> | undefined {
  const adapter = textFlag(flags, ['adapter'])
  if (adapter === undefined)
    return isComplete ? sourced('full', { kind: 'assumed', reason: 'no adapter is named' }) : undefined
  return methodNamed(known(adapter), known(switchFlag(flags, ['load-in-4bit'])))
}

/** `auto` takes bf16 wherever the GPU has it, which those of 2020 and later have. */
function precisionOf(flags: Flags): Sourced<Precision> | undefined {
  const word = known(textFlag(flags, ['bf16', 'bfloat16']))
  if (word?.value === 'auto')
    return sourced('bf16', { kind: 'assumed', reason: 'bf16: auto takes it wherever the GPU has it' })
  if (word?.value === 'full') return sourced('bf16', word.origin)
  for (const name of ['bf16', 'fp16', 'fp8', 'bfloat16', 'float16'] as const) {
    const on = known(switchFlag(flags, [name]))
    if (on?.value === true) return sourced(name === 'bfloat16' ? 'bf16' : name === 'float16' ? 'fp16' : name, on.origin)
  }
  return undefined
}

/** All data sets by path, in their order. */
function datasetsOf(flags: Flags): Sourced<string> | undefined {
  const paths = flags.list.filter(flag => /^(pretraining-dataset|datasets)(\.\d+\.path)?$/.test(flag.name))
  const [first] = paths
  const names = paths.flatMap(flag => flag.value?.text ?? [])
  return first && names.length === paths.length ? sourced(names.join(', '), first.origin) : undefined
}

function parallelismOf(
  flags: Flags,
  sharding: Sourced<Parallelism['sharding']> | undefined,
): Sourced<Parallelism> | undefined {
  const degrees = degreesOf(flags, { tensor: TENSOR, context: CONTEXT })
  if (degrees === undefined) return undefined
  const split = known(numberFlag(flags, [...TENSOR, ...CONTEXT]))
  const origin = split?.origin ?? sharding?.origin
  return origin && sourced({ ...degrees, interleave: 1, sharding: sharding?.value ?? 'none' }, origin)
}

/** `axolotl train` starts accelerate, or torchrun with what stands behind `--`. */
function processesOf(commandLine: CommandLine, { peers, processes }: RunContext): Sourced<number> | undefined {
  if (baseName(commandLine.program) !== 'axolotl' || processes !== undefined) return processes
  const options = { launcher: 'axolotl', options: commandLine.arguments }
  const count = (names: readonly string[]) => parseNumber(launchOption(options, names))
  const all = count(['num-processes'])
  const perNode = count(['nproc-per-node'])
  const nodes = count(['nnodes']) ?? (peers.machines === 1 ? 1 : undefined)
  const total = all ?? (perNode !== undefined && nodes !== undefined ? perNode * nodes : undefined)
  if (total === undefined) return processesOfAllGpus(commandLine, peers)
  return sourced(total, { kind: 'manifest', place: commandLine.place })
}

function checkpointOf(flags: Flags): Workload['checkpoint'] {
  const everyEpoch = known(textFlag(flags, ['save-strategy']))
  const perEpoch = known(positiveFlag(flags, ['saves-per-epoch']))
  const weightsOnly = known(switchFlag(flags, ['save-only-model']))
  if (everyEpoch?.value === 'no') return undefined
  return asCheckpoint({
    intervalSteps: known(positiveFlag(flags, ['save-steps'])),
    intervalEpochs: perEpoch
      ? sourced(1 / perEpoch.value, perEpoch.origin)
      : everyEpoch?.value === 'epoch'
        ? sourced(1, everyEpoch.origin)
        : undefined,
    destination: destinationOf(flags, ['output-dir']),
    content: weightsOnly && sourced(weightsOnly.value ? 'weights' : 'full', weightsOnly.origin),
    resumes: resumption(flags, ['resume-from-checkpoint', 'auto-resume-from-checkpoints']),
  })
}
