import type { Allocation } from '../history/allocation.ts'
import type { RecordedRate } from '../quote-record.ts'
import { secondsPerDay, secondsPerHour } from '../units.ts'
import { type Outcome, wastedUsd } from './outcome.ts'

/** By what submissions are put together. */
export type Grouping = 'team' | 'user' | 'gpu' | 'model'

/** Submissions that belong together. */
export interface Group {
  readonly name: string
  readonly jobs: number
  readonly gpuHours: number
  /** Of those whose price is known. */
  readonly usd: number
  readonly wastedUsd: number
  /** P50 quoted and US dollars taken, of those that are done and were quoted with a range. */
  readonly quotedUsd: number
  readonly takenUsd: number
  /** Runs that are done and were quoted with a range, and those of them that stayed within it. */
  readonly compared: number
  readonly within: number
  /** Where a site counts how busy its GPUs are. */
  readonly idleShare?: number
  /** Jobs whose person took another candidate that cost less. */
  readonly cheaperChoices: number
}

/** GPUs of one type that were never all free in the whole time. */
export interface Baseline {
  readonly gpuType: string
  readonly gpus: number
  /** Of the GPU-hours of this type. */
  readonly share: number
  /** What a commitment for a year to just these would have saved in the time; absent where no such price is known. */
  readonly savedUsd?: number
}

/** What a review tells. Times are seconds since 1970. */
export interface Review {
  readonly sinceSeconds: number
  readonly untilSeconds: number
  readonly outcomes: readonly Outcome[]
  readonly by: Grouping
  readonly total: Group
  readonly groups: readonly Group[]
  /** By weeks that begin on Monday (ISO 8601), named by that day. */
  readonly weeks: readonly Group[]
  readonly baselines: readonly Baseline[]
}

/** Price of a machine-hour for whoever commits to a year; undefined where it is not known. */
export type CommittedPrice = (rate: RecordedRate) => number | undefined

/** Puts together what became of quotes. */
export function reviewOf(
  outcomes: readonly Outcome[],
  allocations: readonly Allocation[],
  time: { readonly sinceSeconds: number; readonly untilSeconds: number },
  by: Grouping,
  committedPrice: CommittedPrice,
): Review {
  return {
    ...time,
    outcomes,
    by,
    total: groupOf('all', outcomes),
    groups: grouped(outcomes, outcome => nameIn(outcome, by)).sort((a, b) => b.usd - a.usd),
    weeks: grouped(outcomes, ({ submitSeconds }) => mondayOf(submitSeconds)),
    baselines: baselinesOf(allocations, outcomes, time, committedPrice),
  }
}

/** Runtime taken over the one quoted, less one: 0.2 is a fifth longer; undefined where they cannot be compared. */
export function runtimeError({ runtimeSeconds, quoted }: Outcome): number | undefined {
  if (runtimeSeconds === undefined || quoted.runtimeSeconds === undefined) return undefined
  return runtimeSeconds / quoted.runtimeSeconds.p50 - 1
}

/** Whether the runtime lies between the quoted P10 and P90. */
export function isWithin({ runtimeSeconds, quoted }: Outcome): boolean | undefined {
  const range = quoted.runtimeSeconds
  if (runtimeSeconds === undefined || range === undefined) return undefined
  return runtimeSeconds >= range.p10 && runtimeSeconds <= range.p90
}

/** US dollars for the unit that the work is counted in, of a run that is done. */
export function unitCost({
  ending,
  usd,
  record,
  quoted,
}: Outcome): { readonly usd: number; readonly unit: string } | undefined {
  if (ending !== 'done' || usd === undefined) return undefined
  const usdPerTask = usd / quoted.tasks
  if (record?.tokens !== undefined && record.tokens > 0) {
    return { usd: (usdPerTask / record.tokens) * 1e9, unit: 'billion tokens' }
  }
  if (record?.epochs !== undefined && record.epochs > 0) return { usd: usdPerTask / record.epochs, unit: 'epoch' }
  return { usd: usdPerTask, unit: 'run' }
}

function nameIn({ team, user, quoted, record }: Outcome, by: Grouping): string {
  switch (by) {
    case 'team':
      return team
    case 'user':
      return user || 'not known'
    case 'gpu':
      return quoted.gpuModel.replace(/(^|\+ )\d+x /g, '$1') || 'not known'
    case 'model':
      return record?.model ?? 'not known'
  }
}

