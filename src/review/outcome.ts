import type { Allocation } from '../history/allocation.ts'
import type { QuotedFigures, QuoteRecord } from '../quote-record.ts'
import { readStamp } from '../stamp.ts'
import { secondsPerDay, secondsPerHour } from '../units.ts'

/** How a submission ended, all its tasks together. */
export type Ending =
  | 'done'
  | 'failed'
  | 'timed out'
  | 'cancelled'
  | 'interrupted'
  | 'running'
  | 'waiting'
  | 'gone'
  | 'unknown'

/** A submission: what was quoted, and what it took. */
export interface Outcome {
  readonly id: string
  readonly cluster: string
  readonly name: string
  readonly user: string
  /** The tag of the quote; Slurm's account where only the scheduler knows the job. */
  readonly team: string
  readonly submitSeconds: number
  /** As the scheduler calls it; absent where nothing was held yet. */
  readonly gpuType?: string
  readonly quoted: QuotedFigures
  /** Only of what stands in the ledger. */
  readonly record?: QuoteRecord
  readonly ending: Ending
  /** Tasks by how they ended, where they did not end alike. */
  readonly endings: ReadonlyMap<Ending, number>
  /** Times that a task was started again. */
  readonly restarts: number
  /** Of one task, the last time it was started; the median where several were done, undefined where none was. */
  readonly runtimeSeconds?: number
  /** Of the task that its time limit stopped last. */
  readonly stoppedAfterSeconds?: number
  readonly gpuHours: number
  /** Undefined where the price is not known. */
  readonly usd?: number
  readonly waste: Waste
  /** Share of its time that its GPUs had nothing to do, where that is counted. */
  readonly idleShare?: number
}

/** US dollars that bought nothing that was kept. */
export interface Waste {
  readonly failedUsd: number
  readonly timedOutUsd: number
  readonly cancelledUsd: number
  /** Of starts that were begun anew without a checkpoint. */
  readonly interruptedUsd: number
  /** Of runs that count otherwise, while their GPUs had nothing to do. */
  readonly idleUsd: number
}

/** All waste of a submission, US dollars. */
export function wastedUsd({ waste }: Outcome): number {
  return waste.failedUsd + waste.timedOutUsd + waste.cancelledUsd + waste.interruptedUsd + waste.idleUsd
}

/** A job id comes again after a reset of the accounting: what was submitted at another time is another job. */
const clockToleranceSeconds = secondsPerDay

/**
 * What became of every job that was quoted: of the ledger, and of those that only their stamp in the accounting tells of. A record of the
 * ledger counts before its stamp, since it says more.
 */
export function joinOutcomes(records: readonly QuoteRecord[], allocations: readonly Allocation[]): readonly Outcome[] {
  const submissions = new Map<string, Allocation[]>()
  for (const each of allocations) {
    const key = `${each.cluster} ${each.jobId}`
    submissions.set(key, [...(submissions.get(key) ?? []), each])
  }
  const byKey = new Map(records.map(record => [record.key, record]))
  const byId = new Map(records.map(record => [`${record.cluster ?? ''} ${record.id ?? ''}`, record]))
  const found = new Set<string>()
  const outcomes = [...submissions].flatMap(([id, own]): Outcome[] => {
    const stamp = own.map(({ comment }) => readStamp(comment)).find(each => each !== undefined)
    const record = byKey.get(stamp?.key ?? '') ?? sameTime(byId.get(id), own)
    const quoted = record ?? stamp
    if (quoted === undefined) return []
    found.add(quoted.key)
    return [outcomeOf(quoted, record, own)]
  })
  const lost = records.filter(({ key }) => !found.has(key)).map(record => outcomeOf(record, record, []))
  return [...outcomes, ...lost].sort((a, b) => a.submitSeconds - b.submitSeconds)
}

function sameTime(record: QuoteRecord | undefined, own: readonly Allocation[]): QuoteRecord | undefined {
  if (record === undefined) return undefined
  const at = Date.parse(record.at) / 1_000
  const first = Math.min(...own.map(({ submitSeconds }) => submitSeconds))
  return Math.abs(first - at) <= clockToleranceSeconds ? record : undefined
}

