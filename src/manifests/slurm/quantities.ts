import { secondsPerMinute } from '../../units.ts'

/** What Slurm calls no limit: 2^32 - 1 minutes. */
const unlimitedMinutes = 0xffffffff

/** What a time may look like, for messages. */
export const timeForms = 'minutes (90), hours:minutes:seconds (1:30:00) or days-hours (2-12)'

/** A time limit of sbatch in whole minutes, seconds rounded up; Infinity where it means none. */
export function readMinutes(value: string): number | undefined {
  const seconds = readTimeSeconds(value)
  if (seconds === undefined) return undefined
  const minutes = Math.trunc((seconds + secondsPerMinute - 1) / secondsPerMinute)
  if (seconds === Number.POSITIVE_INFINITY || minutes === 0) return Number.POSITIVE_INFINITY
  // Slurm keeps minutes without a sign: `-5`, five days before nothing, is some 8,000 years.
  return minutes >>> 0
}

/** `90`, `1:30` (minutes:seconds), `1:30:00`, `2-12`, `2-12:30`, `2-12:30:00`, or words for no limit. */
export function readTimeSeconds(value: string): number | undefined {
  if (/^(-1|infinite|unlimited)$/i.test(value)) return Number.POSITIVE_INFINITY
  const withDays = /^(-?\d+)-?$|^(\d+)-(\d+)(?::(\d+)(?::(\d+))?)?$/.exec(value)
  if (withDays !== null && value.includes('-')) {
    const [, onlyDays, days = onlyDays, hours = 0, minutes = 0, seconds = 0] = withDays
    return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
  }
  const parts = /^\d+(:\d+){0,2}$/.test(value) ? value.split(':').map(Number) : undefined
  if (parts === undefined) return undefined
  const [first = 0, second = 0, third] = parts
  return third === undefined ? first * 60 + second : (first * 60 + second) * 60 + third
}

/** As sbatch prints a time limit: `1-02:30:00`, `UNLIMITED`. */
export function formatMinutes(minutes: number): string {
  return formatSlurmSeconds(minutes * secondsPerMinute)
}

/** `02:30:00`, `1-02:30:00`. */
export function formatSlurmSeconds(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds === unlimitedMinutes * secondsPerMinute) return 'UNLIMITED'
  const days = Math.floor(seconds / 86_400)
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
    .map(part => String(part).padStart(2, '0'))
    .join(':')
  return days === 0 ? clock : `${days}-${clock}`
}

/** `64G`, `1000` (MiB): whole MiB, what is less rounded up; 0 stands for all of a node's. */
export function readMebibytes(value: string): number | undefined {
  const match = /^[ \t\n\v\f\r]*(?:\+?(\d+)|-0+)(?:([kmgt])b?)?$/i.exec(value)
  if (match === null) return undefined
  const amount = Number(match[1] ?? 0)
  switch (match[2]?.toLowerCase()) {
    case 'k':
      return Math.ceil(amount / 1024)
    case 'g':
      return amount * 1024
    case 't':
      return amount * 1024 * 1024
    default:
      return amount
  }
}

/** As sbatch prints memory: in the largest unit that leaves a whole number. */
export function formatMebibytes(mebibytes: number): string {
  const units = ['', 'G', 'T', 'P', '?']
  let unit = 0
  let amount = mebibytes
  // Slurm prints 0 with the end mark of its list of units.
  while (unit < 4 && amount % 1024 === 0) {
    amount /= 1024
    unit += 1
  }
  return `${amount}${units[unit]}`
}

/** `4`, `2-4`, `2k`; `-3` is 1-3. */
export function readNodes(value: string): { readonly least: number; readonly most: number } | undefined {
  const dash = value.indexOf('-')
  if (dash === -1) {
    const count = readNodeCount(value)
    return count === undefined || count < 0 ? undefined : { least: count, most: count }
  }
  const least = readNodeCount(value.slice(0, dash))
  const most = readNodeCount(value.slice(dash + 1))
  if (least === undefined || most === undefined) return undefined
  const atLeast = least < 0 ? 1 : least
  return most !== 0 && most < atLeast ? undefined : { least: atLeast, most }
}

/** -1 where there is no number, undefined where something stands after it. */
function readNodeCount(value: string): number | undefined {
  const match = /^(?:[ \t\n\v\f\r]*([+-]?\d+)(k?)(m?))?[ \t\n\v\f\r]*$/i.exec(value)
  if (match === null) return undefined
  const [, digits, kilo, mega] = match
  if (digits === undefined) return -1
  const count = Number(digits) * (kilo ? 1024 : 1) * (mega ? 1024 * 1024 : 1)
  return count < 0 || count > 2147483647 ? -1 : count
}
