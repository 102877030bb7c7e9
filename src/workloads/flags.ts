import type { CommandLine, CommandWord } from '../command-lines.ts'
import { describePlace, type Place } from '../errors.ts'
import { type Origin, type Sourced, sourced } from '../sourced.ts'
import type { Warning } from '../warning.ts'

/** One option of a program: `--a b`, `--a=b`, a switch `--a`, or `a.b=c` as Hydra and torchtune read it. */
export interface Flag {
  /** Lower case, without leading dashes, `-` for `_`. */
  readonly name: string
  readonly written: string
  /** Undefined for a switch. */
  readonly value: CommandWord | undefined
  readonly place: Place
  /** Where its value was read. */
  readonly origin: Origin
}

/** The arguments of a program. */
export interface Flags {
  readonly list: readonly Flag[]
  readonly positionals: readonly CommandWord[]
}

/** A value that was given, that was given but cannot be known, or (undefined) that was not given. */
export type Given<T> = Sourced<T> | 'unknown' | undefined

/** The value where it is known. */
export function known<T>(given: Given<T>): Sourced<T> | undefined {
  return given === 'unknown' ? undefined : given
}

/** Every reader asks for the flags of every command line. */
const flagsOf = new WeakMap<CommandLine, Flags>()

/** Sorts a program's arguments into flags and positionals. */
export function readFlags(commandLine: CommandLine): Flags {
  const flags = flagsOf.get(commandLine) ?? sortWords(commandLine.arguments)
  flagsOf.set(commandLine, flags)
  return flags
}

function sortWords(words: readonly CommandWord[]): Flags {
  const list: Flag[] = []
  const positionals: CommandWord[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined || isOptional(word)) continue
    const { written, place } = word
    const glued = /^(?:--?([A-Za-z][\w.:/-]*)|\+{0,2}([A-Za-z_][\w.]*))=(.*)$/s.exec(written)
    if (glued !== null) {
      const text = word.text === undefined ? undefined : glued[3]
      const name = glued[1] ?? glued[2] ?? ''
      list.push({
        name: flagName(name),
        written: written.slice(0, written.indexOf('=')),
        value: { ...word, text, written: glued[3] ?? '' },
        place,
        origin: { kind: 'manifest', place },
      })
      continue
    }
    if (!/^--?[A-Za-z]/.test(written)) {
      positionals.push(word)
      continue
    }
    const next = words[at + 1]
    const takesNext =
      next !== undefined && !isOptional(next) && !/^--?[A-Za-z]/.test(next.written) && !isAssignment(next)
    const value = takesNext ? next : undefined
    list.push({ name: flagName(written), written, value, place, origin: { kind: 'manifest', place } })
    if (takesNext) at++
  }
  return { list, positionals }
}

/** Words that stand there only on one of several ways through the script. */
function isOptional(word: CommandWord): boolean {
  return word.text === undefined && /^\[.*\]$/s.test(word.written)
}

function isAssignment(word: CommandWord): boolean {
  return /^[A-Za-z_][\w]*(\.\w+)+=/.test(word.written)
}

/** A name as flags are compared: without dashes before it, `-` for `_`, lower case. */
export function flagName(written: string): string {
  return written.replace(/^-+/, '').replaceAll('_', '-').toLowerCase()
}

/** The last of the flags with one of these names, which is the one that counts. */
export function findFlag(flags: Flags, names: readonly string[]): Flag | undefined {
  return flags.list.findLast(flag => names.includes(flag.name))
}

/** A number: `8`, `80_000`, `1e6`, `3.0`. */
export function numberFlag(flags: Flags, names: readonly string[]): Given<number> {
  const flag = findFlag(flags, names)
  if (flag === undefined) return undefined
  const number = parseNumber(flag.value?.text)
  return number === undefined ? 'unknown' : sourced(number, flag.origin)
}

/** A number above zero; frameworks mean "not set" by `-1` and `0`. */
export function positiveFlag(flags: Flags, names: readonly string[]): Given<number> {
  const given = numberFlag(flags, names)
  return given === 'unknown' || given === undefined || given.value > 0 ? given : undefined
}

/** `1_000`, `1e6`, `3.0`; undefined for all else. */
export function parseNumber(text: string | undefined): number | undefined {
  const match = text === undefined ? null : /^[+-]?\d[\d_]*(\.\d*)?(e[+-]?\d+)?$/i.exec(text.trim())
  const number = match === null ? Number.NaN : Number(match[0].replaceAll('_', ''))
  return Number.isFinite(number) ? number : undefined
}

/** A text. */
export function textFlag(flags: Flags, names: readonly string[]): Given<string> {
  const flag = findFlag(flags, names)
  if (flag === undefined) return undefined
  const text = flag.value?.text
  return text === undefined || text === '' ? 'unknown' : sourced(text, flag.origin)
}

/** A path as it is written: of `$SCRATCH/imagenet` the part that counts is known. */
export function pathFlag(flags: Flags, names: readonly string[]): Sourced<string> | undefined {
  const flag = findFlag(flags, names)
  return flag?.value === undefined ? undefined : sourced(flag.value.written, flag.origin)
}

/** A switch, `--bf16`, `--bf16 True`, `--bf16=false`, or its opposite `--no-bf16`. */
export function switchFlag(flags: Flags, names: readonly string[]): Given<boolean> {
  const flag = findFlag(flags, [...names, ...names.map(name => `no-${name}`)])
  if (flag === undefined) return undefined
  const said = flag.value === undefined ? true : readBoolean(flag.value.text)
  // A switch may stand before a positional argument, which then looks like its value.
  if (said === undefined) return flag.value?.text === undefined ? 'unknown' : sourced(true, flag.origin)
  return sourced(names.includes(flag.name) ? said : !said, flag.origin)
}

/** Python's, YAML's and shells' words for true and false. */
export function readBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(true|yes|on|1|y|t)$/i.test(text)) return true
  return /^(false|no|off|0|n|f|none|null)$/i.test(text) ? false : undefined
}

/** Options given more than once with different values: the last one counts, and the user should know. */
export function explainRepeated(flags: Flags, names: readonly string[]): Warning[] {
  return names.flatMap(name => {
    const given = flags.list.filter(flag => flag.name === name && flag.value !== undefined)
    const values = new Set(given.map(flag => flag.value?.written))
    const last = given.at(-1)
    if (values.size < 2 || last === undefined) return []
    const listed = given.map(flag => `${flag.value?.written} (${besides(flag.place, last.place)})`).join(', then ')
    return [
      {
        code: 'last-flag-wins' as const,
        text: `${last.written} is given more than once: ${listed}; the last one counts`,
        place: last.place,
      },
    ]
  })
}

/** A place beside another one: only the line where the file is the same. */
export function besides(place: Place, other: Place): string {
  return place.file === other.file && place.line !== undefined ? `line ${place.line}` : describePlace(place)
}
