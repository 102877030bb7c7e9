import { type CommandLine, type CommandWord, findCommandLines, peelCommand } from '../../command-lines.ts'
import type { DocumentPath, YamlDocument } from '../../document.ts'
import { isServingImage } from '../../serving-images.ts'
import { isSessionImage } from '../../sessions.ts'
import type { Warning } from '../../warning.ts'
import type { Surroundings } from './neighbours.ts'
import type { Container, PodSpec } from './schema.ts'

/** A container where it stands. */
export interface PlacedContainer {
  readonly container: Container
  readonly path: DocumentPath
  readonly document: YamlDocument
}

/** Variables of a container as Kubernetes sets them; undefined = set, but its value is not in the file. */
interface ContainerEnvironment {
  readonly known: ReadonlyMap<string, string | undefined>
  /** Variables come from a ConfigMap or Secret that is not here. */
  readonly isOpen: boolean
}

/** The programs that a container's command and arguments start. */
export function readCommands(
  placed: PlacedContainer,
  volumes: PodSpec['volumes'],
  surroundings: Surroundings,
): CommandReading {
  const { commandLines, warnings } = startedBy(placed, volumes, surroundings)
  const { image } = placed.container
  const mounted = mountedTexts(placed.container, volumes, surroundings)
  const withContainer = (line: CommandLine) => ({
    ...line,
    ...(image !== undefined && { image }),
    ...(mounted.size > 0 && { writtenFiles: new Map([...mounted, ...line.writtenFiles]) }),
  })
  return { commandLines: commandLines.map(withContainer), warnings }
}

interface CommandReading {
  readonly commandLines: readonly CommandLine[]
  readonly warnings: readonly Warning[]
}

