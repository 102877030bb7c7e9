import { secondsPerMinute } from '../../units.ts'
import type { ValueKind } from './options.ts'

/** A value as Slurm keeps it (`undefined` = the option is taken back), or what it would have taken instead. */
export type ValueReading = { readonly text: string | undefined } | { readonly expected: string }

/** What Slurm calls no limit: 2^32 - 1 minutes. */
const unlimitedMinutes = 0xffffffff

/**
 * Reads one option value as sbatch does and writes it as sbatch would print it. `before` is the value it had, for the options
 * that add up.
 */
export function readValue(kind: ValueKind, value: string | undefined, before: string | undefined): ValueReading {
  return readers[kind](value ?? '', before)
}

type Reader = (value: string, before: string | undefined) => ValueReading

const readers: Readonly<Record<ValueKind, Reader>> = {
  text: value => ({ text: value }),
  flag: () => ({ text: 'set' }),
  natural: value => readCount(value, 0),
  positive: value => readCount(value, 1),
  minutes: value => {
    const minutes = readMinutes(value)
    return minutes === undefined ? { expected: timeForms } : { text: formatMinutes(minutes) }
  },
  delay: value => {
    const seconds = readTimeSeconds(value)
    if (seconds === undefined) return { expected: timeForms }
    return { text: formatSlurmSeconds(Number.isFinite(seconds) ? seconds >>> 0 : seconds) }
  },
  memory: value => {
    const mebibytes = readMebibytes(value)
    return mebibytes === undefined
      ? { expected: 'a whole number with K, M, G or T, such as 64G (MiB without a letter)' }
      : { text: formatMebibytes(mebibytes) }
  },
  nodes: value => {
    const nodes = readNodes(value)
    if (nodes === undefined) return { expected: 'a number of nodes, 4, or a range, 2-4' }
    return { text: nodes.most === nodes.least ? String(nodes.least) : `${nodes.least}-${nodes.most}` }
  },
  gres: value => ({ text: /^none$/i.test(value) ? value : withGresPrefix(value) }),
  exclusive: value =>
    readWord(value === '' ? 'exclusive' : value, ['exclusive', 'oversubscribe', 'user', 'mcs', 'topo']),
  file: value => ({ text: /^none$/i.test(value) ? '/dev/null' : value }),
  environment: value => readUserEnvironment(value),
  mail: readMailTypes,
  distribution: readDistribution,
  signal: readSignal,
  switches: readSwitches,
  profile: readProfile,
  'cpu-frequency': readCpuFrequency,
  'memory-binding': readMemoryBinding,
  'gpu-binding': readGpuBinding,
  'gpu-frequency': readGpuFrequency,
  geometry: readGeometry,
  'open-mode': value =>
    /^[at]/i.test(value) ? { text: value.charAt(0).toLowerCase() } : { expected: 'append or truncate' },
  'no-kill': value => {
    if (/^(set|)$/i.test(value)) return { text: 'set' }
    return /^(off|no)$/i.test(value) ? { text: 'unset' } : { expected: 'off, no or nothing' }
  },
  nice: (value): ValueReading => {
    const nice = value === '' ? 100 : leadingInteger(value)
    return Math.abs(nice) > 2147483645
      ? { expected: 'a number between -2147483645 and 2147483645' }
      : { text: String(nice) }
  },
  priority: value => {
    if (/^top$/i.test(value)) return { text: '-3' }
    const priority = leadingInteger(value)
    return priority >= 0 && priority < 0xfffffffe
      ? { text: String(priority | 0) }
      : { expected: 'TOP or a number from 0 to 4294967293' }
  },
  'yes-no': (value, before) => {
    const answer = readWord(value, ['yes', 'no'])
    // Both answers are kept side by side, and yes is looked at first.
    return 'text' in answer && before === 'yes' ? { text: 'yes' } : answer
  },
  'gres-flags': value =>
    readWord(value, [
      'disable-binding',
      'enforce-binding',
      'allow-task-sharing',
      'multiple-tasks-per-sharing',
      'one-task-per-sharing',
    ]),
  'wait-all': value => {
    const count = readCount(value, 0)
    return 'text' in count && Number(count.text) % 65536 > 1 ? { expected: '0 or 1' } : count
  },
  moment: value =>
    /^[ \t\n\v\f\r]*(\d|now *([+-].*)?$|(today|tomorrow|midnight|noon|fika|teatime)( .*)?$|uts\d)/i.test(value)
      ? { text: value }
      : { expected: 'a time such as 16:00, now+1hour, tomorrow or 2030-01-20T12:34' },
  sampling: value => ({ text: value }),
  power: value => ({ text: /(^|,)level(,|$)/i.test(value) ? 'LEVEL' : 'unset' }),
}

