import type { Candidate } from '../candidates.ts'
import { findGpus, type Gpu } from '../gpu.ts'
import type { RunProgress } from '../logs/run-progress.ts'

/** An earlier run of a job, as its log tells it. */
export interface EarlierLog {
  /** As it is shown. */
  readonly file: string
  /** Number of its job, with that of its array task (`4711_3`), where its file's name has them. */
  readonly runId?: string
  /** When it was last written, seconds since 1970. */
  readonly writtenSeconds: number
  readonly progress: RunProgress
  /** It was run to measure this very job, so its plan is today's. */
  readonly isProbe?: true
  /** GPU types that the log names, as the driver calls them. */
  readonly gpuNames: readonly string[]
  /** The GPUs it had; absent where neither the log nor the request tells them. */
  readonly ranOn?: RanOn
}

/** The GPUs of an earlier run. */
export interface RanOn {
  /** As gpus.csv calls it, empty where the request names none; several where it was one of them, nobody knows which. */
  readonly gpuNames: readonly string[]
  readonly gpuCount: number
  /** Nothing but today's request says so. */
  readonly assumed: boolean
}

/**
 * Logs with the GPUs their runs had: those they name, else those that the job asks for today. What was known before stays, so that a job
 * changed to other GPUs is quoted from where it ran.
 */
export function locate(
  logs: readonly EarlierLog[],
  candidates: readonly Candidate[],
  gpus: readonly Gpu[],
): readonly EarlierLog[] {
  const requested = candidates.filter(candidate => candidate.asRequested)
  return logs.map(log => {
    const ranOn = log.ranOn ?? placeOf(log, requested, gpus)
    return ranOn === undefined ? log : { ...log, ranOn }
  })
}

function placeOf(
  { gpuNames, progress }: EarlierLog,
  requested: readonly Candidate[],
  gpus: readonly Gpu[],
): RanOn | undefined {
  const asked = new Set(requested.flatMap(({ placements }) => placements.map(({ gpu }) => gpu.name)))
  const named = new Set(gpuNames.flatMap(name => typesNamed(name, gpus).map(gpu => gpu.name)))
  const [count, ...otherCounts] = new Set(requested.map(({ placements }) => gpusOf(placements)))
  // One process may hold several GPUs, but several processes hold one each.
  const processes = progress.worldSize?.value ?? 1
  const gpuCount = processes > 1 ? processes : otherCounts.length === 0 ? count : undefined
  // A name such as `A100` is that of several types: the one asked for is among them.
  const names =
    named.size === 0 ? [...asked] : named.size === 1 ? [...named] : [...asked].filter(name => named.has(name))
  if (names.length === 0 || gpuCount === undefined) return undefined
  return { gpuNames: names, gpuCount, assumed: named.size === 0 }
}

/** GPUs of all placements together. */
export function gpusOf(placements: Candidate['placements']): number {
  return placements.reduce((sum, { gpuCount }) => sum + gpuCount, 0)
}

/** Types that a driver's name means; words behind the type (`Laptop GPU`) are left away one by one. */
function typesNamed(name: string, gpus: readonly Gpu[]): readonly Gpu[] {
  const words = name.split(' ')
  for (let count = words.length; count > 0; count--) {
    const found = findGpus(words.slice(0, count).join(' '), gpus)
    if (found.length > 0) return found
  }
  return []
}
