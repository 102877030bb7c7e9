import { maskedName } from './history/names.ts'
import { LearntLine } from './learnt-schema.ts'
import type { LearntRun } from './runtimes/corrections.ts'
import { appendLine, parseLine, readLines } from './state-files.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** Runs that were quoted and have ended. */
export interface Learnt {
  /** Those that count, the earliest learnt first. */
  readonly runs: readonly LearntRun[]
  /** Whether a run is among them, or was quoted before all like it was forgotten. */
  knows(run: LearntRun): boolean
}

/** Adds runs. Throws GpufareError where they cannot be written. */
export function keepLearnt(path: string, runs: readonly LearntRun[]): void {
  for (const run of runs) appendLine(path, JSON.stringify({ schemaVersion, ...run }))
}

/** All that was learnt; of a file that is not there nothing. Throws GpufareError where it cannot be read. */
export function readLearnt(path: string): Learnt {
  return learntIn(readLines(path))
}

/**
 * From now on nothing counts that was quoted before `at` (ISO 8601, UTC): of a fingerprint, of a job's name but for its digits, or at all.
 * What the scheduler still tells of those runs is not learnt again. Answers how many runs no longer count. Throws GpufareError where that
 * cannot be read or written.
 */
export function forgetLearnt(path: string, wanted: string | undefined, at: string): number {
  const { runs } = readLearnt(path)
  const isWanted = ({ fingerprint, name }: LearntRun) =>
    wanted === undefined || fingerprint === wanted || maskedName(name) === maskedName(wanted)
  const dropped = runs.filter(isWanted)
  const forgotten =
    wanted === undefined
      ? ['all']
      : [...new Set(dropped.map(({ fingerprint }) => fingerprint))].map(fingerprint => ({ fingerprint }))
  for (const each of forgotten) appendLine(path, JSON.stringify({ schemaVersion, forgotten: each, at }))
  return dropped.length
}

/** What lines of the file say, however few of them. */
export function learntIn(lines: readonly string[]): Learnt {
  const runs = new Map<string, LearntRun>()
  const forgotten = new Map<string, number>()
  for (const line of lines) {
    const { success, data } = LearntLine.safeParse(parseLine(line))
    if (!success) continue
    const { schemaVersion: _, ...entry } = data
    if ('key' in entry) runs.set(entry.key, entry)
    else forgotten.set(entry.forgotten === 'all' ? 'all' : entry.forgotten.fingerprint, Date.parse(entry.at))
  }
  const isForgotten = ({ fingerprint, at }: LearntRun) =>
    Date.parse(at) <= Math.max(forgotten.get('all') ?? 0, forgotten.get(fingerprint) ?? 0)
  return {
    runs: [...runs.values()].filter(run => !isForgotten(run)),
    knows: run => runs.has(run.key) || isForgotten(run),
  }
}
