import { type DocumentPath, isMapping, valueAt } from '../../document.ts'
import { type Sourced, sourced } from '../../sourced.ts'
import { hintedType } from './gpu-type.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'

/** Kueue holds objects with this label back until the queue has room (kueue.sigs.k8s.io, "Run Jobs"). */
export const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name'
/** Seconds after which Kueue stops what it admitted (kueue.sigs.k8s.io, "Workload", maximum execution time). */
const MAXIMUM_LABEL = 'kueue.x-k8s.io/max-exec-time-seconds'

/** Labels and annotations that name the queue of a scheduler: Kueue, Volcano, KAI, Run:ai, YuniKorn. */
const QUEUE_KEYS = [
  QUEUE_LABEL,
  'scheduling.volcano.sh/queue-name',
  'volcano.sh/queue-name',
  'kai.scheduler/queue',
  'runai/queue',
  'yunikorn.apache.org/queue',
]
const PRIORITY_KEYS = ['kueue.x-k8s.io/priority-class']

/** What an object says of its place in line. */
export interface Placing {
  /** The queue, and whether it holds the object back until it admits it. */
  readonly queue?: Sourced<string> & { readonly admits: boolean }
  readonly priority?: Sourced<string>
  /** Seconds for which the queue lets it run. */
  readonly limitSeconds?: Sourced<number>
}

/** Reads queue and priority from the object, what holds it, and its pods; the first that says so. */
export function readPlacing(object: KubernetesObject, kind: Kind, roles: readonly RoleReading[]): Placing {
  const holders = [
    [...object.path, 'metadata'],
    ...(object.holder === undefined ? [] : [[...object.holder.path, 'metadata']]),
    ...roles.map(role => [...role.podPath, 'metadata']),
  ]
  const marked = (keys: readonly string[]) => holders.flatMap(at => keyed(object, at, keys))
  const written = (path: DocumentPath | undefined) =>
    path === undefined ? [] : textAt(object, [...object.path, ...path])
  const [queue] = [...marked(QUEUE_KEYS), ...written(kind.queue).map(text => ({ key: '', text }))]
  const [priority] = [
    ...marked(PRIORITY_KEYS).map(({ text }) => text),
    ...written(kind.priority),
    ...roles.flatMap(role => textAt(object, [...role.podPath, 'spec', 'priorityClassName'])),
  ]
  const [limit] = marked([MAXIMUM_LABEL])
  const seconds = Number(limit?.text.value)
  return {
    ...(queue !== undefined && { queue: { ...queue.text, admits: queue.key === QUEUE_LABEL } }),
    ...(priority !== undefined && { priority }),
    ...(limit !== undefined && seconds > 0 && { limitSeconds: sourced(seconds, limit.text.origin) }),
  }
}

function keyed(
  object: KubernetesObject,
  metadata: DocumentPath,
  keys: readonly string[],
): readonly { readonly key: string; readonly text: Sourced<string> }[] {
  return ['labels', 'annotations'].flatMap(part => {
    const held = valueAt(object.document.value, [...metadata, part])
    const found = keys.filter(key => isMapping(held) && key in held)
    return found.flatMap(key => textAt(object, [...metadata, part, key]).map(text => ({ key, text })))
  })
}

function textAt({ document }: KubernetesObject, path: DocumentPath): readonly Sourced<string>[] {
  const value = valueAt(document.value, path)
  return typeof value === 'string' && value !== ''
    ? [sourced(value, { kind: 'manifest', place: document.placeOf(path) })]
    : []
}

/** A queue is where all of a job's pods would run, and its name may hint at a GPU type. */
export function inQueue(roles: readonly RoleReading[], { queue }: Placing): readonly RoleReading[] {
  if (queue === undefined) return roles
  const where = sourced(queue.value, queue.origin)
  return roles.map(role => {
    const { gpus, gpuType, share, pools } = role.reading
    const isOpen = gpus.value > 0 && gpuType.basis === 'none' && share === undefined
    return {
      ...role,
      reading: { ...role.reading, pools: [...pools, where], gpuType: isOpen ? hintedType([where]) : gpuType },
    }
  })
}
