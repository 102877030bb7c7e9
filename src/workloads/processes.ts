import type { CommandLine, Launch } from '../command-lines.ts'
import { describePlace } from '../errors.ts'
import type { Role } from '../job.ts'
import { baseName } from '../launchers.ts'
import { type Sourced, sourced } from '../sourced.ts'
import { countOf } from '../units.ts'
import type { Warning } from '../warning.ts'

/** Roles that start one distributed run together: a PyTorchJob's master and workers. */
export interface Peers {
  readonly machines: number
  readonly gpuCount: number
  readonly gpusPerMachine: number
}

/** The machines of roles taken together. */
export function peersOf(roles: readonly Role[]): Peers {
  const sum = (count: (role: Role) => number) => roles.reduce((total, role) => total + count(role), 0)
  return {
    machines: sum(role => role.replicas.value),
    gpuCount: sum(role => role.gpuCount.value),
    gpusPerMachine: Math.max(0, ...roles.map(role => role.gpusPerReplica.value)),
  }
}

/** Launchers that start one process for each GPU they are to use. */
const ONE_PROCESS_A_GPU = ['torchrun', 'accelerate', 'deepspeed', 'horovodrun', 'composer', 'paddle', 'fleetrun']
/** Launchers that are told of other machines by variables or a list of hosts. */
const TOLD_OF_MACHINES = ['composer', 'paddle', 'fleetrun', 'colossalai']
/** Launchers that take every GPU of the machine where they are told no number. */
const TAKES_ALL_GPUS = ['composer', 'paddle', 'fleetrun']

/** The launch that says how many processes run: the innermost that counts. */
export function countingLaunch(commandLine: CommandLine): Launch | undefined {
  return commandLine.launches.findLast(launch => launch.launcher !== 'python')
}

/** `--hostfile`, `--nproc_per_node=gpu`: an option as the launcher was given it; undefined where it was not. */
export function launchOption(launch: Launch, names: readonly string[]): string | undefined {
  for (const [index, word] of launch.options.entries()) {
    const match = /^--?([\w-]+?)(?:=(.*))?$/s.exec(word.written)
    if (match?.[1] === undefined || !names.includes(match[1].replaceAll('_', '-'))) continue
    return match[2] ?? launch.options[index + 1]?.written ?? ''
  }
  return undefined
}

/**
 * Processes that train together, as the launcher says or as it does when told nothing (torchrun: one; accelerate and
 * deepspeed: one for each GPU). Undefined where that hangs on what is not known.
 */
export function countProcesses(commandLine: CommandLine, peers: Peers): Sourced<number> | undefined {
  const launch = countingLaunch(commandLine)
  if (launch === undefined) {
    const usesOneGpu = peers.gpuCount === 1 || visibleGpus(commandLine) === 1
    return usesOneGpu ? sourced(1, { kind: 'computed', formula: 'one GPU, one process' }) : undefined
  }
  const at = describePlace(commandLine.place)
  const counted = (count: number, formula: string) =>
    sourced(count, { kind: 'computed', formula: `${formula} (${launch.launcher}, ${at})` })
  const { nodes, processesPerNode, processes } = launch
  // One task on a node with several GPUs: the program may use one of them or, by threads and children of its own, all.
  const tasks = processes ?? (processesPerNode ?? Number.NaN) * (nodes ?? peers.machines)
  if (launch.launcher === 'srun' && tasks <= peers.machines && peers.gpusPerMachine > 1) {
    return tasks === 1 && stepGpus(launch) === 1 ? counted(1, 'one GPU of the step') : undefined
  }
  if (processes !== undefined) return counted(processes, `${processes} processes`)
  const included = launch.launcher === 'deepspeed' ? includedGpus(launch) : undefined
  if (included !== undefined) return counted(included, `${included} GPUs included`)
  const gpusOnNode = gpusOnMachine(commandLine, peers)
  const perNode = processesPerNode ?? listedGpus(launch) ?? (takesAllGpus(launch) ? gpusOnNode : undefined)
  const machines = nodes ?? machinesWithoutWord(launch, peers)
  if (perNode === undefined || perNode === 0 || machines === undefined) return undefined
  return counted(machines * perNode, `${machines} nodes x ${perNode} processes`)
}

/** GPUs that a step on one node is narrowed to: `srun --gres=gpu:1`, `--gpus-per-task=1`. */
function stepGpus(launch: Launch): number | undefined {
  const written = launchOption(launch, ['gres', 'gpus', 'G', 'gpus-per-node', 'gpus-per-task'])
  const count = /^(?:gpu:)?(?:[a-z][\w.-]*:)?(\d+)$/i.exec(written ?? '')?.[1]
  return count === undefined ? undefined : Number(count)
}

/** GPUs of one machine that a program can see. */
export function gpusOnMachine(commandLine: CommandLine, peers: Peers): number {
  return Math.min(peers.gpusPerMachine, visibleGpus(commandLine) ?? peers.gpusPerMachine)
}

/** Processes of a command that itself launches one for each GPU it sees; undefined where several machines have to agree. */
export function processesOfAllGpus(commandLine: CommandLine, peers: Peers): Sourced<number> | undefined {
  const gpus = gpusOnMachine(commandLine, peers)
  if (peers.machines !== 1 || gpus === 0) return undefined
  return sourced(gpus, {
    kind: 'computed',
    formula: `one process for each of ${gpus} GPUs (${baseName(commandLine.program)})`,
  })
}

