import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { type Asking, findBudgetBreaches } from './breaches.ts'
import { type Comparison, changesOf, findRenames, pathsOf, referringFiles, touchedBy } from './changed-manifests.ts'
import { type CheckedJob, type CheckReport, comparedUsd } from './check-report.ts'
import { type CheckRequest, filesAskedFor, namedFiles, selectionOf, withoutIgnored } from './check-request.ts'
import { checkInThreads, serveAsThread } from './check-workers.ts'
import { type CheckedFile, type Checking, checkFiles } from './checked-files.ts'
import { counterpartOf } from './checked-jobs.ts'
import { type Config, configHomes, emptyConfig } from './config.ts'
import { describeFault, type Fault, GpufareError } from './errors.ts'
import { QuoteMemory } from './fare.ts'
import type { Finding } from './finding.ts'
import { folderFiles } from './folder-files.ts'
import {
  changedFiles,
  findRepository,
  type Head,
  indexFiles,
  type ListedSource,
  mergeBase,
  type Repository,
  resolveRevision,
  revisionFiles,
  workTreeFiles,
} from './git.ts'
import { pastFinder } from './kept-runs.ts'
import { findUnrendered, isWorthAGlance } from './manifest-files.ts'
import { once } from './once.ts'
import { readTables } from './pricing-data.ts'
import { tablesFolder } from './quoted-manifests.ts'
import { withRendered } from './rendered-folders.ts'
import { checkRules } from './rules/index.ts'
import type { Range } from './runtimes/runtime-model.ts'
import { type ConfigFor, configsOf, trustingBase } from './source-configs.ts'
import { TwinMemory } from './twins.ts'

/**
 * Finds the manifests, prices them and judges them; with a base, those that changed since or that refer to what changed.
 * Throws GpufareError where a path, a revision or git itself is missing.
 */
export async function check(request: CheckRequest): Promise<CheckReport> {
  const repository = repositoryOf(request)
  if (request.base === undefined || repository === undefined) return checkAll(await sourceOf(request), request)
  const head = await settleHead(repository, request.head)
  const [source, base] = await Promise.all([filesOf(repository, head), baseOf(repository, request.base, head)])
  return checkChanges({ repository, source, head, base }, request)
}

/** Undefined for a plain folder, as long as nothing is asked that only git knows. */
function repositoryOf(request: CheckRequest): Repository | undefined {
  const start = startOf(request)
  const repository = findRepository(start, request.environment)
  if (repository !== undefined || (request.base === undefined && request.head === 'work tree')) return repository
  throw new GpufareError(`${start} is in no git repository`, 2, 'revisions and the index are git’s')
}

/** The files of the state that is checked; those of a plain folder where it is in no repository. */
async function sourceOf(request: CheckRequest): Promise<ListedSource> {
  const repository = repositoryOf(request)
  if (repository === undefined) return folderFiles(startOf(request))
  return filesOf(repository, await settleHead(repository, request.head))
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
  if (exact) return resolveRevision(repository, revision)
  return mergeBase(repository, revision, typeof head === 'object' ? head.revision : 'HEAD')
}

/** Everything that checking the files of one source takes. */
function checkingOf(source: ListedSource, request: CheckRequest, configFor: ConfigFor): Omit<Checking, 'judge'> {
  const tables = readTables(tablesFolder)
  // No cluster is asked: a gate has none, and answers everywhere alike.
  const find = pastFinder({}, tables, {})
  return {
    source,
    tables,
    pastOf: once((folder: string) => find(resolve(source.root, folder), [])),
    memory: new QuoteMemory(),
    unrendered: findUnrendered(source.paths),
    named: namedFiles(source, request),
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
  const read = (await checkInThreads(paths, told, show)) ?? (await checkFiles(paths, judging(checking, request), show))
  // What a revision holds is on no disk, where programs could render it.
  const isOnDisk = request.head === 'work tree'
  const files = isOnDisk ? await withRendered(read, judging(checking, request), request.environment) : read
  return reportOf(files, configFor, checking, request)
}

/** What a thread of a check does: it prices and judges the files that it is handed. */
export function serveCheck(): Promise<number> {
  return serveAsThread(async (request: CheckRequest) => {
    const source = await sourceOf(request)
    const configFor = configsOf(source, request, configHomes(request.environment))
    const checking = judging(checkingOf(source, request, configFor), request)
    return paths => checkFiles(paths, checking)
  })
}

function judging(checking: Omit<Checking, 'judge'>, { today }: CheckRequest): Checking {
  const twins: Checking['twins'] = new TwinMemory()
  return { ...checking, twins, judge: async (fare, path, config) => checkRules(fare, config, { today, path }) }
}

async function checkChanges(comparison: Comparison, request: CheckRequest): Promise<CheckReport> {
  const { repository, source, head, base } = comparison
  const [changes, old] = await Promise.all([
    changedFiles(repository, base, head, source.untracked),
    revisionFiles(repository, base),
  ])
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
    named: new Set(),
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
