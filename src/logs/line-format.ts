import { commonFigures } from './common-figures.ts'
import { type FigurePattern, findFigures, groupsOf, placeOf } from './figures.ts'
import type { CounterUnit, LogReader, LogReading, ProgressPoint } from './log-reader.ts'
import type { ProgressWarningCode } from './progress-warning.ts'
import type { LogRecord } from './records.ts'

/** How a program that writes a line for each report writes it: a row of a table in place of code. */
export interface LineFormat {
  readonly framework: string
  readonly unit: CounterUnit
  /** A line like this is a report; its named groups say what of it is which figure (see figures.ts). */
  readonly report: RegExp
  /** Lines that add to the report before. */
  readonly additions?: readonly RegExp[]
  /** A line that has to be in the file as well, where the report's form is nobody's own. */
  readonly sign?: RegExp
  readonly zeroBased?: boolean
  /** The total printed is the last count, one less than their number. */
  readonly totalIsLast?: boolean
  readonly perEpoch?: boolean
  readonly firstEpoch?: 0 | 1
  readonly ratesPerDevice?: boolean
  readonly remainingOfEpoch?: boolean
  /** The report states the time of the first step only, or counts in a way of its own: changes the reading. */
  readonly refine?: (reading: LogReading, records: readonly LogRecord[]) => LogReading
  readonly figures?: readonly FigurePattern[]
  readonly finished?: RegExp
  readonly started?: RegExp
  readonly evaluation?: RegExp
  readonly warnings?: readonly ProgressWarningCode[]
}

/** A reader of lines as the row describes them. */
export function lineReader(format: LineFormat): LogReader {
  return { name: format.framework, read: records => readLines(format, records) }
}

/** Reads a log by its row; undefined where no report is in it. */
export function readLines(format: LineFormat, records: readonly LogRecord[]): LogReading | undefined {
  if (format.sign !== undefined && !records.some(({ text }) => format.sign?.test(text))) return undefined
  const points: ProgressPoint[] = []
  const others: LogRecord[] = []
  for (const record of records) {
    const match = format.report.exec(record.text)
    if (match === null) others.push(record)
    else {
      const point = pointOf(groupsOf(match.groups), record, format)
      if (point !== undefined) points.push(point)
      continue
    }
    for (const addition of format.additions ?? []) {
      const added = addition.exec(record.text)
      const last = points.at(-1)
      if (added === null || last === undefined) continue
      points[points.length - 1] = { ...last, ...groupsOf(added.groups) }
    }
  }
  if (points.length === 0) return undefined
  const { framework, unit, zeroBased, perEpoch, firstEpoch, ratesPerDevice, remainingOfEpoch, warnings } = format
  const reading: LogReading = {
    framework,
    unit,
    points,
    zeroBased,
    perEpoch,
    firstEpoch,
    ratesPerDevice,
    remainingOfEpoch,
    figures: { ...findFigures(others, commonFigures), ...findFigures(others, format.figures ?? []) },
    finishedAtLine: lastLine(others, format.finished),
    startedAtLine: records.find(({ text }) => format.started?.test(text))?.line,
    evaluatedAtLine: linesOf(others, format.evaluation ?? usualEvaluation),
    ...(warnings !== undefined && { warnings: warnings.map(code => ({ code })) }),
  }
  return format.refine?.(reading, records) ?? reading
}

function pointOf(
  found: Partial<ProgressPoint>,
  record: LogRecord,
  { totalIsLast, unit }: LineFormat,
): ProgressPoint | undefined {
  const step = found.step ?? (unit === 'epoch' ? found.epoch : undefined)
  if (step === undefined) return undefined
  const total = found.total === undefined || totalIsLast !== true ? found.total : found.total + 1
  return { ...found, ...placeOf(record), step, total }
}

function lastLine(records: readonly LogRecord[], pattern: RegExp | undefined): number | undefined {
  return pattern === undefined ? undefined : records.findLast(({ text }) => pattern.test(text))?.line
}

/** Lines that a pattern finds. */
export function linesOf(records: readonly LogRecord[], pattern: RegExp): readonly number[] {
  return records.filter(({ text }) => pattern.test(text)).map(({ line }) => line)
}

/** Words that most programs print when they evaluate. */
export const usualEvaluation =
  /\bvalid(?:ation)?[ _]loss\b|\bval[_ /]?(?:loss|acc\w*|ppl)\b|\beval[_/]\w+\b|"val_(?:iter|epoch)"|\bvalidat(?:ing|ion)\b.*(?:\d|start|begin|\.\.\.)|\b(?:Running|Starting|begin|start) (?:validation|evaluation|eval|inference on)\b|^\s*Test(?:ing)?: |\bTest: ?\[|\bEvaluating\b|\bSupervisedEvaluator\b|\bTest set\b|\bEvaluation results?\b/i
