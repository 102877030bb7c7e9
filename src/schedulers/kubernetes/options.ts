import { GpufareError } from '../../errors.ts'

/** Options of every kubectl command that say which cluster, as whom and where; with a value (kubectl 1.32 to 1.37, `kubectl options`). */
const connectionOptions = new Set([
  '--as',
  '--as-group',
  '--as-uid',
  '--as-user-extra',
  '--cache-dir',
  '--certificate-authority',
  '--client-certificate',
  '--client-key',
  '--cluster',
  '--context',
  '--kubeconfig',
  '--kuberc',
  '--namespace',
  '--password',
  '--request-timeout',
  '--server',
  '--tls-server-name',
  '--token',
  '--user',
  '--username',
  '-n',
  '-s',
])
/** The same without a value. */
const connectionSwitches = new Set(['--disable-compression', '--insecure-skip-tls-verify', '--match-server-version'])
/** Options with a value that other commands than `create` do not know, or that only change what is printed. */
const otherOptions = new Set([
  '--field-manager',
  '--log-flush-frequency',
  '--output',
  '--profile',
  '--profile-output',
  '--selector',
  '--template',
  '--v',
  '--vmodule',
  '-l',
  '-o',
  '-v',
])
/** Options that would submit something else than what was quoted. */
const refusedOptions = new Set(['--edit', '--filename', '--kustomize', '--raw', '-f', '-k'])

/** Throws where an option for `kubectl create` would submit something else than the manifest that was quoted. */
export function refuseOtherManifests(words: readonly string[]): void {
  for (const option of readOptions(words)) {
    if (!option.name.startsWith('-')) {
      throw new GpufareError(`${option.name}: not an option of kubectl create`, 2, 'name manifests before the --')
    }
    if (refusedOptions.has(option.name)) {
      throw new GpufareError(
        `${option.name} would let kubectl create something else than what was quoted`,
        2,
        'name manifests before the --',
      )
    }
  }
}

/** Of the options for `kubectl create`, those that every other kubectl command about the same objects needs too. */
export function connectionWords(words: readonly string[]): readonly string[] {
  return readOptions(words)
    .filter(({ name }) => connectionOptions.has(name) || connectionSwitches.has(name))
    .flatMap(option => option.words)
}

interface Option {
  readonly name: string
  /** As typed, with the value where it is a word of its own. */
  readonly words: readonly string[]
}

/** Cuts words into options as kubectl does: a value may be glued (`-nteam-a`, `--namespace=team-a`) or the next word. */
function readOptions(words: readonly string[]): readonly Option[] {
  const options: Option[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const { name, glued } = readName(word)
    const value = takesValue(name) && !glued ? words[at + 1] : undefined
    if (value !== undefined) at++
    options.push({ name, words: value === undefined ? [word] : [word, value] })
  }
  return options
}

function readName(word: string): { readonly name: string; readonly glued: boolean } {
  if (word.startsWith('--')) {
    const [name = word] = word.split('=')
    return { name, glued: name !== word }
  }
  if (!word.startsWith('-')) return { name: word, glued: false }
  // -R is the only short option without a value, so others may follow it in the same word.
  const short = word.replace(/^-R+(?=[a-z])/, '-')
  return { name: short.slice(0, 2), glued: short.length > 2 }
}

function takesValue(name: string): boolean {
  return connectionOptions.has(name) || otherOptions.has(name) || (refusedOptions.has(name) && name !== '--edit')
}
