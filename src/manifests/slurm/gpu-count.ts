import { type Sourced, sourced } from '../../sourced.ts'
import { countOf, gresOf, nodeRange, type Setting, type Settings, sharesOf } from './settings.ts'

/** Options that ask for GPUs. */
export const gpuOptions = ['gres', 'gpus', 'gpus-per-node', 'gpus-per-task', 'gpus-per-socket', 'tres-per-task']

/** Nodes, tasks and GPUs of one component, as they follow from each other. */
export interface Shape {
  readonly nodes: Sourced<number>
  readonly tasks: number
  readonly tasksPerNode: number
  readonly gpusPerNode: Sourced<number>
  readonly gpuCount: Sourced<number>
  /** Something asks for GPUs, if only for 0 of them. */
  readonly asksForGpus: boolean
  /** `-N 2-4`: the number of nodes may be another. */
  readonly range: { readonly smallest: number; readonly largest: number } | undefined
}

/**
 * GPUs that most machines with several have: decides how many nodes a request for a total takes where nothing else does
 * (`-G 12` is 8 + 4 on nodes of 8).
 */
const usualGpusPerNode = 8

/** Works out how many nodes, tasks and GPUs a component gets (sbatch(1), and what Slurm 22.05 did when asked). */
export function readShape(settings: Settings): Shape {
  const perNode = gpusOf(settings, 'gres') ?? gpusOf(settings, 'gpus-per-node') ?? gpusPerNodeBySockets(settings)
  const inAll = gpusOf(settings, 'gpus') ?? gpusByTasks(settings)
  const perTask = gpusOf(settings, 'gpus-per-task') ?? gpusOf(settings, 'tres-per-task')
  const range = nodeRange(settings)
  const askedTasks = countOf(settings, 'ntasks')
  const tasksOnNode = countOf(settings, 'ntasks-per-node')
  const taskTotal = perTask === undefined || askedTasks === undefined ? undefined : perTask.value * askedTasks
  const total = inAll?.value ?? taskTotal
  const nodes = nodesOf(settings, range, perNode?.value, total, tasksOnNode)
  const tasks = askedTasks ?? tasksOf(settings, nodes.value, tasksOnNode, total, perTask?.value)
  const request = perNode ?? inAll ?? perTask
  const gpus = perNode === undefined ? (inAll?.value ?? (perTask?.value ?? 0) * tasks) : perNode.value * nodes.value
  const formula =
    perNode === undefined ? (inAll === undefined ? 'tasks x GPUs of a task' : undefined) : 'nodes x GPUs of a node'
  const origin = request?.origin ?? { kind: 'assumed', reason: 'nothing asks for GPUs' }
  const largestShare = perNode?.value ?? Math.ceil(gpus / Math.max(1, nodes.value))
  return {
    nodes,
    tasks,
    tasksPerNode: Math.ceil(tasks / Math.max(1, nodes.value)),
    gpusPerNode: sourced(largestShare, origin),
    gpuCount: sourced(gpus, formula === undefined || nodes.value === 1 ? origin : { kind: 'computed', formula }),
    asksForGpus: request !== undefined || settings.has('gres'),
    range:
      range?.most === undefined || range.most === range.least
        ? undefined
        : { smallest: range.least, largest: range.most },
  }
}

/** GPUs that one option asks for; undefined where it asks for none or is not set. */
function gpusOf(settings: Settings, name: string): Sourced<number> | undefined {
  const setting = settings.get(name)
  const gpus = gresOf(settings, name)?.filter(gres => gres.name === 'gpu') ?? []
  if (setting === undefined) return undefined
  // All shares of a job on a node are of one GPU (slurm.schedmd.com/gres.html, "MPS Management" and "Sharding").
  if (gpus.length === 0) return sharesOf(settings, name).length > 0 ? sourced(1, setting.origin) : undefined
  return sourced(
    gpus.reduce((sum, gres) => sum + gres.count, 0),
    setting.origin,
  )
}

function gpusPerNodeBySockets(settings: Settings): Sourced<number> | undefined {
  const perSocket = gpusOf(settings, 'gpus-per-socket')
  const sockets = countOf(settings, 'sockets-per-node')
  return perSocket === undefined || sockets === undefined
    ? undefined
    : sourced(perSocket.value * sockets, perSocket.origin)
}

/** `--ntasks-per-gpu=2 -n 8` asks for 4 GPUs although no option names them. */
function gpusByTasks(settings: Settings): Sourced<number> | undefined {
  const setting: Setting | undefined = settings.get('ntasks-per-gpu') ?? settings.get('ntasks-per-tres')
  const tasks = countOf(settings, 'ntasks')
  if (setting === undefined || tasks === undefined || gpuOptions.some(name => settings.has(name))) return undefined
  return sourced(Math.floor(tasks / Number(setting.text)), setting.origin)
}

function nodesOf(
  settings: Settings,
  range: ReturnType<typeof nodeRange>,
  perNode: number | undefined,
  total: number | undefined,
  tasksOnNode: number | undefined,
): Sourced<number> {
  const setting = settings.get('nodes') ?? settings.get('nodelist')
  const tasks = countOf(settings, 'ntasks')
  if (perNode !== undefined && total !== undefined && perNode > 0) {
    return sourced(Math.ceil(total / perNode), { kind: 'computed', formula: 'GPUs / GPUs of a node' })
  }
  // Of a range as many nodes are taken as are free, so the largest number is what it may cost.
  if (range !== undefined && setting !== undefined) return sourced(range.most ?? range.least, setting.origin)
  if (tasks !== undefined && tasksOnNode !== undefined) {
    return sourced(Math.ceil(tasks / tasksOnNode), { kind: 'computed', formula: 'tasks / tasks of a node' })
  }
  const nodes = perNode === undefined && total !== undefined ? Math.max(1, Math.ceil(total / usualGpusPerNode)) : 1
  const reason = nodes === 1 ? 'no number of nodes is asked for' : `${usualGpusPerNode} GPUs on a node`
  return sourced(nodes, { kind: 'assumed', reason })
}

function tasksOf(
  settings: Settings,
  nodes: number,
  tasksOnNode: number | undefined,
  gpus: number | undefined,
  perTask: number | undefined,
): number {
  const perGpu = countOf(settings, 'ntasks-per-gpu') ?? countOf(settings, 'ntasks-per-tres')
  if (tasksOnNode !== undefined) return nodes * tasksOnNode
  if (perGpu !== undefined && gpus !== undefined) return gpus * perGpu
  if (perTask !== undefined && gpus !== undefined) return Math.floor(gpus / perTask)
  return Math.max(1, nodes)
}
