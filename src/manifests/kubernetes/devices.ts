import type { Place } from '../../errors.ts'
import type { DeviceShare, GpuBounds, GpuTypeRequest, Role } from '../../job.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import { type ClaimReading, readClaim, together } from './claims.ts'
import { type PlacedPod, reservedFor, steadyAmount } from './containers.ts'
import { amountOf } from './resource-rules.ts'
import { type Device, deviceOf, SHARE_MEMORIES, SHARE_PERCENTAGES, vendorOf } from './resources.ts'
import type { Container, PodSpec } from './schema.ts'

/** The GPUs and other accelerators that one pod asks for. */
export interface Devices {
  readonly gpus: Sourced<number>
  readonly share?: DeviceShare
  readonly type?: GpuTypeRequest
  readonly bounds?: GpuBounds
  readonly vendor?: Role['gpuVendor']
  readonly other?: Readonly<Record<string, number>>
  /** Some GPUs come by a claim, of its own or one for all pods that name it. */
  readonly claim?: 'own' | 'shared' | 'mixed'
  readonly warnings: readonly Warning[]
}

/** Counts a pod's devices by their resource names, claims and annotations. */
export function readDevices(placed: PlacedPod): Devices {
  const { spec } = placed.pod
  const names = new Set(placed.containers.flatMap(({ container }) => Object.keys(container.resources?.limits ?? {})))
  const named: Record<string, number> = {}
  const gpus: CountedDevice[] = []
  for (const name of names) {
    const device = deviceOf(name)
    const amount = device === undefined ? 0 : reservedFor(spec, limitOf(name))
    if (device === undefined || amount === 0) continue
    if (device.kind === 'other') named[name] = amount
    else gpus.push({ name, ...countOf(device, amount) })
  }
  const claims = readClaims(placed)
  const fraction = gpus.length + claims.gpus === 0 ? annotatedFraction(placed) : undefined
  const count = gpus.reduce((sum, device) => sum + device.count, claims.gpus + (fraction?.gpus ?? 0))
  const ofNames = combinedShare(gpus, claims.gpus) ?? fractionOf(spec)
  const share = gpus.length === 0 ? (claims.share ?? fraction?.share) : ofNames
  const type = namedByResource(gpus, placed) ?? (gpus.length === 0 ? claims.type : chosenByAnnotation(placed))
  const vendor = gpus.map(({ name }) => vendorOf(name)).find(each => each !== undefined) ?? claims.vendor
  const other = { ...named, ...claims.other }
  return {
    gpus: sourced(
      count,
      fraction === undefined ? gpuOrigin(placed, gpus) : { kind: 'manifest', place: fraction.place },
    ),
    ...(claims.gpus > 0 && { claim: sharedBy(claims, gpus.length > 0) }),
    ...withoutAbsent({ share, type, vendor, bounds: claims.bounds }),
    ...(Object.keys(other).length === 0 ? {} : { other }),
    warnings: [...claims.warnings, ...initContainerWarnings(placed, gpus), ...otherWarnings(other)],
  }
}

interface CountedDevice {
  readonly name: string
  readonly count: number
  readonly share: DeviceShare | undefined
  readonly type: string | undefined
}

/** The devices that an amount of a resource means. */
function countOf(device: Exclude<Device, { readonly kind: 'other' }>, amount: number): Omit<CountedDevice, 'name'> {
  if (device.kind === 'gpu') return { count: amount, share: undefined, type: device.type }
  if (device.kind === 'share') return { count: amount, share: device.share, type: undefined }
  if (device.kind === 'memory') return { count: 1, share: { kind: 'fraction' }, type: undefined }
  const count = Math.ceil(amount / 100)
  return { count, share: amount < 100 ? { kind: 'fraction', share: amount / 100 } : undefined, type: undefined }
}

function limitOf(name: string): (container: Container) => number {
  return container => amountOf(container.resources?.limits, name)
}

/** The limit that says the number; where several do, how they add up. */
function gpuOrigin({ path, document, containers }: PlacedPod, devices: readonly CountedDevice[]): Origin {
  const limits = containers.flatMap(({ container, path: at }) =>
    devices
      .filter(({ name }) => limitOf(name)(container) > 0)
      .map(({ name }) => ({ container, place: document.placeOf([...at, 'resources', 'limits', name]), name })),
  )
  const [first, ...rest] = limits
  if (first === undefined) return { kind: 'manifest', place: document.placeOf([...path, 'spec', 'containers']) }
  if (rest.length === 0) return { kind: 'manifest', place: first.place }
  const terms = limits.map(
    ({ container, name, place }) => `${container.name ?? 'container'} ${limitOf(name)(container)} (line ${place.line})`,
  )
  return {
    kind: 'computed',
    formula: `the larger of the largest init container and all containers together: ${terms.join(', ')}`,
  }
}

/** Several profiles in one pod: all their names, and the mean share of one device. */
function combinedShare(devices: readonly CountedDevice[], wholeGpus: number): DeviceShare | undefined {
  const shares = devices.flatMap(({ share, count }) => (share === undefined ? [] : [{ share, count }]))
  const [first, ...rest] = shares
  if (first === undefined || shares.length < devices.length || wholeGpus > 0) return undefined
  if (rest.length === 0) return first.share
  const count = shares.reduce((sum, device) => sum + device.count, 0)
  const total = shares.reduce((sum, { share, count }) => sum + (share.share ?? Number.NaN) * count, 0)
  const profile = shares.map(({ share, count }) => `${count}x ${share.profile ?? share.kind}`).join(' + ')
  return { kind: first.share.kind, profile, ...(Number.isNaN(total) ? {} : { share: total / count }) }
}