export const timeForms = 'minutes (90), hours:minutes:seconds (1:30:00) or days-hours (2-12)'

/** strtol(3): leading white space and sign are fine, what follows the digits is left; 0 where there are none. */
function leadingInteger(value: string): number {
  return Number(/^[ \t\n\v\f\r]*([+-]?\d+)/.exec(value)?.[1] ?? 0)
}

function readCount(value: string, least: number): ValueReading {
  const count = /^([ \t\n\v\f\r]*[+-]?\d+)?$/.test(value) ? leadingInteger(value) : -1
  if (count >= least && count < 2147483647) return { text: String(count) }
  return { expected: least === 0 ? 'a whole number' : 'a whole number above 0' }
}

function readWord(value: string, words: readonly string[]): ValueReading {
  const word = value.toLowerCase()
  return words.includes(word) ? { text: word } : { expected: words.join(', ') }
}

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
function readTimeSeconds(value: string): number | undefined {
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

function formatMinutes(minutes: number): string {
  return formatSlurmSeconds(minutes * secondsPerMinute)
}

function formatSlurmSeconds(seconds: number): string {
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

function formatMebibytes(mebibytes: number): string {
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

function withGresPrefix(value: string): string {
  return `gres:${value}`.replaceAll(',', ',gres:').replaceAll('gres:gres:', 'gres:')
}

function readUserEnvironment(value: string): ValueReading {
  const [, digits = '', mode = ''] = /^[ \t\n\v\f\r]*([+-]?\d*)(.?)/.exec(value) ?? []
  if (!/^[sl]?$/i.test(mode)) return { expected: 'seconds, with S or L after them' }
  // -1 is how sbatch keeps that nothing was asked for.
  return { text: mode === '' && Number(digits) === -1 ? undefined : `${Number(digits)}${mode.toUpperCase()}` }
}

const mailTypes = [
  'ARRAY_TASKS',
  'INVALID_DEPEND',
  'BEGIN',
  'END',
  'FAIL',
  'REQUEUE',
  'STAGE_OUT',
  'TIME_LIMIT_50',
  'TIME_LIMIT_80',
  'TIME_LIMIT_90',
  'TIME_LIMIT',
]
const allMailTypes = ['INVALID_DEPEND', 'BEGIN', 'END', 'FAIL', 'REQUEUE', 'STAGE_OUT']

/** Kinds of mail add up over several options, and unknown ones are passed over while one is known. */
function readMailTypes(value: string, before: string | undefined): ValueReading {
  const earlier = before === undefined || before === 'NONE' ? [] : before.split(',')
  const chosen = new Set<string>()
  for (const word of value.toUpperCase().split(',')) {
    if (word === 'NONE') return { text: before ?? 'NONE' }
    for (const type of word === 'ALL' ? allMailTypes : [word]) if (mailTypes.includes(type)) chosen.add(type)
  }
  if (chosen.size === 0) return { expected: `NONE, ALL or some of ${mailTypes.join(', ')}` }
  const all = mailTypes.filter(type => chosen.has(type) || earlier.includes(type))
  return { text: all.join(',') }
}

const distributionForms = 'block, cyclic, arbitrary or plane=<size>, with :block, :cyclic or :fcyclic after it'

function readDistribution(value: string): ValueReading {
  if (/^plane/i.test(value)) {
    const size = /=[ \t\n\v\f\r]*\+?(\d+)$/.exec(value)?.[1]
    return size === undefined || Number(size) === 0
      ? { expected: distributionForms }
      : { text: `plane=${Number(size)}` }
  }
  const [levels = '', flag, ...more] = value
    .toLowerCase()
    .split(',')
    .filter((part, index) => part !== '' || index === 0)
  const [nodes, sockets, cores, ...rest] = levels.split(':').filter(level => level !== '')
  const socketLevel = sockets === '*' ? 'cyclic' : sockets
  const named = [nodes === '*' ? 'block' : nodes, socketLevel, cores === '*' ? socketLevel : cores]
  const names = named.filter(level => level !== undefined)
  if (rest.length > 0 || names.length === 0) return { expected: distributionForms }
  if (more.length > 0 || (flag !== undefined && !/^(no)?pack$/.test(flag))) return { expected: distributionForms }
  const suffix = flag === undefined ? '' : `,${flag}`
  if (names.length === 1 && /^(arbitrary|hostfile)$/.test(names[0] ?? '')) return { text: `arbitrary${suffix}` }
  if (names.length === 1 && /^(no)?pack$/.test(names[0] ?? '')) return { text: flag ?? names[0] }
  const [first = '', ...lower] = names
  if (!/^(block|cyclic)$/.test(first) || !lower.every(level => /^(block|cyclic|fcyclic)$/.test(level))) {
    return { expected: distributionForms }
  }
  return { text: names.join(':') + suffix }
}

/** The signals that Slurm knows by name, with their numbers on Linux (signal(7)). */
const signals: Readonly<Record<string, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ABRT: 6,
  KILL: 9,
  ALRM: 14,
  TERM: 15,
  USR1: 10,
  USR2: 12,
  URG: 23,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
  TTIN: 21,
  TTOU: 22,
  XCPU: 24,
}

function readSignal(value: string, before: string | undefined): ValueReading {
  const expected = 'a signal, with [R][B]: before it and @seconds after it: B:USR1@120'
  const [, flags = '', name = '', seconds] = /^(R?B?R?|B?R?):?([^@]*)(?:@(.*))?$/is.exec(value) ?? []
  const number = /^[ \t\n\v\f\r]*\+?(\d+)[ \t\n\v\f\r]*$/.exec(name)?.[1]
  const known = /^[ \t\n\v\f\r]*(?:SIG)?([A-Z]+\d?)[ \t\n\v\f\r]*$/i.exec(name)?.[1]?.toUpperCase()
  // Slurm keeps 16 bits of the number.
  const signal = number === undefined ? signals[known ?? ''] : Number(number) & 0xffff
  if (signal === undefined || signal < 1) return { expected }
  if (seconds !== undefined && (!/^([ \t\n\v\f\r]*\+?\d+)?$/.test(seconds) || Number(seconds) > 0xffff))
    return { expected }
  // The letters of an earlier --signal stay.
  const all = flags + (/^([RB]+):/.exec(before ?? '')?.[1] ?? '')
  const letters = (/r/i.test(all) ? 'R' : '') + (/b/i.test(all) ? 'B' : '')
  const named = Object.keys(signals).find(key => signals[key] === signal) ?? String(signal)
  const time = seconds === undefined || Number(seconds) === 60 ? '' : `@${Number(seconds)}`
  return { text: (letters === '' ? '' : `${letters}:`) + named + time }
}

function readSwitches(value: string): ValueReading {
  const at = value.indexOf('@')
  const count = readCount(at === -1 ? value : value.slice(0, at), 1)
  if ('expected' in count || at === -1) return count
  const wait = readTimeSeconds(value.slice(at + 1))
  if (wait === Number.POSITIVE_INFINITY) return count
  return { text: `${count.text}@${wait === undefined ? 'INVALID' : formatSlurmSeconds(wait)}` }
}

function readProfile(value: string): ValueReading {
  if (/none/i.test(value)) return { text: 'None' }
  const series = ['Energy', 'Lustre', 'Network', 'Task']
  if (/all/i.test(value)) return { text: series.join(',') }
  const chosen = series.filter(name => value.toLowerCase().includes(name.toLowerCase()))
  return chosen.length === 0 ? { expected: 'none, all, energy, task, lustre or network' } : { text: chosen.join(',') }
}

const frequencies: readonly (readonly [RegExp, string])[] = [
  [/^lo/i, 'Low'],
  [/^(him1|highm1)/i, 'Highm1'],
  [/^hi/i, 'High'],
  [/^med/i, 'Medium'],
]
const governors: readonly (readonly [RegExp, string])[] = [
  [/^co/i, 'Conservative'],
  [/^perf/i, 'Performance'],
  [/^pow/i, 'PowerSave'],
  [/^user/i, 'UserSpace'],
  [/^onde/i, 'OnDemand'],
  [/^sche/i, 'SchedUtil'],
]

function nameIn(names: readonly (readonly [RegExp, string])[], word: string): string | undefined {
  return names.find(([pattern]) => pattern.test(word))?.[1]
}

function readCpuFrequency(value: string): ValueReading {
  const expected = 'low, medium, high, highm1 or kilohertz, two of them with a dash, and :governor after a range'
  const [range = '', governor] = value.split(/:(.*)/s)
  const [first = '', second] = range.split(/-(.*)/s)
  const frequency = (word: string): string | undefined =>
    nameIn(frequencies, word) ?? (leadingInteger(word) > 0 ? String(leadingInteger(word)) : undefined)
  if (nameIn(governors, first) !== undefined) {
    return governor === undefined && second === undefined ? { text: nameIn(governors, first) } : { expected }
  }
  const least = frequency(first)
  const most = second === undefined ? undefined : frequency(second)
  if (least === undefined || (second !== undefined && most === undefined)) return { expected }
  if (governor === undefined) return { text: most === undefined ? least : `${least}-${most}` }
  const named = nameIn(governors, governor)
  return most === undefined || named === undefined ? { expected } : { text: `${least}-${most}:${named}` }
}

function readMemoryBinding(value: string): ValueReading {
  const words = value.toLowerCase().split(/,(?![0-9a-f]+(?:,|$)|\d)/)
  const known = /^(p|prefer|nosort|sort|q|quiet|v|verbose|no|none|rank|local|(map_?mem|mask_?mem)[:=].+)$/
  return words.every(word => known.test(word))
    ? { text: value }
    : { expected: 'local, none, rank, prefer, sort, verbose, map_mem:<list> or mask_mem:<list>' }
}

function readGpuBinding(value: string): ValueReading {
  const binding = value.replace(/^verbose,/i, '')
  // 22.05 looks at the first letter of the two words only.
  const known = /^(c|n|per_task:|single:|map_gpu:[\d*,]*$|mask_gpu:[0-9a-fx*,]*$)/i
  return known.test(binding)
    ? { text: value }
    : { expected: 'closest, none, per_task:<n>, single:<n>, map_gpu:<list> or mask_gpu:<list>' }
}

function readGpuFrequency(value: string): ValueReading {
  const known = /^((memory=)?(\d+|low|medium|high|highm1)|verbose)$/
  const words = value.split(',').filter(word => word !== '')
  return value !== '' && words.every(word => known.test(word))
    ? { text: value }
    : { expected: 'low, medium, high, highm1 or megahertz, and memory=<the same>' }
}

/** Sockets, cores and threads of `-B`: numbers or `*`, with colons between them. */
function readGeometry(value: string): ValueReading {
  const levels = value.split(':').slice(0, 3)
  const counts = levels.map(level => (/^(\*.*)?$/.test(level) ? '' : /^[ \t\n\v\f\r]*\+?(\d+)$/.exec(level)?.[1]))
  if (counts.some(count => count === undefined)) return { expected: 'sockets[:cores[:threads]], such as 2:8' }
  const text = counts.map((count, index) => (count === '' ? '' : `${index === 0 ? '' : ':'}${Number(count)}`)).join('')
  return { text: text === '' ? 'unset' : text }
}
