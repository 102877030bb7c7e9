import { tryCheck } from '../../document.ts'
import { type Claims, findClaims } from './claims.ts'
import type { KubernetesObject } from './objects.ts'
import { Autoscaler, ConfigMap } from './schema.ts'

/** A ConfigMap of the same file. */
export interface ConfigMapTexts {
  readonly object: KubernetesObject
  readonly data: Readonly<Record<string, string>>
}

/** How far an autoscaler may change the number of pods. */
export interface ReplicaRange {
  readonly smallest: number
  readonly largest: number
}

/** What the other documents of a file add to its jobs. */
export interface Surroundings {
  readonly configMaps: ReadonlyMap<string, ConfigMapTexts>
  /** By kind and name of what is scaled, `Deployment/api`. */
  readonly replicaRanges: ReadonlyMap<string, ReplicaRange>
  readonly claims: Claims
}

/** Collects what jobs may refer to. What is malformed here is left to the API server: it costs nothing. */
export function readSurroundings(objects: readonly KubernetesObject[]): Surroundings {
  const configMaps = new Map<string, ConfigMapTexts>()
  const replicaRanges = new Map<string, ReplicaRange>()
  for (const object of objects) {
    if (object.kind === 'ConfigMap') addConfigMap(object, configMaps)
    if (object.kind === 'HorizontalPodAutoscaler' || object.kind === 'ScaledObject') addRange(object, replicaRanges)
  }
  return { configMaps, replicaRanges, claims: findClaims(objects) }
}

function addConfigMap(object: KubernetesObject, configMaps: Map<string, ConfigMapTexts>): void {
  const checked = tryCheck(ConfigMap, object.document, object.path)
  const name = 'value' in checked ? checked.value.metadata?.name : undefined
  if ('value' in checked && name !== undefined) configMaps.set(name, { object, data: checked.value.data ?? {} })
}

function addRange(object: KubernetesObject, ranges: Map<string, ReplicaRange>): void {
  const checked = tryCheck(Autoscaler, object.document, object.path)
  if ('faults' in checked) return
  const { scaleTargetRef, minReplicas, maxReplicas, minReplicaCount, maxReplicaCount } = checked.value.spec
  // Defaults: one for the HorizontalPodAutoscaler (autoscaling/v2), none and a hundred for KEDA (keda.sh/v1alpha1).
  const isKeda = object.kind === 'ScaledObject'
  const smallest = minReplicas ?? minReplicaCount ?? (isKeda ? 0 : 1)
  const largest = maxReplicas ?? maxReplicaCount ?? (isKeda ? 100 : smallest)
  ranges.set(`${scaleTargetRef.kind ?? 'Deployment'}/${scaleTargetRef.name}`, { smallest, largest })
}
