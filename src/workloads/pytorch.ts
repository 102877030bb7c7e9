import type { CommandLine } from '../command-lines.ts'
import { imageName } from '../serving-images.ts'
import { readPythonSettings } from '../settings/python.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import { words } from '../word-list.ts'
import type { Workload } from '../workload.ts'
import { batchesOf } from './batch-meaning.ts'
import { plainCheckpoint } from './checkpoints.ts'
import { isConfigFile } from './config-files.ts'
import { pathsOf } from './configured.ts'
import {
  explainRepeated,
  type Flag,
  type Flags,
  findFlag,
  type Given,
  known,
  numberFlag,
  pathFlag,
  positiveFlag,
  readBoolean,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { plainConfigWords, readPlainConfig } from './plain-config.ts'
import { precisionFrom } from './precision-flags.ts'
import { countingLaunch, type Peers } from './processes.ts'
import { isCalledTraining, isTrainingCommand, purposeOfProgram } from './program-purpose.ts'
import { batchIsShared, declaredFlags, findProgram, type ProgramText, programPath } from './script-defaults.ts'
import { findSettings, layFlags, settingsAsFlags } from './settings-table.ts'
import { dataParallel, deepspeedWords, readEngine } from './training-arguments.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import { weightBitsOf } from './weight-bits.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'
import { modelOfWrittenFlags } from './written-flags.ts'

/** Usual names of scripts' own options, and of Lightning's and Hydra's keys. */
const TABLE: FlagTable = {
  steps: words(`
    max-steps max-iters max-iterations max-iter num-steps n-steps train-steps num-train-steps training-steps
    num-training-steps max-train-steps total-training-steps n-iters niters train-iters max-num-steps
    maxsteps total-steps max-updates max-update total-iters num-iters num-iterations iterations steps trainer.max-steps
    training.max-steps train.max-steps
  `),
  epochs: words(`
    epochs total-epochs training-epochs num-training-epochs nepoch total-epoch max-epochs max-epoch max-num-epochs num-epochs num-epoch n-epoch nb-epochs n-epochs nepochs num-train-epochs train-epochs trainer.max-epochs
    trainer.epochs trainer.num-epochs training.epochs train.epochs training.num-epochs
  `),
  globalBatch: [
    'global-batch-size',
    'total-batch-size',
    'effective-batch-size',
    'model.global-batch-size',
    'data.global-batch-size',
  ],
  microBatch: words(`
    batch-size-per-rank batch-size-per-gpu batch-size-per-device per-gpu-batch-size per-device-batch-size
    per-gpu-train-batch-size device-batch-size micro-batch-size local-batch-size samples-per-gpu
    train-micro-batch-size-per-gpu model.micro-batch-size training.local-batch-size
  `),
  gradientAccumulation: words(`
    gradient-accumulation-steps grad-accum-steps grad-accumulation-steps accumulation-steps
    accumulate-grad-batches accum-iter grad-accum trainer.accumulate-grad-batches
  `),
  sequenceLength: words(`
    seq-len seq-length sequence-length max-seq-len max-seq-length block-size context-length max-context-width
    ctx-len model.encoder-seq-length data.seq-len training.seq-len
  `),
  loraRank: ['lora-r', 'lora-rank'],
  modelName: ['model', 'arch', 'a', 'model-name', 'model-name-or-path', 'model.name', 'architecture', 'network'],
  dataset: ['dataset', 'dataset-name', 'datamodule', 'data.name'],
  optimizer: ['optimizer', 'optim', 'opt'],
}

/** By these many parties learn in turns, each through a part of the data: epochs are those of a turn. */
const FEDERATED = words(`
  comm-round comm-rounds communication-rounds n-parties num-clients n-clients num-users local-ep local-epochs
`)

/** Where no other option counts epochs; a program that does not train is told by it which one to load. */
const EPOCH = ['epoch']

/** A batch of which only the program knows whether it is one process's or everybody's. */
const BATCH = words(`
  batch-size batch bs b batchsize train-batch-size data.batch-size datamodule.batch-size
  datamodule.batch-size.train dataloader.batch-size dataset.batch-size training.batch-size train.batch-size
`)

const DEVICES = ['trainer.devices', 'devices', 'trainer.gpus', 'gpus']
const NODES = ['trainer.num-nodes', 'num-nodes']
/** By these a program starts processes of its own; unless it is told one. */
const OWN_PROCESSES = [
  ...DEVICES,
  'num-gpus',
  'n-gpus',
  'ngpus',
  'n-gpu',
  'gpu-ids',
  'world-size',
  'multiprocessing-distributed',
  'distributed',
]

/** Epochs that pytorch-CycleGAN-and-pix2pix adds while the rate decays. */
const DECAY = ['n-epochs-decay', 'niter-decay']

/** Options of Horovod's examples. */
const HOROVOD = ['fp16-allreduce', 'use-adasum', 'batches-per-allreduce', 'gradient-predivide-factor']

/** Options of TensorFlow's programs with parameter servers. */
const PARAMETER_SERVERS = ['ps-hosts', 'worker-hosts']

/** Where scripts are told that their data lies. */
const FOLDERS = words(`
  data-path data-dir data data-root dataroot root dataset-dir dataset-path dataset-root train-dir train-data imagenet-dir
`)

/** Names of numbers that a program's own constants may have. */
const NUMBERS = new Set([
  ...(TABLE.steps ?? []),
  ...(TABLE.epochs ?? []),
  ...(TABLE.globalBatch ?? []),
  ...(TABLE.microBatch ?? []),
  ...(TABLE.gradientAccumulation ?? []),
  ...(TABLE.sequenceLength ?? []),
  ...BATCH,
])

/** A container image that is given options for the program it starts: `registry.example/lab/fit:1.3`. */
const IMAGE = /^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w.-]+|@sha256:\w+)$/

