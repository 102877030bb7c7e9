import { posix } from 'node:path'
import type { CommandLine, CommandWord } from '../command-lines.ts'
import { findFlag, readFlags } from './flags.ts'

/** Where a program keeps its configurations unless it is told a folder; what nearly all programs in this style use. */
const USUAL_FOLDER = 'conf'

/**
 * The configuration that `--config-path` and `--config-name` name together, as Hydra puts them: a folder that is not absolute lies
 * beside the program.
 */
export function hydraConfig(commandLine: CommandLine): readonly CommandWord[] {
  const flags = readFlags(commandLine)
  const name = findFlag(flags, ['config-name', 'cn'])?.value
  if (name === undefined) return []
  const folder = findFlag(flags, ['config-path', 'cp', 'config-dir', 'cd'])?.value
  const path = (text: string, within: string) => {
    const file = /\.ya?ml$/.test(text) ? text : `${text}.yaml`
    return posix.isAbsolute(within) || within.includes('$')
      ? posix.join(within, file)
      : posix.join(posix.dirname(commandLine.program), within, file)
  }
  const written = path(name.written, folder?.written ?? USUAL_FOLDER)
  const isKnown = name.text !== undefined && (folder === undefined || folder.text !== undefined)
  return [{ text: isKnown ? written : undefined, written, place: name.place }]
}
