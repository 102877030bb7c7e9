import { budgetsNow } from '../breaches.ts'
import { type BudgetState, describeAmount, limitOf, usageOf } from '../budgets.ts'
import { type Config, configHomes, findConfigs, readConfigs } from '../config.ts'
import { plainText } from '../escaping.ts'
import { notifyOf } from '../notify.ts'
import { loadPaint, type Paint, processTerminal, type Terminal, withSpinner } from '../terminal.ts'
import { formatPercent } from '../units.ts'

/** What `gpufare budget` can be told. */
export interface BudgetOptions {
  readonly format: 'table' | 'json'
  readonly config?: string
  readonly notify?: true
  readonly quiet?: true
  readonly color: boolean
}

/** Whoever only wants to see the budgets can wait for Slurm's accounting of a year. */
const patienceMilliseconds = 30_000

/** Shows every budget that counts today, and what is spent of it. */
export async function budget(
  options: BudgetOptions,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
  folder: string = process.cwd(),
  today: string = new Date().toISOString().slice(0, 10),
): Promise<number> {
  const { environment } = terminal
  const config = await readConfigs(findConfigs(folder, configHomes(environment), options.config))
  const asking = { environment, today }
  const states = await withSpinner(terminal, 'adding up', budgetsNow(config, asking, patienceMilliseconds))
  const paint = await loadPaint(terminal, 'stdout')
  const text = options.format === 'json' ? asJson(states, config) : asTable(states, config, paint)
  terminal.stdout.write(`${text}\n`)
  if (options.quiet !== true) for (const remark of config.ignored) terminal.stderr.write(`gpufare: ${remark}\n`)
  if (options.notify !== true) return 0
  const over = states.filter(state => usageOf(state) !== 'within').map(state => ({ state, more: 0 }))
  const faults = await notifyOf(config, over, asking)
  for (const fault of faults) terminal.stderr.write(`gpufare: nobody was told of a budget: ${fault}\n`)
  return faults.length > 0 ? 1 : 0
}

const head = ['budget', 'period', 'spent', 'limit', 'used', 'left', 'from']

function asTable(states: readonly BudgetState[], config: Config, paint: Paint): string {
  if (states.length === 0) return 'no budget counts today: gpufare.yaml names none (budgets:)'
  const rows = states.map(state => cellsOf(state, config).map(plainText))
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map(row => row[index]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  const colour = { within: (text: string) => text, warn: paint.yellow, deny: paint.red }
  return [
    paint.dim(line(head)),
    ...rows.flatMap((row, index) => {
      const state = states[index]
      if (state === undefined) return []
      const { spent } = state
      const remarks = 'missing' in spent ? [] : spent.remarks.map(remark => paint.dim(`  ${plainText(remark)}`))
      return [colour[usageOf(state)](line(row)), ...remarks]
    }),
  ].join('\n')
}

function cellsOf(state: BudgetState, { currency }: Config): readonly string[] {
  const { budget: own, days, spent } = state
  const limit = limitOf(state)
  const write = (amount: number) => describeAmount(amount, own.unit, currency)
  const period = days === undefined ? "as Slurm's" : `${days.from} to ${days.until}`
  const allowed = limit === undefined ? '?' : write(limit)
  if ('missing' in spent) return [own.name, period, '?', allowed, '?', '?', `not known: ${spent.missing}`]
  const used = limit === undefined || limit === 0 ? '?' : formatPercent(spent.amount / limit)
  const left = limit === undefined ? '?' : write(Math.max(0, limit - spent.amount))
  return [own.name, period, write(spent.amount), allowed, used, left, spent.source]
}

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** Plain numbers, US dollars or GPU-hours by the key; `gpufare-budget.schema.json` describes it. */
function asJson(states: readonly BudgetState[], { currency }: Config): string {
  const budgets = states.map(state => {
    const { budget: own, days, spent } = state
    const unit = own.unit === 'usd' ? 'Usd' : 'GpuHours'
    return {
      name: own.name,
      teams: own.teams,
      file: own.place.file,
      line: own.place.line,
      from: days?.from,
      until: days?.until,
      [`limit${unit}`]: limitOf(state),
      ...('missing' in spent
        ? { missing: spent.missing }
        : { [`spent${unit}`]: spent.amount, source: spent.source, remarks: spent.remarks }),
      warnAtShare: own.warnAt,
      denyAtShare: own.denyAt,
      usage: usageOf(state),
    }
  })
  return JSON.stringify({ schemaVersion, currency, budgets }, null, 2)
}
