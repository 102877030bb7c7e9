import { type DocumentPath, type Mapping, wrongValue, type YamlDocument } from '../../document.ts'
import type { Fault } from '../../errors.ts'
import { readQuantity } from './quantities.ts'
import { isNativeResource } from './resources.ts'
import type { Container } from './schema.ts'

const PARTS_HINT = 'Kubernetes gives no parts of a device; MIG slices and shared GPUs have resource names of their own'

/**
 * What the API server refuses in a container's resources: amounts that are no quantities, parts of a device, a request
 * that is not its limit, names without a domain (k8s.io/kubernetes pkg/apis/core/validation).
 */
export function resourceFaults(container: Container, path: DocumentPath, document: YamlDocument): readonly Fault[] {
  const { limits = {}, requests = {} } = container.resources ?? {}
  const at = (part: 'limits' | 'requests', name: string) => [...path, 'resources', part, name]
  const faults = [
    ...Object.keys(limits).flatMap(name => amountFaults(limits[name], name, at('limits', name), document)),
    ...Object.keys(requests).flatMap(name => amountFaults(requests[name], name, at('requests', name), document)),
  ]
  if (faults.length > 0) return faults
  return Object.keys(requests).flatMap(name => {
    const message = isNativeResource(name) ? undefined : mismatch(name, limits, requests)
    if (message === undefined) return []
    return [{ place: document.placeOf(at('requests', name)), message: `${who(container, path)}: ${message}` }]
  })
}

function amountFaults(amount: unknown, name: string, path: DocumentPath, document: YamlDocument): readonly Fault[] {
  if (!isNativeResource(name) && !name.includes('/')) {
    const hint = 'GPUs are asked for by the name of their device plugin: nvidia.com/gpu, amd.com/gpu'
    return [{ place: document.placeOf(path), message: `${name}: not a resource that Kubernetes knows`, hint }]
  }
  if (amount === null || amount === undefined) return []
  const value = typeof amount === 'string' || typeof amount === 'number' ? readQuantity(amount) : undefined
  if (isNativeResource(name)) {
    return value === undefined ? [wrongValue(document, path, 'a quantity is expected', 'such as 8, 500m or 64Gi')] : []
  }
  if (value === undefined) return [wrongValue(document, path, 'a whole number is expected')]
  if (!Number.isInteger(value)) return [wrongValue(document, path, 'a whole number is expected', PARTS_HINT)]
  return value < 0 ? [wrongValue(document, path, 'a whole number from 0 on is expected')] : []
}

function mismatch(name: string, limits: Mapping, requests: Mapping): string | undefined {
  const request = amountOf(requests, name)
  if (!(name in limits)) return `${name} needs a limit: Kubernetes refuses a request alone (${request})`
  const limit = amountOf(limits, name)
  return request === limit ? undefined : `the request of ${name} (${request}) must equal its limit (${limit})`
}

function who(container: Container, path: DocumentPath): string {
  return `container ${container.name ?? path.at(-1)}`
}

/** An amount that the rules above let pass: nothing written counts as none. */
export function amountOf(amounts: Mapping | undefined, name: string): number {
  const amount = amounts?.[name]
  return typeof amount === 'string' || typeof amount === 'number' ? (readQuantity(amount) ?? 0) : 0
}
