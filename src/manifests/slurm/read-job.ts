import { type CommandLine, findCommandLines } from '../../command-lines.ts'
import { type DeclarationEntry, declarationIn, readDeclarations } from '../../declarations.ts'
import { type Fault, InputError, NothingToPrice } from '../../errors.ts'
import type { Job, Role } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import { secondsPerMinute } from '../../units.ts'
import type { Warning } from '../../warning.ts'
import { readArray } from './array.ts'
import { findChildScripts, gatherChildren } from './child-jobs.ts'
import { eachLine } from './directives.ts'
import { gpuOptions, readShape, type Shape } from './gpu-count.ts'
import { readGpuType, shareOf } from './gpu-type.ts'
import { readMebibytes, readMinutes } from './quantities.ts'
import { readSbatch, type SbatchReading, wrappedScript } from './read-sbatch.ts'
import { countOf, cpusOfTres, gresOf, memoryOptions, type Settings } from './settings.ts'
import {
  warnOfByteOrderMark,
  warnOfChildJobs,
  warnOfComponent,
  warnOfConflicts,
  warnOfJob,
  warnOfRepeatedKeys,
} from './warnings.ts'

const bytesPerMebibyte = 2 ** 20
/** slurm.conf(5), SchedulerParameters: max_script_size is 4 MiB where a site sets no other. */
const largestScriptBytes = 4 * bytesPerMebibyte

/** Scripts that submit scripts are followed so far. */
const deepestSubmission = 3

/** Reads a batch script with everything that sbatch would add to it. Throws InputError with every fault found. */
export function readBatchJob(manifest: Manifest, depth = 0): Job {
  const wrapped = wrappedScript(manifest.schedulerArguments)
  const script = wrapped ?? manifest.text
  const file = manifest.name
  refuseLargeScript(script, file)
  const reading = readSbatch({ ...manifest, file, script })
  const asksNothing = reading.directives.length === 0 && manifest.schedulerArguments.length === 0
  const submits = asksNothing && depth < deepestSubmission && /\bsbatch\b/.test(script)
  const submissions = submits ? findChildScripts(manifest) : undefined
  if (submissions?.isComplete) {
    const children = submissions.children.map(child => ({ ...child, job: readBatchJob(child.manifest, depth + 1) }))
    const gathered = gatherChildren(manifest, children, submissions.sources)
    if (gathered !== undefined) return gathered
  }
  const shapes = reading.components.map(readShape)
  const entries = wrapped === undefined ? findDeclarations(script, reading.headEnd, file) : []
  const declared = readDeclarations(entries)
  const commands = readCommands(manifest, script, reading, shapes)
  const roles = reading.components.map((settings, index) =>
    readRole(settings, shapes[index] ?? readShape(settings), roleName(reading, index), reading, commands.commandLines),
  )
  const faults = [
    ...reading.faults,
    ...declared.faults,
    ...refusedByController(reading.components, shapes, commands.commandLines),
  ]
  const conflicts = reading.components.flatMap(warnOfConflicts)
  if (faults.length > 0) refuseTemplate(script, file)
  if (faults.length > 0) throw new InputError([...faults, ...conflicts.map(asFault)].sort(byPlace))
  return {
    name: jobName(manifest, reading.components[0] ?? new Map(), wrapped !== undefined),
    scheduler: 'slurm',
    kind: 'batch script',
    place: { file, line: 1 },
    roles: roles.map(role => inferGpus(role, reading)),
    endless: false,
    destination: destinationOf(reading.components),
    ...labelsOf(reading.components),
    declarations: declared.declarations,
    ...sourcesOf(commands.sources, submissions?.sources ?? []),
    warnings: [
      ...(wrapped === undefined ? warnOfByteOrderMark(manifest) : []),
      ...reading.warnings,
      ...conflicts,
      ...warnOfRepeatedKeys(entries),
      ...warnOfJob(script, file, reading),
      ...warnOfChildJobs(script, file, reading, commands.commandLines),
      ...roles.flatMap((role, index) => {
        const settings = reading.components[index] ?? new Map()
        return warnOfComponent(role, inferGpus(role, reading), settings, shapes[index] ?? readShape(settings), reading)
      }),
      ...commands.warnings,
    ],
  }
}

function sourcesOf(...lists: readonly (readonly string[])[]): Pick<Job, 'sources'> {
  const sources = [...new Set(lists.flat())]
  return sources.length > 0 ? { sources } : {}
}

function asFault(warning: Warning): Fault {
  return { place: warning.place ?? { file: 'command line' }, message: warning.text }
}

