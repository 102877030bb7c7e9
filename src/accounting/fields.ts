import type { RunRequest, RunState } from '../history/earlier-run.ts'

/** Words of Slurm for how a run ended; its fixed-width output cuts them (`OUT_OF_ME+`). Others have not ended, or are not runs. */
const states: readonly (readonly [string, RunState])[] = [
  ['COMPLETED', 'completed'],
  ['FAILED', 'failed'],
  ['OUT_OF_MEMORY', 'out-of-memory'],
  ['TIMEOUT', 'timeout'],
  ['CANCELLED', 'cancelled'],
  ['PREEMPTED', 'interrupted'],
  ['NODE_FAIL', 'interrupted'],
  ['BOOT_FAIL', 'interrupted'],
  ['DEADLINE', 'interrupted'],
  ['REQUEUED', 'interrupted'],
]

/** How a run ended by Slurm's word for it (`CANCELLED by 1000`); undefined where it has not. */
export function stateOf(text: string): RunState | undefined {
  const [word = ''] = text.trim().toUpperCase().split(' ')
  const beginning = word.replace(/\+$/, '')
  if (beginning.length < 2) return undefined
  return states.find(([name]) => (word.endsWith('+') ? name.startsWith(beginning) : name === word))?.[1]
}

/** Seconds of `[DD-[HH:]]MM:SS[.mmm]`, as Slurm prints times; undefined where it is none. */
export function clockSeconds(text: string): number | undefined {
  const match = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?$/.exec(text.trim())
  if (match === null) return undefined
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
}

/**
 * Seconds since 1970 of epoch seconds or an ISO 8601 time. One without a zone is the cluster's local time, of which only differences
 * count; it is read as UTC. Undefined for `Unknown` and `None`.
 */
export function timeSeconds(text: string): number | undefined {
  const trimmed = text.trim()
  if (/^\d{9,11}(\.\d+)?$/.test(trimmed)) return Number(trimmed)
  if (/^\d{12,14}$/.test(trimmed)) return Number(trimmed) / 1_000
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?\s*(?:UTC)?(Z|[+-]\d{2}:?\d{2})?$/.exec(
    trimmed,
  )
  if (match === null) return undefined
  const [, day = '', clock = '00:00', zone = 'Z'] = match
  const time = Date.parse(`${day}T${clock}${zone}`)
  return Number.isFinite(time) ? time / 1_000 : undefined
}

/** A time limit as sacct prints it: minutes (`TimelimitRaw`), a clock time, or a word. */
export function limitOf(text: string): RunRequest['limitSeconds'] {
  const trimmed = text.trim()
  if (/^unlimited$|^infinite$/i.test(trimmed)) return 'unlimited'
  if (/^partition_limit$/i.test(trimmed)) return 'partition-default'
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 60
  return clockSeconds(trimmed)
}

/**
 * GPUs of a list such as `cpu=4,gres/gpu:a100=2,gres/gpu=2`, where typed and untyped entries are the same GPUs; older sites have
 * only one of the two.
 */
export function gpusOfTres(tres: string): { readonly gpus: number; readonly gpuType?: string } {
  let untyped: number | undefined
  let typed = 0
  const types = new Set<string>()
  for (const entry of tres.split(',')) {
    const [, type, count] = /^gres\/gpu(?::([^=]+))?=(\d+)$/.exec(entry.trim()) ?? []
    if (count === undefined) continue
    if (type === undefined) untyped = Number(count)
    else {
      typed += Number(count)
      types.add(type.toLowerCase())
    }
  }
  const [gpuType] = types
  return { gpus: untyped ?? typed, ...(types.size === 1 && gpuType !== undefined && { gpuType }) }
}

/** A count of a TRES list, such as `node` or `cpu`. */
export function countOfTres(tres: string, key: string): number | undefined {
  const entry = tres.split(',').find(each => each.startsWith(`${key}=`))
  return positive(entry?.slice(key.length + 1) ?? '')
}

/** A positive number, or undefined. */
export function positive(text: string): number | undefined {
  const value = Number(text)
  return text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : undefined
}
