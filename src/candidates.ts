import type { Cluster, Config, Pool } from './config.ts'
import { findGpus, type Gpu, type UnknownGpu } from './gpu.ts'
import {
  clusterOf,
  type Device,
  isMadeFor,
  knowsPartitions,
  neighbours,
  poolCalled,
  poolsOf,
  requestedDevices,
  whyNotFor,
} from './gpu-choices.ts'
import { isGuess, type Job, type Role } from './job.ts'
import type { Machine } from './machine.ts'
import type { MemoryFit } from './memory.ts'
import { memoryObstacles, poolObstacles, precisionObstacles, worstFit } from './obstacles.ts'
import {
  type Arrangement,
  arrangeRented,
  largestRented,
  type Placement,
  placeOn,
  type Rented,
  type Seat,
} from './placements.ts'
import type { PriceList } from './prices/index.ts'
import type { Tier } from './prices/price-source.ts'
import { mayBeRelaid } from './spanning.ts'
import { countOf } from './units.ts'
import type { Workload } from './workload.ts'

export type { Placement } from './placements.ts'

/** A GPU type and number that could run the job, or the reasons why it cannot. */
export interface Candidate {
  readonly asRequested: boolean
  readonly placements: readonly Placement[]
  readonly fit: MemoryFit
  /** Why it cannot run, with need and have; empty when it can. */
  readonly obstacles: readonly string[]
  /** What to know about it: `sold in eights`, `network decides`. */
  readonly remarks: readonly string[]
  /** The manifest insists on machines that can be taken away at any time: no other price is its price. */
  readonly spot?: true
}

/** What candidates are chosen from. */
export interface CandidateContext {
  readonly gpus: readonly Gpu[]
  readonly prices: PriceList
  readonly config: Config
  /** Names of candidates that were asked for when quoting; they win over those of the manifest and the configuration. */
  readonly wanted?: readonly string[]
}

/**
 * Where a job could run: as requested first (several where the manifest leaves the GPU type open), then the candidates that the
 * manifest or the configuration names, else what the cluster has, else the neighbours of what was asked for. Those that cannot
 * run it are among them, with the reasons. None for a job without GPUs.
 */
export function findCandidates(
  job: Job,
  workloads: readonly Workload[],
  context: CandidateContext,
): readonly Candidate[] {
  const roles = job.roles.filter(role => role.gpuCount.value > 0)
  if (roles.length === 0) return []
  const situation = { ...context, job, roles, workloads, cluster: clusterOf(job, context.config.clusters) }
  const requested = requestedSites(situation)
  const sites = [...requested, ...otherSites(situation, requested)]
  const candidates = sites.flatMap(site => candidatesAt(site, situation))
  return candidates.filter((candidate, index) => candidates.findIndex(each => isSame(each, candidate)) === index)
}

/** `8x A100-80GB`, or `6x H100 + 2x T4` where the roles differ. */
export function describeGpus(candidate: Candidate): string {
  const counts = new Map<string, { readonly gpu: Gpu | UnknownGpu; readonly count: number }>()
  for (const { gpu, gpuCount } of candidate.placements) {
    counts.set(gpu.name, { gpu, count: (counts.get(gpu.name)?.count ?? 0) + gpuCount })
  }
  return [...counts.values()].map(({ gpu, count }) => describeCount(gpu, count)).join(' + ')
}

function describeCount(gpu: Gpu | UnknownGpu, count: number): string {
  if (gpu.name !== '') return `${count}x ${gpu.name.toUpperCase()}`
  const maker = gpu.vendor === 'unknown' && gpu.maker !== undefined ? `${gpu.maker} ` : ''
  return `${countOf(count, `${maker}GPU`)} of any type`
}

interface Situation extends CandidateContext {
  readonly job: Job
  /** Roles that hold GPUs. */
  readonly roles: readonly Role[]
  readonly workloads: readonly Workload[]
  readonly cluster: Cluster | undefined
}

/** A node of a pool. */
interface Node {
  readonly pool: Pool
  readonly machine: Machine
}

