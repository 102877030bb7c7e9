import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { activeParameters, countParameters, type Model, type TransformerShape } from '../model.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import { findFile, precisionOf, referredPath } from './config-files.ts'
import { explainRepeated, type Flags, parseNumber, readBoolean, readFlags } from './flags.ts'
import { countingLaunch } from './processes.ts'
import { hasFlag } from './training-flags.ts'
import type { ReferredFiles, WorkloadReader } from './workload-reader.ts'

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
    const { settings, warnings } = readSettings(flags, words, commandLine, files)
    const ownNames = OWN_NAMES.filter(name => settings.has(name))
    if (ownNames.length < (words.length > 0 ? 1 : 2)) return undefined
    const number = (name: string): Sourced<number> | undefined => {
      const setting = settings.get(name)
      const value = parseNumber(setting?.value)
      if (setting !== undefined) return value === undefined ? undefined : sourced(value, setting.origin)
      const fallback = words.length > 0 ? DEFAULTS[name] : undefined
      return fallback === undefined
        ? undefined
        : sourced(fallback, { kind: 'assumed', reason: "train.py's own default" })
    }
    const text = (name: string): Sourced<string> | undefined => settings.get(name)
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

type Setting = Sourced<string>

/** The configuration files' assignments in order, then the flags; later ones win, as in nanoGPT's configurator.py. */
function readSettings(flags: Flags, words: readonly CommandWord[], commandLine: CommandLine, files: ReferredFiles) {
  const settings = new Map<string, Setting>()
  const warnings: Warning[] = []
  for (const word of words) {
    const file = findFile(word, commandLine, files)
    if ('warning' in file) warnings.push(file.warning)
    else readAssignments(file.text, file.origin, settings)
  }
  for (const flag of flags.list) {
    const value = flag.value?.text
    const name = flag.name.replaceAll('-', '_')
    if (flag.written.startsWith('--'))
      settings.set(name, sourced(value ?? 'unknown', { kind: 'manifest', place: flag.place }))
  }
  return { settings, warnings: hasFlag(flags, ['help']) ? [] : warnings }
}

/** Reads `name = value` lines of Python: texts, numbers, booleans, and arithmetic over numbers and earlier names. Nothing is run. */
function readAssignments(text: string, origin: Origin, settings: Map<string, Setting>): void {
  for (const [index, line] of text.split('\n').entries()) {
    const match = /^([A-Za-z_]\w*)\s*=\s*([^=].*)$/.exec(line)
    if (match?.[1] === undefined || match[2] === undefined) continue
    const value = readPythonValue(match[2], settings)
    const place = origin.kind === 'file' ? { ...origin.place, line: index + 1 } : undefined
    settings.set(match[1], sourced(value ?? 'unknown', place === undefined ? origin : { kind: 'file', place }))
  }
}

function readPythonValue(written: string, settings: ReadonlyMap<string, Setting>): string | undefined {
  const quoted = /^(['"])(.*?)\1\s*(?:#.*)?$/.exec(written)
  if (quoted !== null) return quoted[2]
  const code = written.replace(/#.*$/, '').trim()
  if (/^(True|False|None)$/.test(code)) return code
  const value = new Arithmetic(code, settings).read()
  return value === undefined ? undefined : String(value)
}

/** Sums and products of numbers and names: `5 * 8`, `(batch_size // 2) * 1024`, `6e-4`. */
class Arithmetic {
  private readonly tokens: readonly string[]
  private readonly settings: ReadonlyMap<string, Setting>
  private at = 0

  constructor(code: string, settings: ReadonlyMap<string, Setting>) {
    const tokens = code.match(/\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?|\w+|\/\/|\*\*|[-+*/%()]|\S/gi) ?? []
    this.tokens = tokens
    this.settings = settings
  }

  read(): number | undefined {
    const value = this.sum()
    return this.at === this.tokens.length && value !== undefined && Number.isFinite(value) ? value : undefined
  }

  private sum(): number | undefined {
    let value = this.product()
    for (let sign = this.tokens[this.at]; sign === '+' || sign === '-'; sign = this.tokens[this.at]) {
      this.at++
      const right = this.product()
      if (value === undefined || right === undefined) return undefined
      value = sign === '+' ? value + right : value - right
    }
    return value
  }

  private product(): number | undefined {
    let value = this.power()
    for (
      let sign = this.tokens[this.at];
      sign === '*' || sign === '/' || sign === '//' || sign === '%';
      sign = this.tokens[this.at]
    ) {
      this.at++
      const right = this.power()
      if (value === undefined || right === undefined) return undefined
      value =
        sign === '*'
          ? value * right
          : sign === '/'
            ? value / right
            : sign === '//'
              ? Math.floor(value / right)
              : value % right
    }
    return value
  }

  private power(): number | undefined {
    const base = this.atom()
    if (this.tokens[this.at] !== '**') return base
    this.at++
    const exponent = this.power()
    return base === undefined || exponent === undefined ? undefined : base ** exponent
  }

  private atom(): number | undefined {
    const token = this.tokens[this.at++]
    if (token === '-') {
      const value = this.atom()
      return value === undefined ? undefined : -value
    }
    if (token === '(') {
      const value = this.sum()
      return this.tokens[this.at++] === ')' ? value : undefined
    }
    return parseNumber(token) ?? parseNumber(this.settings.get(token ?? '')?.value)
  }
}

/** train.py divides the accumulation by the processes, so that the batch is the same on any number of GPUs. */
/** Without a launcher train.py is one process on one GPU (`ddp = int(os.environ.get('RANK', -1)) != -1`). */
function aloneProcess(commandLine: CommandLine): Sourced<number> | undefined {
  if (countingLaunch(commandLine) !== undefined) return undefined
  return sourced(1, { kind: 'computed', formula: 'train.py without torchrun is one process' })
}

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
  const shape: TransformerShape = {
    layers,
    hidden,
    heads,
    keyValueHeads: heads,
    headSize: hidden / heads,
    feedForward: 4 * hidden,
    gatedFeedForward: false,
    vocabulary: VOCABULARY,
    contextLength,
    tiedEmbeddings: true,
  }
  const positions = contextLength * hidden
  const model: Model = {
    name: `gpt2 ${layers}x${hidden}`,
    kind: 'decoder',
    parameterCount: countParameters('decoder', shape) + positions,
    activeParameterCount: activeParameters('decoder', shape) + positions,
    shape,
  }
  return sourced(model, { kind: 'computed', formula: 'parameters by n_layer, n_embd and n_head' })
}