function startedBy(placed: PlacedContainer, volumes: PodSpec['volumes'], surroundings: Surroundings): CommandReading {
  const environment = readEnvironment(placed.container, surroundings)
  const words = readWords(placed, environment)
  const variables = Object.fromEntries(
    [...environment.known].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const context = { file: placed.document.file, firstLine: words[0]?.place.line ?? 1, variables, arguments: [] }
  const shell = splitShellCall(words)
  if (shell === undefined) return { commandLines: peelCommand(words, context), warnings: [] }
  const scriptArguments = shell.rest.map(word => word.text ?? word.written)
  if (shell.isInline) {
    const firstLine = placed.document.scalarAt(shell.script.path)?.firstLine ?? context.firstLine
    // `sh -c SCRIPT NAME ARGUMENTS`: the first word behind the script is the shell's own name.
    return findCommandLines(shell.script.text ?? shell.script.written, {
      ...context,
      firstLine,
      arguments: scriptArguments.slice(1),
    })
  }
  const mounted = findMountedScript(shell.script.text ?? '', placed.container, volumes, surroundings)
  if (mounted === undefined) return { commandLines: peelCommand(words, context), warnings: [] }
  if (mounted.text === undefined) {
    const text = `${shell.script.written} comes from ConfigMap ${mounted.configMap}, which is not in this file`
    const warnings: Warning[] = [{ code: 'external-file-missing', text, place: shell.script.place }]
    return { commandLines: peelCommand(words, context), warnings }
  }
  return findCommandLines(mounted.text, { ...context, firstLine: mounted.firstLine, arguments: scriptArguments })
}

interface PlacedWord extends CommandWord {
  readonly path: DocumentPath
}

function readWords(placed: PlacedContainer, environment: ContainerEnvironment): readonly PlacedWord[] {
  const { container, path, document } = placed
  const wordsOf = (part: 'command' | 'args') =>
    (container[part] ?? []).map((written, index) => {
      const at = [...path, part, index]
      const text = isBlank(written) ? undefined : expandReferences(written, environment)
      return { text, written, place: document.placeOf(at), path: at }
    })
  const words = [...wordsOf('command'), ...wordsOf('args')]
  const isImageCommand =
    words.length === 0
      ? isServingImage(container.image ?? '') || isSessionImage(container.image ?? '')
      : container.command === undefined && words[0]?.written.startsWith('-')
  if (!isImageCommand || container.image === undefined) return words
  // The image knows the program that these options are for; the image's name is all that stands here.
  const at = [...path, 'image']
  return [{ text: container.image, written: container.image, place: document.placeOf(at), path: at }, ...words]
}

function readEnvironment(container: Container, surroundings: Surroundings): ContainerEnvironment {
  const known = new Map<string, string | undefined>()
  let isOpen = false
  for (const source of container.envFrom ?? []) {
    const data = surroundings.configMaps.get(source.configMapRef?.name ?? '')?.data
    if (data === undefined) isOpen = true
    for (const [key, value] of Object.entries(data ?? {})) known.set(`${source.prefix ?? ''}${key}`, value)
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const reference = valueFrom?.configMapKeyRef
    const mapped = reference && surroundings.configMaps.get(reference.name ?? '')?.data[reference.key]
    const written = value !== undefined && isBlank(value) ? undefined : expandReferences(value ?? '', { known, isOpen })
    known.set(name, valueFrom === undefined ? written : mapped)
  }
  return { known, isOpen }
}

/**
 * `$(NAME)` as Kubernetes expands it in commands, arguments and variables; `$$(NAME)` stands for the text itself, and
 * an unknown name stays as it is (k8s.io/kubernetes third_party/forked/golang/expansion). Undefined where a variable's
 * value is not in the file.
 */
function expandReferences(text: string, environment: ContainerEnvironment): string | undefined {
  let isKnown = true
  const expanded = text.replace(/\$\$|\$\(([A-Za-z_.-][\w.-]*)\)/g, (reference, name: string | undefined) => {
    if (name === undefined) return '$'
    const value = environment.known.get(name)
    if (value !== undefined) return value
    if (environment.known.has(name) || (environment.isOpen && name === name.toUpperCase())) isKnown = false
    return reference
  })
  return isKnown ? expanded : undefined
}

/** `<your-model>`, `--model=<your-model>`: a person is to fill it in. */
function isBlank(text: string): boolean {
  return /^(?:--?[\w-]+=)?<[A-Za-z][\w ./-]*>$/.test(text)
}

interface ShellCall {
  readonly script: PlacedWord
  readonly rest: readonly PlacedWord[]
  /** The script is the word itself, not the name of a file. */
  readonly isInline: boolean
}

/** `bash -lc SCRIPT`, `sh -euo pipefail -c -- SCRIPT`, `bash FILE`; undefined where no shell is called. */
function splitShellCall(words: readonly PlacedWord[]): ShellCall | undefined {
  if (!/(?:^|\/)(?:ba|da|a|z|k)?sh$/.test(words[0]?.text ?? '')) return undefined
  let isInline = false
  let index = 1
  for (; index < words.length; index++) {
    const option = words[index]?.written ?? ''
    if (option === '--') {
      index++
      break
    }
    if (!/^[-+]./.test(option)) break
    if (option.startsWith('--')) continue
    if (option.includes('c')) isInline = true
    if (option.endsWith('o') || option.endsWith('O')) index++
  }
  const script = words[index]
  return script && { script, rest: words.slice(index + 1), isInline }
}

interface MountedScript {
  readonly configMap: string
  readonly text: string | undefined
  readonly firstLine: number
}

/** A ConfigMap where it is mounted; with a subPath, one file of it. */
interface Mount {
  readonly configMap: string
  readonly folder: string
  readonly subPath?: string | undefined
  readonly items: readonly { readonly key: string; readonly path: string }[] | undefined
}

function mountsOf(container: Container, volumes: PodSpec['volumes']): readonly Mount[] {
  return (container.volumeMounts ?? []).flatMap(({ name, mountPath, subPath }) => {
    const volume = volumes?.find(candidate => candidate.name === name)
    const maps = [volume?.configMap, ...(volume?.projected?.sources ?? []).map(source => source.configMap)]
    return maps.flatMap(map =>
      map?.name === undefined
        ? []
        : [{ configMap: map.name, folder: mountPath.replace(/\/+$/, ''), subPath, items: map.items }],
    )
  })
}

/** The text of a file that a ConfigMap puts into the container; undefined where the path is no such file. */
function findMountedScript(
  file: string,
  container: Container,
  volumes: PodSpec['volumes'],
  { configMaps }: Surroundings,
): MountedScript | undefined {
  for (const mount of mountsOf(container, volumes)) {
    const key = mountedKey(file, mount)
    if (key === undefined) continue
    const map = configMaps.get(mount.configMap)
    const text = map?.data[key]
    const scalar = map?.object.document.scalarAt([...map.object.path, 'data', key])
    return { configMap: mount.configMap, text, firstLine: scalar?.firstLine ?? 1 }
  }
  return undefined
}

/** All files that ConfigMaps of this file put into a container, by their paths there, and as seen from where it works. */
function mountedTexts(
  container: Container,
  volumes: PodSpec['volumes'],
  { configMaps }: Surroundings,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const place = container.workingDir?.replace(/\/+$/, '')
  for (const { configMap, folder, subPath, items } of mountsOf(container, volumes)) {
    const data = configMaps.get(configMap)?.data ?? {}
    const files = items ?? Object.keys(data).map(key => ({ key, path: key }))
    for (const { key, path } of files) {
      const text = data[key]
      if (text === undefined || (subPath !== undefined && subPath !== path)) continue
      const file = subPath === undefined ? `${folder}/${path}` : folder
      texts.set(file, text)
      if (place !== undefined && file.startsWith(`${place}/`)) texts.set(file.slice(place.length + 1), text)
    }
  }
  return texts
}

function mountedKey(file: string, { folder, subPath, items }: Mount): string | undefined {
  const path = subPath !== undefined && file === folder ? subPath : withoutFolder(file, folder)
  if (path === undefined) return undefined
  return items === undefined ? path : items.find(item => item.path === path)?.key
}

function withoutFolder(file: string, folder: string): string | undefined {
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : undefined
}
