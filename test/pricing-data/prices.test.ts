import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openTable } from '../../src/csv.ts'
import { readTables } from '../../src/pricing-data.ts'

const { gpus } = readTables('pricing-data')
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
