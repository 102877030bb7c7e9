import { KeptLogLine } from './kept-logs-schema.ts'
import { usualTexts } from './logs/progress-warning.ts'
import { progressFigures } from './logs/run.ts'
import type { RunProgress } from './logs/run-progress.ts'
import { type Origin, type Sourced, sourced } from './sourced.ts'
import { appendLine, parseLine, readLines } from './state-files.ts'

/** A log that was learnt from: what it told stays known when it is gone. */
export interface KeptLog {
  /** Where it was, absolute. */
  readonly path: string
  /** The job that wrote it, where that was told. */
  readonly jobName?: string
  /** Of what was read of it: the same log is known again where it was moved or copied to. */
  readonly digest: string
  /** When it was last written, seconds since 1970. */
  readonly writtenSeconds: number
  readonly progress: RunProgress
  /** GPU types that it names, as the driver calls them. */
  readonly gpuNames: readonly string[]
}

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1
/** A line has to stay so small that it is written at once. */
const longestText = 200
const longestPath = 1_000
const mostGpuNames = 8
const longestBytes = 4_000

/**
 * Keeps what logs tell and answers with those that were not known yet: the same log is kept again only once it was written to, or is said
 * to be of another job, wherever it lies by then. Throws GpufareError where that cannot be read or written.
 */
export function keepLogs(file: string, logs: readonly KeptLog[]): readonly KeptLog[] {
  const known = readKeptLogs(file)
  const byPath = new Map(known.map(log => [log.path, log]))
  const byDigest = new Map(known.map(log => [log.digest, log]))
  const fresh: KeptLog[] = []
  for (const log of logs) {
    const same = byDigest.get(log.digest)
    const jobName = log.jobName ?? byPath.get(log.path)?.jobName
    if (log.path.length > longestPath || (same !== undefined && [undefined, same.jobName].includes(log.jobName)))
      continue
    // A script is found by where it wrote to, and not by where its log was put since.
    const where = same === undefined ? {} : { path: same.path, writtenSeconds: same.writtenSeconds }
    const kept = { ...log, ...where, ...(jobName !== undefined && { jobName }) }
    appendLine(file, lineOf(kept))
    byDigest.set(kept.digest, kept)
    fresh.push(kept)
  }
  return fresh
}

/** The logs that are kept, each as it was read last; of a file that is not there none. Throws GpufareError where it cannot be read. */
export function readKeptLogs(file: string): readonly KeptLog[] {
  const logs = new Map<string, KeptLog>()
  for (const line of readLines(file)) {
    const { success, data } = KeptLogLine.safeParse(parseLine(line))
    if (!success) continue
    if ('forgottenPath' in data) logs.delete(data.forgottenPath)
    else logs.set(data.path, logOf(data))
  }
  return [...logs.values()]
}

/** Drops logs, and answers how many those were. Throws GpufareError where that cannot be read or written. */
export function forgetLogs(file: string, isWanted: (log: KeptLog) => boolean): number {
  const dropped = readKeptLogs(file).filter(isWanted)
  for (const { path } of dropped) appendLine(file, JSON.stringify({ schemaVersion, forgottenPath: path }))
  return dropped.length
}

function lineOf(log: KeptLog): string {
  const whole = entryOf(log)
  const line = JSON.stringify(whole)
  if (Buffer.byteLength(line) < longestBytes) return line
  // Where figures come from is told, and decides nothing.
  const figures = Object.entries(whole.figures).map(([name, { value }]) => [name, { value }] as const)
  return JSON.stringify({ ...whole, figures: Object.fromEntries(figures) })
}

function entryOf({ path, jobName, digest, writtenSeconds, progress, gpuNames }: KeptLog): LogEntry {
  const figures = progressFigures.flatMap(name => {
    const figure = progress[name]
    return figure === undefined ? [] : [[name, { value: figure.value, ...sourceOf(figure) }] as const]
  })
  return {
    schemaVersion,
    path,
    ...(jobName !== undefined && { jobName: cut(jobName) }),
    digest,
    writtenSeconds,
    ...(progress.framework !== undefined && { framework: cut(progress.framework) }),
    outcome: progress.outcome,
    runs: progress.runs,
    unit: progress.unit,
    figures: Object.fromEntries(figures),
    warnings: [...new Set(progress.warnings.map(({ code }) => code))],
    gpuNames: gpuNames.slice(0, mostGpuNames).map(cut),
  }
}

function sourceOf({ origin }: Sourced<number>): { line?: number; formula?: string; reason?: string } {
  if (origin.kind === 'computed') return { formula: cut(origin.formula) }
  if (origin.kind === 'assumed') return { reason: cut(origin.reason) }
  return 'place' in origin && origin.place.line !== undefined ? { line: origin.place.line } : {}
}

function cut(text: string): string {
  return text.slice(0, longestText)
}

type LogEntry = Exclude<KeptLogLine, { forgottenPath: string }>

function logOf(line: LogEntry): KeptLog {
  const { path, jobName, digest, writtenSeconds, framework, outcome, runs, unit, warnings, gpuNames } = line
  const figures = progressFigures.flatMap(name => {
    const figure = line.figures[name]
    return figure === undefined ? [] : [[name, sourced(figure.value, originOf(figure, path))] as const]
  })
  return {
    path,
    ...(jobName !== undefined && { jobName }),
    digest,
    writtenSeconds,
    progress: {
      ...(framework !== undefined && { framework }),
      outcome,
      runs,
      unit,
      ...Object.fromEntries(figures),
      warnings: warnings.map(code => ({ code, text: usualTexts[code] })),
    },
    gpuNames,
  }
}

function originOf(
  { line, formula, reason }: { line?: number; formula?: string; reason?: string },
  file: string,
): Origin {
  if (formula !== undefined) return { kind: 'computed', formula }
  if (reason !== undefined) return { kind: 'assumed', reason }
  return { kind: 'file', place: { file, ...(line !== undefined && { line }) } }
}
