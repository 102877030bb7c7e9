import { groupedBy } from './grouped.ts'
import type { LogReading, ProgressPoint } from './log-reader.ts'
import { sampled } from './sample.ts'
import { median } from './steady-rate.ts'

/** A point with its place in the whole run. */
export interface CountedPoint extends ProgressPoint {
  /** Counts that are done, from the run's beginning. */
  readonly done: number
  /** Which stretch of the counter it belongs to: the epoch, counted from 0. */
  readonly stretch: number
}

/** The points of the last run of a file, on one counter. */
export interface Counted {
  readonly points: readonly CountedPoint[]
  readonly runs: number
  /** Processes that wrote the same counts; 1 where one wrote. */
  readonly processes: number
  /** Counts of an epoch, where the counter restarts with each. */
  readonly epochLength?: number | undefined
  /** Counts at the end of the epoch that was seen last, where epochs are not equally long: those to come may have any length. */
  readonly unequalEnd?: number | undefined
  /** How far the run before came. */
  readonly doneBefore?: number | undefined
  /** Last line of the run before. */
  readonly lastLineBefore?: number | undefined
}

/** Puts points on one counter: one process, the last run, epochs added up. */
export function count(reading: LogReading): Counted {
  const { points, processes } = ofOneProcess(reading)
  const runs = splitRuns(points, reading)
  const last = sampled(runs.at(-1) ?? [], isFall)
  const before = runs.length < 2 ? undefined : sampled(runs.at(-2) ?? [], isFall)
  const counted = addUpEpochs(reading.bars === true ? behindJump(last) : last, reading)
  return {
    points: counted,
    runs: Math.max(1, runs.length),
    processes,
    epochLength: reading.perEpoch === true ? counted.findLast(one => one.total !== undefined)?.total : undefined,
    unequalEnd: reading.perEpoch === true ? unequalEndOf(counted, reading) : undefined,
    doneBefore: before === undefined ? undefined : addUpEpochs(before, reading).at(-1)?.done,
    lastLineBefore: before?.at(-1)?.line,
  }
}

/** Samplers that fill batches by length make epochs differ by this at most. */
const muchLonger = 1.02

function unequalEndOf(points: readonly CountedPoint[], { zeroBased }: LogReading): number | undefined {
  const lengths = new Map(points.flatMap(({ stretch, total }) => (total === undefined ? [] : [[stretch, total]])))
  const last = points.at(-1)
  const [shortest, longest] = [Math.min(...lengths.values()), Math.max(...lengths.values())]
  if (last?.total === undefined || longest <= muchLonger * shortest) return undefined
  return last.done - last.step - (zeroBased === true ? 1 : 0) + last.total
}

function isFall(point: ProgressPoint, next: ProgressPoint): boolean {
  return next.step < point.step || next.epoch !== point.epoch
}

/** A resumed bar begins at 0 and jumps at once to where the run was. */
function behindJump(points: readonly ProgressPoint[]): readonly ProgressPoint[] {
  const begin = points.findIndex(point => point.step > 0)
  const [first, second] = points.slice(begin)
  const strides = points.slice(begin).flatMap((point, index, all) => {
    const before = all[index - 1]
    return before === undefined || point.step <= before.step ? [] : [point.step - before.step]
  })
  if (begin < 1 || first === undefined || second === undefined || strides.length < 3) return points
  return first.step > 10 * median(strides) ? points.slice(begin) : points
}

/** One rank's points: by its mark, or where there are none, the first of those that name the same count. */
function ofOneProcess({ points, bars }: LogReading): { points: readonly ProgressPoint[]; processes: number } {
  const byRank = groupedBy(points, point => point.rank)
  const ranks = [...byRank.keys()].filter(rank => rank !== undefined)
  if (ranks.length > 1) {
    const [first] = [...ranks].sort(
      (a, b) => (byRank.get(b)?.length ?? 0) - (byRank.get(a)?.length ?? 0) || compare(a, b),
    )
    return { points: byRank.get(first) ?? [], processes: ranks.length }
  }
  if (bars === true) return { points, processes: 1 }
  const times = new Map<string, number>()
  const keyOf = (point: ProgressPoint) => `${point.epoch} ${point.step} ${point.total}`
  for (const point of points) times.set(keyOf(point), (times.get(keyOf(point)) ?? 0) + 1)
  const counts = [...times.values()].sort((a, b) => a - b)
  const usual = counts[Math.floor(counts.length / 2)] ?? 1
  if (usual < 2 || times.size < 3 || comesRoundAgain(points.map(keyOf), times.size)) return { points, processes: 1 }
  if (countsWithin(points, keyOf)) return { points: lastsOf(points, keyOf), processes: 1 }
  const seen = new Set<string>()
  const firsts = points.filter(point => !seen.has(keyOf(point)) && seen.add(keyOf(point)))
  // a logger with two handlers writes each line twice, word for word; processes differ in their times or losses
  const isOneTwice = new Set(points.map(point => `${keyOf(point)} ${point.text}`)).size <= 1.2 * times.size
  return { points: firsts, processes: isOneTwice ? 1 : usual }
}

