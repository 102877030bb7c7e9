import type { Fault } from '../../errors.ts'
import { ownEntry } from '../../own-entry.ts'
import { countHosts } from './hosts.ts'
import { readMebibytes, readNodes } from './quantities.ts'
import { countOf, gresOf, isTyped, memoryOptions, nodeRange, type Setting, type Settings } from './settings.ts'

/**
 * What sbatch refuses although each option is fine by itself. Where other faults have been found, only what cannot come from
 * an option that is missing because of them.
 */
export function checkTogether(settings: Settings, complete: boolean): readonly Fault[] {
  const faults = [...checkGresLists(settings), ...checkExclusions(settings)]
  if (faults.length > 0 || !complete) return faults
  return [...checkHint(settings), ...checkNodes(settings), ...checkGpuSums(settings)]
}

/** Options that say how many GPUs, in their own words. */
const gpuOptions = ['gpus', 'gpus-per-node', 'gpus-per-task', 'ntasks-per-gpu', 'ntasks-per-tres']

const listOptions = ['gpus', 'gpus-per-node', 'gpus-per-socket', 'gpus-per-task', 'gres']

function checkGresLists(settings: Settings): readonly Fault[] {
  return listOptions.flatMap(name => {
    const setting = settings.get(name)
    if (setting === undefined) return []
    const list = gresOf(settings, name)
    const odd = list?.find(gres => gres.name !== 'gpu' && /^gpus?$|^none$|[^\w.-]/i.test(gres.name))
    if (list !== undefined && odd === undefined) return []
    const expected = name === 'gres' ? 'gpu:<number> or gpu:<type>:<number>' : '<number> or <type>:<number>'
    return [fault(setting, `not understood, expected ${expected}`)]
  })
}

function checkExclusions(settings: Settings): readonly Fault[] {
  return [
    ...checkMemory(settings),
    ...exclude(settings, 'ntasks-per-gpu', ['gpus-per-task', 'gpus-per-socket', 'ntasks-per-node', 'tres-per-task']),
    ...exclude(settings, 'ntasks-per-tres', ['gpus-per-task', 'gpus-per-socket', 'ntasks-per-node', 'tres-per-task']),
    ...(countOf(settings, 'ntasks-per-gpu') === countOf(settings, 'ntasks-per-tres')
      ? []
      : exclude(settings, 'ntasks-per-gpu', ['ntasks-per-tres'])),
    ...exclude(settings, 'bb', ['bbf']),
    ...exclude(settings, 'verbose', ['quiet']),
    ...(isTyped(settings, 'core-spec') === isTyped(settings, 'thread-spec')
      ? exclude(settings, 'core-spec', ['thread-spec'])
      : []),
  ]
}

/** One of the three memory options counts; one that was typed wins over variables, two of a kind are refused. */
function checkMemory(settings: Settings): readonly Fault[] {
  const [first, second] = memoryOptions(settings)
  return first === undefined || second === undefined
    ? []
    : [fault(second, `cannot stand beside ${first.written}: --mem, --mem-per-cpu and --mem-per-gpu exclude each other`)]
}

function exclude(settings: Settings, name: string, others: readonly string[]): readonly Fault[] {
  const setting = settings.get(name)
  if (setting === undefined) return []
  return others.flatMap(other => {
    const found = settings.get(other)
    return found === undefined ? [] : [fault(found, `cannot stand beside ${setting.written}`)]
  })
}

const hintWords = ['compute_bound', 'memory_bound', 'multithread', 'nomultithread']

/** Whether `--hint` counts: options on threads and cores that were typed beat it, and of variables they beat it too. */
export function hintCounts(settings: Settings): boolean {
  const rivals = ['ntasks-per-core', 'threads-per-core', 'extra-node-info']
  if (settings.get('hint') === undefined || rivals.some(name => isTyped(settings, name))) return false
  return isTyped(settings, 'hint') || !rivals.some(name => settings.has(name))
}