/** A GPU type for every role, and where it stands: in a pool of the cluster, or wherever it is rented. */
interface Site {
  readonly asRequested: boolean
  /** One for each role. */
  readonly devices: readonly Device[]
  /** Of the cluster, one for each role; absent where it is rented, or not known. */
  readonly nodes?: readonly Node[]
  /** GPUs in all, where a candidate names another number than the job. */
  readonly gpuCount?: number
  readonly obstacles: readonly string[]
  readonly remarks: readonly string[]
}

function requestedSites(situation: Situation): readonly Site[] {
  const { roles, gpus, prices, cluster } = situation
  const named = roles.map(role => requestedDevices(role, gpus, prices))
  const choices = named.map((devices, index) => inCluster(devices, roles[index], situation))
  const variantCount = Math.max(...choices.map(devices => devices.length))
  return Array.from({ length: variantCount }, (_, variant) => {
    const devices = choices.flatMap(each => each[Math.min(variant, each.length - 1)] ?? [])
    const nodes = cluster && nodesFor(devices, roles, cluster, situation)
    const isKnown = devices.every(device => device.gpu.vendor !== 'unknown')
    const isElsewhere = cluster !== undefined && nodes === undefined && isKnown
    return {
      asRequested: true,
      devices,
      ...(nodes && { nodes }),
      obstacles: isElsewhere ? [notInCluster(cluster)] : [],
      remarks: [
        ...(variantCount > 1 ? ['one of several types that the job may get'] : []),
        ...remarksOnBasis(roles.filter(role => !knowsPartitions(cluster, role))),
        ...(cluster === undefined ? [] : remarksOnPools(roles, cluster, nodes)),
      ],
    }
  })
}

/**
 * Types that a role may get: those it names as far as the cluster has them, else those of its partition, else of the only pool.
 * What is only guessed from a name or a comment gives way to what the configuration says of the partition.
 */
function inCluster(named: readonly Device[], role: Role | undefined, situation: Situation): readonly Device[] {
  const { cluster, prices } = situation
  if (role === undefined) return named
  if (cluster === undefined) return named.length > 0 ? named : [unnamedDevice(role)]
  const possible = poolsFor(role, cluster)
  const machines = possible.flatMap(pool => prices.machinesOf(cluster, pool)).filter(({ gpu }) => isMadeFor(gpu, role))
  const isGuessed = isGuess(role.gpuType.basis) && poolsOf(role, cluster).length > 0
  if (named.length > 0 && !isGuessed) {
    const meant = named.flatMap(device => devicesBySiteName(device, cluster, prices))
    const there = meant.filter(device => machines.some(machine => machine.gpu.name === device.whole.name))
    return there.length > 0 ? there : meant
  }
  const isUnknownPool = role.partitions.length > 0 && poolsOf(role, cluster).length === 0
  if (isUnknownPool || possible.length !== 1 || machines.length === 0) return [unnamedDevice(role)]
  return machines.map(({ gpu }) => ({ gpu, whole: gpu }))
}

/** A name that no table knows may be the site's own for a pool of its configuration. */
function devicesBySiteName(device: Device, cluster: Cluster, prices: PriceList): readonly Device[] {
  const pool = device.gpu.vendor === 'unknown' ? poolCalled(device.gpu.name, cluster) : undefined
  if (pool === undefined) return [device]
  return prices.machinesOf(cluster, pool).map(({ gpu }) => ({ gpu, whole: gpu }))
}

function unnamedDevice({ gpuVendor }: Role): Device {
  const gpu: UnknownGpu = { name: '', vendor: 'unknown', ...(gpuVendor && { maker: gpuVendor }) }
  return { gpu, whole: gpu }
}

/** The pools that a role names, else all: those of spot machines or of others, where it insists on them and there are any. */
function poolsFor(role: Role, cluster: Cluster): readonly Pool[] {
  const named = poolsOf(role, cluster)
  const possible = named.length > 0 ? named : cluster.pools
  const { spot } = role.pin ?? {}
  const alike = possible.filter(pool => spot === undefined || pool.spot === spot.value)
  return alike.length > 0 ? alike : possible
}

/** Nodes with the GPU of each role, in the partition that it names if the configuration knows that; undefined where one is missing. */
function nodesFor(
  devices: readonly Device[],
  roles: readonly Role[],
  cluster: Cluster,
  { prices }: Situation,
): readonly Node[] | undefined {
  const nodes = roles.flatMap((role, index) => {
    const possible = nodesOf(cluster, poolsFor(role, cluster), prices)
    return possible.find(({ machine }) => machine.gpu.name === devices[index]?.whole.name) ?? []
  })
  return nodes.length === roles.length ? nodes : undefined
}

