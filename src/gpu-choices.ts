import type { Cluster, Config, Pool } from './config.ts'
import {
  commonGpuNames,
  findGpus,
  type Gpu,
  gpusWithSlices,
  migProfileIn,
  nearestGpuNames,
  sliceOf,
  type UnknownGpu,
} from './gpu.ts'
import type { GpuTypeBasis, Job, Role } from './job.ts'
import type { PriceList } from './prices/index.ts'
import { formatGib } from './units.ts'
import type { Warning } from './warning.ts'

/** What one requested device may be. */
export interface Device {
  readonly gpu: Gpu | UnknownGpu
  /** The whole GPU that it is, or is a slice of. */
  readonly whole: Gpu | UnknownGpu
  /** Part of the whole GPU; absent for a whole one. */
  readonly share?: number
  /** Instance type, where the manifest names one instead of a GPU. */
  readonly machineName?: string
}

/** GPU types that large clouds rent by the hour, weaker ones first: what a job could use instead. */
const rentedEverywhere = ['t4', 'l4', 'a10g', 'l40s', 'a100-40gb', 'a100-80gb', 'h100-80gb', 'h200', 'b200']

/**
 * A GPU whose peak is more than six times that of the one asked for, or less than a sixth, is no neighbour: what takes an hour
 * on one would take most of a working day on the other.
 */
const neighbourFactor = 6

/** What a role's devices may be, by the names its manifest gives; none where it names no type. */
export function requestedDevices(role: Role, gpus: readonly Gpu[], prices: PriceList): readonly Device[] {
  const profile = role.deviceShare?.profile
  const names = role.gpuType.names.map(({ value }) => value)
  if (names.length === 0 && profile !== undefined) {
    return gpusWithSlices(profile, gpus).map(gpu => deviceOf(gpu, profile, role.deviceShare?.share))
  }
  const devices = distinct(names.flatMap(name => devicesNamed(name, role, gpus, prices)))
  // A hint or a constraint may be about something else than GPUs; a type that is asked for by name may not.
  const known = devices.filter(device => device.gpu.vendor !== 'unknown')
  return known.length > 0 || !saysType(role.gpuType.basis) ? known : devices
}

/** The common names of the types that a job names, by the names as written; without those that no table knows. */
export function namedGpus(job: Job, gpus: readonly Gpu[], prices: PriceList): ReadonlyMap<string, readonly string[]> {
  const written = job.roles.flatMap(role => role.gpuType.names.map(({ value }) => value))
  return new Map(
    written.map(name => {
      const common = commonGpuNames(name, gpus)
      const machine = common.length > 0 ? undefined : prices.machinesNamed(name)[0]
      return [name, machine === undefined ? common : commonGpuNames(machine.gpu.name, gpus)]
    }),
  )
}

/** What only the table of GPUs shows of the types a job names: one that it does not have, or a name of several. */
export function warnOfGpuTypes(
  job: Job,
  gpus: readonly Gpu[],
  prices: PriceList,
  config: Config,
  possible: ReadonlySet<string>,
): readonly Warning[] {
  const cluster = clusterOf(job, config.clusters)
  const isUnknown = (name: string) =>
    findGpus(name, gpus).length === 0 &&
    prices.machinesNamed(name).length === 0 &&
    (cluster === undefined || poolCalled(name, cluster) === undefined)
  return job.roles
    .filter(role => role.gpuCount.value > 0)
    .flatMap(role => {
      const { names } = role.gpuType
      const unknown = names.filter(({ value }) => saysType(role.gpuType.basis) && isUnknown(value))
      const known = requestedDevices(role, gpus, prices).filter(device => possible.has(device.gpu.name))
      return [
        ...unknown.map(({ value }) => unknownTypeWarning(value, job, gpus)),
        ...(known.length > 1
          ? [
              ambiguousTypeWarning(
                names.map(({ value }) => value),
                known,
                gpus,
              ),
            ]
          : []),
      ]
    })
    .filter((warning, index, all) => all.findIndex(({ text }) => text === warning.text) === index)
}

