import type { Job } from '../job.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import type { ReferredFiles } from './workload-reader.ts'

export function readWorkloads(
  _job: Job,
  _files: ReferredFiles,
): { workloads: readonly Workload[]; warnings: readonly Warning[] } {
  return { workloads: [], warnings: [] }
}
