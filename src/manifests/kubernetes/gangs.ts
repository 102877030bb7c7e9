import { type DocumentPath, valueAt } from '../../document.ts'
import { type Sourced, sourced } from '../../sourced.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import { QUEUE_LABEL } from './queues.ts'
import type { RoleReading } from './roles.ts'
import type { Metadata } from './schema.ts'

/** Schedulers that start the pods of one group together (their own documentation: Volcano, NVIDIA KAI, Apache YuniKorn). */
const GANG_SCHEDULERS: readonly unknown[] = ['volcano', 'kai-scheduler', 'runai-scheduler', 'yunikorn']

/** Labels and annotations that put a pod into a group: Kueue's, the coscheduling plugin's, Volcano's, YuniKorn's, KubeRay's for these. */
const GROUP_KEYS = [
  QUEUE_LABEL,
  'kueue.x-k8s.io/pod-group-name',
  'scheduling.x-k8s.io/pod-group',
  'pod-group.scheduling.sigs.k8s.io',
  'pod-group.scheduling.sigs.k8s.io/name',
  'scheduling.k8s.io/group-name',
  'yunikorn.apache.org/task-groups',
  'ray.io/scheduler-name',
  'ray.io/gang-scheduling-enabled',
]
/** Fields of a pod that put it into a group of the scheduler itself (scheduling.k8s.io, alpha in 1.35, beta in 1.37). */
const GROUP_FIELDS = ['schedulingGroup', 'workloadRef']

/** What makes all pods of an object start together, by its own words; undefined where nothing does that is known here. */
export function findGang(
  object: KubernetesObject,
  kind: Kind,
  metadata: Metadata,
  roles: readonly RoleReading[],
): Sourced<string> | undefined {
  const at = (path: DocumentPath, text: string) =>
    sourced(text, { kind: 'manifest', place: object.document.placeOf(path) })
  const held = object.holder && valueAt(object.holder.value, ['metadata', 'labels', QUEUE_LABEL])
  if (held !== undefined) return at([...(object.holder?.path ?? []), 'metadata', 'labels', QUEUE_LABEL], QUEUE_LABEL)
  if (kind.gang !== undefined) {
    const path = [...object.path, ...kind.gang.at]
    const value = valueAt(object.document.value, path)
    const pods = roles.reduce((sum, role) => sum + role.replicas.value, 0)
    if (typeof value === 'number') return at(path, `${kind.gang.word} ${value} of ${pods} pods`)
    if (value != null || kind.gang.always === true) return at(path, kind.gang.word)
  }
  const holders = [
    { metadata, path: [...object.path, 'metadata'] },
    ...roles.map(role => ({ metadata: role.metadata, path: [...role.podPath, 'metadata'] })),
  ]
  for (const { metadata: holder, path } of holders) {
    for (const kind of ['labels', 'annotations'] as const) {
      const key = GROUP_KEYS.find(name => holder?.[kind]?.[name] !== undefined)
      if (key !== undefined) return at([...path, kind, key], key)
    }
  }
  for (const { podPath } of roles) {
    const field = GROUP_FIELDS.find(name => valueAt(object.document.value, [...podPath, 'spec', name]) != null)
    if (field !== undefined) return at([...podPath, 'spec', field], field)
    const path = [...podPath, 'spec', 'schedulerName']
    const scheduler = valueAt(object.document.value, path)
    if (GANG_SCHEDULERS.includes(scheduler)) return at(path, `schedulerName ${String(scheduler)}`)
  }
  // training-operator and mpi-operator make a PodGroup of it.
  const policy = [...object.path, 'spec', 'runPolicy', 'schedulingPolicy']
  return valueAt(object.document.value, policy) == null ? undefined : at(policy, 'schedulingPolicy')
}
