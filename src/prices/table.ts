import { numberIn, type Row } from '../csv.ts'
import { type Machine, machineOf } from '../machine.ts'
import { once } from '../once.ts'
import type { Price, PriceSource, PriceTables, Tier } from './price-source.ts'

/** Prices of pricing-data/prices.csv, machines completed from networks.csv. */
export const priceTable: PriceSource = {
  name: 'prices.csv',
  pricesOf: (gpu, tables) => pricesIn(tables.prices.rowsWith('gpu', gpu.name), tables),
  pricesOfMachine: (name, tables) => pricesIn(tables.prices.rowsWith('machine', name), tables),
}

function pricesIn(rows: readonly Row[], { gpus, networks }: PriceTables): readonly Price[] {
  const networksWith = once((gpuName: string) => networks.rowsWith('gpu', gpuName))
  const machines = new Map<string, Machine>()
  return rows.filter(isWholeMachine).flatMap(row => {
    const { provider = '', machine: name = '', gpu: gpuName = '' } = row
    const gpu = gpus.find(each => each.name === gpuName)
    if (gpu === undefined) return []
    const ofMachine = (network: Row) => network['machine'] === name && network['provider'] === provider
    const known = machines.get(`${provider} ${name}`)
    const machine = known ?? machineOf(row, networksWith(gpuName).find(ofMachine), gpu)
    machines.set(`${provider} ${name}`, machine)
    return pricesInRow(row, machine)
  })
}

const tierColumns: readonly (readonly [Tier, string])[] = [
  ['on-demand', 'on_demand_usd_h'],
  ['spot', 'spot_usd_h'],
  ['reserved-1y', 'reserved_1y_usd_h'],
  ['reserved-3y', 'reserved_3y_usd_h'],
]

function pricesInRow(row: Row, machine: Machine): Price[] {
  const { region = '', as_of: asOf = '', source = '' } = row
  return tierColumns.flatMap(([tier, column]) => {
    const usdPerMachineHour = numberIn(row, column)
    if (usdPerMachineHour === undefined || !isCredible(row, tier)) return []
    return [{ machine, region, tier, usdPerMachineHour, asOf, source }]
  })
}

/** A spot price above the price that never takes the machine away is a fault of the list, or nothing that anybody would pay. */
function isCredible(row: Row, tier: Tier): boolean {
  const onDemand = numberIn(row, 'on_demand_usd_h')
  const spot = numberIn(row, 'spot_usd_h')
  return tier !== 'spot' || onDemand === undefined || spot === undefined || spot <= onDemand
}

/** Parts of a GPU and machines without one are in the table, but no candidate is made of them. */
function isWholeMachine(row: Row): boolean {
  const gpuCount = Number(row['gpu_count'])
  return Number.isInteger(gpuCount) && gpuCount > 0
}
