import { numberIn, type Row } from './csv.ts'
import { GpufareError } from './errors.ts'
import { bytesPerGib, bytesPerGigabyte, operationsPerTera } from './units.ts'
import { editDistance } from './word-list.ts'

/**
 * A GPU type: one row of pricing-data/gpus.csv, as schedulers count them (one die of a card that shows several).
 * Rates are dense peaks, in FLOP/s; absent = the GPU cannot do it.
 */
export interface Gpu {
  /** Canonical name, `a100-80gb`. */
  readonly name: string
  readonly vendor: 'NVIDIA' | 'AMD' | 'Intel' | 'Google'
  readonly architecture: string
  readonly year: number
  readonly memoryBytes: number
  readonly bandwidthBytesPerSecond: number
  readonly flopsPerSecond: {
    readonly fp32?: number
    readonly tf32?: number
    readonly fp16?: number
    readonly bf16?: number
    readonly fp8?: number
  }
  readonly int8OperationsPerSecond?: number
  /** NVLink or its like, both directions together, of one GPU. */
  readonly linkBytesPerSecond?: number
  readonly pcieGeneration?: number
  readonly powerWatts?: number
  readonly migProfiles: readonly string[]
  /** Every other way a manifest may spell it, lower case; an alias of several GPUs is an ambiguous name. */
  readonly aliases: readonly string[]
  readonly source: string
}

/** A GPU type that no table knows: a name and nothing else, so that no figure of another GPU is taken for its own. */
export interface UnknownGpu {
  /** As the manifest or the configuration spells it; empty where no type is named. */
  readonly name: string
  readonly vendor: 'unknown'
  /** Known even so where the name of a resource says it (`amd.com/gpu`). */
  readonly maker?: Gpu['vendor']
}

/** One row of gpus.csv. */
export function gpuOf(row: Row): Gpu {
  const { name = '', architecture = '', source = '' } = row
  return {
    name,
    vendor: vendorOf(row),
    architecture,
    year: Number(row['year']),
    memoryBytes: Number(row['memory_gib']) * bytesPerGib,
    bandwidthBytesPerSecond: Number(row['bandwidth_gb_s']) * bytesPerGigabyte,
    flopsPerSecond: {
      ...figure(row, 'fp32_tflops', operationsPerTera, fp32 => ({ fp32 })),
      ...figure(row, 'tf32_tflops', operationsPerTera, tf32 => ({ tf32 })),
      ...figure(row, 'fp16_tflops', operationsPerTera, fp16 => ({ fp16 })),
      ...figure(row, 'bf16_tflops', operationsPerTera, bf16 => ({ bf16 })),
      ...figure(row, 'fp8_tflops', operationsPerTera, fp8 => ({ fp8 })),
    },
    ...figure(row, 'int8_tops', operationsPerTera, int8OperationsPerSecond => ({ int8OperationsPerSecond })),
    ...figure(row, 'link_gb_s', bytesPerGigabyte, linkBytesPerSecond => ({ linkBytesPerSecond })),
    ...figure(row, 'pcie_generation', 1, pcieGeneration => ({ pcieGeneration })),
    ...figure(row, 'power_w', 1, powerWatts => ({ powerWatts })),
    migProfiles: listIn(row, 'mig_profiles'),
    aliases: listIn(row, 'aliases'),
    source,
  }
}

/**
 * The GPU types that a name means: none where it is unknown, several where it is ambiguous (`a100`). Understood are the
 * names of gpus.csv and their aliases in any case and with any separators, with or without the maker's name, with a MIG
 * profile or a sharing suffix behind them. A name that only begins like a known one is unknown.
 */
export function findGpus(name: string, gpus: readonly Gpu[]): readonly Gpu[] {
  const index = indexOf(gpus)
  const whole = name
    .toLowerCase()
    .replace(/^mig[-_.]/, '')
    .replace(shareSuffix, '')
  const withoutProfile = whole.replace(profileSuffix, '')
  for (const spelling of [whole, withoutMaker(whole), withoutProfile, withoutMaker(withoutProfile)]) {
    const found = index.get(squash(spelling))
    if (found !== undefined) return withProfile(found, migProfileIn(whole))
  }
  return []
}