/** Any Python program with the usual option names; says little, so that it says nothing wrong. */
export const pytorch: WorkloadReader = {
  name: 'pytorch',

  refersTo(commandLine) {
    if (!runsPython(commandLine)) return []
    const engine = deepspeedWords(readFlags(commandLine))
    return [...pathsOf([...plainConfigWords(commandLine), ...engine]), ...[programPath(commandLine) ?? []].flat()]
  },

  read(commandLine, context) {
    const isImage = IMAGE.test(commandLine.program) && commandLine.launches.length === 0
    const typed = readFlags(commandLine)
    const isCommand = !runsPython(commandLine) && isTrainingCommand(commandLine, typed)
    if (!runsPython(commandLine) && !isImage && !isCommand) return undefined
    const program = findProgram(commandLine, context.files)
    const flags = layFlags(flagsBelow(commandLine, program, typed, context.files), typed)
    const given = readTable(flags, TABLE)
    const batch = positiveFlag(flags, BATCH)
    const isFederated = hasFlag(flags, FEDERATED)
    const epochs = isFederated ? undefined : known(withDecay(given.epochs ?? positiveFlag(flags, EPOCH), flags))
    const purpose = isImage || isCommand ? 'train' : purposeOfProgram(commandLine, typed)
    const hasLength = known(given.steps) !== undefined || epochs !== undefined
    const hasBatch = [batch, given.globalBatch, given.microBatch].some(value => known(value) !== undefined)
    const saysTraining = !isImage && isCalledTraining(commandLine, typed)
    if (purpose === 'other') {
      const { place, repetitions, conditional } = commandLine
      return { workload: { purpose, place, role: '', repetitions, conditional }, warnings: [] }
    }
    const speaksOfTraining = hasBatch && !isImage && hasTrainingOption(typed)
    if (purpose === 'train' && !hasLength && !saysTraining && !speaksOfTraining) return undefined
    const isLightning = usesLightning(flags)
    const { processes, warnings } = processesOf(isLightning ? flags : typed, commandLine, context, isLightning)
    const framework = frameworkOf(isLightning ? flags : typed, commandLine, isLightning, program)
    // Horovod's ranks and Lightning's devices each read batches of their own.
    const hasHabit = isLightning || framework?.value === 'horovod'
    const isShared = hasHabit ? false : program && batchIsShared(program)
    const isAlone = !startsOwnProcesses(typed) && startsOneProcess(commandLine)
    const batches = batchesOf(batch, given, { processes, isShared, isAlone })
    const isTraining = purpose === 'train'
    // A script of its own hands DeepSpeed the file, and takes batch and precision from it.
    const usesDeepspeed = isTraining && deepspeedWords(flags).length > 0
    const engine: ReturnType<typeof readEngine> = usesDeepspeed
      ? readEngine(flags, commandLine, context.files)
      : { config: {}, warnings: [] }
    const { globalBatch, microBatch, gradientAccumulation, sharding, precision, cpuOffload } = engine.config
    const workload: Workload = {
      purpose,
      place: commandLine.place,
      role: '',
      repetitions: commandLine.repetitions,
      conditional: commandLine.conditional,
      ...withoutAbsent({
        framework,
        model: modelOfWrittenFlags(flags, TABLE.sequenceLength ?? [], context.models),
        modelName: modelNameOf(known(given.modelName), flags),
        dataset: publicName(known(given.dataset)) ?? (given.dataset === undefined ? datasetWord(flags) : undefined),
        steps: isTraining && !(epochs !== undefined && mayBeOfEpoch(flags)) ? known(given.steps) : undefined,
        epochs: isTraining ? epochs : undefined,
        ...batches,
        ...withoutAbsent({ globalBatch, microBatch, gradientAccumulation, cpuOffload }),
        parallelism: sharding && dataParallel(sharding),
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags) ?? precision,
        method: isTraining
          ? methodOf(flags, given.loraRank, known(given.modelName), framework, commandLine, context.files)
          : undefined,
        loraRank: known(given.loraRank),
        optimizer: given.optimizer,
        compiled: known(switchFlag(flags, ['compile', 'torch-compile'])),
        checkpoint: isTraining ? plainCheckpoint(flags, isLightning) : undefined,
        processes,
      }),
    }
    const lies = given.dataset === 'unknown' ? pathFlag(flags, TABLE.dataset ?? []) : pathOf(known(given.dataset))
    const folder = pathFlag(flags, FOLDERS) ?? lies ?? onlyFolder(flags)
    return {
      workload,
      epochOf: 'samples',
      ...(folder && { dataFolder: folder }),
      warnings: [
        ...warnings,
        ...engine.warnings,
        ...explainDefaults(workload),
        ...explainRepeated(typed, [...namesOf(TABLE), ...BATCH]),
      ],
    }
  },
}

