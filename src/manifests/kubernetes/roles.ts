import { type DocumentPath, isMapping, tryCheck, valueAt, wrongValue, type YamlDocument } from '../../document.ts'
import type { Fault } from '../../errors.ts'
import type { GpuBounds, Role, ServedModel } from '../../job.ts'
import { type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import { countOf, formatGib } from '../../units.ts'
import type { Warning } from '../../warning.ts'
import { placePod } from './containers.ts'
import type { Kind, RoleRow } from './kinds.ts'
import type { Surroundings } from './neighbours.ts'
import type { KubernetesObject } from './objects.ts'
import { type PodReading, readPod } from './pods.ts'
import { resourceFaults } from './resource-rules.ts'
import { largestProfile } from './resources.ts'
import { type Metadata, Pod, WholeNumber } from './schema.ts'
import { modelOfImage, servedModel } from './served-models.ts'

/** A role of an object, found and checked, before the object's own limits are laid over it. */
export interface RoleReading {
  readonly name: string
  readonly row: RoleRow
  readonly reading: PodReading
  /** Annotations of the pod template. */
  readonly metadata: Metadata | undefined
  readonly restartPolicy: string | undefined
  readonly pod: Pod
  /** From the document's root to the pod or its template, and to the role. */
  readonly podPath: DocumentPath
  readonly path: DocumentPath
  readonly replicas: Sourced<number>
  readonly tasks: number
  readonly concurrentTasks: number
  /** Bounds within which an autoscaler keeps its pods. */
  readonly range?: NonNullable<Role['replicaRange']>
  /** Seconds that its pods together may take. */
  readonly deadline?: Sourced<number>
  readonly serves?: ServedModel
}

/** The roles of an object. Collects the faults of all of them: there are no roles where there is a fault. */
export function readRoles(
  object: KubernetesObject,
  kind: Kind,
  surroundings: Surroundings,
): { readonly roles: readonly RoleReading[]; readonly faults: readonly Fault[] } {
  const roles: RoleReading[] = []
  const faults: Fault[] = []
  for (const row of kind.roles) {
    const found = findRoles(object, row)
    if (found.length === 0 && row.optional !== true) faults.push(missingRoles(object, row))
    for (const { path, name } of found) {
      if (isLeftOut(object, row, path)) continue
      const read = readRole(object, row, path, name, surroundings)
      if ('faults' in read) faults.push(...read.faults)
      else roles.push(read.role)
    }
  }
  return { roles, faults }
}

/** A role without its pod template where it may be, or with its only pod made from another one. */
function isLeftOut({ document }: KubernetesObject, row: RoleRow, path: DocumentPath): boolean {
  if (row.optional === true && valueAt(document.value, [...path, ...row.pod]) == null) return true
  const size = row.apartFrom && row.replicas && (valueAt(document.value, [...path, ...row.replicas]) ?? 1)
  return size === 1 && hasOther(document, row, path)
}

function hasOther(document: YamlDocument, { apartFrom }: RoleRow, path: DocumentPath): boolean {
  return apartFrom !== undefined && valueAt(document.value, [...path, ...apartFrom]) != null
}

interface FoundRole {
  readonly path: DocumentPath
  readonly name: string
}

/** Follows a row's path; `*` branches into every key or item. */
function findRoles(object: KubernetesObject, row: RoleRow): readonly FoundRole[] {
  let found: { path: DocumentPath; name: string | undefined }[] = [{ path: object.path, name: row.name }]
  for (const step of row.at) {
    found = found.flatMap(({ path, name }) => {
      if (step !== '*') return [{ path: [...path, step], name }]
      const value = valueAt(object.document.value, path)
      if (Array.isArray(value))
        return value.map((item, index) => ({ path: [...path, index], name: name ?? itemName(item) }))
      return Object.keys(isMapping(value) ? value : {}).map(key => ({ path: [...path, key], name: name ?? key }))
    })
  }
  return found.map(({ path, name }) => ({ path, name: name ?? object.kind.toLowerCase() }))
}

function itemName(item: unknown): string | undefined {
  const name = isMapping(item) ? (item['name'] ?? item['groupName']) : undefined
  return typeof name === 'string' ? name : undefined
}

function missingRoles(object: KubernetesObject, row: RoleRow): Fault {
  const path = [...object.path, ...row.at.slice(0, row.at.indexOf('*'))]
  return wrongValue(object.document, path, 'the roles of the job, each with a pod template, are expected')
}

function readRole(
  object: KubernetesObject,
  row: RoleRow,
  path: DocumentPath,
  name: string,
  surroundings: Surroundings,
): { readonly role: RoleReading } | { readonly faults: readonly Fault[] } {
  const { document } = object
  const podPath = [...path, ...row.pod]
  const count = (at: DocumentPath | undefined) => readCount(object, at && [...path, ...at])
  const replicas = count(row.replicas)
  const completions = count(row.completions)
  const copies = (row.copies ?? []).map(count)
  const smallest = count(row.range?.smallest)
  const largest = count(row.range?.largest)
  const deadline = count(row.deadline)
  const checked = tryCheck(Pod, document, podPath)
  const faults = [
    ...[replicas, completions, smallest, largest, deadline, ...copies].flatMap(each => each.faults),
    ...('faults' in checked ? checked.faults : []),
    ...resourceFaults(podPath, document),
  ]
  if ('faults' in checked || faults.length > 0) return { faults }
  const placed = placePod({ pod: checked.value, path: podPath, document, surroundings })
  const counted = withoutOther(replicas.count ?? byDefault(row), hasOther(document, row, path))
  const arranged = arrangePods(within(counted, smallest.count, largest.count), completions.count)
  const multiple = copies.reduce((product, copy) => product * (copy.count?.value ?? 1), 1)
  const range = isScaled(object, row) ? rangeBetween(smallest.count, largest.count, multiple) : undefined
  const ownPolicy = row.restartPolicy && valueAt(document.value, [...path, ...row.restartPolicy])
  return {
    role: {
      name,
      row,
      reading: readPod(placed),
      metadata: placed.pod.metadata,
      restartPolicy: typeof ownPolicy === 'string' ? ownPolicy : placed.pod.spec.restartPolicy,
      pod: placed.pod,
      podPath,
      path,
      ...arranged,
      replicas: multiplied(arranged.replicas, copies),
      ...readRuns(document.value, path, row),
      ...withoutAbsent({
        range,
        deadline: deadline.count,
        serves: servedModel(object, row.serves && [...path, ...row.serves]) ?? modelOfImage(placed),
      }),
    },
  }
}

function byDefault({ replicasByDefault }: RoleRow): Sourced<number> | undefined {
  if (replicasByDefault === undefined) return undefined
  const reason = `${replicasByDefault} pods unless the manifest says otherwise`
  return sourced(replicasByDefault, { kind: 'assumed', reason })
}

function withoutOther(pods: Sourced<number> | undefined, hasOther: boolean): Sourced<number> | undefined {
  if (pods === undefined || !hasOther) return pods
  return sourced(pods.value - 1, { kind: 'computed', formula: `${pods.value} pods, one of them another role's` })
}

/** The bounds win over the number. */
function within(
  pods: Sourced<number> | undefined,
  smallest: Sourced<number> | undefined,
  largest: Sourced<number> | undefined,
): Sourced<number> | undefined {
  if (pods === undefined) return undefined
  if (smallest !== undefined && pods.value < smallest.value) return smallest
  return largest !== undefined && pods.value > largest.value ? largest : pods
}

/** Whether something changes the number of pods between its bounds. */
export function isScaled({ document, path }: KubernetesObject, { range }: RoleRow): boolean {
  if (range === undefined) return false
  return range.scaler === undefined || valueAt(document.value, [...path, ...range.scaler]) === true
}

function rangeBetween(
  smallest: Sourced<number> | undefined,
  largest: Sourced<number> | undefined,
  copies: number,
): Role['replicaRange'] {
  if (largest === undefined || largest.value === (smallest?.value ?? 0)) return undefined
  return { smallest: (smallest?.value ?? 0) * copies, largest: largest.value * copies }
}

interface Count {
  /** Undefined where it is not set. */
  readonly count: Sourced<number> | undefined
  readonly faults: readonly Fault[]
}

function readCount(object: KubernetesObject, path: DocumentPath | undefined): Count {
  const value = path && valueAt(object.document.value, path)
  if (path === undefined || value === undefined || value === null) return { count: undefined, faults: [] }
  const checked = tryCheck(WholeNumber, object.document, path)
  if ('faults' in checked) return { count: undefined, faults: checked.faults }
  const origin = { kind: 'manifest', place: object.document.placeOf(path) } as const
  return { count: sourced(checked.value, origin), faults: [] }
}

/**
 * Pods that run at one time are the replicas of one task as long as each runs once. Where more have to complete than
 * may run, every completion is a task of its own (kubernetes.io, "Parallel execution for Jobs"). One that may run none is paused, and will
 * run at least one at a time.
 */
function arrangePods(
  parallelism: Sourced<number> | undefined,
  completions: Sourced<number> | undefined,
): Pick<RoleReading, 'replicas' | 'tasks' | 'concurrentTasks'> {
  const one = sourced(1, { kind: 'assumed', reason: 'one pod unless the manifest says otherwise' })
  const pods = parallelism ?? one
  if (completions === undefined) return { replicas: pods, tasks: 1, concurrentTasks: 1 }
  if (completions.value <= pods.value) return { replicas: completions, tasks: 1, concurrentTasks: 1 }
  return { replicas: one, tasks: completions.value, concurrentTasks: Math.max(1, pods.value) }
}

/** Runs that are counted for a role by name, instead of by its pods. */
function readRuns(
  root: unknown,
  path: DocumentPath,
  { runs }: RoleRow,
): Partial<Pick<RoleReading, 'tasks' | 'concurrentTasks'>> {
  const tasks = runs && valueAt(root, [...path, ...runs.tasks])
  const atOnce = runs && valueAt(root, [...path, ...runs.atOnce])
  return typeof tasks === 'number' && typeof atOnce === 'number' ? { tasks, concurrentTasks: Math.max(1, atOnce) } : {}
}

/** Copies of a role are more pods of the same task. */
function multiplied(pods: Sourced<number>, copies: readonly Count[]): Sourced<number> {
  return copies.reduce((product, { count }) => {
    if (count === undefined || count.value === 1) return product
    if (product.value === 1) return count
    const formula = `${product.value} pods x ${count.value} copies`
    return sourced(product.value * count.value, { kind: 'computed', formula })
  }, pods)
}

/** Lays the object's deadline over a role: the smaller one bounds what it can take. */
export function asRole(role: RoleReading, ofJob: Sourced<number> | undefined): Role {
  const { reading, replicas, tasks, concurrentTasks, range } = role
  const deadline = shorter(role.deadline, ofJob)
  return {
    name: role.name,
    replicas,
    gpusPerReplica: reading.gpus,
    gpuCount: gpusOfPods(role),
    gpuType: reading.gpuType,
    exclusive: false,
    partitions: reading.pools,
    commandLines: reading.commandLines,
    tasks,
    concurrentTasks,
    ...withoutAbsent({
      gpuVendor: reading.gpuVendor,
      gpuBounds: reading.gpuBounds,
      pin: reading.pin,
      deviceShare: reading.share,
      otherAccelerators: reading.otherAccelerators,
      cpusPerReplica: reading.cpus,
      memoryBytesPerReplica: reading.memoryBytes,
      replicaRange: range,
      mountedFolders: reading.mountedFolders,
      serves: role.serves,
    }),
    ...tighterLimit(reading.timeLimitSeconds, deadline, role),
  }
}

/** The GPUs of all its pods; those of a claim that every pod names are there once. */
export function gpusOfPods({ reading: { gpus, claim }, replicas }: RoleReading): Sourced<number> {
  if (replicas.value === 1 || (claim === 'shared' && replicas.value > 0)) return gpus
  const formula = `${replicas.value} pods x ${gpus.value} GPUs`
  return sourced(gpus.value * replicas.value, { kind: 'computed', formula })
}

/** The shorter of two limits; the one that is there where the other is not. */
export function shorter(
  one: Sourced<number> | undefined,
  other: Sourced<number> | undefined,
): Sourced<number> | undefined {
  return one === undefined || (other !== undefined && other.value < one.value) ? other : one
}

function tighterLimit(
  ofPod: Sourced<number> | undefined,
  ofJob: Sourced<number> | undefined,
  { tasks, concurrentTasks }: RoleReading,
): Pick<Role, 'timeLimitSeconds' | 'limitSpansTasks'> {
  const podSeconds = (ofPod?.value ?? Number.POSITIVE_INFINITY) * tasks
  const jobSeconds = (ofJob?.value ?? Number.POSITIVE_INFINITY) * concurrentTasks
  if (ofJob !== undefined && jobSeconds <= podSeconds) {
    return { timeLimitSeconds: ofJob, ...(tasks > 1 ? { limitSpansTasks: true } : {}) }
  }
  return ofPod === undefined ? {} : { timeLimitSeconds: ofPod }
}

/** What a user has to know about a role before saying yes. */
export function roleWarnings(role: RoleReading): readonly Warning[] {
  const { reading, name, tasks, concurrentTasks } = role
  const warnings: Warning[] = reading.warnings.map(warning => {
    return warning.idleGpus === undefined ? warning : { ...warning, idleGpus: warning.idleGpus * role.replicas.value }
  })
  const { gpuType, share, gpus } = reading
  const place = gpus.origin.kind === 'manifest' ? { place: gpus.origin.place } : {}
  if (tasks > 1) {
    warnings.push({ code: 'multiple-runs', text: `${name}: ${tasks} runs, ${concurrentTasks} at a time` })
  }
  if (gpus.value === 0) return warnings
  if (role.range !== undefined) warnings.push(rangeWarning(role, role.range))
  if (reading.claim === 'shared' && role.replicas.value > 1) {
    const text = `${name}: its ${role.replicas.value} pods share the ${countOf(gpus.value, 'GPU')} of one claim, which are counted once`
    warnings.push({ code: 'fractional-gpu', text, ...place })
  } else if (reading.claim === 'mixed' && role.replicas.value * concurrentTasks > 1) {
    const text = `${name}: its pods share the GPUs of one claim, which are counted for each of them`
    warnings.push({ code: 'gpu-count-unknown', text, ...place })
  }
  if (share !== undefined) warnings.push({ code: 'fractional-gpu', text: shareWords(role), ...place })
  const names = gpuType.names.map(gpu => gpu.value).join(', ')
  if (share?.kind === 'mig' && gpuType.names.every(({ value }) => value === largestProfile(share))) {
    const profile = share.profile === undefined ? '' : `: ${share.profile}`
    const text = `${name}: MIG slices of this size exist on several GPU types, and none is named${profile}`
    warnings.push({ code: 'gpu-type-ambiguous', text, ...place })
  } else if (gpuType.names.length > 1) {
    warnings.push({ code: 'gpu-type-ambiguous', text: `${name}: any of these GPU types will do: ${names}`, ...place })
  } else if (gpuType.basis === 'partition-hint') {
    warnings.push({
      code: 'gpu-type-hint-only',
      text: `${name}: the GPU type ${names} is guessed from the name of a pool, queue or taint`,
      ...place,
    })
  } else if (gpuType.names.length === 0) {
    const bounds = boundWords(reading.gpuBounds)
    const text = `${name}: no node label says which GPU type${bounds === '' ? '' : `, only that it ${bounds}`}`
    warnings.push({ code: bounds === '' ? 'gpu-type-unknown' : 'gpu-type-ambiguous', text, ...place })
  }
  return warnings
}

/** `is none of Tesla-T4 and has at least 40 GiB`. */
function boundWords(bounds: GpuBounds | undefined): string {
  const excluded = bounds?.excluded.map(name => name.value).join(', ') ?? ''
  const memory =
    bounds?.leastMemoryBytes === undefined ? '' : `has at least ${formatGib(bounds.leastMemoryBytes.value)}`
  return [excluded === '' ? '' : `is none of ${excluded}`, memory].filter(words => words !== '').join(' and ')
}

function rangeWarning({ name, reading }: RoleReading, range: NonNullable<Role['replicaRange']>): Warning {
  const gpus = `${range.smallest * reading.gpus.value} to ${range.largest * reading.gpus.value} GPUs`
  const text = `${name}: it may be scaled from ${range.smallest} to ${range.largest} pods: ${gpus}`
  return { code: 'autoscaling-range', text }
}

function shareWords({ name, reading: { share, gpus } }: RoleReading): string {
  const devices = share?.profile?.includes(' ') ? share.profile : `${gpus.value}x ${share?.profile ?? 'a shared GPU'}`
  if (share?.share === undefined) return `${name}: ${devices} a pod, parts of a GPU whose size the file does not tell`
  const sum = Number((share.share * gpus.value).toPrecision(3))
  return `${name}: ${devices} a pod, together ${sum} of a GPU`
}

/** The master of an elastic job stays; its workers come and go. */
export function rangeFor(role: RoleReading, kind: Kind, range: Role['replicaRange']): Role['replicaRange'] {
  return kind.elastic === undefined || kind.elastic.role === role.name ? range : undefined
}
