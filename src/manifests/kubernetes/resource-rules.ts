import {
  type DocumentPath,
  inWords,
  isMapping,
  type Mapping,
  valueAt,
  wrongValue,
  type YamlDocument,
} from '../../document.ts'
import type { Fault } from '../../errors.ts'
import { readQuantity } from './quantities.ts'
import { isNativeResource } from './resources.ts'

const PARTS_HINT = 'Kubernetes gives no parts of a device; MIG slices and shared GPUs have resource names of their own'

/**
 * What the API server refuses in the resources of a pod's containers: amounts that are no quantities, parts of a device,
 * a request that is not its limit or exceeds it, names without a domain (k8s.io/kubernetes pkg/apis/core/validation). It looks at the
 * text as it stands, so that these faults are told beside those of the schema.
 */
export function resourceFaults(podPath: DocumentPath, document: YamlDocument): readonly Fault[] {
  return ['initContainers', 'containers'].flatMap(part => {
    const path = [...podPath, 'spec', part]
    const containers = valueAt(document.value, path)
    if (!Array.isArray(containers)) return containerFaults(path, document)
    return containers.flatMap((_, index) => containerFaults([...path, index], document))
  })
}

function containerFaults(path: DocumentPath, document: YamlDocument): readonly Fault[] {
  const limits = mappingAt([...path, 'resources', 'limits'], document)
  const requests = mappingAt([...path, 'resources', 'requests'], document)
  const at = (part: 'limits' | 'requests', name: string) => [...path, 'resources', part, name]
  const faults = [
    ...Object.keys(limits).flatMap(name => amountFaults(limits[name], name, () => at('limits', name), document)),
    ...Object.keys(requests).flatMap(name => amountFaults(requests[name], name, () => at('requests', name), document)),
  ]
  if (faults.length > 0) return faults
  const name = valueAt(document.value, [...path, 'name'])
  const who = typeof name === 'string' ? `container ${name}` : inWords(path)
  return Object.keys(requests).flatMap(resource => {
    const message = isNativeResource(resource)
      ? excess(resource, limits, requests)
      : mismatch(resource, limits, requests)
    if (message === undefined) return []
    return [{ place: document.placeOf(at('requests', resource)), message: `${who}: ${message}` }]
  })
}

function mappingAt(path: DocumentPath, document: YamlDocument): Mapping {
  const value = valueAt(document.value, path)
  return isMapping(value) ? value : {}
}

function amountFaults(
  amount: unknown,
  name: string,
  path: () => DocumentPath,
  document: YamlDocument,
): readonly Fault[] {
  if (!isNativeResource(name) && !name.includes('/')) {
    const hint = 'GPUs are asked for by the name of their device plugin: nvidia.com/gpu, amd.com/gpu'
    return [{ place: document.placeOf(path()), message: `${name}: not a resource that Kubernetes knows`, hint }]
  }
  if (amount === null || amount === undefined) return []
  const value = typeof amount === 'string' || typeof amount === 'number' ? readQuantity(amount) : undefined
  if (isNativeResource(name)) {
    const isQuantity = value !== undefined && value >= 0
    return isQuantity ? [] : [wrongValue(document, path(), 'a quantity is expected', 'such as 8, 500m or 64Gi')]
  }
  if (value === undefined) return [wrongValue(document, path(), 'a whole number is expected')]
  if (!Number.isInteger(value)) return [wrongValue(document, path(), 'a whole number is expected', PARTS_HINT)]
  return value < 0 ? [wrongValue(document, path(), 'a whole number from 0 on is expected')] : []
}

function mismatch(name: string, limits: Mapping, requests: Mapping): string | undefined {
  const request = amountOf(requests, name)
  if (!(name in limits)) return `${name} needs a limit: Kubernetes refuses a request alone (${request})`
  const limit = amountOf(limits, name)
  return request === limit ? undefined : `the request of ${name} (${request}) must equal its limit (${limit})`
}

function excess(name: string, limits: Mapping, requests: Mapping): string | undefined {
  if (limits[name] == null || amountOf(requests, name) <= amountOf(limits, name)) return undefined
  return `the request of ${name} (${requests[name]}) is larger than its limit (${limits[name]})`
}

/** An amount that the rules above let pass: nothing written counts as none. */
export function amountOf(amounts: Mapping | undefined, name: string): number {
  const amount = amounts?.[name]
  return typeof amount === 'string' || typeof amount === 'number' ? (readQuantity(amount) ?? 0) : 0
}