/** Beside epochs, options that are called no more than this may count the steps of one. */
function mayBeOfEpoch(flags: Flags): boolean {
  const steps = findFlag(flags, TABLE.steps ?? [])
  return steps !== undefined && /^(n|num)?-?(steps|iters|iterations)$/.test(steps.name)
}

/** A batch alone may be one of inference; rates, optimizers and checkpoints are those of training. */
function hasTrainingOption({ list }: Flags): boolean {
  return list.some(({ name }) =>
    /^(?:lr|learning-rate|base-lr|max-lr|min-lr|optim(?:izer)?|opt|weight-decay|wd|momentum|warmup.*|grad.*|.*train.*|accum.*|dropout|scheduler|lr-.*|resume.*|save-(?:every|freq|steps|interval))$/.test(
      name,
    ),
  )
}

/** What stands below the command line: a configuration, else the program's own defaults, and the constants at its margin. */
function flagsBelow(
  commandLine: CommandLine,
  program: ProgramText | undefined,
  typed: Flags,
  files: FilesAtHand,
): Flags {
  const nothing: Flags = { list: [], positionals: [] }
  const { defaults, placed } = program ? declaredFlags(program, typed) : { defaults: nothing, placed: nothing }
  // A configuration may say what its program has a default for.
  const isConfigured = plainConfigWords(commandLine).length > 0
  const config = isConfigured ? readPlainConfig(commandLine, files) : defaults
  const constants = program === undefined || isConfigured ? nothing : constantsOf(program, commandLine)
  return [config, placed].reduce(layFlags, constants)
}

