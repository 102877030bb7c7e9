import { expect, test } from 'vitest'
import { readStamp, stampOf } from '../src/stamp.ts'

const quote = {
  key: '0a1b2c3d4e',
  basis: 'model',
  runtimeSeconds: { p10: 3_000.4, p50: 3_600, p90: 4_800 },
  usd: { p10: 15, p50: 18.123456789, p90: 24 },
  usdPerTaskHour: 18,
  gpus: 6,
  billedGpus: 8,
  tasks: 3,
  gpuModel: '6x A100-80GB',
} as const

test('a stamp is one short word without blanks or quotes', () => {
  const stamp = stampOf(quote, '0.1.0')
  expect(stamp).toBe(
    'gpufare:1;k=0a1b2c3d4e;p10=3000;p50=3600;p90=4800;usd=15/18.1235/24;hr=18;g=6/8;n=3;basis=model;v=0.1.0;gpu=6x_A100-80GB',
  )
  expect(stamp.length).toBeLessThan(200)
})

test('a quote is read back from its stamp, also from within a comment', () => {
  const read = {
    ...quote,
    runtimeSeconds: { p10: 3_000, p50: 3_600, p90: 4_800 },
    usd: { p10: 15, p50: 18.1235, p90: 24 },
  }
  expect(readStamp(stampOf(quote, '0.1.0'))).toEqual(read)
  expect(readStamp(`ticket 4711 ${stampOf(quote, '0.1.0')}`)).toEqual(read)
})

test('what only the limit bounds, and what has no price, is read back so', () => {
  const bound = {
    key: 'ab',
    basis: 'limit',
    runtimeUpperBoundSeconds: 7_200,
    gpus: 1,
    billedGpus: 1,
    tasks: 1,
    gpuModel: '',
  } as const
  expect(readStamp(stampOf(bound, '0.1.0'))).toEqual(bound)
})

test('what the next quotes are corrected by is read back, and leaves room for the GPU type', () => {
  const corrected = {
    ...quote,
    runtimeSeconds: { p10: 3_000, p50: 3_600, p90: 4_800 },
    usd: { p10: 15, p50: 18, p90: 24 },
  }
  const learning = { ...corrected, fingerprint: '0123456789abcdef', estimatedSeconds: 1_800 }
  expect(readStamp(stampOf(learning, '0.1.0'))).toEqual(learning)
})

test('however long the GPU types are called, the stamp stays short', () => {
  const stamp = stampOf({ ...quote, gpuModel: 'x'.repeat(300) }, '0.1.0')
  expect(stamp.length).toBeLessThan(200)
  expect(readStamp(stamp)?.basis).toBe('model')
})

test.each(['', 'my comment', 'gpufare:2;k=ab;p50=1', 'gpufare:1;p50=1', 'gpufare:1;k=$(rm)'])(
  '%j is no stamp',
  text => {
    expect(readStamp(text)).toBeUndefined()
  },
)
