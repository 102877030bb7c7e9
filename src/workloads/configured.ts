import type { CommandLine, CommandWord } from '../command-lines.ts'
import { resolveReferences } from '../settings/references.ts'
import type { Settings } from '../settings/settings.ts'
import { sourced } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import { referredPath } from './config-files.ts'
import { type Flag, type Flags, flagName, readFlags } from './flags.ts'
import { findSettings, layFlags, settingsAsFlags } from './settings-table.ts'
import type { FilesAtHand } from './workload-reader.ts'

/** What a framework is told by its configuration files and its options together. */
export interface Configured {
  /** Those of the files in their order, and those of the command line over them. */
  readonly flags: Flags
  /** Those of the command line alone. */
  readonly typed: Flags
  /** Every file was read, so that what is not said is the framework's default. */
  readonly isComplete: boolean
  readonly warnings: readonly Warning[]
}

/** Reads the configuration files that `words` name, and lays the options of the command line over them. */
export function readConfigured(
  commandLine: CommandLine,
  words: readonly CommandWord[],
  files: FilesAtHand,
  typed: Flags = readFlags(commandLine),
): Configured {
  const found = words.map(word => findSettings(word, commandLine, files))
  const list = found.flatMap(({ settings }): readonly Flag[] =>
    settings === undefined
      ? []
      : settingsAsFlags(resolveReferences(overridden(settings, typed)), commandLine.place).list,
  )
  return {
    flags: layFlags({ list, positionals: [] }, typed),
    typed,
    isComplete: found.every(({ settings }) => settings !== undefined),
    warnings: found.flatMap(({ warnings }) => warnings),
  }
}

/** What references lead to is what the command line says of it, where it does (OmegaConf merges first and resolves last). */
function overridden(settings: Settings, typed: Flags): Settings {
  const values = new Map(typed.list.map(({ name, value }) => [name, value]))
  return new Map(
    [...settings].map(([path, setting]) => {
      const value = values.get(flagName(path))
      return [path, value === undefined ? setting : { ...setting, value: value.text }]
    }),
  )
}

/** The paths of words, as a reader refers to them. */
export function pathsOf(words: readonly CommandWord[]): readonly string[] {
  return words.flatMap(word => referredPath(word) ?? [])
}

/** What every run has, whatever it computes. */
export function runOf(
  { place, repetitions, conditional }: CommandLine,
  purpose: Workload['purpose'],
  framework: string | undefined,
): Workload {
  return {
    purpose,
    ...(framework !== undefined && { framework: sourced(framework, { kind: 'manifest', place }) }),
    place,
    role: '',
    repetitions,
    conditional,
  }
}
