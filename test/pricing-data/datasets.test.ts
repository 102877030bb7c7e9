import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openTable } from '../../src/csv.ts'
import { canonicalDataset, spellingsOf } from '../../src/dataset.ts'

const rows = openTable(readFileSync('pricing-data/datasets.csv', 'utf8')).rows()

describe('datasets.csv', () => {
  test('holds at least 80 data sets', () => {
    expect(rows.length).toBeGreaterThanOrEqual(80)
  })

  test('gives every spelling to one data set only', () => {
    const spellings = rows.flatMap(spellingsOf)
    expect(spellings.filter((spelling, index) => spellings.indexOf(spelling) !== index)).toEqual([])
  })

  test('writes names in lower case, as a look-up makes them', () => {
    expect(rows.map(row => row['name'] ?? '').filter(name => !/^[a-z0-9][a-z0-9./+-]*$/.test(name))).toEqual([])
    expect(canonicalDataset('ImageNet_1k')).toBe(canonicalDataset('imagenet-1k'))
  })

  test('has samples or tokens in every row, as whole numbers above zero', () => {
    const figures = (row: (typeof rows)[number]) =>
      [row['samples'] ?? '', row['tokens'] ?? ''].filter(cell => cell !== '')
    expect(rows.filter(row => figures(row).length === 0).map(row => row['name'])).toEqual([])
    expect(rows.flatMap(figures).filter(cell => !/^[1-9]\d*$/.test(cell))).toEqual([])
  })

  test('names the tokenizer of every count of tokens, and the source and month of every row', () => {
    const hasTokens = (row: (typeof rows)[number]) => row['tokens'] !== ''
    expect(rows.filter(row => hasTokens(row) !== (row['tokenizer'] !== '')).map(row => row['name'])).toEqual([])
    expect(
      rows.filter(row => !row['source'] || !/^\d{4}-\d\d$/.test(row['as_of'] ?? '')).map(row => row['name']),
    ).toEqual([])
  })
})
