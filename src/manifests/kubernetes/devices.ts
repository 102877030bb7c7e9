import type { DeviceShare, GpuTypeRequest, Role } from '../../job.ts'
import { type Origin, type Sourced, sourced } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import { type PlacedPod, reservedFor, steadyAmount } from './containers.ts'
import { amountOf } from './resource-rules.ts'
import { deviceOf, vendorOf } from './resources.ts'
import type { Container, PodSpec } from './schema.ts'

/** The GPUs and other accelerators that one pod asks for. */
export interface Devices {
  readonly gpus: Sourced<number>
  readonly share?: DeviceShare
  readonly type?: GpuTypeRequest
  readonly vendor?: Role['gpuVendor']
  readonly other?: Readonly<Record<string, number>>
  readonly warnings: readonly Warning[]
}

/** Counts a pod's devices by their resource names and claims. */
export function readDevices(placed: PlacedPod): Devices {
  const { spec } = placed.pod
  const names = new Set(placed.containers.flatMap(({ container }) => Object.keys(container.resources?.limits ?? {})))
  const other: Record<string, number> = {}
  const gpus: CountedDevice[] = []
  for (const name of names) {
    const device = deviceOf(name)
    const count = device === undefined ? 0 : reservedFor(spec, limitOf(name))
    if (device === undefined || count === 0) continue
    if (device.kind === 'other') other[name] = count
    else
      gpus.push({
        name,
        count,
        share: device.kind === 'share' ? device.share : undefined,
        type: device.kind === 'gpu' ? device.type : undefined,
      })
  }
  const claims = readClaims(placed)
  const count = gpus.reduce((sum, device) => sum + device.count, claims.count)
  const share = combinedShare(gpus, claims.count) ?? fractionOf(spec)
  const type = namedByResource(gpus, placed)
  const vendor = gpus.map(({ name }) => vendorOf(name)).find(each => each !== undefined)
  return {
    gpus: sourced(count, gpuOrigin(placed, gpus)),
    ...(share === undefined ? {} : { share }),
    ...(type === undefined ? {} : { type }),
    ...(vendor === undefined ? {} : { vendor }),
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

/** HAMi's vGPU scheduler: per cent of a GPU's cores beside `nvidia.com/gpu` (project-hami.io, "Resource names"). */
function fractionOf(spec: PodSpec): DeviceShare | undefined {
  const percent = Math.max(0, ...spec.containers.map(limitOf('nvidia.com/gpucores')))
  if (percent > 0 && percent < 100) return { kind: 'fraction', share: percent / 100 }
  const memory = Math.max(0, ...spec.containers.map(limitOf('nvidia.com/gpumem')))
  return memory > 0 ? { kind: 'fraction' } : undefined
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
function readClaims({ pod, path, document, surroundings }: PlacedPod): { count: number; warnings: readonly Warning[] } {
  let count = 0
  const warnings: Warning[] = []
  pod.spec.resourceClaims?.forEach((claim, index) => {
    const claimed = surroundings.claimedGpus.get(claim.resourceClaimTemplateName ?? '')
    count += claimed ?? 0
    if (claimed !== undefined) return
    const name = claim.resourceClaimTemplateName ?? claim.resourceClaimName ?? claim.name
    const text = `the devices of claim ${name} are not described in this file: they may be GPUs`
    warnings.push({
      code: 'gpu-count-unknown',
      text,
      place: document.placeOf([...path, 'spec', 'resourceClaims', index]),
    })
  })
  return { count, warnings }
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
  if (steady + sidecars >= reserved) return []
  const text = `an init container asks for ${reserved} GPUs, the containers after it for ${steady + sidecars}: ${reserved} stay reserved, ${reserved - steady - sidecars} idle`
  return [{ code: 'idle-gpus', text, place: document.placeOf([...path, 'spec', 'initContainers']) }]
}

function otherWarnings(other: Readonly<Record<string, number>>): readonly Warning[] {
  return Object.entries(other).map(([name, count]) => ({
    code: 'accelerator-not-gpu',
    text: `${count} ${name} a pod: accelerators, but no GPUs`,
  }))
}
