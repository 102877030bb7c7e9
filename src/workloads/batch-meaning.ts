import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { type Given, known } from './flags.ts'

/** What is known of a program's batch besides its number. */
export interface BatchMeaning {
  readonly processes: Sourced<number> | undefined
  /** Each process reads batches of its own, or all share one; undefined where that is not known. */
  readonly isShared: boolean | undefined
  /** Nothing is seen that starts a second process. */
  readonly isAlone: boolean
}

type Batches = Pick<Workload, 'globalBatch' | 'microBatch' | 'gradientAccumulation'>

/**
 * One process's batch or everybody's: known for names that say so, for frameworks with a habit, and for a single process;
 * otherwise as most programs mean it, which is then assumed.
 */
export function batchesOf(
  batch: Given<number>,
  given: { globalBatch: Given<number>; microBatch: Given<number>; gradientAccumulation: Given<number> },
  { processes, isShared, isAlone }: BatchMeaning,
): Batches {
  const once: Given<number> = sourced(1, { kind: 'assumed', reason: 'no accumulation is asked for' })
  const accumulation = given.gradientAccumulation === undefined ? once : known(given.gradientAccumulation)
  const ofProcess = (micro: Sourced<number>) => withoutAbsent({ microBatch: micro, gradientAccumulation: accumulation })
  const globalBatch = known(given.globalBatch)
  const micro = known(given.microBatch) ?? (isShared === false ? known(batch) : undefined)
  if (globalBatch !== undefined) return withoutAbsent({ globalBatch, microBatch: micro })
  if (micro !== undefined) return ofProcess(micro)
  const single = known(batch)
  if (single === undefined || given.microBatch === 'unknown') return {}
  if (isShared === true) return { globalBatch: single }
  if (processes !== undefined && processes.value > 1) return ofProcess(taken(single, 'the batch of each process'))
  if (processes === undefined) return isAlone ? { globalBatch: taken(single, 'the batch of the whole run') } : {}
  return given.gradientAccumulation === undefined ? { globalBatch: single } : ofProcess(single)
}

function taken({ value }: Sourced<number>, as: string): Sourced<number> {
  return sourced(value, { kind: 'assumed', reason: `taken as ${as}, as most programs mean it` })
}
