import type { Gpu, UnknownGpu } from './gpu.ts'
import type { Machine } from './machine.ts'
import type { PriceList } from './prices/index.ts'
import type { Tier } from './prices/price-source.ts'
import { bytesPerGigabit, countOf, formatGib, formatPercent } from './units.ts'

/** One role's share of a candidate. */
export interface Placement {
  readonly role: string
  /** What one requested device is: a GPU, a MIG slice of one, or a type that no table knows (`vendor: 'unknown'`). */
  readonly gpu: Gpu | UnknownGpu
  /** Devices the job uses in this role. */
  readonly gpuCount: number
  /** Part of a whole GPU that each device is and is paid for; 1 where absent. */
  readonly share?: number
  readonly machine: Machine
  /** Machines taken; their GPUs may be more than `gpuCount`, and then they are paid all the same. */
  readonly machineCount: number
  /** The machine is taken and paid whole (a cloud instance, `--exclusive`), not by the GPU (a shared node). */
  readonly wholeMachine: boolean
}

/** GPUs of one role that need a place: equal nodes or pods. */
export interface Seat {
  readonly role: string
  readonly gpu: Gpu | UnknownGpu
  /** Of all replicas together. */
  readonly gpuCount: number
  readonly share?: number
  /** Nodes or pods. */
  readonly replicas: number
  /** GPUs of one, and what else it asks for; absent = not known. */
  readonly perReplica: number
  readonly cpus?: number
  readonly memoryBytes?: number
  /**
   * A node is a machine of its own; pods stand on one together where they fit, and none is cut in two; GPUs that are free may stand
   * on any number of machines.
   */
  readonly unit: 'node' | 'pod' | 'gpu'
  /** The nodes may be other ones than are written, in number and size. */
  readonly relayable: boolean
  /** GPUs that have to be in one machine, since they split every layer between them (tensor parallelism). */
  readonly together: number
  /** Its machines work on the same run, so that the network between them counts. */
  readonly joint: boolean
}

/** Machines that hold all seats of a job. */
export interface Arrangement {
  readonly placements: readonly Placement[]
  readonly remarks: readonly string[]
}

/** Ways to rent machines for a job. */
export interface Rented {
  /** A machine for each node or pod as the manifest is written; absent where no machine is large enough. */
  readonly asWritten?: Arrangement
  /** The same GPUs in fewer machines, or in small ones that are cheaper all together, where the job can be laid so. */
  readonly others: readonly Arrangement[]
}

/**
 * Rented machines for GPUs of one type. As written it is the cheapest machine that has exactly the GPUs of one node or pod, at the
 * first provider that has one, else the one that leaves the fewest GPUs idle; other layouts are of the same provider.
 */
export function arrangeRented(seats: readonly Seat[], whole: Gpu, prices: PriceList, tier: Tier): Rented {
  const markets: Market[] = []
  for (const provider of prices.providersWith(whole)) {
    const options = prices.machinesWith(whole, provider).flatMap(machine => priced(machine, prices, tier))
    const asWritten = asWrittenAmong(seats, options)
    // Most often the first provider will do: the others need not be looked at.
    if (asWritten?.shape === 'exact') return rentedIn({ options, asWritten }, seats)
    markets.push({ options, asWritten })
  }
  const large = markets.flatMap(market => (market.asWritten === undefined ? [] : { ...market, ...market.asWritten }))
  const [best] = large.toSorted(
    (a, b) => shapes.indexOf(a.shape) - shapes.indexOf(b.shape) || a.idleCount - b.idleCount,
  )
  if (best !== undefined) return rentedIn(best, seats)
  return markets.map(market => rentedIn(market, seats)).find(({ others }) => others.length > 0) ?? { others: [] }
}

/** The machine with the most GPUs of a type that can be rented. */
export function largestRented(whole: Gpu, prices: PriceList): Machine | undefined {
  return prices
    .providersWith(whole)
    .flatMap(provider => prices.machinesWith(whole, provider))
    .reduce<Machine | undefined>((most, each) => (each.gpuCount > (most?.gpuCount ?? 0) ? each : most), undefined)
}

