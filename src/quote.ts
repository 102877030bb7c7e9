import type { Candidate, Placement } from './candidates.ts'
import type { Job } from './job.ts'
import type { Machine } from './machine.ts'
import type { Price, Tier } from './prices/price-source.ts'
import { repeatSpread } from './runtimes/known-run.ts'
import { chanceAbove, p90Deviations, type Range, type RangedRuntime, type Runtime } from './runtimes/runtime-model.ts'
import { secondsPerHour } from './units.ts'

/** The time limit may stop the job before it is done. */
export interface Stop {
  readonly limitSeconds: number
  /** How likely that is, 0 to 1. */
  readonly chance: number
  /** What is paid by then; absent where no price is known. */
  readonly lostUsd?: number
  /** The limit that 95 of 100 runs stay within; absent where that is not above the one it has. */
  readonly neededLimitSeconds?: number
}

/** What submitting the job costs on a candidate: a range, a bound from the time limit, or what is missing to know. */
export type Cost =
  | { readonly kind: 'range'; readonly usd: Range }
  | { readonly kind: 'bound'; readonly upperBoundUsd: number }
  | { readonly kind: 'unknown'; readonly missing: readonly string[] }

/** Hours and dollars on one candidate at one price tier. */
export interface Quote {
  readonly candidate: Candidate
  /** The tier of its prices: of a cluster's own pool it may be another than was asked for. */
  readonly tier: Tier
  /** Of one task. */
  readonly runtime: Runtime | undefined
  /** One for each placement, in its order; undefined = price not known. */
  readonly prices: readonly (Price | undefined)[]
  /** Runs of the whole job (array tasks, completions), and how many of them at one time. */
  readonly tasks: number
  readonly concurrentTasks: number
  /** While all concurrent tasks run. */
  readonly usdPerHour: number | undefined
  /** Of this submission: no task is paid for longer than its time limit lets it run. */
  readonly cost: Cost
  /** What the work costs if nothing stops it; differs from `cost` where the time limit may. */
  readonly wholeRunUsd: Range | undefined
  /** Present where the time limit is likelier than one in ten to stop it. */
  readonly stop: Stop | undefined
  /** GPU-hours of all tasks together; billed ones, where whole machines are taken. */
  readonly gpuHours: Range | { readonly upperBound: number } | undefined
  /** What the job costs if every task runs until its time limit stops it. */
  readonly limitUsd: number | undefined
}

/** Finds the price of a machine at a tier; undefined = not known. */
export type PriceOf = (machine: Machine, tier: Tier) => Price | undefined

/** Hours and dollars of a job on one candidate. Money comes from machines taken, not from GPUs asked for. */
export function quoteCandidate(
  job: Job,
  candidate: Candidate,
  runtime: Runtime | undefined,
  tier: Tier,
  priceOf: PriceOf,
): Quote {
  const shares = candidate.placements.map(placement => shareOf(job, placement, priceOf(placement.machine, tier)))
  const usdPerHour = mostPerHour(job, shares)
  const limitUsd = limitOf(job, shares, usdPerHour)
  return {
    candidate,
    tier: shares.find(share => share.price !== undefined)?.price?.tier ?? tier,
    runtime,
    prices: shares.map(share => share.price),
    tasks: Math.max(1, ...shares.map(share => share.tasks)),
    concurrentTasks: Math.max(1, ...shares.map(share => share.concurrentTasks)),
    usdPerHour,
    cost: costOf(job, runtime, shares, limitUsd),
    wholeRunUsd: runtime && runtime.basis !== 'limit' ? usdOf(wholeSeconds(runtime), shares, taskHoursOf) : undefined,
    stop: stopOf(job, candidate, runtime, limitUsd),
    gpuHours: gpuHoursOf(runtime, shares),
    limitUsd,
  }
}

