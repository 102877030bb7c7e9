import { gpuNamesIn } from './gpu-names.ts'
import { readProgress } from './index.ts'
import type { Outcome } from './outcome.ts'
import { type LogBytes, recordsOf } from './records.ts'
import type { RunProgress } from './run-progress.ts'

/** A file that a run wrote. */
interface LogFile {
  readonly name: string
  readonly bytes: LogBytes
}

/** One run by all its files: progress is in one of output and errors, and what ended it perhaps in the other. */
export interface ReadRun {
  readonly file: string
  readonly progress: RunProgress
  readonly gpuNames: readonly string[]
}

/** Endings that no file contradicts by not mentioning them. */
const endings: readonly Outcome[] = ['time-limit', 'oom', 'cancelled', 'crashed']

/** What the files of a run tell together; undefined where `words` are given and none of them stands in any. */
export function readEarlierRun(files: readonly LogFile[], words?: readonly string[]): ReadRun | undefined {
  const read = files.map(({ name, bytes }) => ({
    name,
    records: recordsOf(bytes),
    progress: readProgress(bytes, name),
  }))
  const records = read.flatMap(each => each.records)
  if (words !== undefined && !records.some(({ text }) => words.some(word => text.includes(word)))) return undefined
  const [main, ...others] = read.toSorted((a, b) => telling(b.progress) - telling(a.progress))
  if (main === undefined) return undefined
  const ended = others.find(({ progress }) => endings.includes(progress.outcome))?.progress
  const isOpen = main.progress.outcome === 'running' || main.progress.outcome === 'unknown'
  const progress =
    ended === undefined || !isOpen
      ? main.progress
      : { ...main.progress, outcome: ended.outcome, warnings: [...main.progress.warnings, ...ended.warnings] }
  return { file: main.name, progress, gpuNames: gpuNamesIn(records) }
}

/** How much of a run's course a file tells. */
function telling({ unit, stepsTotal, secondsPerStep, elapsedSeconds, outcome }: RunProgress): number {
  const known = [stepsTotal, secondsPerStep, elapsedSeconds].filter(figure => figure !== undefined).length
  return (unit === 'none' ? 0 : 4) + known + (outcome === 'unknown' ? 0 : 0.5)
}
