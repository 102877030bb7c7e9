import type { CommandLine } from '../../command-lines.ts'
import { type DeclarationEntry, readDeclarations } from '../../declarations.ts'
import { type DocumentPath, tryCheck, valueAt } from '../../document.ts'
import type { Fault } from '../../errors.ts'
import type { Job, Role } from '../../job.ts'
import { type Sourced, sourced } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import { hintedType } from './gpu-type.ts'
import type { Kind } from './kinds.ts'
import type { Surroundings } from './neighbours.ts'
import type { KubernetesObject } from './objects.ts'
import { asRole, type RoleReading, readRoles, roleWarnings } from './roles.ts'
import { Metadata, WholeNumber } from './schema.ts'

const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name'
const ANNOTATION_PREFIX = 'gpufare.dev/'
/** Annotations that gpufare writes itself when it forwards. */
const WRITTEN_BY_GPUFARE: ReadonlySet<string> = new Set(['quote'])

/** The job that an object describes, or all that is wrong with it. */
export function readJob(
  object: KubernetesObject,
  kind: Kind,
  surroundings: Surroundings,
): { readonly job: Job } | { readonly faults: readonly Fault[] } {
  const { document, path } = object
  const metadata = tryCheck(Metadata, document, [...path, 'metadata'])
  const { roles: foundRoles, faults: roleFaults } = readRoles(object, kind, surroundings)
  const deadline = readNumber(object, kind.deadline)
  const declared = readDeclarations(
    annotationEntries(object, 'value' in metadata ? metadata.value.annotations : undefined, foundRoles),
  )
  const faults = [
    ...('faults' in metadata ? metadata.faults : []),
    ...roleFaults,
    ...deadline.faults,
    ...declared.faults,
  ]
  if ('faults' in metadata || faults.length > 0) return { faults }
  const roles = inQueue(foundRoles, object, metadata.value)
  const range = rangeOf(object, kind, surroundings)
  const endless = isEndless(kind, roles)
  return {
    job: {
      name: metadata.value.name ?? metadata.value.generateName ?? object.kind,
      scheduler: 'kubernetes',
      kind: object.kind,
      place: document.placeOf([...path, 'kind']),
      roles: placePrograms(kind, roles, object).map(role => asRole(role, deadline.number, rangeFor(role, range))),
      endless,
      destination: destinationOf(metadata.value),
      declarations: declared.declarations,
      warnings: jobWarnings(object, kind, metadata.value, { roles, range, deadline: deadline.number, endless }),
    },
  }
}

function readNumber(
  object: KubernetesObject,
  path: DocumentPath | undefined,
): { readonly number: Sourced<number> | undefined; readonly faults: readonly Fault[] } {
  const at = path && [...object.path, ...path]
  if (at === undefined || valueAt(object.document.value, at) == null) return { number: undefined, faults: [] }
  const checked = tryCheck(WholeNumber, object.document, at)
  if ('faults' in checked) return { number: undefined, faults: checked.faults }
  return { number: sourced(checked.value, { kind: 'manifest', place: object.document.placeOf(at) }), faults: [] }
}

/** `gpufare.dev/` annotations of the object, then of its pod templates. */
function annotationEntries(
  object: KubernetesObject,
  annotations: Metadata['annotations'],
  roles: readonly RoleReading[],
): DeclarationEntry[] {
  const holders = [
    { annotations, at: [...object.path, 'metadata', 'annotations'] },
    ...roles.map(role => ({
      annotations: role.metadata?.annotations,
      at: [...role.podPath, 'metadata', 'annotations'],
    })),
  ]
  const seen = new Set<string>()
  return holders.flatMap(({ annotations, at }) =>
    Object.entries(annotations ?? {}).flatMap(([name, value]) => {
      const key = name.startsWith(ANNOTATION_PREFIX) ? name.slice(ANNOTATION_PREFIX.length) : undefined
      if (key === undefined || WRITTEN_BY_GPUFARE.has(key)) return []
      // A pod's own object and its template are one and the same place, and several roles may share a template.
      const place = object.document.placeOf([...at, name])
      const mark = `${name} ${place.line}:${place.column}`
      if (seen.has(mark)) return []
      seen.add(mark)
      return [{ key, value, place }]
    }),
  )
}

