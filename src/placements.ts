import type { Gpu, UnknownGpu } from './gpu.ts'
import type { Machine } from './machine.ts'
import type { PriceList } from './prices/index.ts'
import { bytesPerGigabit, formatPercent } from './units.ts'

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

/** GPUs of one role that need a place. */
export interface Seat {
  readonly role: string
  readonly gpu: Gpu | UnknownGpu
  readonly gpuCount: number
  readonly share?: number
  /** Nodes that it asks for, however few could hold it; absent = as few as it takes. */
  readonly nodeCount?: number
  /** GPUs in one machine as the manifest is written; kept where machines of that size are on offer. */
  readonly perNode: number
  /** GPUs that have to be in one machine, since they split every layer between them (tensor parallelism). */
  readonly together: number
}

/** Machines that hold all seats of a job. */
export interface Arrangement {
  readonly placements: readonly Placement[]
  readonly remarks: readonly string[]
}

/**
 * Rented machines for GPUs of one type: at the first provider that has them without idle ones, else at the first that has them.
 * Beside it, where it is cheaper by the hour, the same GPUs in smaller machines, as far as their network is known. Empty where
 * nobody offers this GPU.
 */
export function arrangeRented(seats: readonly Seat[], whole: Gpu, prices: PriceList): readonly Arrangement[] {
  const { best, smaller } = providerFor(seats, whole, prices)
  return [...(best ? [best] : []), ...(smaller ? [smaller] : [])]
}

/** As many of these machines as it takes. */
export function placeOn(machine: Machine, seat: Seat, wholeMachine: boolean): Placement {
  return placementOf(seat, machine, machinesFor(seat, machine), wholeMachine)
}

interface Option {
  readonly machine: Machine
  readonly usdPerHour: number
}

interface PricedArrangement extends Arrangement {
  readonly idleCount: number
  /** Each role is in one machine, or in several that are made to work together. */
  readonly isJoined: boolean
  readonly usdPerHour: number
}

/** What one provider has: machines as the manifest is written, and smaller ones that are cheaper all together. */
interface ProviderChoice {
  readonly best?: PricedArrangement
  readonly smaller?: PricedArrangement
}

/** The first provider without idle GPUs; else with smaller machines and none idle; else with machines that work together; else the first. */
function providerFor(seats: readonly Seat[], whole: Gpu, prices: PriceList): ProviderChoice {
  const choices: ProviderChoice[] = []
  for (const provider of prices.providersWith(whole)) {
    const options = prices.machinesWith(whole, provider).flatMap(machine => priced(machine, prices))
    const choice = choiceAmong(options, seats)
    // Most often the first provider will do: the others need not be looked at.
    if (choice.best?.isJoined && choice.best.idleCount === 0) return choice
    if (choice.best !== undefined) choices.push(choice)
  }
  const joined = choices.filter(({ best }) => best?.isJoined)
  return joined.find(({ smaller }) => smaller?.idleCount === 0) ?? joined[0] ?? choices[0] ?? {}
}

function choiceAmong(options: readonly Option[], seats: readonly Seat[]): ProviderChoice {
  const best = arrange(seats, options, bestOption)
  if (best === undefined) return {}
  const smaller = arrange(seats, options, smallerOption)
  return smaller !== undefined && smaller.usdPerHour < best.usdPerHour ? { best, smaller } : { best }
}

type Choose = (seat: Seat, options: readonly Option[]) => Option | undefined

function arrange(seats: readonly Seat[], options: readonly Option[], choose: Choose): PricedArrangement | undefined {
  const together = shareMachines(seats, options, choose)
  if (together !== undefined) return together
  const chosen = seats.flatMap(seat => {
    const option = choose(seat, options)
    return option === undefined ? [] : [{ seat, ...option, count: machinesFor(seat, option.machine) }]
  })
  if (chosen.length < seats.length) return undefined
  return {
    placements: chosen.map(({ seat, machine, count }) => placementOf(seat, machine, count, true)),
    remarks: [...new Set(chosen.flatMap(({ seat, machine, count }) => remarksOf(seat, machine, count)))],
    idleCount: sum(chosen.map(({ seat, machine }) => idleGpus(seat, machine))),
    isJoined: chosen.every(({ machine, count }) => isJoined(machine, count)),
    usdPerHour: sum(chosen.map(({ seat, ...option }) => totalUsd(seat, option))),
  }
}

