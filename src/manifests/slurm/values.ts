import type { ValueKind } from './options.ts'
import {
  readCpuFrequency,
  readDistribution,
  readGeometry,
  readGpuBinding,
  readGpuFrequency,
  readMailTypes,
  readMemoryBinding,
  readProfile,
  readSignal,
  readSwitches,
  readUserEnvironment,
} from './placement-values.ts'
import {
  formatMebibytes,
  formatMinutes,
  formatSlurmSeconds,
  readMebibytes,
  readMinutes,
  readNodes,
  readTimeSeconds,
  timeForms,
} from './quantities.ts'
import { leadingInteger, readCount, readWord, type ValueReading } from './value-reading.ts'

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
    momentForm.test(value) && !momentWithMore.test(value)
      ? { text: value }
      : { expected: 'a time such as 16:00, now+1hour, tomorrow or 2030-01-20T12:34' },
  sampling: value => ({ text: value }),
  power: value => ({ text: /(^|,)level(,|$)/i.test(value) ? 'LEVEL' : 'unset' }),
}

const momentForm = /^[ \t\n\v\f\r]*(\d|now *([+-].*)?$|(today|tomorrow|midnight|noon|fika|teatime)( .*)?$|uts\d)/i
/** Behind a date and a time of day only a blank, a dash or a T may stand; a no-break space is none of them. */
const momentWithMore = /^\d{4}-\d{2}-\d{2}T\d{1,2}:\d{2}(?::\d{2})?(?![\d \tT-])(?!:\d{2}(?![\d:]))./

function withGresPrefix(value: string): string {
  return `gres:${value}`.replaceAll(',', ',gres:').replaceAll('gres:gres:', 'gres:')
}