/** What schedulers that share GPUs give of each one: the largest of the parts that are said in per cent. */
function fractionOf(spec: PodSpec): DeviceShare | undefined {
  const amounts = (names: readonly string[]) => names.flatMap(name => spec.containers.map(limitOf(name)))
  const percent = Math.max(0, ...amounts(SHARE_PERCENTAGES))
  if (percent > 0) return percent < 100 ? { kind: 'fraction', share: percent / 100 } : undefined
  return amounts(SHARE_MEMORIES).some(memory => memory > 0) ? { kind: 'fraction' } : undefined
}

/** Run:ai and the KAI scheduler take a part of a GPU from annotations, without any resource name (KAI scheduler docs, "GPU sharing"). */
function annotatedFraction({
  pod,
  path,
  document,
}: PlacedPod): { readonly gpus: number; readonly share: DeviceShare; readonly place: Place } | undefined {
  const annotations = pod.metadata?.annotations ?? {}
  const key = ['gpu-fraction', 'gpu-memory'].find(name => annotations[name] !== undefined)
  if (key === undefined) return undefined
  const share = key === 'gpu-fraction' ? Number(annotations[key]) : Number.NaN
  return {
    gpus: Number(annotations['gpu-fraction-num-devices'] ?? 1) || 1,
    share: share > 0 && share <= 1 ? { kind: 'fraction', share } : { kind: 'fraction' },
    place: document.placeOf([...path, 'metadata', 'annotations', key]),
  }
}

/** GPU types that HAMi may choose from (project-hami.io, "Assign to certain device type"). */
function chosenByAnnotation({ pod, path, document }: PlacedPod): GpuTypeRequest | undefined {
  const key = 'nvidia.com/use-gputype'
  const types = pod.metadata?.annotations?.[key]?.split(',').map(type => type.trim()) ?? []
  const place = document.placeOf([...path, 'metadata', 'annotations', key])
  const names = types.filter(type => type !== '').map(type => sourced(type, { kind: 'manifest', place }))
  return names.length === 0 ? undefined : { names, basis: 'constraint' }
}

/** Sites with many GPU types name the type in the resource: `nvidia.com/a100`. */
function namedByResource(
  devices: readonly CountedDevice[],
  { document, containers }: PlacedPod,
): GpuTypeRequest | undefined {
  const names = devices.flatMap(({ name, type }) => {
    const holder = containers.find(({ container }) => limitOf(name)(container) > 0)
    if (type === undefined || holder === undefined) return []
    return [sourced(type, { kind: 'manifest', place: document.placeOf([...holder.path, 'resources', 'limits', name]) })]
  })
  return names.length === 0 ? undefined : { names, basis: 'directive' }
}

/** GPUs that come by dynamic resource allocation: they stand in a claim, not in `limits`. */
function readClaims({ pod, path, document, surroundings }: PlacedPod): ClaimReading {
  const { claims } = surroundings
  return (pod.spec.resourceClaims ?? [])
    .map((claim, index): ClaimReading => {
      const { resourceClaimTemplateName: template, resourceClaimName: own } = claim
      const place = document.placeOf([...path, 'spec', 'resourceClaims', index])
      const isElsewhere = claims.channels.has(template ?? '') || claims.taken.has(own ?? '')
      if (isElsewhere) return { gpus: 0, other: {}, warnings: [] }
      const object = template === undefined ? claims.claims.get(own ?? '') : claims.templates.get(template)
      const reading = object && readClaim(object, claims)
      if (reading === undefined) {
        const text = `the devices of claim ${template ?? own ?? claim.name} are not described in this file: they may be GPUs`
        return { gpus: 0, other: {}, warnings: [{ code: 'gpu-count-unknown', text, place }] }
      }
      return own === undefined || reading.gpus === 0 ? reading : { ...reading, shared: 'all' }
    })
    .reduce(together, { gpus: 0, other: {}, warnings: [] })
}

function sharedBy({ shared }: ClaimReading, hasOthers: boolean): NonNullable<Devices['claim']> {
  if (shared === undefined) return 'own'
  return shared === 'all' && !hasOthers ? 'shared' : 'mixed'
}

function initContainerWarnings(
  { pod, path, document }: PlacedPod,
  devices: readonly CountedDevice[],
): readonly Warning[] {
  const reserved = devices.reduce((sum, device) => sum + device.count, 0)
  const steady = devices.reduce((sum, { name }) => sum + steadyAmount(pod.spec, limitOf(name)), 0)
  const beside = (pod.spec.initContainers ?? []).filter(container => container.restartPolicy === 'Always')
  const sidecars = devices.reduce(
    (sum, { name }) => sum + beside.reduce((part, container) => part + limitOf(name)(container), 0),
    0,
  )
  const idleGpus = reserved - steady - sidecars
  if (idleGpus <= 0) return []
  const text = `an init container asks for ${reserved} GPUs, the containers after it for ${steady + sidecars}: ${reserved} stay reserved, ${idleGpus} idle`
  return [{ code: 'idle-gpus', text, idleGpus, place: document.placeOf([...path, 'spec', 'initContainers']) }]
}

function otherWarnings(other: Readonly<Record<string, number>>): readonly Warning[] {
  return Object.entries(other).map(([name, count]) => ({
    code: 'accelerator-not-gpu',
    text: `${count} ${name} a pod: accelerators, but no GPUs`,
  }))
}
