import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTable, type Table } from './csv.ts'
import { type DatasetTable, openDatasets } from './dataset.ts'
import { type Gpu, gpuOf } from './gpu.ts'
import { findModelLine, type ModelTable, modelOf } from './model.ts'
import { once } from './once.ts'
import { readCalibration } from './throughput/calibration.ts'
import type { Calibration } from './throughput/pace.ts'

/** The tables that come with gpufare. Each file is read when something in it is asked for. */
export interface Tables {
  readonly gpus: readonly Gpu[]
  readonly models: ModelTable
  readonly datasets: DatasetTable
  readonly prices: Table
  readonly networks: Table
  /** Constants of the runtime model and the published runs they were fitted on. */
  readonly calibration: Calibration
}

/** Reads the tables in a folder, which is `pricing-data/` of the package. */
export function readTables(folder: string): Tables {
  const text = once((file: string) => readFileSync(join(folder, file), 'utf8'))
  const table = once((file: string) => openTable(text(file)))
  const calibration = once((file: string) => readCalibration(table(file), table('measured-runs.csv')))
  const datasets = once((file: string) => openDatasets(table(file).rows()))
  const gpus = once((file: string) => table(file).rows().map(gpuOf))
  // Many manifests of one call may name the same model.
  const find = once((spelling: string) => findModelIn(text('models.csv'), spelling))
  return {
    models: { find },
    datasets: { find: spelling => datasets('datasets.csv').find(spelling) },
    get gpus() {
      return gpus('gpus.csv')
    },
    get prices() {
      return table('prices.csv')
    },
    get networks() {
      return table('networks.csv')
    },
    get calibration() {
      return calibration('efficiency.csv')
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
