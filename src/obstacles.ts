import type { Pool } from './config.ts'
import { gpusInUse, gpusRequested } from './gpus-in-use.ts'
import type { Job } from './job.ts'
import { fitMemory, type MemoryFit } from './memory.ts'
import type { Placement, Seat } from './placements.ts'
import { formatGib, formatGibFinely } from './units.ts'
import type { Workload } from './workload.ts'

const verdicts: readonly MemoryFit['verdict'][] = ['does not fit', 'unknown', 'tight', 'fits']

/** Of all runs on all placements the fit that is worst; unknown where a run, a GPU or any run at all is not known. */
export function worstFit(job: Job, placements: readonly Placement[], workloads: readonly Workload[]): MemoryFit {
  const fits = placements.flatMap(({ role, gpu, machine }): readonly MemoryFit[] => {
    if (gpu.vendor === 'unknown') return [{ verdict: 'unknown', items: [] }]
    return workloads
      .filter(workload => workload.role === role)
      .map(workload => {
        const roles = rolesOfRun(workload, job, workloads)
        const given = gpusOf(placements, roles)
        const gpuCount = gpusInUse(workload, gpusRequested(job, roles), given)
        return fitMemory(workload, gpu, gpuCount, Math.min(gpuCount, machine.gpuCount))
      })
  })
  const ranked = fits.toSorted((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict))
  return ranked[0] ?? { verdict: 'unknown', items: [] }
}

/** Memory as an obstacle, with what is certainly needed and what there is. */
export function memoryObstacles({ verdict, leastBytes, haveBytes }: MemoryFit): readonly string[] {
  if (verdict !== 'does not fit' || leastBytes === undefined || haveBytes === undefined) return []
  const isClose = formatGib(leastBytes) === formatGib(haveBytes)
  const format = isClose ? formatGibFinely : formatGib
  return [`needs ${format(leastBytes)} per GPU, has ${format(haveBytes)}`]
}

/** Number formats that a job calculates in and a GPU does not have: BF16 and FP8, since TF32 falls back to FP32 by itself. */
export function precisionObstacles(
  placements: readonly Placement[],
  workloads: readonly Workload[],
): readonly string[] {
  const lacking = workloads.flatMap(({ role, precision: { value: precision } = {} }) => {
    if (precision !== 'bf16' && precision !== 'fp8') return []
    return placements
      .filter(placement => placement.role === role)
      .flatMap(({ gpu }) => (gpu.vendor === 'unknown' || gpu.flopsPerSecond[precision] !== undefined ? [] : [gpu.name]))
      .map(name => `needs ${precision.toUpperCase()}, ${name} has none`)
  })
  return [...new Set(lacking)]
}

/** Pools, one for each placement, that have too few nodes, or nodes too small for what one node or pod asks for. */
export function poolObstacles(
  pools: readonly Pool[],
  placements: readonly Placement[],
  seats: readonly Seat[],
): readonly string[] {
  return [...new Set(pools)].flatMap(pool => {
    const inPool = placements.filter((_, index) => pools[index] === pool)
    const nodeCount = inPool.reduce((sum, placement) => sum + placement.machineCount, 0)
    // GPUs that are free may stand on any number of nodes; a node or a pod can't be cut in two.
    const whole = seats.filter(({ role, unit }) => unit !== 'gpu' && inPool.some(placement => placement.role === role))
    const largest = whole.toSorted((a, b) => b.perReplica - a.perReplica)[0]
    return [
      ...(pool.nodes !== undefined && nodeCount > pool.nodes
        ? [`needs ${nodeCount} nodes, ${pool.name} has ${pool.nodes}`]
        : []),
      ...(largest !== undefined && largest.perReplica > pool.gpusPerNode
        ? [`needs ${largest.perReplica} GPUs in one ${largest.unit}, a node of ${pool.name} has ${pool.gpusPerNode}`]
        : []),
    ]
  })
}

function gpusOf(placements: readonly Placement[], roles: readonly string[]): number {
  return placements.reduce((sum, { role, gpuCount }) => sum + (roles.includes(role) ? gpuCount : 0), 0)
}

/** A Kubernetes job spreads one run over its roles (master and workers); the parts of a Slurm job run each their own. */
function rolesOfRun(workload: Workload, job: Job, workloads: readonly Workload[]): readonly string[] {
  const isSameRun = (other: Workload) =>
    other === workload ||
    (job.scheduler === 'kubernetes' &&
      other.purpose === workload.purpose &&
      other.modelName?.value === workload.modelName?.value)
  return workloads.filter(isSameRun).map(each => each.role)
}
