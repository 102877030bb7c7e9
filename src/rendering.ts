import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isMapping, type Mapping, readYaml, valueAt } from './document.ts'
import { InputError } from './errors.ts'
import { type Manifest, manifestOf } from './manifest.ts'
import { type Answer, askProgram, describeCommand, ProgramNotFound } from './programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']
const CHARTS = ['Chart.yaml', 'Chart.yml']
/** Rendering reads files and computes: what takes longer does something else. */
const TIMEOUT_MILLISECONDS = 20_000
/** Kustomizations within kustomizations that are looked through. */
const MOST_FOLDERS = 200

/**
 * The manifest that a kustomization or Helm chart makes, by the user's own kubectl, kustomize or helm, with no plugins and nothing
 * fetched. Throws InputError where the folder is neither, where it needs the network, or where the program is missing or refuses.
 */
export async function renderFolder(folder: string, environment: Environment): Promise<Manifest> {
  if (fileIn(folder, KUSTOMIZATIONS) !== undefined) {
    refuseRemote(folder)
    return render(folder, environment, [
      ['kubectl', ['kustomize', resolve(folder)]],
      ['kustomize', ['build', resolve(folder)]],
    ])
  }
  if (fileIn(folder, CHARTS) !== undefined) {
    return render(folder, environment, [['helm', ['template', 'release-name', resolve(folder)]]])
  }
  throw failure(folder, 'is a folder, a file is expected', 'name the manifests in it')
}

/** Folders that the kustomization of a folder takes in; none where it holds none that can be read. */
export function foldersWithin(folder: string): readonly string[] {
  const file = fileIn(folder, KUSTOMIZATIONS)
  if (file === undefined) return []
  try {
    const kustomization = readKustomization(file)
    const names = MAY_BE_REPOSITORIES.flatMap(key => textsIn(kustomization[key])).filter(name => !name.includes('\n'))
    const paths = names.map(name => resolve(folder, name))
    return paths.filter(path => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
  } catch (error) {
    if (error instanceof InputError) return []
    throw error
  }
}

async function render(
  folder: string,
  environment: Environment,
  commands: readonly (readonly [string, readonly string[]])[],
): Promise<Manifest> {
  for (const [program, words] of commands) {
    const answer = await ask(program, words, environment)
    if (answer === undefined) continue
    const title = [program, words[0]].join(' ')
    if (answer.timedOut) throw failure(folder, `${title} did not end within ${TIMEOUT_MILLISECONDS / 1000} seconds`)
    if (answer.exitCode !== 0) throw failure(folder, `${title} refuses it: ${firstLine(answer.stderr)}`)
    return { ...manifestOf(`${folder} (rendered by ${title})`, answer.stdoutBytes), path: '-', folder, environment }
  }
  const [first] = commands
  const names = commands.map(([program]) => program).join(' nor ')
  const hint =
    first &&
    `where it is installed: ${describeCommand(first[0], [...first[1].slice(0, -1), folder])} | gpufare estimate -`
  throw failure(folder, `is filled in by a program that is not installed here (${names})`, hint)
}

async function ask(program: string, words: readonly string[], environment: Environment): Promise<Answer | undefined> {
  try {
    return await askProgram(program, words, { environment, timeoutMilliseconds: TIMEOUT_MILLISECONDS })
  } catch (error) {
    if (error instanceof ProgramNotFound) return undefined
    throw error
  }
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find(line => line.trim() !== '')
      ?.trim() ?? 'it says nothing'
  )
}

function failure(folder: string, message: string, hint?: string): InputError {
  return new InputError([{ place: { file: folder }, message, ...(hint !== undefined && { hint }) }])
}

function fileIn(folder: string, names: readonly string[]): string | undefined {
  return names.map(name => join(folder, name)).find(path => existsSync(path))
}

/** What kustomize takes for a local file or folder first, and for a repository to clone where there is none of that name. */
const MAY_BE_REPOSITORIES = ['resources', 'bases', 'components', 'generators', 'transformers', 'validators']
/** What names files; kustomize fetches those that are addresses (kustomize api/internal/loader/fileloader.go, Load). */
const FILES = [
  'crds',
  'configurations',
  'patchesStrategicMerge',
  'patches',
  'patchesJson6902',
  'replacements',
  'openapi',
]
const GENERATORS = ['configMapGenerator', 'secretGenerator']

/** kustomize would clone or download what is not here, and run helm for charts: such a folder is not rendered. */
function refuseRemote(top: string): void {
  const open = [top]
  const seen = new Set<string>()
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const file = fileIn(folder, KUSTOMIZATIONS)
    if (file === undefined || seen.has(resolve(folder))) continue
    seen.add(resolve(folder))
    if (seen.size > MOST_FOLDERS) throw failure(top, 'refers to more kustomizations than are looked through')
    const kustomization = readKustomization(file)
    if (kustomization['helmCharts'] != null || kustomization['helmChartInflationGenerator'] != null) {
      throw notRendered(top, `${file} fetches Helm charts`)
    }
    const remote = addressesIn(kustomization).find(isAddress)
    if (remote !== undefined) throw notRendered(top, `${file} refers to ${remote}`)
    for (const name of MAY_BE_REPOSITORIES.flatMap(key => textsIn(kustomization[key]))) {
      // An inline resource of several lines is no path.
      if (name.includes('\n')) continue
      const path = join(folder, name)
      if (isAddress(name) || !existsSync(path)) throw notRendered(top, `${file} refers to ${name}, which is not here`)
      if (statSync(path).isDirectory()) open.push(path)
    }
  }
}

function notRendered(folder: string, why: string): InputError {
  const hint = `if you trust it: kubectl kustomize ${folder} | gpufare estimate -`
  return failure(folder, `is not rendered, because that would fetch something: ${why}`, hint)
}

function readKustomization(file: string): Mapping {
  const [document] = readYaml(readFileSync(file, 'utf8'), file, 'kubectl')
  return isMapping(document?.value) ? document.value : {}
}

function addressesIn(kustomization: Mapping): readonly string[] {
  const named = FILES.flatMap(key => [...textsIn(kustomization[key]), ...listOf(kustomization[key]).flatMap(pathOf)])
  const generated = GENERATORS.flatMap(key =>
    listOf(kustomization[key]).flatMap(each =>
      ['files', 'envs', 'env'].flatMap(part => textsIn(valueAt(each, [part]))),
    ),
  )
  return [...named, ...generated.map(text => text.replace(/^[\w.-]+=/, ''))]
}

function pathOf(value: unknown): readonly string[] {
  return textsIn(valueAt(value, ['path']))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function textsIn(value: unknown): readonly string[] {
  return listOf(value).filter(each => typeof each === 'string')
}

function isAddress(text: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|git::|[\w.-]+@[\w.-]+:)/i.test(text.trim())
}
