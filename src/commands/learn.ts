import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { GpufareError } from '../errors.ts'
import { plainText, visibleJson } from '../escaping.ts'
import { forgetLogs, type KeptLog, keepLogs, readKeptLogs } from '../kept-logs.ts'
import { findLogs, readLog } from '../log-files.ts'
import { type ReadRun, readEarlierRun } from '../logs/earlier-run.ts'
import type { RunProgress } from '../logs/run-progress.ts'
import { describeProgress } from '../logs/words.ts'
import { statePath } from '../state-files.ts'
import { loadPaint, processTerminal, type Terminal } from '../terminal.ts'
import { countOf } from '../units.ts'

/** What `gpufare learn` can be told. */
export interface LearnOptions {
  readonly format: 'table' | 'json'
  readonly dryRun?: true
  /** The job that wrote the logs. */
  readonly job?: string
  /** Show what is kept, of these logs or of all. */
  readonly list?: true
  /** Drop what is kept, of these logs or of all. */
  readonly forget?: true
  readonly color: boolean
}

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** Reads logs of earlier runs, prints what they tell and keeps it for later quotes. Throws GpufareError where a log or the file of what is kept cannot be read. */
export async function learn(
  names: readonly string[],
  options: LearnOptions,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  const file = statePath(terminal.environment, 'logs.jsonl')
  const told = [options.dryRun, options.list, options.forget].filter(each => each === true)
  if (told.length > 1) throw new GpufareError('--dry-run, --list and --forget exclude each other', 2)
  const wanted = options.job === undefined ? names : [...names, options.job]
  if (options.forget === true) return forget(file, wanted, terminal)
  if (options.list === true) return list(file, wanted, options, terminal)
  if (names.length === 0) throw new GpufareError('no log is named', 2, 'name log files, or folders of them')
  const logs = findLogs(names).flatMap(name => learnedFrom(name) ?? [])
  await show(logs, options, terminal)
  if (options.dryRun !== true) keep(file, logs, options.job, terminal)
  return 0
}

interface Learned extends ReadRun {
  /** Of what was read of the file. */
  readonly digest: string
}

function learnedFrom(name: string): Learned | undefined {
  const bytes = readLog(name)
  const run = readEarlierRun([{ name, bytes }])
  const hash = createHash('sha256').update(bytes.head)
  if (bytes.tail !== undefined) hash.update(bytes.tail)
  return run === undefined ? undefined : { ...run, digest: hash.digest('hex').slice(0, digestDigits) }
}

/** So many hexadecimal digits tell any logs of one user apart. */
const digestDigits = 20

async function list(
  file: string | undefined,
  names: readonly string[],
  options: LearnOptions,
  terminal: Terminal,
): Promise<number> {
  const kept = file === undefined ? [] : readKeptLogs(file).filter(isNamed(names))
  if (kept.length === 0) terminal.stderr.write('gpufare: no such log is kept\n')
  await show(
    kept.map(({ path, jobName, progress }) => ({
      file: path,
      ...(jobName !== undefined && { job: jobName }),
      progress,
    })),
    options,
    terminal,
  )
  return 0
}

interface Shown extends Pick<ReadRun, 'file' | 'progress'> {
  readonly job?: string
}

async function show(logs: readonly Shown[], { format }: LearnOptions, terminal: Terminal): Promise<void> {
  if (format === 'json') {
    const document = { schemaVersion, logs: logs.map(asDocument) }
    terminal.stdout.write(`${visibleJson(JSON.stringify(document, null, 2))}\n`)
    return
  }
  const paint = await loadPaint(terminal, 'stdout')
  const blocks = logs.map(({ file, job, progress }) => {
    const title = `${paint.bold(plainText(file))}${job === undefined ? '' : plainText(`  of job ${job}`)}`
    return [title, ...wordsOf(progress)].join('\n')
  })
  if (blocks.length > 0) terminal.stdout.write(`${blocks.join('\n\n')}\n`)
}

function asDocument({ file, job, progress }: Shown) {
  return { file, ...(job !== undefined && { job }), ...progress }
}

function wordsOf(progress: RunProgress): readonly string[] {
  return describeProgress(progress).map(line => `  ${plainText(line)}`)
}

function keep(file: string | undefined, logs: readonly Learned[], job: string | undefined, terminal: Terminal): void {
  if (file === undefined) throw new GpufareError('nothing is kept: there is no home folder', 1)
  const telling = logs.filter(({ progress }) => tellsTime(progress))
  const kept = keepLogs(
    file,
    telling.map(log => ({ ...asKept(log), ...(job !== undefined && { jobName: job }) })),
  )
  const silent = logs.length - telling.length
  const known = telling.length - kept.length
  const whose = job === undefined ? 'scripts that write to the same files' : `jobs named ${job}`
  const parts = [
    logs.length === 0 && 'no log was found there',
    kept.length > 0 &&
      `kept what ${countOf(kept.length, 'log')} tell${kept.length === 1 ? 's' : ''}: ${whose} are quoted by it`,
    known > 0 && `${countOf(known, 'log')} ${known === 1 ? 'was' : 'were'} known`,
    silent > 0 &&
      `${countOf(silent, 'log')} ${silent === 1 ? 'tells' : 'tell'} no time and ${silent === 1 ? 'is' : 'are'} not kept`,
  ].filter(part => part !== false)
  terminal.stderr.write(`gpufare: ${plainText(parts.join('; '))}\n`)
}

/** Whether a quote could go by it. */
function tellsTime({ elapsedSeconds, secondsPerStep }: RunProgress): boolean {
  return elapsedSeconds !== undefined || secondsPerStep !== undefined
}

function asKept({ file, progress, gpuNames, digest }: Learned): KeptLog {
  return { path: resolve(file), digest, writtenSeconds: statSync(file).mtimeMs / 1_000, progress, gpuNames }
}

function forget(file: string | undefined, names: readonly string[], terminal: Terminal): number {
  const count = file === undefined ? 0 : forgetLogs(file, isNamed(names))
  terminal.stderr.write(`gpufare: ${countOf(count, 'log')} forgotten\n`)
  return 0
}

/** A log by its path, by a folder that it was in, or by the job it is of; all where nothing is named. */
function isNamed(names: readonly string[]): (log: KeptLog) => boolean {
  const paths = names.map(name => resolve(name))
  return ({ path, jobName }) =>
    names.length === 0 ||
    names.some(name => name === jobName) ||
    paths.some(each => path === each || path.startsWith(`${each}/`))
}
