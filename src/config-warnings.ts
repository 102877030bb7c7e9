import type { Config, Pool } from './config.ts'
import type { Line } from './csv.ts'
import { findGpus, type Gpu, nearestGpuNames } from './gpu.ts'
import { clusterOf, poolCalled } from './gpu-choices.ts'
import type { Job } from './job.ts'
import type { PriceTables } from './prices/price-source.ts'
import type { Sourced } from './sourced.ts'
import type { Warning } from './warning.ts'
import { editDistance } from './word-list.ts'

/** Names in the job's cluster and among the candidates that no table knows, with the known ones that are most like them. */
export function warnOfConfig(job: Job, config: Config, tables: PriceTables): readonly Warning[] {
  const cluster = clusterOf(job, config.clusters)
  const candidates = job.declarations.gpus?.value.map(value => ({ value, origin: job.declarations.gpus?.origin }))
  const wanted = (candidates ?? config.candidates).filter(({ value }) => {
    const name = value.trim().replace(/^\d+\s*[x×*]\s*/i, '')
    return (
      findGpus(name, tables.gpus).length === 0 && (cluster === undefined || poolCalled(name, cluster) === undefined)
    )
  })
  return [
    ...(cluster?.pools ?? []).flatMap(pool => [...warnOfGpu(pool, tables.gpus), ...warnOfMachine(pool, tables)]),
    ...wanted.map(({ value, origin }) =>
      warning(`the candidate ${value} is no GPU type gpufare knows (${nearestGpus(value, tables.gpus)})`, origin),
    ),
  ]
}

function warnOfGpu(pool: Pool, gpus: readonly Gpu[]): readonly Warning[] {
  if (findGpus(pool.gpu, gpus).length > 0) return []
  const unknown = pool.usdPerGpuHour === undefined ? 'price and runtime are' : 'its runtime is'
  const text = `${pool.name}: ${pool.gpu} is no GPU type gpufare knows (${nearestGpus(pool.gpu, gpus)}): ${unknown} not known`
  return [warning(text, pool.names?.gpu.origin)]
}

/** An instance type behind a pool that the table of prices does not have, there or at all; nothing where an own rate counts anyway. */
function warnOfMachine({ name, machine, usdPerGpuHour, names }: Pool, { prices }: PriceTables): readonly Warning[] {
  if (machine === undefined || usdPerGpuHour !== undefined) return []
  const { provider, instanceType, region } = machine
  const known = prices.linesWith('machine', instanceType).filter(line => line.cell('provider') === provider)
  if (known.some(line => line.cell('region') === region)) return []
  const origin = names?.instanceType?.origin
  if (known.length > 0) {
    const regions = known.map(line => line.cell('region')).join(', ')
    return [
      warning(`${name}: no price of ${provider} ${instanceType} in ${region} is known, but in ${regions}`, origin),
    ]
  }
  const alike = nearestMachines(
    instanceType,
    prices.lines().filter(line => line.cell('provider') === provider),
  )
  const hint = alike.length === 0 ? `nor is ${provider}` : `most alike: ${alike.join(', ')}`
  return [
    warning(
      `${name}: ${provider} ${instanceType} is not in the table of prices (${hint}): its price is not known`,
      origin,
    ),
  ]
}

function nearestMachines(name: string, lines: readonly Line[]): readonly string[] {
  const names = [...new Set(lines.map(line => line.cell('machine')))]
  return names.toSorted((a, b) => editDistance(a, name) - editDistance(b, name)).slice(0, 3)
}

function nearestGpus(name: string, gpus: readonly Gpu[]): string {
  return `most alike: ${nearestGpuNames(name, gpus).join(', ')}`
}

function warning(text: string, origin: Sourced<string>['origin'] | undefined): Warning {
  const place = origin !== undefined && 'place' in origin ? origin.place : undefined
  return { code: 'configuration', text, ...(place && { place }) }
}
