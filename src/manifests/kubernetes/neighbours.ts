import { tryCheck } from '../../document.ts'
import type { KubernetesObject } from './objects.ts'
import { Autoscaler, ConfigMap, ResourceClaimTemplate } from './schema.ts'

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
  /** GPUs of each ResourceClaimTemplate. */
  readonly claimedGpus: ReadonlyMap<string, number>
}

/** Collects what jobs may refer to. What is malformed here is left to the API server: it costs nothing. */
export function readSurroundings(objects: readonly KubernetesObject[]): Surroundings {
  const configMaps = new Map<string, ConfigMapTexts>()
  const replicaRanges = new Map<string, ReplicaRange>()
  const claimedGpus = new Map<string, number>()
  for (const object of objects) {
    if (object.kind === 'ConfigMap') addConfigMap(object, configMaps)
    if (object.kind === 'HorizontalPodAutoscaler' || object.kind === 'ScaledObject') addRange(object, replicaRanges)
    if (object.kind === 'ResourceClaimTemplate') addClaim(object, claimedGpus)
  }
  return { configMaps, replicaRanges, claimedGpus }
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

function addClaim(object: KubernetesObject, claimedGpus: Map<string, number>): void {
  const checked = tryCheck(ResourceClaimTemplate, object.document, object.path)
  if ('faults' in checked || object.name === undefined) return
  const requests = checked.value.spec.spec.devices.requests.map(request => request.exactly ?? request)
  const gpus = requests.filter(request => /(?:^|\.)gpu\./.test(`${request.deviceClassName ?? ''}.`))
  // The number of a request is one unless it says otherwise (resource.k8s.io/v1, DeviceRequest.count).
  claimedGpus.set(
    object.name,
    gpus.reduce((sum, request) => sum + (request.count ?? 1), 0),
  )
}
