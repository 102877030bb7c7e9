import { posix } from 'node:path'
import type { CommandLine, CommandWord } from '../command-lines.ts'
import { readSettings } from '../settings/index.ts'
import type { Settings } from '../settings/settings.ts'
import type { Warning } from '../warning.ts'
import { findFile, missingFile, referredPath } from './config-files.ts'
import type { Configured } from './configured.ts'
import type { Flags } from './flags.ts'
import { layFlags, settingsAsFlags } from './settings-table.ts'
import type { ReferredFiles } from './workload-reader.ts'

/** Configurations within configurations that are followed. */
const DEEPEST = 8

/**
 * Reads configurations, later ones laid over earlier ones, each over those it begins with (`_base_` of OpenMMLab, `_BASE_` and
 * `BASE` of detectron2 and Swin), and the options of the command line over them all.
 */
export function readInherited(
  words: readonly CommandWord[],
  commandLine: CommandLine,
  files: ReferredFiles,
  typed: Flags,
): Configured {
  const warnings: Warning[] = []
  const list = words.flatMap(
    word => settingsAsFlags(settingsOf(word, commandLine, files, warnings, 0), word.place).list,
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
  files: ReferredFiles,
  depth = 0,
): readonly string[] {
  const path = referredPath(word)
  if (path === undefined) return []
  const file = findFile(word, commandLine, files)
  if ('warning' in file || depth > DEEPEST) return [path]
  const own = readSettings(path, file.text, file.origin) ?? new Map()
  const bases = basesOf(own, path, file.text)
  return [
    path,
    ...bases.flatMap(base => inheritedPaths({ ...word, text: base, written: base }, commandLine, files, depth + 1)),
  ]
}

function settingsOf(
  word: CommandWord,
  commandLine: CommandLine,
  files: ReferredFiles,
  warnings: Warning[],
  depth: number,
): Settings {
  const file = findFile(word, commandLine, files)
  if ('warning' in file) {
    warnings.push(file.warning)
    return new Map()
  }
  const own = readSettings(word.written, file.text, file.origin)
  if (own === undefined || depth > DEEPEST) {
    warnings.push(missingFile(word.written, 'it is not written as its ending says', word.place))
    return new Map()
  }
  const bases = basesOf(own, word.written, file.text).map(base =>
    settingsOf({ ...word, text: base, written: base }, commandLine, files, warnings, depth + 1),
  )
  return [...bases, own].reduce(inherit, new Map())
}

/** Files that a configuration begins with; paths are relative to its own. */
function basesOf(settings: Settings, path: string, text: string): readonly string[] {
  const named = [...settings].flatMap(([key, { value }]) =>
    /^(_base_|BASE)(\.\d+)?$/i.test(key) && typeof value === 'string' && value !== '' ? [value] : [],
  )
  // `from .._base_.default_runtime import *` under `with read_base():`
  const imported = [...text.matchAll(/^\s+from\s+(\.+)([\w.]*)\s+import\s+\*/gm)].map(
    ([, dots = '.', module = '']) => `${'../'.repeat(dots.length - 1)}${module.replaceAll('.', '/')}.py`,
  )
  return [...named, ...imported].map(base => posix.normalize(posix.join(posix.dirname(path), base)))
}

/** A mapping is completed, a list replaced, and a mapping with `_delete_=True` begins anew. */
function inherit(base: Settings, own: Settings): Settings {
  const kept = [...base].filter(([key]) => {
    const parents = key.split('.').map((_, index, parts) => parts.slice(0, index).join('.'))
    return !parents.some(
      parent => parent !== '' && (own.get(`${parent}._delete_`)?.value === true || isReplacedList(key, parent, own)),
    )
  })
  return new Map([...kept, ...own])
}

function isReplacedList(key: string, parent: string, own: Settings): boolean {
  if (!/^\d+(\.|$)/.test(key.slice(parent.length + 1))) return false
  const isFirst = (each: string) => each === `${parent}.0` || each.startsWith(`${parent}.0.`)
  return [...own.keys()].some(isFirst)
}
