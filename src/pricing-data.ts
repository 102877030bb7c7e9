import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTable, type Table } from './csv.ts'
import { type Gpu, gpuOf } from './gpu.ts'
import { findModelLine, type ModelTable, modelOf } from './model.ts'
import type { PriceSource } from './prices/price-source.ts'
import { priceTable } from './prices/table.ts'

/** The tables that come with gpufare. Each file is read when something in it is asked for. */
export interface PricingData {
  readonly gpus: readonly Gpu[]
  readonly models: ModelTable
  readonly prices: PriceSource
}

/** Reads the tables in a folder, which is `pricing-data/` of the package. */
export function readTables(folder: string): PricingData {
  const text = once((file: string) => readFileSync(join(folder, file), 'utf8'))
  const table = once((file: string): Table => openTable(text(file)))
  const gpus = once((file: string): readonly Gpu[] => table(file).rows().map(gpuOf))
  const prices = once((file: string): PriceSource => priceTable(table(file), table('networks.csv'), gpus('gpus.csv')))
  return {
    get gpus() {
      return gpus('gpus.csv')
    },
    models: { find: spelling => findModelIn(text('models.csv'), spelling) },
    get prices() {
      return prices('prices.csv')
    },
  }
}

function findModelIn(csv: string, spelling: string): ReturnType<ModelTable['find']> {
  const line = findModelLine(csv, spelling)
  if (line === undefined) return undefined
  const head = csv.slice(0, csv.indexOf('\n') + 1)
  const [row = {}] = openTable(head + line).rows()
  return { model: modelOf(row), source: row['source'] ?? '' }
}

/** The same answer for the same file, made once. */
function once<T>(make: (file: string) => T): (file: string) => T {
  const made = new Map<string, T>()
  return file => {
    const known = made.get(file) ?? make(file)
    made.set(file, known)
    return known
  }
}
