import type { Place } from './errors.ts'
import { lift } from './exemptions.ts'
import type { Finding } from './finding.ts'
import { fitsGlob } from './globs.ts'
import type { Budget, BudgetPeriod, BudgetUnit, WrittenExemption } from './rulebook.ts'
import type { Range } from './runtimes/runtime-model.ts'
import { type Currency, countOf, formatCount, formatMoney, formatPercent } from './units.ts'

/** Days of a period, both included, ISO 8601. */
export interface Days {
  readonly from: string
  readonly until: string
}

/** What was spent, in the unit of its budget, or why that is not known. */
export type Spent =
  | {
      readonly amount: number
      /** The limit, where whoever knows the spending knows that too. */
      readonly limit?: number
      /** Where it was read. */
      readonly source: string
      /** What is missing in the amount. */
      readonly remarks: readonly string[]
    }
  | { readonly missing: string }

/** A budget on a day: its period then, and what is spent of it. */
export interface BudgetState {
  readonly budget: Budget
  /** Undefined where Slurm counts on its own. */
  readonly days: Days | undefined
  readonly spent: Spent
}

/** What a budget has to know of a job. */
export interface PayingJob {
  readonly name: string
  readonly place: Place
  readonly team: string | undefined
  /** As written, in US dollars. */
  readonly totalUsd: Range | undefined
  readonly upperBoundUsd: number | undefined
  readonly gpuHours: Range | { readonly upperBound: number } | undefined
}

/** The days of the period that `today` is in; undefined where it is in none, or where Slurm counts on its own. */
export function daysOf(period: BudgetPeriod, today: string): Days | undefined {
  if (period.kind === 'slurm') return undefined
  if (period.kind === 'days') {
    const { from, until } = period
    return today >= from && today <= until ? { from, until } : undefined
  }
  const year = Number(today.slice(0, 4))
  const month = Number(today.slice(5, 7))
  const length = { month: 1, quarter: 3, year: 12 }[period.kind]
  const first = Math.floor((month - 1) / length) * length
  const day = (monthIndex: number, ofMonth: number) =>
    new Date(Date.UTC(year, monthIndex, ofMonth)).toISOString().slice(0, 10)
  return { from: day(first, 1), until: day(first + length, 0) }
}

/** Whether a budget counts on a day. */
export function isCurrent({ period }: Budget, today: string): boolean {
  return period.kind === 'slurm' || daysOf(period, today) !== undefined
}

/** What jobs together add to a budget, in its unit; jobs of which that is not known are counted apart. */
export interface Addition {
  readonly jobs: readonly PayingJob[]
  readonly amount: number
  readonly unknown: readonly PayingJob[]
}

/** What the jobs of its teams add to a budget. */
export function additionTo(budget: Budget, jobs: readonly PayingJob[]): Addition {
  const own = jobs.filter(({ team }) => budget.teams.length === 0 || budget.teams.some(name => name === team))
  const amounts = own.map(job => amountOf(job, budget))
  return {
    jobs: own,
    amount: amounts.reduce((sum: number, amount) => sum + (amount ?? 0), 0),
    unknown: own.filter((_, index) => amounts[index] === undefined),
  }
}

/** The time limit's bound stands for a job without an estimate, and no job takes more than it. */
function amountOf({ totalUsd, upperBoundUsd, gpuHours }: PayingJob, { unit, basis }: Budget): number | undefined {
  if (unit === 'usd') {
    const amount = totalUsd?.[basis] ?? upperBoundUsd
    return amount === undefined ? undefined : Math.min(amount, upperBoundUsd ?? Number.POSITIVE_INFINITY)
  }
  if (gpuHours === undefined) return undefined
  return 'upperBound' in gpuHours ? gpuHours.upperBound : gpuHours[basis]
}

/** How far a budget is used up. */
export type Usage = 'within' | 'warn' | 'deny'

/** The limit of a budget; undefined where that is not known. */
export function limitOf({ budget, spent }: BudgetState): number | undefined {
  return 'missing' in spent ? budget.limit : (spent.limit ?? budget.limit)
}

/** How far it is used up by what is spent and `more`. */
export function usageOf(state: BudgetState, more = 0): Usage {
  const limit = limitOf(state)
  if (limit === undefined || 'missing' in state.spent) return 'within'
  const sum = state.spent.amount + more
  if (sum > limit * state.budget.denyAt) return 'deny'
  return sum > limit * state.budget.warnAt ? 'warn' : 'within'
}

/** What a check of budgets goes by. */
export interface BudgetContext {
  readonly exemptions: readonly WrittenExemption[]
  readonly currency: Currency
  readonly today: string
}

