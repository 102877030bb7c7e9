import { type DocumentPath, isMapping, type Mapping, valueAt } from '../../document.ts'
import type { DeviceShare, GpuBounds, GpuTypeRequest, Role } from '../../job.ts'
import { sourced } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import type { KubernetesObject } from './objects.ts'
import { readQuantity } from './quantities.ts'
import { migShare } from './resources.ts'

/** What one claim of dynamic resource allocation brings to a pod. */
export interface ClaimReading {
  readonly gpus: number
  readonly share?: DeviceShare
  readonly type?: GpuTypeRequest
  readonly bounds?: GpuBounds
  readonly vendor?: Role['gpuVendor']
  /** Accelerators that are no GPUs, by device class. */
  readonly other: Readonly<Record<string, number>>
  /** Some of its GPUs, or all, are of a claim that is one for all pods that name it. */
  readonly shared?: 'all' | 'some'
  readonly warnings: readonly Warning[]
}

/** Claims of a file by name: their own, those that pods make from a template, and the device classes they name. */
export interface Claims {
  readonly claims: ReadonlyMap<string, KubernetesObject>
  readonly templates: ReadonlyMap<string, KubernetesObject>
  readonly classes: ReadonlyMap<string, KubernetesObject>
  /** Templates that NVIDIA's ComputeDomain makes: network channels, no GPUs. */
  readonly channels: ReadonlySet<string>
  /** Claims that another object holds already: their devices are counted there. */
  readonly taken: ReadonlySet<string>
}

/** Collects what pods may claim. */
export function findClaims(objects: readonly KubernetesObject[]): Claims {
  const named = (kind: string) =>
    new Map(
      objects.flatMap(object => (object.kind === kind && object.name !== undefined ? [[object.name, object]] : [])),
    )
  const channels = objects
    .filter(object => object.kind === 'ComputeDomain')
    .map(object => valueAt(object.value, ['spec', 'channel', 'resourceClaimTemplate', 'name']))
  return {
    claims: named('ResourceClaim'),
    templates: named('ResourceClaimTemplate'),
    classes: named('DeviceClass'),
    channels: new Set(channels.filter(name => typeof name === 'string')),
    taken: new Set(),
  }
}

/** Names of the claims that an object's pods share with whoever else names them. */
export function namedClaims(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namedClaims)
  if (!isMapping(value)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'resourceClaimName' && typeof inner === 'string' ? [inner] : namedClaims(inner),
  )
}

/** Reads a ResourceClaim or ResourceClaimTemplate of resource.k8s.io v1, v1beta2 or v1beta1; undefined where it asks for devices in another way. */
export function readClaim(object: KubernetesObject, claims: Claims): ClaimReading | undefined {
  const path = [...(object.kind === 'ResourceClaimTemplate' ? ['spec', 'spec'] : ['spec']), 'devices', 'requests']
  const requests = valueAt(object.value, path)
  if (!Array.isArray(requests)) return undefined
  return requests
    .map((request, index) => readRequest(request, object, [...object.path, ...path, index], claims))
    .reduce(together, NOTHING)
}

const NOTHING: ClaimReading = { gpus: 0, other: {}, warnings: [] }

/** The devices of several requests or claims; a type or share that only some of them say is not that of all. */
export function together(one: ClaimReading, more: ClaimReading): ClaimReading {
  const other = { ...one.other }
  for (const [name, count] of Object.entries(more.other)) other[name] = (other[name] ?? 0) + count
  const warnings = [...one.warnings, ...more.warnings]
  if (one.gpus === 0 || more.gpus === 0) {
    const { gpus: _, other: __, warnings: ___, ...facts } = one.gpus === 0 ? more : one
    return { ...facts, gpus: one.gpus + more.gpus, other, warnings }
  }
  const gpus = one.gpus + more.gpus
  const names = [...new Set([...(one.type?.names ?? []), ...(more.type?.names ?? [])].map(name => name.value))]
  const isSameType = one.type !== undefined && more.type !== undefined && names.length === one.type.names.length
  const share = meanShare(one, more)
  return {
    gpus,
    other,
    warnings,
    ...((one.shared ?? more.shared) !== undefined && { shared: one.shared === more.shared ? one.shared : 'some' }),
    ...(isSameType && one.type !== undefined && { type: one.type }),
    ...(share !== undefined && { share }),
    ...(one.vendor !== undefined && one.vendor === more.vendor && { vendor: one.vendor }),
  }
}

