import { parseClock } from './clock.ts'
import { parseNumber } from './figures.ts'
import type { LogRecord } from './records.ts'

/** A progress bar as tqdm writes it, of any width or none. */
export interface Bar {
  readonly record: LogRecord
  /** What stands in front, without the percentage. */
  readonly label: string
  readonly done: number
  readonly total?: number | undefined
  readonly elapsedSeconds?: number | undefined
  readonly secondsPerCount?: number | undefined
  /** `it` where the program named none. */
  readonly unit: string
  readonly postfix: string
}

const amount = String.raw`(\d[\d.,]*[kMG]?)`
const tqdm = new RegExp(
  String.raw`^(.*?)\s*(?:\d{1,3}%)?\s*\|?[^|\[\]]*\|?\s*(?<![\d.])${amount}\s?(?:/(\d[\d.,]*[kMG]?|\?))?\s?([A-Za-z]*)\s\[((?:\d+:)?\d+:\d{2}|\d+ days?, [\d:]+)(?:<([\d:?, days]+))?,\s*(?:([\d.]+)|\?)\s?([^\],\s/]*)\/([^\],\s]+)(.*?)\]`,
)

/** A bar in a record, which may hold a print behind it; undefined where there is none. */
export function parseBar(record: LogRecord): Bar | undefined {
  const { text } = record
  if (!text.includes('[') || !/\/(?:s|[A-Za-z]+)/.test(text)) return undefined
  const match = tqdm.exec(text)
  if (match === null) return undefined
  const [, before = '', done, total, counted = '', elapsed = '', , rate, over = '', per = '', postfix = ''] = match
  const count = parseNumber(done)
  if (count === undefined) return undefined
  const isInverse = over === 's' && per !== 's'
  const value = rate === undefined ? undefined : Number(rate)
  return {
    record,
    label: before
      .replace(/\d{1,3}%.*$/, '')
      .replace(/[\s:|]+$/, '')
      .trim(),
    done: count,
    total: total === '?' ? undefined : parseNumber(total),
    elapsedSeconds: parseClock(elapsed),
    secondsPerCount: value === undefined || value === 0 ? undefined : isInverse ? value : 1 / value,
    unit: (isInverse ? per : over) || counted || 'it',
    postfix,
  }
}

/** Bars that load, prepare, save or evaluate: no progress of a run. */
const otherWork =
  /\b(?:download|fetch|load|sav|writ|map\b|filter|tokeniz|generating|creating|adding|applying|building|packing|truncating|processing|extract|convert|sanity|valid|evaluat|eval\b|test|predict|caching|scanning|checkpoint|shard|resolving|casting|flatten|group|prepar|calculating|reading|converting|sampling|preprocess|merg|inference|unpack|collect|push|upload|capturing|compil|warm|infer|quantiz|calibrat)/i

/** The bars of a log that may be the run's own. */
export function barsOf(records: readonly LogRecord[]): readonly Bar[] {
  return records
    .flatMap(record => parseBar(record) ?? [])
    .filter(bar => !otherWork.test(bar.label) && !/^(?:[kMG]?i?B|b)$/.test(bar.unit))
}

/** Whether a label is that of an evaluation's bar. */
export function isEvaluation(label: string): boolean {
  return /\b(?:valid|val\b|eval|test)/i.test(label)
}
