import { expect, test } from 'vitest'
import { pseudonymMasker, pseudonymOf } from '../../src/accounting/digest.ts'
import { maskedName } from '../../src/history/names.ts'

test.each([
  'train-17',
  'Train-18',
  'lr0.1_seed42',
  'eval',
  'wrap',
  'interactive',
  'run-2026-11-30T10:15:00',
  'a1b2c3d4e5f6',
  'abcdefghij-0123456789',
  'abcdefghij',
  '',
])('the mask of %j is that of its pseudonym', name => {
  expect(pseudonymMasker()(name)).toBe(maskedName(pseudonymOf(name)))
})

test('names that only a counter tells apart share a mask, others do not', () => {
  const maskOf = pseudonymMasker()
  expect(maskOf('train-17')).toBe(maskOf('train-2048'))
  expect(maskOf('train-17')).not.toBe(maskOf('serve-17'))
})
