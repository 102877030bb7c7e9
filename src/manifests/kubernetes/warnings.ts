import { type DocumentPath, inWords, isMapping, valueAt } from '../../document.ts'
import type { Place } from '../../errors.ts'
import type { Sourced } from '../../sourced.ts'
import { countOf } from '../../units.ts'
import type { Warning } from '../../warning.ts'
import { findKind, type Kind } from './kinds.ts'
import { unknownFieldWarnings } from './known-fields.ts'
import type { KubernetesObject } from './objects.ts'
import type { Placing } from './queues.ts'
import { gpusOfPods, isScaled, type RoleReading, roleWarnings } from './roles.ts'
import { findDeadlines } from './unknown-kinds.ts'

/** What the warnings about a job are drawn from. */
export interface JobFacts {
  readonly roles: readonly RoleReading[]
  readonly placing: Placing
  readonly gang: Sourced<string> | undefined
  readonly deadline: Sourced<number> | undefined
  readonly endless: boolean
  /** It waits for a person, and does nothing again that failed. */
  readonly isSession: boolean
}

/** What a user has to know about a job before saying yes. */
export function jobWarnings(object: KubernetesObject, kind: Kind, facts: JobFacts): readonly Warning[] {
  const warnings = [
    ...repeatedKeyWarnings(object),
    ...facts.roles.flatMap(roleWarnings),
    ...suspensionWarnings(object, kind, facts),
    ...refusalWarnings(object, kind, facts.roles),
    ...gangSizeWarnings(object, kind, facts.roles),
    ...facts.roles.flatMap(role => toldGpuWarnings(object, role)),
    ...unknownFieldWarnings(object, facts.roles),
  ]
  if (!facts.roles.some(holdsDevices)) return warnings
  return [
    ...warnings,
    ...durationWarnings(object, kind, facts),
    ...gangWarnings(facts),
    ...scaleWarnings(object, facts.roles),
    ...leftOverWarnings(object, kind, facts.roles),
    ...(kind.awaitsPrograms === true ? [awaitsPrograms(object)] : []),
    ...(facts.isSession || (facts.endless && kind.endless === true) ? [] : retryWarnings(object, kind, facts.roles)),
  ]
}

