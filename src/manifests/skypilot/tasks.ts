import { unknownText } from '../../bash/text.ts'
import { type CommandLine, findCommandLines } from '../../command-lines.ts'
import { type DeclarationEntry, declarationIn, readDeclarations } from '../../declarations.ts'
import { type DocumentPath, wrongValue, type YamlDocument } from '../../document.ts'
import type { Fault } from '../../errors.ts'
import type { Job, Role } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import { type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import { type Accelerator, isOtherAccelerator, readAccelerators } from './accelerators.ts'
import { alternativesOf, pinOf } from './placement.ts'
import type { Task } from './schema.ts'

/** The job that a task describes, or all that is wrong with it. */
export function readTask(
  task: Task,
  document: YamlDocument,
  manifest: Manifest,
  isPipeline: boolean,
): { readonly job: Job } | { readonly faults: readonly Fault[] } {
  const faults: Fault[] = []
  const choices = alternativesOf(task).flatMap(({ requirements, path }) => {
    const key = requirements.accelerators === undefined ? 'gpus' : 'accelerators'
    if (requirements[key] === undefined) return []
    const accelerators = readAccelerators(requirements[key])
    if (accelerators === undefined) {
      faults.push(wrongValue(document, [...path, key], 'a name and a number, such as A100:8, is expected'))
    }
    return (accelerators ?? []).map(accelerator => ({ ...accelerator, path: [...path, key] }))
  })
  const declared = readDeclarations(declarationLines(manifest))
  faults.push(...declared.faults)
  if (faults.length > 0) return { faults }
  const size = sizeOf(task, document)
  const commands = commandsOf(task, document, choices[0], size.nodes.value)
  const endless = task.service !== undefined || task.pool !== undefined || task.run === undefined
  return {
    job: {
      name: task.name ?? manifest.name.replace(/^.*\//, '').replace(/\.ya?ml$/, ''),
      scheduler: 'skypilot',
      kind: kindOf(task, isPipeline),
      place: document.placeOf([]),
      roles: [roleOf(task, document, choices, size, commands.commandLines)],
      endless,
      destination: {},
      declarations: declared.declarations,
      warnings: [...commands.warnings, ...warningsOf(task, document, choices, size, endless)],
    },
  }
}

function kindOf(task: Task, isPipeline: boolean): string {
  if (task.service !== undefined) return 'service'
  if (task.pool !== undefined) return 'pool'
  return isPipeline ? 'task of a pipeline' : 'task'
}

interface Choice extends Accelerator {
  readonly path: DocumentPath
}

/** Machines of a task: nodes of each copy, and copies of a service or pool. */
interface Size {
  readonly nodes: Sourced<number>
  readonly replicas: Sourced<number>
  readonly range?: { readonly smallest: number; readonly largest: number }
}

function sizeOf(task: Task, document: YamlDocument): Size {
  const nodes =
    task.num_nodes === undefined
      ? sourced(1, { kind: 'assumed', reason: 'one node unless num_nodes says otherwise' })
      : sourced(task.num_nodes, { kind: 'manifest', place: document.placeOf(['num_nodes']) })
  const { service, pool } = task
  if (service === undefined && pool === undefined) return { nodes, replicas: nodes }
  const least = service?.replicas ?? service?.replica_policy?.min_replicas ?? pool?.workers ?? pool?.min_workers ?? 1
  const most = service?.replica_policy?.max_replicas ?? pool?.max_workers
  const copies = Math.max(1, least)
  const replicas = sourced(copies * nodes.value, {
    kind: 'computed',
    formula: `${copies} copies x ${nodes.value} nodes`,
  })
  if (most === undefined || most <= least) return { nodes, replicas }
  return { nodes, replicas, range: { smallest: least * nodes.value, largest: most * nodes.value } }
}

function roleOf(
  task: Task,
  document: YamlDocument,
  choices: readonly Choice[],
  size: Size,
  commandLines: readonly CommandLine[],
): Role {
  const [first] = choices
  const gpus = choices.filter(({ name }) => !isOtherAccelerator(name))
  const isGpu = first !== undefined && !isOtherAccelerator(first.name)
  const placeOf = (path: DocumentPath) => ({ kind: 'manifest', place: document.placeOf(path) }) as const
  const perNode = isGpu
    ? sourced(wholeGpus(first), placeOf(first.path))
    : sourced(0, { kind: 'assumed', reason: 'no accelerators are asked for' })
  const alike = gpus.filter(({ count }) => count === first?.count)
  const names = [...new Map(alike.map(({ name, path }) => [name.toLowerCase(), sourced(name, placeOf(path))])).values()]
  const total = perNode.value * size.replicas.value
  return {
    name: 'task',
    replicas: size.replicas,
    gpusPerReplica: perNode,
    gpuCount:
      size.replicas.value === 1
        ? perNode
        : sourced(total, { kind: 'computed', formula: `${size.replicas.value} nodes x ${perNode.value} GPUs` }),
    gpuType: isGpu ? { names, basis: 'directive' } : { names: [], basis: 'none' },
    // A virtual machine is paid whole.
    exclusive: true,
    partitions: [],
    commandLines,
    tasks: 1,
    concurrentTasks: 1,
    ...withoutAbsent({
      pin: pinOf(task, document),
      deviceShare: isGpu && first.count < 1 ? { kind: 'fraction' as const, share: first.count } : undefined,
      otherAccelerators: first !== undefined && !isGpu ? { [first.name]: first.count } : undefined,
      cpusPerReplica: amountAt(task.resources?.cpus, document, ['resources', 'cpus'], 1),
      // Memory is counted in GiB (sky/resources.py, MEMORY_SIZE_UNITS).
      memoryBytesPerReplica: amountAt(task.resources?.memory, document, ['resources', 'memory'], 2 ** 30),
      replicaRange: size.range,
    }),
  }
}

function wholeGpus({ count }: Accelerator): number {
  return Math.ceil(count)
}

/** `32`, `32+` or `32GB`: at least so much. `4x`, a multiple of the CPUs, stays open. */
function amountAt(
  written: string | number | undefined,
  document: YamlDocument,
  path: DocumentPath,
  unit: number,
): Sourced<number> | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(?:gb?)?\+?$/i.exec(String(written ?? '').trim())
  if (match === null) return undefined
  return sourced(Number(match[1]) * unit, { kind: 'manifest', place: document.placeOf(path) })
}

/** What `setup` and `run` start, with the variables that SkyPilot sets (docs, "Environment variables"). */
function commandsOf(
  task: Task,
  document: YamlDocument,
  accelerator: Accelerator | undefined,
  nodes: number,
): { readonly commandLines: readonly CommandLine[]; readonly warnings: readonly Warning[] } {
  const own = Object.entries(task.envs ?? {}).map(([name, value]) => [
    name,
    value == null ? unknownText(`$${name}`) : String(value),
  ])
  const variables: Readonly<Record<string, string>> = {
    SKYPILOT_NUM_NODES: String(nodes),
    SKYPILOT_NUM_GPUS_PER_NODE: String(accelerator === undefined ? 0 : wholeGpus(accelerator)),
    ...Object.fromEntries(
      ['SKYPILOT_NODE_RANK', 'SKYPILOT_NODE_IPS', 'SKYPILOT_TASK_ID', 'SKYPILOT_CLUSTER_INFO'].map(name => [
        name,
        unknownText(`$${name}`),
      ]),
    ),
    ...Object.fromEntries(own),
  }
  const readings = (['setup', 'run'] as const).flatMap(part => {
    const script = task[part]
    if (script === undefined) return []
    const firstLine = document.scalarAt([part])?.firstLine ?? document.placeOf([part]).line ?? 1
    return [findCommandLines(script, { file: document.file, firstLine, variables, arguments: [] })]
  })
  return {
    commandLines: readings.flatMap(reading => reading.commandLines),
    warnings: readings.flatMap(reading => reading.warnings),
  }
}

function warningsOf(
  task: Task,
  document: YamlDocument,
  choices: readonly Choice[],
  size: Size,
  endless: boolean,
): readonly Warning[] {
  const [first] = choices
  if (first === undefined) return []
  const place = document.placeOf(first.path)
  const warnings: Warning[] = []
  const listed = [...new Set(choices.map(({ name, count }) => `${name}:${count}`))]
  if (listed.length > 1) {
    const differ = choices.some(({ count }) => count !== first.count)
    const taken = differ ? `; figures are for ${first.count} of them a node` : ''
    warnings.push({ code: 'gpu-type-ambiguous', text: `any of these will do: ${listed.join(', ')}${taken}`, place })
  }
  if (isOtherAccelerator(first.name)) {
    warnings.push({ code: 'accelerator-not-gpu', text: `${first.name}: an accelerator, but no GPU`, place })
  }
  if (first.count < 1) {
    warnings.push({ code: 'fractional-gpu', text: `${first.count} of a ${first.name} is asked for`, place })
  }
  if (size.range !== undefined) {
    const [least, most] = [size.range.smallest, size.range.largest].map(nodes => nodes * first.count)
    warnings.push({
      code: 'autoscaling-range',
      text: `it may be scaled from ${size.range.smallest} to ${size.range.largest} nodes: ${least} to ${most} GPUs`,
    })
  }
  return [...warnings, durationWarning(task, document, endless)]
}

function durationWarning(task: Task, document: YamlDocument, endless: boolean): Warning {
  const autostop = task.resources?.autostop
  if (task.service !== undefined || task.pool !== undefined) {
    return { code: 'long-running-service', text: 'it runs until it is taken down: its cost is one an hour' }
  }
  const stops = autostop !== undefined && autostop !== false
  if (endless) {
    const text = stops
      ? 'it starts no program: the cluster stays up until it has been idle for a while'
      : 'it starts no program: the cluster stays up until somebody takes it down'
    return { code: 'long-running-service', text }
  }
  const after = stops
    ? 'the cluster stops once it is idle'
    : 'launched with sky launch, the cluster also stays up and is paid after the run: resources.autostop or --down ends it'
  return {
    code: 'no-time-limit',
    text: `SkyPilot has no time limit: nothing bounds the cost; ${after}`,
    place: document.placeOf(['run']),
  }
}

/** `# GPUFARE key=value` lines, comments to YAML. */
function declarationLines({ text, name }: Manifest): readonly DeclarationEntry[] {
  return text.split('\n').flatMap((line, index) => declarationIn(line, { file: name, line: index + 1 }))
}
