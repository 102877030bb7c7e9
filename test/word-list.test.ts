import { expect, test } from 'vitest'
import { editDistance, nearestWord } from '../src/word-list.ts'

test.each([
  ['gres', 'gres', 0],
  ['gres', 'gpres', 1],
  ['time', 'tiem', 2],
  ['', 'abc', 3],
  ['x'.repeat(300), 'x', 299],
])('from %s to %s it is %i edits', (a, b, edits) => {
  expect(editDistance(a, b)).toBe(edits)
})

test('nobody means a short word by a long one', () => {
  expect(nearestWord('partitoin', ['partition', 'gres'])).toBe('partition')
  expect(nearestWord(`partition${'n'.repeat(200_000)}`, ['partition', 'gres'])).toBeUndefined()
})
