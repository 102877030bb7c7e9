import { posix } from 'node:path'
import type { CommandLine, CommandWord } from '../command-lines.ts'
import { readSettings } from '../settings/index.ts'
import type { Settings } from '../settings/settings.ts'
import type { Warning } from '../warning.ts'
import { findFile, missingFile, referredPath } from './config-files.ts'
import type { Configured } from './configured.ts'
import type { Flags } from './flags.ts'
import { layFlags, settingsAsFlags } from './settings-table.ts'
import type { FilesAtHand } from './workload-reader.ts'

/**
 * Reads configurations, later ones laid over earlier ones, each over those it begins with (`_base_` of OpenMMLab, `_BASE_` and
 * `BASE` of detectron2 and Swin), and the options of the command line over them all.
 */
export function readInherited(
  words: readonly CommandWord[],
  commandLine: CommandLine,
  files: FilesAtHand,
  typed: Flags,
): Configured {
  const warnings: Warning[] = []
  const known = new Map<string, Settings>()
  const list = words.flatMap(
    word => settingsAsFlags(settingsOf(word, { commandLine, files, warnings, known }), word.place).list,
  )
  return {
    flags: layFlags({ list, positionals: [] }, typed),
    typed,
    isComplete: warnings.length === 0,
    warnings,
  }
}

/** The paths of a configuration and of those that it begins with, as far as they were read. */
export function inheritedPaths(
  word: CommandWord,
  commandLine: CommandLine,
  files: FilesAtHand,
  seen = new Set<string>(),
): readonly string[] {
  const path = referredPath(word)
  if (path === undefined || seen.has(path)) return []
  seen.add(path)
  const file = findFile(word, commandLine, files)
  if ('warning' in file) return [path]
  const own = readSettings(path, file.text, file.origin) ?? new Map()
  const bases = basesOf(own, path, file.text)
  return [path, ...bases.flatMap(base => inheritedPaths(wordOf(base, word), commandLine, files, seen))]
}

function wordOf(path: string, { place }: CommandWord): CommandWord {
  return { text: path, written: path, place }
}

interface Reading {
  readonly commandLine: CommandLine
  readonly files: FilesAtHand
  readonly warnings: Warning[]
  /** What was read of each file; nothing of one that begins with itself. */
  readonly known: Map<string, Settings>
}

function settingsOf(word: CommandWord, reading: Reading): Settings {
  const { commandLine, files, warnings, known } = reading
  const before = known.get(word.written)
  if (before !== undefined) return before
  known.set(word.written, new Map())
  const file = findFile(word, commandLine, files)
  const own = 'warning' in file ? undefined : readSettings(word.written, file.text, file.origin)
  if ('warning' in file || own === undefined) {
    const unread = missingFile(word.written, 'it is not written as its ending says', word.place)
    warnings.push('warning' in file ? file.warning : unread)
    return new Map()
  }
  const bases = basesOf(own, word.written, file.text).map(base => settingsOf(wordOf(base, word), reading))
  const settings = [...bases, own].reduce(inherit, new Map())
  known.set(word.written, settings)
  return settings
}

/** Files that a configuration begins with; paths are relative to its own. */
function basesOf(settings: Settings, path: string, text: string): readonly string[] {
  const named = [...settings].flatMap(([key, { value }]) =>
    /^(_base_|BASE)(\.\d+)?$/i.test(key) && typeof value === 'string' && value !== '' ? [value] : [],
  )
  // `from .._base_.default_runtime import *` under `with read_base():`
  const imported = [...text.matchAll(/^[ \t]+from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]+\*/gm)].map(
    ([, dots = '.', module = '']) => `${'../'.repeat(dots.length - 1)}${module.replaceAll('.', '/')}.py`,
  )
  return [...named, ...imported].map(base => posix.normalize(posix.join(posix.dirname(path), base)))
}

/** A mapping is completed, a list replaced, and a mapping with `_delete_=True` begins anew. */
function inherit(base: Settings, own: Settings): Settings {
  const anew = new Set<string>()
  const lists = new Set<string>()
  for (const [key, { value }] of own) {
    if (value === true && key.endsWith('._delete_')) anew.add(key.slice(0, -'._delete_'.length))
    for (const [parent, child] of stepsInto(key)) if (child === '0') lists.add(parent)
  }
  const isKept = ([key]: readonly [string, unknown]) =>
    stepsInto(key).every(([parent, child]) => !anew.has(parent) && !(lists.has(parent) && /^\d+$/.test(child)))
  return new Map([...[...base].filter(isKept), ...own])
}

/** `a.b.0` goes through `a` to `b`, and through `a.b` to `0`. */
function stepsInto(key: string): readonly (readonly [parent: string, child: string])[] {
  const parts = key.split('.')
  return parts.slice(1).map((child, index) => [parts.slice(0, index + 1).join('.'), child] as const)
}