/** Numbers of a program that takes no options for them: `BATCH_SIZE = 64`. */
function constantsOf({ path, text }: ProgramText, { place }: CommandLine): Flags {
  const { list } = settingsAsFlags(readPythonSettings(text, { kind: 'file', place: { file: path } }), place)
  return { list: list.filter(({ name }) => NUMBERS.has(name)), positionals: [] }
}

/** Which of the values that decide how long it takes nobody said: defaults of the program, and what is taken without its word. */
function explainDefaults({ steps, epochs, globalBatch, microBatch, place }: Workload): Warning[] {
  const filled = Object.entries({ steps, epochs, batch: globalBatch ?? microBatch }).flatMap(([name, value]) =>
    value?.origin.kind === 'assumed' ? [{ reason: value.origin.reason, text: `${name} ${value.value}` }] : [],
  )
  if (filled.length === 0) return []
  const isDefault = filled.some(({ reason }) => reason.startsWith('the default'))
  const text = `not said on the command line: ${filled.map(each => `${each.text} (${each.reason})`).join(', ')}`
  return [{ code: isDefault ? 'default-filled' : 'assumed', text, place }]
}

function runsPython({ launches, program }: CommandLine): boolean {
  if (program === '-c' || program === '-') return false
  return (
    /\.(py|jl|R)$/.test(program) ||
    launches.some(launch => /^(python|torchrun|accelerate|deepspeed|composer)$/.test(launch.launcher))
  )
}

/** Epochs at the full rate and those of its decay, which pytorch-CycleGAN-and-pix2pix trains after them. */
function withDecay(epochs: Given<number>, flags: Flags): Given<number> {
  const decay = numberFlag(flags, DECAY)
  if (decay === undefined || epochs === undefined || epochs === 'unknown') return epochs
  if (decay === 'unknown') return 'unknown'
  return sourced(epochs.value + decay.value, {
    kind: 'computed',
    formula: `${epochs.value} epochs + ${decay.value} while the rate decays`,
  })
}

/** Lightning's Trainer has keys of its own, in Hydra's form or as flags of older versions. */
function usesLightning(flags: Flags): boolean {
  const keys = words(`
    trainer.devices trainer.max-steps trainer.max-epochs trainer.num-nodes trainer.precision replace-sampler-ddp
    accumulate-grad-batches num-sanity-val-steps
  `)
  return hasFlag(flags, keys)
}

/** Lightning starts its own processes: devices times nodes. */
function processesOf(
  flags: Flags,
  commandLine: CommandLine,
  context: RunContext,
  isLightning: boolean,
): { processes: Sourced<number> | undefined; warnings: readonly Warning[] } {
  if (!isLightning) return { processes: startsOwnProcesses(flags) ? undefined : context.processes, warnings: [] }
  const devices = numberFlag(flags, DEVICES)
  const nodes = numberFlag(flags, NODES)
  const warnings =
    nodes === undefined || nodes === 'unknown' ? [] : compareNodes(flags, nodes.value, commandLine, context.peers)
  if (devices === undefined || devices === 'unknown' || devices.value < 1 || nodes === 'unknown')
    return { processes: context.processes, warnings }
  const count = devices.value * (nodes?.value ?? 1)
  return {
    processes: sourced(count, { kind: 'computed', formula: `${devices.value} devices x ${nodes?.value ?? 1} nodes` }),
    warnings,
  }
}