/** Budgets that the jobs of one call would break together, those that are nearly used up, and those of which that is not known. */
export function checkBudgets(
  states: readonly BudgetState[],
  jobs: readonly PayingJob[],
  context: BudgetContext,
): readonly Finding[] {
  return states.flatMap(state => {
    const addition = additionTo(state.budget, jobs)
    const [dearest] = addition.jobs.toSorted(
      (a, b) => (amountOf(b, state.budget) ?? 0) - (amountOf(a, state.budget) ?? 0),
    )
    if (dearest === undefined) return []
    const about = { rule: 'budget', jobName: dearest.name, place: dearest.place }
    const findings = [...ofSum(state, addition, context.currency), ...ofUnknown(state, addition)]
    return findings.flatMap(finding => exempted({ ...about, ...finding }, state.budget, addition, context))
  })
}

type Found = Pick<Finding, 'level' | 'message' | 'remedy'>

function ofSum(state: BudgetState, { jobs, amount }: Addition, currency: Currency): readonly Found[] {
  const { budget, spent, days } = state
  const limit = limitOf(state)
  const write = (figure: number) => describeAmount(figure, budget.unit, currency)
  if ('missing' in spent) {
    const message = `what is spent of the budget of ${budget.name} is not known: ${spent.missing}`
    return [{ level: 'warn', message, remedy: `\`gpufare budget\` shows what each budget goes by` }]
  }
  const usage = usageOf(state, amount)
  if (limit === undefined || usage === 'within') return []
  const share = usage === 'deny' ? budget.denyAt : budget.warnAt
  const sum = spent.amount + amount
  const counted = `${budget.basis.toUpperCase()}${jobs.length > 1 ? ` of ${countOf(jobs.length, 'job')}` : ''}`
  const added = amount === 0 ? 'are spent' : `spent and ${write(amount)} (${counted}) are ${write(sum)}`
  const used = limit === 0 ? '' : `, ${formatPercent(sum / limit)}`
  const period = days === undefined ? '' : ` from ${days.from} to ${days.until}`
  const verb = usage === 'deny' ? 'denies' : 'warns'
  const message = `budget of ${budget.name}${period}: ${write(spent.amount)} ${added} of ${write(limit)}${used}; it ${verb} above ${formatPercent(share)}`
  const left = limit * share - spent.amount
  const renewal = days === undefined || budget.period.kind === 'days' ? '' : `, or wait until after ${days.until}`
  const remedy = left > 0 ? `at most ${write(left)} would pass` : `nothing is left below ${formatPercent(share)}`
  return [{ level: usage, message, remedy: remedy + renewal }]
}

/** A job of which no amount is known can't be held against a budget, and must not pass in silence. */
function ofUnknown({ budget, spent }: BudgetState, { unknown }: Addition): readonly Found[] {
  if (unknown.length === 0 || 'missing' in spent) return []
  const names = unknown.map(job => job.name).join(', ')
  const message = `what ${names} ${unknown.length > 1 ? 'cost' : 'costs'} is not known, so it is not counted in the budget of ${budget.name}`
  return [{ level: 'warn', message, remedy: 'a time limit would bound it' }]
}

/**
 * A budget can be exempted only in a file, and only where all jobs that it is held against are meant; those of a repository
 * lift no trusted budget. `where` counts with its teams and paths: a sum of jobs has no single cluster or GPU type.
 */
function exempted(
  finding: Finding,
  budget: Budget,
  { jobs }: Addition,
  { exemptions, today }: BudgetContext,
): readonly Finding[] {
  const meant = exemptions.filter(({ rule, trusted, where }) => {
    const isAbout = (job: PayingJob) =>
      (where.teams.length === 0 || where.teams.some(team => team === job.team)) &&
      (where.paths.length === 0 || where.paths.some(glob => fitsGlob(job.place.file, glob)))
    const isNarrower = where.clusters.length + where.gpus.length + Object.keys(where.tags).length > 0
    return rule === 'budget' && (trusted || !budget.trusted) && !isNarrower && jobs.every(isAbout)
  })
  return lift(finding, meant, today)
}

/** `$4,100` or `320 GPU-hours`. */
export function describeAmount(amount: number, unit: BudgetUnit, currency: Currency): string {
  if (unit === 'usd') return formatMoney(amount, currency)
  const hours = amount < 10 ? String(Math.round(amount * 100) / 100) : formatCount(amount)
  return `${hours} GPU-hour${hours === '1' ? '' : 's'}`
}
