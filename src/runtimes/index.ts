import type { Candidate } from '../candidates.ts'
import type { Job } from '../job.ts'
import type { Workload } from '../workload.ts'
import { declared } from './declared.ts'
import { history } from './history.ts'
import { historyOfLogs } from './history-of-logs.ts'
import { limit } from './limit.ts'
import { model } from './model.ts'
import type { Past, RangedRuntime, Runtime, RuntimeModel, RuntimeTables } from './runtime-model.ts'
import { toldTwice } from './same-runs.ts'
import { weighTogether } from './weighing.ts'

/** In order of preference: what somebody vouches for, then what is estimated, and the time limit last. */
export const runtimeModels: readonly RuntimeModel[] = [declared, history, historyOfLogs, model, limit]

/** Seconds, thirty thousand years: of a manifest that asks for more a number is a mistake, and nothing is known. */
const beyondReason = 1e12

/**
 * How long one task of the job takes on a candidate: by what somebody vouches for, otherwise by all estimates weighed together, otherwise
 * by its bound; undefined = nobody knows. One estimate alone is corrected by what earlier quotes were wrong by.
 */
export function predictRuntime(
  job: Job,
  workloads: readonly Workload[],
  candidate: Candidate,
  past: Past,
  tables: RuntimeTables,
): Runtime | undefined {
  const estimates: RangedRuntime[] = []
  const corrected = (estimate: RangedRuntime) =>
    past.corrections?.correct(estimate, job, workloads, candidate) ?? estimate
  for (const runtimeModel of runtimeModels) {
    if (runtimeModel.basis === 'limit' && estimates.length > 0) break
    const runtime = runtimeModel.predict(job, workloads, candidate, past, tables)
    if (runtime?.basis === 'limit') return runtime
    if (runtime?.basis === 'declared') return corrected(runtime)
    if (runtime === undefined || runtime.seconds.p90 >= beyondReason) continue
    estimates.push(runtime)
  }
  const [only, ...others] = estimates
  // What is weighed against earlier runs goes by them already.
  return only !== undefined && others.length === 0 ? corrected(only) : weighTogether(estimates, toldTwice(estimates))
}