function checkHint(settings: Settings): readonly Fault[] {
  const hint = settings.get('hint')
  if (hint === undefined || !hintCounts(settings)) return []
  const odd = (hint.value ?? '').split(/,(?!\d)/).find(word => !hintWords.includes(word.toLowerCase()))
  return odd === undefined ? [] : [fault(hint, `expected ${hintWords.join(', ')}`)]
}

function fault(setting: Setting, message: string): Fault {
  return { place: setting.place, message: `${setting.written}: ${message}` }
}

function checkNodes(settings: Settings): readonly Fault[] {
  const nodes = settings.get('nodes')
  const hosts = settings.get('nodelist')
  const range = readNodes(nodes?.value ?? '')
  const listed = hosts?.text === undefined ? 0 : countHosts(hosts.text)
  if (nodes !== undefined && hosts !== undefined && range !== undefined && range.most > 0) {
    if (listed > range.most) return [fault(nodes, `fewer than the ${listed} nodes of ${hosts.written}`)]
  }
  const distribution = settings.get('distribution')
  if (distribution?.text?.startsWith('arbitrary') && hosts === undefined && !settings.has('nodefile')) {
    return [fault(distribution, 'needs the nodes to be named with --nodelist')]
  }
  const plane = Number(/^plane=(\d+)/.exec(distribution?.text ?? '')?.[1] ?? 0)
  const least = Math.max(range?.least ?? 1, listed)
  const isFixed = range === undefined || range.most === range.least || range.most === 0
  const perNode = isFixed ? countOf(settings, 'ntasks-per-node') : undefined
  const tasks = countOf(settings, 'ntasks') ?? (perNode === undefined ? 1 : perNode * Math.max(1, least))
  if (distribution !== undefined && plane > 0 && Math.floor(tasks / plane) < least && (least - 1) * plane >= tasks) {
    return [fault(distribution, `too few tasks for ${least} nodes`)]
  }
  return []
}

/** What is asked of one GPU type in all ways together; absent = not asked in this way. */
interface Asked {
  readonly type: string | undefined
  perJob: number
  perNode: number
  perSocket: number
  perTask: number
  total: number
}

/** The counts that GPU options are held against; sbatch fills the missing ones in as it goes. */
interface Counts {
  tasks: number | undefined
  least: number | undefined
  most: number | undefined
  tasksPerNode: number | undefined
  tasksPerSocket: number | undefined
  socketsPerNode: number | undefined
  cpusPerTask: number | undefined
  readonly cpusPerGpu: number | undefined
  readonly tasksPerGpu: number | undefined
}

/** GPUs per job, node, socket and task have to fit each other and the numbers of nodes and tasks. */
function checkGpuSums(settings: Settings): readonly Fault[] {
  if (settings.has('clusters') || settings.has('cluster')) return []
  const counts = countsOf(settings)
  if (!listOptions.some(name => settings.has(name)) && counts.tasksPerGpu === undefined) {
    return checkPerGpu(settings, false)
  }
  const direct = askedFor(settings, counts)
  const requested = direct.some(asksForGpus)
  const spread = spreadTasks(settings, direct, requested, counts)
  if ('message' in spread) return [spread]
  const wrong = wrongAmong(spread, settings, counts)
  if (wrong !== undefined) return [wrong]
  return checkPerGpu(settings, requested || counts.tasksPerGpu !== undefined)
}

function asksForGpus({ perJob, perNode, perSocket, perTask }: Asked): boolean {
  return perJob + perNode + perSocket + perTask > 0
}

function countsOf(settings: Settings): Counts {
  const range = nodeRange(settings)
  const sockets = geometryOf(settings, 'sockets-per-node')
  const fixed = range === undefined || range.most === undefined || range.most === range.least
  return {
    tasks: countOf(settings, 'ntasks') ?? (fixed ? impliedTasks(settings, range?.least) : undefined),
    least: range?.least,
    most: range?.most,
    tasksPerNode: countOf(settings, 'ntasks-per-node'),
    tasksPerSocket: countOf(settings, 'ntasks-per-socket'),
    socketsPerNode: sockets,
    cpusPerTask: countOf(settings, 'cpus-per-task'),
    cpusPerGpu: countOf(settings, 'cpus-per-gpu'),
    tasksPerGpu: countOf(settings, 'ntasks-per-tres') ?? countOf(settings, 'ntasks-per-gpu'),
  }
}

