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

/** Most GPUs that a job holds at one time. */
export function gpusAtOnce({ roles, turns }: Pick<Job, 'roles' | 'turns'>): number {
  const gpusOf = (name: string) => roles.find(role => role.name === name)?.gpuCount.value ?? 0
  if (turns === undefined) return roles.reduce((sum, role) => sum + role.gpuCount.value * role.concurrentTasks, 0)
  return Math.max(0, ...turns.together.map(set => set.reduce((sum, { role, tasks }) => sum + gpusOf(role) * tasks, 0)))
}
