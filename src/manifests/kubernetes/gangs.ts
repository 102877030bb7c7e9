import { type DocumentPath, valueAt } from '../../document.ts'
import { type Sourced, sourced } from '../../sourced.ts'
import type { KubernetesObject } from './objects.ts'
import { QUEUE_LABEL } from './queues.ts'
import type { RoleReading } from './roles.ts'
import type { Metadata } from './schema.ts'

/** Schedulers that start the pods of one group together (their own documentation: Volcano, NVIDIA KAI, Apache YuniKorn). */
const GANG_SCHEDULERS: readonly unknown[] = ['volcano', 'kai-scheduler', 'yunikorn']

/** Labels and annotations that put a pod into a group: Kueue's, the coscheduling plugin's, Volcano's, YuniKorn's. */
const GROUP_KEYS = [
  QUEUE_LABEL,
  'kueue.x-k8s.io/pod-group-name',
  'scheduling.x-k8s.io/pod-group',
  'pod-group.scheduling.sigs.k8s.io',
  'scheduling.k8s.io/group-name',
  'yunikorn.apache.org/task-groups',
]

/** What makes all pods of an object start together, by its own words; undefined where nothing does that is known here. */
export function findGang(
  object: KubernetesObject,
  metadata: Metadata,
  roles: readonly RoleReading[],
): Sourced<string> | undefined {
  const at = (path: DocumentPath, text: string) =>
    sourced(text, { kind: 'manifest', place: object.document.placeOf(path) })
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
    const path = [...podPath, 'spec', 'schedulerName']
    const scheduler = valueAt(object.document.value, path)
    if (GANG_SCHEDULERS.includes(scheduler)) return at(path, `schedulerName ${String(scheduler)}`)
  }
  // training-operator and mpi-operator make a PodGroup of it.
  const policy = [...object.path, 'spec', 'runPolicy', 'schedulingPolicy']
  return valueAt(object.document.value, policy) == null ? undefined : at(policy, 'schedulingPolicy')
}
