import { showText } from '../../bash/text.ts'
import { type DeclarationEntry, readDeclarations } from '../../declarations.ts'
import { type DocumentPath, tryCheck, valueAt } from '../../document.ts'
import type { Fault } from '../../errors.ts'
import type { Job, Role } from '../../job.ts'
import { findSession, saysIdleLimit } from '../../sessions.ts'
import { type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import { findGang } from './gangs.ts'
import { type Kind, titleOf } from './kinds.ts'
import type { Surroundings } from './neighbours.ts'
import type { KubernetesObject } from './objects.ts'
import { placePrograms } from './programs.ts'
import { inQueue, type Placing, readPlacing } from './queues.ts'
import { asRole, type RoleReading, rangeFor, readRoles, shorter } from './roles.ts'
import { Metadata, WholeNumber } from './schema.ts'
import { jobWarnings } from './warnings.ts'

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
  const range = rangeOf(object, kind, surroundings)
  const placing = readPlacing(object, kind, foundRoles)
  const limit = shorter(deadline.number, placing.limitSeconds)
  const roles = inQueue(foundRoles, placing).map(role => ({
    ...role,
    ...withoutAbsent({ range: role.range ?? rangeFor(role, kind, range) }),
  }))
  const isSession = limit === undefined && isNothingButSession(object, roles)
  const endless = isSession || isEndless(kind, roles)
  const gang = findGang(object, kind, metadata.value, roles)
  return {
    job: {
      name: showText(metadata.value.name ?? metadata.value.generateName ?? object.kind),
      scheduler: 'kubernetes',
      kind: titleOf(object),
      place: document.placeOf([...path, 'kind']),
      roles: placePrograms(kind, roles, object).map(role => onSomeNodes(kind, asRole(role, limit))),
      endless,
      ...(endsWhenIdle(metadata.value, roles) && { endsWhenIdle: true }),
      ...(gang !== undefined && { gang }),
      destination: destinationOf(metadata.value, placing),
      ...(metadata.value.labels !== undefined && { labels: shownLabels(metadata.value.labels) }),
      declarations: declared.declarations,
      warnings: jobWarnings(object, kind, { roles, placing, gang, deadline: limit, endless, isSession }),
    },
  }
}

/** How many nodes there are is the cluster's affair. */
function onSomeNodes({ onEveryNode }: Kind, role: Role): Role {
  if (onEveryNode !== true || role.gpuCount.value === 0) return role
  const origin = { kind: 'assumed', reason: 'one node of those that fit' } as const
  return { ...role, replicas: sourced(1, origin), gpuCount: sourced(role.gpuCount.value, origin) }
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
  if (kind.restartsAfterSuccess !== true) return false
  return roles.every(
    role => (role.restartPolicy ?? 'Always') === 'Always' && role.reading.timeLimitSeconds === undefined,
  )
}

/** A pod that nothing ends and that starts only what waits for a person. */
function isNothingButSession({ document, path, kind }: KubernetesObject, roles: readonly RoleReading[]): boolean {
  const [role, ...others] = roles
  if (role === undefined || others.length > 0 || (role.deadline ?? role.reading.timeLimitSeconds) !== undefined)
    return false
  const session = findSession({ kind, place: document.placeOf([...path, 'kind']), roles: [role.reading] })
  const isBusy = role.reading.commandLines.some(line => line.launches.length > 0 && line.place !== session?.place)
  return session !== undefined && session.isDetached !== true && !isBusy
}

/** What the culler of Kubeflow's notebook controller writes on each notebook that it watches (kubeflow.org, "Configure Culling for Notebooks"). */
const CULLED = /^notebooks\.kubeflow\.org\/last[-_]activity(?:[-_]check[-_]timestamp)?$/

/** A culler watches it, or its server is told in a variable to end itself. */
function endsWhenIdle({ annotations = {} }: Metadata, roles: readonly RoleReading[]): boolean {
  const variables = roles.flatMap(role => role.pod.spec.containers.flatMap(({ env = [] }) => env))
  return (
    Object.keys(annotations).some(key => CULLED.test(key)) || variables.some(({ value }) => saysIdleLimit(value ?? ''))
  )
}

function destinationOf(metadata: Metadata, { queue, priority }: Placing): Readonly<Record<string, string>> {
  const said = withoutAbsent({ namespace: metadata.namespace, queue: queue?.value, priority: priority?.value })
  return Object.fromEntries(Object.entries(said).map(([key, value]) => [key, showText(value)]))
}

function shownLabels(labels: NonNullable<Metadata['labels']>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [showText(name), showText(value)]))
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