/** As many of these machines as it takes. */
export function placeOn(machine: Machine, seat: Seat, wholeMachine: boolean): Placement {
  return placementOf(seat, machine, machinesFor(seat, machine), wholeMachine)
}

interface Option {
  readonly machine: Machine
  readonly usdPerHour: number
}

interface Market {
  readonly options: readonly Option[]
  readonly asWritten: WrittenArrangement | undefined
}

interface PricedArrangement extends Arrangement {
  readonly idleCount: number
  readonly machineCount: number
  readonly usdPerHour: number
}

/** How well machines match the nodes or pods: with as many GPUs, with more, or with fewer processors or less memory than is asked for. */
const shapes = ['exact', 'larger', 'short'] as const

interface WrittenArrangement extends PricedArrangement {
  readonly shape: (typeof shapes)[number]
}

type Choose = (seat: Seat) => Option | undefined

function rentedIn({ options, asWritten }: Market, seats: readonly Seat[]): Rented {
  const dense = fewer(seats, options)
  const small = smaller(seats, options)
  if (asWritten === undefined) return { others: [dense, small].filter(each => each !== undefined) }
  return {
    asWritten,
    others: [
      ...(dense !== undefined && dense.machineCount < asWritten.machineCount ? [dense] : []),
      ...(small !== undefined && small.usdPerHour < asWritten.usdPerHour ? [small] : []),
    ],
  }
}

function asWrittenAmong(seats: readonly Seat[], options: readonly Option[]): WrittenArrangement | undefined {
  const exact = arrange(seats, seat =>
    cheapest(
      seat,
      options.filter(option => isExact(seat, option) && holds(seat, option)),
    ),
  )
  if (exact !== undefined) return { ...exact, shape: 'exact' }
  const isLarge = (seat: Seat, { machine }: Option) => machine.gpuCount >= gpusOfReplica(seat)
  const ways = [
    shared(seats, all =>
      cheapest(
        all,
        options.filter(option => isLarge(all, option) && holds(all, option)),
      ),
    ),
    arrange(seats, seat =>
      cheapest(
        seat,
        options.filter(option => isLarge(seat, option) && holds(seat, option)),
      ),
    ),
  ]
  const larger = ways.find(each => each !== undefined)
  if (larger !== undefined) return { ...larger, shape: 'larger' }
  const short = arrange(seats, seat =>
    cheapest(
      seat,
      options.filter(option => isLarge(seat, option)),
    ),
  )
  return short && { ...short, shape: 'short' }
}

/** The fewest machines without an idle GPU: pods stand together, nodes become larger ones. */
function fewer(seats: readonly Seat[], options: readonly Option[]): PricedArrangement | undefined {
  const free = freed(seats)
  if (free === undefined) return undefined
  const choose = (seat: Seat) => {
    const least = seat.unit === 'pod' ? seat.perReplica : seat.together
    return options
      .filter(option => option.machine.gpuCount >= least && holds(seat, option) && isFilled(seat, option))
      .toSorted(
        (a, b) => machinesFor(seat, a.machine) - machinesFor(seat, b.machine) || totalUsd(seat, a) - totalUsd(seat, b),
      )[0]
  }
  return shared(free, choose) ?? arrange(free, choose)
}

/** Machines smaller than the nodes written, the cheapest whose network is known, without an idle GPU. */
function smaller(seats: readonly Seat[], options: readonly Option[]): PricedArrangement | undefined {
  const free = freed(seats)
  if (free === undefined || free.some(seat => seat.unit === 'pod')) return undefined
  return arrange(free, seat =>
    cheapest(
      seat,
      options.filter(
        option =>
          option.machine.gpuCount < seat.perReplica &&
          option.machine.gpuCount >= seat.together &&
          option.machine.networkBytesPerSecond !== undefined &&
          holds(seat, option) &&
          isFilled(seat, option),
      ),
    ),
  )
}

