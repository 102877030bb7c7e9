import type { Job } from './job.ts'
import type { Workload } from './workload.ts'

/**
 * GPUs that a run works on: with fewer processes than GPUs were requested the others idle. With as many or more, or where nobody says,
 * it is taken to use all that it gets.
 */
export function gpusInUse({ processes }: Workload, requested: number, given: number): number {
  return processes === undefined || processes.value >= requested ? given : Math.min(processes.value, given)
}

/** GPUs that some roles of a job ask for. */
export function gpusRequested(job: Job, roles: readonly string[]): number {
  return job.roles.reduce((sum, { name, gpuCount }) => sum + (roles.includes(name) ? gpuCount.value : 0), 0)
}
