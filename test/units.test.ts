import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatCount, formatDuration, formatGib, formatMoney, formatRate, parseDuration } from '../src/units.ts'

const euros = { code: 'EUR', perUsd: 0.5 }
const francs = { code: 'CHF', perUsd: 2 }

describe('a duration', () => {
  test.each([
    [0, '0s'],
    [40, '40s'],
    [59.7, '1m'],
    [73, '1m13s'],
    [125, '2m05s'],
    [180, '3m'],
    [599.6, '10m'],
    [610, '10m'],
    [2_700, '45m'],
    [3_599, '1h00m'],
    [7_800, '2h10m'],
    [86_399, '1d00h'],
    [273_600, '3d04h'],
    [8_640_000, '100d00h'],
  ])('of %d seconds is written %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })

  test.each([
    ['4h', 14_400],
    ['1.5h', 5_400],
    ['2h10m', 7_800],
    ['3d04h', 273_600],
    ['1d 2h', 93_600],
    ['45 min', 2_700],
    ['90 seconds', 90],
    ['2 Hours', 7_200],
  ])('written %s is read as %d seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds)
  })

  test.each(['', '4', 'h', '4h or so', '-4h', '4x', 'banana', '4 months'])('is not read from "%s"', text => {
    expect(parseDuration(text)).toBeUndefined()
  })

  test('is read back within half of its last unit', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e7, noNaN: true }), seconds => {
        const lastUnit = seconds < 600 ? 1 : seconds < 86_370 ? 60 : 3_600
        const readBack = parseDuration(formatDuration(seconds))
        expect(Math.abs((readBack ?? Number.NaN) - seconds)).toBeLessThanOrEqual(lastUnit / 2)
      }),
    )
  })
})

describe('an amount of money', () => {
  test.each([
    [0, '$0'],
    [0.0001, '<$0.01'],
    [0.416, '$0.42'],
    [4.2, '$4.20'],
    [9.996, '$10'],
    [88.4, '$88'],
    [999.6, '$1,000'],
    [1_902.3, '$1,900'],
    [26_351, '$26,400'],
    [1_234_567, '$1,230,000'],
    [-41.2, '-$41'],
  ])('of %d dollars is written %s', (usd, text) => {
    expect(formatMoney(usd)).toBe(text)
  })

  test('is converted and carries the sign of its currency, or its code where it has none', () => {
    expect(formatMoney(176, euros)).toBe('€88')
    expect(formatMoney(44, francs)).toBe('88 CHF')
    expect(formatMoney(0.001, francs)).toBe('<0.01 CHF')
  })

  test('is never written as nothing when it costs something', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e9, noNaN: true }), usd => {
        expect(formatMoney(usd)).not.toMatch(/\$0(\.00)?$/)
      }),
    )
  })
})

test('a rate is written to the cent, and below a cent to its first figure', () => {
  expect(formatRate(21.957642)).toBe('$21.96/h')
  expect(formatRate(22)).toBe('$22.00/h')
  expect(formatRate(1_234.5)).toBe('$1,234.50/h')
  expect(formatRate(0.0042)).toBe('$0.004/h')
  expect(formatRate(10, francs)).toBe('20.00 CHF/h')
})

test('memory is written in GiB, with one decimal below ten', () => {
  expect(formatGib(80 * 2 ** 30)).toBe('80 GiB')
  expect(formatGib(4.5 * 2 ** 30)).toBe('4.5 GiB')
  expect(formatGib(9.97 * 2 ** 30)).toBe('10 GiB')
})

test('a count has commas', () => {
  expect(formatCount(52_002)).toBe('52,002')
  expect(formatCount(999)).toBe('999')
})

test('what is no figure is never written', () => {
  expect(() => formatDuration(Number.NaN)).toThrow(RangeError)
  expect(() => formatMoney(Number.POSITIVE_INFINITY)).toThrow(RangeError)
  expect(() => formatRate(Number.NaN)).toThrow(RangeError)
})
