import { inWords, valueAt } from '../../document.ts'
import type { Role } from '../../job.ts'
import type { Sourced } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import type { Kind } from './kinds.ts'
import { unknownFieldWarnings } from './known-fields.ts'
import type { KubernetesObject } from './objects.ts'
import { QUEUE_LABEL } from './queues.ts'
import { type RoleReading, rangeFor, roleWarnings } from './roles.ts'
import type { Metadata } from './schema.ts'
import { findDeadlines } from './unknown-kinds.ts'

/** What the warnings about a job are drawn from. */
export interface JobFacts {
  readonly roles: readonly RoleReading[]
  readonly range: Role['replicaRange']
  readonly deadline: Sourced<number> | undefined
  readonly endless: boolean
}

/** What a user has to know about a job before saying yes. */
export function jobWarnings(
  object: KubernetesObject,
  kind: Kind,
  metadata: Metadata,
  facts: JobFacts,
): readonly Warning[] {
  const warnings = [
    ...repeatedKeyWarnings(object),
    ...facts.roles.flatMap(roleWarnings),
    ...suspensionWarnings(object, kind, metadata, facts.roles),
    ...refusalWarnings(object, kind, facts.roles),
    ...unknownFieldWarnings(object, facts.roles),
  ]
  if (facts.roles.every(role => role.reading.gpus.value === 0)) return warnings
  return [
    ...warnings,
    ...durationWarnings(object, kind, facts),
    ...rangeWarnings(kind, facts),
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
  else if (!isLimited) warnings.push({ code: 'no-time-limit', text: noLimit(object) })
  return warnings
}

/** A kind that is read through its pods alone may hold deadlines of its parts, which bound it in ways that are not known. */
function noLimit(object: KubernetesObject): string {
  const parts = findDeadlines(object).map(path => inWords([...object.path, ...path]))
  return parts.length === 0
    ? 'activeDeadlineSeconds is not set: nothing bounds the cost'
    : `what bounds the whole is not known: activeDeadlineSeconds stands at ${parts.join(' and ')}`
}

function rangeWarnings(kind: Kind, { roles, range }: JobFacts): readonly Warning[] {
  if (range === undefined) return []
  const gpus = roles.filter(role => rangeFor(role, kind, range) !== undefined).map(role => role.reading.gpus.value)
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
