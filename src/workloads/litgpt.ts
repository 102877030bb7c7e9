import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { asCheckpoint, destinationOf, resumption } from './checkpoints.ts'
import { precisionOf } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { explainRepeated, type Flags, findFlag, known, numberFlag, positiveFlag, readFlags, textFlag } from './flags.ts'
import { gpusOnMachine } from './processes.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

/** Options of litgpt (litgpt/args.py). The global batch is that of all devices. */
const TABLE: FlagTable = {
  steps: ['train.max-steps'],
  epochs: ['train.epochs'],
  globalBatch: ['train.global-batch-size'],
  microBatch: ['train.micro-batch-size'],
  sequenceLength: ['train.max-seq-length'],
  loraRank: ['lora-r'],
  dataset: ['data', 'data.class-path'],
}

/** Ways to read somebody's own data, which have no name. */
const OWN_DATA = /^(litgpt\.data\.)?(JSON|TextFiles|LitData)$/

/** What its commands do; the rest downloads and converts. */
const PURPOSES: Readonly<Record<string, Workload['purpose']>> = {
  pretrain: 'train',
  finetune: 'train',
  finetune_lora: 'train',
  finetune_full: 'train',
  finetune_adapter: 'train',
  finetune_adapter_v2: 'train',
  evaluate: 'evaluate',
  generate: 'infer',
  chat: 'infer',
  serve: 'serve',
}

/** litgpt: a command, the checkpoint it starts from, and options that may stand in a file. */
export const litgpt: WorkloadReader = {
  name: 'litgpt',

  refersTo(commandLine) {
    return baseName(commandLine.program) === 'litgpt' ? pathsOf(configWords(readFlags(commandLine))) : []
  },

  read(commandLine, context) {
    const command = commandLine.arguments[0]?.text
    if (baseName(commandLine.program) !== 'litgpt' || command === undefined) return undefined
    const purpose = ownEntry(PURPOSES, command) ?? 'other'
    const configured = configure(commandLine, context.files)
    const run = {
      ...runOf(commandLine, purpose, 'litgpt'),
      ...withoutAbsent({ modelName: modelOf(configured.flags, commandLine) }),
    }
    if (purpose !== 'train') return { workload: run, warnings: [] }
    const workload: Workload = { ...run, ...trainingValues(configured, command, commandLine, context) }
    // Samples of fine-tuning are as long as they are; pretraining fills its sequences.
    return {
      workload,
      notDerived: command === 'pretrain' ? [] : ['tokens'],
      warnings: [...configured.warnings, ...explainRepeated(configured.typed, namesOf(TABLE))],
    }
  },
}

function configWords(typed: Flags): readonly CommandWord[] {
  const config = findFlag(typed, ['config'])?.value
  return config !== undefined && /\.ya?ml$/.test(config.written) ? [config] : []
}

function configure(commandLine: CommandLine, files: FilesAtHand): Configured {
  const typed = readFlags(commandLine)
  return readConfigured(commandLine, configWords(typed), files, typed)
}

/** The checkpoint or name behind the command, or by its option. */
function modelOf(flags: Flags, commandLine: CommandLine): Sourced<string> | undefined {
  const named = textFlag(flags, ['model-name', 'checkpoint-dir'])
  if (named !== undefined) return known(named)
  const word = commandLine.arguments[1]
  return word?.text === undefined || word.text.startsWith('-')
    ? undefined
    : sourced(word.text, { kind: 'manifest', place: word.place })
}

function trainingValues(
  { flags }: Configured,
  command: string,
  commandLine: CommandLine,
  context: RunContext,
): Partial<Workload> {
  const given = readTable(flags, TABLE)
  const word = known(textFlag(flags, ['precision']))
  const precision = precisionOf(word?.value)
  const isPretraining = command === 'pretrain'
  return withoutAbsent({
    dataset: OWN_DATA.test(known(given.dataset)?.value ?? '') ? undefined : known(given.dataset),
    steps: known(given.steps),
    epochs: given.steps === undefined ? known(given.epochs) : undefined,
    tokens: isPretraining ? known(positiveFlag(flags, ['train.max-tokens'])) : undefined,
    globalBatch: known(given.globalBatch),
    microBatch: known(given.microBatch),
    sequenceLength: known(given.sequenceLength),
    precision: precision && word && sourced(precision, word.origin),
    method: methodOf(flags, command, commandLine),
    loraRank: known(given.loraRank),
    checkpoint: asCheckpoint({
      intervalSteps: known(positiveFlag(flags, ['train.save-interval'])),
      destination: destinationOf(flags, ['out-dir']),
      content: isPretraining
        ? undefined
        : sourced('weights', { kind: 'assumed', reason: 'litgpt saves no optimizer when it fine-tunes' }),
      resumes: resumption(flags, ['resume']),
    }),
    processes: processesOf(flags, commandLine, context),
  })
}

function methodOf(flags: Flags, command: string, { place }: CommandLine): Workload['method'] {
  const quantized = known(textFlag(flags, ['quantize']))
  const manifest = { kind: 'manifest', place } as const
  if (command === 'pretrain' || command === 'finetune_full') return sourced('full', manifest)
  if (command !== 'finetune_lora' && command !== 'finetune') return undefined
  return quantized !== undefined && /nf4|fp4/.test(quantized.value)
    ? sourced('qlora', quantized.origin)
    : sourced('lora', manifest)
}

/** It starts a process for each device itself: `devices` is 1 unless told, `auto` all that are there. */
function processesOf(flags: Flags, commandLine: CommandLine, { peers }: RunContext): Sourced<number> | undefined {
  const devices = textFlag(flags, ['devices'])
  const nodes = numberFlag(flags, ['num-nodes'])
  if (devices === 'unknown' || nodes === 'unknown') return undefined
  const each =
    devices === undefined ? 1 : devices.value === 'auto' ? gpusOnMachine(commandLine, peers) : Number(devices.value)
  const machines = nodes?.value ?? 1
  if (!Number.isInteger(each) || each < 1) return undefined
  return sourced(machines * each, { kind: 'computed', formula: `${machines} nodes x ${each} devices (litgpt)` })
}