function nodesOf(cluster: Cluster, pools: readonly Pool[], prices: PriceList): readonly Node[] {
  return pools.flatMap(pool => prices.machinesOf(cluster, pool).map(machine => ({ pool, machine })))
}

function remarksOnBasis(roles: readonly Role[]): readonly string[] {
  const guessed = roles.find(({ gpuType: { basis } }) => isGuess(basis))
  if (guessed === undefined) return []
  const source = guessed.gpuType.basis.replace('-hint', "'s name")
  return [`the type is guessed from ${source.startsWith('a') ? 'an' : 'a'} ${source}`]
}

/** Where partitions or pools that a job names are not in the configuration: what is priced instead. */
function remarksOnPools(
  roles: readonly Role[],
  cluster: Cluster,
  nodes: readonly Node[] | undefined,
): readonly string[] {
  return roles.flatMap((role, index) => {
    if (role.partitions.length === 0 || poolsOf(role, cluster).length > 0) return []
    const names = role.partitions.map(({ value }) => value).join(', ')
    const pool = nodes?.[index]?.pool.name
    const priced = pool === undefined ? '' : `: taken as ${pool}, which has these GPUs`
    return [`${names} is not in ${cluster.name} of gpufare.yaml${priced}`]
  })
}

function otherSites(situation: Situation, requested: readonly Site[]): readonly Site[] {
  const { cluster, gpus, prices, roles } = situation
  const wanted = wantedNames(situation)
  if (wanted.length > 0) return wanted.flatMap(name => wantedSites(name, situation))
  if (cluster !== undefined) {
    return nodesOf(cluster, cluster.pools, prices)
      .filter(({ machine }) => roles.every(role => isMadeFor(machine.gpu, role)))
      .map(node => siteOf(node.machine.gpu, situation, { node }))
  }
  const asked = requested.flatMap(site => site.devices.map(device => device.whole))
  const isUnnamed = asked.every(gpu => gpu.name === '')
  const remarks = isUnnamed ? ['assumed: the job names no GPU type'] : []
  return [
    // Other layouts of the very GPUs asked for stand beside the neighbours.
    ...requested.map(site => ({ ...site, asRequested: false })),
    ...neighbours(asked, gpus, roles)
      .filter(gpu => prices.providersWith(gpu).length > 0)
      .map(gpu => siteOf(gpu, situation, { remarks })),
  ].filter(site => site.devices.every(device => device.gpu.vendor !== 'unknown'))
}

function wantedNames({ wanted, job, config }: Situation): readonly string[] {
  if (wanted !== undefined && wanted.length > 0) return wanted
  return job.declarations.gpus?.value ?? config.candidates.map(({ value }) => value)
}

/** `l40s` or `8xt4`: in the cluster if it has them, else rented. */
function wantedSites(written: string, situation: Situation): readonly Site[] {
  const { cluster, gpus, prices } = situation
  const [, count, name = written] = /^(\d+)\s*[x×*]\s*(.+)$/i.exec(written.trim()) ?? []
  const gpuCount = count === undefined ? {} : { gpuCount: Number(count) }
  const found: readonly (Gpu | UnknownGpu)[] = findGpus(name, gpus)
  return (found.length > 0 ? found : [{ name, vendor: 'unknown' as const }]).map(gpu => {
    const ofType = obstaclesOfType(gpu, situation.roles)
    if (cluster === undefined) return siteOf(gpu, situation, { ...gpuCount, obstacles: ofType })
    const node = nodesOf(cluster, cluster.pools, prices).find(({ machine }) => machine.gpu.name === gpu.name)
    const obstacles = [...(node === undefined ? [notInCluster(cluster)] : []), ...ofType]
    return siteOf(gpu, situation, { ...gpuCount, ...(node && { node }), obstacles })
  })
}

function obstaclesOfType(gpu: Gpu | UnknownGpu, roles: readonly Role[]): readonly string[] {
  return roles.flatMap(role => whyNotFor(gpu, role) ?? []).slice(0, 1)
}

