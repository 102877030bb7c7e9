import type { Candidate, Placement } from './candidates.ts'
import { gpusInUse, gpusRequested } from './gpus-in-use.ts'
import type { Job } from './job.ts'
import type { Hardware } from './throughput/communication.ts'
import type { Workload } from './workload.ts'

/** Runs that share the same GPUs: one after the other, or side by side where they are started in the background. */
export interface Course {
  readonly gpuCount: number
  readonly runs: readonly CourseRun[]
}

/** A run on the GPUs that it uses, which may be fewer than those of its course. */
export interface CourseRun {
  readonly workload: Workload
  readonly hardware: Hardware
}

/**
 * The runs of a job as they go: one course for each role, side by side. Roles that start the same run (master and workers of a
 * PyTorchJob) are one course over all their GPUs. Undefined where a run's GPUs are not known, or are of several types.
 */
export function coursesOf(job: Job, workloads: readonly Workload[], candidate: Candidate): Course[] | undefined {
  const lanes = new Map<string, { roles: string[]; workloads: Workload[] }>()
  for (const role of new Set(workloads.map(workload => workload.role))) {
    const own = workloads.filter(workload => workload.role === role && isTimed(workload))
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
    const requested = gpusRequested(job, lane.roles)
    courses.push({
      gpuCount: hardware.gpuCount,
      runs: lane.workloads.map(workload => ({ workload, hardware: inUse(hardware, workload, requested) })),
    })
  }
  return courses
}

/** Preparations and conversions take little time beside the runs of a job; a simulation is a run. */
function isTimed({ purpose, device }: Workload): boolean {
  return purpose !== 'other' || device === 'gpu'
}

function inUse(hardware: Hardware, workload: Workload, requested: number): Hardware {
  const gpuCount = gpusInUse(workload, requested, hardware.gpuCount)
  return { ...hardware, gpuCount, gpusPerMachine: Math.min(hardware.gpusPerMachine, gpuCount) }
}

/**
 * Seconds of a whole course from those of its runs, repetitions counted. Runs in the background share the GPUs: together they take as
 * long as their GPU time fills all, and no less than the longest of them.
 */
export function secondsTogether({ gpuCount, runs }: Course, secondsOfRuns: readonly number[]): number {
  let inTurn = 0
  let longest = 0
  let gpuSeconds = 0
  runs.forEach(({ workload, hardware }, index) => {
    const seconds = secondsOfRuns[index] ?? 0
    if (workload.background !== true) inTurn += seconds
    else {
      longest = Math.max(longest, seconds / workload.repetitions)
      gpuSeconds += seconds * hardware.gpuCount
    }
  })
  return inTurn + Math.max(longest, gpuSeconds / gpuCount)
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