/** GPUs that `CUDA_VISIBLE_DEVICES=0,1` leaves visible; undefined where it is not set. */
function visibleGpus({ environment }: CommandLine): number | undefined {
  const devices = environment['CUDA_VISIBLE_DEVICES']
  return devices !== undefined && deviceList.test(devices) ? devices.split(',').length : undefined
}

const deviceList = /^\d+(,\d+)*$/

/** GPUs of Paddle's `--gpus 0,1,2,3`. */
function listedGpus(launch: Launch): number | undefined {
  const isPaddle = /^(paddle|fleetrun)$/.test(launch.launcher)
  const listed = isPaddle ? launchOption(launch, ['gpus', 'devices']) : undefined
  return listed !== undefined && /^\d+(,\d+)*$/.test(listed) ? listed.split(',').length : undefined
}

/** GPUs of `--include localhost:0,1@host2:0`; undefined where it is not given or names hosts without their GPUs. */
function includedGpus(launch: Launch): number | undefined {
  const hosts = launchOption(launch, ['include'])?.split('@') ?? []
  const counts = hosts.map(host => /^[\w.-]+:(\d+(?:,\d+)*)$/.exec(host)?.[1]?.split(',').length)
  return counts.length === 0
    ? undefined
    : counts.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0)
}

function takesAllGpus(launch: Launch): boolean {
  if (launch.launcher === 'torchrun')
    return /^(gpu|auto)$/.test(launchOption(launch, ['nproc-per-node', 'nproc']) ?? '')
  if (launch.launcher === 'accelerate') {
    return launchOption(launch, ['num-processes']) === undefined && launchOption(launch, ['config-file']) === undefined
  }
  if (TAKES_ALL_GPUS.includes(launch.launcher)) return true
  return launch.launcher === 'deepspeed' && launchOption(launch, ['num-gpus', 'include']) === undefined
}

function machinesWithoutWord(launch: Launch, peers: Peers): number | undefined {
  if (launch.launcher === 'deepspeed') return launchOption(launch, ['hostfile']) === undefined ? 1 : peers.machines
  if (launch.launcher === 'accelerate') return launchOption(launch, ['num-machines']) === undefined ? 1 : undefined
  if (TOLD_OF_MACHINES.includes(launch.launcher)) return peers.machines === 1 ? 1 : undefined
  // An elastic range or a variable: the machines that were asked for are the ones it gets.
  return launch.launcher === 'torchrun' ? peers.machines : undefined
}

/** Where the launcher and the request disagree: fewer processes than GPUs, other machines than were asked for. */
export function compareWithRequest(
  commandLine: CommandLine,
  processes: number | undefined,
  peers: Peers,
  narrowed: boolean,
): Warning[] {
  const launch = countingLaunch(commandLine)
  if (launch === undefined || peers.gpuCount === 0 || narrowed) return []
  const { place } = commandLine
  const warnings: Warning[] = []
  const { launcher, nodes, processesPerNode } = launch
  if (!ONE_PROCESS_A_GPU.includes(launcher)) return []
  if (nodes !== undefined && nodes > peers.machines) {
    warnings.push({
      code: 'conflict',
      text: `${launcher} is told ${nodes} nodes, ${peers.machines} are requested: it would wait for the others`,
      place,
    })
  }
  if (processesPerNode !== undefined && processesPerNode > peers.gpusPerMachine) {
    warnings.push({
      code: 'conflict',
      text: `${launcher} starts ${processesPerNode} processes on a node that has ${peers.gpusPerMachine} GPUs`,
      place,
    })
  }
  const [outer] = commandLine.launches
  const started = outer === launch || outer?.launcher !== 'srun' ? 1 : (outer.processes ?? 1)
  if (warnings.length === 0 && started > peers.machines && started * (processesPerNode ?? 1) > peers.gpuCount) {
    const text = `srun starts ${started} times ${launcher}, on ${countOf(peers.machines, 'node')}, and each of them ${processesPerNode} processes: there are ${peers.gpuCount} GPUs`
    warnings.push({ code: 'conflict', text, place })
  }
  // A launcher for one node that srun starts on each node is a run of its own there, and leaves no GPU idle.
  const copies = nodes === 1 ? started : 1
  if (warnings.length === 0 && processes !== undefined && processes * copies < peers.gpuCount) {
    const idle = peers.gpuCount - processes * copies
    warnings.push({
      code: 'idle-gpus',
      text: `${peers.gpuCount} GPUs are requested, ${launcher} starts ${processes} ${processes === 1 ? 'process' : 'processes'}: ${idle} ${idle === 1 ? 'GPU has' : 'GPUs have'} nothing to do`,
      place,
      idleGpus: idle,
    })
  }
  return warnings
}

/**
 * GPUs that no program can see: all of them run on one machine without a launcher, and `CUDA_VISIBLE_DEVICES` shows each only some.
 */
export function hiddenGpus(commandLines: readonly CommandLine[], peers: Peers): Warning[] {
  const [first] = commandLines
  const seen = commandLines.map(({ environment }) => environment['CUDA_VISIBLE_DEVICES'] ?? '')
  const isClear = commandLines.every(line => line.repetitions === 1 && countingLaunch(line) === undefined)
  if (first === undefined || !isClear || peers.machines !== 1 || !seen.every(list => deviceList.test(list))) return []
  const idle = peers.gpuCount - new Set(seen.flatMap(list => list.split(','))).size
  if (idle <= 0) return []
  const text = `${peers.gpuCount} GPUs are requested, CUDA_VISIBLE_DEVICES=${seen[0]} hides ${idle} of them`
  return [{ code: 'idle-gpus', text, place: first.place, idleGpus: idle }]
}
