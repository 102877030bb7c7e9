import { describe, expect, test } from 'vitest'
import { numberIn, openTable } from '../src/csv.ts'

const table = openTable(`name,size,note
a,1,plain
b,2.5,"with, comma"
"c ""quoted""",,""
a,3,b
`)

const rowsWith = (column: string, cell: string) => table.linesWith(column, cell).map(line => line.row())

describe('a table', () => {
  test('has its cells by column, quoted ones without their quotes', () => {
    expect(table.rows()).toEqual([
      { name: 'a', size: '1', note: 'plain' },
      { name: 'b', size: '2.5', note: 'with, comma' },
      { name: 'c "quoted"', size: '', note: '' },
      { name: 'a', size: '3', note: 'b' },
    ])
  })

  test('finds the rows that have a text in one column, not in another', () => {
    expect(rowsWith('name', 'a').map(row => row['size'])).toEqual(['1', '3'])
    expect(rowsWith('name', 'b').map(row => row['size'])).toEqual(['2.5'])
    expect(rowsWith('note', 'b').map(row => row['size'])).toEqual(['3'])
    expect(rowsWith('name', 'pla')).toEqual([])
    expect(rowsWith('note', 'with, comma')).toHaveLength(1)
  })

  test('finds a text by the first, a middle and the last column, with quotes and without', () => {
    expect(table.linesWith('name', 'c "quoted"').map(line => line.cell('note'))).toEqual([''])
    expect(table.linesWith('size', '3').map(line => line.cells())).toEqual([['a', '3', 'b']])
    expect(table.linesWith('note', 'plain').map(line => line.cell('name'))).toEqual(['a'])
    expect(openTable('name\na\nb\nab\n').linesWith('name', 'b')).toHaveLength(1)
  })

  test('finds the rows in which a cell is empty', () => {
    expect(rowsWith('size', '').map(row => row['name'])).toEqual(['c "quoted"'])
  })

  test('may have lines that end as on Windows, or a last line without an end', () => {
    expect(openTable('a,b\r\n1,2\r\n3,4').rows()).toEqual([
      { a: '1', b: '2' },
      { a: '3', b: '4' },
    ])
  })
})

test('an empty cell is no number', () => {
  expect(table.rows().map(row => numberIn(row, 'size'))).toEqual([1, 2.5, undefined, 3])
})
