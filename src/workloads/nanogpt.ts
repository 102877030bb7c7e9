import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import type { Model } from '../model.ts'
import { readPythonSettings } from '../settings/python.ts'
import { overlay, type Scalar, type Settings } from '../settings/settings.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import { findFile, precisionOf, referredPath } from './config-files.ts'
import { explainRepeated, type Flags, parseNumber, readBoolean, readFlags } from './flags.ts'
import { countingLaunch } from './processes.ts'
import { hasFlag } from './training-flags.ts'
import type { FilesAtHand, WorkloadReader } from './workload-reader.ts'
import { gpt2Shape, modelOfShape } from './written-shape.ts'

/** Names of nanoGPT's train.py that few others have; two of them, or one with a configuration in Python, make it nanoGPT. */
const OWN_NAMES = ['n_layer', 'n_head', 'n_embd', 'max_iters', 'lr_decay_iters', 'init_from']

/** What train.py takes where neither file nor flags say otherwise (karpathy/nanoGPT, train.py). */
const DEFAULTS: Readonly<Record<string, number>> = { block_size: 1024, n_layer: 12, n_head: 12, n_embd: 768 }
/** GPT-2's 50,257 tokens, padded (karpathy/nanoGPT, model.py). */
const VOCABULARY = 50_304

/** nanoGPT: a configuration file of Python assignments, and `--name=value` over it. */
export const nanogpt: WorkloadReader = {
  name: 'nanogpt',

  refersTo(commandLine) {
    return configWords(commandLine).flatMap(word => referredPath(word) ?? [])
  },

  read(commandLine, { files, processes: launched }) {
    const flags = readFlags(commandLine)
    const processes = launched ?? aloneProcess(commandLine)
    const words = configWords(commandLine)
    if (!/\.py$/.test(commandLine.program) || baseName(commandLine.program) === 'sample.py') return undefined
    const { settings, warnings } = readConfiguration(flags, words, commandLine, files)
    const ownNames = OWN_NAMES.filter(name => settings.has(name))
    if (ownNames.length < (words.length > 0 ? 1 : 2)) return undefined
    const number = (name: string): Sourced<number> | undefined => {
      const setting = settings.get(name)
      const value = parseNumber(String(setting?.value))
      if (setting !== undefined) return value === undefined ? undefined : sourced(value, setting.origin)
      // A file that was not read may say otherwise.
      const fallback = words.length > 0 && warnings.length === 0 ? DEFAULTS[name] : undefined
      return fallback === undefined
        ? undefined
        : sourced(fallback, { kind: 'assumed', reason: "train.py's own default" })
    }
    const text = (name: string): Sourced<string> | undefined => {
      const setting = settings.get(name)
      return setting?.value === undefined ? undefined : sourced(String(setting.value), setting.origin)
    }
    const dtype = text('dtype')
    const precision = precisionOf(dtype?.value)
    const compile = text('compile')
    const compiled = readBoolean(compile?.value)
    const start = text('init_from')
    const isFinetuning = start !== undefined && /^gpt2/.test(start.value)
    const model = isFinetuning ? undefined : modelOf(number, text('dataset')?.value)
    const workload: Workload = {
      purpose: 'train',
      framework: sourced('nanogpt', { kind: 'manifest', place: commandLine.place }),
      place: commandLine.place,
      role: '',
      repetitions: commandLine.repetitions,
      conditional: commandLine.conditional,
      method: sourced('full', { kind: 'assumed', reason: 'nanoGPT trains all parameters' }),
      ...withoutAbsent({
        modelName: isFinetuning ? start : model && sourced(model.value.name, model.origin),
        model,
        dataset: text('dataset'),
        steps: number('max_iters'),
        microBatch: number('batch_size'),
        gradientAccumulation: accumulationOf(number('gradient_accumulation_steps'), processes),
        sequenceLength: number('block_size'),
        precision: precision && dtype && sourced(precision, dtype.origin),
        compiled: compiled === undefined || compile === undefined ? undefined : sourced(compiled, compile.origin),
        processes,
      }),
    }
    return {
      workload,
      warnings: [
        ...warnings,
        ...explainRepeated(
          flags,
          [...settings.keys()].map(name => name.replaceAll('_', '-')),
        ),
      ],
    }
  },
}

function configWords(commandLine: CommandLine): CommandWord[] {
  return commandLine.arguments.filter(word => /\.py$/.test(word.written) && !word.written.startsWith('-'))
}

/** The configuration files' assignments in order, then the flags; later ones win, as in nanoGPT's configurator.py. */
function readConfiguration(flags: Flags, words: readonly CommandWord[], commandLine: CommandLine, files: FilesAtHand) {
  const warnings: Warning[] = []
  let settings: Settings = new Map()
  for (const word of words) {
    const file = findFile(word, commandLine, files)
    if ('warning' in file) warnings.push(file.warning)
    else settings = overlay(settings, readPythonSettings(file.text, file.origin))
  }
  const given = flags.list.filter(flag => flag.written.startsWith('--'))
  const over = given.map(({ name, value, place }) => {
    const scalar = sourced<Scalar>(value?.text, { kind: 'manifest', place })
    return [name.replaceAll('-', '_'), scalar] as const
  })
  return { settings: overlay(settings, new Map(over)), warnings: hasFlag(flags, ['help']) ? [] : warnings }
}

/** Without a launcher train.py is one process on one GPU (`ddp = int(os.environ.get('RANK', -1)) != -1`). */
function aloneProcess(commandLine: CommandLine): Sourced<number> | undefined {
  if (countingLaunch(commandLine) !== undefined) return undefined
  return sourced(1, { kind: 'computed', formula: 'train.py without torchrun is one process' })
}

/** train.py divides the accumulation by the processes, so that the batch is the same on any number of GPUs. */
function accumulationOf(
  total: Sourced<number> | undefined,
  processes: Sourced<number> | undefined,
): Sourced<number> | undefined {
  if (total === undefined || processes === undefined) return undefined
  const share = total.value / processes.value
  if (!Number.isInteger(share)) return undefined
  return sourced(share, {
    kind: 'computed',
    formula: `gradient_accumulation_steps ${total.value} / ${processes.value} processes`,
  })
}

function modelOf(
  number: (name: string) => Sourced<number> | undefined,
  dataset: string | undefined,
): Sourced<Model> | undefined {
  const layers = number('n_layer')?.value
  const hidden = number('n_embd')?.value
  const heads = number('n_head')?.value
  const contextLength = number('block_size')?.value
  // Data by characters brings a small vocabulary of its own.
  if (
    layers === undefined ||
    hidden === undefined ||
    heads === undefined ||
    contextLength === undefined ||
    /char/.test(dataset ?? '')
  )
    return undefined
  const name = `gpt2 ${layers}x${hidden}`
  const shape = gpt2Shape(layers, hidden, heads, VOCABULARY, contextLength)
  return modelOfShape(name, 'decoder', shape, contextLength, 'parameters by n_layer, n_embd and n_head')
}
