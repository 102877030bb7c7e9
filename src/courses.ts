import type { Candidate, Placement } from './candidates.ts'
import type { Hardware } from './communication.ts'
import type { Workload } from './workload.ts'

/** Runs that work one after the other on the same GPUs. */
export interface Course {
  readonly workloads: readonly Workload[]
  readonly hardware: Hardware
}

/**
 * The runs of a job as they go: one course for each role, side by side. Roles that start the same run (master and workers of a
 * PyTorchJob) are one course over all their GPUs. Undefined where a run's GPUs are not known, or are of several types.
 */
export function coursesOf(workloads: readonly Workload[], candidate: Candidate): Course[] | undefined {
  const lanes = new Map<string, { roles: string[]; workloads: Workload[] }>()
  for (const role of new Set(workloads.map(workload => workload.role))) {
    const own = workloads.filter(workload => workload.role === role && workload.purpose !== 'other')
    if (own.length === 0) continue
    const key = own.map(describeRun).join('\n')
    const lane = lanes.get(key)
    if (lane === undefined) lanes.set(key, { roles: [role], workloads: own })
    else lane.roles.push(role)
  }
  const courses: Course[] = []
  for (const lane of lanes.values()) {
    const hardware = hardwareOf(candidate.placements.filter(placement => lane.roles.includes(placement.role)))
    if (hardware === undefined) return undefined
    courses.push({ workloads: lane.workloads, hardware })
  }
  return courses
}

/** What is computed, apart from who computes it. */
function describeRun(workload: Workload): string {
  const { model, modelName, dataset, steps, epochs, samples, tokens, globalBatch, microBatch, sequenceLength } =
    workload
  const values = [modelName, dataset, steps, epochs, samples, tokens, globalBatch, microBatch, sequenceLength]
  return JSON.stringify([workload.purpose, model?.value.name, ...values.map(known => known?.value ?? null)])
}

/** GPUs of some placements as one; undefined where there are none, their types differ, or no table knows the type. */
export function hardwareOf(placements: readonly Placement[]): Hardware | undefined {
  const first = placements[0]
  if (first === undefined || placements.some(placement => placement.gpu.name !== first.gpu.name)) return undefined
  const { machine, gpu } = first
  if (gpu.vendor === 'unknown') return undefined
  const gpuCount = placements.reduce((sum, placement) => sum + placement.gpuCount, 0)
  const machineCount = placements.reduce((sum, placement) => sum + placement.machineCount, 0)
  return {
    gpu,
    gpuCount,
    gpusPerMachine: Math.max(1, Math.min(machine.gpuCount, Math.ceil(gpuCount / Math.max(1, machineCount)))),
    ...(machine.linkBytesPerSecond === undefined ? {} : { linkBytesPerSecond: machine.linkBytesPerSecond }),
    ...(machine.networkBytesPerSecond === undefined ? {} : { networkBytesPerSecond: machine.networkBytesPerSecond }),
  }
}
