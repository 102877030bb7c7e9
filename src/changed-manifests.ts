import type { JobChange } from './check-report.ts'
import { type CheckedFile, type Checking, readAll } from './checked-files.ts'
import { compareJobs, pairRenames } from './checked-jobs.ts'
import { type FileChange, filesHolding, type Head, type ListedSource, type Repository } from './git.ts'
import { glanceAt, glanceText } from './manifest-files.ts'
import { configName } from './source-configs.ts'

/** Two states of a repository. */
export interface Comparison {
  readonly repository: Repository
  readonly source: ListedSource
  readonly head: Head
  readonly base: string
}

export function pathsOf(changes: readonly FileChange[], without: FileChange['kind']): readonly string[] {
  return changes.filter(({ kind }) => kind !== without).map(({ path }) => path)
}

/** More names than these are no question any more; the files that changed are checked all the same. */
const mostNames = 200
/** A manifest names a script that names a configuration. */
const mostSteps = 3

/**
 * Manifests that a change may reach without changing them: all below a changed gpufare.yaml, and those that hold the name of a
 * changed file, or of a file that holds it.
 */
export async function referringFiles(
  { repository, source, head }: Comparison,
  old: ListedSource,
  changes: readonly FileChange[],
): Promise<readonly string[]> {
  const configFolders = changes
    .filter(({ path }) => /(?:^|\/)gpufare\.yaml$/.test(path))
    .map(({ path }) => path.slice(0, -configName.length))
  const found = new Set(source.paths.filter(path => configFolders.some(folder => path.startsWith(folder))))
  let names = await namesToLookFor(changes, source)
  const asked = new Set<string>()
  for (let step = 0; step < mostSteps && names.length > 0 && names.length <= mostNames; step++) {
    for (const name of names) asked.add(name)
    const holders = await filesHolding(repository, names, head)
    for (const path of holders) found.add(path)
    names = [...new Set(holders.map(nameIn))].filter(name => !asked.has(name))
  }
  return [...found].filter(path => old.has(path))
}

/** Names of changed files that others may refer to: of all but Kubernetes objects, which no program reads. */
async function namesToLookFor(changes: readonly FileChange[], source: ListedSource): Promise<readonly string[]> {
  const paths = changes.map(({ path }) => path)
  const readings = await readAll(paths, source)
  const names = paths.filter((path, index) => {
    const reading = readings[index]
    const isObject = reading !== undefined && 'bytes' in reading && glanceAt(path, reading.bytes, ['']) === 'kubernetes'
    return !isObject && nameIn(path) !== configName && !nameIn(path).includes('\n')
  })
  source.forget()
  return [...new Set(names.map(nameIn))]
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether a file names one of those that changed, or stands under a configuration that did. */
export function touchedBy(changes: readonly FileChange[]): (file: CheckedFile) => boolean {
  const paths = new Set(changes.map(({ path }) => path))
  const folders = [...paths].filter(path => nameIn(path) === configName).map(path => path.slice(0, -configName.length))
  return ({ path, refersTo }) =>
    refersTo.some(name => paths.has(name)) || folders.some(folder => path.startsWith(folder))
}

/** For new files, those among the deleted ones that they were before. */
export async function findRenames(
  changes: readonly FileChange[],
  source: ListedSource,
  old: ListedSource,
): Promise<ReadonlyMap<string, string>> {
  const textsOf = async (kind: FileChange['kind'], from: ListedSource) => {
    const paths = changes.filter(change => change.kind === kind).map(({ path }) => path)
    const readings = await readAll(paths, from)
    from.forget()
    const texts = readings.map(reading => ('bytes' in reading ? glanceText(reading.bytes) : ''))
    return new Map(paths.flatMap((path, index) => (texts[index] ? [[path, texts[index]] as const] : [])))
  }
  return pairRenames(await textsOf('deleted', old), await textsOf('added', source))
}

export function changesOf(
  files: readonly CheckedFile[],
  before: ReadonlyMap<string, CheckedFile['jobs']>,
  renames: ReadonlyMap<string, string>,
  gone: readonly string[],
  { nameOf }: Omit<Checking, 'judge'>,
): readonly JobChange[] {
  const renamed = new Set(renames.values())
  const inNow = files.flatMap(file => {
    const from = renames.get(file.path)
    return compareJobs(nameOf(file.path), before.get(from ?? file.path) ?? [], file.jobs, from && nameOf(from))
  })
  const deleted = gone.filter(path => !renamed.has(path))
  return [...inNow, ...deleted.flatMap(path => compareJobs(nameOf(path), before.get(path) ?? [], []))]
}
