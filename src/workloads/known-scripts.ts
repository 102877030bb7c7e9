import type { CommandLine } from '../command-lines.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Precision, Workload } from '../workload.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  findFlag,
  type Given,
  known,
  numberFlag,
  parseNumber,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { precisionFrom } from './precision-flags.ts'
import { countingLaunch } from './processes.ts'
import { agentScripts } from './scripts/agents.ts'
import { generationScripts } from './scripts/generation.ts'
import type { Defaults, KnownScript } from './scripts/known-script.ts'
import { visionScripts } from './scripts/vision.ts'
import { hasFlag, namesOf, readTable } from './training-flags.ts'
import type { RunContext, WorkloadReader, WorkloadReading } from './workload-reader.ts'

const scripts: readonly KnownScript[] = [...visionScripts, ...generationScripts, ...agentScripts]

/** Published training programs that are started as they are, by what their own options mean. */
export const knownScripts: WorkloadReader = {
  name: 'known-script',

  refersTo(commandLine) {
    const script = findScript(commandLine)
    return script === undefined ? [] : pathsOf(configWords(script, commandLine))
  },

  read(commandLine, context) {
    const script = findScript(commandLine)
    if (script === undefined) return undefined
    const { flags, isComplete, warnings } = readConfigured(commandLine, configWords(script, commandLine), context.files)
    const isEvaluation = known(switchFlag(flags, script.evaluation ?? []))?.value === true
    const values = isEvaluation
      ? evaluationValues(script, flags)
      : trainingValues(script, flags, isComplete ? script.defaults : undefined, context)
    const processes = processesOf(script, flags, commandLine, context)
    const workload: Workload = {
      ...runOf(commandLine, isEvaluation ? 'evaluate' : 'train', script.framework),
      ...values,
      ...withoutAbsent({ processes }),
    }
    return {
      workload,
      ...dataOf(script, flags),
      // A step of learning takes in many steps of an environment.
      notDerived: script.wholeRun && workload.globalBatch === undefined ? ['steps', 'tokens'] : [],
      warnings: [
        ...warnings,
        ...explainDefaults(workload, script.defaults),
        ...explainRepeated(flags, [...namesOf(script.table), ...(script.machineBatch ?? [])]),
      ],
    }
  },
}

function findScript(commandLine: CommandLine): KnownScript | undefined {
  const flags = readFlags(commandLine)
  const given = new Set(flags.list.map(flag => flag.name))
  return scripts.find(({ program, own }) => {
    if (!program.test(commandLine.program)) return false
    return own === undefined || own.flags.filter(name => given.has(name)).length >= own.least
  })
}

function configWords({ configFlags = [] }: KnownScript, commandLine: CommandLine) {
  const word = findFlag(readFlags(commandLine), configFlags)?.value
  return word === undefined ? [] : [word]
}

function evaluationValues(script: KnownScript, flags: Flags): Partial<Workload> {
  const { modelName, dataset, microBatch, globalBatch } = readTable(flags, script.table)
  return withoutAbsent({
    modelName: modelNameOf(known(modelName)),
    dataset: known(dataset),
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
  const samples = given.samples ?? wholeRunOf(script, flags)
  const hasLength = (given.steps ?? given.epochs ?? wholeRunOf(script, flags)) !== undefined
  const batch = script.machineBatch ? batchOfMachines(script.machineBatch, flags, context) : given.globalBatch
  return withoutAbsent({
    modelName: modelNameOf(taken(given.modelName, 'modelName', defaults)),
    dataset: known(given.dataset),
    steps: known(given.steps),
    // Steps win over epochs wherever a program has both.
    epochs: hasLength
      ? given.steps === undefined
        ? known(given.epochs)
        : undefined
      : taken(undefined, 'epochs', defaults),
    samples: known(samples),
    globalBatch: taken(said(batch, script.machineBatch ?? table.globalBatch), 'globalBatch', defaults),
    microBatch: taken(said(given.microBatch, table.microBatch), 'microBatch', defaults),
    gradientAccumulation: taken(given.gradientAccumulation, 'gradientAccumulation', defaults),
    sequenceLength: known(given.sequenceLength),
    precision: precisionOf(script, flags, defaults),
    optimizer: taken(said(given.optimizer, table.optimizer), 'optimizer', defaults),
    method: sourced<'full'>('full', { kind: 'assumed', reason: 'it trains all parameters' }),
  })
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

/** A batch that the GPUs of one machine share, times the machines that `--world-size` counts in such programs. */
function batchOfMachines(names: readonly string[], flags: Flags, { peers }: RunContext): Given<number> {
  const batch = positiveFlag(flags, names)
  const worldSize = positiveFlag(flags, ['world-size'])
  const machines = worldSize === undefined ? (peers.machines === 1 ? 1 : undefined) : known(worldSize)?.value
  if (machines === 1 || batch === undefined || batch === 'unknown') return machines === undefined ? 'unknown' : batch
  if (machines === undefined) return 'unknown'
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
  if (processes !== undefined || countingLaunch(commandLine) !== undefined) return processes
  if (spawns !== true) return sourced(1, { kind: 'computed', formula: 'one process, without a launcher' })
  const told = numberFlag(flags, ['gpus', 'distributed-world-size', 'distributed-training.distributed-world-size'])
  if (told !== undefined) return known(told)
  if (peers.machines !== 1) return undefined
  return sourced(peers.gpuCount, { kind: 'computed', formula: `one process for each of ${peers.gpuCount} GPUs` })
}

function precisionOf(
  { mixed }: KnownScript,
  flags: Flags,
  defaults: Defaults | undefined,
): Sourced<Precision> | undefined {
  const named = precisionFrom(flags)
  if (named !== undefined) return named
  if (mixed === undefined || !hasFlag(flags, mixed.flags)) return taken(undefined, 'precision', defaults)
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
  const [first] = dataFolder.includes(0) ? flags.positionals.filter(word => word.text?.includes('/')) : []
  const positional =
    first?.text === undefined ? undefined : sourced(first.text, { kind: 'manifest' as const, place: first.place })
  const folder = known(textFlag(flags, names)) ?? positional
  return { ...(epochOf && { epochOf }), ...(folder && { dataFolder: folder }) }
}

/** Which defaults decide how long the run takes. */
function explainDefaults({ place, ...workload }: Workload, defaults: Defaults | undefined): Warning[] {
  if (defaults === undefined) return []
  const { modelName, epochs, globalBatch, microBatch } = workload
  const filled = Object.entries({ model: modelName, epochs, batch: globalBatch ?? microBatch })
    .filter(([, value]) => value?.origin.kind === 'assumed')
    .map(([name, value]) => `${name} ${value?.value}`)
  if (filled.length === 0) return []
  const text = `not said, so the default of ${defaults.source}: ${filled.join(', ')}`
  return [{ code: 'default-filled', text, place }]
}
