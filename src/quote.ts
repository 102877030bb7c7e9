import type { Candidate, Placement } from './candidates.ts'
import type { Job } from './job.ts'
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

/** Finds the price of a placement's machine at a tier; undefined = not known. */
export type PriceOf = (placement: Placement, tier: Tier) => Price | undefined

/** Hours and dollars of a job on one candidate. Money comes from machines taken, not from GPUs asked for. */
export function quoteCandidate(
  job: Job,
  candidate: Candidate,
  runtime: Runtime | undefined,
  tier: Tier,
  priceOf: PriceOf,
): Quote {
  const shares = candidate.placements.map(placement => shareOf(job, placement, priceOf(placement, tier)))
  const usdPerHour = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.concurrentTasks)))
  const usdPerRunHour = sumKnown(shares.map(share => scale(share.usdPerTaskHour, share.tasks)))
  const gpusOfAllTasks = shares.reduce((sum, share) => sum + share.gpuCount * share.tasks, 0)
  return {
    candidate,
    tier,
    runtime,
    prices: shares.map(share => share.price),
    usdPerHour,
    cost: costOf(runtime, usdPerRunHour, job),
    gpuHours: gpuHoursOf(runtime, gpusOfAllTasks),
    limitUsd: limitCost(shares),
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
  readonly limitSeconds: number | undefined
}

function shareOf(job: Job, placement: Placement, price: Price | undefined): Share {
  const role = job.roles.find(each => each.name === placement.role)
  return {
    price,
    usdPerTaskHour: price === undefined ? undefined : price.usdPerMachineHour * machinesPaid(placement),
    gpuCount: placement.wholeMachine ? placement.machine.gpuCount * placement.machineCount : placement.gpuCount,
    tasks: role?.tasks ?? 1,
    concurrentTasks: role?.concurrentTasks ?? 1,
    limitSeconds: role?.timeLimitSeconds?.value,
  }
}

/** Machines paid for: whole ones, or the share that the job's GPUs are of a shared machine. */
function machinesPaid(placement: Placement): number {
  return placement.wholeMachine
    ? placement.machineCount
    : (placement.gpuCount * (placement.share ?? 1)) / placement.machine.gpuCount
}

function costOf(runtime: Runtime | undefined, usdPerRunHour: number | undefined, job: Job): Cost {
  const missing = [
    ...(runtime === undefined ? [job.endless ? 'it has no end' : 'runtime'] : []),
    ...(usdPerRunHour === undefined ? ['price'] : []),
  ]
  if (runtime === undefined || usdPerRunHour === undefined) return { kind: 'unknown', missing }
  if (runtime.basis === 'limit') {
    return { kind: 'bound', upperBoundUsd: (usdPerRunHour * runtime.upperBoundSeconds) / secondsPerHour }
  }
  return { kind: 'range', usd: mapRange(runtime.seconds, seconds => (usdPerRunHour * seconds) / secondsPerHour) }
}

function gpuHoursOf(runtime: Runtime | undefined, gpuCount: number): Quote['gpuHours'] {
  if (runtime === undefined) return undefined
  if (runtime.basis === 'limit') return { upperBound: (gpuCount * runtime.upperBoundSeconds) / secondsPerHour }
  return mapRange(runtime.seconds, seconds => (gpuCount * seconds) / secondsPerHour)
}

function limitCost(shares: readonly Share[]): number | undefined {
  return sumKnown(
    shares.map(share =>
      share.limitSeconds === undefined
        ? undefined
        : scale(share.usdPerTaskHour, (share.tasks * share.limitSeconds) / secondsPerHour),
    ),
  )
}

function scale(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor
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
