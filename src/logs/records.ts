import { secondsPerDay } from '../units.ts'
import { findStamp, type Stamp, unknownYear } from './clock.ts'

/** A piece of a log between line ends or carriage returns: what a screen would have shown at one moment. */
export interface LogRecord {
  /** Line of the file, counted from 1. */
  readonly line: number
  /** Without colours, backspaces and what a time stamp or a rank wrote in front. */
  readonly text: string
  /** Clock of the record, seconds; stamps without a year take that of others in the file. */
  readonly timeSeconds?: number
  readonly resolutionSeconds?: number
  readonly hasYear?: boolean
  /** Of the process that wrote it, where it says so. */
  readonly rank?: string
  /** It ends with a line feed; a bar does when it is closed. */
  readonly closed: boolean
}

/** Head and tail of a log that is too long to be read whole. */
export interface LogBytes {
  readonly head: Uint8Array
  readonly tail?: Uint8Array
  /** Line feeds between the two. */
  readonly linesLeftOut?: number
}

const escapeCode = String.fromCharCode(27)
const bell = String.fromCharCode(7)

/** Colours, cursor moves and titles (ECMA-48 CSI and OSC sequences), backspaces and other control characters but tabs and line ends. */
const invisible = new RegExp(
  [
    `${escapeCode}\\[[0-9;?]*[ -/]*[@-~]`,
    `${escapeCode}\\][^${bell}${escapeCode}]*(?:${bell}|${escapeCode}\\\\)`,
    `${escapeCode}[@-Z\\\\-_]`,
    '[^\\P{Cc}\\t\\n\\r]',
  ].join('|'),
  'gu',
)

const hasControls = /[^\P{Cc}\t\n\r]/u

/** The records of a log; those that show nothing are left out. */
export function recordsOf({ head, tail, linesLeftOut = 0 }: LogBytes): readonly LogRecord[] {
  const records = splitRecords(decode(head), 1)
  if (tail === undefined) return onOneClock(records)
  const lines = head.reduce((count, byte) => (byte === 10 ? count + 1 : count), 1)
  return onOneClock([...records.slice(0, -1), ...splitRecords(decode(tail), lines + linesLeftOut).slice(1)])
}

/** Records at either end of a long log that tell who wrote it: headers, some reports, how it ended. */
const tellingRecords = 2_000

/** Both ends of a long log; a short one as it is. A program that shows itself in neither did not write it. */
export function endsOf(records: readonly LogRecord[]): readonly LogRecord[] {
  if (records.length <= 3 * tellingRecords) return records
  return [...records.slice(0, tellingRecords), ...records.slice(-tellingRecords)]
}

/** Stamps without a year get that of the others; one that falls by most of a year or a day passed its end. */
function onOneClock(records: readonly LogRecord[]): readonly LogRecord[] {
  const dated = records.find(record => record.hasYear === true)?.timeSeconds
  const yearStart = dated === undefined ? undefined : Date.UTC(new Date(dated * 1000).getUTCFullYear(), 0, 1) / 1000
  let turned = 0
  let previous: number | undefined
  return records.map(record => {
    const { timeSeconds, hasYear } = record
    if (timeSeconds === undefined || hasYear !== false) return record
    const date = new Date(timeSeconds * 1000)
    const isTimeOfDay = timeSeconds < unknownYear + secondsPerDay && date.getUTCMonth() === 0
    const year = yearStart === undefined ? undefined : new Date(yearStart * 1000).getUTCFullYear()
    const own =
      year === undefined || isTimeOfDay
        ? timeSeconds
        : Date.UTC(year, date.getUTCMonth(), date.getUTCDate()) / 1000 + (timeSeconds % secondsPerDay)
    const fallen = previous === undefined ? 0 : previous - (own + turned)
    if (isTimeOfDay && fallen > secondsPerDay / 2) turned += secondsPerDay
    else if (!isTimeOfDay && fallen > 300 * secondsPerDay) turned += 366 * secondsPerDay
    previous = own + turned
    return { ...record, timeSeconds: previous }
  })
}