/** The seats without the bounds of nodes; undefined where these are to stay. */
function freed(seats: readonly Seat[]): readonly Seat[] | undefined {
  const free = seats.map(seat => (seat.unit === 'node' && seat.relayable ? { ...seat, unit: 'gpu' as const } : seat))
  return free.some(seat => seat.unit === 'node' || seat.share !== undefined) ? undefined : free
}

function arrange(seats: readonly Seat[], choose: Choose): PricedArrangement | undefined {
  const chosen = seats.flatMap(seat => {
    const option = choose(seat)
    return option === undefined
      ? []
      : [{ seat, option, machine: option.machine, count: machinesFor(seat, option.machine) }]
  })
  if (chosen.length < seats.length) return undefined
  const machineCount = sum(chosen.map(({ count }) => count))
  return {
    placements: chosen.map(({ seat, machine, count }) => placementOf(seat, machine, count, true)),
    remarks: [...new Set(chosen.flatMap(({ seat, machine, count }) => remarksOf(seat, machine, count, machineCount)))],
    idleCount: sum(chosen.map(({ seat, machine }) => idleGpus(seat, machine))),
    machineCount,
    usdPerHour: sum(chosen.map(({ seat, option }) => totalUsd(seat, option))),
  }
}

/** Pods of several roles that fill machines together, such as a master of one GPU and workers of seven: each pays its part. */
function shared(seats: readonly Seat[], choose: Choose): PricedArrangement | undefined {
  const [first] = seats
  if (first === undefined || seats.length < 2 || seats.some(seat => seat.share !== undefined || seat.unit !== 'pod')) {
    return undefined
  }
  const largest = (of: (seat: Seat) => number | undefined) => Math.max(...seats.map(seat => of(seat) ?? 0))
  const all: Seat = {
    ...first,
    gpuCount: sum(seats.map(seat => seat.gpuCount)),
    replicas: sum(seats.map(seat => seat.replicas)),
    perReplica: largest(seat => seat.perReplica),
    cpus: largest(seat => seat.cpus),
    memoryBytes: largest(seat => seat.memoryBytes),
    together: largest(seat => seat.together),
  }
  const option = choose(all)
  if (option === undefined || !isFilled(all, option)) return undefined
  const { machine, usdPerHour } = option
  const count = machinesFor(all, machine)
  return {
    placements: seats.map(seat => placementOf(seat, machine, machinesFor(seat, machine), false)),
    remarks: remarksOf(all, machine, count, count),
    idleCount: 0,
    machineCount: count,
    usdPerHour: usdPerHour * count,
  }
}

function cheapest(seat: Seat, options: readonly Option[]): Option | undefined {
  return options.toSorted(
    (a, b) => totalUsd(seat, a) - totalUsd(seat, b) || machinesFor(seat, a.machine) - machinesFor(seat, b.machine),
  )[0]
}

function isExact(seat: Seat, { machine }: Option): boolean {
  return seat.share === undefined ? machine.gpuCount === seat.perReplica : machine.gpuCount >= gpusOfReplica(seat)
}

/** Whether a machine has the processors and the memory for one node or pod, or for its part of the job; what is not known is believed. */
function holds(seat: Seat, { machine }: Option): boolean {
  const { cpus = 0, memoryBytes = 0 } = seat
  const part = seat.unit === 'gpu' ? machine.gpuCount / seat.perReplica : 1
  return (
    cpus * part <= (machine.cpuCount ?? Number.POSITIVE_INFINITY) &&
    memoryBytes * part <= (machine.memoryBytes ?? Number.POSITIVE_INFINITY)
  )
}

function isFilled(seat: Seat, { machine }: Option): boolean {
  return machine.gpuCount <= seat.gpuCount && idleGpus(seat, machine) === 0
}

function priced(machine: Machine, prices: PriceList, tier: Tier): readonly Option[] {
  const price = prices.priceOf(machine, tier) ?? prices.priceOf(machine, 'on-demand')
  return price === undefined ? [] : [{ machine, usdPerHour: price.usdPerMachineHour }]
}

