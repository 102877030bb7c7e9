import { expect, test } from 'vitest'
import { describeWorkload } from '../../src/reporters/words.ts'
import { sourced } from '../../src/sourced.ts'
import type { Workload } from '../../src/workload.ts'

const said = { kind: 'manifest', place: { file: 'job.sbatch', line: 2 } } as const
const workload: Workload = {
  purpose: 'train',
  place: { file: 'job.sbatch', line: 2 },
  role: 'job',
  repetitions: 1,
  conditional: false,
  epochs: sourced(3, said),
  samples: sourced(1_000, said),
  sequenceLength: sourced(2_048, said),
}

test('samples that are counted in full length are said to be', () => {
  const tokens = sourced(3 * 1_000 * 2_048, { kind: 'computed', formula: '3000 samples x 2048' } as const)
  expect(describeWorkload({ ...workload, tokens })).toContain('3 epochs of 1,000 samples, each counted as 2,048 tokens')
  const steps = sourced(500, said)
  expect(describeWorkload({ ...workload, tokens, steps })).toContain('500 steps, sequence 2,048')
  expect(describeWorkload({ ...workload, tokens: sourced(150_000, said) })).toContain('sequence 2,048')
})
