import type { Candidate } from '../candidates.ts'
import type { Job } from '../job.ts'
import type { Workload } from '../workload.ts'
import { declared } from './declared.ts'
import { limit } from './limit.ts'
import { model } from './model.ts'
import type { PastRun, Runtime, RuntimeModel, RuntimeTables } from './runtime-model.ts'

/** In order of preference: what somebody knows before what is worked out, and the time limit last. */
export const runtimeModels: readonly RuntimeModel[] = [declared, model, limit]

/** How long one task of the job takes on a candidate, by the first way of knowing that has an answer; undefined = nobody knows. */
export function predictRuntime(
  job: Job,
  workloads: readonly Workload[],
  candidate: Candidate,
  past: readonly PastRun[],
  tables: RuntimeTables,
): Runtime | undefined {
  for (const runtimeModel of runtimeModels) {
    const runtime = runtimeModel.predict(job, workloads, candidate, past, tables)
    if (runtime !== undefined) return runtime
  }
  return undefined
}