function notInCluster(cluster: Cluster): string {
  return `no pool of ${cluster.name} in gpufare.yaml has it`
}

/** The same GPU type, and the same node where there is one, for every role. */
function siteOf(
  gpu: Gpu | UnknownGpu,
  { roles }: Situation,
  { node, ...more }: Partial<Omit<Site, 'nodes'>> & { readonly node?: Node },
): Site {
  return {
    asRequested: false,
    devices: roles.map(() => ({ gpu, whole: gpu })),
    ...(node && { nodes: roles.map(() => node) }),
    obstacles: [],
    remarks: [],
    ...more,
  }
}

function candidatesAt(site: Site, situation: Situation): readonly Candidate[] {
  const { job, workloads } = situation
  return arrangementsAt(site, situation).map(({ placements, remarks, obstacles: unplaced = [] }) => {
    const fit = worstFit(job, placements, workloads)
    const obstacles = [
      ...site.obstacles,
      ...unplaced,
      ...precisionObstacles(placements, workloads),
      ...memoryObstacles(fit),
    ]
    return {
      asRequested: site.asRequested,
      placements,
      fit,
      obstacles,
      remarks: [...site.remarks, ...remarks],
      ...(site.nodes === undefined && tierOf(situation) === 'spot' && { spot: true }),
    }
  })
}

/** Spot where a role insists on it. */
function tierOf({ roles }: Situation): Tier {
  return roles.some(({ pin }) => pin?.spot?.value === true) ? 'spot' : 'on-demand'
}

/** Machines for a site, and why they do not do. */
interface SiteArrangement extends Arrangement {
  readonly obstacles?: readonly string[]
}

function arrangementsAt(site: Site, situation: Situation): readonly SiteArrangement[] {
  const seats = seatsAt(site, situation)
  const { nodes } = site
  if (nodes !== undefined) return [inPools(nodes, seats, situation)]
  const { asWritten, others } = rentedAt(site, seats, situation)
  const written = asWritten ?? unplaced(site, seats, situation)
  return site.asRequested ? [written] : [written, ...others]
}

function inPools(nodes: readonly Node[], seats: readonly Seat[], { roles }: Situation): SiteArrangement {
  const placements = seats.flatMap((seat, index) => {
    const machine = nodes[index]?.machine
    return machine === undefined ? [] : [placeOn(machine, seat, roles[index]?.exclusive === true)]
  })
  const pools = nodes.map(node => node.pool)
  return { placements, remarks: [], obstacles: poolObstacles(pools, placements, seats) }
}

function rentedAt(site: Site, seats: readonly Seat[], situation: Situation): Rented {
  const { prices } = situation
  const tier = tierOf(situation)
  const [first] = site.devices
  if (first === undefined || first.whole.vendor === 'unknown') return { others: [] }
  if (first.machineName !== undefined) {
    const machine = prices.machinesNamed(first.machineName)[0]
    if (machine === undefined || seats.some(seat => seat.perReplica > machine.gpuCount)) return { others: [] }
    return { asWritten: { placements: seats.map(seat => placeOn(machine, seat, true)), remarks: [] }, others: [] }
  }
  const isOneType = site.devices.every(device => device.whole.name === first.whole.name)
  if (isOneType) return arrangeRented(seats, first.whole, prices, tier)
  const parts = seats.map((seat, index) => {
    const whole = site.devices[index]?.whole
    return whole === undefined || whole.vendor === 'unknown'
      ? undefined
      : arrangeRented([seat], whole, prices, tier).asWritten
  })
  if (parts.some(part => part === undefined)) return { others: [] }
  const known = parts.flatMap(part => part ?? [])
  const asWritten = { placements: known.flatMap(part => part.placements), remarks: known.flatMap(part => part.remarks) }
  return { asWritten, others: [] }
}

/**
 * Nodes or pods as the manifest asks for them, of which nothing else is known: what GPU it is, who offers it, or for how much. Where
 * it is offered, no machine of it is large enough.
 */