/** GPU types that a job could use instead of the one asked for, of the maker that its resource name says. */
export function neighbours(
  asked: readonly (Gpu | UnknownGpu)[],
  gpus: readonly Gpu[],
  roles: readonly Role[],
): readonly Gpu[] {
  const known = asked.filter(gpu => gpu.vendor !== 'unknown')
  return gpus.filter(gpu => {
    const isUsual = roles.some(role => role.gpuVendor === 'AMD') || rentedEverywhere.includes(gpu.name)
    if (!isUsual || !roles.every(role => isMadeFor(gpu, role)) || known.some(each => each.name === gpu.name))
      return false
    const ratios = known.map(each => peak(gpu) / peak(each))
    return ratios.length === 0 || ratios.some(ratio => ratio >= 1 / neighbourFactor && ratio <= neighbourFactor)
  })
}

/** Whether a GPU may serve a role, by what `whyNotFor` says. */
export function isMadeFor(gpu: Gpu | UnknownGpu, role: Role): boolean {
  return whyNotFor(gpu, role) === undefined
}

/**
 * Why a GPU cannot serve a role, whatever else it can: the role rules its type or memory out, or the name of the resource
 * that it asks for cannot mean it. Intel's accelerators have a name apart from its GPUs.
 */
export function whyNotFor(gpu: Gpu | UnknownGpu, { gpuVendor, gpuBounds }: Role): string | undefined {
  if (gpu.vendor === 'unknown') return undefined
  const excluded = gpuBounds?.excluded.find(({ value }) => findGpus(value, [gpu]).length > 0)
  if (excluded !== undefined) return `asks for no ${excluded.value}`
  const leastBytes = gpuBounds?.leastMemoryBytes?.value ?? 0
  if (gpu.memoryBytes < leastBytes)
    return `asks for GPUs of ${formatGib(leastBytes)}, this one has ${formatGib(gpu.memoryBytes)}`
  if (gpuVendor === undefined || (gpu.vendor === gpuVendor && !gpu.architecture.startsWith('Gaudi'))) return undefined
  return `asks for GPUs of ${gpuVendor}, this one is of ${gpu.vendor}`
}

const pinnedConfigs = new WeakMap<Config, Map<string, Config>>()

/** The configuration as far as it looks for prices where the job's node labels pin it to; the same one for the same pins. */
export function preferencesOf(job: Job, config: Config): Config {
  const pins = job.roles.flatMap(({ pin }) => pin ?? [])
  const provider = pins.flatMap(pin => pin.provider?.value ?? [])[0]
  const regions = [...new Set(pins.flatMap(pin => pin.regions?.map(({ value }) => value) ?? []))]
  if (provider === undefined && regions.length === 0) return config
  // Regions of the configuration belong to its own clouds.
  const isOther = provider !== undefined && config.providers.length > 0 && !config.providers.includes(provider)
  const preferred = regions.length > 0 ? regions : isOther ? [] : config.regions
  const known = pinnedConfigs.get(config) ?? new Map<string, Config>()
  const key = JSON.stringify([provider, preferred])
  const providers = provider === undefined ? config.providers : [provider]
  const pinned = known.get(key) ?? { ...config, providers, regions: preferred }
  pinnedConfigs.set(config, known.set(key, pinned))
  return pinned
}

/** The cluster of the configuration that a job goes to: the one with its partition, else the first of its scheduler. */
export function clusterOf(job: Job, clusters: readonly Cluster[]): Cluster | undefined {
  const possible = clusters.filter(cluster => cluster.scheduler === job.scheduler)
  const context = job.destination['context'] ?? job.destination['cluster']
  return (
    possible.find(cluster => context !== undefined && (cluster.context ?? cluster.name) === context) ??
    possible.find(cluster => job.roles.some(role => poolsOf(role, cluster).length > 0)) ??
    possible[0]
  )
}

/** The partitions or pools that a role names, itself or by a label of their nodes, and the configuration knows. */
export function poolsOf(role: Role, cluster: Cluster): readonly Pool[] {
  return cluster.pools.filter(({ name, nodeSelector = {} }) =>
    role.partitions.some(({ value }) => value === name || Object.values(nodeSelector).includes(value)),
  )
}

