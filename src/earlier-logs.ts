import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { GpufareError } from './errors.ts'
import { isWithin } from './file-source.ts'
import { isTelling, maskedName } from './history/names.ts'
import type { Job } from './job.ts'
import { findLogs, readLog } from './log-files.ts'
import { type Manifest, manifestOf, wrapPath } from './manifest.ts'
import { type OutputPattern, outputPatterns } from './manifests/slurm/output-files.ts'
import { findRoot } from './referred-files.ts'
import type { EarlierLog } from './runtimes/earlier-log.ts'
import { statePath } from './state-files.ts'
import { countOf } from './units.ts'

/** The newest runs whose logs are read: older ones hardly change what is known of the next. */
const mostRuns = 20
/** Files of which it is asked when they were written; job numbers rise, so the highest come first. */
const mostDated = 400
/** Folders that a pattern such as `logs/%j/out.txt` leads to. */
const mostFolders = 400
/** Scripts beside the manifest that are asked whether they write to the same files, and how large one is at most. */
const mostNeighbours = 100
const largestNeighbourBytes = 200_000

/** A file that a pattern fits. */
interface Found {
  readonly path: string
  /** Numbers of job and array task, the same for output and errors of a run; the path where the pattern has none. */
  readonly run: string
  readonly job: number
  readonly stats: Stats
}

/** Logs named by the user, or those of a Slurm job that lie where it writes them; the readers of logs are loaded only if there are any. */
export async function findEarlierLogs(
  manifest: Manifest,
  jobs: readonly Job[],
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  { log: named = [], probeLog }: { readonly log?: readonly string[]; readonly probeLog?: string },
): Promise<readonly EarlierLog[]> {
  const [job, ...others] = jobs
  if (named.length > 0 && jobs.length !== 1)
    throw new GpufareError(`--log is for a manifest of one job, ${manifest.name} has ${countOf(jobs.length, 'job')}`, 2)
  if (job === undefined || others.length > 0) return []
  if (probeLog !== undefined) return (await readRuns([[probeLog]])).map(log => ({ ...log, isProbe: true }))
  if (named.length > 0) return readRuns(findLogs(named).map(path => [path]))
  const patterns = job.scheduler === 'slurm' ? outputPatterns(manifest) : []
  const script: Script = { manifest, job, patterns, folder }
  const there = findRunsThere(script)
  const read = there.length === 0 ? [] : await readRuns(there, ownWords(script))
  const kept = await keptLogsOf(script, environment, new Set(there.flat()))
  return [...read, ...kept].sort((a, b) => b.writtenSeconds - a.writtenSeconds).slice(0, mostRuns)
}

/** A script, and where its output goes. */
interface Script {
  readonly manifest: Manifest
  readonly job: Job
  readonly patterns: readonly OutputPattern[]
  readonly folder: string
}

/** The newest runs whose logs lie where the script writes them, each with the paths of its files. */
function findRunsThere({ patterns, folder }: Script): readonly (readonly string[])[] {
  const runs = new Map<string, Found[]>()
  for (const found of patterns.flatMap(pattern => findFitting(pattern, folder))) {
    const run = runs.get(found.run)
    if (run === undefined) runs.set(found.run, [found])
    else if (run.every(({ path }) => path !== found.path)) run.push(found)
  }
  const newest = [...runs.values()].sort((a, b) => writtenAt(b) - writtenAt(a)).slice(0, mostRuns)
  return newest.map(files => files.map(({ path }) => path))
}

/**
 * Logs that were learnt from and are not there any more, or lie elsewhere: of jobs of the same name, and those that the script wrote
 * unless other scripts write to the same files.
 */
async function keptLogsOf(
  script: Script,
  environment: Readonly<Record<string, string | undefined>>,
  read: ReadonlySet<string>,
): Promise<readonly EarlierLog[]> {
  const file = statePath(environment, 'logs.jsonl')
  if (file === undefined || !existsSync(file)) return []
  const { job, patterns, folder } = script
  const { readKeptLogs } = await import('./kept-logs.ts')
  const kept = readKeptLogs(file).filter(({ path }) => !read.has(path))
  const name = isTelling(job.name) ? maskedName(job.name) : undefined
  const ofName = kept.filter(({ jobName }) => jobName !== undefined && maskedName(jobName) === name)
  const fitting = kept.filter(
    ({ jobName, path }) => jobName === undefined && patterns.some(pattern => fits(pattern, folder, path)),
  )
  const written = fitting.length > 0 && ownWords(script) === undefined ? fitting : []
  return [...ofName, ...written].map(({ path, ...log }) => ({ ...log, file: `${shownPath(path)} (kept)` }))
}

