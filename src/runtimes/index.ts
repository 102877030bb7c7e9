import type { Candidate } from '../candidates.ts'
import type { Job } from '../job.ts'
import type { Workload } from '../workload.ts'
import { declared } from './declared.ts'
import { history } from './history.ts'
import { historyOfLogs } from './history-of-logs.ts'
import { limit } from './limit.ts'
import { model } from './model.ts'
import type { Past, RangedRuntime, Runtime, RuntimeModel, RuntimeTables } from './runtime-model.ts'
import { weighTogether } from './weighing.ts'

/** In order of preference: what somebody vouches for, then what is estimated, and the time limit last. */
export const runtimeModels: readonly RuntimeModel[] = [declared, history, historyOfLogs, model, limit]

/**
 * How long one task of the job takes on a candidate: by what somebody vouches for, otherwise by all estimates weighed together, otherwise
 * by its bound; undefined = nobody knows.
 */
export function predictRuntime(
  job: Job,
  workloads: readonly Workload[],
  candidate: Candidate,
  past: Past,
  tables: RuntimeTables,
): Runtime | undefined {
  const estimates: RangedRuntime[] = []
  for (const runtimeModel of runtimeModels) {
    if (runtimeModel.basis === 'limit' && estimates.length > 0) break
    const runtime = runtimeModel.predict(job, workloads, candidate, past, tables)
    if (runtime?.basis === 'limit' || runtime?.basis === 'declared') return runtime
    if (runtime !== undefined) estimates.push(runtime)
  }
  return weighTogether(estimates)
}
