import { type Asking, budgetsNow, byConfig } from './breaches.ts'
import { additionTo, type BudgetState, limitOf, usageOf } from './budgets.ts'
import type { Config } from './config.ts'
import { GpufareError } from './errors.ts'
import { askProgram } from './programs.ts'
import type { QuotedManifest } from './quoted-manifests.ts'

/** A program that tells somebody has as long as this. */
const timeoutMilliseconds = 10_000

/** Tells of every budget that jobs, just submitted, take over a threshold that it was under; answers with what went wrong. */
export async function notifyOfJobs(quoted: readonly QuotedManifest[], asking: Asking): Promise<readonly string[]> {
  const told = [...byConfig(quoted)].map(async ([config, jobs]) => {
    if (config.notify === undefined) return []
    const states = await budgetsNow(config, asking)
    const crossed = states
      .map(state => ({ state, more: additionTo(state.budget, jobs).amount }))
      .filter(({ state, more }) => usageOf(state) !== usageOf(state, more))
    return notifyOf(config, crossed, asking)
  })
  return (await Promise.all(told)).flat()
}

/** A budget over a threshold, and what jobs add to what is spent. */
export interface Crossed {
  readonly state: BudgetState
  readonly more: number
}

/**
 * Runs the configured program once for each budget: from its argument array, what there is to tell on its standard input as JSON
 * and nothing of it in an argument. Answers with what went wrong; that is no reason to stop.
 */
export async function notifyOf(
  { notify, currency }: Config,
  crossed: readonly Crossed[],
  { environment }: Asking,
): Promise<readonly string[]> {
  const [program, ...words] = notify ?? []
  if (program === undefined) return []
  const runs = crossed.map(async ({ state, more }) => {
    const input = new TextEncoder().encode(`${JSON.stringify(messageOf({ state, more }, currency))}\n`)
    try {
      const { exitCode, timedOut } = await askProgram(program, words, { environment, timeoutMilliseconds, input })
      if (timedOut) return [`${program} did not end in ${timeoutMilliseconds / 1_000} s`]
      return exitCode === 0 ? [] : [`${program} ended with ${exitCode}`]
    } catch (error) {
      if (error instanceof GpufareError) return [error.message]
      throw error
    }
  })
  return (await Promise.all(runs)).flat()
}

/** What the program reads: amounts in the currency of the configuration, or GPU-hours. */
function messageOf({ state, more }: Crossed, { code, perUsd }: Config['currency']): object {
  const { budget, days, spent } = state
  const isMoney = budget.unit === 'usd'
  const amount = (figure: number | undefined) =>
    figure === undefined ? undefined : Math.round(figure * (isMoney ? perUsd : 1) * 100) / 100
  return {
    budget: budget.name,
    teams: budget.teams,
    unit: isMoney ? code : 'gpu-hours',
    ...days,
    spent: 'missing' in spent ? undefined : amount(spent.amount),
    added: amount(more),
    limit: amount(limitOf(state)),
    usage: usageOf(state, more),
    denyAtPercent: budget.denyAt * 100,
    warnAtPercent: budget.warnAt * 100,
  }
}
