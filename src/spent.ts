import { readFileSync, realpathSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { type BudgetState, type Days, daysOf, isCurrent, type Spent } from './budgets.ts'
import type { Config } from './config.ts'
import { openTable } from './csv.ts'
import { GpufareError, InputError, systemReason } from './errors.ts'
import { isWithin } from './file-source.ts'
import { poolCalled } from './gpu-choices.ts'
import type { PriceList } from './prices/index.ts'
import { askProgram } from './programs.ts'
import type { Budget, SpentSource } from './rulebook.ts'
import { countOf, isDay, secondsPerHour, secondsPerMinute } from './units.ts'

/** With what spending is read. */
export interface Accounting {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** ISO 8601. */
  readonly today: string
  /** For what Slurm's accounting counts in GPU-hours. */
  readonly prices: PriceList
  readonly config: Config
  /** How long Slurm's accounting may take to answer. */
  readonly patienceMilliseconds: number
}

/** The budgets that count today, and what is spent of each. Throws InputError where a file of spending is wrong. */
export async function readBudgets(accounting: Accounting): Promise<readonly BudgetState[]> {
  const current = accounting.config.budgets.filter(budget => isCurrent(budget, accounting.today))
  return Promise.all(
    current.map(async budget => {
      const days = daysOf(budget.period, accounting.today)
      return { budget, days, spent: await readSpent(budget, days, accounting) }
    }),
  )
}

async function readSpent(budget: Budget, days: Days | undefined, accounting: Accounting): Promise<Spent> {
  const { spent } = budget
  switch (spent.from) {
    case 'nowhere':
      return { amount: 0, source: 'nothing is recorded', remarks: [] }
    case 'file':
      return readFile(spent, budget, days)
    case 'sacct':
      return askAccounting(() => askSacct(spent.accounts, budget, days, accounting))
    case 'sshare':
      return askAccounting(() => askSshare(spent.account, accounting))
  }
}

/** A program that is not there or does not answer leaves the spending unknown; it stops nothing. */
async function askAccounting(ask: () => Promise<Spent>): Promise<Spent> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof GpufareError) return { missing: error.message }
    throw error
  }
}

type FileSource = Extract<SpentSource, { from: 'file' }>

/** Rows of date, team and amount (or gpu-hours), as CSV with these columns or as a JSON list of objects with these keys. */
function readFile(source: FileSource, budget: Budget, days: Days | undefined): Spent {
  const path = pathOf(source, budget)
  const text = readText(path)
  const rows = extname(path) === '.json' ? jsonRows(text, path) : csvRows(text)
  const key = budget.unit === 'usd' ? 'amount' : 'gpu-hours'
  const perUnit = budget.unit === 'usd' ? source.currency.perUsd : 1
  const faults: string[] = []
  let amount = 0
  for (const { row, at } of rows) {
    const { date, team } = row
    const figure = Number(row[key] === '' ? Number.NaN : row[key])
    if (typeof date !== 'string' || !isDay(date)) faults.push(`${at}: date: a day such as 2026-11-30 is expected`)
    else if (!Number.isFinite(figure)) faults.push(`${at}: ${key}: a number is expected`)
    else if (isOwn(budget, team) && (days === undefined || (date >= days.from && date <= days.until))) amount += figure
  }
  if (faults.length > 0) throw new InputError(faults.map(message => ({ place: { file: path }, message })))
  return { amount: amount / perUnit, source: path, remarks: [] }
}

function isOwn({ teams }: Budget, team: unknown): boolean {
  return teams.length === 0 || teams.some(name => name === team)
}

/** A repository's file must not make anybody read what lies outside of its folder, behind a link either. */
function pathOf({ file }: FileSource, { trusted, place }: Budget): string {
  const folder = dirname(resolve(place.file))
  const path = resolve(folder, file)
  if (trusted || isWithin(realPath(folder), realPath(path))) return path
  throw new InputError([{ place, message: `${file} lies outside of the folder of this file, and is not read` }])
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // it will be missed when it is read
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new InputError([{ place: { file: path }, message: `what was spent can't be read: ${systemReason(error)}` }])
  }
}

interface SpendingRow {
  readonly row: Readonly<Record<string, unknown>>
  readonly at: string
}

function csvRows(text: string): readonly SpendingRow[] {
  const rows = openTable(text.endsWith('\n') ? text : `${text}\n`).rows()
  return rows
    .map((row, index) => ({ row, at: `line ${index + 2}` }))
    .filter(({ row }) => Object.values(row).some(cell => cell.trim() !== ''))
}

function jsonRows(text: string, path: string): readonly SpendingRow[] {
  const rows = parseJson(text, path)
  if (!Array.isArray(rows)) throw new InputError([{ place: { file: path }, message: 'a list of objects is expected' }])
  return rows.map((row: unknown, index) => ({
    row: typeof row === 'object' && row !== null ? { ...row } : {},
    at: `item ${index + 1}`,
  }))
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new InputError([{ place: { file: path }, message: `not valid JSON: ${reason}` }])
  }
}