function groupOf(name: string, own: readonly Outcome[]): Group {
  const compared = own.filter(outcome => isWithin(outcome) !== undefined)
  const priced = compared.filter(({ usd, quoted, ending }) => ending === 'done' && usd !== undefined && quoted.usd)
  const counted = own.filter(({ idleShare }) => idleShare !== undefined)
  const countedHours = sum(counted, ({ gpuHours }) => gpuHours)
  return {
    name,
    jobs: own.length,
    gpuHours: sum(own, ({ gpuHours }) => gpuHours),
    usd: sum(own, ({ usd }) => usd ?? 0),
    wastedUsd: sum(own, wastedUsd),
    quotedUsd: sum(priced, ({ quoted }) => quoted.usd?.p50 ?? 0),
    takenUsd: sum(priced, ({ usd }) => usd ?? 0),
    compared: compared.length,
    within: compared.filter(isWithin).length,
    ...(countedHours > 0 && {
      idleShare: sum(counted, ({ gpuHours, idleShare = 0 }) => gpuHours * idleShare) / countedHours,
    }),
    cheaperChoices: own.filter(
      ({ record, quoted }) => (record?.insteadOfUsd ?? 0) > (quoted.usd?.p50 ?? Number.MAX_VALUE),
    ).length,
  }
}

function grouped(outcomes: readonly Outcome[], nameOf: (outcome: Outcome) => string): Group[] {
  const groups = new Map<string, Outcome[]>()
  for (const outcome of outcomes) {
    const own = groups.get(nameOf(outcome))
    if (own === undefined) groups.set(nameOf(outcome), [outcome])
    else own.push(outcome)
  }
  return Array.from(groups, ([name, own]) => groupOf(name, own))
}

function mondayOf(seconds: number): string {
  const day = Math.floor(seconds / secondsPerDay)
  // 1970-01-01 was a Thursday.
  return new Date((day - ((day + 3) % 7)) * secondsPerDay * 1_000).toISOString().slice(0, 10)
}

function baselinesOf(
  allocations: readonly Allocation[],
  outcomes: readonly Outcome[],
  { sinceSeconds, untilSeconds }: { readonly sinceSeconds: number; readonly untilSeconds: number },
  committedPrice: CommittedPrice,
): readonly Baseline[] {
  const types = [...new Set(allocations.filter(({ gpus }) => gpus > 0).map(({ gpuType = '' }) => gpuType))]
  return types.flatMap((gpuType): Baseline[] => {
    const spans = allocations
      .filter(each => each.gpus > 0 && (each.gpuType ?? '') === gpuType && each.startSeconds !== undefined)
      .map(({ gpus, startSeconds = 0, elapsedSeconds }) => ({
        gpus,
        from: Math.max(sinceSeconds, startSeconds),
        until: Math.min(untilSeconds, startSeconds + elapsedSeconds),
      }))
      .filter(({ from, until }) => until > from)
    const gpus = leastAtOnce(spans, sinceSeconds, untilSeconds)
    const held = sum(spans, span => span.gpus * (span.until - span.from)) / secondsPerHour
    if (held === 0) return []
    const hours = (untilSeconds - sinceSeconds) / secondsPerHour
    const savedUsd = gpus === 0 ? undefined : savedAnHour(gpuType, outcomes, committedPrice)
    return [
      {
        gpuType: gpuType || 'any type',
        gpus,
        share: (gpus * hours) / held,
        ...(savedUsd !== undefined && { savedUsd: savedUsd * gpus * hours }),
      },
    ]
  })
}

/** The least number of GPUs held at any moment of the time. */
function leastAtOnce(
  spans: readonly { readonly gpus: number; readonly from: number; readonly until: number }[],
  since: number,
  until: number,
): number {
  const changes = spans
    .flatMap(({ gpus, from, until: end }) => [
      { at: from, by: gpus },
      { at: end, by: -gpus },
    ])
    .sort((a, b) => a.at - b.at)
  let least = Number.POSITIVE_INFINITY
  let held = 0
  let at = since
  for (const change of changes) {
    if (change.at > at) least = Math.min(least, held)
    at = change.at
    held += change.by
  }
  return until > at ? Math.min(least, held) : least
}

/** Of one GPU, between what was paid on demand and what a year's commitment costs. */
function savedAnHour(
  gpuType: string,
  outcomes: readonly Outcome[],
  committedPrice: CommittedPrice,
): number | undefined {
  const rates = outcomes.filter(outcome => outcome.gpuType === gpuType).flatMap(({ record }) => record?.rates ?? [])
  const rate = rates.find(({ tier }) => tier === 'on-demand')
  const committed = rate && committedPrice(rate)
  if (rate === undefined || committed === undefined) return undefined
  return (rate.usdPerMachineHour - committed) / rate.machineGpus
}

function sum<T>(items: readonly T[], figureOf: (item: T) => number): number {
  return items.reduce((total, item) => total + figureOf(item), 0)
}
