import { type Sourced, sourced } from '../sourced.ts'
import { findStamp } from './clock.ts'
import { count } from './counted.ts'
import type { CounterUnit, Figure, LogReading } from './log-reader.ts'
import { type Ending, endedAtSeconds, endingBehind, type Outcome, successBehind } from './outcome.ts'
import { paceOf } from './pace.ts'
import type { ProgressWarning } from './progress-warning.ts'
import type { LogRecord } from './records.ts'
import { type Figures, progressFigures, type Run } from './run.ts'
import { warningsOf } from './run-warnings.ts'

/** What a log tells of a run; what it does not tell is absent. Of several runs in a file, the last. */
export interface RunProgress {
  readonly framework?: string
  readonly outcome: Outcome
  readonly runs: number
  readonly unit: CounterUnit
  /** Counts done, from the run's beginning. */
  readonly stepsDone?: Sourced<number>
  readonly stepsTotal?: Sourced<number>
  /** Steady state, of one count. */
  readonly secondsPerStep?: Sourced<number>
  /** Rates are of the whole job. */
  readonly samplesPerSecond?: Sourced<number>
  readonly tokensPerSecond?: Sourced<number>
  /** Samples of an optimizer step, over all GPUs and accumulation. */
  readonly globalBatch?: Sourced<number>
  readonly epochsDone?: Sourced<number>
  readonly epochsTotal?: Sourced<number>
  readonly startedToFirstStepSeconds?: Sourced<number>
  readonly elapsedSeconds?: Sourced<number>
  readonly remainingSeconds?: Sourced<number>
  /** Share of a step that waits for data, 0 to 1. */
  readonly dataShare?: Sourced<number>
  /** Of one GPU. */
  readonly peakMemoryBytes?: Sourced<number>
  readonly worldSize?: Sourced<number>
  readonly warnings: readonly ProgressWarning[]
}

/** What a reading comes to: one counter, one rate, the time that is left. */
export function progressOf(reading: LogReading, records: readonly LogRecord[], file: string): RunProgress {
  const counted = count(reading)
  const run = { reading, records, counted, pace: paceOf(reading, counted) }
  const ending = endOf(run)
  const figures = figuresOf(run, ending)
  const known = progressFigures.flatMap(name => {
    const figure = figures[name]
    return figure === undefined || !Number.isFinite(figure.value) ? [] : [[name, sourcedFigure(figure, file)] as const]
  })
  return {
    ...(reading.framework !== undefined && { framework: reading.framework }),
    outcome: ending.outcome,
    runs: counted.runs,
    unit: reading.unit,
    ...Object.fromEntries(known),
    warnings: warningsOf(run, ending, figures),
  }
}

function sourcedFigure({ value, line, formula }: Figure, file: string): Sourced<number> {
  if (line === undefined)
    return sourced(value, { kind: 'computed', formula: formula ?? 'from other figures of the log' })
  return sourced(value, { kind: 'file', place: { file, line } })
}

function endOf({ reading, records, counted }: Run): Ending {
  const last = counted.points.at(-1)
  const lastLine = last?.line ?? 0
  const total = totalOf({ reading, counted })
  const isDone = last !== undefined && total !== undefined && last.done >= total.value
  const ending = endingBehind(lastLine, records)
  const finished = reading.finishedAtLine ?? (isDone ? lastLine : undefined)
  const finishedLine = finished !== undefined && finished >= (counted.lastLineBefore ?? 0) ? finished : undefined
  if (finishedLine !== undefined && (ending === undefined || isDone || finishedLine < ending.line))
    return { outcome: 'finished', line: finishedLine }
  if (ending !== undefined) return ending
  const success = successBehind(lastLine, records)
  if (success !== undefined) return { outcome: 'finished', line: success }
  return { outcome: reading.unit === 'none' ? 'unknown' : 'running', line: lastLine }
}

function totalOf({ reading, counted }: Pick<Run, 'reading' | 'counted'>): Figure | undefined {
  const { figures, perEpoch } = reading
  if (figures.stepsTotal !== undefined) return figures.stepsTotal
  const last = counted.points.findLast(point => point.total !== undefined)
  if (perEpoch !== true) return last?.total === undefined ? undefined : { value: last.total, line: last.line }
  const epochs = epochsTotalOf({ reading, counted })
  const { epochLength: length, unequalEnd } = counted
  const isInLast = epochs !== undefined && (counted.points.at(-1)?.stretch ?? 0) + 1 === epochs.value
  if (unequalEnd !== undefined)
    return isInLast ? { value: unequalEnd, formula: 'steps of the epochs, which are not equally long' } : undefined
  if (epochs === undefined || length === undefined) return undefined
  return { value: epochs.value * length, formula: `${epochs.value} epochs of ${length}` }
}

