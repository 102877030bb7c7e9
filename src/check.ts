import { existsSync, realpathSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { type Asking, findBudgetBreaches } from './breaches.ts'
import { type CheckedJob, type CheckReport, comparedUsd, type JobChange } from './check-report.ts'
import { checkInThreads, serveAsThread } from './check-workers.ts'
import { type CheckedFile, type Checking, checkFiles, readAll } from './checked-files.ts'
import { compareJobs, counterpartOf, pairRenames } from './checked-jobs.ts'
import { type Config, configHomes, emptyConfig } from './config.ts'
import { describeFault, type Fault, GpufareError, InputError } from './errors.ts'
import { QuoteMemory } from './fare.ts'
import { isWithin } from './file-source.ts'
import type { Finding } from './finding.ts'
import { folderFiles } from './folder-files.ts'
import {
  changedFiles,
  type FileChange,
  filesHolding,
  findRepository,
  type Head,
  indexFiles,
  isCommit,
  type ListedSource,
  mergeBase,
  type Repository,
  resolveRevision,
  revisionFiles,
  workTreeFiles,
} from './git.ts'
import { fitsGlob } from './globs.ts'
import { findUnrendered, glanceAt, glanceText, isWorthAGlance, type Selection } from './manifest-files.ts'
import { readTables } from './pricing-data.ts'
import { tablesFolder } from './quoted-manifests.ts'
import { checkRules } from './rules/index.ts'
import type { Range } from './runtimes/runtime-model.ts'
import { type ConfigFor, configName, configsOf, trustingBase } from './source-configs.ts'

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

/**
 * Finds the manifests, prices them and judges them; with a base, those that changed since or that refer to what changed.
 * Throws GpufareError where a path, a revision or git itself is missing.
 */
export async function check(request: CheckRequest): Promise<CheckReport> {
  const { repository, source, head } = await sourceOf(request)
  if (request.base === undefined || repository === undefined) return checkAll(source, request)
  return checkChanges({ repository, source, head, base: await baseOf(repository, request.base, head) }, request)
}

/** The files of the state that is checked; those of a plain folder where it is in no repository. */
async function sourceOf(request: CheckRequest): Promise<{
  readonly repository: Repository | undefined
  readonly source: ListedSource
  readonly head: Head
}> {
  const start = startOf(request)
  const repository = findRepository(start, request.environment)
  if (repository === undefined) {
    if (request.base === undefined && request.head === 'work tree') {
      return { repository, source: folderFiles(start), head: request.head }
    }
    throw new GpufareError(`${start} is in no git repository`, 2, 'revisions and the index are git’s')
  }
  const head = await settleHead(repository, request.head)
  return { repository, source: await filesOf(repository, head), head }
}

/** The jobs that a revision brings beside another one, or all of its jobs where there is none; what a hook asks. */
export function checkRevisions(
  request: Omit<CheckRequest, 'head' | 'base' | 'paths' | 'include'> & {
    readonly base: string | undefined
    readonly head: string
  },
): Promise<CheckReport> {
  const { base, head, ...rest } = request
  const against = base === undefined ? {} : { base: { revision: base, exact: true } }
  return check({ ...rest, ...against, paths: ['.'], include: [], head: { revision: head } })
}

/** Where the repository, or without one the folder, is looked for: at the first path. */
function startOf({ folder, paths }: CheckRequest): string {
  const [first = '.'] = paths
  const path = resolve(folder, first)
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  return paths.length === 1 && isFolder ? path : folder
}

async function settleHead(repository: Repository, head: Head): Promise<Head> {
  return typeof head === 'object' ? { revision: await resolveRevision(repository, head.revision) } : head
}

function filesOf(repository: Repository, head: Head): Promise<ListedSource> {
  if (head === 'work tree') return workTreeFiles(repository)
  return head === 'index' ? indexFiles(repository) : revisionFiles(repository, head.revision)
}

/** The revision that is compared with, as a hash. */
async function baseOf(
  repository: Repository,
  { revision, exact }: { readonly revision: string; readonly exact: boolean },
  head: Head,
): Promise<string> {
  const base = await resolveRevision(repository, revision)
  if (exact || !(await isCommit(repository, base))) return base
  return mergeBase(
    repository,
    base,
    typeof head === 'object' ? head.revision : await resolveRevision(repository, 'HEAD'),
  )
}

/** What of a source is asked for: paths that are there, the `ignore` list of the configuration taken out. */
function selectionOf(source: ListedSource, request: CheckRequest, gone: readonly string[] = []): Selection {
  const faults: Fault[] = []
  const listed = new Set(source.paths)
  const paths = request.paths.map(typed => {
    const path = toSource(source, resolve(request.folder, typed))
    const isListed = (each: string) => each === path || each.startsWith(`${path}/`)
    const known = path === '' || listed.has(path ?? '') || source.paths.some(isListed) || gone.some(isListed)
    const isThere = request.head === 'work tree' && existsSync(resolve(request.folder, typed))
    if (path === undefined) faults.push({ place: { file: typed }, message: `it lies outside ${source.root}` })
    else if (!known && !isThere) faults.push({ place: { file: typed }, message: 'there is no such file or folder' })
    return path ?? ''
  })
  if (faults.length > 0) throw new InputError(faults)
  return { paths, include: request.include }
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

/** Everything that checking the files of one source takes. */
function checkingOf(source: ListedSource, request: CheckRequest, configFor: ConfigFor): Omit<Checking, 'judge'> {
  return {
    source,
    tables: readTables(tablesFolder),
    memory: new QuoteMemory(),
    unrendered: findUnrendered(source.paths),
    configFor,
    nameOf: path => relative(request.folder, resolve(source.root, path)) || '.',
  }
}

async function checkAll(source: ListedSource, request: CheckRequest): Promise<CheckReport> {
  const selection = selectionOf(source, request)
  const configFor = configsOf(source, request, configHomes(request.environment))
  const paths = await withoutIgnored(filesAskedFor(source, selection), source, configFor, request)
  const checking = checkingOf(source, request, configFor)
  const { progress, ...told } = request
  const show = (done: number) => progress?.(done, paths.length)
  const files = (await checkInThreads(paths, told, show)) ?? (await checkFiles(paths, judging(checking, request), show))
  return reportOf(files, configFor, checking, request)
}

/** What a thread of a check does: it prices and judges the files that it is handed. */
export function serveCheck(): Promise<number> {
  return serveAsThread(async (request: CheckRequest) => {
    const { source } = await sourceOf(request)
    const configFor = configsOf(source, request, configHomes(request.environment))
    const checking = judging(checkingOf(source, request, configFor), request)
    return paths => checkFiles(paths, checking)
  })
}

function judging(checking: Omit<Checking, 'judge'>, { today }: CheckRequest): Checking {
  return { ...checking, judge: async (fare, path, config) => checkRules(fare, config, { today, path }) }
}

/** A file that is named itself is checked although git ignores it. */
function filesAskedFor(source: ListedSource, selection: Selection): readonly string[] {
  const listed = source.paths.filter(path => isWorthAGlance(path, selection))
  const known = new Set(listed)
  return [...listed, ...selection.paths.filter(path => path !== '' && !known.has(path) && isFile(source, path))]
}

function isFile(source: ListedSource, path: string): boolean {
  return statSync(resolve(source.root, path), { throwIfNoEntry: false })?.isFile() === true
}

/** The files that no `ignore` list of a configuration takes out. */
async function withoutIgnored(
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

interface Comparison {
  readonly repository: Repository
  readonly source: ListedSource
  readonly head: Head
  readonly base: string
}

async function checkChanges(comparison: Comparison, request: CheckRequest): Promise<CheckReport> {
  const { repository, source, head, base } = comparison
  const [changes, old] = await Promise.all([changedFiles(repository, base, head), revisionFiles(repository, base)])
  const gone = changes.filter(({ kind }) => kind === 'deleted').map(({ path }) => path)
  const selection = selectionOf(source, request, gone)
  const homes = configHomes(request.environment)
  const oldConfigFor = configsOf(old, request, homes, true)
  const configFor = trustingBase(configsOf(source, request, homes), oldConfigFor)
  const changed = changes.filter(({ path }) => isWorthAGlance(path, selection))
  const [nowPaths, oldPaths] = [
    await withoutIgnored(pathsOf(changed, 'deleted'), source, configFor, request),
    await withoutIgnored(pathsOf(changed, 'added'), old, oldConfigFor, request),
  ]
  const referring = (await referringFiles(comparison, old, changes)).filter(path => isWorthAGlance(path, selection))
  const unchanged = referring.filter(path => !changed.some(change => change.path === path))
  const renames = await findRenames(changed, source, old)

  const oldFiles = await checkFiles([...oldPaths, ...unchanged], {
    ...checkingOf(old, request, oldConfigFor),
    judge: async () => [],
  })
  const before = new Map(oldFiles.map(file => [file.path, file.jobs]))
  const judgeJob: Checking['judge'] = async (fare, path, config, jobCount) => {
    const earlier = counterpartOf(fare.job, jobCount, before.get(renames.get(path) ?? path) ?? [])
    const beforeUsd = earlier === undefined ? nothingUsd : earlier.totalUsd
    return checkRules(fare, config, { today: request.today, path, change: { beforeUsd } })
  }
  const checking = checkingOf(source, request, configFor)
  const checked = await checkFiles([...nowPaths, ...unchanged], { ...checking, judge: judgeJob }, done =>
    request.progress?.(done, nowPaths.length + unchanged.length),
  )
  const isTouched = touchedBy(changes)
  const own = new Set(nowPaths)
  const files = checked.filter(file => own.has(file.path) || isTouched(file))
  const report = await reportOf(files, configFor, checking, request)
  const typed = request.base?.revision ?? base
  const revision = base.startsWith(typed) ? typed : `${typed} (${base.slice(0, shownDigits)})`
  return { ...report, base: { revision, changes: changesOf(files, before, renames, gone, checking) } }
}

/** Digits of a hash that people can tell apart. */
const shownDigits = 10
const nothingUsd: Range = { p10: 0, p50: 0, p90: 0 }

function pathsOf(changes: readonly FileChange[], without: FileChange['kind']): readonly string[] {
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
async function referringFiles(
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
    const isObject = reading !== undefined && 'bytes' in reading && glanceAt(reading.bytes, ['']) === 'kubernetes'
    return !isObject && nameIn(path) !== configName && !nameIn(path).includes('\n')
  })
  source.forget()
  return [...new Set(names.map(nameIn))]
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether a file names one of those that changed, or stands under a configuration that did. */
function touchedBy(changes: readonly FileChange[]): (file: CheckedFile) => boolean {
  const paths = new Set(changes.map(({ path }) => path))
  const folders = [...paths].filter(path => nameIn(path) === configName).map(path => path.slice(0, -configName.length))
  return ({ path, refersTo }) =>
    refersTo.some(name => paths.has(name)) || folders.some(folder => path.startsWith(folder))
}

/** For new files, those among the deleted ones that they were before. */
async function findRenames(
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

function changesOf(
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

async function reportOf(
  files: readonly CheckedFile[],
  configFor: ConfigFor,
  { nameOf }: Omit<Checking, 'judge'>,
  { strict, today, environment }: CheckRequest,
): Promise<CheckReport> {
  const config = await configFor.quietly('')
  const jobs = files.flatMap(file => file.jobs)
  const faults = distinct(
    files.flatMap(file => file.faults),
    describeFault,
  )
  const findings = [
    ...files.flatMap(file => file.findings),
    ...(await budgetFindings(files, configFor, { today, environment })),
  ]
  const notRendered = files.flatMap(({ notRendered: part }) =>
    part === undefined ? [] : [{ file: nameOf(part.path), reason: part.reason }],
  )
  const jobsUnknown = jobs.filter(job => comparedUsd(job) === undefined).length
  return {
    verdict: verdictOf(faults, findings, strict ? jobsUnknown : 0),
    currency: config.currency,
    filesLookedAt: files.length,
    filesWithJobs: files.filter(file => file.jobs.length > 0).length,
    jobsPriced: jobs.length - jobsUnknown,
    jobsUnknown,
    jobs,
    findings,
    faults,
    notRendered: distinct(notRendered, ({ file }) => file),
    base: undefined,
    remarks: [...new Set(files.flatMap(file => file.remarks))],
  }
}

/** The budgets that all jobs together break; manifests of many folders may share a configuration. */
async function budgetFindings(
  files: readonly CheckedFile[],
  configFor: ConfigFor,
  asking: Asking,
): Promise<readonly Finding[]> {
  const jobsByConfig = new Map<Config, CheckedJob[]>()
  for (const { path, jobs } of files) {
    const config = jobs.length > 0 ? await configFor.quietly(path) : emptyConfig
    if (config.budgets.length === 0) continue
    const others = jobsByConfig.get(config)
    if (others === undefined) jobsByConfig.set(config, [...jobs])
    else others.push(...jobs)
  }
  const found = [...jobsByConfig].map(([config, jobs]) => findBudgetBreaches(config, jobs, asking))
  return (await Promise.all(found)).flat()
}

function verdictOf(faults: readonly Fault[], findings: readonly Finding[], unknown: number): CheckReport['verdict'] {
  const counted = findings.filter(finding => finding.exemption === undefined)
  if (faults.length > 0) return 'broken'
  if (counted.some(finding => finding.level === 'deny')) return 'deny'
  if (unknown > 0) return 'unknown'
  return counted.length > 0 ? 'warn' : 'pass'
}

function distinct<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  return [...new Map(all.map(one => [keyOf(one), one])).values()]
}