function isEndless(kind: Kind, roles: readonly RoleReading[]): boolean {
  if (kind.endless === true) return true
  const [role] = roles
  // A bare pod is restarted even after it succeeded, unless it says otherwise (default restartPolicy: Always).
  const isBarePod = kind.group === '' && kind.kind === 'Pod'
  return isBarePod && (role?.restartPolicy ?? 'Always') === 'Always' && role?.reading.timeLimitSeconds === undefined
}

/** A queue is where all of a job's pods would run, and its name may hint at a GPU type. */
function inQueue(roles: readonly RoleReading[], object: KubernetesObject, metadata: Metadata): readonly RoleReading[] {
  const queue = metadata.labels?.[QUEUE_LABEL]
  if (queue === undefined) return roles
  const place = object.document.placeOf([...object.path, 'metadata', 'labels', QUEUE_LABEL])
  const where = sourced(queue, { kind: 'manifest', place })
  return roles.map(role => {
    const { gpus, gpuType, share, pools } = role.reading
    const isOpen = gpus.value > 0 && gpuType.basis === 'none' && share === undefined
    return {
      ...role,
      reading: { ...role.reading, pools: [...pools, where], gpuType: isOpen ? hintedType([where]) : gpuType },
    }
  })
}

function destinationOf(metadata: Metadata): Readonly<Record<string, string>> {
  const queue = metadata.labels?.[QUEUE_LABEL]
  return {
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...(queue === undefined ? {} : { queue }),
  }
}

type Range = NonNullable<Role['replicaRange']>

function rangeOf(object: KubernetesObject, kind: Kind, surroundings: Surroundings): Range | undefined {
  const scaled = surroundings.replicaRanges.get(`${object.kind}/${object.name}`)
  if (scaled !== undefined || kind.elastic === undefined) return scaled
  const smallest = readNumber(object, kind.elastic.smallest).number?.value
  const largest = readNumber(object, kind.elastic.largest).number?.value
  return smallest === undefined && largest === undefined
    ? undefined
    : { smallest: smallest ?? 1, largest: largest ?? smallest ?? 1 }
}

/** The one master of an elastic job stays; its workers come and go. */
function rangeFor(role: RoleReading, range: Range | undefined): Range | undefined {
  return role.name === 'Master' ? undefined : range
}

/** Puts each program where its GPUs are, and lists once what several roles run together. */
function placePrograms(kind: Kind, roles: readonly RoleReading[], object: KubernetesObject): readonly RoleReading[] {
  const moved = kind.startsOn === undefined ? roles : moveLaunched(roles, kind.startsOn)
  if (kind.runsOneProgram !== true) return moved
  const launched = moved.map(role => withOperatorLaunch(kind, role, moved, object))
  const listed = new Set<string>()
  // The roles with GPUs first, so that the program is listed where they are.
  const order = launched.toSorted((a, b) => Number(b.reading.gpus.value > 0) - Number(a.reading.gpus.value > 0))
  const programs = new Map(
    order.map(role => [
      role.name,
      role.reading.commandLines.filter(line => {
        const words = [line.program, ...line.arguments.map(word => word.written)].join('\0')
        return !listed.has(words) && listed.add(words)
      }),
    ]),
  )
  return launched.map(role => withCommandLines(role, programs.get(role.name) ?? []))
}