function epochsTotalOf({ reading, counted }: Pick<Run, 'reading' | 'counted'>): Figure | undefined {
  const last = counted.points.findLast(point => (reading.unit === 'epoch' ? point.total : point.epochs) !== undefined)
  if (reading.unit === 'epoch' && last?.total !== undefined) return { value: last.total, line: last.line }
  return (
    reading.figures.epochsTotal ?? (last?.epochs === undefined ? undefined : { value: last.epochs, line: last.line })
  )
}

function figuresOf(run: Run, ending: Ending): Figures {
  const { reading, counted, pace, records } = run
  const { figures } = reading
  const last = counted.points.at(-1)
  const stated = totalOf(run)
  const isFinished = ending.outcome === 'finished'
  const stamped = stampedOf(run)
  const done: Figure | undefined =
    last === undefined || epochsAreOpen(run) ? undefined : { value: last.done, line: last.line }
  const stepsTotal = stated
  return {
    stepsDone: done,
    stepsTotal,
    secondsPerStep: pace.secondsPerStep,
    samplesPerSecond: pace.samplesPerSecond,
    tokensPerSecond: pace.tokensPerSecond,
    globalBatch: pace.globalBatch,
    epochsDone: epochsDoneOf(run, isFinished),
    epochsTotal: epochsTotalOf(run),
    startedToFirstStepSeconds: figures.startedToFirstStepSeconds ?? startUpOf(run, stamped),
    elapsedSeconds: figures.elapsedSeconds ?? elapsedOf(run, stamped),
    remainingSeconds: isFinished
      ? reading.endsWithoutPlan === true
        ? undefined
        : { value: 0, line: ending.line }
      : remainingOf(run, done, stepsTotal),
    dataShare: figures.dataShare ?? pace.dataShare,
    peakMemoryBytes: peakMemoryOf(run, ending),
    worldSize:
      figures.worldSize ??
      ranksOf(records) ??
      (counted.processes > 1
        ? { value: counted.processes, formula: 'processes that wrote the same steps' }
        : undefined),
  }
}

/** Epochs were added up whose lengths nobody names, and reports leave out counts: where each ended is not known. */
function epochsAreOpen({ reading, counted, pace }: Run): boolean {
  const last = counted.points.at(-1)
  return (
    reading.perEpoch === true && (last?.stretch ?? 0) > 0 && (pace.stride ?? 1) > 1 && counted.epochLength === undefined
  )
}

/** Ranks that mark their lines, where they are all there from 0 on. */
function ranksOf(records: readonly LogRecord[]): Figure | undefined {
  const ranks = new Set(records.flatMap(({ rank }) => (rank !== undefined && /^\d+$/.test(rank) ? [Number(rank)] : [])))
  const isWhole = ranks.size > 1 && Math.max(...ranks) === ranks.size - 1
  return isWhole ? { value: ranks.size, formula: 'ranks that mark their lines' } : undefined
}

function epochsDoneOf({ reading, counted }: Run, isFinished: boolean): Figure | undefined {
  if (reading.figures.epochsDone !== undefined) return reading.figures.epochsDone
  const last = counted.points.at(-1)
  if (reading.unit === 'epoch' && last !== undefined) return { value: last.done, line: last.line }
  const total = epochsTotalOf({ reading, counted })
  if (reading.perEpoch !== true || last === undefined || (last.epoch === undefined && reading.bars !== true))
    return undefined
  if (isFinished && total !== undefined && reading.figures.stepsTotal === undefined && last.stretch + 1 === total.value)
    return total
  const offset = reading.zeroBased === true ? 1 : 0
  const isWhole = last.total !== undefined && last.step + offset >= last.total
  return { value: last.stretch + (isWhole ? 1 : 0), line: last.line }
}

function remainingOf(
  { reading, pace, counted }: Run,
  done: Figure | undefined,
  total: Figure | undefined,
): Figure | undefined {
  if (reading.figures.remainingSeconds !== undefined) return reading.figures.remainingSeconds
  const { secondsPerStep, pauseShare } = pace
  if (done !== undefined && total !== undefined && secondsPerStep !== undefined) {
    const left = Math.max(0, total.value - done.value) * secondsPerStep.value
    return { value: left * (1 + pauseShare), formula: 'steps left times their time, with pauses as seen so far' }
  }
  const last = counted.points.at(-1)
  if (last?.remainingSeconds === undefined || reading.remainingOfEpoch === true) return undefined
  return { value: last.remainingSeconds, line: last.line }
}

/** Marks of the first step that many programs print. */
const startMarks =
  /Running training|Start(?:ing|ed)? (?:to )?train|begin training|Training starts|Start iterating|^training \.\.\.|Starting trainer|start training|Start(?:ed|ing) (?:the )?(?:optimization|main loop)/i

type Stamped = LogRecord & { readonly timeSeconds: number }

/** Stamped records of the last run. */
function stampedOf({ records, counted }: Run): readonly Stamped[] {
  const after = counted.lastLineBefore ?? 0
  return records.filter((record): record is Stamped => record.timeSeconds !== undefined && record.line > after)
}

