import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { GpufareError } from './errors.ts'
import { isWithin } from './file-source.ts'
import { isTelling, maskedName } from './history/names.ts'
import type { Job } from './job.ts'
import type { KeptLog } from './kept-logs.ts'
import { findLogs, readLog } from './log-files.ts'
import { type Manifest, manifestOf, wrapPath } from './manifest.ts'
import { type OutputPattern, outputPatterns } from './manifests/slurm/output-files.ts'
import { findRoot } from './referred-files.ts'
import type { EarlierLog } from './runtimes/earlier-log.ts'
import type { PastRuns } from './runtimes/runtime-model.ts'
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

/** Numbers of job and array task in a path, the same for output and errors of a run; empty where the pattern has none. */
interface Numbers {
  readonly job: string
  readonly task: string
}

/** A file that a pattern fits. */
interface Found {
  readonly path: string
  readonly numbers: Numbers
  readonly stats: Stats
}

/** Logs named by the user, or those of a Slurm job that lie where it writes them; the readers of logs are loaded only if there are any. */
export async function findEarlierLogs(
  manifest: Manifest,
  jobs: readonly Job[],
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  { log: named = [], probeLog }: { readonly log?: readonly string[]; readonly probeLog?: string },
  runs?: PastRuns,
): Promise<readonly EarlierLog[]> {
  const [job, ...others] = jobs
  if (named.length > 0 && jobs.length !== 1)
    throw new GpufareError(`--log is for a manifest of one job, ${manifest.name} has ${countOf(jobs.length, 'job')}`, 2)
  if (job === undefined || others.length > 0) return []
  const patterns = job.scheduler === 'slurm' ? outputPatterns(manifest) : []
  const script: Script = { manifest, job, patterns, folder, isOwn: id => runs?.isNumbered(job, id) === true }
  if (probeLog !== undefined) return (await readRuns([{ paths: [probeLog] }])).map(log => ({ ...log, isProbe: true }))
  if (named.length > 0) return readRuns(findLogs(named).map(path => ({ paths: [path], ...idFitting(script, path) })))
  const there = findRunsThere(script)
  const words = there.length === 0 ? undefined : ownWords(script)
  const read = await readRuns(
    there.map(run => ({ ...run, ...(words !== undefined && !isOwnRun(script, run) && { words }) })),
  )
  const kept = await keptLogsOf(script, environment, there)
  return [...read, ...kept].sort((a, b) => b.writtenSeconds - a.writtenSeconds).slice(0, mostRuns)
}

/** A script, and where its output goes. */
interface Script {
  readonly manifest: Manifest
  readonly job: Job
  readonly patterns: readonly OutputPattern[]
  readonly folder: string
  /** Whether the accounting knows a job of this number under the job's name. */
  isOwn(id: string): boolean
}

/** The logs of one run. */
interface LoggedRun {
  readonly paths: readonly string[]
  /** Number of its job, with that of its array task. */
  readonly runId?: string
}

/** The newest runs whose logs lie where the script writes them. */
function findRunsThere({ patterns, folder }: Script): readonly LoggedRun[] {
  const runs = new Map<string, Found[]>()
  for (const found of patterns.flatMap(pattern => findFitting(pattern, folder))) {
    const { job, task } = found.numbers
    const key = job === '' && task === '' ? found.path : `${job} ${task}`
    const run = runs.get(key)
    if (run === undefined) runs.set(key, [found])
    else if (run.every(({ path }) => path !== found.path)) run.push(found)
  }
  const newest = [...runs.values()].sort((a, b) => writtenAt(b) - writtenAt(a)).slice(0, mostRuns)
  return newest.map(files => {
    const runId = idOf(files[0]?.numbers)
    return { paths: files.map(({ path }) => path), ...(runId !== undefined && { runId }) }
  })
}

function isOwnRun({ isOwn }: Script, { runId }: LoggedRun): boolean {
  return runId !== undefined && isOwn(runId)
}

function idOf({ job, task }: Numbers = { job: '', task: '' }): string | undefined {
  if (job === '') return undefined
  return task === '' ? job : `${job}_${task}`
}

/**
 * Logs that were learnt from and are not there any more, or lie elsewhere: of jobs of the same name, and those that the script wrote; where
 * other scripts write to the same files, those whose number the accounting knows as that of this job.
 */