/**
 * The names that are the same for all spellings of a GPU type: family and memory, `a100-80gb`, without the memory where the spelling
 * leaves it open (`a100`, `h100`) and without the form factor (`-pcie`). Several where a MIG profile alone is named; none where no
 * table knows it.
 */
export function commonGpuNames(name: string, gpus: readonly Gpu[]): readonly string[] {
  const found = findGpus(name, gpus)
  const families = [...new Set(found.map(gpu => familyOf(gpu.name)))]
  const bare = squash(withoutMaker(name.toLowerCase()).replace(formFactor, ''))
  return families.map(family => {
    const memories = new Set(
      found
        .map(gpu => gpu.name)
        .filter(each => familyOf(each) === family)
        .map(memoryIn),
    )
    const [memory = ''] = memories
    return memories.size > 1 || bare === squash(family) ? family : family + memory
  })
}

function familyOf(name: string): string {
  return name.replace(memoryEnding, '').replace(formFactor, '')
}

function memoryIn(name: string): string {
  return memoryEnding.exec(name)?.[0] ?? ''
}

const memoryEnding = /-\d+gb$/
const formFactor = /-(?:pcie|sxm\d?)$/

/** The known names that look most like this one, for messages; never an answer. */
export function nearestGpuNames(name: string, gpus: readonly Gpu[], count = 3): readonly string[] {
  const key = squash(withoutMaker(name.toLowerCase()))
  return gpus
    .map(gpu => {
      const names = [gpu.name, ...gpu.aliases].map(each => squash(withoutMaker(each)))
      return { name: gpu.name, distance: Math.min(...names.map(each => unlikeness(key, each))) }
    })
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(each => each.name)
}

/** The MIG profile in a device's name: `3g.20gb` of `a100_3g.20gb` or `NVIDIA-A100-SXM4-40GB-MIG-3g.20gb`. */
export function migProfileIn(name: string): string | undefined {
  const profile = /(?:^|[-_.:])(\d+g\.\d+g)b?(?![a-z0-9])/i.exec(name)?.[1]
  return profile && `${profile.toLowerCase()}b`
}

/** A slice of a GPU, with the part of the whole that it is. */
export interface GpuSlice {
  readonly gpu: Gpu
  readonly share: number
}

/**
 * A MIG slice: compute by its slices of the largest profile's, memory by the profile, bandwidth with the memory. Of a mixture
 * (`2x 1g.10gb + 1x 3g.40gb`) the largest slice stands for all, and the share is their average. Undefined where the GPU does not
 * have these profiles. Profiles: docs.nvidia.com/datacenter/tesla/mig-user-guide.
 */
export function sliceOf(gpu: Gpu, mixture: string): GpuSlice | undefined {
  const slices = slicesIn(mixture)
  const largest = slices.toSorted((a, b) => memoryGib(b.profile) - memoryGib(a.profile))[0]
  if (largest === undefined || !slices.every(({ profile }) => gpu.migProfiles.includes(profile))) return undefined
  const whole = Math.max(...gpu.migProfiles.map(computeSlices))
  const count = slices.reduce((sum, slice) => sum + slice.count, 0)
  const taken = slices.reduce((sum, slice) => sum + slice.count * computeSlices(slice.profile), 0)
  return {
    gpu: cut(gpu, mixture, largest.profile, computeSlices(largest.profile) / whole),
    share: taken / count / whole,
  }
}

/** GPU types that have every profile of a mixture, where no type is named. */
export function gpusWithSlices(mixture: string, gpus: readonly Gpu[]): readonly Gpu[] {
  const [first] = slicesIn(mixture)
  return first === undefined ? [] : findGpus(first.profile, gpus).filter(gpu => sliceOf(gpu, mixture) !== undefined)
}

function slicesIn(mixture: string): readonly { readonly count: number; readonly profile: string }[] {
  return Array.from(mixture.matchAll(/(?:(\d+)x )?(\d+g\.\d+gb)/g), ([, count = '1', profile = '']) => ({
    count: Number(count),
    profile,
  }))
}

