import { expect, test } from 'vitest'
import { estimateLogError, type Likeness, type MeasuredRun, type RunTraits } from '../../src/throughput/nearest-runs.ts'

const likeness: Likeness = {
  kind: 0.01,
  architecture: 0.01,
  gpu: 0.04,
  precision: 0.01,
  model: 0.04,
  modelOnGpu: 0.01,
  stack: 0.04,
  stackOnKind: 0.01,
  near: 0.04,
  elapsed: 0.01,
  noise: 0.01,
  elapsedNoise: 0.01,
  distances: [1],
}
const run: RunTraits = {
  model: '32x4096',
  kind: 'decoder',
  counted: 'shape',
  stack: 'megatronlm',
  gpu: 'a100-80gb',
  architecture: 'Ampere',
  precision: 'bf16',
  method: 'full',
  measured: 'rate',
  sizes: [22.6],
}
/** The sum of what two runs of equal traits share. */
const spread = 0.21
const onT4 = { gpu: 't4', architecture: 'Turing' }

function measured(id: string, logError: number, traits: Partial<RunTraits> = {}): MeasuredRun {
  return { id, logError, traits: { ...run, ...traits } }
}

test('without a run like it nothing is corrected, and it may be off by the whole spread or more', () => {
  const other = measured('resnet', 1, { kind: 'convolutional' })
  const { mean, sigma, nearest } = estimateLogError(run, [other], likeness)
  expect({ mean, nearest }).toEqual({ mean: 0, nearest: undefined })
  expect(sigma).toBeGreaterThanOrEqual(Math.sqrt(spread + 0.01))
})

test('one run of equal traits moves the estimate towards its error by its share of the spread', () => {
  const twin = measured('twin', 0.2)
  const { mean, sigma, nearest } = estimateLogError(run, [twin], likeness)
  expect(mean).toBeCloseTo((0.2 * spread) / (spread + 0.01))
  expect(sigma).toBeCloseTo(Math.sqrt(spread + 0.01 - spread ** 2 / (spread + 0.01)))
  expect(nearest).toBe(twin)
})

test('an answer for one GPU type is the same whichever was asked for before', () => {
  const runs = Array.from({ length: 40 }, (_, index) =>
    measured(`run-${index}`, Math.sin(index), { ...(index % 2 === 0 && onT4), sizes: [20 + index / 10] }),
  )
  const alone = estimateLogError({ ...run, ...onT4 }, [...runs], likeness)
  estimateLogError(run, runs, likeness)
  expect(estimateLogError({ ...run, ...onT4 }, runs, likeness)).toEqual(alone)
})