/** The amount an approval has to cover: the P90 of the cost, or its bound. */
export function amountToApprove({ cost }: Quote): number | undefined {
  if (cost.kind === 'unknown') return undefined
  return cost.kind === 'range' ? cost.usd.p90 : cost.upperBoundUsd
}

/** Whether the job is more likely than not done within its time limit. */
export function finishes({ stop }: Quote): boolean {
  return stop === undefined || stop.chance <= 0.5
}

/** Whether the time limit stops a candidate before it is done, although it lets the job as written finish. */
export function isStoppedShort(quote: Quote, asWritten: Quote | undefined): boolean {
  return asWritten !== undefined && finishes(asWritten) && !finishes(quote)
}

/** What an hour costs while most runs at one time. */
function mostPerHour({ turns }: Job, shares: readonly Share[]): number | undefined {
  const all = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.concurrentTasks)))
  if (turns === undefined || all === undefined) return all
  const rateOf = (name: string) => shares.find(({ role }) => role === name)?.usdPerTaskHour ?? 0
  return Math.max(...turns.together.map(set => set.reduce((sum, { role, tasks }) => sum + rateOf(role) * tasks, 0)))
}

/** What it costs if only the limits end it: no more than the dearest turn for the time that all of them have. */
function limitOf({ turns }: Job, shares: readonly Share[], usdPerHour: number | undefined): number | undefined {
  const all = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.limitTaskHours)))
  const whole = turns?.limitSeconds === undefined ? undefined : scale(usdPerHour, turns.limitSeconds / secondsPerHour)
  return whole === undefined ? all : Math.min(whole, all ?? whole)
}

interface Share {
  readonly role: string
  readonly price: Price | undefined
  readonly usdPerTaskHour: number | undefined
  readonly gpuCount: number
  readonly tasks: number
  readonly concurrentTasks: number
  /** Hours of all tasks together if nothing but the time limit ends them. */
  readonly limitTaskHours: number | undefined
}

function shareOf(job: Job, placement: Placement, price: Price | undefined): Share {
  const role = job.roles.find(each => each.name === placement.role)
  const limitSeconds = role?.timeLimitSeconds?.value
  const tasks = role?.tasks ?? 1
  const concurrentTasks = role?.concurrentTasks ?? 1
  const limitedTasks = role?.limitSpansTasks === true ? concurrentTasks : tasks
  return {
    role: placement.role,
    price,
    usdPerTaskHour: price === undefined ? undefined : price.usdPerMachineHour * machinesPaid(placement),
    gpuCount: placement.wholeMachine ? placement.machine.gpuCount * placement.machineCount : placement.gpuCount,
    tasks,
    concurrentTasks,
    limitTaskHours: limitSeconds === undefined ? undefined : (limitedTasks * limitSeconds) / secondsPerHour,
  }
}

/** Machines paid for: whole ones, or the share that the job's GPUs are of a shared machine. */
function machinesPaid(placement: Placement): number {
  return placement.wholeMachine
    ? placement.machineCount
    : (placement.gpuCount * (placement.share ?? 1)) / placement.machine.gpuCount
}

function costOf(job: Job, runtime: Runtime | undefined, shares: readonly Share[], limitUsd: number | undefined): Cost {
  if (runtime?.basis === 'limit' && limitUsd !== undefined) return { kind: 'bound', upperBoundUsd: limitUsd }
  const usd = runtime && runtime.basis !== 'limit' ? usdOf(runtime.seconds, shares, paidTaskHoursOf) : undefined
  if (usd !== undefined) return { kind: 'range', usd }
  return {
    kind: 'unknown',
    missing: [
      ...(runtime === undefined ? [job.endless ? 'it has no end' : 'runtime'] : []),
      ...(shares.some(share => share.usdPerTaskHour === undefined) ? ['price'] : []),
    ],
  }
}