/** Whether a script writes to a path. */
function fits(pattern: OutputPattern, folder: string, path: string): boolean {
  return startsOf(pattern, folder).some(start => {
    const names = relative(start, path).split('/')
    const parts = pattern.parts.filter(part => part !== '' && part !== '.')
    return (
      names.length === parts.length &&
      parts.every((part, index) => (typeof part === 'string' ? part === names[index] : part.test(names[index] ?? '')))
    )
  })
}

/** Folders that a pattern starts from: the one that sbatch is told to change to, else the manifest's own and the current one. */
function startsOf({ parts, folder: told }: OutputPattern, folder: string): readonly string[] {
  const starts = parts[0] === '' ? ['/'] : told === undefined ? [folder, '.'] : [resolve(folder, told)]
  return [...new Set(starts.map(start => resolve(start)))]
}

function writtenAt(files: readonly Found[]): number {
  return Math.max(...files.map(({ stats }) => stats.mtimeMs))
}

/** Files of a pattern, below the folders that it starts from. */
function findFitting(pattern: OutputPattern, folder: string): readonly Found[] {
  const { parts } = pattern
  const root = findRoot(folder)
  const isAbsolute = parts[0] === ''
  const places = startsOf(pattern, folder).map(path => ({ path, run: '', job: 0 }))
  let reached = places.filter(({ path }) => isAbsolute || isInside(root, path))
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1
    if (part === '' || part === '.') return
    const next = reached.flatMap(({ path, run, job }) => {
      if (typeof part === 'string') return [{ path: join(path, part), run, job }]
      // No folder outside is looked through.
      if (!isInside(root, path)) return []
      return entriesOf(path).flatMap(entry => {
        const match = part.exec(entry.name)
        if (match === null || (!isLast && !entry.isDirectory())) return []
        const { job: number = '', task = '' } = match.groups ?? {}
        return [{ path: join(path, entry.name), run: `${run} ${number} ${task}`, job: Number(number || job) }]
      })
    })
    reached = next.sort((a, b) => b.job - a.job).slice(0, isLast ? mostDated : mostFolders)
  })
  return reached.flatMap(({ path, run, job }) => {
    const stats = statsOf(path)
    if (stats?.isFile() !== true || stats.size === 0 || !isInside(root, path)) return []
    return [{ path, run: run.trim() === '' ? path : run, job, stats }]
  })
}

/** Undefined where there is nothing, or where nothing can be: a path may be too long, or lead in a circle. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether a path lies in a folder, wherever links lead. */
function isInside(root: string, path: string): boolean {
  try {
    return isWithin(realpathSync(root), realpathSync(path))
  } catch {
    return false
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/**
 * Words by which a log shows that it is of this script, where scripts beside it write to files of the same names; undefined where none
 * does.
 */
function ownWords({ manifest, job, patterns, folder }: Script): readonly string[] | undefined {
  const own = new Set(patterns.map(describePattern))
  const neighbours = entriesOf(folder)
    .filter(entry => entry.isFile() && entry.name !== basename(manifest.path) && !/\.(?:out|err|log)$/.test(entry.name))
    .slice(0, mostNeighbours)
    .flatMap(({ name }) => scriptAt(join(folder, name)))
    .filter(script => outputPatterns(script).some(pattern => own.has(describePattern(pattern))))
  if (neighbours.length === 0 && manifest.path !== wrapPath) return undefined
  const programs = job.roles.flatMap(role => role.commandLines.map(({ program }) => basename(program)))
  const words = [basename(manifest.name), job.name, ...programs]
  return words.filter(
    word => word.length > 3 && neighbours.every(({ text, name }) => !`${name}\n${text}`.includes(word)),
  )
}

function scriptAt(path: string): readonly Manifest[] {
  try {
    if (statSync(path).size > largestNeighbourBytes) return []
    const script = manifestOf(path, readFileSync(path))
    return /^#!/.test(script.text) && /^#(?:SBATCH|PBS|BSUB)/m.test(script.text) ? [script] : []
  } catch {
    return [] // no text, or not ours to read
  }
}

function describePattern({ parts, folder = '' }: OutputPattern): string {
  return [folder, ...parts.filter(part => part !== '.').map(String)].join('/')
}

/** Reads the files of each run; with `words`, only runs in whose files one of them stands. Throws GpufareError where a file cannot be read. */
async function readRuns(
  runs: readonly (readonly string[])[],
  words?: readonly string[],
): Promise<readonly EarlierLog[]> {
  const { readEarlierRun } = await import('./logs/earlier-run.ts')
  return runs.flatMap(paths => {
    const files = paths.map(path => ({
      name: shownPath(path),
      bytes: readLog(path, false),
    }))
    const run = readEarlierRun(files, words)
    const writtenSeconds = Math.max(...paths.map(path => statSync(path).mtimeMs)) / 1_000
    return run === undefined ? [] : [{ ...run, writtenSeconds }]
  })
}

function shownPath(path: string): string {
  return relative('.', path).startsWith('..') ? path : relative('.', path)
}
