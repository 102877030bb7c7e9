import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { familyOf, observationOf } from '../../pricing-data/scripts/published-runs.ts'
import { openTable } from '../../src/csv.ts'
import { readTables } from '../../src/pricing-data.ts'
import { accuracyOf, compareAll } from './accuracy.ts'

const folder = fileURLToPath(new URL('../../pricing-data/', import.meta.url))
const tables = readTables(folder)
const rows = openTable(readFileSync(`${folder}published-runs.csv`, 'utf8')).rows()
const rowNamed = (id: string) => rows.filter(row => row['id'] === id)

describe('accuracy of a group', () => {
  const exactly = (seconds: number) => ({ p10: seconds * 0.9, p50: seconds, p90: seconds * 1.1 })

  it('is the mean and the median of the errors in percent, and the share inside P10 to P90', () => {
    const comparisons = [
      { id: 'a', actual: 100, predicted: exactly(100) },
      { id: 'b', actual: 100, predicted: exactly(90) },
      { id: 'c', actual: 100, predicted: exactly(150) },
      { id: 'd', actual: 100, predicted: undefined },
    ]
    expect(accuracyOf('steady', comparisons)).toEqual({
      name: 'steady',
      rows: 4,
      predicted: 3,
      mape: 20,
      median: 10,
      insideRange: 33.3,
    })
  })
})

describe('a published row', () => {
  it('belongs to the family of its id up to the second dash', () => {
    expect(familyOf('foundry-h100-1b-s1024-g8-mb18-gb576')).toBe('foundry-h100')
  })

  it('in tokens a second becomes seconds for a sequence of the whole job', () => {
    const [row = {}] = rowNamed('fmsfsdp-7b')
    // 128 GPUs at 3,760 tokens/s each, sequences of 4,096.
    expect(observationOf(row, tables)?.secondsPerSample).toBeCloseTo(4_096 / (3_760 * 128), 8)
  })

  it('in hours becomes seconds for a sample of its work', () => {
    const [row = {}] = rowNamed('deepspeed-bert-v100-g256')
    expect(observationOf(row, tables)?.secondsPerSample).toBeCloseTo((3.7 * 3_600) / 437_143_251, 12)
  })

  it('is predicted from the runs that are allowed only, with a wider range the fewer they are', () => {
    const some = rowNamed('internevo-tp1-z-all-g128')
    const widthWith = (allowed: (run: { id: string }) => boolean): number => {
      const [comparison] = compareAll(some, tables, (_, run) => allowed(run)).get('steady') ?? []
      if (comparison?.predicted === undefined) throw new Error('no prediction')
      return comparison.predicted.p90 / comparison.predicted.p10
    }
    expect(widthWith(() => true)).toBeLessThan(widthWith(run => familyOf(run.id) !== familyOf(some[0]?.['id'] ?? '')))
  })
})