/** Whole GPUs of one node or pod: seven slices of a seventh are one. */
function gpusOfReplica({ perReplica, share = 1 }: Seat): number {
  return Math.ceil(perReplica * share)
}

function machinesFor(seat: Seat, machine: Machine): number {
  const { gpuCount, share, unit, replicas, perReplica } = seat
  if (unit === 'gpu' || share !== undefined) return Math.ceil((gpuCount * (share ?? 1)) / machine.gpuCount)
  if (perReplica > machine.gpuCount) return replicas * Math.ceil(perReplica / machine.gpuCount)
  return unit === 'node' ? replicas : Math.ceil(replicas / podsOn(seat, machine))
}

/** Whole pods that one machine holds. */
function podsOn({ perReplica, cpus = 0, memoryBytes = 0 }: Seat, machine: Machine): number {
  const byCpus = machine.cpuCount === undefined || cpus === 0 ? Number.POSITIVE_INFINITY : machine.cpuCount / cpus
  const byMemory =
    machine.memoryBytes === undefined || memoryBytes === 0
      ? Number.POSITIVE_INFINITY
      : machine.memoryBytes / memoryBytes
  return Math.max(1, Math.floor(Math.min(machine.gpuCount / perReplica, byCpus, byMemory)))
}

/** What is left over of a machine that holds slices goes to others. */
function idleGpus(seat: Seat, machine: Machine): number {
  return seat.share === undefined ? machinesFor(seat, machine) * machine.gpuCount - seat.gpuCount : 0
}

function totalUsd(seat: Seat, { machine, usdPerHour }: Option): number {
  const { gpuCount, share } = seat
  const machinesPaid = share === undefined ? machinesFor(seat, machine) : (gpuCount * share) / machine.gpuCount
  return machinesPaid * usdPerHour
}

/** Slices are had only where others use the rest of the GPU: such a machine is not paid whole. */
function placementOf(seat: Seat, machine: Machine, machineCount: number, wholeMachine: boolean): Placement {
  const { role, gpu, gpuCount, share } = seat
  const place = { role, gpu, gpuCount, machine, machineCount }
  return share === undefined ? { ...place, wholeMachine } : { ...place, share, wholeMachine: false }
}

/** Of the machines of one seat, `machineCount` of the job's `jobMachineCount`. */
function remarksOf(seat: Seat, machine: Machine, machineCount: number, jobMachineCount: number): readonly string[] {
  if (seat.share !== undefined) return [`each is priced as ${formatPercent(seat.share)} of a GPU`]
  const held = machine.gpuCount * machineCount
  const idle = idleGpus(seat, machine)
  const isApart = seat.joint && jobMachineCount > 1 && machine.clusters !== true
  return [
    ...(idle > 0 ? [`sold ${machine.gpuCount} at a time: ${idle} of ${held} GPUs stand idle and are paid`] : []),
    ...(isApart ? [`${jobMachineCount} machines, ${networkOf(machine)}`] : []),
    ...shortages(seat, machine),
  ]
}

function shortages(seat: Seat, machine: Machine): readonly string[] {
  const { cpus = 0, memoryBytes = 0 } = seat
  if (seat.unit === 'gpu') return []
  const { cpuCount = cpus, memoryBytes: heldBytes = memoryBytes } = machine
  const lacking = (asked: string, had: string) => `asks for ${asked} a ${seat.unit}, ${machine.name} has ${had}`
  return [
    ...(cpus > cpuCount ? [lacking(countOf(cpus, 'CPU'), String(cpuCount))] : []),
    ...(memoryBytes > heldBytes ? [lacking(formatGib(memoryBytes), formatGib(heldBytes))] : []),
  ]
}

function networkOf({ networkBytesPerSecond }: Machine): string {
  if (networkBytesPerSecond === undefined) return 'the network between them is not known'
  return `the network between them decides: ${networkBytesPerSecond / bytesPerGigabit} Gbit/s`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
