import type { CommandLine, CommandWord } from '../command-lines.ts'
import { words } from '../word-list.ts'
import { readConfigured } from './configured.ts'
import { type Flag, type Flags, findFlag, readFlags } from './flags.ts'
import type { FilesAtHand } from './workload-reader.ts'

/** Options by which programs are given a configuration. */
const OPTIONS = [
  'config',
  'config-file',
  'config-path',
  'exp-config',
  'train-config',
  'cfg',
  'c',
  'conf',
  'hparams',
  'params',
  'settings',
  'hyperparameters',
]
const ENDING = /\.(ya?ml|toml|json|py)$/

/** Sections that say what the values below them would say at the top; what stands in any other (`eval`, `scheduler`) is of its own. */
const SECTIONS = new Set(
  words(`
    train training trainer train-config train-cfg training-args data dataset datamodule dataloader train-dataloader
    train-loader loader model network optim optimizer optimization solver hparams hyperparameters hyper-parameters
    params args config cfg experiment exp run global common general settings
  `),
)

/** The files of a program's own configuration that its arguments name. */
export function plainConfigWords(commandLine: CommandLine): readonly CommandWord[] {
  const flags = readFlags(commandLine)
  const word =
    findFlag(flags, OPTIONS)?.value ?? flags.positionals.find(({ written }) => /\.(ya?ml|toml)$/.test(written))
  return word !== undefined && ENDING.test(word.written) ? [word] : []
}

/**
 * The values of a configuration as options, by their own names and by those they would have without their sections; where two
 * sections disagree, neither.
 */
export function readPlainConfig(commandLine: CommandLine, files: FilesAtHand): Flags {
  const { list } = readConfigured(commandLine, plainConfigWords(commandLine), files, {
    list: [],
    positionals: [],
  }).flags
  const named = list.flatMap(flag => {
    const path = flag.name.split('.')
    const name = path.pop() ?? ''
    return path.length > 0 && path.every(part => SECTIONS.has(part)) ? [{ flag, name }] : []
  })
  const values = new Map<string, Set<string | undefined>>()
  for (const { flag, name } of named) values.set(name, (values.get(name) ?? new Set()).add(flag.value?.text))
  const isDisputed = ({ name }: { readonly name: string }) => (values.get(name)?.size ?? 0) > 1
  const disputed = new Set(named.filter(isDisputed).map(({ flag }) => flag))
  const short = named.filter(each => !isDisputed(each)).map(({ flag, name }): Flag => ({ ...flag, name }))
  return { list: [...short, ...list.filter(flag => !disputed.has(flag))], positionals: [] }
}
