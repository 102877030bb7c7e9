import type { Parallelism } from '../workload.ts'
import { type Flags, known, numberFlag } from './flags.ts'

/** Options by which a framework splits one model over GPUs. */
export interface DegreeNames {
  readonly tensor?: readonly string[]
  readonly pipeline?: readonly string[]
  readonly context?: readonly string[]
  readonly expert?: readonly string[]
}

/** Over how many GPUs one model is split, by which axis: 1 where nothing is said; undefined where one is said and not known. */
export function degreesOf(
  flags: Flags,
  names: DegreeNames,
): Pick<Parallelism, 'tensor' | 'pipeline' | 'context' | 'expert'> | undefined {
  const degree = (names: readonly string[] = []): number | undefined => {
    const given = numberFlag(flags, names)
    return given === undefined ? 1 : known(given)?.value
  }
  const tensor = degree(names.tensor)
  const pipeline = degree(names.pipeline)
  const context = degree(names.context)
  const expert = degree(names.expert)
  if (tensor === undefined || pipeline === undefined || context === undefined || expert === undefined) return undefined
  return { tensor, pipeline, context, expert }
}