function byPlace(left: Fault, right: Fault): number {
  const [a, b] = [left.place, right.place]
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

function refuseLargeScript(script: string, file: string): void {
  if (script.length <= largestScriptBytes) return
  const size = (script.length / bytesPerMebibyte).toFixed(1)
  const message = `the script is ${size} MiB; Slurm takes 4 MiB at most unless the site allows more (max_script_size)`
  throw new InputError([{ place: { file }, message }])
}

/** `#GPUFARE key=value` lines of the comment block at the head. */
function findDeclarations(script: string, end: number, file: string): readonly DeclarationEntry[] {
  const entries: DeclarationEntry[] = []
  for (const line of eachLine(script.slice(0, end))) {
    entries.push(...declarationIn(line.text, { file, line: line.number }))
  }
  return entries
}

function readCommands(
  manifest: Manifest,
  script: string,
  reading: SbatchReading,
  shapes: readonly Shape[],
): ReturnType<typeof findCommandLines> {
  const settings = reading.components[0] ?? new Map()
  const shape = shapes[0] ?? readShape(settings)
  const known = Object.entries(manifest.environment).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith('SLURM_') ? [] : [[name, value]],
  )
  const passed = exported(settings.get('export')?.value, known)
  return findCommandLines(script.replaceAll('\r\n', '\n'), {
    file: manifest.name,
    firstLine: 1,
    variables: { ...Object.fromEntries(passed), ...jobVariables(settings, shape) },
    arguments: manifest.scriptArguments,
    sourcedFiles: manifest.sourcedFiles,
  })
}

/** What `--export=ALL,NAME=value`, `--export=NAME` or `--export=NONE` lets the script see of the submitting shell (sbatch(1)). */
function exported(value: string | undefined, known: readonly [string, string][]): readonly [string, string][] {
  if (value === undefined) return known
  const words = value.split(',')
  const isAll = words.some(word => /^ALL$/i.test(word))
  const set = words.flatMap((word): [string, string][] => {
    const [, name, text = ''] = /^(\w+)=(.*)$/.exec(word) ?? []
    return name === undefined ? [] : [[name, text]]
  })
  return [...known.filter(([name]) => isAll || words.includes(name)), ...set]
}

/** Variables that Slurm sets in the job (sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"), as far as the request tells them. */
function jobVariables(settings: Settings, shape: Shape): Readonly<Record<string, string>> {
  const text = (name: string): string | undefined => settings.get(name)?.text
  const array = settings.get('array')?.value
  const variables: Readonly<Record<string, string | undefined>> = {
    SLURM_ARRAY_TASK_COUNT: array === undefined || array === '' ? undefined : String(readArray(array)?.tasks),
    SLURM_NNODES: String(shape.nodes.value),
    SLURM_JOB_NUM_NODES: String(shape.nodes.value),
    SLURM_NTASKS: String(shape.tasks),
    SLURM_NPROCS: String(shape.tasks),
    SLURM_NTASKS_PER_NODE: text('ntasks-per-node'),
    SLURM_TASKS_PER_NODE: shape.nodes.value === 1 ? String(shape.tasks) : undefined,
    SLURM_CPUS_PER_TASK: text('cpus-per-task'),
    SLURM_CPUS_PER_GPU: text('cpus-per-gpu'),
    SLURM_GPUS: settings.get('gpus')?.value,
    SLURM_GPUS_PER_NODE: settings.get('gpus-per-node')?.value,
    SLURM_GPUS_PER_TASK: settings.get('gpus-per-task')?.value,
    SLURM_GPUS_ON_NODE: shape.gpusPerNode.value > 0 ? String(shape.gpusPerNode.value) : undefined,
    SLURM_JOB_NAME: settings.get('job-name')?.value,
    SLURM_JOB_PARTITION: settings.get('partition')?.value,
    SLURM_JOB_ACCOUNT: settings.get('account')?.value,
  }
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  )
}

function roleName(reading: SbatchReading, index: number): string {
  if (reading.components.length > 1) return `het-${index}`
  return reading.components[index]?.get('array')?.value ? 'array-task' : 'job'
}