function startUpOf(run: Run, stamped: readonly Stamped[]): Figure | undefined {
  const { reading, records, counted, pace } = run
  const [first] = stamped
  const [point] = counted.points
  if (first === undefined || point === undefined || first.line >= point.line) return undefined
  const before = stamped.filter(
    record =>
      record.line < point.line ||
      (record.line === point.line && (reading.bars === true || record.line === reading.startedAtLine)),
  )
  const marked = before.findLast(record => record.line === reading.startedAtLine || startMarks.test(record.text))
  const worth = (seconds: number, formula: string) => (seconds > 1 ? { value: seconds, formula } : undefined)
  if (marked !== undefined)
    return worth(marked.timeSeconds - first.timeSeconds, 'first time stamp to the line that starts training')
  const steps = point.done - (pace.firstDone ?? 0)
  const own = point.secondsPerStep ?? pace.secondsPerStep?.value
  if (point.timeSeconds !== undefined && own !== undefined) {
    return worth(
      point.timeSeconds - first.timeSeconds - steps * own,
      'first time stamp to the first report, less its steps',
    )
  }
  // a bar's own clock, from the stamp behind its last record
  const lastPoint = counted.points.at(-1)
  const behind = stamped.find(record => record.line > (lastPoint?.line ?? Number.POSITIVE_INFINITY))
  if (
    behind === undefined ||
    lastPoint?.elapsedSeconds === undefined ||
    reading.perEpoch === true ||
    records.length === 0
  )
    return undefined
  return worth(
    behind.timeSeconds - lastPoint.elapsedSeconds - first.timeSeconds,
    'first time stamp to the start of the bar',
  )
}

function elapsedOf(run: Run, stamped: readonly Stamped[]): Figure | undefined {
  const { reading, records, counted, pace } = run
  const points = counted.points
  const [firstPoint] = points
  if (firstPoint === undefined) return undefined
  const killed = endedAtSeconds(records)
  const mentioned = records
    .filter(
      ({ line, text, timeSeconds }) =>
        line < firstPoint.line &&
        timeSeconds === undefined &&
        text.length < 200 &&
        /\b(job|start|began|begin|launch)/i.test(text) &&
        // that is how a run before ended
        !/\bCANCELLED AT\b/.test(text),
    )
    .flatMap(({ text }) => findStamp(text)?.seconds ?? [])
  const start = stamped.reduce((least, { timeSeconds }) => Math.min(least, timeSeconds), Math.min(...mentioned))
  const end = stamped.reduce((most, { timeSeconds }) => Math.max(most, timeSeconds), killed ?? Number.NEGATIVE_INFINITY)
  const lastStamped = stamped.at(-1)
  const spansRun = (lastStamped !== undefined && lastStamped.line > firstPoint.line) || killed !== undefined
  const byClock = spansRun && end > start ? end - start : undefined
  const byBar = pace.elapsedOfCounter
  const beforeBar = stamped.findLast(record => record.line < firstPoint.line)?.timeSeconds
  const lead = beforeBar === undefined || !Number.isFinite(start) ? 0 : beforeBar - start
  const byProgram = byBar === undefined ? undefined : byBar + (reading.bars === true ? lead : 0)
  if (byClock !== undefined && byClock >= (byProgram ?? 0) * 0.98)
    return { value: byClock, formula: 'first to last time stamp' }
  if (byProgram !== undefined) return { value: byProgram, formula: "the program's own clock" }
  return byClock === undefined ? undefined : { value: byClock, formula: 'first to last time stamp' }
}

function peakMemoryOf({ reading, counted, records }: Run, ending: Ending): Figure | undefined {
  const inUse = ending.code === 'out-of-memory' ? memoryInUse(records) : undefined
  const after = counted.lastLineBefore ?? 0
  const peaks = [
    ...reading.points.flatMap(({ memoryBytes = 0, line }) =>
      memoryBytes > 0 && line > after ? [{ value: memoryBytes, line }] : [],
    ),
    ...(reading.figures.peakMemoryBytes === undefined ? [] : [reading.figures.peakMemoryBytes]),
    ...(inUse === undefined ? [] : [inUse]),
  ]
  return peaks.reduce<Figure | undefined>(
    (most, one) => (most === undefined || one.value > most.value ? one : most),
    undefined,
  )
}

const bytesOf: Readonly<Record<string, number>> = { GiB: 2 ** 30, MiB: 2 ** 20 }

/** What PyTorch says the process held when no more could be had. */
function memoryInUse(records: readonly LogRecord[]): Figure | undefined {
  for (const { text, line } of records) {
    const match =
      /this process has ([\d.]+) (GiB|MiB) memory in use|([\d.]+) (GiB|MiB) reserved in total by PyTorch/.exec(text)
    const amount = match?.[1] ?? match?.[3]
    const unit = match?.[2] ?? match?.[4]
    if (amount !== undefined && unit !== undefined)
      return { value: Number(amount) * (bytesOf[unit] ?? Number.NaN), line }
  }
  return undefined
}
