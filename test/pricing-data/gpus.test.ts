import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openTable } from '../../src/csv.ts'
import { findGpus } from '../../src/gpu.ts'
import { readTables } from '../../src/pricing-data.ts'

const { gpus } = readTables('pricing-data')
const rows = openTable(readFileSync('pricing-data/gpus.csv', 'utf8')).rows()

describe('gpus.csv', () => {
  test('says of every row where and when its figures are from', () => {
    for (const { name, source, as_of: asOf } of rows) {
      expect(source, name).toMatch(/^(recalled|read): ./)
      expect(asOf, name).toMatch(/^\d{4}(-\d\d){0,2}$/)
    }
  })

  test('has each name once, and no alias that is the name of another GPU', () => {
    const names = gpus.map(gpu => gpu.name)
    expect(new Set(names).size).toBe(names.length)
    const stolen = gpus.flatMap(gpu =>
      gpu.aliases.filter(alias => findGpus(alias, gpus)[0] !== gpu && names.includes(alias)),
    )
    expect(stolen).toEqual([])
  })

  test('has lower-case names and aliases only', () => {
    for (const gpu of gpus) for (const name of [gpu.name, ...gpu.aliases]) expect(name).toBe(name.toLowerCase())
  })

  test('gives a name to several GPUs only where it leaves open which one is meant', () => {
    const shared = new Set(
      gpus.flatMap(gpu => gpu.aliases).filter(alias => !/^\d+g\./.test(alias) && findGpus(alias, gpus).length > 1),
    )
    expect([...shared].sort()).toEqual([
      'a100',
      'a100-pcie',
      'a100-sxm',
      'a100-sxm4',
      'p100-pcie',
      'rtx-6000',
      'rtx6000',
      'v100',
      'v100-pcie',
      'v100-sxm',
      'v100-sxm2',
      'volta',
    ])
  })

  test('has figures that a GPU can have', () => {
    for (const { name, year, memoryBytes, bandwidthBytesPerSecond, flopsPerSecond } of gpus) {
      expect(year, name).toBeGreaterThan(2010)
      expect(memoryBytes / 2 ** 30, name).toBeGreaterThanOrEqual(8)
      expect(memoryBytes / 2 ** 30, name).toBeLessThan(400)
      expect(bandwidthBytesPerSecond, name).toBeGreaterThan(100e9)
      expect(bandwidthBytesPerSecond, name).toBeLessThan(10e12)
      const rates = Object.values(flopsPerSecond)
      expect(rates.length, name).toBeGreaterThan(0)
      for (const rate of rates) expect(rate > 1e12 && rate < 1e16, `${name} ${rate}`).toBe(true)
    }
  })

  test('knows no BF16 on GPUs older than Ampere, and none without FP16 beside it but TPUs', () => {
    const old = gpus.filter(gpu => /^(Kepler|Maxwell|Pascal|Volta|Turing)$/.test(gpu.architecture))
    expect(old.length).toBeGreaterThan(10)
    expect(old.filter(gpu => gpu.flopsPerSecond.bf16 !== undefined)).toEqual([])
    const odd = gpus.filter(({ flopsPerSecond: { bf16, fp16 } }) => bf16 !== undefined && fp16 === undefined)
    expect(odd.map(gpu => gpu.vendor).every(vendor => vendor === 'Google')).toBe(true)
  })

  test('has the figures of the data sheets for the GPUs that most jobs use', () => {
    const figures = ['t4', 'a100-80gb', 'h100-80gb'].map(name => {
      const [gpu] = findGpus(name, gpus)
      return [gpu?.memoryBytes, gpu?.bandwidthBytesPerSecond, gpu?.flopsPerSecond.fp16, gpu?.linkBytesPerSecond]
    })
    expect(figures).toEqual([
      [16 * 2 ** 30, 320e9, 65e12, undefined],
      [80 * 2 ** 30, 2039e9, 312e12, 600e9],
      [80 * 2 ** 30, 3350e9, 989.4e12, 900e9],
    ])
  })
})
