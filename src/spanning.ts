import type { CommandLine, Launch } from './command-lines.ts'
import type { Place } from './errors.ts'
import type { Role } from './job.ts'
import type { Workload } from './workload.ts'
import { countingLaunch, launchOption } from './workloads/processes.ts'

/**
 * Whether a role's runs can be laid over another number of nodes than is written: every launcher that starts one of them takes the
 * nodes it is given. False where a launcher stays on one node, and where that is not known.
 */
export function mayBeRelaid(role: Role, workloads: readonly Workload[]): boolean {
  const placeOf = ({ file, line }: Place) => `${file}\0${line}`
  const places = new Set(workloads.flatMap(workload => (workload.role === role.name ? [placeOf(workload.place)] : [])))
  const runs = role.commandLines.filter(({ place }) => places.has(placeOf(place)))
  const launched = role.commandLines.filter(line => countingLaunch(line) !== undefined)
  const relevant = runs.length > 0 ? runs : launched
  return relevant.length > 0 && relevant.every(line => spansNodes(line, role))
}

/** Launchers that start their processes on all nodes of an allocation by themselves. */
const allocationLaunchers = [
  'srun',
  'mpirun',
  'mpiexec',
  'orterun',
  'prterun',
  'ibrun',
  'aprun',
  'mpirun_rsh',
  'horovodrun',
]

function spansNodes(line: CommandLine, role: Role): boolean {
  const launch = countingLaunch(line)
  if (launch === undefined) return false
  if (allocationLaunchers.includes(launch.launcher)) return startsOneForEachGpu(launch, role)
  if (launch.launcher === 'deepspeed') return isSeveral(launch) || says(launch, ['hostfile', 'H'])
  if (says(launch, ['standalone'])) return false
  // The others start processes on their own node: something starts them on each, and they are told where to meet.
  const isOnEachNode = line.launches.some(({ launcher }) => allocationLaunchers.includes(launcher))
  return isSeveral(launch) || (isOnEachNode && meets(launch))
}

/** One process that drives several GPUs itself cannot reach those of another node. */
function startsOneForEachGpu(launch: Launch, role: Role): boolean {
  const { nodes, processesPerNode, processes } = launch
  const started =
    processes ?? (processesPerNode === undefined ? undefined : processesPerNode * (nodes ?? role.replicas.value))
  const staysOnOne = nodes === 1 && says(launch, ['N', 'nodes'])
  return !staysOnOne && started !== undefined && started >= role.gpuCount.value
}

function isSeveral({ nodes }: Launch): boolean {
  return nodes !== undefined && nodes > 1
}

/** An address where processes of several nodes find each other; one of this very machine does not do. */
function meets(launch: Launch): boolean {
  const address = launchOption(launch, ['rdzv-endpoint', 'master-addr', 'main-process-ip'])
  return address !== undefined && !/^(?:localhost|127\.)/.test(address)
}

function says(launch: Launch, names: readonly string[]): boolean {
  return launchOption(launch, names) !== undefined
}