/** No launcher, or one that is told to start one. */
function startsOneProcess(commandLine: CommandLine): boolean {
  const launch = countingLaunch(commandLine)
  return launch === undefined || (launch.launcher === 'srun' && launch.processes === 1)
}

function startsOwnProcesses(flags: Flags): boolean {
  const flag = findFlag(flags, OWN_PROCESSES)
  return flag !== undefined && flag.value?.text !== '1' && countsProcesses(flag)
}

/** `--distributed false` and `--gpus 0` say that it starts none. */
function countsProcesses(flag: Flag): boolean {
  return flag.value === undefined || readBoolean(flag.value.text) !== false
}

/** Lightning is told as many nodes as are requested, or waits for others. */
export function compareNodes(flags: Flags, nodes: number, commandLine: CommandLine, peers: Peers): Warning[] {
  if (nodes === peers.machines || peers.machines === 0) return []
  const flag = findFlag(flags, NODES)
  const text = `${flag?.written ?? '--num_nodes'} is ${nodes}, ${peers.machines} nodes are requested`
  return [{ code: 'conflict', text, place: flag?.place ?? commandLine.place }]
}

function frameworkOf(
  flags: Flags,
  commandLine: CommandLine,
  isLightning: boolean,
  program: ProgramText | undefined,
): Sourced<string> | undefined {
  const { place } = commandLine
  const said = (name: string) => sourced(name, { kind: 'manifest', place })
  // NeMo is Lightning with a model section of its own.
  if (isLightning)
    return said(hasFlag(flags, ['model.global-batch-size', 'model.micro-batch-size']) ? 'nemo' : 'lightning')
  // A module of a package is some framework's own program; a script is the user's.
  if (!/\.py$/.test(commandLine.program)) return undefined
  const launcher = countingLaunch(commandLine)?.launcher ?? ''
  if (launcher === 'horovodrun' || hasFlag(flags, HOROVOD)) return said('horovod')
  if (/^(paddle|fleetrun)$/.test(launcher)) return said('paddlepaddle')
  if (launcher === 'colossalai') return said('colossal-ai')
  if (['torchrun', 'accelerate', 'deepspeed'].includes(launcher)) return said('pytorch')
  if (hasFlag(flags, PARAMETER_SERVERS)) return said('tensorflow')
  const ofImage = frameworkOfImage(commandLine.image ?? '')
  if (ofImage !== undefined) return said(ofImage)
  if (launcher === 'mpirun') return undefined
  if (/keras|tensorflow|jax|flax|t5x|(^|[/_])tf\d?_/i.test(commandLine.program)) return undefined
  if (program === undefined)
    return sourced('pytorch', {
      kind: 'assumed',
      reason: 'a Python program with the options that training scripts have',
    })
  const imports = /^[ \t]*(?:import|from)[ \t]+(?:torch|lightning|pytorch_lightning)\b/m.test(program.text)
  return imports ? sourced('pytorch', { kind: 'file', place: { file: program.path } }) : undefined
}

/** Images that are called after what is in them: `tensorflow/tensorflow:2.16.1-gpu`, `nvcr.io/nvidia/pytorch:24.05-py3`. */
function frameworkOfImage(image: string): string | undefined {
  const names = ['tensorflow', 'pytorch', 'jax', 'paddlepaddle'].filter(name => imageName(image).includes(name))
  return names.length === 1 ? names[0] : undefined
}

/** Options by which scripts are told to train an adapter, and to hold the network in 4 bits meanwhile. */
const ADAPTER = /^(?:(?:use|enable|with|apply)-)?(?:q?lora|peft)$|^lora-(?:alpha|dropout|target\S*|modules)$/
const FOUR_BITS = ['load-in-4bit', 'use-4bit']

/** Whether the program is given a configuration that is not here, where anything may stand. */
function hasUnreadConfig(commandLine: CommandLine, files: FilesAtHand): boolean {
  const { list, positionals } = readFlags(commandLine)
  const given = [...list.flatMap(({ value }) => value ?? []), ...positionals].filter(isConfigFile)
  return given.some(word => findSettings(word, commandLine, files).settings === undefined)
}