/** Bad UTF-8 becomes replacement characters; UTF-16 with its mark, which PowerShell writes, is read as well. */
function decode(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

/** No report is longer; container runtimes split lines here as well (Docker's json-file, containerd). */
const longestText = 16_384

/** Most lines are plain: they are spared the long search. */
function visible(text: string): string {
  return hasControls.test(text) ? text.replace(invisible, '') : text
}

function splitRecords(text: string, firstLine: number): LogRecord[] {
  const records: LogRecord[] = []
  const lines = text.split('\n')
  const marks = marksBareRanks(lines) ? [...rankMarks, bareRank] : rankMarks
  let isRich = false
  lines.forEach((whole, index) => {
    const pieces = whole.split('\r').map(visible)
    const last = index < lines.length - 1 ? pieces.findLastIndex(piece => piece.trim() !== '') : -1
    pieces.forEach((shown, position) => {
      if (shown.trim() === '') return
      const closed = position === last
      const record = recordOf(shown.slice(0, longestText), firstLine + index, closed, marks)
      const previous = records.at(-1)
      // rich prints a stamp only where it differs from that of the line before
      const isIndented = record.timeSeconds === undefined && shown.startsWith(' ') && /^ {11,}\S/.test(shown)
      if (!isIndented || previous?.resolutionSeconds !== 1 || !isRich) records.push(record)
      else records.push({ ...record, ...timeOf(previous) })
      isRich = /^\[(?:\d\d\/){2}\d\d \d\d:\d\d:\d\d\] /.test(shown) || (isIndented && isRich)
    })
  })
  return records
}

function timeOf({
  timeSeconds,
  resolutionSeconds,
  hasYear,
}: LogRecord): Pick<LogRecord, 'timeSeconds' | 'resolutionSeconds' | 'hasYear'> {
  return {
    ...(timeSeconds !== undefined && { timeSeconds }),
    ...(resolutionSeconds !== undefined && { resolutionSeconds }),
    ...(hasYear !== undefined && { hasYear }),
  }
}

/** Marks of a process before the text: `[rank0]:`, `[default0]:` of torchrun, `(Worker pid=12)` of Ray, `[1,0]<stdout>:` of mpirun. */
const rankMarks: readonly RegExp[] = [
  /^\s*\[?(?:local_)?rank[ _]?(\d+)\]?\s*[:|]\s*/i,
  /^\s*\[(?:default|rank_?)(\d+)\]\s*:?\s*/i,
  /^\s*\[\d+,(\d+)\]<std\w+>:\s*/,
  /^\s*\(\w+(?:\.\w+)* (?:rank=\d+ )?pid=(\d+)(?:, ip=[^)]*)?\)\s*/,
  /^\s*\[pod\/([^\]]+)\]\s*/,
]
/** Of `srun --label`. */
const bareRank = /^\s*(\d{1,4}): (?=.*\S)/
const mayBeMarked = /^\s*(?:[[(rl]|\d{1,4}: )/i
const rankWithin = /\[RANK:(\d+)\]|\[Rank (\d+)\]/

/** Whether lines that begin with a number and a colon come from ranks: numbers that only rise are a counter's. */
function marksBareRanks(lines: readonly string[]): boolean {
  const numbers = lines.flatMap(line => bareRank.exec(line)?.[1] ?? []).map(Number)
  return numbers.length < 4 || numbers.some((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0))
}

function recordOf(shown: string, line: number, closed: boolean, marks: readonly RegExp[]): LogRecord {
  let rest = shown
  let rank: string | undefined
  for (const mark of mayBeMarked.test(rest) ? marks : []) {
    const match = mark.exec(rest)
    if (match === null) continue
    rank ??= match[1]
    rest = rest.slice(match[0].length)
  }
  const within = rankWithin.exec(rest)
  rank ??= within?.[1] ?? within?.[2]
  // a stamp further behind belongs to the text
  const stamp = findStamp(rest.slice(0, 90)) ?? jsonStamp(rest)
  const before = rest.slice(0, stamp?.from)
  const isPrefix = stamp !== undefined && (isPrefixBefore(before) || (rest.startsWith('{') && stampKey.test(before)))
  const ofRank = rank === undefined ? undefined : { rank }
  if (!isPrefix) return { line, closed, text: rest, ...ofRank }
  const behind = rest.slice(stamp.to).replace(/^[\])}]?:?(?:Z|[+-]\d{2}:?\d{2})?[\])}]?:?\s?/, '')
  const text = `${before.replace(/[\s[({]+$/, ' ')}${behind}`
  const { seconds, resolutionSeconds, hasYear } = stamp
  return { line, closed, text, timeSeconds: seconds, resolutionSeconds, hasYear, ...ofRank }
}

/** What JSON lines call their time. */
const stampKey = /["'](?:@?timestamp|time|ts|asctime|date|datetime)["']\s*:\s*["']?$/i
const jsonTime = /["'](?:@?timestamp|time|ts|asctime|date|datetime|_timestamp)["']\s*:\s*["']?/i

/** The time of a JSON line, wherever it stands in it: a stamp, or seconds since 1970. */
function jsonStamp(text: string): Stamp | undefined {
  const key = text.startsWith('{') ? jsonTime.exec(text) : null
  if (key === null) return undefined
  const from = key.index + key[0].length
  const epoch = /^(1\d{9})(\.\d+)?(?=[,}\s"'])/.exec(text.slice(from))
  if (epoch !== null)
    return { seconds: Number(epoch[0]), hasYear: true, resolutionSeconds: 1, from, to: from + epoch[0].length }
  const stamp = findStamp(text.slice(from, from + 40))
  return stamp === undefined || stamp.from > 1 ? undefined : { ...stamp, from: from + stamp.from, to: from + stamp.to }
}

/** A stamp stands in front where only brackets, and at most two words such as a level and a name, stand before it. */
function isPrefixBefore(before: string): boolean {
  if (before.length < 2) return true
  const bare = before.replace(/\[[^\]]*\]|\([^)]*\)/g, ' ').replace(/[[\](){}|:\-#*>]+/g, ' ')
  return bare.trim().split(/\s+/).length <= 2 && !/\b(on|at|since|until|from|started|ended|job)\b/i.test(before)
}
