import type { CommandLine } from '../../command-lines.ts'
import type { DeviceShare, GpuBounds, GpuTypeRequest, MountedFolder, Pin, Role } from '../../job.ts'
import { type Sourced, sourced } from '../../sourced.ts'
import type { Warning } from '../../warning.ts'
import { readCommands } from './commands.ts'
import { type PlacedPod, reservedFor } from './containers.ts'
import { type Devices, readDevices } from './devices.ts'
import { readGpuBounds, readGpuType, requiredLabels, toleratedType } from './gpu-type.ts'
import { readPin } from './pin.ts'
import { amountOf } from './resource-rules.ts'
import { largestProfile } from './resources.ts'

/** What one pod asks for and starts. */
export interface PodReading {
  readonly gpus: Sourced<number>
  /** Its GPUs come by a claim of dynamic resource allocation; those of one that all pods share are the same for each. */
  readonly claim?: 'own' | 'shared' | 'mixed'
  readonly gpuType: GpuTypeRequest
  readonly gpuBounds?: GpuBounds
  readonly gpuVendor?: Role['gpuVendor']
  readonly pin?: Pin
  readonly share?: DeviceShare
  readonly otherAccelerators?: Readonly<Record<string, number>>
  readonly cpus?: Sourced<number>
  readonly memoryBytes?: Sourced<number>
  readonly timeLimitSeconds?: Sourced<number>
  readonly pools: readonly Sourced<string>[]
  readonly mountedFolders?: readonly MountedFolder[]
  readonly commandLines: readonly CommandLine[]
  readonly warnings: readonly Warning[]
}

/** Reads a pod that `resourceFaults` found nothing wrong with. */
export function readPod(placed: PlacedPod): PodReading {
  const { pod, path, document, surroundings } = placed
  const { spec } = pod
  const devices = readDevices(placed)
  const labels = requiredLabels(spec, [...path, 'spec'])
  const type = readGpuType(labels, document)
  const pin = readPin(labels, document)
  const bounds = devices.bounds ?? readGpuBounds(spec, [...path, 'spec'], document)
  const share = devices.share ?? (devices.gpus.value > 0 ? type.share : undefined)
  const commands = placed.containers.map(({ container, path: at }) =>
    readCommands({ container, path: at, document }, spec.volumes, surroundings),
  )
  const tolerated =
    devices.gpus.value > 0 && type.request.basis === 'none'
      ? toleratedType(spec, [...path, 'spec'], document)
      : undefined
  const cpus = readAmount(placed, 'cpu')
  const memoryBytes = readAmount(placed, 'memory')
  return {
    gpus: devices.gpus,
    gpuType: devices.type ?? ofSlice(tolerated ?? type.request, share, devices),
    ...(devices.claim === undefined ? {} : { claim: devices.claim }),
    ...(bounds === undefined ? {} : { gpuBounds: bounds }),
    ...(devices.vendor === undefined ? {} : { gpuVendor: devices.vendor }),
    ...(pin === undefined ? {} : { pin }),
    ...(share === undefined ? {} : { share }),
    ...(devices.other === undefined ? {} : { otherAccelerators: devices.other }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...deadline(placed),
    pools: type.pools,
    ...mountedFolders(placed),
    commandLines: commands.flatMap(reading => reading.commandLines),
    warnings: [...devices.warnings, ...gateWarnings(placed), ...commands.flatMap(reading => reading.warnings)],
  }
}

/** Where no label names a type, a MIG profile does: those GPUs that are cut so. Of several, the largest has the fewest. */
function ofSlice(named: GpuTypeRequest, share: DeviceShare | undefined, { gpus, claim }: Devices): GpuTypeRequest {
  const largest = named.names.length === 0 && share?.kind === 'mig' ? largestProfile(share) : undefined
  if (largest === undefined) return named
  return { names: [sourced(largest, gpus.origin)], basis: claim === undefined ? 'label' : 'constraint' }
}

/** Folders that the containers are given; an `emptyDir` and an `ephemeral` volume go with the pod. */
function mountedFolders({ pod, containers }: PlacedPod): { readonly mountedFolders?: readonly MountedFolder[] } {
  const lost = (pod.spec.volumes ?? []).filter(
    volume => volume.emptyDir !== undefined || volume.ephemeral !== undefined,
  )
  const names = new Set(lost.map(volume => volume.name))
  const mounts = containers.flatMap(({ container }) => container.volumeMounts ?? [])
  const folders = mounts.map(({ name, mountPath }) => ({ path: mountPath, isLost: names.has(name) }))
  return folders.length === 0 ? {} : { mountedFolders: folders }
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
