import { sourced } from '../../sourced.ts'
import { hintedType } from './gpu-type.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'
import type { Metadata } from './schema.ts'

/** Kueue holds objects with this label back until the queue has room (kueue.sigs.k8s.io, "Run Jobs"). */
export const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name'

/** A queue is where all of a job's pods would run, and its name may hint at a GPU type. */
export function inQueue(
  roles: readonly RoleReading[],
  object: KubernetesObject,
  metadata: Metadata,
): readonly RoleReading[] {
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