async function keptLogsOf(
  script: Script,
  environment: Readonly<Record<string, string | undefined>>,
  there: readonly LoggedRun[],
): Promise<readonly EarlierLog[]> {
  const file = statePath(environment, 'logs.jsonl')
  if (file === undefined || !existsSync(file)) return []
  const { job } = script
  const paths = new Set(there.flatMap(run => run.paths))
  const ids = new Set(there.map(({ runId }) => runId))
  const { readKeptLogs } = await import('./kept-logs.ts')
  const kept = readKeptLogs(file).flatMap(log => {
    const fitting = idFitting(script, log.path)
    const isThere = paths.has(log.path) || (fitting?.runId !== undefined && ids.has(fitting.runId))
    return isThere ? [] : [{ ...log, run: { paths: [log.path], ...fitting }, fits: fitting !== undefined }]
  })
  const name = isTelling(job.name) ? maskedName(job.name) : undefined
  const ofName = kept.filter(({ jobName }) => jobName !== undefined && maskedName(jobName) === name)
  const fitting = kept.filter(({ jobName, fits }) => jobName === undefined && fits)
  const isAlone = fitting.length > 0 && ownWords(script) === undefined
  const written = fitting.filter(({ run }) => isAlone || isOwnRun(script, run))
  const logs = [...ofName, ...written].sort((a, b) => figuresIn(b) - figuresIn(a))
  // Output and errors of a run are one log of it: the one that tells more.
  const runs = new Map(logs.toReversed().map(log => [log.run.runId ?? log.path, log]))
  return [...runs.values()].map(({ path, writtenSeconds, progress, gpuNames, run: { runId } }) => ({
    file: `${shownPath(path)} (kept)`,
    ...(runId !== undefined && { runId }),
    writtenSeconds,
    progress,
    gpuNames,
  }))
}

function figuresIn({ progress }: KeptLog): number {
  return Object.keys(progress).length
}

/** The run that a path of a script's output is of; undefined where the script does not write there. */
function idFitting({ patterns, folder }: Script, path: string): Pick<LoggedRun, 'runId'> | undefined {
  for (const pattern of patterns) {
    for (const start of startsOf(pattern, folder)) {
      const numbers = numbersIn(pattern, relative(start, resolve(path)).split('/'))
      if (numbers === undefined) continue
      const runId = idOf(numbers)
      return runId === undefined ? {} : { runId }
    }
  }
  return undefined
}

/** The numbers in the parts of a path that a pattern fits; undefined where it does not. */
function numbersIn(pattern: OutputPattern, names: readonly string[]): Numbers | undefined {
  const parts = pattern.parts.filter(part => part !== '' && part !== '.')
  if (names.length !== parts.length) return undefined
  let numbers: Numbers = { job: '', task: '' }
  for (const [index, part] of parts.entries()) {
    const name = names[index] ?? ''
    if (typeof part === 'string' && part === name) continue
    const match = typeof part === 'string' ? null : part.exec(name)
    if (match === null) return undefined
    numbers = withNumbers(numbers, match)
  }
  return numbers
}

function withNumbers({ job, task }: Numbers, { groups = {} }: RegExpExecArray): Numbers {
  return { job: groups['job'] || job, task: groups['task'] || task }
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
  const places = startsOf(pattern, folder).map(path => ({ path, numbers: { job: '', task: '' } }))
  let reached = places.filter(({ path }) => isAbsolute || isInside(root, path))
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1
    if (part === '' || part === '.') return
    const next = reached.flatMap(({ path, numbers }) => {
      if (typeof part === 'string') return [{ path: join(path, part), numbers }]
      // No folder outside is looked through.
      if (!isInside(root, path)) return []
      return entriesOf(path).flatMap(entry => {
        const match = part.exec(entry.name)
        if (match === null || (!isLast && !entry.isDirectory())) return []
        return [{ path: join(path, entry.name), numbers: withNumbers(numbers, match) }]
      })
    })
    reached = next
      .sort((a, b) => Number(b.numbers.job) - Number(a.numbers.job))
      .slice(0, isLast ? mostDated : mostFolders)
  })
  return reached.flatMap(({ path, numbers }) => {
    const stats = statsOf(path)
    if (stats?.isFile() !== true || stats.size === 0 || !isInside(root, path)) return []
    return [{ path, numbers, stats }]
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

/** Reads the files of each run; of one with `words`, only where one of them stands in its files. Throws GpufareError where a file cannot be read. */
async function readRuns(
  runs: readonly (LoggedRun & { readonly words?: readonly string[] })[],
): Promise<readonly EarlierLog[]> {
  if (runs.length === 0) return []
  const { readEarlierRun } = await import('./logs/earlier-run.ts')
  return runs.flatMap(({ paths, runId, words }) => {
    const files = paths.map(path => ({
      name: shownPath(path),
      bytes: readLog(path, false),
    }))
    const run = readEarlierRun(files, words)
    const writtenSeconds = Math.max(...paths.map(path => statSync(path).mtimeMs)) / 1_000
    return run === undefined ? [] : [{ ...run, ...(runId !== undefined && { runId }), writtenSeconds }]
  })
}

function shownPath(path: string): string {
  return relative('.', path).startsWith('..') ? path : relative('.', path)
}
