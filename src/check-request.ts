import { existsSync, realpathSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { type Fault, InputError } from './errors.ts'
import { isWithin } from './file-source.ts'
import type { Head, ListedSource } from './git.ts'
import { fitsGlob } from './globs.ts'
import { isOtherData, isWorthAGlance, type Selection } from './manifest-files.ts'
import type { ConfigFor } from './source-configs.ts'

/** What to check, and with what. */
export interface CheckRequest {
  /** Folder that names in messages start from, the current one. */
  readonly folder: string
  /** Files and folders, as typed. */
  readonly paths: readonly string[]
  readonly include: readonly string[]
  readonly head: Head
  /** Compared with this revision; `exact`, not with the commit where both parted. */
  readonly base?: { readonly revision: string; readonly exact: boolean }
  /** A gpufare.yaml instead of the one found upward. */
  readonly config?: string
  /** A policy file that is trusted, whatever the repository says. */
  readonly policy?: string
  /** A job that could not be estimated is no success. */
  readonly strict: boolean
  /** ISO 8601. */
  readonly today: string
  readonly environment: Readonly<Record<string, string | undefined>>
  progress?(done: number, total: number): void
}

/** What of a source is asked for: paths that are there, the `ignore` list of the configuration taken out. */
export function selectionOf(source: ListedSource, request: CheckRequest, gone: readonly string[] = []): Selection {
  const faults: Fault[] = []
  const asked = request.paths.map(typed => ({ typed, path: toSource(source, resolve(request.folder, typed)) }))
  const listed = new Set(asked.every(({ path }) => path === '') ? [] : source.paths)
  const paths = asked.map(({ typed, path }) => {
    const isListed = (each: string) => each === path || each.startsWith(`${path}/`)
    const known = path === '' || listed.has(path ?? '') || source.paths.some(isListed) || gone.some(isListed)
    const isOnDisk = existsSync(resolve(request.folder, typed))
    const isThere = request.head === 'work tree' ? isOnDisk || gone.some(isListed) : known
    if (path === undefined) faults.push({ place: { file: typed }, message: `it lies outside ${source.root}` })
    else if (!isThere) faults.push({ place: { file: typed }, message: 'there is no such file or folder' })
    return path ?? ''
  })
  if (faults.length > 0) throw new InputError(faults)
  return { paths, include: request.include }
}

/** The files that a person named themselves and that may be manifests, as their source calls them. */
export function namedFiles(source: ListedSource, request: CheckRequest): ReadonlySet<string> {
  const paths = request.paths.flatMap(typed => toSource(source, resolve(request.folder, typed)) ?? [])
  return new Set(paths.filter(path => path !== '' && !isOtherData(path)))
}

/** A path on the disk as its source calls it; undefined outside. */
function toSource({ root }: ListedSource, path: string): string | undefined {
  const target = isWithin(root, path) ? path : resolveLinks(path)
  return isWithin(root, target) ? relative(root, target).replaceAll(sep, '/') : undefined
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** A file that is named itself is checked although git ignores it. */
export function filesAskedFor(source: ListedSource, selection: Selection): readonly string[] {
  const listed = source.paths.filter(path => isWorthAGlance(path, selection))
  const known = new Set(listed)
  return [...listed, ...selection.paths.filter(path => path !== '' && !known.has(path) && isFile(source, path))]
}

function isFile(source: ListedSource, path: string): boolean {
  return statSync(resolve(source.root, path), { throwIfNoEntry: false })?.isFile() === true
}

/** The files that no `ignore` list of a configuration takes out. */
export async function withoutIgnored(
  paths: readonly string[],
  source: ListedSource,
  configFor: ConfigFor,
  request: CheckRequest,
): Promise<readonly string[]> {
  const kept: string[] = []
  for (const path of paths) {
    const config = await configFor.quietly(path)
    const isOut = config.passedOver.some(({ glob, folder }) => {
      const way = relative(resolve(request.folder, folder), resolve(source.root, path)).replaceAll(sep, '/')
      return !way.startsWith('../') && fitsGlob(way, glob)
    })
    if (!isOut) kept.push(path)
  }
  return kept
}
