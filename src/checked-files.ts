import { relative, resolve, sep } from 'node:path'
import type { CheckedJob } from './check-report.ts'
import { checkedJobOf, takesAccelerators } from './checked-jobs.ts'
import type { Config } from './config.ts'
import { type Fault, InputError, NothingToPrice } from './errors.ts'
import { type Fare, fareOf, type QuoteMemory } from './fare.ts'
import { type FileReading, type FileSource, folderOf, readFetched } from './file-source.ts'
import type { Finding } from './finding.ts'
import type { Job } from './job.ts'
import { binaryWords, holdsBinary, type Manifest, manifestOf } from './manifest.ts'
import { glanceAt, glanceText, type Look, mentionsAccelerator, type Unrendered } from './manifest-files.ts'
import { readJobs } from './manifests/index.ts'
import type { Tables } from './pricing-data.ts'
import { isBeside, readJobsWithFiles, readReferredFiles } from './referred-files.ts'
import type { Past } from './runtimes/runtime-model.ts'
import { type Remembered, type Twin, type TwinMemory, twinOf } from './twins.ts'
import type { ReferredFiles } from './workloads/workload-reader.ts'

/** What is kept of one file. */
export interface CheckedFile {
  /** As its source calls it. */
  readonly path: string
  readonly look: Look
  readonly jobs: readonly CheckedJob[]
  readonly findings: readonly Finding[]
  readonly faults: readonly Fault[]
  /** The chart or kustomization that it belongs to, or the template that it is. */
  readonly notRendered: { readonly path: string; readonly reason: string } | undefined
  /** Files that its command lines name, as its source calls them. */
  readonly refersTo: readonly string[]
  readonly remarks: readonly string[]
}

/** What files that say the same have in common. */
type Outcome = Pick<CheckedFile, 'jobs' | 'findings' | 'remarks'>

/** What files are checked with. */
export interface Checking {
  readonly source: FileSource
  readonly tables: Tables
  readonly memory: QuoteMemory
  /** Absent where a file is judged by more than what it says. */
  readonly twins?: TwinMemory<Outcome>
  readonly unrendered: readonly Unrendered[]
  /** Files that a person named themselves, and that may be manifests: of those it is said where they cannot be read. */
  readonly named: ReadonlySet<string>
  /** The configuration that counts for the files of a folder. Throws InputError. */
  configFor(folder: string): Promise<Config>
  /** The earlier runs that count for the files of a folder. */
  pastOf(folder: string): Promise<Past>
  /** What a path is called in messages. */
  nameOf(path: string): string
  /** How a job breaks the policies; `jobCount` are the jobs of its file. */
  judge(fare: Fare, path: string, config: Config, jobCount: number): Promise<readonly Finding[]>
}

/** Three times what the Kubernetes API takes, and more than Slurm does: nothing larger is a manifest. */
const largestBytes = 10_000_000
/** Files whose text is held in memory at one time. */
const filesAtOnce = 50

/** Checks files one after the other; of each only the outcome stays in memory. */
export async function checkFiles(
  paths: readonly string[],
  checking: Checking,
  progress: (done: number) => void = () => {},
): Promise<readonly CheckedFile[]> {
  const files: CheckedFile[] = []
  for (let start = 0; start < paths.length; start += filesAtOnce) {
    const some = paths.slice(start, start + filesAtOnce)
    const readings = await readAll(some, checking.source)
    const opened = await Promise.all(some.map((path, index) => openFile(path, readings[index], checking)))
    for (const [file, referred] of await withReferredFiles(opened, checking.source)) {
      files.push(await priceFile(file, referred, checking))
    }
    checking.source.forget()
    progress(files.length)
  }
  return files
}

/** Whole files of a source, many at once. */
export function readAll(paths: readonly string[], source: FileSource): Promise<readonly FileReading[]> {
  return readFetched(source, () => paths.map(path => source.read(path, largestBytes)))
}

/** A file as it was read, before its jobs are priced. */
interface OpenFile extends Omit<CheckedFile, 'jobs' | 'findings' | 'refersTo' | 'remarks'> {
  readonly jobs: readonly Job[]
  readonly manifest?: Manifest
  readonly config: Config | undefined
  readonly twin: Twin | undefined
  /** Taken from its twins, whose jobs were read in its place. */
  readonly recalled: Remembered<Outcome> | undefined
}