function meanShare(one: ClaimReading, more: ClaimReading): DeviceShare | undefined {
  if (one.share === undefined && more.share === undefined) return undefined
  const parts = [one, more].map(({ gpus, share }) => ({
    gpus,
    share: share === undefined ? 1 : share.share,
    name: share,
  }))
  const total = parts.reduce((sum, { gpus, share }) => sum + gpus * (share ?? Number.NaN), 0)
  const described = parts.map(({ gpus, name }) =>
    name?.profile?.includes(' ')
      ? name.profile
      : `${gpus}x ${name === undefined ? 'a whole GPU' : (name.profile ?? name.kind)}`,
  )
  const profile = one.share?.profile === more.share?.profile ? one.share?.profile : described.join(' + ')
  return {
    kind: (one.share ?? more.share)?.kind ?? 'mig',
    ...(profile !== undefined && { profile }),
    ...(!Number.isNaN(total) && { share: total / (one.gpus + more.gpus) }),
  }
}

function readRequest(request: unknown, object: KubernetesObject, path: DocumentPath, claims: Claims): ClaimReading {
  const alternatives = valueAt(request, ['firstAvailable'])
  if (!Array.isArray(alternatives)) {
    const exactly = valueAt(request, ['exactly'])
    return isMapping(exactly)
      ? readExactly(exactly, object, [...path, 'exactly'], claims)
      : readExactly(isMapping(request) ? request : {}, object, path, claims)
  }
  const readings = alternatives.map((each, index) =>
    readExactly(isMapping(each) ? each : {}, object, [...path, 'firstAvailable', index], claims),
  )
  return anyOf(readings, object, path)
}

/** The first of a list that can be had: its types are alternatives, and its numbers too where they differ. */
function anyOf(readings: readonly ClaimReading[], object: KubernetesObject, path: DocumentPath): ClaimReading {
  const [first, ...rest] = readings
  if (first === undefined) return NOTHING
  const names = readings.flatMap(({ type }) => type?.names ?? [])
  const hasTypes = readings.every(({ type }) => type !== undefined)
  const counts = [...new Set(readings.map(({ gpus }) => gpus))]
  const isSameShare = rest.every(
    ({ share }) => share?.profile === first.share?.profile && share?.share === first.share?.share,
  )
  const place = object.document.placeOf(path)
  const warnings = readings.flatMap(reading => reading.warnings)
  const differ: Warning = {
    code: counts.length > 1 ? 'gpu-count-unknown' : 'gpu-type-ambiguous',
    text: `the first of ${readings.length} requests that can be had is taken: ${counts.join(' or ')} devices, figures are for the first`,
    place,
  }
  const { type: _, share: __, ...facts } = first
  return {
    ...facts,
    warnings: [...warnings, ...(rest.length === 0 ? [] : [differ])],
    ...(hasTypes && { type: { names, basis: 'constraint' } as const }),
    ...(first.share !== undefined && { share: isSameShare ? first.share : { kind: first.share.kind } }),
  }
}

function readExactly(request: Mapping, object: KubernetesObject, path: DocumentPath, claims: Claims): ClaimReading {
  const className = String(request['deviceClassName'] ?? '')
  const deviceClass = claims.classes.get(className)
  const place = object.document.placeOf([...path, 'deviceClassName'])
  const own = expressionsIn(request['selectors'])
  const inherited = deviceClass === undefined ? [] : expressionsIn(valueAt(deviceClass.value, ['spec', 'selectors']))
  const selection = readSelection([...inherited, ...own])
  const kind = deviceKind(className, selection)
  // Watching devices takes none of them away (resource.k8s.io/v1, DeviceRequest.adminAccess).
  if (kind === 'none' || request['adminAccess'] === true) return NOTHING
  if (kind === 'unknown') {
    const text = `what devices of class ${className} are stands in no DeviceClass of this file: they may be GPUs`
    return { ...NOTHING, warnings: [{ code: 'gpu-count-unknown', text, place }] }
  }
  const count = typeof request['count'] === 'number' ? request['count'] : 1
  if (kind === 'other') return { ...NOTHING, other: { [className]: count } }
  const all: Warning = {
    code: 'gpu-count-unknown',
    text: 'all GPUs of a node that fit are claimed: figures are for one',
    place,
  }
  const origin = { kind: 'manifest', place: object.document.placeOf([...path, 'selectors']) } as const
  const share: DeviceShare = selection.profile === undefined ? { kind: 'mig' } : migShare(selection.profile)
  const vendor = vendorOf(className, selection)
  return {
    gpus: count,
    other: {},
    warnings: request['allocationMode'] === 'All' ? [all] : [],
    ...(kind === 'mig' && { share }),
    ...(selection.products.length > 0 && {
      type: { names: selection.products.map(name => sourced(name, origin)), basis: 'constraint' } as const,
    }),
    ...(selection.memoryBytes !== undefined && {
      bounds: { excluded: [], leastMemoryBytes: sourced(selection.memoryBytes, origin) },
    }),
    ...(vendor !== undefined && { vendor }),
  }
}