function outcomeOf(
  quoted: QuotedFigures,
  record: QuoteRecord | undefined,
  allocations: readonly Allocation[],
): Outcome {
  const tasks = tasksOf(allocations)
  const starts = tasks.flatMap(own => own.map((start, index) => ({ start, isLast: index === own.length - 1 })))
  const lasts = tasks.flatMap(own => own.at(-1) ?? [])
  const tellsOfOne = allocations.every(({ isAllTasks }) => isAllTasks !== true)
  const done = lasts.flatMap(({ ending, elapsedSeconds }) => (ending === 'done' && tellsOfOne ? elapsedSeconds : []))
  const runtimeSeconds = median(done)
  const stopped = lasts.filter(({ ending }) => ending === 'timed out').map(({ elapsedSeconds }) => elapsedSeconds)
  const usdOf = (start: Start) => costOf(start, quoted)
  const known = starts.every(({ start }) => usdOf(start) !== undefined)
  const sum = (some: readonly Start[]) => some.reduce((total, start) => total + (usdOf(start) ?? 0), 0)
  const ended = (ending: Ending) => lasts.filter(start => start.ending === ending)
  const again = starts.filter(({ isLast }) => !isLast).map(({ start }) => start)
  const keeps = record?.resumes === true
  const counting = ended('done')
  const busy = counting.filter(({ busyShare }) => busyShare !== undefined)
  const [first] = allocations
  const gpuType = allocations.find(each => each.gpuType !== undefined)?.gpuType
  return {
    id: first?.jobId ?? record?.id ?? '',
    cluster: first?.cluster ?? record?.cluster ?? '',
    name: record?.name ?? first?.name ?? '',
    user: record?.user ?? first?.user ?? '',
    team: record?.team ?? (first?.account || 'no team'),
    submitSeconds:
      record === undefined
        ? Math.min(...allocations.map(({ submitSeconds }) => submitSeconds))
        : Date.parse(record.at) / 1_000,
    ...(gpuType !== undefined && { gpuType }),
    quoted,
    ...(record !== undefined && { record }),
    ending: worstOf(lasts),
    endings: countEndings(lasts),
    restarts: again.length,
    ...(runtimeSeconds !== undefined && { runtimeSeconds }),
    ...(stopped.length > 0 && { stoppedAfterSeconds: Math.max(...stopped) }),
    gpuHours: starts.reduce((total, { start }) => total + start.gpuSeconds, 0) / secondsPerHour,
    ...(known && starts.length > 0 && { usd: sum(starts.map(({ start }) => start)) }),
    waste: {
      failedUsd: sum(ended('failed')),
      timedOutUsd: keeps ? 0 : sum(ended('timed out')),
      cancelledUsd: sum(ended('cancelled')),
      interruptedUsd: keeps ? 0 : sum([...again, ...ended('interrupted')]),
      idleUsd: busy.reduce((total, start) => total + (usdOf(start) ?? 0) * (1 - (start.busyShare ?? 1)), 0),
    },
    ...(busy.length > 0 && { idleShare: idleShareOf(busy) }),
  }
}

/** One time that a task was started, its components together. */
interface Start {
  readonly ending: Ending
  readonly elapsedSeconds: number
  readonly gpus: number
  readonly gpuSeconds: number
  readonly busyShare?: number
}

/** Starts of each task in their order. */
function tasksOf(allocations: readonly Allocation[]): readonly (readonly Start[])[] {
  return groups(allocations, ({ task }) => task).map(ofTask => {
    const components = groups(ofTask, ({ component }) => component).map(own =>
      [...own].sort((a, b) => (a.startSeconds ?? Number.MAX_VALUE) - (b.startSeconds ?? Number.MAX_VALUE)),
    )
    const count = Math.max(...components.map(own => own.length))
    return Array.from({ length: count }, (_, index) => startOf(components.flatMap(own => own[index] ?? [])))
  })
}

function startOf(parts: readonly Allocation[]): Start {
  const shares = parts.flatMap(({ gpuBusyShare }) => gpuBusyShare ?? [])
  return {
    ending: worstOf(parts.map(({ state }) => ({ ending: endingOf(state) }))),
    elapsedSeconds: Math.max(...parts.map(({ elapsedSeconds }) => elapsedSeconds)),
    gpus: parts.reduce((sum, { gpus }) => sum + gpus, 0),
    gpuSeconds: parts.reduce((sum, { gpus, elapsedSeconds }) => sum + gpus * elapsedSeconds, 0),
    ...(shares.length > 0 && { busyShare: shares.reduce((sum, share) => sum + share, 0) / shares.length }),
  }
}

/** What a start cost; one that got another number of GPUs than was asked for is paid by the GPU. */
function costOf({ ending, elapsedSeconds, gpus }: Start, quoted: QuotedFigures): number | undefined {
  if (ending === 'gone') return undefined
  if (elapsedSeconds === 0) return 0
  if (quoted.usdPerTaskHour === undefined || quoted.gpus === 0) return undefined
  const asQuoted = gpus === 0 || gpus === quoted.gpus || gpus === quoted.billedGpus
  return (elapsedSeconds / secondsPerHour) * quoted.usdPerTaskHour * (asQuoted ? 1 : gpus / quoted.gpus)
}

function endingOf(state: Allocation['state']): Ending {
  switch (state) {
    case 'completed':
      return 'done'
    case 'timeout':
      return 'timed out'
    case 'out-of-memory':
      return 'failed'
    default:
      return state
  }
}

/** The order in which an ending stands for a submission whose tasks did not end alike. */
const gravity: readonly Ending[] = [
  ...(['running', 'waiting', 'failed', 'timed out', 'cancelled', 'interrupted', 'gone', 'done'] as const),
]

function worstOf(parts: readonly { readonly ending: Ending }[]): Ending {
  return gravity.find(each => parts.some(({ ending }) => ending === each)) ?? 'unknown'
}

function countEndings(parts: readonly { readonly ending: Ending }[]): ReadonlyMap<Ending, number> {
  const counts = new Map<Ending, number>()
  for (const { ending } of parts) counts.set(ending, (counts.get(ending) ?? 0) + 1)
  return counts
}

function idleShareOf(starts: readonly Start[]): number {
  const seconds = starts.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0)
  const busy = starts.reduce((sum, { gpuSeconds, busyShare = 1 }) => sum + gpuSeconds * busyShare, 0)
  return seconds === 0 ? 0 : 1 - busy / seconds
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}

function groups<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly T[])[] {
  const found = new Map<string, T[]>()
  for (const item of items) found.set(keyOf(item), [...(found.get(keyOf(item)) ?? []), item])
  return [...found.values()]
}
