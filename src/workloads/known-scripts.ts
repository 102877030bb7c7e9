import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Checkpointing, Precision, Workload } from '../workload.ts'
import { asCheckpoint, destinationOf, resumption } from './checkpoints.ts'
import { runOf } from './configured.ts'
import {
  explainRepeated,
  type Flag,
  type Flags,
  findFlag,
  flagName,
  type Given,
  known,
  parseNumber,
  pathFlag,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { inheritedPaths, readInherited } from './inherited-settings.ts'
import { precisionFrom } from './precision-flags.ts'
import { countingLaunch, type Peers } from './processes.ts'
import { agentScripts } from './scripts/agents.ts'
import { generationScripts } from './scripts/generation.ts'
import type { Defaults, KnownScript } from './scripts/known-script.ts'
import { scienceScripts } from './scripts/science.ts'
import { translationScripts } from './scripts/translation.ts'
import { visionScripts } from './scripts/vision.ts'
import { hasFlag, namesOf, readTable } from './training-flags.ts'
import type { RunContext, WorkloadReader, WorkloadReading } from './workload-reader.ts'

const scripts: readonly KnownScript[] = [
  ...visionScripts,
  ...generationScripts,
  ...translationScripts,
  ...agentScripts,
  ...scienceScripts,
]

/** Published training programs that are started as they are, by what their own options mean. */
export const knownScripts: WorkloadReader = {
  name: 'known-script',

  refersTo(commandLine, files) {
    const script = findScript(commandLine)
    const words = script === undefined ? [] : configWords(script, commandLine)
    return words.flatMap(word => inheritedPaths(word, commandLine, files))
  },

  read(commandLine, context) {
    const script = findScript(commandLine)
    if (script === undefined) return undefined
    const typed = script.takesPairs ? withPairs(readFlags(commandLine)) : readFlags(commandLine)
    const words = configWords(script, commandLine)
    const { flags, isComplete, warnings } = readInherited(words, commandLine, context.files, typed)
    const purpose = purposeOf(script, flags, commandLine)
    const values =
      purpose === 'train'
        ? trainingValues(script, flags, isComplete ? script.defaults : undefined, context)
        : otherValues(script, flags)
    const configName =
      script.namesModelByConfig && values.modelName === undefined ? nameOfConfig(words.at(-1)) : undefined
    const processes = processesOf(script, flags, commandLine, context)
    const workload: Workload = {
      ...runOf(commandLine, purpose, script.framework),
      ...values,
      ...withoutAbsent({ modelName: values.modelName ?? configName, processes }),
    }
    return {
      workload,
      ...dataOf(script, flags),
      // A step of learning takes in many steps of an environment.
      notDerived: script.wholeRun && workload.globalBatch === undefined ? ['steps', 'tokens'] : [],
      warnings: [
        ...warnings,
        ...explainDefaults(workload, script.defaults),
        ...explainRepeated(typed, [...namesOf(script.table), ...(script.machineBatch?.batch ?? [])]),
      ],
    }
  },
}

function findScript(commandLine: CommandLine): KnownScript | undefined {
  const flags = readFlags(commandLine)
  // `-T` and `-t` are two options, `--Batch-Size` and `--batch-size` would be one.
  const given = new Set(flags.list.map(({ name, written }) => (name.length === 1 ? written.replace(/^-+/, '') : name)))
  return scripts.find(({ program, own }) => {
    if (!program.test(commandLine.program)) return false
    return own === undefined || own.flags.filter(name => given.has(name)).length >= own.least
  })
}

function configWords({ configFlags = [] }: KnownScript, commandLine: CommandLine): readonly CommandWord[] {
  const flags = readFlags(commandLine)
  const placed = flags.positionals.find(({ written }) => /\.(ya?ml|json|toml)$/.test(written))
  return configFlags.flatMap(name => (name === 0 ? placed : findFlag(flags, [name])?.value) ?? [])
}

/** `SOLVER.MAX_ITER 90000` behind the options, or behind `--opts`, which then seems to have the first of them as its value. */
function withPairs(flags: Flags): Flags {
  const first = findFlag(flags, ['opts', 'options'])?.value
  const words = [...(first === undefined ? [] : [first]), ...flags.positionals]
  const list = words.flatMap((word, index): Flag[] => {
    const value = words[index + 1]
    if (!/^[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*$/.test(word.written) || value === undefined) return []
    const { place, written } = word
    return [{ name: flagName(written), written, value, place, origin: { kind: 'manifest', place } }]
  })
  return { list: [...flags.list, ...list], positionals: flags.positionals }
}

function purposeOf(
  { evaluation = [], purposes = [] }: KnownScript,
  flags: Flags,
  { arguments: words }: CommandLine,
): Workload['purpose'] {
  if (known(switchFlag(flags, evaluation))?.value === true) return 'evaluate'
  return purposes.find(([pattern]) => words.some(word => pattern.test(word.written)))?.[1] ?? 'train'
}

/** What configurations are called that describe no model in particular. */
const NO_NAME =
  /^(default|defaults|base|config|cfg|train|training|finetune|pretrain|main|exp\d*|experiment|test|local)$/i

function nameOfConfig(word: CommandWord | undefined): Sourced<string> | undefined {
  if (word?.text === undefined || NO_NAME.test(baseName(word.text).replace(/\.\w+$/, ''))) return undefined
  return sourced(baseName(word.text).replace(/\.\w+$/, ''), { kind: 'manifest', place: word.place })
}

/** What is said of a run that does not train. */
function otherValues(script: KnownScript, flags: Flags): Partial<Workload> {
  const { modelName, dataset, microBatch, globalBatch } = readTable(flags, script.table)
  return withoutAbsent({
    modelName: modelNameOf(known(modelName)),
    dataset: datasetOf(known(dataset)),
    microBatch: known(microBatch),
    globalBatch: known(globalBatch),
    precision: precisionOf(script, flags, undefined),
  })
}

/** The values as given or, where nothing is said, as the program takes them. */
function trainingValues(
  script: KnownScript,
  flags: Flags,
  defaults: Defaults | undefined,
  context: RunContext,
): Partial<Workload> {
  const { table } = script
  const given = readTable(flags, table)
  // `--batch -1` leaves it to the program, and to no default.
  const said = <T>(value: Given<T>, names: readonly string[] = []) =>
    value ?? (hasFlag(flags, names) ? ('unknown' as const) : undefined)
  // `batch=0.7` is a share of the memory.
  const whole = (value: Given<number>): Given<number> =>
    value === undefined || value === 'unknown' || Number.isInteger(value.value) ? value : 'unknown'
  const samples = given.samples ?? wholeRunOf(script, flags)
  const isCounted = (given.steps ?? given.epochs ?? wholeRunOf(script, flags)) !== undefined
  // Wherever a program has both, one of them wins.
  const steps = script.epochsWin && given.epochs !== undefined ? undefined : given.steps
  const epochs = steps === undefined ? given.epochs : undefined
  const length = isCounted ? undefined : defaults
  const batch = script.machineBatch ? batchOfMachines(script.machineBatch, flags, context) : given.globalBatch
  return withoutAbsent({
    modelName: modelNameOf(taken(given.modelName, 'modelName', defaults)),
    dataset: datasetOf(known(given.dataset)),
    steps: stepsOfEpochs(script, flags, epochs, length) ?? taken(steps, 'steps', length),
    epochs: taken(epochs, 'epochs', length),
    samples: known(samples),
    globalBatch: taken(said(whole(batch), script.machineBatch?.batch ?? table.globalBatch), 'globalBatch', defaults),
    microBatch: taken(said(given.microBatch, table.microBatch), 'microBatch', defaults),
    gradientAccumulation: taken(given.gradientAccumulation, 'gradientAccumulation', defaults),
    sequenceLength: known(given.sequenceLength),
    precision: precisionOf(script, flags, defaults),
    optimizer: taken(said(given.optimizer, table.optimizer), 'optimizer', defaults),
    method: methodOf(script, flags),
    loraRank: known(given.loraRank),
    checkpoint: checkpointOf(script, flags, defaults),
  })
}

/** Where an epoch is a number of steps, whatever the data. */
function stepsOfEpochs(
  { epochSteps }: KnownScript,
  flags: Flags,
  given: Given<number>,
  defaults: Defaults | undefined,
): Sourced<number> | undefined {
  const epochs = epochSteps && taken(given, 'epochs', defaults)
  const each = epochSteps && positiveFlag(flags, epochSteps.flags)
  if (epochs === undefined || epochSteps === undefined || each === 'unknown') return undefined
  const length = each?.value ?? epochSteps.otherwise
  return sourced(epochs.value * length, { kind: 'computed', formula: `${epochs.value} epochs x ${length} steps` })
}

function methodOf({ adapter = [] }: KnownScript, flags: Flags): Workload['method'] {
  const flag = findFlag(flags, adapter)
  return flag === undefined
    ? sourced('full', { kind: 'assumed', reason: 'it trains all parameters' })
    : sourced('lora', flag.origin)
}

function checkpointOf(
  { checkpoint = {} }: KnownScript,
  flags: Flags,
  defaults: Defaults | undefined,
): Checkpointing | undefined {
  const interval = (names: readonly string[] = []): Given<number> =>
    positiveFlag(flags, names) ?? (hasFlag(flags, names) ? 'unknown' : undefined)
  return asCheckpoint({
    intervalSteps: taken(interval(checkpoint.steps), 'intervalSteps', defaults),
    intervalEpochs: taken(interval(checkpoint.epochs), 'intervalEpochs', defaults),
    destination: destinationOf(flags, checkpoint.folder ?? []),
    resumes: resumption(flags, checkpoint.resume ?? []),
  })
}

/** `("coco_2017_train",)` is one data set; several make one that nobody counts. */
function datasetOf(name: Sourced<string> | undefined): Sourced<string> | undefined {
  if (name === undefined || !/^[([]/.test(name.value)) return name
  const [first, ...more] = name.value.match(/[\w./-]+/g) ?? []
  return first === undefined || more.length > 0 ? undefined : sourced(first, name.origin)
}

/** What is given, else the program's own default. */
function taken<K extends Exclude<keyof Defaults, 'source'>>(
  given: Given<NonNullable<Defaults[K]>>,
  key: K,
  defaults: Defaults | undefined,
): Sourced<NonNullable<Defaults[K]>> | undefined {
  if (given !== undefined) return known(given)
  const fallback = defaults?.[key]
  return fallback === undefined || fallback === null || defaults === undefined
    ? undefined
    : sourced(fallback, defaultOf(defaults))
}

function defaultOf({ source }: Defaults): Origin {
  return { kind: 'assumed', reason: `the default of ${source}` }
}

/** Samples that an option counts for the whole run: thousands of images, steps of an environment. */
function wholeRunOf({ wholeRun }: KnownScript, flags: Flags): Given<number> {
  if (wholeRun === undefined) return undefined
  const given = positiveFlag(flags, wholeRun.flags)
  return given === undefined || given === 'unknown' ? given : sourced(given.value * wholeRun.samples, given.origin)
}

/** A batch that the GPUs of one machine share, times the machines. */
function batchOfMachines(
  { batch: names, machines: machineNames }: NonNullable<KnownScript['machineBatch']>,
  flags: Flags,
  { peers }: RunContext,
): Given<number> {
  const batch = positiveFlag(flags, names)
  if (batch === undefined || batch === 'unknown') return batch
  const told = positiveFlag(flags, machineNames)
  const machines = told === undefined ? (peers.machines === 1 ? 1 : undefined) : known(told)?.value
  if (machines === undefined) return 'unknown'
  if (machines === 1) return batch
  const formula = `${batch.value} a machine x ${machines} machines`
  return sourced(batch.value * machines, { kind: 'computed', formula })
}

function processesOf(
  { spawns }: KnownScript,
  flags: Flags,
  commandLine: CommandLine,
  { processes, peers }: RunContext,
): Sourced<number> | undefined {
  // timm's distributed_train.sh: how many processes comes first.
  const first = /\.sh$/.test(commandLine.program) ? parseNumber(flags.positionals[0]?.text) : undefined
  if (first !== undefined) return sourced(first, { kind: 'manifest', place: commandLine.place })
  if (spawns === undefined) {
    if (processes !== undefined || countingLaunch(commandLine) !== undefined) return processes
    return sourced(1, { kind: 'computed', formula: 'one process, without a launcher' })
  }
  const perMachine = perMachineOf(spawns, flags, peers)
  const machines = hasFlag(flags, spawns.machines) ? known(positiveFlag(flags, spawns.machines))?.value : 1
  if (perMachine === undefined || machines === undefined || machines < peers.machines) return processes
  const formula = `${machines} machines x ${perMachine} processes that it starts itself`
  return sourced(perMachine * machines, { kind: 'computed', formula })
}

/** A number, or a list of devices: `0,1,2,3`. */
function perMachineOf(
  { perMachine, devices = [], otherwise }: NonNullable<KnownScript['spawns']>,
  flags: Flags,
  peers: Peers,
): number | undefined {
  const listed = findFlag(flags, devices)?.value?.text
  if (listed !== undefined) return countDevices(listed)
  const flag = findFlag(flags, perMachine)
  if (flag === undefined) return otherwise === 'one' ? 1 : peers.gpusPerMachine
  const text = flag.value?.text
  return text?.includes(',') ? countDevices(text) : parseNumber(text)
}

/** `0,1,2,3`, also with a comma behind. */
function countDevices(list: string): number | undefined {
  return /^\d+(,\d+)*,?$/.test(list) ? list.split(',').filter(device => device !== '').length : undefined
}

/** Switches that leave nothing to a program's default, turned off as well as on. */
const PRECISION_SWITCHES = ['fp16', 'use-fp16', 'bf16', 'use-bf16', 'amp', 'use-amp', 'precision']

function precisionOf(
  { mixed }: KnownScript,
  flags: Flags,
  defaults: Defaults | undefined,
): Sourced<Precision> | undefined {
  const named = precisionFrom(flags)
  if (named !== undefined) return named
  if (mixed === undefined || !hasFlag(flags, mixed.flags))
    return hasFlag(flags, PRECISION_SWITCHES) ? undefined : taken(undefined, 'precision', defaults)
  const on = mixed.word === undefined ? known(switchFlag(flags, mixed.flags)) : undefined
  const word = mixed.word === undefined ? undefined : known(textFlag(flags, mixed.flags))
  if (on?.value === true) return sourced(mixed.precision, on.origin)
  return word !== undefined && word.value === mixed.word ? sourced(mixed.precision, word.origin) : undefined
}

/** YOLO's networks are called by their published weights; any other file of weights is some run's outcome. */
function modelNameOf(name: Sourced<string> | undefined): Sourced<string> | undefined {
  if (name === undefined || !/\.(pt|pth|ckpt|safetensors|ya?ml)$/.test(name.value)) return name
  const [, published] = /(?:^|\/)((?:yolo|rtdetr)[\w-]*)\.(?:pt|ya?ml)$/i.exec(name.value) ?? []
  return published === undefined ? undefined : sourced(published, name.origin)
}

/** What an epoch goes through, and where that lies. */
function dataOf(
  { epochOf, dataFolder = [] }: KnownScript,
  flags: Flags,
): Pick<WorkloadReading, 'epochOf' | 'dataFolder'> {
  const names = dataFolder.filter(name => name !== 0)
  const [first] = dataFolder.includes(0) ? flags.positionals.filter(word => word.written.includes('/')) : []
  const positional = first && sourced(first.written, { kind: 'manifest' as const, place: first.place })
  const folder = pathFlag(flags, names) ?? positional
  return { ...(epochOf && { epochOf }), ...(folder && { dataFolder: folder }) }
}

/** Which defaults decide how long the run takes. */
function explainDefaults({ place, ...workload }: Workload, defaults: Defaults | undefined): Warning[] {
  if (defaults === undefined) return []
  const { modelName, steps, epochs, globalBatch, microBatch } = workload
  const filled = Object.entries({ model: modelName, steps, epochs, batch: globalBatch ?? microBatch })
    .filter(([, value]) => value?.origin.kind === 'assumed')
    .map(([name, value]) => `${name} ${value?.value}`)
  if (filled.length === 0) return []
  const text = `not said, so the default of ${defaults.source}: ${filled.join(', ')}`
  return [{ code: 'default-filled', text, place }]
}