export const geometryLevels = ['sockets-per-node', 'cores-per-socket', 'threads-per-core']

/** Hints stand for numbers of sockets, cores and threads, and put them in place of others. */
const hintGeometry: Readonly<Record<string, Readonly<Record<string, number | undefined>>>> = {
  compute_bound: { 'sockets-per-node': undefined, 'cores-per-socket': undefined, 'threads-per-core': 1 },
  memory_bound: { 'cores-per-socket': 1, 'threads-per-core': 1 },
  multithread: { 'threads-per-core': undefined },
  nomultithread: { 'threads-per-core': 1 },
}

/** A number of sockets, cores or threads; -2 is how sbatch prints that there is none. */
function geometryOf(settings: Settings, name: string): number | undefined {
  const hint = hintCounts(settings)
    ? ownEntry(hintGeometry, (settings.get('hint')?.value ?? '').toLowerCase())
    : undefined
  // A hint that was typed takes the numbers back that other options gave.
  if (hint !== undefined && (name in hint || isTyped(settings, 'hint'))) return hint[name]
  const level = geometryLevels.indexOf(name)
  const count = Number(settings.get(name)?.text ?? settings.get('extra-node-info')?.value?.split(':')[level] ?? 0)
  return count > 0 ? count : undefined
}

/** Tasks that follow from tasks on a node, or from sockets, cores and threads, where `--ntasks` does not say. */
function impliedTasks(settings: Settings, nodes: number | undefined): number | undefined {
  const perNode = countOf(settings, 'ntasks-per-node')
  if (perNode !== undefined) return perNode * (nodes ?? 1)
  const counts = geometryLevels.map(name => geometryOf(settings, name)).filter(count => count !== undefined)
  if (counts.length === 0 || (nodes === undefined && !settings.has('extra-node-info'))) return undefined
  return counts.reduce((product, count) => product * count, Math.max(nodes ?? 1, 1))
}

/** Requests by type, in the order in which sbatch meets them; of one type in one list the last counts, and `--gres` beats `--gpus-per-node`. */
function askedFor(settings: Settings, counts: Counts): readonly Asked[] {
  const byType = new Map<string | undefined, Asked>()
  const entry = (type: string | undefined): Asked => {
    const known = byType.get(type)
    const made = known ?? { type, perJob: 0, perNode: 0, perSocket: 0, perTask: 0, total: 0 }
    byType.set(type, made)
    return made
  }
  const hasTaskRequest = settings.has('gpus-per-task') || counts.tasksPerGpu !== undefined
  if (hasTaskRequest && counts.tasks === undefined && counts.least !== undefined && counts.least === counts.most) {
    if (counts.tasksPerGpu !== undefined) counts.tasks = counts.least * counts.tasksPerGpu
    else if (counts.tasksPerNode !== undefined) counts.tasks = counts.least * counts.tasksPerNode
    else if (counts.cpusPerTask === undefined) counts.tasks = counts.least
  }
  if (counts.cpusPerGpu !== undefined) entry(undefined)
  const add = (names: readonly string[], put: (asked: Asked, count: number) => number): void => {
    for (const gres of names.flatMap(name => gresOf(settings, name) ?? [])) {
      if (gres.name !== 'gpu') continue
      const asked = entry(gres.type)
      asked.total = Math.max(asked.total, put(asked, gres.count))
    }
  }
  add(['gpus'], (asked, count) => {
    asked.perJob = count
    return count
  })
  add(['gpus-per-node', 'gres'], (asked, count) => {
    asked.perNode = count
    return count * (counts.least ?? 1)
  })
  add(['gpus-per-socket'], (asked, count) => {
    asked.perSocket = count
    return count
  })
  add(['gpus-per-task'], (asked, count) => {
    asked.perTask = count
    return count * (counts.tasks ?? 1)
  })
  if (memoryPerGpu(settings) > 0) entry(undefined)
  return [...byType.values()]
}