/** Whether the same counts come again only after most of the others: runs one after the other, such as folds, and no processes. */
function comesRoundAgain(keys: readonly string[], distinct: number): boolean {
  const lastAt = new Map<string, number>()
  const gaps = keys.flatMap((key, index) => {
    const before = lastAt.get(key)
    lastAt.set(key, index)
    return before === undefined ? [] : [index - before]
  })
  return median(gaps) > distinct / 2
}

/** Lines of the same count that count something else from one to the next, `epoch 1/9 step 2/3`: steps of it, and no processes. */
function countsWithin(points: readonly ProgressPoint[], keyOf: (point: ProgressPoint) => string): boolean {
  const groups = [...groupedBy(points, keyOf).values()].filter(group => group.length > 1)
  const pairsOf = ({ text }: ProgressPoint) => text?.match(/\d+\s?\/\s?\d+/g)?.join(' ')
  const rising = groups.filter(group => new Set(group.map(pairsOf)).size === group.length)
  return rising.length > groups.length / 2
}

function lastsOf(points: readonly ProgressPoint[], keyOf: (point: ProgressPoint) => string): readonly ProgressPoint[] {
  return points.filter((point, index) => {
    const next = points[index + 1]
    return next === undefined || keyOf(next) !== keyOf(point)
  })
}

function compare(a: string, b: string): number {
  return Number(a) - Number(b) || (a < b ? -1 : 1)
}

/** A counter that falls begins a new run, but for one that restarts with each epoch: there the epoch has to fall. */
function splitRuns(points: readonly ProgressPoint[], { perEpoch, bars }: LogReading): ProgressPoint[][] {
  const runs: ProgressPoint[][] = []
  let previous: ProgressPoint | undefined
  for (const point of points) {
    const isNew = previous === undefined || fallsBack(previous, point, perEpoch === true, bars === true)
    if (isNew) runs.push([point])
    else runs.at(-1)?.push(point)
    previous = point
  }
  return runs
}

function fallsBack(previous: ProgressPoint, point: ProgressPoint, perEpoch: boolean, bars: boolean): boolean {
  if (!perEpoch) return point.step < previous.step
  if (previous.epoch !== undefined && point.epoch !== undefined) {
    if (point.epoch !== previous.epoch) return point.epoch < previous.epoch
    return point.step < previous.step && !(bars && point.step <= 1)
  }
  return false
}

function addUpEpochs(
  points: readonly ProgressPoint[],
  { perEpoch, zeroBased, firstEpoch }: LogReading,
): CountedPoint[] {
  const offset = zeroBased === true ? 1 : 0
  if (perEpoch !== true) return points.map(point => ({ ...point, done: point.step + offset, stretch: 0 }))
  let stretch = 0
  let base = 0
  let previous: ProgressPoint | undefined
  return points.map(point => {
    const length = point.total ?? previous?.total
    if (point.epoch !== undefined && firstEpoch !== undefined) {
      stretch = point.epoch - firstEpoch
      if (previous?.total !== undefined && point.epoch === (previous.epoch ?? Number.NaN) + 1) base += previous.total
      else if (point.epoch !== previous?.epoch)
        base = length === undefined ? base + (previous === undefined ? 0 : previous.step + offset) : stretch * length
    } else if (previous !== undefined && point.step < previous.step) {
      stretch += 1
      base += previous.total ?? previous.step + offset
    }
    previous = point
    return { ...point, done: base + point.step + offset, stretch }
  })
}