function expressionsIn(selectors: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(selectors) ? selectors : []
  return list.map(each => valueAt(each, ['cel', 'expression'])).filter(expression => typeof expression === 'string')
}

/** What CEL expressions insist on, as far as they say it plainly. */
interface Selection {
  readonly products: readonly string[]
  readonly profile: string | undefined
  readonly isMig: boolean
  readonly memoryBytes: number | undefined
  readonly driver: string | undefined
}

const TEXT = /(["'])((?:(?!\1).)*)\1/

function readSelection(expressions: readonly string[]): Selection {
  // Every part of a conjunction has to hold; what is negated says only what it must not be.
  const parts = expressions.flatMap(expression => expression.split('&&')).map(part => part.trim())
  const plain = parts.filter(part => !part.startsWith('!') && !part.includes('!='))
  const textAfter = (attribute: RegExp) => {
    const part = plain.find(each => attribute.test(each) && !each.includes('||'))
    return part === undefined ? undefined : TEXT.exec(part.replace(attribute, ''))?.[2]
  }
  const profile = textAfter(/^.*\bprofile\b["']?\]?\s*==/)
  const type = textAfter(/^.*\btype\b["']?\]?\s*==/)
  const memory = plain
    .map(part => /\bmemory\b.*quantity\(\s*["']([^"']+)["']\s*\)\s*\)\s*(>=?)\s*0/.exec(part))
    .find(match => match !== null)
  return {
    products: plain.map(productsIn).find(names => names.length > 0) ?? [],
    profile,
    isMig: profile !== undefined || type === 'mig',
    memoryBytes: memory == null ? undefined : readQuantity(memory[1] ?? ''),
    driver: textAfter(/^.*\bdriver\s*==/),
  }
}

/** `productName == "…"`, `.matches("…")`, `.contains("…")`, `in ["…", "…"]`, several of them joined by `||`. */
function productsIn(part: string): readonly string[] {
  const alternatives = part.replace(/^\(|\)$/g, '').split('||')
  if (!alternatives.every(each => /\bproductName\b/.test(each) && !each.trim().startsWith('!'))) return []
  return alternatives.flatMap(each => {
    const [, said = ''] = /\bproductName\b["']?\]?(.*)$/s.exec(each) ?? []
    const texts = Array.from(said.matchAll(new RegExp(TEXT, 'g')), ([, , text = '']) => text)
    // A pattern such as `^.*(A100|H100).*$` names its alternatives between what matches anything.
    return texts.flatMap(text => text.replace(/[\^$()]|\.[*+]|\(\?i\)/g, '').split('|')).filter(name => name !== '')
  })
}

/** What a device class stands for, by the names that the drivers of the makers install. */
function deviceKind(className: string, { isMig, driver }: Selection): 'gpu' | 'mig' | 'other' | 'none' | 'unknown' {
  if (isMig || /^mig\./.test(className)) return 'mig'
  if (/^(?:imex|compute-domain[\w-]*)\./.test(className)) return 'none'
  const names = [className, driver ?? '']
  if (names.some(name => /(?:^|\.)gpu\./.test(`${name}.`))) return 'gpu'
  if (names.some(name => /(?:^|[.-])(?:tpu|npu|neuron\w*|gaudi)(?:[.-]|$)/.test(name))) return 'other'
  return 'unknown'
}

function vendorOf(className: string, { driver }: Selection): Role['gpuVendor'] {
  const name = `${className} ${driver ?? ''}`
  if (name.includes('nvidia.com')) return 'NVIDIA'
  if (name.includes('amd.com')) return 'AMD'
  return name.includes('intel.com') ? 'Intel' : undefined
}
