import { describe, expect, test } from 'vitest'
import { findStamp, parseClock, parseLength } from '../../src/logs/clock.ts'

const tenOClock = Date.UTC(2024, 4, 3, 10) / 1000

describe('time stamps', () => {
  test.each([
    ['2024-05-03 10:00:00,250 INFO step', tenOClock + 0.25],
    ['[2024/05/03 10:00:00] root INFO', tenOClock],
    ['2024-05-03T10:00:00.500Z step', tenOClock + 0.5],
    ['2024-05-03 10:00:00.620031: Epoch 0', tenOClock + 0.620031],
    ['05/03/2024 10:00:00 - INFO', tenOClock],
    ['[05/03/24 10:00:00] INFO', tenOClock],
    ['Fri May  3 10:00:00 UTC 2024', tenOClock],
    ['2024-05-03,10:00:00 | step', tenOClock],
    ['03.05.2024 10:00:00 step', tenOClock],
    ['(INFO) (train_vae.py) (03-May-24 10:00:00) step', tenOClock],
    ['24-05-03 10:00:00.000 - INFO: step', tenOClock],
  ])('%s', (text, seconds) => {
    expect(findStamp(text)).toMatchObject({ seconds, hasYear: true })
  })

  test.each([
    'I0503 10:00:00.123456 12 solver.cpp:239]',
    '05-03 10:00:00 [loggers.py:87]',
    '[05/03 10:00:00 d2.utils]',
  ])('%s has no year', text => {
    expect(findStamp(text)?.hasYear).toBe(false)
  })

  test.each(['loss 10:3', 'version 2024-05-03', '99/99 10:00:00', 'ratio 12:34:56 of it'])('%s has none', text => {
    expect(findStamp(text)).toBeUndefined()
  })
})

describe('lengths of time', () => {
  test.each([
    ['12:34', 754],
    ['119:02:11', 428_531],
    ['1 day, 2:03:04', 93_784],
  ])('clock %s', (text, seconds) => {
    expect(parseClock(text)).toBe(seconds)
  })

  test.each([
    ['1 hour, 31 minutes and 58.5 seconds', 5_518.5],
    ['2h10m', 7_800],
    ['1m 42s', 102],
    ['350ms', 0.35],
  ])('words %s', (text, seconds) => {
    expect(parseLength(text)).toBeCloseTo(seconds)
  })
})
