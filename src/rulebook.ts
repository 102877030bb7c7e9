import type { Place } from './errors.ts'
import type { Exemption } from './finding.ts'
import type { BudgetRow, ExemptionRow, PolicyRow } from './rulebook-schema.ts'
import { type Currency, parseDuration } from './units.ts'

/** The jobs that a policy, a budget or an exemption is about; an empty list means all. */
export interface Where {
  readonly clusters: readonly string[]
  /** Globs of manifests. */
  readonly paths: readonly string[]
  readonly teams: readonly string[]
  readonly gpus: readonly string[]
  readonly tags: Readonly<Record<string, string>>
}

/** Which figure of an estimate is compared: its median, its P90, or what the time limit bounds. */
export type LimitBasis = 'p50' | 'p90' | 'bound'

/** A kind of job, by what it starts. */
export type JobKind = 'session' | 'train' | 'evaluate' | 'infer' | 'serve' | 'other'

/** A file that says something, and how far it can be trusted. */
interface Said {
  readonly place: Place
  /** It stands in a file that who submits can't change: the user's, the site's, a named policy, the base revision's. */
  readonly trusted: boolean
}

/** One rule, and where and how it counts. Settings that the rule does not have are absent. */
export interface Policy extends Said {
  readonly rule: PolicyRow['rule']
  readonly where: Where
  readonly level?: 'warn' | 'deny'
  readonly basis?: LimitBasis
  readonly limitUsd?: number
  readonly limitShare?: number
  readonly limitSeconds?: number
  readonly limitGpus?: number
  /** So many times the estimate. */
  readonly limitFactor?: number
  readonly requiredTags: readonly string[]
  readonly forbiddenGpus: readonly string[]
  readonly allowedGpus: readonly string[]
  readonly jobKinds: readonly JobKind[]
  /** Manifests may exempt themselves even where it denies. */
  readonly selfExempt: boolean
}

/** Where it is written what was spent. */
export type SpentSource =
  | { readonly from: 'nowhere' }
  | { readonly from: 'file'; readonly file: string; readonly currency: Currency }
  | { readonly from: 'sacct'; readonly accounts: readonly string[] }
  /** Slurm's own budget, `GrpTRESMins`: the limit too is Slurm's. */
  | { readonly from: 'sshare'; readonly account: string }

/** What a budget counts. */
export type BudgetUnit = 'usd' | 'gpu-hours'

/** When a budget counts: a period of the calendar, given days (both included), or as long as Slurm counts. */
export type BudgetPeriod =
  | { readonly kind: 'month' | 'quarter' | 'year' }
  | { readonly kind: 'days'; readonly from: string; readonly until: string }
  | { readonly kind: 'slurm' }

/** Money or GPU-hours that teams may spend in a period. */
export interface Budget extends Said {
  readonly name: string
  /** Empty = everybody. */
  readonly teams: readonly string[]
  readonly unit: BudgetUnit
  /** US dollars or GPU-hours, as `unit` says; absent where Slurm knows it. */
  readonly limit?: number
  readonly period: BudgetPeriod
  /** Shares of the limit, 0.8. */
  readonly warnAt: number
  readonly denyAt: number
  readonly basis: 'p50' | 'p90'
  readonly spent: SpentSource
}

/** An exemption that stands in a configuration file. */
export interface WrittenExemption extends Said, Exemption {
  readonly where: Where
}

/** Where a row stands, what it may do, and what money is counted in. */
export interface RowContext extends Said {
  readonly currency: Currency
}

/** A policy as written, its amounts in US dollars, seconds and shares. */
export function policyOf(row: PolicyRow, { currency, place, trusted }: RowContext): Policy {
  return {
    rule: row.rule,
    where: whereOf(row.where),
    ...(row.level !== undefined && { level: row.level }),
    ...('basis' in row && row.basis !== undefined && { basis: row.basis }),
    ...limitOf(row, currency),
    requiredTags: 'tags' in row ? row.tags : [],
    forbiddenGpus: ('gpus' in row ? row.gpus : undefined) ?? [],
    allowedGpus: ('allowed' in row ? row.allowed : undefined) ?? [],
    jobKinds: ('jobs' in row ? row.jobs : undefined) ?? [],
    selfExempt: row['self-exempt'] ?? false,
    place,
    trusted,
  }
}

function limitOf(row: PolicyRow, currency: Currency): Partial<Policy> {
  switch (row.rule) {
    case 'job-cost':
    case 'hourly-cost':
    case 'cost-increase':
      return { limitUsd: row.limit / currency.perUsd }
    case 'cost-increase-percent':
      return { limitShare: row.limit / 100 }
    case 'gpu-count':
      return { limitGpus: row.limit }
    case 'runtime':
      return { limitSeconds: parseDuration(row.limit) ?? 0 }
    case 'time-limit-slack':
      return { limitFactor: row.limit }
    default:
      return {}
  }
}

/** A budget as written. */
export function budgetOf(row: BudgetRow, { currency, place, trusted }: RowContext): Budget {
  const teams = listOf(row.team)
  const gpuHours = row['gpu-hours']
  const usd = row.amount === undefined ? undefined : row.amount / currency.perUsd
  const limit = gpuHours ?? usd
  return {
    name: row.name ?? (teams.length > 0 ? teams.join(', ') : 'everybody'),
    teams,
    unit: usd === undefined ? 'gpu-hours' : 'usd',
    ...(limit !== undefined && { limit }),
    period: periodOf(row),
    warnAt: (row['warn-at'] ?? 80) / 100,
    denyAt: (row['deny-at'] ?? 100) / 100,
    basis: row.basis ?? 'p90',
    spent: spentOf(row.spent, currency),
    place,
    trusted,
  }
}

function periodOf({ period, from, until }: BudgetRow): BudgetPeriod {
  if (from !== undefined && until !== undefined) return { kind: 'days', from, until }
  return { kind: period ?? 'slurm' }
}

function spentOf(spent: BudgetRow['spent'], currency: Currency): SpentSource {
  switch (spent?.from) {
    case 'sacct':
      return { from: 'sacct', accounts: listOf(spent.account) }
    case 'file':
      return { ...spent, currency }
    case 'sshare':
      return spent
    default:
      return { from: 'nowhere' }
  }
}

/** An exemption as written. */
export function exemptionOf(row: ExemptionRow, { place, trusted }: RowContext): WrittenExemption {
  return { rule: row.rule, where: whereOf(row.where), reason: row.reason, until: row.until, place, trusted }
}

function whereOf(where: PolicyRow['where']): Where {
  return {
    clusters: listOf(where?.cluster),
    paths: listOf(where?.path),
    teams: listOf(where?.team),
    gpus: listOf(where?.gpu),
    tags: where?.tag ?? {},
  }
}

function listOf(names: string | readonly string[] | undefined): readonly string[] {
  return names === undefined ? [] : [names].flat()
}