/** mpirun in the launcher starts its program on the workers. */
function moveLaunched(
  roles: readonly RoleReading[],
  { launcher, workers }: NonNullable<Kind['startsOn']>,
): readonly RoleReading[] {
  const launched = roles.find(role => role.name === launcher)?.reading.commandLines ?? []
  const hasWorkers = roles.some(role => role.name === workers)
  return roles.map(role => {
    if (role.name === launcher && hasWorkers) return withCommandLines(role, [])
    return role.name === workers ? withCommandLines(role, [...launched, ...role.reading.commandLines]) : role
  })
}

/** training-operator sets the rendezvous and, as variables of torchrun, the size of the job: a program needs no launcher for that. */
function withOperatorLaunch(
  kind: Kind,
  role: RoleReading,
  roles: readonly RoleReading[],
  object: KubernetesObject,
): RoleReading {
  const launcher = kind.preparedFor
  const processesPerNode = processesOf(kind, role, object)
  if (launcher === undefined || processesPerNode === undefined) return role
  const nodes = roles.reduce((sum, other) => sum + other.replicas.value, 0)
  const lines = role.reading.commandLines.map(line => {
    const [launch, ...inner] = line.launches
    if (launch === undefined) return { ...line, launches: [{ launcher, nodes, processesPerNode, options: [] }] }
    const isOpen = launch.launcher === launcher && launch.nodes === undefined && launch.processesPerNode === undefined
    return isOpen ? { ...line, launches: [{ ...launch, nodes, processesPerNode }, ...inner] } : line
  })
  return withCommandLines(role, lines)
}

/** `nprocPerNode`: a number, often in quotes, or `auto` or `gpu` for one process on each GPU. */
function processesOf(kind: Kind, role: RoleReading, object: KubernetesObject): number | undefined {
  const written = kind.processesPerPod && valueAt(object.value, kind.processesPerPod)
  if (written === 'auto' || written === 'gpu') return role.reading.gpus.value
  const processes = typeof written === 'string' || typeof written === 'number' ? Number(written) : Number.NaN
  return Number.isInteger(processes) ? processes : undefined
}

function withCommandLines(role: RoleReading, commandLines: readonly CommandLine[]): RoleReading {
  return { ...role, reading: { ...role.reading, commandLines } }
}

interface JobFacts {
  readonly roles: readonly RoleReading[]
  readonly range: Range | undefined
  readonly deadline: Sourced<number> | undefined
  readonly endless: boolean
}

function jobWarnings(object: KubernetesObject, kind: Kind, metadata: Metadata, facts: JobFacts): readonly Warning[] {
  const warnings = [
    ...repeatedKeyWarnings(object),
    ...facts.roles.flatMap(roleWarnings),
    ...suspensionWarnings(object, kind, metadata, facts.roles),
    ...refusalWarnings(object, kind, facts.roles),
  ]
  if (facts.roles.every(role => role.reading.gpus.value === 0)) return warnings
  return [
    ...warnings,
    ...durationWarnings(object, kind, facts),
    ...rangeWarnings(facts),
    ...(facts.endless && kind.endless === true ? [] : retryWarnings(object, kind, facts.roles)),
  ]
}

function repeatedKeyWarnings({ document }: KubernetesObject): readonly Warning[] {
  return document.repeatedKeys.map(({ key, place }) => ({
    code: 'last-flag-wins',
    text: `${key} is given twice in one mapping: kubectl takes the last one`,
    place,
  }))
}

/** A policy that is not written is Always, which no Job may have. */
function refusalWarnings(
  { document, kind: name }: KubernetesObject,
  kind: Kind,
  roles: readonly RoleReading[],
): readonly Warning[] {
  const { restartPolicies } = kind
  if (restartPolicies === undefined) return []
  return roles
    .filter(role => !restartPolicies.includes(role.restartPolicy ?? 'Always'))
    .map(role => ({
      code: 'scheduler-will-refuse',
      text: `restartPolicy of a ${name} must be ${restartPolicies.join(' or ')}, ${role.restartPolicy === undefined ? 'but it is missing' : `found ${role.restartPolicy}`}: the API server will refuse it`,
      place: document.placeOf([...role.podPath, 'spec', 'restartPolicy']),
    }))
}

