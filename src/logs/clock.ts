import { secondsPerDay, secondsPerHour, secondsPerMinute } from '../units.ts'

/** A time stamp: seconds since 1970 where the year is known, else since an unknown year's beginning. */
export interface Stamp {
  readonly seconds: number
  readonly hasYear: boolean
  /** Of the stamp, in seconds: 1 or finer. */
  readonly resolutionSeconds: number
  /** Where the stamp begins and ends in the text. */
  readonly from: number
  readonly to: number
}

/** Where stamps without a year are put: a leap year, so that every day of a calendar is in it. */
export const unknownYear = Date.UTC(1972, 0, 1) / 1000

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const time = String.raw`(?<h>\d{2}):(?<mi>\d{2}):(?<s>\d{2})(?:[.,:](?<f>\d{1,9}))?(?!\d|:\d)`
const forms: readonly RegExp[] = [
  new RegExp(String.raw`(?<y>\d{4})[-/.](?<mo>\d{2})[-/.](?<d>\d{2})[T ,_:]{1,2}${time}`),
  new RegExp(String.raw`(?<![\d.])(?<d>\d{2})\.(?<mo>\d{2})\.(?<y>\d{4})[ ,]{1,2}${time}`),
  new RegExp(String.raw`(?<mo>\d{2})/(?<d>\d{2})/(?<y>\d{4})[ ,]{1,2}${time}`),
  new RegExp(String.raw`(?<![\d/])(?<mo>\d{2})/(?<d>\d{2})/(?<yy>\d{2}) ${time}`),
  new RegExp(String.raw`(?<![\d-])(?<yy>1[3-9]|[2-9]\d)-(?<mo>\d{2})-(?<d>\d{2}) ${time}`),
  new RegExp(
    String.raw`\b(?:[A-Z][a-z]{2},? )?(?<mon>[A-Z][a-z]{2}) +(?<d>\d{1,2}) ${time}(?: (?:[AP]M )?[A-Z]{3,5})? (?<y>\d{4})`,
  ),
  new RegExp(String.raw`\b(?<d>\d{1,2})[ -](?<mon>[A-Z][a-z]{2})[ -](?<y>\d{4}) ${time}`),
  new RegExp(String.raw`\b(?<d>\d{1,2})-(?<mon>[A-Z][a-z]{2})-(?<yy>\d{2}) ${time}`),
  new RegExp(String.raw`(?<![\d/-])(?<mo>\d{2})[-/](?<d>\d{2}) ${time}`),
  new RegExp(String.raw`\b[IWEFC](?<y>\d{4})(?<mo>\d{2})(?<d>\d{2}) ${time}`),
  new RegExp(String.raw`\b[IWEFC](?<mo>\d{2})(?<d>\d{2}) ${time}`),
]
const timeOfDay = new RegExp(String.raw`^\W{0,2}${time}`)

/** Of any form: most lines hold no stamp, and a bar's own clock is none. */
const mayHold = /(?:\d[T ,_:]{1,2}|^\W{0,2})\d{2}:\d{2}:\d{2}/

/** The first time stamp in a text: of the forms with a date, or a time of day at its very beginning. */
export function findStamp(text: string): Stamp | undefined {
  if (!mayHold.test(text)) return undefined
  for (const form of [...forms, timeOfDay]) {
    const match = form.exec(text)
    const stamp = match === null ? undefined : stampOf(match)
    if (stamp !== undefined) return stamp
  }
  return undefined
}

function stampOf(match: RegExpExecArray): Stamp | undefined {
  const { y, yy, mo, mon, d, h, mi, s, f } = match.groups ?? {}
  const month = mon === undefined ? Number(mo ?? '1') : months.indexOf(mon.toLowerCase()) + 1
  const day = Number(d ?? '1')
  if (month < 1 || month > 12 || day < 1 || day > 31 || Number(h) > 24 || Number(mi) > 59) return undefined
  const year = y === undefined ? (yy === undefined ? undefined : 2000 + Number(yy)) : Number(y)
  const date = Date.UTC(year ?? 1972, month - 1, day) / 1000
  const fraction = f === undefined ? 0 : Number(`0.${f}`)
  return {
    seconds: date + Number(h) * secondsPerHour + Number(mi) * secondsPerMinute + Number(s) + fraction,
    hasYear: year !== undefined,
    resolutionSeconds: f === undefined ? 1 : 10 ** -f.length,
    from: match.index,
    to: match.index + match[0].length,
  }
}

/** Seconds of `12:34`, `1:02:03`, `1 day, 2:03:04`, `2 days 3:04:05.6`; undefined for other texts. */
export function parseClock(text: string): number | undefined {
  const match = /^\s*(?:(\d+) days?,? )?(?:(\d+):)?(\d+):(\d{2}(?:\.\d+)?)\s*$/.exec(text)
  if (match === null) return undefined
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match
  return (
    Number(days) * secondsPerDay + Number(hours) * secondsPerHour + Number(minutes) * secondsPerMinute + Number(seconds)
  )
}

/** Seconds of a clock (`1:02:03`) or of a length of time in words: `1 hour, 31 minutes and 58.5 seconds`, `2h10m`, `12.3s`, `350ms`. */
export function parseLength(text: string): number | undefined {
  const clock = parseClock(text)
  if (clock !== undefined) return clock
  const parts = [
    ...text.matchAll(
      /(\d+(?:\.\d+)?)\s*(days?|d|hours?|hrs?|h|minutes?|mins?|min|m|seconds?|secs?|sec|s|ms)(?![a-z])/gi,
    ),
  ]
  if (parts.length === 0) return undefined
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * unitSeconds(unit.toLowerCase()), 0)
}

function unitSeconds(unit: string): number {
  if (unit === 'ms') return 0.001
  if (unit.startsWith('d')) return secondsPerDay
  if (unit.startsWith('h')) return secondsPerHour
  return unit.startsWith('m') ? secondsPerMinute : 1
}
