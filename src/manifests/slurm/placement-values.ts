import { ownEntry } from '../../own-entry.ts'
import { formatSlurmSeconds, readTimeSeconds } from './quantities.ts'
import { leadingInteger, readCount, type ValueReading } from './value-reading.ts'

/** `--get-user-env=10S`. */
export function readUserEnvironment(value: string): ValueReading {
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
export function readMailTypes(value: string, before: string | undefined): ValueReading {
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

/** `--distribution`: where tasks go over nodes, sockets and cores, `*` for the usual. */
export function readDistribution(value: string): ValueReading {
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

/** `--signal=B:USR1@120`. */
export function readSignal(value: string, before: string | undefined): ValueReading {
  const expected = 'a signal, with [R][B]: before it and @seconds after it: B:USR1@120'
  const [, flags = '', name = '', seconds] = /^(R?B?R?|B?R?):?([^@]*)(?:@(.*))?$/is.exec(value) ?? []
  const number = /^[ \t\n\v\f\r]*\+?(\d+)[ \t\n\v\f\r]*$/.exec(name)?.[1]
  const known = /^[ \t\n\v\f\r]*(?:SIG)?([A-Z]+\d?)[ \t\n\v\f\r]*$/i.exec(name)?.[1]?.toUpperCase()
  // Slurm keeps 16 bits of the number.
  const signal = number === undefined ? ownEntry(signals, known ?? '') : Number(number) & 0xffff
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

/** `--switches=1@2:00:00`. */
export function readSwitches(value: string): ValueReading {
  const at = value.indexOf('@')
  const count = readCount(at === -1 ? value : value.slice(0, at), 1)
  if ('expected' in count || at === -1) return count
  const wait = readTimeSeconds(value.slice(at + 1))
  if (wait === Number.POSITIVE_INFINITY) return count
  return { text: `${count.text}@${wait === undefined ? 'INVALID' : formatSlurmSeconds(wait)}` }
}

/** `--profile`: data to collect, found anywhere in the text. */
export function readProfile(value: string): ValueReading {
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

/** `--cpu-freq=low-high:OnDemand`. */
export function readCpuFrequency(value: string): ValueReading {
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

/** `--mem-bind`. */
export function readMemoryBinding(value: string): ValueReading {
  const words = value.toLowerCase().split(/,(?![0-9a-f]+(?:,|$)|\d)/)
  const known = /^(p|prefer|nosort|sort|q|quiet|v|verbose|no|none|rank|local|(map_?mem|mask_?mem)[:=].+)$/
  return words.every(word => known.test(word))
    ? { text: value }
    : { expected: 'local, none, rank, prefer, sort, verbose, map_mem:<list> or mask_mem:<list>' }
}

/** `--gpu-bind`. */
export function readGpuBinding(value: string): ValueReading {
  const binding = value.replace(/^verbose,/i, '')
  // 22.05 looks at the first letter of the two words only.
  const known = /^(c|n|per_task:|single:|map_gpu:[\d*,]*$|mask_gpu:[0-9a-fx*,]*$)/i
  return known.test(binding)
    ? { text: value }
    : { expected: 'closest, none, per_task:<n>, single:<n>, map_gpu:<list> or mask_gpu:<list>' }
}

/** `--gpu-freq=high,memory=low`. */
export function readGpuFrequency(value: string): ValueReading {
  const known = /^((memory=)?(\d+|low|medium|high|highm1)|verbose)$/
  const words = value.split(',').filter(word => word !== '')
  return value !== '' && words.every(word => known.test(word))
    ? { text: value }
    : { expected: 'low, medium, high, highm1 or megahertz, and memory=<the same>' }
}

/** Sockets, cores and threads of `-B`: numbers or `*`, with colons between them. */
export function readGeometry(value: string): ValueReading {
  const levels = value.split(':').slice(0, 3)
  const counts = levels.map(level => (/^(\*.*)?$/.test(level) ? '' : /^[ \t\n\v\f\r]*\+?(\d+)$/.exec(level)?.[1]))
  if (counts.some(count => count === undefined)) return { expected: 'sockets[:cores[:threads]], such as 2:8' }
  const text = counts.map((count, index) => (count === '' ? '' : `${index === 0 ? '' : ':'}${Number(count)}`)).join('')
  return { text: text === '' ? 'unset' : text }
}