function cut(gpu: Gpu, name: string, profile: string, computeShare: number): Gpu {
  const memoryShare = Math.min(1, (memoryGib(profile) * bytesPerGib) / gpu.memoryBytes)
  const { linkBytesPerSecond: _, int8OperationsPerSecond: int8, ...rest } = gpu
  return {
    ...rest,
    name: `${gpu.name} ${name}`,
    memoryBytes: gpu.memoryBytes * memoryShare,
    bandwidthBytesPerSecond: gpu.bandwidthBytesPerSecond * memoryShare,
    flopsPerSecond: scaled(gpu.flopsPerSecond, computeShare),
    ...(int8 !== undefined && { int8OperationsPerSecond: int8 * computeShare }),
    migProfiles: [],
    aliases: [],
  }
}

/** Time slicing by the device plugin or GKE adds it: `Tesla-T4-SHARED`. */
const shareSuffix = /[-_]shared$/

/** `-MIG-1g.10gb` of product labels, `_3g.20gb` and `.2g.10gb` of Slurm's GRES types, `+me` for the media engine. */
const profileSuffix = /[-_.:](?:mig[-_.])?\d+g\.\d+gb(?:\+[a-z.]+)?$/

const makers = /^(?:nvidia|tesla|geforce|quadro|amd|instinct|intel|gpu)$/

/** GPUs by squashed name; a canonical name means its own GPU only, an alias all that have it. */
type GpuIndex = ReadonlyMap<string, readonly Gpu[]>

const indexes = new WeakMap<readonly Gpu[], GpuIndex>()

/** Made once for each table: a call with a thousand manifests asks for names thousands of times. */
function indexOf(gpus: readonly Gpu[]): GpuIndex {
  const known = indexes.get(gpus)
  if (known !== undefined) return known
  const index = new Map<string, Gpu[]>()
  for (const gpu of gpus) {
    for (const key of new Set(gpu.aliases.map(squash))) index.set(key, [...(index.get(key) ?? []), gpu])
  }
  for (const gpu of gpus) index.set(squash(gpu.name), [gpu])
  indexes.set(gpus, index)
  return index
}

/** Of several GPUs that a name may mean, those that can be sliced as it says. */
function withProfile(found: readonly Gpu[], profile: string | undefined): readonly Gpu[] {
  const sliceable = found.filter(gpu => profile !== undefined && gpu.migProfiles.includes(profile))
  return sliceable.length > 0 ? sliceable : found
}

function withoutMaker(name: string): string {
  return name
    .split(/[^a-z0-9.]+/)
    .filter(word => !makers.test(word))
    .join('-')
}

/** Letters and digits only; `80g`, `80gib` and `80gb` are the same. */
function squash(name: string): string {
  return name
    .toLowerCase()
    .replace(/(\d)g(?:i?b)?(?![a-z0-9.])/g, '$1gb')
    .replace(/[^a-z0-9]/g, '')
}

function computeSlices(profile: string): number {
  return Number.parseInt(profile, 10)
}

function memoryGib(profile: string): number {
  return Number.parseInt(profile.slice(profile.indexOf('.') + 1), 10)
}

function scaled(rates: Gpu['flopsPerSecond'], share: number): Gpu['flopsPerSecond'] {
  return Object.fromEntries(Object.entries(rates).map(([precision, rate]) => [precision, rate * share]))
}

/** Edits from one name to the other; an equal beginning counts for it, as Winkler does. */
function unlikeness(a: string, b: string): number {
  let equal = 0
  while (equal < a.length && a[equal] === b[equal]) equal++
  return editDistance(a, b) - equal / 2
}

const vendors = ['NVIDIA', 'AMD', 'Intel', 'Google'] as const

function vendorOf(row: Row): Gpu['vendor'] {
  return vendors.find(vendor => vendor === row['vendor']) ?? rowFault(row, vendors.join(', '))
}

function rowFault(row: Row, expected: string): never {
  throw new GpufareError(`gpus.csv: row "${row['name']}" names the vendor "${row['vendor']}", expected ${expected}`, 1)
}

function listIn(row: Row, column: string): readonly string[] {
  const text = row[column]
  return text === undefined || text === '' ? [] : text.split(';')
}

function figure<T extends object>(row: Row, column: string, unit: number, field: (value: number) => T): T | undefined {
  const value = numberIn(row, column)
  return value === undefined ? undefined : field(value * unit)
}