/** Roles of the same job that fill machines together, such as a master of one GPU and workers of seven: each pays its part. */
function shareMachines(
  seats: readonly Seat[],
  options: readonly Option[],
  choose: Choose,
): PricedArrangement | undefined {
  const [first] = seats
  if (first === undefined || seats.length < 2 || seats.some(seat => seat.share !== undefined)) return undefined
  const all: Seat = {
    ...first,
    gpuCount: sum(seats.map(seat => seat.gpuCount)),
    perNode: Math.max(...seats.map(seat => seat.perNode)),
    together: Math.max(...seats.map(seat => seat.together)),
  }
  const option = choose(all, options)
  if (option === undefined || idleGpus(all, option.machine) > 0) return undefined
  const { machine, usdPerHour } = option
  const count = machinesFor(all, machine)
  return {
    placements: seats.map(seat => placementOf(seat, machine, machinesFor(seat, machine), false)),
    remarks: remarksOf(all, machine, count),
    idleCount: 0,
    isJoined: isJoined(machine, count),
    usdPerHour: usdPerHour * count,
  }
}

/** One machine, or several that are made to work together: as the manifest is written first, without idle GPUs, fewer, cheaper. */
function bestOption(seat: Seat, options: readonly Option[]): Option | undefined {
  const able = options.filter(({ machine }) => machine.gpuCount >= seat.together)
  const asWritten = able.filter(({ machine }) => machine.gpuCount >= seat.perNode)
  const shaped = asWritten.length > 0 ? asWritten : able
  const joined = shaped.filter(({ machine }) => isJoined(machine, machinesFor(seat, machine)))
  return (joined.length > 0 ? joined : shaped).toSorted(
    (a, b) =>
      Number(idleGpus(seat, a.machine) > 0) - Number(idleGpus(seat, b.machine) > 0) ||
      machinesFor(seat, a.machine) - machinesFor(seat, b.machine) ||
      totalUsd(seat, a) - totalUsd(seat, b),
  )[0]
}

/** Several machines with a network that is known: cheaper than the best option all together, and the quickest network of these. */
function smallerOption(seat: Seat, options: readonly Option[]): Option | undefined {
  const best = bestOption(seat, options)
  if (best === undefined) return undefined
  return options
    .filter(({ machine }) => machine.gpuCount < Math.min(best.machine.gpuCount, seat.gpuCount))
    .filter(({ machine }) => machine.gpuCount >= seat.together && machine.networkBytesPerSecond !== undefined)
    .filter(option => totalUsd(seat, option) < totalUsd(seat, best))
    .toSorted((a, b) => networkPerGpu(b.machine) - networkPerGpu(a.machine) || totalUsd(seat, a) - totalUsd(seat, b))[0]
}

function isJoined(machine: Machine, machineCount: number): boolean {
  return machineCount === 1 || machine.clusters === true
}

function priced(machine: Machine, prices: PriceList): readonly Option[] {
  const price = prices.priceOf(machine, 'on-demand')
  return price === undefined ? [] : [{ machine, usdPerHour: price.usdPerMachineHour }]
}

/** Whole GPUs that a role's devices fill: seven slices of a seventh are one. */
function gpusTaken({ gpuCount, share = 1 }: Seat): number {
  return Math.ceil(gpuCount * share)
}

function machinesFor(seat: Seat, machine: Machine): number {
  return Math.max(seat.nodeCount ?? 1, Math.ceil(gpusTaken(seat) / machine.gpuCount))
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

function networkPerGpu({ networkBytesPerSecond = 0, gpuCount }: Machine): number {
  return networkBytesPerSecond / gpuCount
}

/** Slices are had only where others use the rest of the GPU: such a machine is not paid whole. */
function placementOf(seat: Seat, machine: Machine, machineCount: number, wholeMachine: boolean): Placement {
  const { role, gpu, gpuCount, share } = seat
  const place = { role, gpu, gpuCount, machine, machineCount }
  return share === undefined ? { ...place, wholeMachine } : { ...place, share, wholeMachine: false }
}

function remarksOf(seat: Seat, machine: Machine, machineCount: number): readonly string[] {
  if (seat.share !== undefined) return [`each is priced as ${formatPercent(seat.share)} of a GPU`]
  const held = machine.gpuCount * machineCount
  const idle = idleGpus(seat, machine)
  return [
    ...(idle > 0 ? [`sold ${machine.gpuCount} at a time: ${idle} of ${held} GPUs stand idle and are paid`] : []),
    ...(isJoined(machine, machineCount) ? [] : [`${machineCount} machines, ${networkOf(machine)}`]),
  ]
}

function networkOf({ networkBytesPerSecond }: Machine): string {
  if (networkBytesPerSecond === undefined) return 'the network between them is not known'
  return `the network between them decides: ${networkBytesPerSecond / bytesPerGigabit} Gbit/s`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