/** `--ntasks-per-gpu`: GPUs say how many tasks there are, or tasks how many GPUs. */
function spreadTasks(
  settings: Settings,
  asked: readonly Asked[],
  requested: boolean,
  counts: Counts,
): readonly Asked[] | Fault {
  const perGpu = counts.tasksPerGpu
  const setting = settings.get('ntasks-per-tres') ?? settings.get('ntasks-per-gpu')
  if (perGpu === undefined || setting === undefined) return asked
  if (requested) {
    counts.tasks = asked.reduce((sum, each) => sum + each.total, 0) * perGpu
    return counts.tasks === 0 ? fault(setting, 'no GPU is left of what is asked for') : asked
  }
  if (counts.tasks === undefined) return fault(setting, 'needs a number of GPUs or of tasks beside it')
  const gpus = Math.floor(counts.tasks / perGpu)
  const untyped = { type: undefined, perNode: 0, perSocket: 0, perTask: 0, perJob: gpus, total: gpus }
  return gpus === 0 ? asked : [...asked.filter(each => each.type !== undefined), untyped]
}

/**
 * What does not fit, type by type. Where a request without a type and one with a type have both passed, sbatch then only looks
 * whether the two can stand together, and forgets what it found wrong with a third.
 */
function wrongAmong(asked: readonly Asked[], settings: Settings, counts: Counts): Fault | undefined {
  const passed: Asked[] = []
  const isMixed = (): boolean =>
    passed.some(each => each.type === undefined) && passed.some(each => each.type !== undefined)
  for (const each of asked) {
    const wrong = wrongWith(each, settings, counts)
    if (wrong !== undefined && !isMixed()) return wrong
    if (wrong !== undefined) break
    passed.push(each)
  }
  return isMixed() && passed.some(each => each.type === undefined && asksForGpus(each))
    ? mixedTypes(settings)
    : undefined
}

/** The first thing that does not fit, in the order in which sbatch looks. */
function wrongWith(asked: Asked, settings: Settings, counts: Counts): Fault | undefined {
  const at = (name: string, message: string): Fault | undefined => {
    const setting = [name, 'gres', ...gpuOptions].flatMap(each => settings.get(each) ?? [])[0]
    return setting === undefined ? undefined : fault(setting, message)
  }
  const { perJob, perNode, perSocket, perTask } = asked
  if (perJob > 0 && Math.max(perNode, perTask, perSocket) > perJob) {
    return at('gpus', 'fewer GPUs in all than for one node, task or socket')
  }
  if (perNode > 0 && Math.max(perTask, perSocket) > perNode) {
    return at('gpus-per-node', 'fewer GPUs on a node than for one task or socket')
  }
  if (perSocket > 0 && counts.socketsPerNode === undefined) return at('gpus-per-socket', 'needs --sockets-per-node')
  if (counts.cpusPerGpu !== undefined && asked.type === undefined && counts.cpusPerTask !== undefined) {
    return at('cpus-per-gpu', 'cannot stand beside --cpus-per-task')
  }
  if (perJob > 0 && perNode > 0) {
    const nodes = perJob / perNode
    if (!Number.isInteger(nodes)) return at('gpus', `no multiple of the ${perNode} GPUs of a node`)
    if (nodes < (counts.least ?? nodes) || nodes > (counts.most ?? nodes)) {
      return at('gpus', `means ${nodes} nodes of ${perNode} GPUs, which --nodes does not allow`)
    }
    counts.least = counts.most = nodes
  }
  if (perNode > 0 && perSocket > 0) {
    if (perNode % perSocket !== 0) return at('gpus-per-node', `no multiple of the ${perSocket} GPUs of a socket`)
    if (counts.socketsPerNode !== perNode / perSocket) {
      return at('gpus-per-socket', 'does not fit --sockets-per-node and the GPUs of a node')
    }
  }
  if (counts.tasksPerGpu !== undefined && counts.tasks !== undefined && counts.tasks % counts.tasksPerGpu !== 0) {
    return at('ntasks', 'no multiple of --ntasks-per-gpu')
  }
  return (
    wrongPerTask(asked, counts, at) ??
    (perJob > 0 && counts.least !== undefined && Math.max(perJob, asked.perJob) < counts.least
      ? at('gpus', `fewer GPUs than the ${counts.least} nodes`)
      : undefined)
  )
}

