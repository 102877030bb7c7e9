import type { Candidate, Placement } from './candidates.ts'
import type { Job } from './job.ts'
import type { Machine } from './machine.ts'
import type { Price, Tier } from './prices/price-source.ts'
import type { Range, Runtime } from './runtimes/runtime-model.ts'
import { secondsPerHour } from './units.ts'

/** What the whole job costs on a candidate: a range, a bound from the time limit, or what is missing to know. */
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
  /** While all concurrent tasks run. */
  readonly usdPerHour: number | undefined
  readonly cost: Cost
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
  const usdPerHour = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.concurrentTasks)))
  const usdPerRunHour = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.tasks)))
  const limitUsd = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.limitTaskHours)))
  return {
    candidate,
    tier: shares.find(share => share.price !== undefined)?.price?.tier ?? tier,
    runtime,
    prices: shares.map(share => share.price),
    usdPerHour,
    cost: costOf(job, runtime, usdPerRunHour, limitUsd),
    gpuHours: gpuHoursOf(runtime, shares),
    limitUsd,
  }
}

/** What of the P90 total an approval has to cover: the job is stopped by its time limit at the latest. */
export function amountToApprove(quote: Quote): number | undefined {
  if (quote.cost.kind === 'unknown') return undefined
  const expected = quote.cost.kind === 'range' ? quote.cost.usd.p90 : quote.cost.upperBoundUsd
  return Math.min(expected, quote.limitUsd ?? Number.POSITIVE_INFINITY)
}

interface Share {
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

function costOf(
  job: Job,
  runtime: Runtime | undefined,
  usdPerRunHour: number | undefined,
  limitUsd: number | undefined,
): Cost {
  if (runtime?.basis === 'limit' && limitUsd !== undefined) return { kind: 'bound', upperBoundUsd: limitUsd }
  if (runtime === undefined || runtime.basis === 'limit' || usdPerRunHour === undefined) {
    return {
      kind: 'unknown',
      missing: [
        ...(runtime === undefined ? [job.endless ? 'it has no end' : 'runtime'] : []),
        ...(usdPerRunHour === undefined ? ['price'] : []),
      ],
    }
  }
  return { kind: 'range', usd: mapRange(runtime.seconds, seconds => (usdPerRunHour * seconds) / secondsPerHour) }
}

function gpuHoursOf(runtime: Runtime | undefined, shares: readonly Share[]): Quote['gpuHours'] {
  if (runtime === undefined) return undefined
  if (runtime.basis === 'limit') {
    const upperBound = sumKnown(shares.map(share => scale(share.limitTaskHours, share.gpuCount)))
    return upperBound === undefined ? undefined : { upperBound }
  }
  const gpuCount = shares.reduce((sum, share) => sum + share.gpuCount * share.tasks, 0)
  return mapRange(runtime.seconds, seconds => (gpuCount * seconds) / secondsPerHour)
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

function mapRange(range: Range, change: (value: number) => number): Range {
  return { p10: change(range.p10), p50: change(range.p50), p90: change(range.p90) }
}