async function openFile(path: string, reading: FileReading | undefined, checking: Checking): Promise<OpenFile> {
  const none = { look: undefined, config: undefined, twin: undefined, recalled: undefined }
  const nothing = { path, jobs: [], faults: [], notRendered: undefined, ...none }
  const isNamed = checking.named.has(path)
  const unreadable = (message: string): OpenFile => {
    return { ...nothing, faults: [{ place: { file: checking.nameOf(path) }, message }] }
  }
  if (reading === undefined || 'notRead' in reading) {
    return isNamed && reading !== undefined ? unreadable(`it cannot be read: ${reading.notRead}`) : nothing
  }
  try {
    const config = await checking.configFor(folderOf(path))
    const resourceNames = config.clusters.flatMap(cluster => cluster.pools.map(pool => pool.resourceName))
    const names = resourceNames.filter(name => name.includes('/'))
    const part = checking.unrendered.find(({ folder }) => folder === '' || path.startsWith(`${folder}/`))
    if (part !== undefined) {
      const isMeant = mentionsAccelerator(glanceText(reading.bytes), names)
      return { ...nothing, notRendered: isMeant ? { path: part.folder || '.', reason: part.reason } : undefined }
    }
    const look = glanceAt(path, reading.bytes, names)
    if (look === undefined) return isNamed && holdsBinary(reading.bytes) ? unreadable(binaryWords) : nothing
    const manifest = manifestOf(checking.nameOf(path), reading.bytes)
    const past = await checking.pastOf(folderOf(path))
    const twin =
      checking.twins && past.runs === undefined && !judgesByPath(config)
        ? twinOf(manifest.text, manifest.name)
        : undefined
    const recalled = twin && checking.twins?.recall(twin, config)
    const jobs = recalled === undefined ? readJobs(manifest).filter(job => takesAccelerators({ job })) : []
    return { ...nothing, look, config, twin, jobs, manifest, recalled }
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    if (!(error instanceof NothingToPrice)) return { ...nothing, look: 'kubernetes', faults: error.faults }
    const [fault] = error.faults
    const reason = [fault?.message, fault?.hint].filter(part => part !== undefined).join('; ')
    return { ...nothing, look: 'kubernetes', notRendered: error.reason === 'template' ? { path, reason } : undefined }
  }
}

/** What a manifest that was made of a file says; the file stands for it. Throws InputError where it is none. */
export async function checkManifest(path: string, manifest: Manifest, checking: Checking): Promise<CheckedFile> {
  const config = await checking.configFor(folderOf(path))
  const jobs = readJobs(manifest).filter(job => takesAccelerators({ job }))
  const none = { notRendered: undefined, twin: undefined, recalled: undefined, faults: [] }
  const opened: OpenFile = { path, look: 'kubernetes', jobs, manifest, config, ...none }
  const [[file, referred] = [opened, []] as const] = await withReferredFiles([opened], checking.source)
  return priceFile(file, referred, checking)
}

/** The files that each job of many refers to; a source that has to fetch them does so for all jobs together. */
function withReferredFiles(
  files: readonly OpenFile[],
  source: FileSource,
): Promise<readonly (readonly [OpenFile, readonly ReferredFiles[]])[]> {
  return readFetched(source, () =>
    files.map(file => {
      const folder = resolve(source.root, folderOf(file.path))
      const { manifest, recalled } = file
      if (recalled !== undefined && isBeside(recalled.referred, folder, source))
        return [file, [recalled.referred]] as const
      if (manifest === undefined || (recalled === undefined && file.jobs.every(job => job.sources === undefined))) {
        return [file, file.jobs.map(job => readReferredFiles(job, folder, source))] as const
      }
      const read = readJobsWithFiles(manifest, folder, source).filter(([job]) => takesAccelerators({ job }))
      return [
        { ...file, recalled: undefined, jobs: read.map(([job]) => job) },
        read.map(([, referred]) => referred),
      ] as const
    }),
  )
}

async function priceFile(file: OpenFile, referred: readonly ReferredFiles[], checking: Checking): Promise<CheckedFile> {
  const { path, config, look, faults, notRendered, twin, recalled } = file
  const refersTo = pathsOf(referred, resolve(checking.source.root, folderOf(path)), checking.source.root)
  if (recalled !== undefined) return { path, look, faults, notRendered, refersTo, ...recalled.outcome }
  const jobs: CheckedJob[] = []
  const findings: Finding[] = []
  for (const [index, job] of file.jobs.entries()) {
    if (config === undefined) continue
    const past = await checking.pastOf(folderOf(path))
    const fare = fareOf(job, referred[index] ?? new Map(), checking.tables, config, checking.memory, past)
    findings.push(...(await checking.judge(fare, path, config, file.jobs.length)))
    jobs.push(checkedJobOf(fare, config))
  }
  const remarks = config === undefined || jobs.length === 0 ? [] : config.ignored
  if (twin !== undefined && config !== undefined) {
    const together = new Map(referred.flatMap(files => [...files]))
    checking.twins?.learn(twin, config, { outcome: { jobs, findings, remarks }, referred: together })
  }
  return {
    path,
    look,
    jobs,
    findings,
    faults,
    notRendered,
    refersTo,
    remarks,
  }
}

/** Paths of the files that jobs refer to, as the source names them. */
function pathsOf(referred: readonly ReferredFiles[], folder: string, root: string): readonly string[] {
  const names = referred.flatMap(files => [...files.keys()])
  return names.map(name => relative(root, resolve(folder, name)).replaceAll(sep, '/'))
}

function judgesByPath({ policies, exemptions }: Config): boolean {
  return [...policies, ...exemptions].some(({ where }) => where.paths.length > 0)
}