function unplaced(site: Site, seats: readonly Seat[], { roles, job, cluster, prices }: Situation): SiteArrangement {
  const obstacles: string[] = []
  const placements = seats.flatMap((seat, index) => {
    const role = roles[index]
    const device = site.devices[index]
    if (role === undefined || device === undefined) return []
    const { whole: gpu, machineName } = device
    const named = machineName === undefined ? undefined : prices.machinesNamed(machineName)[0]
    const largest = named ?? (gpu.vendor === 'unknown' ? undefined : largestRented(gpu, prices))
    if (largest !== undefined && largest.gpuCount < seat.perReplica)
      obstacles.push(tooLarge(seat, largest, named !== undefined))
    const machine = {
      provider: cluster?.name ?? job.scheduler,
      name: role.partitions[0]?.value ?? 'node',
      gpu,
      gpuCount: Math.max(1, seat.perReplica),
    }
    return placeOn(machine, seat, role.exclusive)
  })
  return { placements, remarks: [], obstacles: [...new Set(obstacles)] }
}

function tooLarge({ perReplica, unit }: Seat, { provider, name, gpu, gpuCount }: Machine, isNamed: boolean): string {
  const has = isNamed
    ? `${name} has ${gpuCount}`
    : `the largest machine known with ${gpu.name} has ${gpuCount} (${provider} ${name})`
  return `needs ${countOf(perReplica, 'GPU')} in one ${unit === 'pod' ? 'pod' : 'node'}, ${has}`
}

function seatsAt(site: Site, situation: Situation): readonly Seat[] {
  const { job, roles, workloads } = situation
  return roles.map((role, index) => {
    const device = site.devices[index] ?? unnamedDevice(role)
    const tensor = workloads
      .filter(workload => workload.role === role.name)
      .map(workload => workload.parallelism?.value.tensor ?? 1)
    const relayable = job.scheduler === 'slurm' && mayBeRelaid(role, workloads)
    const gpuCount = roles.length === 1 ? (site.gpuCount ?? role.gpuCount.value) : role.gpuCount.value
    const { cpusPerReplica: cpus, memoryBytesPerReplica: memory } = role
    return {
      role: role.name,
      gpu: device.gpu,
      ...(device.share !== undefined && { share: device.share }),
      ...shapeOf(role, gpuCount, relayable),
      ...(cpus !== undefined && { cpus: cpus.value }),
      ...(memory !== undefined && memory.value !== 'all' && { memoryBytes: memory.value }),
      unit: unitOf(role, site, job, relayable),
      relayable,
      together: Math.min(gpuCount, Math.max(1, ...tensor)),
      joint: !(job.scheduler === 'kubernetes' && job.endless),
    }
  })
}

/** Nodes or pods as they are written, or as many more or less of them as another number of GPUs takes. */
function shapeOf(role: Role, gpuCount: number, relayable: boolean): Pick<Seat, 'gpuCount' | 'replicas' | 'perReplica'> {
  const perReplica = Math.max(1, role.gpusPerReplica.value)
  // Pods that share the GPUs of one claim take no more machines than those do.
  const replicas = Math.max(1, Math.min(role.replicas.value, Math.ceil(role.gpuCount.value / perReplica)))
  if (gpuCount === role.gpuCount.value) return { gpuCount, replicas, perReplica }
  if (relayable)
    return { gpuCount, replicas: Math.ceil(gpuCount / perReplica), perReplica: Math.min(gpuCount, perReplica) }
  const kept = Math.min(gpuCount, replicas)
  return { gpuCount, replicas: kept, perReplica: Math.ceil(gpuCount / kept) }
}

/** A batch script that asks for a number of GPUs and of no nodes gets them on whichever there are. */
function unitOf(role: Role, site: Site, job: Job, relayable: boolean): Seat['unit'] {
  if (job.scheduler === 'kubernetes') return 'pod'
  const asksForNoNodes = role.replicas.origin.kind === 'assumed' && role.replicas.value > 1
  const isFree = site.asRequested ? asksForNoNodes : relayable || asksForNoNodes
  return site.nodes !== undefined && isFree ? 'gpu' : 'node'
}

function isSame(a: Candidate, b: Candidate): boolean {
  return a.placements.every((placement, index) => {
    const other = b.placements[index]
    return (
      placement.gpu.name === other?.gpu.name &&
      placement.gpuCount === other.gpuCount &&
      placement.machine.provider === other.machine.provider &&
      placement.machine.name === other.machine.name
    )
  })
}
