import type { Placement } from '../candidates.ts'
import type { Config } from '../config.ts'
import type { Place } from '../errors.ts'
import { type Fare, requestedQuotes } from '../fare.ts'
import { findGpus } from '../gpu.ts'
import { clusterOf } from '../gpu-choices.ts'
import type { Role } from '../job.ts'
import type { Quote } from '../quote.ts'
import type { JobKind } from '../rulebook.ts'
import type { Range } from '../runtimes/runtime-model.ts'
import { findSession } from '../sessions.ts'
import type { Origin } from '../sourced.ts'
import { tagOf } from '../tags.ts'

/** What a check knows beside the job. */
export interface RuleContext {
  /** ISO 8601. */
  readonly today: string
  /**
   * Present where the job is compared with a base revision: what it cost there, nothing (a range of zeros) where it is new,
   * undefined where that is not known.
   */
  readonly change?: { readonly beforeUsd: Range | undefined }
  /** The manifest's path from the root of its repository; absent = as its job names it. */
  readonly path?: string
}

/** What a job costs as written: the dearest of the GPU types that it may get. US dollars; undefined = not known. */
export interface Money {
  readonly totalUsd: Range | undefined
  readonly upperBoundUsd: number | undefined
  readonly usdPerHour: number | undefined
}

/** A job under the eyes of the rules. */
export interface Subject {
  readonly fare: Fare
  readonly config: Config
  readonly context: RuleContext
  readonly money: Money
  readonly path: string
  readonly team: string | undefined
  readonly cluster: string | undefined
  readonly kinds: ReadonlySet<JobKind>
  /** Roles that hold GPUs. */
  readonly roles: readonly Role[]
  /** Quotes of the job as written. */
  readonly asWritten: readonly Quote[]
}

/** What the rules look at, of a fare. */
export function subjectOf(fare: Fare, config: Config, context: RuleContext): Subject {
  const { job, workloads } = fare
  return {
    fare,
    config,
    context,
    money: moneyOf(fare),
    path: context.path ?? job.place.file,
    team: tagOf('team', job, config),
    cluster: clusterOf(job, config.clusters)?.name,
    kinds: new Set([
      ...workloads.map(({ purpose }) => purpose),
      ...(findSession(job) === undefined ? [] : (['session'] as const)),
    ]),
    roles: job.roles.filter(role => role.gpuCount.value > 0),
    asWritten: requestedQuotes(fare),
  }
}

/** What a job costs as written. */
export function moneyOf(fare: Fare): Money {
  const quotes = requestedQuotes(fare)
  const ranges = quotes.map(({ cost }) => (cost.kind === 'range' ? cost.usd : undefined))
  const figure = (name: keyof Range) => largest(ranges.map(range => range?.[name]))
  const [p10, p50, p90] = [figure('p10'), figure('p50'), figure('p90')]
  return {
    totalUsd: p10 === undefined || p50 === undefined || p90 === undefined ? undefined : { p10, p50, p90 },
    upperBoundUsd: largest(quotes.map(({ cost, limitUsd }) => limitUsd ?? boundOf(cost))),
    usdPerHour: largest(quotes.map(({ usdPerHour }) => usdPerHour)),
  }
}

function boundOf(cost: Quote['cost']): number | undefined {
  return cost.kind === 'bound' ? cost.upperBoundUsd : undefined
}

/** The largest, or undefined where one is not known or there is none. */
export function largest(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter(figure => figure !== undefined)
  return known.length === figures.length && known.length > 0 ? Math.max(...known) : undefined
}

/** Whether a placement is on GPUs of this name, in any spelling; of a slice the whole GPU counts too. */
export function isOn({ gpu, machine }: Placement, name: string): boolean {
  const spelling = name.toLowerCase()
  if ([gpu, machine.gpu].some(each => each.name.toLowerCase() === spelling)) return true
  return machine.gpu.vendor !== 'unknown' && findGpus(name, [machine.gpu]).length > 0
}

/** The line that asks for the GPUs. */
export function gpuLine({ fare: { job }, roles: [role] }: Subject): Place {
  return placeIn(role?.gpuCount.origin) ?? placeIn(role?.gpusPerReplica.origin) ?? job.place
}

/** The line that limits the time; where there is none, the one that asks for the GPUs. */
export function timeLine(subject: Subject): Place {
  const limits = subject.roles.map(role => placeIn(role.timeLimitSeconds?.origin))
  return limits.find(place => place !== undefined) ?? gpuLine(subject)
}

function placeIn(origin: Origin | undefined): Place | undefined {
  return origin !== undefined && 'place' in origin ? origin.place : undefined
}