function usdOf(seconds: Range, shares: readonly Share[], hoursOf: typeof taskHoursOf): Range | undefined {
  const usdAt = (taskSeconds: number) =>
    sumKnown(shares.map(share => scale(share.usdPerTaskHour, hoursOf(share, taskSeconds))))
  const [p10, p50, p90] = [usdAt(seconds.p10), usdAt(seconds.p50), usdAt(seconds.p90)]
  return p10 === undefined || p50 === undefined || p90 === undefined ? undefined : { p10, p50, p90 }
}

/** Hours of all tasks together if nothing stops them. */
function taskHoursOf(share: Share, taskSeconds: number): number {
  return (share.tasks * taskSeconds) / secondsPerHour
}

function paidTaskHoursOf(share: Share, taskSeconds: number): number {
  return Math.min(taskHoursOf(share, taskSeconds), share.limitTaskHours ?? Number.POSITIVE_INFINITY)
}

/** Chances of a stop below this are within what a range of eight in ten leaves open anyway. */
const leastChance = 0.1

/** Standard deviations from the median to P95 of a normal distribution. */
const p95Deviations = 1.6449

/** Limits are asked for in quarters of an hour. */
const limitGrain = 900

function stopOf(
  job: Job,
  candidate: Candidate,
  runtime: Runtime | undefined,
  limitUsd: number | undefined,
): Stop | undefined {
  if (runtime === undefined || runtime.basis === 'limit') return undefined
  const roles = candidate.placements.flatMap(({ role }) => job.roles.find(each => each.name === role) ?? [])
  const stops = roles.flatMap(({ timeLimitSeconds, limitSpansTasks, tasks, concurrentTasks }) => {
    if (timeLimitSeconds === undefined) return []
    const waves = limitSpansTasks === true ? Math.ceil(tasks / concurrentTasks) : 1
    const limitSeconds = timeLimitSeconds.value
    const chance = runtime.limitChance ?? chanceAbove(runtime.seconds, limitSeconds / waves)
    const neededLimitSeconds = waves * neededLimit(wholeSeconds(runtime))
    return [{ limitSeconds, chance, ...(neededLimitSeconds > limitSeconds && { neededLimitSeconds }) }]
  })
  const [stop] = stops.sort((a, b) => b.chance - a.chance)
  if (stop === undefined || stop.chance <= leastChance) return undefined
  return { ...stop, ...(limitUsd !== undefined && { lostUsd: limitUsd }) }
}

function neededLimit({ p50, p90 }: Range): number {
  const p95 = p50 * (p90 / p50) ** (p95Deviations / p90Deviations)
  return Math.ceil((p95 * Math.exp(repeatSpread)) / limitGrain) * limitGrain
}

/** What it takes where no limit ends it. */
function wholeSeconds(runtime: RangedRuntime): Range {
  return runtime.unlimitedSeconds ?? runtime.seconds
}

function gpuHoursOf(runtime: Runtime | undefined, shares: readonly Share[]): Quote['gpuHours'] {
  if (runtime === undefined) return undefined
  if (runtime.basis === 'limit') {
    const upperBound = sumKnown(shares.map(share => scale(share.limitTaskHours, share.gpuCount)))
    return upperBound === undefined ? undefined : { upperBound }
  }
  const hoursAt = (seconds: number) =>
    shares.reduce((sum, share) => sum + share.gpuCount * paidTaskHoursOf(share, seconds), 0)
  const { p10, p50, p90 } = runtime.seconds
  return { p10: hoursAt(p10), p50: hoursAt(p50), p90: hoursAt(p90) }
}

function scale(value: number | undefined, factor: number | undefined): number | undefined {
  return value === undefined || factor === undefined ? undefined : value * factor
}

/** The sum, or undefined as soon as one part is not known. */
function sumKnown(values: readonly (number | undefined)[]): number | undefined {
  let sum = 0
  for (const value of values) {
    if (value === undefined) return undefined
    sum += value
  }
  return values.length === 0 ? undefined : sum
}