function readRole(
  settings: Settings,
  shape: Shape,
  name: string,
  reading: SbatchReading,
  commandLines: readonly CommandLine[],
): Role {
  const gpuType = readGpuType(settings, reading.directives)
  const array = readArray(settings.get('array')?.value ?? '') ?? { tasks: 1, concurrent: 1 }
  return {
    name,
    replicas: shape.nodes,
    gpusPerReplica: shape.gpusPerNode,
    gpuCount: shape.gpuCount,
    gpuType,
    exclusive: settings.get('exclusive')?.text === 'exclusive',
    partitions: partitionsOf(settings),
    commandLines: reading.components.length > 1 ? commandLines.filter(line => hetGroup(line) === name) : commandLines,
    tasks: array.tasks,
    concurrentTasks: array.concurrent,
    ...withoutAbsent({
      deviceShare: shareOf(settings),
      cpusPerReplica: cpusOf(settings, shape),
      memoryBytesPerReplica: memoryOf(settings, shape),
      timeLimitSeconds: timeLimitOf(settings),
      replicaRange: shape.range,
    }),
  }
}

/** `srun --het-group=1` runs in that component; everything else in the first. */
function hetGroup(line: CommandLine): string {
  for (const launch of line.launches) {
    const texts = launch.options.map(option => option.text ?? option.written)
    const at = texts.findIndex(text => /^--(het|pack)-group/.test(text))
    if (launch.launcher !== 'srun' || at === -1) continue
    const group = /=(\d+)/.exec(texts[at] ?? '')?.[1] ?? /^\d+/.exec(texts[at + 1] ?? '')?.[0]
    if (group !== undefined) return `het-${group}`
  }
  return 'het-0'
}

function partitionsOf(settings: Settings): readonly Sourced<string>[] {
  const setting = settings.get('partition')
  return setting?.value === undefined
    ? []
    : setting.value
        .split(',')
        .filter(name => name !== '')
        .map(name => sourced(name, setting.origin))
}

function cpusOf(settings: Settings, shape: Shape): Sourced<number> | undefined {
  const perTask = settings.get('cpus-per-task')
  if (perTask !== undefined) return sourced(Number(perTask.text) * shape.tasksPerNode, perTask.origin)
  const tres = settings.get('tres-per-task')
  const byTres = cpusOfTres(settings)
  if (tres !== undefined && byTres !== undefined) return sourced(byTres * shape.tasksPerNode, tres.origin)
  const perGpu = settings.get('cpus-per-gpu')
  if (perGpu !== undefined && shape.gpusPerNode.value > 0) {
    return sourced(Number(perGpu.text) * shape.gpusPerNode.value, perGpu.origin)
  }
  const least = settings.get('mincpus')
  if (least !== undefined) return sourced(Math.max(Number(least.text), shape.tasksPerNode), least.origin)
  // Without a word about CPUs each task gets one; of an exclusive node the job has all.
  const tasks = settings.get('ntasks') ?? settings.get('ntasks-per-node')
  if (tasks === undefined || settings.get('exclusive')?.text === 'exclusive') return undefined
  return sourced(shape.tasksPerNode, { kind: 'computed', formula: 'one CPU for each task of a node' })
}

function memoryOf(settings: Settings, shape: Shape): Sourced<number | 'all'> | undefined {
  const [setting] = memoryOptions(settings)
  const mebibytes = readMebibytes(setting?.value ?? '')
  if (setting === undefined || mebibytes === undefined) return undefined
  const origin: Origin = setting.origin
  if (mebibytes === 0) return sourced('all', origin)
  const times: Readonly<Record<string, number>> = {
    mem: 1,
    'mem-per-gpu': shape.gpusPerNode.value,
    'mem-per-cpu': cpusOf(settings, shape)?.value ?? shape.tasksPerNode,
  }
  return sourced(mebibytes * (times[setting.option.name] ?? 1) * bytesPerMebibyte, origin)
}

function timeLimitOf(settings: Settings): Sourced<number> | undefined {
  const setting = settings.get('time')
  const minutes = readMinutes(setting?.value ?? '')
  if (setting === undefined || minutes === undefined || !Number.isFinite(minutes)) return undefined
  return sourced(minutes * secondsPerMinute, setting.origin)
}

/**
 * Where nothing asks for GPUs but a launcher starts processes for them (whole nodes are often had that way), the count is the
 * launcher's.
 */
function inferGpus(role: Role, reading: SbatchReading): Role {
  const asks = reading.components.some(settings => gpuOptions.some(name => settings.has(name)))
  const launched = asks || role.gpuCount.value > 0 ? undefined : processesOnNode(role)
  if (launched === undefined) return role
  const origin: Origin = { kind: 'manifest', place: launched.line.place }
  return {
    ...role,
    gpusPerReplica: sourced(launched.processes, origin),
    gpuCount: sourced(launched.processes * role.replicas.value, origin),
  }
}

/** Launchers that start one process for each GPU. */
const gpuLaunchers = new Set(['torchrun', 'accelerate', 'deepspeed'])