/** Whether the configuration says which GPUs stand behind every partition or pool that a role names, so that nothing is guessed. */
export function knowsPartitions(cluster: Cluster | undefined, role: Role): boolean {
  if (cluster === undefined || role.partitions.length === 0) return false
  return role.partitions.every(partition => poolsOf({ ...role, partitions: [partition] }, cluster).length > 0)
}

/** The pool that a name stands for at this site: its GRES type, a label of its nodes, or a GPU type of the configuration's own. */
export function poolCalled(name: string, cluster: Cluster): Pool | undefined {
  const spelling = name.toLowerCase()
  return cluster.pools.find(({ gresType, gpu, nodeSelector = {} }) =>
    [gresType, gpu, ...Object.values(nodeSelector)].some(each => each?.toLowerCase() === spelling),
  )
}

function devicesNamed(name: string, role: Role, gpus: readonly Gpu[], prices: PriceList): readonly Device[] {
  const profile = role.deviceShare?.profile ?? migProfileIn(name)
  const named = findGpus(name, gpus)
  const ofMaker = named.filter(gpu => isMadeFor(gpu, role))
  const found = ofMaker.length > 0 ? ofMaker : named
  if (found.length > 0) {
    const sliceable = found.filter(gpu => profile !== undefined && sliceOf(gpu, profile) !== undefined)
    const possible = sliceable.length > 0 ? sliceable : found
    return possible.map(gpu => deviceOf(gpu, profile, role.deviceShare?.share))
  }
  const machine = prices.machinesNamed(name)[0]
  if (machine !== undefined) return [{ gpu: machine.gpu, whole: machine.gpu, machineName: name }]
  const unknown: UnknownGpu = { name, vendor: 'unknown' }
  return [{ gpu: unknown, whole: unknown }]
}

function deviceOf(gpu: Gpu, profile: string | undefined, share: number | undefined): Device {
  const slice = profile === undefined ? undefined : sliceOf(gpu, profile)
  if (slice !== undefined) return { gpu: slice.gpu, whole: gpu, share: slice.share }
  return { gpu, whole: gpu, ...(share !== undefined && { share }) }
}

function distinct(devices: readonly Device[]): readonly Device[] {
  return devices.filter((device, index) => devices.findIndex(each => each.gpu.name === device.gpu.name) === index)
}

/** Whether the manifest asks for a GPU type there and for nothing else. */
function saysType(basis: GpuTypeBasis): boolean {
  return basis === 'directive' || basis === 'label' || basis === 'instance'
}

function peak({ flopsPerSecond }: Gpu): number {
  return Math.max(...[flopsPerSecond.fp16, flopsPerSecond.bf16, flopsPerSecond.fp32].map(rate => rate ?? 0))
}

function unknownTypeWarning(name: string, { scheduler }: Job, gpus: readonly Gpu[]): Warning {
  const nearest = nearestGpuNames(name, gpus).join(', ')
  const called = scheduler === 'slurm' ? `gres: ${name}` : `a node-selector with ${name}`
  return {
    code: 'gpu-type-unknown',
    text:
      `${name} is no GPU type gpufare knows, and it is taken for none of them (most alike: ${nearest}): no price, no runtime. ` +
      `A pool in gpufare.yaml can say which type it is (${called}, and gpu) or what it costs (gpu: ${name}, rate: 1.20)`,
  }
}

function ambiguousTypeWarning(names: readonly string[], devices: readonly Device[], gpus: readonly Gpu[]): Warning {
  const types = devices.map(device => device.gpu.name).join(' or ')
  const said = names.length > 0 ? names.join(', ') : 'the slice asked for'
  // What one family leaves open is memory or form.
  const isOneFamily = names.length === 1 && commonGpuNames(names[0] ?? '', gpus).length === 1
  const code = isOneFamily ? 'gpu-variant-open' : 'gpu-type-ambiguous'
  return { code, text: `${said} may be ${types}: each has a row of its own` }
}
