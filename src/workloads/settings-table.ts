import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Place } from '../errors.ts'
import { readSettings } from '../settings/index.ts'
import type { Settings } from '../settings/settings.ts'
import type { Warning } from '../warning.ts'
import { findFile, missingFile } from './config-files.ts'
import { type Flag, type Flags, flagName } from './flags.ts'
import type { FilesAtHand } from './workload-reader.ts'

/**
 * The settings of a configuration as if they were options, so that one table of names (`readTable`) and the readers of
 * single options (`numberFlag`, `switchFlag`, …) serve both: `trainer.max_steps: 10` is `trainer.max-steps`, a list's
 * member `datasets.0.path`. What is null is not given; what is known only when the program runs is given and unknown.
 * `place` stands for values that have none of their own.
 */
export function settingsAsFlags(settings: Settings, place: Place): Flags {
  const list = [...settings].flatMap(([path, { value, origin }]): Flag[] => {
    if (value === null) return []
    const at = 'place' in origin ? origin.place : place
    const text = value === undefined ? undefined : String(value)
    return [{ name: flagName(path), written: path, value: { text, written: text ?? '', place: at }, place: at, origin }]
  })
  return { list, positionals: [] }
}

/** Options laid over those of a configuration: what stands in both counts as it is in `over`. */
export function layFlags(base: Flags, over: Flags): Flags {
  return { list: [...base.list, ...over.list], positionals: over.positionals }
}

/** The configuration that a word of the command line names; undefined, with the reason, where it cannot be read. */
export function findSettings(
  word: CommandWord,
  commandLine: CommandLine,
  files: FilesAtHand,
): { readonly settings: Settings | undefined; readonly warnings: readonly Warning[] } {
  const file = findFile(word, commandLine, files)
  if ('warning' in file) return { settings: undefined, warnings: [file.warning] }
  const settings = readSettings(word.written, file.text, file.origin)
  if (settings !== undefined) return { settings, warnings: [] }
  return { settings, warnings: [missingFile(word.written, 'it is not written as its ending says', word.place)] }
}