/** The most processes that a launcher starts on one node. */
export function processesOnNode(
  role: Pick<Role, 'commandLines' | 'replicas'>,
): { readonly processes: number; readonly line: CommandLine } | undefined {
  const found = role.commandLines.flatMap(line =>
    line.launches.flatMap(launch => {
      if (!gpuLaunchers.has(launch.launcher)) return []
      const nodes = Math.max(1, launch.nodes ?? role.replicas.value)
      const processes =
        launch.processesPerNode ?? (launch.processes === undefined ? 0 : Math.ceil(launch.processes / nodes))
      return processes > 0 ? [{ processes, line }] : []
    }),
  )
  return found.sort((left, right) => right.processes - left.processes)[0]
}

/** Slurm 22.05 keeps counts of GPUs in 32 bits with a sign, and what is larger wraps round in silence. */
const largestCount = 2 ** 31 - 1

/** What the client lets pass and the controller refuses or misreads, whatever the site. */
function refusedByController(
  components: readonly Settings[],
  shapes: readonly Shape[],
  commandLines: readonly CommandLine[],
): readonly Fault[] {
  return components.flatMap((settings, index) => {
    const faults: Fault[] = []
    const refuse = (name: string, message: string): void => {
      const setting = settings.get(name)
      if (setting !== undefined) faults.push({ place: setting.place, message: `${setting.written}: ${message}` })
    }
    for (const name of gpuOptions) {
      if ((gresOf(settings, name) ?? []).some(gres => gres.name === 'gpu' && Math.abs(gres.count) > largestCount)) {
        refuse(name, `more than ${largestCount}, which Slurm cannot count: it would take another number for it`)
      }
    }
    const array = settings.get('array')
    if (array !== undefined && readArray(array.value ?? '') === undefined) {
      refuse('array', 'not understood, expected indices such as 0-15, 1,3,5-7 or 0-30:2%4')
    }
    if (array?.value && components.length > 1) refuse('array', 'an array cannot be a heterogeneous job')
    const shape = shapes[index]
    if (countOf(settings, 'nodes') === 0) {
      const request = gpuOptions.find(name => settings.has(name))
      refuse('nodes', 'no nodes are asked for')
      if (shape?.gpuCount.value === 0 && request !== undefined) refuse(request, 'no GPUs are asked for')
      const launched = processesOnNode({ commandLines, replicas: sourced(1, { kind: 'assumed', reason: 'one node' }) })
      if (launched !== undefined) {
        const message = `${launched.processes} processes are started on each node, and no GPU is asked for`
        faults.push({ place: launched.line.place, message })
      }
    }
    return faults
  })
}

/** What Slurm calls the job: as told, else by its file. */
export function jobName(manifest: Manifest, settings: Settings, wrapped: boolean): string {
  const given = settings.get('job-name')?.value
  if (given !== undefined) return given
  if (wrapped) return 'wrap'
  return manifest.path === '-' ? 'sbatch' : (manifest.path.split('/').at(-1) ?? manifest.path)
}

/** Directives that sbatch refuses since a program has yet to fill them in: `#SBATCH --nodes={{ nodes }}`. */
function refuseTemplate(script: string, file: string): void {
  const placeholders = script.split('\n').flatMap((text, index) => {
    const names = /^#SBATCH\s/.test(text) ? (text.match(/\{\{.*?\}\}|<%.*?%>/g) ?? []) : []
    return names.map(name => ({ name, line: index + 1 }))
  })
  const [first] = placeholders
  if (first === undefined) return
  const shown = placeholders.map(({ name, line }) => `${name} (line ${line})`).join(', ')
  const hint = 'fill in its placeholders first and hand over the result'
  const message = `an unrendered template: ${shown}`
  throw new NothingToPrice(
    [{ code: 'unresolved-template', place: { file, line: first.line }, message, hint }],
    'template',
  )
}

/** `--wckey`, by which accounting tells apart what jobs are for. */
function labelsOf(components: readonly Settings[]): Pick<Job, 'labels'> {
  const wckey = components.find(settings => settings.has('wckey'))?.get('wckey')?.value
  return wckey === undefined ? {} : { labels: { wckey } }
}

function destinationOf(components: readonly Settings[]): Readonly<Record<string, string>> {
  const names = {
    cluster: 'clusters',
    partition: 'partition',
    account: 'account',
    qos: 'qos',
    reservation: 'reservation',
  }
  const destination: Record<string, string> = {}
  for (const [key, option] of Object.entries(names)) {
    const values = components.flatMap(settings => settings.get(option)?.value ?? [])
    if (values.length > 0) destination[key] = [...new Set(values)].join(' + ')
  }
  return destination
}