function methodOf(
  flags: Flags,
  rank: Given<number>,
  modelName: Sourced<string> | undefined,
  framework: Sourced<string> | undefined,
  commandLine: CommandLine,
  files: FilesAtHand,
): Workload['method'] | undefined {
  const fourBits = known(switchFlag(flags, FOUR_BITS))
  const weights = weightBitsOf(modelName, undefined)
  const kind = fourBits?.value === true || (weights !== undefined && weights.value <= 4) ? 'qlora' : 'lora'
  const adapter = flags.list.find(({ name, value }) => ADAPTER.test(name) && readBoolean(value?.text) !== false)
  if (rank !== undefined) return rank === 'unknown' ? undefined : sourced(kind, rank.origin)
  if (adapter !== undefined) return sourced(/qlora/.test(adapter.name) ? 'qlora' : kind, adapter.origin)
  if (kind === 'qlora')
    return sourced('qlora', { kind: 'assumed', reason: 'weights of 4 bits learn through an adapter' })
  const others = flags.list.map(({ name }) => name).filter(name => !ADAPTER.test(name))
  const mayAdapt = [commandLine.program, ...others].some(name => /lora|peft|adapter|unsloth/i.test(name))
  if (
    (framework === undefined && !/\.py$/.test(commandLine.program)) ||
    mayAdapt ||
    hasUnreadConfig(commandLine, files)
  )
    return undefined
  return sourced('full', { kind: 'assumed', reason: 'no adapter option is given' })
}

/** Words that say how large a network is, or which of a program's own, and not what it is called. */
const NO_NAME =
  /^(tiny|small|medium|base|large|huge|xl|xxl|\d+|default|baseline|full|ours|custom|best|last|latest|final|teacher|student|none|true|false)$/i

/** A file of weights is some run's outcome, whatever network is in it; so is a folder that lies somewhere. */
function modelNameOf(name: Sourced<string> | undefined, flags: Flags): Sourced<string> | undefined {
  if (
    name === undefined ||
    NO_NAME.test(name.value) ||
    /\.(pt|pth|ckpt|bin|onnx|safetensors|h5|pkl|py|ya?ml|json)$/.test(name.value)
  )
    return undefined
  // pytorch-CycleGAN-and-pix2pix calls its ways to train models; the networks are those of --netG.
  return hasFlag(flags, DECAY) && !/cycle_?gan|pix2pix/i.test(name.value) ? undefined : name
}

/** The place of a data set, where that stands for its name. */
function pathOf(dataset: Sourced<string> | undefined): Sourced<string> | undefined {
  return publicName(dataset) === undefined ? dataset : undefined
}

/** The path that a program is given without an option: PyTorch's ImageNet example takes its data so. */
function onlyFolder({ positionals }: Flags): Sourced<string> | undefined {
  const [word, ...others] = positionals
  const isFolder = others.length === 0 && word?.text !== undefined && /\//.test(word.text) && !/\.\w+$/.test(word.text)
  return isFolder && word.text !== undefined ? sourced(word.text, { kind: 'manifest', place: word.place }) : undefined
}

/** `--data cifar10` names a data set; `--data data` a folder, as does anything with a slash. */
function datasetWord(flags: Flags): Sourced<string> | undefined {
  const word = known(textFlag(flags, ['data']))
  return word !== undefined && /^[a-z][\w-]*$/i.test(word.value) && !/^(data(sets?)?|train(ing)?)$/i.test(word.value)
    ? word
    : undefined
}

/** The name of a data set; a path is where somebody keeps one. */
function publicName(dataset: Sourced<string> | undefined): Sourced<string> | undefined {
  const isPath = dataset === undefined || /^[./~]|\.(jsonl?|csv|txt|parquet|bin|pt|h5|lmdb|ya?ml)$/.test(dataset.value)
  return isPath ? undefined : dataset
}
