import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type BudgetState, checkBudgets, type PayingJob } from './budgets.ts'
import { checkedJobOf } from './checked-jobs.ts'
import type { Config } from './config.ts'
import type { Finding } from './finding.ts'
import { listPrices } from './prices/index.ts'
import { readTables } from './pricing-data.ts'
import { type QuotedManifest, tablesFolder } from './quoted-manifests.ts'
import { checkRules } from './rules/index.ts'
import { readBudgets } from './spent.ts'

/** Slurm's accounting may take so long while somebody waits with a job in hand; what it then does not know is said. */
const patienceMilliseconds = 2_000

/** Who asks, and when. */
export interface Asking {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** ISO 8601. */
  readonly today: string
}

/** How the jobs of one call break the policies and, all together, the budgets of their configurations. */
export async function findBreaches(quoted: readonly QuotedManifest[], asking: Asking): Promise<readonly Finding[]> {
  const findings = quoted.flatMap(({ manifest, config, fares }) => {
    const path = manifest.name === manifest.path ? pathInRepository(manifest.path) : manifest.name
    return fares.flatMap(fare => checkRules(fare, config, { today: asking.today, path }))
  })
  const ofBudgets = [...byConfig(quoted)].map(async ([config, jobs]) => findBudgetBreaches(config, jobs, asking))
  return [...findings, ...(await Promise.all(ofBudgets)).flat()]
}

/** How jobs break the budgets of one configuration; asks nobody where it has none. */
export async function findBudgetBreaches(
  config: Config,
  jobs: readonly PayingJob[],
  asking: Asking,
): Promise<readonly Finding[]> {
  const { exemptions, currency } = config
  const states = await budgetsNow(config, asking)
  return checkBudgets(states, jobs, { exemptions, currency, today: asking.today })
}

/** The budgets of a configuration that count today, and what is spent of each. */
export async function budgetsNow(
  config: Config,
  { environment, today }: Asking,
  patience = patienceMilliseconds,
): Promise<readonly BudgetState[]> {
  if (config.budgets.length === 0) return []
  const prices = listPrices(readTables(tablesFolder), config)
  return readBudgets({ environment, today, prices, config, patienceMilliseconds: patience })
}

/** The jobs that each configuration is about: manifests of one folder share theirs. */
export function byConfig(quoted: readonly QuotedManifest[]): ReadonlyMap<Config, readonly PayingJob[]> {
  const jobs = new Map<Config, readonly PayingJob[]>()
  for (const { config, fares } of quoted) {
    const own = fares.map(fare => checkedJobOf(fare, config))
    jobs.set(config, [...(jobs.get(config) ?? []), ...own])
  }
  return jobs
}

/** A path as the repository that it lies in calls it; outside of any as it is. */
function pathInRepository(path: string): string {
  const whole = resolve(path)
  for (let folder = dirname(whole); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return relative(folder, whole).replaceAll(sep, '/')
    if (folder === dirname(folder)) return path
  }
}
