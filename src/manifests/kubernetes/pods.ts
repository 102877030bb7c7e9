import type { CommandLine } from '../../command-lines.ts'
import type { DocumentPath, YamlDocument } from '../../document.ts'
import type { DeviceShare, GpuTypeRequest } from '../../job.ts'
import { type Origin, type Sourced, sourced } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import { readCommands } from './commands.ts'
import { readGpuType, requiredLabels } from './gpu-type.ts'
import type { Surroundings } from './neighbours.ts'
import { amountOf } from './resource-rules.ts'
import { deviceOf } from './resources.ts'
import type { Container, Pod, PodSpec } from './schema.ts'

/** What one pod asks for and starts. */
export interface PodReading {
  readonly gpus: Sourced<number>
  readonly gpuType: GpuTypeRequest
  readonly share?: DeviceShare
  readonly otherAccelerators?: Readonly<Record<string, number>>
  readonly cpus?: Sourced<number>
  readonly memoryBytes?: Sourced<number>
  readonly timeLimitSeconds?: Sourced<number>
  readonly pools: readonly Sourced<string>[]
  readonly commandLines: readonly CommandLine[]
  readonly warnings: readonly Warning[]
}

/** A pod template, where it stands, and what stands around it. */
export interface PlacedPod {
  readonly pod: Pod
  readonly path: DocumentPath
  readonly document: YamlDocument
  readonly surroundings: Surroundings
}

/** Reads a pod that `resourceFaults` found nothing wrong with. */
export function readPod(placed: PlacedPod): PodReading {
  const { pod, path, document, surroundings } = placed
  const { spec } = pod
  const devices = readDevices(placed)
  const type = readGpuType(requiredLabels(spec, [...path, 'spec']), document)
  const share = devices.share ?? (devices.gpus.value > 0 ? type.share : undefined)
  const commands = placedContainers(spec, path).map(({ container, at }) =>
    readCommands({ container, path: at, document }, spec.volumes, surroundings),
  )
  const cpus = readAmount(placed, 'cpu')
  const memoryBytes = readAmount(placed, 'memory')
  return {
    gpus: devices.gpus,
    gpuType: devices.type ?? type.request,
    ...(share === undefined ? {} : { share }),
    ...(devices.other === undefined ? {} : { otherAccelerators: devices.other }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...deadline(placed),
    pools: type.pools,
    commandLines: commands.flatMap(reading => reading.commandLines),
    warnings: [...devices.warnings, ...gateWarnings(placed), ...commands.flatMap(reading => reading.warnings)],
  }
}

interface PlacedContainer {
  readonly container: Container
  readonly at: DocumentPath
}

/** Init containers first, as they run. */
function placedContainers(spec: PodSpec, path: DocumentPath): readonly PlacedContainer[] {
  const place = (part: 'initContainers' | 'containers') =>
    (spec[part] ?? []).map((container, index) => ({ container, at: [...path, 'spec', part, index] }))
  return [...place('initContainers'), ...place('containers')]
}

/**
 * What the scheduler reserves for a pod: init containers run one after the other and before the others, but those with
 * restartPolicy Always stay beside all that follow (kubernetes.io, "Sidecar containers", resource sharing).
 */
function reservedFor(spec: PodSpec, amount: (container: Container) => number): number {
  let beside = 0
  let largest = 0
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') beside += amount(container)
    largest = Math.max(largest, beside + (container.restartPolicy === 'Always' ? 0 : amount(container)))
  }
  return Math.max(largest, beside + steadyAmount(spec, amount))
}

function steadyAmount(spec: PodSpec, amount: (container: Container) => number): number {
  return spec.containers.reduce((sum, container) => sum + amount(container), 0)
}

interface Devices {
  readonly gpus: Sourced<number>
  readonly share?: DeviceShare
  readonly type?: GpuTypeRequest
  readonly other?: Readonly<Record<string, number>>
  readonly warnings: readonly Warning[]
}

function readDevices(placed: PlacedPod): Devices {
  const { spec } = placed.pod
  const names = new Set(
    placedContainers(spec, []).flatMap(({ container }) => Object.keys(container.resources?.limits ?? {})),
  )
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
  return {
    gpus: sourced(count, gpuOrigin(placed, gpus)),
    ...(share === undefined ? {} : { share }),
    ...(type === undefined ? {} : { type }),
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
function gpuOrigin({ pod, path, document }: PlacedPod, devices: readonly CountedDevice[]): Origin {
  const limits = placedContainers(pod.spec, path).flatMap(({ container, at }) =>
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
  { pod, path, document }: PlacedPod,
): GpuTypeRequest | undefined {
  const names = devices.flatMap(({ name, type }) => {
    const holder = placedContainers(pod.spec, path).find(({ container }) => limitOf(name)(container) > 0)
    if (type === undefined || holder === undefined) return []
    return [sourced(type, { kind: 'manifest', place: document.placeOf([...holder.at, 'resources', 'limits', name]) })]
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

/** CPUs in cores or memory in bytes: what is requested, or else the limit, which then is the request. */
function readAmount(placed: PlacedPod, name: 'cpu' | 'memory'): Sourced<number> | undefined {
  const { pod, path, document } = placed
  const whole = pod.spec.resources
  if (whole?.requests?.[name] != null || whole?.limits?.[name] != null) {
    return sourced(amountOf(whole.requests, name) || amountOf(whole.limits, name), {
      kind: 'manifest',
      place: document.placeOf([...path, 'spec', 'resources']),
    })
  }
  const amount = reservedFor(pod.spec, container => {
    const { requests, limits } = container.resources ?? {}
    return requests?.[name] == null ? amountOf(limits, name) : amountOf(requests, name)
  })
  if (amount === 0) return undefined
  return sourced(amount, { kind: 'manifest', place: document.placeOf([...path, 'spec', 'containers']) })
}

function deadline({ pod, path, document }: PlacedPod): { timeLimitSeconds?: Sourced<number> } {
  const seconds = pod.spec.activeDeadlineSeconds
  if (seconds === undefined) return {}
  const place = document.placeOf([...path, 'spec', 'activeDeadlineSeconds'])
  return { timeLimitSeconds: sourced(seconds, { kind: 'manifest', place }) }
}

function gateWarnings({ pod, path, document }: PlacedPod): readonly Warning[] {
  const gates = pod.spec.schedulingGates?.map(gate => gate.name) ?? []
  if (gates.length === 0) return []
  const text = `it waits until its scheduling gates are taken off: ${gates.join(', ')}`
  return [{ code: 'suspended', text, place: document.placeOf([...path, 'spec', 'schedulingGates']) }]
}
