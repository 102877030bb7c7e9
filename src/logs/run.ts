import type { Counted } from './counted.ts'
import type { Figure, LogReading } from './log-reader.ts'
import type { Pace } from './pace.ts'
import type { LogRecord } from './records.ts'

/** The figures of a progress, in the order in which reports show them. */
export const progressFigures = [
  'stepsDone',
  'stepsTotal',
  'secondsPerStep',
  'samplesPerSecond',
  'tokensPerSecond',
  'globalBatch',
  'epochsDone',
  'epochsTotal',
  'startedToFirstStepSeconds',
  'elapsedSeconds',
  'remainingSeconds',
  'dataShare',
  'peakMemoryBytes',
  'worldSize',
] as const

export type ProgressFigure = (typeof progressFigures)[number]

/** A run between its reading and its progress. */
export interface Run {
  readonly reading: LogReading
  readonly records: readonly LogRecord[]
  readonly counted: Counted
  readonly pace: Pace
}

/** Figures by their names; of those that are not known there is none. */
export type Figures = Readonly<Partial<Record<ProgressFigure, Figure | undefined>>>