/** GPUs, or accelerators that are none: both are paid for as long as it runs. */
function holdsDevices({ reading }: RoleReading): boolean {
  return reading.gpus.value > 0 || reading.otherAccelerators !== undefined
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

function suspensionWarnings(object: KubernetesObject, kind: Kind, { roles, placing }: JobFacts): readonly Warning[] {
  const suspended = suspendedBy(object, kind)
  const queue = placing.queue?.admits === true ? placing.queue : undefined
  if (suspended !== undefined) {
    const until = queue === undefined ? 'somebody resumes it' : `queue ${queue.value} admits it`
    const place = object.document.placeOf(suspended)
    return [{ code: 'suspended', text: `it is suspended and starts when ${until}`, place }]
  }
  if (queue !== undefined) {
    const place = queue.origin.kind === 'manifest' ? { place: queue.origin.place } : {}
    return [{ code: 'suspended', text: `it waits until queue ${queue.value} admits it`, ...place }]
  }
  const paused = roles.filter(role => role.replicas.value === 0 && role.range === undefined)
  return paused.map(role => ({
    code: 'suspended',
    text: `${role.name}: no pods are asked for until that number is raised`,
  }))
}

/** Where a program is told another number of GPUs than its pod has: only what the pod asks for is reserved and paid. */
function toldGpuWarnings(
  { document }: KubernetesObject,
  { name, row, path, reading }: RoleReading,
): readonly Warning[] {
  const at = row.toldGpus && [...path, ...row.toldGpus]
  const written = at && valueAt(document.value, at)
  const told = Number(written ?? Number.NaN)
  const gpus = reading.gpus.value
  if (at === undefined || Number.isNaN(told) || told === gpus) return []
  const place = document.placeOf(at)
  if (told < gpus) {
    const text = `${name}: its pods have ${countOf(gpus, 'GPU')}, ${String(at.at(-1))} tells the program of ${told}`
    return [{ code: 'idle-gpus', text, place, idleGpus: gpus - told }]
  }
  const text = `${name}: ${String(at.at(-1))} tells the program of ${countOf(told, 'GPU')}, its pods ask for ${gpus}: figures are for what the pods ask for`
  return [{ code: 'conflict', text, place }]
}

/** More pods that have to be there than there are; the controllers' webhooks refuse that. */
function gangSizeWarnings(
  { document, path }: KubernetesObject,
  kind: Kind,
  roles: readonly RoleReading[],
): readonly Warning[] {
  const at = kind.gang && [...path, ...kind.gang.at]
  const size = at && valueAt(document.value, at)
  const pods = roles.reduce((sum, role) => sum + role.replicas.value, 0)
  if (at === undefined || typeof size !== 'number' || size <= pods) return []
  const text = `${kind.gang?.word} is ${size}, but there are ${countOf(pods, 'pod')}: it will be refused or never start`
  return [{ code: 'scheduler-will-refuse', text, place: document.placeOf(at) }]
}

/** Where it says that it is to wait: the object, or the one that holds it. */
function suspendedBy({ document, path, holder }: KubernetesObject, kind: Kind): DocumentPath | undefined {
  const paths = [
    ...(kind.suspend === undefined ? [] : [[...path, ...kind.suspend]]),
    ...(holder === undefined ? [] : [[...holder.path, 'spec', 'suspend']]),
  ]
  return paths.find(each => (valueAt(document.value, each) ?? false) !== false)
}

/** Pods that hold their GPUs and wait for the others, where nothing starts them together. */
function gangWarnings({ roles, gang, endless }: JobFacts): readonly Warning[] {
  // Pods that share the GPUs of one claim hold them as soon as one of them does.
  const pods = roles.reduce((sum, role) => sum + gpusOfPods(role).value / Math.max(1, role.reading.gpus.value), 0)
  if (endless || gang !== undefined || pods < 2) return []
  const gpus = roles.reduce((sum, role) => sum + gpusOfPods(role).value, 0)
  const idleGpus = gpus - Math.max(...roles.map(role => role.reading.gpus.value))
  const text = `nothing starts its ${pods} pods with GPUs together: while the last waits for room, up to ${countOf(idleGpus, 'GPU')} ${idleGpus === 1 ? 'stands' : 'stand'} idle`
  return [{ code: 'no-gang', text, idleGpus }]
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
  const isLimited =
    deadline !== undefined ||
    roles.every(
      role => !holdsDevices(role) || role.reading.timeLimitSeconds !== undefined || role.deadline !== undefined,
    )
  if (endless)
    warnings.push({ code: 'long-running-service', text: 'it runs until it is deleted: its cost is one an hour' })
  else if (!isLimited) warnings.push({ code: 'no-time-limit', text: noLimit(object, kind) })
  return warnings
}

/** A kind that is read through its pods alone may hold deadlines of its parts, which bound it in ways that are not known. */
function noLimit(object: KubernetesObject, kind: Kind): string {
  if (findKind(object.group, object.kind) !== undefined && kind.deadline === undefined) {
    return 'its pods have no activeDeadlineSeconds: nothing bounds the cost'
  }
  const parts = findDeadlines(object).map(path => inWords([...object.path, ...path]))
  return parts.length === 0
    ? 'activeDeadlineSeconds is not set: nothing bounds the cost'
    : `what bounds the whole is not known: activeDeadlineSeconds stands at ${parts.join(' and ')}`
}

/** What all roles with an autoscaler come to together, and what nothing bounds. */
function scaleWarnings(object: KubernetesObject, roles: readonly RoleReading[]): readonly Warning[] {
  const accelerated = roles.filter(role => role.reading.gpus.value > 0)
  const unbounded = accelerated.filter(role => role.range === undefined && role.row.range?.scaler !== undefined)
  const warnings = unbounded
    .filter(role => isScaled(object, role.row) && isOpen(object, role))
    .map(
      (role): Warning => ({
        code: 'autoscaling-range',
        text: `${role.name}: no largest number of pods bounds what its autoscaler may add`,
        place: object.document.placeOf(role.path),
      }),
    )
  const scaled = accelerated.filter(role => role.range !== undefined)
  if (scaled.length === 0 || (accelerated.length === 1 && warnings.length === 0)) return warnings
  const total = (pods: (role: RoleReading) => number) =>
    accelerated.reduce((sum, role) => sum + pods(role) * role.reading.gpus.value, 0)
  const smallest = total(role => role.range?.smallest ?? role.replicas.value)
  const largest = total(role => role.range?.largest ?? role.replicas.value)
  const text = `all roles together: ${smallest} to ${warnings.length > 0 ? 'any number of' : largest} GPUs`
  return [...warnings, { code: 'autoscaling-range', text }]
}

function isOpen({ document }: KubernetesObject, { row, path }: RoleReading): boolean {
  return row.range !== undefined && valueAt(document.value, [...path, ...row.range.largest]) == null
}

function awaitsPrograms({ document, path, kind }: KubernetesObject): Warning {
  const text = `a ${kind} stands ready for programs that are handed to it later: what they compute is not in the file`
  return { code: 'no-training-facts', text, place: document.placeOf([...path, 'kind']) }
}

/** Pods that stay when the work is done. */
function leftOverWarnings(object: KubernetesObject, kind: Kind, roles: readonly RoleReading[]): readonly Warning[] {
  const { cleansUp } = kind
  if (cleansUp === undefined) return []
  const isCleaned = cleansUp.some(path => (valueAt(object.value, path) ?? false) !== false)
  if (isCleaned) return []
  const gpus = roles.reduce((sum, role) => sum + gpusOfPods(role).value, 0)
  if (gpus === 0) return []
  const [switched = []] = cleansUp
  const text = `its cluster keeps ${countOf(gpus, 'GPU')} after the work is done, until somebody deletes it: ${inWords(switched)} is not true`
  const place = object.document.placeOf([...object.path, ...switched])
  return [{ code: 'idle-gpus', text, place, idleGpus: gpus }]
}

function retryWarnings(object: KubernetesObject, kind: Kind, roles: readonly RoleReading[]): readonly Warning[] {
  const again = (text: string): Warning => ({
    code: 'retries-multiply-cost',
    text: `${text}: each attempt costs as much again`,
  })
  const { retries } = kind
  const counts = retries?.byPolicy !== true || restartsByPolicy(object.value)
  const written = counts ? writtenRetries(object, object.path, retries?.paths ?? []) : undefined
  const byDefault = [undefined, object.version].includes(retries?.defaultIn) ? retries?.default : undefined
  const times = counts ? (written?.times ?? byDefault) : undefined
  if (written !== undefined && written.times > 0) {
    return [{ ...again(`failed pods are started again, ${inTimes(written.times)}`), place: written.place }]
  }
  if (times !== undefined && times > 0) {
    const key = retries?.paths.at(-1)?.at(-1) ?? ''
    return [again(`failed pods are started again, ${times} times by default (${key} is not set)`)]
  }
  const held = holderRetries(object)
  if (held.length > 0) return held.map(({ text, place }) => ({ ...again(text), place }))
  const inner = roles.flatMap(role => innerRetries(object, role))
  const [worst] = inner.filter(each => each.times > 0).toSorted((a, b) => b.times - a.times)
  if (worst !== undefined) {
    const text = `failed pods of ${worst.name} are started again, ${inTimes(worst.times)}${worst.isDefault ? ' by default' : ''}`
    return [{ ...again(text), place: worst.place }]
  }
  if (times !== undefined || inner.length > 0) return []
  const restarted = roles.find(
    role => holdsDevices(role) && role.restartPolicy !== undefined && role.restartPolicy !== 'Never',
  )
  if (restarted === undefined) return []
  return [again(`restartPolicy ${restarted.restartPolicy} starts ${restarted.name} again whenever it fails`)]
}

/** An AppWrapper makes what it holds again when that fails, three times by default (project-codeflare/appwrapper, fault tolerance). */
function holderRetries({
  document,
  holder,
}: KubernetesObject): readonly { readonly text: string; readonly place: Place }[] {
  if (holder?.kind !== 'AppWrapper') return []
  const at = [...holder.path, 'metadata', 'annotations', 'workload.codeflare.dev.appwrapper/retryLimit']
  const written = valueAt(document.value, at)
  const times = written === undefined ? 3 : Number(written)
  if (times === 0) return []
  const text = `the AppWrapper makes it again when it fails, ${inTimes(times)}${written === undefined ? ' by default' : ''}`
  return [{ text, place: document.placeOf(written === undefined ? holder.path : at) }]
}

function inTimes(times: number): string {
  return times === 1 ? 'once' : `${times} times`
}

function writtenRetries(
  { document }: KubernetesObject,
  base: DocumentPath,
  paths: readonly DocumentPath[],
): { readonly times: number; readonly place: Place } | undefined {
  for (const path of paths) {
    const times = valueAt(document.value, [...base, ...path])
    if (typeof times === 'number') return { times, place: document.placeOf([...base, ...path]) }
  }
  return undefined
}

/** How often a role with GPUs is started again by what makes its pods, such as the Jobs of a JobSet. */
function innerRetries(
  object: KubernetesObject,
  role: RoleReading,
): readonly { readonly name: string; readonly times: number; readonly isDefault: boolean; readonly place: Place }[] {
  const { path, name } = role
  const { retries } = role.row
  if (retries === undefined || !holdsDevices(role)) return []
  const written = writtenRetries(object, path, [retries.path])
  const place = written?.place ?? object.document.placeOf(path)
  return [{ name, times: written?.times ?? retries.default, isDefault: written === undefined, place }]
}

/** Whether a policy somewhere in an object has an action such as RestartJob (batch.volcano.sh, LifecyclePolicy). */
function restartsByPolicy(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(restartsByPolicy)
  if (!isMapping(value)) return false
  if (typeof value['action'] === 'string' && /^Restart/.test(value['action'])) return true
  return Object.entries(value).some(([key, inner]) => key !== 'template' && restartsByPolicy(inner))
}