function suspensionWarnings(
  object: KubernetesObject,
  kind: Kind,
  metadata: Metadata,
  roles: readonly RoleReading[],
): readonly Warning[] {
  const path = kind.suspend && [...object.path, ...kind.suspend]
  const queue = metadata.labels?.[QUEUE_LABEL]
  if (path !== undefined && valueAt(object.document.value, path) === true) {
    const until = queue === undefined ? 'somebody resumes it' : `queue ${queue} admits it`
    return [
      { code: 'suspended', text: `it is suspended and starts when ${until}`, place: object.document.placeOf(path) },
    ]
  }
  if (queue !== undefined) {
    return [
      {
        code: 'suspended',
        text: `it waits until queue ${queue} admits it`,
        place: object.document.placeOf([...object.path, 'metadata', 'labels', QUEUE_LABEL]),
      },
    ]
  }
  const paused = roles.filter(role => role.replicas.value === 0)
  return paused.map(role => ({
    code: 'suspended',
    text: `${role.name}: no pods are asked for until that number is raised`,
  }))
}

function durationWarnings(
  object: KubernetesObject,
  kind: Kind,
  { roles, deadline, endless }: JobFacts,
): readonly Warning[] {
  const warnings: Warning[] = []
  const schedule = kind.schedule && valueAt(object.value, kind.schedule)
  if (schedule !== undefined) {
    const text = `it runs again and again on the schedule ${String(schedule)}: figures are for one run`
    warnings.push({
      code: 'recurring',
      text,
      place: object.document.placeOf([...object.path, ...(kind.schedule ?? [])]),
    })
  }
  if (kind.onEveryNode === true) {
    warnings.push({
      code: 'gpu-count-unknown',
      text: 'one pod runs on every node that fits: figures are for one of them',
    })
  }
  const isLimited = deadline !== undefined || roles.every(role => role.reading.timeLimitSeconds !== undefined)
  if (endless)
    warnings.push({ code: 'long-running-service', text: 'it runs until it is deleted: its cost is one an hour' })
  else if (!isLimited)
    warnings.push({ code: 'no-time-limit', text: 'activeDeadlineSeconds is not set: nothing bounds the cost' })
  return warnings
}

function rangeWarnings({ roles, range }: JobFacts): readonly Warning[] {
  if (range === undefined) return []
  const gpus = roles.filter(role => rangeFor(role, range) !== undefined).map(role => role.reading.gpus.value)
  const perReplica = Math.max(0, ...gpus)
  const text = `it may be scaled from ${range.smallest} to ${range.largest} pods: ${range.smallest * perReplica} to ${range.largest * perReplica} GPUs`
  return [{ code: 'autoscaling-range', text }]
}

function retryWarnings(object: KubernetesObject, kind: Kind, roles: readonly RoleReading[]): readonly Warning[] {
  const { document } = object
  for (const path of kind.retries?.paths ?? []) {
    const retries = valueAt(document.value, [...object.path, ...path])
    if (typeof retries !== 'number') continue
    if (retries === 0) return []
    const text = `failed pods are started again, ${retries === 1 ? 'once' : `${retries} times`}: each attempt costs as much again`
    return [{ code: 'retries-multiply-cost', text, place: document.placeOf([...object.path, ...path]) }]
  }
  if (kind.retries?.default !== undefined) {
    const text = `failed pods are started again, ${kind.retries.default} times by default (backoffLimit is not set): each attempt costs as much again`
    return [{ code: 'retries-multiply-cost', text }]
  }
  const restarted = roles.find(
    role => role.reading.gpus.value > 0 && role.restartPolicy !== undefined && role.restartPolicy !== 'Never',
  )
  if (restarted === undefined) return []
  const text = `restartPolicy ${restarted.restartPolicy} starts ${restarted.name} again whenever it fails: each attempt costs as much again`
  return [{ code: 'retries-multiply-cost', text }]
}
