import { numberIn, type Row, type Table } from './csv.ts'
import type { Job } from './job.ts'
import type { Quote } from './quote.ts'
import { bytesPerGib, type Currency, formatMoney } from './units.ts'
import type { Warning } from './warning.ts'

/** Where a rented machine is looked for if the job's own provider lists none without GPUs. */
const USUAL_PROVIDER = 'aws'

/**
 * Says of a job that only does work for CPUs what a machine without GPUs would cost in place of its own, instead of what its idle GPUs
 * cost.
 */
export function withCpuMachine(
  warnings: readonly Warning[],
  job: Job,
  asWritten: Quote | undefined,
  prices: Table,
  currency: Currency,
): readonly Warning[] {
  if (!warnings.some(({ code }) => code === 'cpu-work')) return warnings
  const instead = cpuMachineInstead(job, asWritten, prices, currency)
  if (instead === undefined) return warnings
  return warnings.map(warning => {
    if (warning.code !== 'cpu-work') return warning
    const { idleGpus, ...others } = warning
    return { ...others, text: `${warning.text}; ${instead}` }
  })
}

function cpuMachineInstead(
  job: Job,
  asWritten: Quote | undefined,
  prices: Table,
  currency: Currency,
): string | undefined {
  const role = job.roles.find(({ gpuCount }) => gpuCount.value > 0)
  const placement = asWritten?.candidate.placements.find(each => each.role === role?.name)
  if (role === undefined || asWritten === undefined || placement === undefined) return undefined
  const { machine, gpuCount, machineCount } = placement
  const share = Math.min(1, gpuCount / (machine.gpuCount * machineCount))
  const cpus = role.cpusPerReplica?.value ?? Math.ceil((machine.cpuCount ?? 0) * share)
  const memory = role.memoryBytesPerReplica?.value
  const memoryGib = typeof memory === 'number' ? memory / bytesPerGib : 0
  const price = asWritten.prices.find(each => each !== undefined)
  const provider = price?.listedFor?.provider ?? machine.provider
  const row = cheapest(prices, [provider, USUAL_PROVIDER], price?.region, cpus, memoryGib)
  const usdPerHour = row && numberIn(row, 'on_demand_usd_h')
  if (row === undefined || usdPerHour === undefined) return undefined
  const machines = role.replicas.value * asWritten.concurrentTasks
  const cpuUsdPerHour = usdPerHour * machines
  // GPUs of an own cluster may cost less than a rented machine: then there is nothing to gain.
  if (asWritten.usdPerHour !== undefined && asWritten.usdPerHour <= cpuUsdPerHour) return undefined
  const count =
    machines === 1
      ? `a machine without GPUs, ${nameOf(row)}, costs`
      : `${machines} machines without GPUs, ${nameOf(row)}, cost`
  const compared =
    asWritten.usdPerHour === undefined ? '' : ` instead of ${formatMoney(asWritten.usdPerHour, currency)}`
  return `${count} ${formatMoney(cpuUsdPerHour, currency)} an hour${compared}${withinLimit(asWritten, cpuUsdPerHour, currency)}`
}

/** What both cost if only the time limit ends them. */
function withinLimit({ limitUsd, usdPerHour }: Quote, cpuUsdPerHour: number, currency: Currency): string {
  if (limitUsd === undefined || usdPerHour === undefined) return ''
  const cpuUsd = (limitUsd / usdPerHour) * cpuUsdPerHour
  return `, at most ${formatMoney(cpuUsd, currency)} instead of ${formatMoney(limitUsd, currency)} within the time limit`
}

function nameOf(row: Row): string {
  const { provider, machine, region, cpu_count: cpus, memory_gib: memory, as_of: day } = row
  return `${provider} ${machine} in ${region} (${cpus} CPUs, ${memory} GiB, list price of ${day})`
}

/** The cheapest machine without GPUs that has as many CPUs and as much memory; of the first provider that lists one. */
function cheapest(
  prices: Table,
  providers: readonly string[],
  region: string | undefined,
  cpus: number,
  memoryGib: number,
): Row | undefined {
  const rows = prices.linesWith('gpu', '').map(line => line.row())
  const fitting = rows.filter(row => hasAtLeast(row, 'cpu_count', cpus) && hasAtLeast(row, 'memory_gib', memoryGib))
  for (const provider of providers) {
    const own = fitting.filter(row => row['provider'] === provider)
    const near = own.filter(row => row['region'] === region)
    const [first] = (near.length > 0 ? near : own).sort((a, b) => usdOf(a) - usdOf(b))
    if (first !== undefined) return first
  }
  return undefined
}

function hasAtLeast(row: Row, column: string, least: number): boolean {
  return (numberIn(row, column) ?? 0) >= least
}

function usdOf(row: Row): number {
  return numberIn(row, 'on_demand_usd_h') ?? Number.POSITIVE_INFINITY
}
