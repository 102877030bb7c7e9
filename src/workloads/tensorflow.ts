import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Precision, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import { type Flag, type Flags, flagName, known, parseNumber, positiveFlag, readFlags, textFlag } from './flags.ts'
import { pytorch } from './pytorch.ts'
import { layFlags } from './settings-table.ts'
import { type FlagTable, hasFlag, readTable } from './training-flags.ts'
import type { RunContext, WorkloadReader, WorkloadReading } from './workload-reader.ts'

/** Keys of the TF Model Garden's experiments (official/core/config_definitions.py). */
const TABLE: FlagTable = {
  steps: ['trainer.train-steps'],
  globalBatch: ['task.train-data.global-batch-size'],
  sequenceLength: ['task.train-data.seq-length'],
  modelName: ['experiment'],
  optimizer: ['trainer.optimizer-config.optimizer.type'],
}

/** Variables in which manifests hand a program its settings. */
const VARIABLES = {
  epochs: ['EPOCHS', 'NUM_EPOCHS', 'TRAIN_EPOCHS', 'MAX_EPOCHS'],
  steps: ['TRAIN_STEPS', 'NUM_STEPS', 'MAX_STEPS'],
  modelName: ['MODEL_NAME', 'MODEL', 'ARCH'],
  backbone: ['BACKBONE'],
} as const

/** The TF Model Garden, and programs that run in a TFJob or are told of others by `TF_CONFIG`. */
export const tensorflow: WorkloadReader = {
  name: 'tensorflow',

  refersTo(commandLine) {
    return isGarden(commandLine) ? pathsOf(configWords(commandLine)) : []
  },

  read(commandLine, context) {
    if (isGarden(commandLine)) return readGarden(commandLine, context)
    const isTold = context.job.kind === 'TFJob' || commandLine.environment['TF_CONFIG'] !== undefined
    return isTold ? readTold(commandLine, context) : undefined
  },
}

function isGarden(commandLine: CommandLine): boolean {
  const flags = readFlags(commandLine)
  const isOfficial = /(^|[./])official[./].*\btrain(\.py)?$/.test(commandLine.program)
  return hasFlag(flags, ['experiment']) && (isOfficial || hasFlag(flags, ['params-override', 'config-file']))
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const { list } = readFlags(commandLine)
  const named = list
    .filter(flag => ['config-file', 'params-override'].includes(flag.name))
    .flatMap(flag => flag.value ?? [])
  return named.filter(word => /\.ya?ml$/.test(word.written))
}

function readGarden(commandLine: CommandLine, { files, processes }: RunContext): WorkloadReading {
  const configured = readConfigured(commandLine, configWords(commandLine), files)
  const flags = layFlags(configured.flags, overridesOf(configured.typed))
  const given = readTable(flags, TABLE)
  const isEvaluation = /^(eval|continuous_eval)$/.test(known(textFlag(flags, ['mode']))?.value ?? '')
  const folder = known(textFlag(flags, ['model-dir']))
  const workload: Workload = {
    ...runOf(commandLine, isEvaluation ? 'evaluate' : 'train', 'tensorflow'),
    ...withoutAbsent({
      modelName: known(given.modelName),
      globalBatch: known(given.globalBatch),
      sequenceLength: known(given.sequenceLength),
      precision: precisionFrom(flags),
      processes: known(positiveFlag(flags, ['runtime.num-gpus'])) ?? processes,
    }),
  }
  if (isEvaluation) return { workload, warnings: configured.warnings }
  return {
    workload: {
      ...workload,
      method: sourced('full', { kind: 'assumed', reason: 'it trains all parameters' }),
      ...withoutAbsent({
        steps: known(given.steps),
        optimizer: given.optimizer,
        // A run goes on from the last checkpoint of its folder (Orbit's controller).
        checkpoint: folder && {
          destination: folder,
          resumes: sourced(true, folder.origin),
          ...withoutAbsent({ intervalSteps: known(positiveFlag(flags, ['trainer.checkpoint-interval'])) }),
        },
      }),
    },
    warnings: configured.warnings,
  }
}

/** `--params_override=trainer.train_steps=1000,runtime.num_gpus=8`. */
function overridesOf(typed: Flags): Flags {
  const given = typed.list.filter(flag => flag.name === 'params-override')
  const list = given.flatMap(({ value, place, origin }) =>
    (value?.text ?? '').split(',').flatMap((part): Flag[] => {
      const [, name, text] = /^\s*([\w.]+)=(.*)$/.exec(part) ?? []
      if (name === undefined || text === undefined) return []
      const bare = text.replace(/^(['"])(.*)\1$/, '$2')
      return [{ name: flagName(name), written: name, value: { text: bare, written: bare, place }, place, origin }]
    }),
  )
  return { list, positionals: typed.positionals }
}

function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const word = known(textFlag(flags, ['runtime.mixed-precision-dtype']))
  const precision = precisionOf(word?.value.replace(/^mixed_/, ''))
  return precision && word && sourced(precision, word.origin)
}

/** As any program's options say, and where they say nothing the variables that the manifest sets for it. */
function readTold(commandLine: CommandLine, context: RunContext): WorkloadReading | undefined {
  const framework = sourced('tensorflow', { kind: 'manifest', place: commandLine.place } as const)
  const read = pytorch.read(commandLine, context)
  const isTraining = /\.py$/.test(commandLine.program) && /train|fit|main/.test(baseName(commandLine.program))
  if (read === undefined && !isTraining) return undefined
  const workload = read?.workload ?? runOf(commandLine, 'train', framework.value)
  if (workload.purpose !== 'train') return { workload: { ...workload, framework }, warnings: read?.warnings ?? [] }
  const isSaid = (workload.steps ?? workload.epochs) !== undefined
  const backbone = textIn(commandLine, VARIABLES.backbone)
  const fromVariables = withoutAbsent({
    epochs: isSaid ? undefined : numberIn(commandLine, VARIABLES.epochs),
    steps: isSaid ? undefined : numberIn(commandLine, VARIABLES.steps),
    modelName: textIn(commandLine, VARIABLES.modelName) ?? backbone,
    method: sourced<'full'>('full', { kind: 'assumed', reason: 'it trains all parameters' }),
  })
  const told: Workload = { ...fromVariables, ...workload, framework }
  const isPart = backbone !== undefined && told.modelName === backbone
  return { workload: told, warnings: read?.warnings ?? [], ...(isPart && { notDerived: ['model'] }) }
}

function textIn({ environment, place }: CommandLine, names: readonly string[]): Sourced<string> | undefined {
  const text = names.map(name => environment[name]).find(value => value !== undefined && value !== '')
  return text === undefined ? undefined : sourced(text, { kind: 'manifest', place })
}

function numberIn(commandLine: CommandLine, names: readonly string[]): Sourced<number> | undefined {
  const text = textIn(commandLine, names)
  const number = parseNumber(text?.value)
  return text === undefined || number === undefined || number <= 0 ? undefined : sourced(number, text.origin)
}
