import type { CommandLine } from '../command-lines.ts'
import type { Place } from '../errors.ts'
import { baseName } from '../launchers.ts'
import { readPythonSettings } from '../settings/python.ts'
import { findWritten } from './config-files.ts'
import { type Flag, type Flags, flagName } from './flags.ts'
import type { FilesAtHand } from './workload-reader.ts'

/** A program's own text, where it lies beside the manifest or the job writes it. */
export interface ProgramText {
  readonly path: string
  readonly text: string
}

/** The path of a program that may lie beside the manifest. */
export function programPath({ program }: CommandLine): string | undefined {
  return /\.py$/.test(program) && !/^\/|\$/.test(program) ? program : undefined
}

export function findProgram(commandLine: CommandLine, files: FilesAtHand): ProgramText | undefined {
  const path = programPath(commandLine)
  if (path === undefined) return undefined
  const file = files.get(path)
  const text = findWritten(commandLine, path) ?? (file !== undefined && 'text' in file ? file.text : undefined)
  return text === undefined ? undefined : { path, text }
}

/** What a program declares of one of its arguments. */
interface Declared {
  /** As written: `-b`, `--batch-size`, or without dashes where its place counts. */
  readonly names: readonly string[]
  /** The expression of its default; undefined where there is none. */
  readonly default: string | undefined
  readonly place: Place
}

/**
 * The defaults of a program's options, and its arguments that count by their place, as options: read from `add_argument(…)`,
 * click's `option(…)` and the fields of dataclasses that become options. Nothing is run: a default that is no plain value is given
 * and unknown. Empty where the program sets defaults elsewhere.
 */
export function declaredFlags(
  program: ProgramText,
  typed: Flags,
): { readonly defaults: Flags; readonly placed: Flags } {
  const declared = /\bset_defaults\(/.test(program.text) ? [] : [...callsOf(program), ...fieldsOf(program)]
  const positional = declared.filter(({ names }) => names.every(name => !name.startsWith('-')))
  const placed = positional.flatMap(({ names }, index): Flag[] => {
    const word = typed.positionals[index]
    const [name] = names
    if (word === undefined || name === undefined) return []
    const { place } = word
    return [{ name: flagName(name), written: name, value: word, place, origin: { kind: 'manifest', place } }]
  })
  return {
    defaults: { list: declared.flatMap(each => flagsOf(each, program)), positionals: [] },
    placed: { list: placed, positionals: [] },
  }
}

function flagsOf({ names, default: expression, place }: Declared, { path }: ProgramText): Flag[] {
  if (expression === undefined || expression === 'None') return []
  const value = readPythonSettings(`value = ${expression}`, { kind: 'file', place }).get('value')?.value
  const text = value === undefined || value === null ? undefined : String(value)
  const reason = `the default in ${baseName(path)}${place.line === undefined ? '' : `, line ${place.line}`}`
  return names.map(written => ({
    name: flagName(written),
    written,
    value: { text, written: text ?? expression, place },
    place,
    origin: { kind: 'assumed', reason },
  }))
}

/** `parser.add_argument('-b', '--batch-size', type=int, default=64)` and click's `option`. */
function callsOf({ path, text }: ProgramText): Declared[] {
  let line = 1
  let at = 0
  return [...text.matchAll(/\b(?:add_argument|click\.option|click\.argument)\s*\(/g)].flatMap((match): Declared[] => {
    line += text.slice(at, match.index).split('\n').length - 1
    at = match.index
    const parts = argumentsFrom(text, match.index + match[0].length)
    const names = parts.flatMap(part => /^(['"])([\w-]+)\1$/.exec(part)?.[2] ?? [])
    const written = parts.flatMap(part => /^default\s*=\s*([\s\S]+)$/.exec(part)?.[1] ?? [])[0]
    return names.length === 0 ? [] : [{ names, default: written, place: { file: path, line } }]
  })
}

/** Libraries that make options of a dataclass's fields. */
const DATACLASS_OPTIONS = /\b(tyro|simple_parsing|HfArgumentParser|pyrallis|draccus|jsonargparse)\b/

/** A field with a plain default is shorter. */
const LONGEST_FIELD = 300

function fieldsOf({ path, text }: ProgramText): Declared[] {
  if (!/^@dataclass/m.test(text) || !DATACLASS_OPTIONS.test(text)) return []
  return text.split('\n').flatMap((line, index): Declared[] => {
    if (line.length > LONGEST_FIELD) return []
    const [, name, written] = /^\s+(\w+)\s*:\s*[\w.[\]| "']+=\s*([^#]+?)\s*(?:#.*)?$/.exec(line) ?? []
    if (name === undefined || written === undefined) return []
    return [{ names: [`--${name}`], default: written, place: { file: path, line: index + 1 } }]
  })
}

/** A call's arguments end somewhere; what goes on longer is no call. */
const LONGEST_CALL = 5_000

/** The arguments of a call that begins at `start`, split at its own commas. */
function argumentsFrom(text: string, start: number): string[] {
  const parts: string[] = []
  let depth = 0
  let from = start
  const token = /(['"])(?:\\.|(?!\1)[^\\\n])*\1|#[^\n]*|[([{]|[)\]}]|,/g
  token.lastIndex = start
  for (let match = token.exec(text); match !== null && match.index < start + LONGEST_CALL; match = token.exec(text)) {
    const [sign] = match
    if (/^[([{]$/.test(sign)) depth++
    else if (/^[)\]}]$/.test(sign) && depth > 0) depth--
    else if (depth === 0 && /^[,)]$/.test(sign)) {
      parts.push(text.slice(from, match.index))
      from = match.index + 1
      if (sign === ')') return parts.map(withoutComments)
    }
  }
  return []
}

function withoutComments(part: string): string {
  return part.replace(/^\s*#[^\n]*$/gm, '').trim()
}

/** Whether a program splits its batch among its processes, or each takes one of its own; undefined where its text shows neither. */
export function batchIsShared({ text }: ProgramText): boolean | undefined {
  const size = String.raw`batch_?size\w*\)?\s*\/\/?\s*(?:int\()?(?:\w+\.)*`
  const count = String.raw`(?:get_world_size|world_?size|num_processes|n_?gpus?\w*|num_gpus|ngpus\w*|size)\b`
  if (new RegExp(size + count, 'i').test(text)) return true
  return /\b(DistributedSampler|DistributedDataParallel|Accelerator\(|prepare_data_loader|hvd\.init)/.test(text)
    ? false
    : undefined
}