/**
 * GPU-hours of accounts from Slurm's accounting, priced by the partitions of the configuration. Allocations only, every run of a
 * job that was requeued, and of those that reach over the period's ends the part inside (sacct(1)).
 */
async function askSacct(
  accounts: readonly string[],
  budget: Budget,
  days: Days | undefined,
  accounting: Accounting,
): Promise<Spent> {
  const text = await askSlurm(
    'sacct',
    [
      '--noheader',
      '--parsable2',
      '--allocations',
      '--duplicates',
      '--truncate',
      '--allusers',
      `--accounts=${accounts.join(',')}`,
      ...(days === undefined ? [] : [`--starttime=${days.from}`, `--endtime=${days.until}T23:59:59`]),
      '--format=AllocTRES,ElapsedRaw,Partition',
    ],
    accounting,
  )
  const runs = linesOf(text).map(([tres = '', elapsed = '', partition = '']) => {
    const { count, type } = gpusIn(tres)
    return { partition, type, gpuHours: (count * Number(elapsed)) / secondsPerHour }
  })
  const source = `sacct of ${accounts.join(', ')}`
  if (budget.unit === 'gpu-hours') {
    return { amount: runs.reduce((sum, { gpuHours }) => sum + gpuHours, 0), source, remarks: [] }
  }
  let amount = 0
  const unpriced = new Map<string, number>()
  for (const { partition, type, gpuHours } of runs.filter(run => run.gpuHours > 0)) {
    const rate = rateOf(partition, type, accounting)
    if (rate === undefined) unpriced.set(partition, (unpriced.get(partition) ?? 0) + gpuHours)
    else amount += rate * gpuHours
  }
  const remarks = [...unpriced].map(
    ([partition, gpuHours]) =>
      `${countOf(Math.ceil(gpuHours), 'GPU-hour')} in partition ${partition}, which has no rate, are not in it`,
  )
  return { amount, source, remarks }
}

/** US dollars of a GPU-hour in a partition. One partition may be of several clusters' pools, or hold several GPU types. */
function rateOf(partition: string, type: string | undefined, { config, prices }: Accounting): number | undefined {
  const pools = config.clusters
    .filter(({ scheduler }) => scheduler === 'slurm')
    .flatMap(cluster => {
      const pool = cluster.pools.find(({ name }) => name === partition) ?? (type && poolCalled(type, cluster))
      return pool ? [{ cluster, pool }] : []
    })
  for (const { cluster, pool } of pools) {
    const price = prices.machinesOf(cluster, pool).map(machine => prices.priceOf(machine, 'on-demand'))[0]
    if (price !== undefined) return price.usdPerMachineHour / price.machine.gpuCount
  }
  return undefined
}

/** GPU-hours used and allowed of an account whose `GrpTRESMins` limits them; sshare counts minutes (sshare(1)). */
async function askSshare(account: string, accounting: Accounting): Promise<Spent> {
  const words = ['--noheader', '--parsable2', `--accounts=${account}`, '--format=Account,User,GrpTRESMins,GrpTRESRaw']
  const lines = linesOf(await askSlurm('sshare', words, accounting))
  const own = lines.find(([name = '', user = '']) => name.trim() === account && user === '')
  if (own === undefined) return { missing: `sshare knows no account ${account}` }
  const [, , allowed = '', used = ''] = own
  const limitMinutes = gpuTres(allowed)
  if (limitMinutes === undefined) return { missing: `account ${account} has no GrpTRESMins of gres/gpu` }
  const hours = (minutes: number) => (minutes * secondsPerMinute) / secondsPerHour
  return {
    amount: hours(gpuTres(used) ?? 0),
    limit: hours(limitMinutes),
    source: `sshare of ${account}`,
    remarks: [],
  }
}

async function askSlurm(program: string, words: readonly string[], accounting: Accounting): Promise<string> {
  const { environment, patienceMilliseconds: timeoutMilliseconds } = accounting
  const answer = await askProgram(program, words, { environment, timeoutMilliseconds })
  if (answer.timedOut) throw new GpufareError(`${program} did not answer in ${timeoutMilliseconds / 1_000} s`, 1)
  if (answer.exitCode === 0) return answer.stdout
  throw new GpufareError(`${program} failed: ${answer.stderr.trim().split('\n')[0] ?? ''}`, 1)
}

function linesOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split('|'))
}

/** GPUs of an allocation: `gres/gpu=8` counts all types together, `gres/gpu:a100=8` one of them. */
function gpusIn(tres: string): { readonly count: number; readonly type: string | undefined } {
  const typed = Array.from(tres.matchAll(/(?:^|,)gres\/gpu:([^=,]+)=(\d+)/g), ([, type, count]) => ({
    type,
    count: Number(count),
  }))
  const count = gpuTres(tres) ?? typed.reduce((sum, each) => sum + each.count, 0)
  return { count, type: typed[0]?.type }
}

function gpuTres(tres: string): number | undefined {
  const count = /(?:^|,)gres\/gpu=(\d+)/.exec(tres)?.[1]
  return count === undefined ? undefined : Number(count)
}
