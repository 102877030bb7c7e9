import type { ProgressWarningCode } from './progress-warning.ts'
import type { LogRecord } from './records.ts'

/** What one count of the counter is. */
export type CounterUnit = 'optimizer-step' | 'micro-step' | 'sample' | 'token' | 'epoch' | 'other' | 'none'

/** A report of how far a run is: one record, or several that belong together. Everything but the counter may be absent. */
export interface ProgressPoint {
  readonly line: number
  /** As printed. */
  readonly step: number
  /** The counter's planned end as printed; of the epoch where the counter restarts with each. */
  readonly total?: number | undefined
  readonly epoch?: number | undefined
  readonly epochs?: number | undefined
  /** Clock of the record. */
  readonly timeSeconds?: number | undefined
  /** By the program's own clock, since the counter or the run began. */
  readonly elapsedSeconds?: number | undefined
  /** Of one count, as stated. */
  readonly secondsPerStep?: number | undefined
  readonly samplesPerSecond?: number | undefined
  readonly tokensPerSecond?: number | undefined
  /** Of one count, waiting for data. */
  readonly dataSeconds?: number | undefined
  /** Mean seconds of a count since the epoch began. */
  readonly meanSecondsPerStep?: number | undefined
  readonly remainingSeconds?: number | undefined
  readonly memoryBytes?: number | undefined
  readonly globalBatch?: number | undefined
  /** Samples and tokens since the start. */
  readonly samplesSeen?: number | undefined
  readonly tokensSeen?: number | undefined
  readonly rank?: string | undefined
  /** The record, which tells processes that write alike from one that writes twice. */
  readonly text?: string | undefined
  /** The line goes on below the bar: it was closed. */
  readonly closed?: boolean | undefined
}

/** A figure that stands in the log (`line`), or follows from others there (`formula`). */
export interface Figure {
  readonly value: number
  readonly line?: number | undefined
  readonly formula?: string | undefined
}

/** Figures of the whole run that a log states beside its counter. */
export interface RunFigures {
  readonly stepsTotal?: Figure | undefined
  readonly epochsTotal?: Figure | undefined
  readonly epochsDone?: Figure | undefined
  readonly secondsPerStep?: Figure | undefined
  readonly samplesPerSecond?: Figure | undefined
  readonly tokensPerSecond?: Figure | undefined
  readonly globalBatch?: Figure | undefined
  /** Samples one process takes at a time. */
  readonly microBatch?: Figure | undefined
  readonly accumulation?: Figure | undefined
  /** Tokens of a sample, where all are equally long. */
  readonly sequenceLength?: Figure | undefined
  readonly worldSize?: Figure | undefined
  readonly startedToFirstStepSeconds?: Figure | undefined
  readonly elapsedSeconds?: Figure | undefined
  readonly remainingSeconds?: Figure | undefined
  readonly dataShare?: Figure | undefined
  readonly peakMemoryBytes?: Figure | undefined
}

/** A stretch in which the counter stood still, as the log states it. */
export interface Pause {
  readonly line: number
  readonly seconds: number
}

/** What a reader finds in the log of its program. */
export interface LogReading {
  readonly framework?: string | undefined
  readonly unit: CounterUnit
  readonly points: readonly ProgressPoint[]
  /** The first step is called 0. */
  readonly zeroBased?: boolean | undefined
  /** The counter restarts every epoch. */
  readonly perEpoch?: boolean | undefined
  /** What the first epoch is called. */
  readonly firstEpoch?: 0 | 1 | undefined
  /** Points are bars: a count may be written twice, by one process. */
  readonly bars?: boolean | undefined
  /** Rates that points state are of one device; absent = of the job. */
  readonly ratesPerDevice?: boolean | undefined
  /** Rates that points state are of one device or of the job, nobody can tell. */
  readonly rateScopeUnknown?: boolean | undefined
  /** The time left that points state is of the epoch; absent = of the run. */
  readonly remainingOfEpoch?: boolean | undefined
  readonly figures: RunFigures
  readonly pauses?: readonly Pause[] | undefined
  /** The counter came to an end, and nothing tells whether that was planned. */
  readonly endsWithoutPlan?: boolean | undefined
  /** Line that says the run came to its planned end. */
  readonly finishedAtLine?: number | undefined
  /** Line at which steps begin, where the log marks it. */
  readonly startedAtLine?: number | undefined
  /** Lines of evaluations. */
  readonly evaluatedAtLine?: readonly number[] | undefined
  readonly warnings?: readonly { readonly code: ProgressWarningCode; readonly text?: string; readonly line?: number }[]
}

/** Reads the logs of a program, or of a family of programs that write alike. */
export interface LogReader {
  readonly name: string
  /** What the log tells; undefined where it is not of this program. */
  read(records: readonly LogRecord[]): LogReading | undefined
}
