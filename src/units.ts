export const secondsPerMinute = 60
export const secondsPerHour = 3_600
export const secondsPerDay = 86_400
/** Binary, as memory is counted: 2^30. */
export const bytesPerGib = 1_073_741_824
/** Decimal, as bandwidth is counted. */
export const bytesPerGigabyte = 1e9
/** Networks are sold in bits: 8 to a byte. */
export const bytesPerGigabit = 1e9 / 8
export const operationsPerTera = 1e12

/** Currency of every amount shown. Inside, amounts are US dollars. */
export interface Currency {
  /** ISO 4217 code, `EUR`. */
  readonly code: string
  /** Units of the currency for one US dollar. */
  readonly perUsd: number
  /** Where the rate stands, `gpufare.yaml:3:1`. */
  readonly source?: string
}

export const usDollars: Currency = { code: 'USD', perUsd: 1 }

/** Durations below this are told to the second. */
const secondsToTheSecond = 10 * secondsPerMinute

/** `40s`, `1m13s`, `45m`, `2h10m`, `3d04h`: the two largest units that matter for an estimate. */
export function formatDuration(seconds: number): string {
  assertNumber(seconds)
  const whole = Math.round(seconds)
  if (whole < secondsPerMinute) return `${whole}s`
  // Of a job of minutes half a minute more is a third more money.
  if (whole < secondsToTheSecond && whole % secondsPerMinute > 0) {
    return `${Math.floor(whole / secondsPerMinute)}m${twoDigits(whole % secondsPerMinute)}s`
  }
  const minutes = Math.round(seconds / secondsPerMinute)
  if (minutes < 60) return `${minutes}m`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h${twoDigits(minutes % 60)}m`
  const hours = Math.round(seconds / secondsPerHour)
  return `${Math.floor(hours / 24)}d${twoDigits(hours % 24)}h`
}

const secondsPerUnit: Readonly<Record<string, number>> = {
  d: secondsPerDay,
  h: secondsPerHour,
  m: secondsPerMinute,
  s: 1,
}

const durations = /^\s*(?:\d+(?:\.\d+)?\s*(?:d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\s*)+$/i

/** Seconds of `4h`, `1.5h`, `2h10m`, `3d04h`, `90s`, `45 min`; undefined where it is none of these. */
export function parseDuration(text: string): number | undefined {
  if (!durations.test(text)) return undefined
  let seconds = 0
  for (const [, amount, unit = ''] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s*([dhms])/g)) {
    seconds += Number(amount) * (secondsPerUnit[unit] ?? Number.NaN)
  }
  return seconds
}

/** The day of a moment in UTC, ISO 8601: `2026-12-31`. */
export function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10)
}

/** Whether a text is a day of the calendar, ISO 8601: `2026-12-31`. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text)
}

/** `61 GiB`; one decimal below ten, where it matters. */
export function formatGib(bytes: number): string {
  return `${formatSmall(bytes / bytesPerGib)} GiB`
}

/** `52.4 MB`: a file's size, in millions of bytes. */
export function formatMegabytes(bytes: number): string {
  return `${Number((bytes / 1e6).toPrecision(3))} MB`
}

/** `14.6 GiB`: where two figures would look the same otherwise. */
export function formatGibFinely(bytes: number): string {
  return `${(bytes / bytesPerGib).toFixed(1)} GiB`
}

/**
 * An estimated amount, to the two or three figures that an estimate can bear: `$0.42`, `$4.20`, `$88`, `$1,900`.
 * Something that costs is never shown as nothing: below a cent it is `<$0.01`.
 */
export function formatMoney(usd: number, currency: Currency = usDollars): string {
  assertNumber(usd)
  const amount = Math.abs(usd * currency.perUsd)
  const sign = usd < 0 ? '-' : ''
  if (amount === 0) return withCurrency('0', currency)
  if (amount < 0.005) return `<${withCurrency('0.01', currency)}`
  return sign + withCurrency(formatAmount(amount), currency)
}

/** A rate as price lists print it, to the cent: `$22.00/h`. */
export function formatRate(usdPerHour: number, currency: Currency = usDollars): string {
  assertNumber(usdPerHour)
  const amount = usdPerHour * currency.perUsd
  const cents = amount > 0 && amount < 0.005 ? amount.toPrecision(1) : groupThousands(amount.toFixed(2))
  return `${withCurrency(cents, currency)}/h`
}

/** `10 %` of 0.1. */
export function formatPercent(share: number): string {
  return `${formatSmall(share * 100)} %`
}

/** A whole number with commas: `52,002`. */
export function formatCount(count: number): string {
  return groupThousands(Math.round(count).toFixed(0))
}

/** A figure that is none must stop the program, not reach a person. */
function assertNumber(figure: number): void {
  if (!Number.isFinite(figure)) throw new RangeError(`a figure is expected, found ${figure}`)
}

function formatAmount(amount: number): string {
  const cents = Math.round(amount * 100) / 100
  if (cents < 10) return cents.toFixed(2)
  const whole = Math.round(amount)
  if (whole < 1_000) return String(whole)
  const step = 10 ** (Math.floor(Math.log10(whole)) - 2)
  return formatCount(Math.round(whole / step) * step)
}

function formatSmall(value: number): string {
  const tenths = Math.round(value * 10) / 10
  return tenths < 10 ? String(tenths) : formatCount(value)
}

/** `1 node`, `8 GPUs`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `4:00:00`, `1-02:00:00`: a length of time as Slurm writes it, rounded up to whole minutes. */
export function formatClock(seconds: number): string {
  assertNumber(seconds)
  const minutes = Math.ceil(seconds / secondsPerMinute)
  const days = Math.floor(minutes / (24 * 60))
  const clock = [Math.floor(minutes / 60) % 24, minutes % 60, 0]
  const [hours = 0, ...rest] = clock
  return `${days > 0 ? `${days}-${twoDigits(hours)}` : hours}:${rest.map(twoDigits).join(':')}`
}

const currencySymbols: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£' }

function withCurrency(amount: string, currency: Currency): string {
  const symbol = currencySymbols[currency.code]
  return symbol === undefined ? `${amount} ${currency.code}` : symbol + amount
}

function groupThousands(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

function twoDigits(count: number): string {
  return String(count).padStart(2, '0')
}
