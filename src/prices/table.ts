import { type Line, numberIn, type Row } from '../csv.ts'
import { machineOf } from '../machine.ts'
import type { Listing, Price, PriceSource, PriceTables, Tier } from './price-source.ts'

/** Prices of pricing-data/prices.csv, machines completed from networks.csv. */
export const priceTable: PriceSource = {
  name: 'prices.csv',
  listingsOf: (gpu, tables) => listingsIn(tables.prices.linesWith('gpu', gpu.name), tables),
  listingsOfMachine: (name, tables) => listingsIn(tables.prices.linesWith('machine', name), tables),
}

const tierColumns: readonly (readonly [Tier, string])[] = [
  ['on-demand', 'on_demand_usd_h'],
  ['spot', 'spot_usd_h'],
  ['reserved-1y', 'reserved_1y_usd_h'],
  ['reserved-3y', 'reserved_3y_usd_h'],
]

function listingsIn(lines: readonly Line[], tables: PriceTables): readonly Listing[] {
  return lines.map(line => new TableListing(line, tables))
}

/** A line of the table; a class, since a quote makes hundreds of them and reads a few. */
class TableListing implements Listing {
  readonly provider: string
  private readonly line: Line
  private readonly tables: PriceTables
  private known: readonly Price[] | undefined

  constructor(line: Line, tables: PriceTables) {
    this.provider = line.cell('provider')
    this.line = line
    this.tables = tables
  }

  get machineName(): string {
    return this.line.cell('machine')
  }

  get region(): string {
    return this.line.cell('region')
  }

  prices(): readonly Price[] {
    this.known ??= pricesIn(this.line.row(), this.tables)
    return this.known
  }
}

function pricesIn(row: Row, { gpus, networks }: PriceTables): readonly Price[] {
  const { provider, machine: name = '', region = '', as_of: asOf = '', source = '' } = row
  const gpu = gpus.find(each => each.name === row['gpu'])
  if (gpu === undefined || !isWholeMachine(row)) return []
  const network = networks.linesWith('machine', name).find(line => line.cell('provider') === provider)
  const machine = machineOf(row, network?.row(), gpu)
  return tierColumns.flatMap(([tier, column]) => {
    const usdPerMachineHour = numberIn(row, column)
    if (usdPerMachineHour === undefined || !isCredible(row, tier)) return []
    return [{ machine, region, tier, usdPerMachineHour, ...originOf(tier, asOf, source) }]
  })
}

/** How a part of a source says that it is about another tier than on-demand: `list (DATE); spot: other list (DATE)`. */
const sourceLabels: readonly (readonly [string, readonly Tier[]])[] = [
  ['spot:', ['spot']],
  ['1y no-upfront:', ['reserved-1y']],
  ['CUD:', ['reserved-1y', 'reserved-3y']],
]

/** The source of one tier's price, with the day it says; a source that is not parted holds for all tiers of the row. */
function originOf(tier: Tier, asOf: string, source: string): Pick<Price, 'asOf' | 'source' | 'lowestZone'> {
  const parts = source.split('; ')
  const labelOf = (part: string) => sourceLabels.find(([label]) => part.startsWith(label))
  const own = parts.find(part => labelOf(part)?.[1].includes(tier))
  const common = parts.filter(part => labelOf(part) === undefined).join('; ')
  const said = own === undefined ? common : own.slice(own.indexOf(':') + 1).trim()
  const day = own === undefined ? asOf : (/\([^()]*?(20\d\d(?:-\d\d-\d\d)?)[,)]/.exec(said)?.[1] ?? '')
  const isLowest = tier === 'spot' && /lowest zone/.test(own ?? common)
  return { asOf: day, source: said, ...(isLowest && { lowestZone: true }) }
}

/** Parts of a GPU and machines without one are in the table, but no candidate is made of them. */
function isWholeMachine(row: Row): boolean {
  const gpuCount = Number(row['gpu_count'])
  return Number.isInteger(gpuCount) && gpuCount > 0
}

/** A spot price above the price that never takes the machine away is a fault of the list, or nothing that anybody would pay. */
function isCredible(row: Row, tier: Tier): boolean {
  const onDemand = numberIn(row, 'on_demand_usd_h')
  const spot = numberIn(row, 'spot_usd_h')
  return tier !== 'spot' || onDemand === undefined || spot === undefined || spot <= onDemand
}
