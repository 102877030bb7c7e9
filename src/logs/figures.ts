import { bytesPerGib } from '../units.ts'
import { parseLength } from './clock.ts'
import type { Figure, ProgressPoint, RunFigures } from './log-reader.ts'
import type { LogRecord } from './records.ts'

/** A number as programs write it: `26,562`, `11_204_771`, `1.02e+05`, `1.2k`; undefined for other texts. */
export function parseNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const match = /^\s*([+-]?(?:\d[\d,_]*)?\.?\d+(?:e[+-]?\d+)?|\d[\d,_]*\.?)\s*([kKMGB]?)\s*$/i.exec(text)
  if (match === null) return undefined
  const number = Number((match[1] ?? '').replace(/[,_]/g, ''))
  const factor = { k: 1e3, m: 1e6, g: 1e9, b: 1e9 }[(match[2] ?? '').toLowerCase()] ?? 1
  return Number.isFinite(number) ? number * factor : undefined
}

/**
 * What named groups of a pattern mean, as a figure of a point. Patterns are the tables by which readers are written:
 * `(?<step>\d+)/(?<total>\d+) .* (?<ms>[\d.]+) ms`.
 */
const groupMeanings: Readonly<Record<string, (text: string) => Partial<ProgressPoint>>> = {
  step: text => optional('step', parseNumber(text)),
  total: text => optional('total', parseNumber(text)),
  epoch: text => optional('epoch', parseNumber(text)),
  epochs: text => optional('epochs', parseNumber(text)),
  seconds: text => optional('secondsPerStep', parseNumber(text)),
  ms: text => optional('secondsPerStep', scaled(text, 0.001)),
  length: text => optional('secondsPerStep', parseLength(text)),
  stepsPerSecond: text => optional('secondsPerStep', inverse(text)),
  mean: text => optional('meanSecondsPerStep', parseNumber(text)),
  meanMs: text => optional('meanSecondsPerStep', scaled(text, 0.001)),
  samplesPerSecond: text => optional('samplesPerSecond', parseNumber(text)),
  tokensPerSecond: text => optional('tokensPerSecond', parseNumber(text)),
  data: text => optional('dataSeconds', parseNumber(text)),
  dataMs: text => optional('dataSeconds', scaled(text, 0.001)),
  elapsed: text => optional('elapsedSeconds', parseLength(text) ?? parseNumber(text)),
  elapsedMs: text => optional('elapsedSeconds', scaled(text, 0.001)),
  elapsedHours: text => optional('elapsedSeconds', scaled(text, 3600)),
  left: text => optional('remainingSeconds', parseLength(text) ?? parseNumber(text)),
  leftHours: text => optional('remainingSeconds', scaled(text, 3600)),
  mib: text => optional('memoryBytes', scaled(text, bytesPerGib / 1024)),
  gib: text => optional('memoryBytes', scaled(text, bytesPerGib)),
  gb: text => optional('memoryBytes', scaled(text, 1e9)),
  bytes: text => optional('memoryBytes', parseNumber(text)),
  batch: text => optional('globalBatch', parseNumber(text)),
  samples: text => optional('samplesSeen', parseNumber(text)),
  tokens: text => optional('tokensSeen', parseNumber(text)),
}

function optional(key: keyof ProgressPoint, value: number | undefined): Partial<ProgressPoint> {
  return value === undefined ? {} : { [key]: value }
}

function scaled(text: string, factor: number): number | undefined {
  const value = parseNumber(text)
  return value === undefined ? undefined : value * factor
}

function inverse(text: string): number | undefined {
  const value = parseNumber(text)
  return value === undefined || value === 0 ? undefined : 1 / value
}

/** What the named groups of a match say of a point. */
export function groupsOf(groups: Readonly<Record<string, string | undefined>> | undefined): Partial<ProgressPoint> {
  const point: Partial<ProgressPoint> = {}
  for (const name in groups) {
    const text = groups[name]
    if (text !== undefined) Object.assign(point, groupMeanings[name]?.(text))
  }
  return point
}

/** What every point of a record has. */
export function placeOf({
  line,
  timeSeconds,
  rank,
  closed,
  text,
}: LogRecord): Pick<ProgressPoint, 'line' | 'timeSeconds' | 'rank' | 'closed' | 'text'> {
  return { line, timeSeconds, rank, closed, text }
}

/** A pattern whose first group is a figure of the run; `scale` brings it into the figure's unit. */
export interface FigurePattern {
  readonly figure: keyof RunFigures
  readonly pattern: RegExp
  /** Of many, the largest counts; else the first. */
  readonly largest?: boolean
  readonly scale?: number
  /** What the group counts: names of a list in brackets, `[0, 1]`. */
  readonly list?: boolean
}

/** The figures that patterns find, each with its line. */
export function findFigures(records: readonly LogRecord[], patterns: readonly FigurePattern[]): RunFigures {
  const found: { -readonly [K in keyof RunFigures]: Figure } = {}
  for (const { figure, pattern, largest, scale = 1, list } of patterns) {
    for (const record of records) {
      const text = pattern.exec(record.text)?.[1]
      if (text === undefined) continue
      const value = list === true ? text.split(',').length : (parseNumber(text) ?? parseLength(text))
      if (value === undefined) continue
      const known = found[figure]
      if (known === undefined || (largest === true && known.value < value * scale))
        found[figure] = { value: value * scale, line: record.line }
      if (largest !== true) break
    }
  }
  return found
}

/** A figure worked out from others; undefined where one of them is. */
export function derived(formula: string, value: number | undefined): Figure | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : { value, formula }
}