function wrongPerTask(
  asked: Asked,
  counts: Counts,
  at: (name: string, message: string) => Fault | undefined,
): Fault | undefined {
  const { perJob, perNode, perSocket, perTask } = asked
  if (perTask === 0) return undefined
  if (perJob > 0) {
    if (perJob % perTask !== 0) return at('gpus', `no multiple of the ${perTask} GPUs of a task`)
    const tasks = perJob / perTask
    counts.tasks ??= tasks
    if (counts.tasks !== tasks) return at('gpus', `means ${tasks} tasks of ${perTask} GPUs, not ${counts.tasks}`)
  } else if (counts.tasks === undefined) {
    return at('gpus-per-task', 'needs --ntasks or --gpus beside it')
  } else if (counts.least !== undefined && counts.tasks * perTask < counts.least) {
    return at('gpus-per-task', `means fewer GPUs than the ${counts.least} nodes`)
  }
  if (perNode > 0) {
    if (perNode % perTask !== 0) return at('gpus-per-node', `no multiple of the ${perTask} GPUs of a task`)
    const tasksPerNode = perNode / perTask
    counts.tasksPerNode ??= tasksPerNode
    if (counts.tasksPerNode !== tasksPerNode) {
      return at('ntasks-per-node', `the GPUs of a node and of a task mean ${tasksPerNode} tasks on a node`)
    }
  }
  if (perSocket > 0) {
    if (perSocket % perTask !== 0) return at('gpus-per-socket', `no multiple of the ${perTask} GPUs of a task`)
    const tasksPerSocket = perSocket / perTask
    counts.tasksPerSocket ??= tasksPerSocket
    if (counts.tasksPerSocket !== tasksPerSocket) {
      return at('ntasks-per-socket', `the GPUs of a socket and of a task mean ${tasksPerSocket} tasks on a socket`)
    }
  }
  if (counts.cpusPerGpu !== undefined && asked.type === undefined) {
    const cpus = counts.cpusPerGpu * perTask
    counts.cpusPerTask ??= cpus
    if (counts.cpusPerTask !== cpus) return at('cpus-per-gpu', 'does not fit --cpus-per-task')
  }
  return undefined
}

function mixedTypes(settings: Settings): Fault {
  const set = listOptions.flatMap(name => settings.get(name) ?? [])
  const [first, ...rest] = set
  const last = rest.at(-1) ?? first
  const message = 'GPUs are asked for both with and without a type'
  if (last === undefined) throw new Error('a mixture of types without an option that names one')
  return fault(last, first === last ? message : `${message} (${first?.written})`)
}

/** MiB for each GPU, where that is the memory option that counts. */
function memoryPerGpu(settings: Settings): number {
  const memory = settings.get('mem-per-gpu')
  return memory !== undefined && memoryOptions(settings).includes(memory) ? (readMebibytes(memory.value ?? '') ?? 0) : 0
}

function checkPerGpu(settings: Settings, requested: boolean): readonly Fault[] {
  const memory = settings.get('mem-per-gpu')
  const cpus = settings.get('cpus-per-gpu')
  if (cpus !== undefined && settings.has('cpus-per-task')) return [fault(cpus, 'cannot stand beside --cpus-per-task')]
  const counts =
    memoryPerGpu(settings) > 0 || (cpus !== undefined && memoryOptions(settings).some(each => each === memory))
  return memory !== undefined && counts && !requested ? [fault(memory, 'no GPU is asked for')] : []
}
