import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { emptyConfig } from '../../src/config.ts'
import { openTable } from '../../src/csv.ts'
import { findGpus } from '../../src/gpu.ts'
import { listPrices } from '../../src/prices/index.ts'
import { readTables } from '../../src/pricing-data.ts'

const tables = readTables('pricing-data')
const { gpus } = tables
const rowsOf = (file: string) => openTable(readFileSync(`pricing-data/${file}`, 'utf8')).rows()
const prices = rowsOf('prices.csv')
const networks = rowsOf('networks.csv')
const gpuNames = new Set(gpus.map(gpu => gpu.name))

describe('prices.csv', () => {
  test('says of every price where and when it was read', () => {
    for (const row of prices) {
      expect(row['source'], row['machine']).not.toBe('')
      expect(row['as_of'], row['machine']).toMatch(/^20\d\d(-\d\d-\d\d)?$/)
    }
  })

  test('has amounts above zero or nothing, since a price that is not known is not 0', () => {
    const columns = ['on_demand_usd_h', 'spot_usd_h', 'reserved_1y_usd_h', 'reserved_3y_usd_h']
    const wrong = prices.flatMap(row =>
      columns
        .filter(column => row[column] !== '' && !(Number(row[column]) > 0))
        .map(column => `${row['machine']} ${column}`),
    )
    expect(wrong).toEqual([])
  })

  test('names only GPUs that gpus.csv has, or none for a machine without', () => {
    const strange = prices.filter(row =>
      row['gpu'] === '' ? row['gpu_count'] !== '0' : !gpuNames.has(row['gpu'] ?? ''),
    )
    expect(strange).toEqual([])
  })

  test('has one row for a machine in a region', () => {
    const keys = prices.map(row => `${row['provider']} ${row['machine']} ${row['region']}`)
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
  })

  test('has no GPU-hour that costs a hundred dollars', () => {
    const dear = prices.filter(row => Number(row['on_demand_usd_h']) / Math.max(1, Number(row['gpu_count'])) > 100)
    expect(dear).toEqual([])
  })
})

describe('the bundled prices', () => {
  const list = listPrices(tables, emptyConfig)
  const machinesOfEight = (gpuName: string) =>
    findGpus(gpuName, gpus).flatMap(gpu => list.machinesWith(gpu, 'aws').filter(machine => machine.gpuCount === 8))

  test('have eight A100 of AWS as a p4d or p4de, and eight T4 as a g4dn.metal', () => {
    const names = ['a100', 't4'].map(gpu => machinesOfEight(gpu).map(machine => machine.name))
    expect(names).toEqual([['p4d.24xlarge', 'p4de.24xlarge'], ['g4dn.metal']])
  })

  test('make an hour of a p4d two to four times as dear as one of a g4dn.metal', () => {
    const [p4d, g4dn] = ['a100-40gb', 't4'].map(gpu =>
      machinesOfEight(gpu).flatMap(machine => list.priceOf(machine, 'on-demand') ?? []),
    )
    const ratio = (p4d?.[0]?.usdPerMachineHour ?? Number.NaN) / (g4dn?.[0]?.usdPerMachineHour ?? Number.NaN)
    expect(ratio).toBeGreaterThan(2)
    expect(ratio).toBeLessThan(4)
    expect(p4d?.[0]?.region).toBe('us-east-1')
  })
})

describe('networks.csv', () => {
  test('names machines with the GPUs that prices.csv gives them', () => {
    const different = networks.filter(network =>
      prices.some(
        price =>
          price['provider'] === network['provider'] &&
          price['machine'] === network['machine'] &&
          (price['gpu'] !== network['gpu'] || price['gpu_count'] !== network['gpu_count']),
      ),
    )
    expect(different).toEqual([])
  })

  test('says of every row whether machines work together, and where that is from', () => {
    for (const row of networks) {
      expect(row['rdma'], row['machine']).toMatch(/^(yes|no|part)$/)
      expect(row['clusters'], row['machine']).toMatch(/^(yes|no)$/)
      expect(Number(row['network_gbit_s']), row['machine']).toBeGreaterThan(0)
      expect(row['source'], row['machine']).not.toBe('')
      expect(row['as_of'], row['machine']).toMatch(/^20\d\d/)
    }
  })
})
