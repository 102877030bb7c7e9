import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

/** Two layers of a width of 64, its vocabulary rounded up. */
const configuration = `
model:
  d_model: 64
  n_heads: 4
  n_layers: 2
  mlp_ratio: 8
  weight_tying: true
  rope: true
  activation_type: swiglu
  max_sequence_length: 512
  vocab_size: 1000
  embedding_size: 1024
global_train_batch_size: 32
device_train_microbatch_size: 2
precision: amp_bf16
max_duration: 739_328
save_folder: out
save_interval: 1000
`
const files = { 'configs/tiny.yaml': configuration }
const train = 'torchrun --nproc_per_node=4 scripts/train.py configs/tiny.yaml'

describe('OLMo', () => {
  test('a bare number of its duration counts steps', () => {
    expect(valuesOf(train, { gpus: 4, files })).toMatchObject({
      purpose: 'train',
      framework: 'olmo',
      steps: 739_328,
      globalBatch: 32,
      microBatch: 2,
      gradientAccumulation: 4,
      sequenceLength: 512,
      precision: 'bf16',
      method: 'full',
      checkpoint: { destination: { value: 'out' }, intervalSteps: { value: 1_000 } },
    })
  })

  test.each([
    ['2e6T', { tokens: 2e6 }],
    ['3ep', { epochs: 3 }],
    ['100', { steps: 100 }],
  ])('and %s', (duration, expected) => {
    expect(valuesOf(`${train} --max_duration=${duration}`, { gpus: 4, files })).toMatchObject(expected)
  })

  test('half of the first layer of its feed-forward is the gate, and the table of tokens is shared', () => {
    const [workload] = readScript(train, { gpus: 4, files }).workloads
    // attention 4·64², feed-forward 64·512 in and 256·64 out, a table of 1024 x 64; norms without weights count for next to nothing
    const weights = 2 * (4 * 64 ** 2 + 64 * 512 + 256 * 64) + 1024 * 64
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / weights - 1)).toBeLessThan(0.005)
  })

  test('a configuration of another program is not taken for its own', () => {
    const other = { 'configs/tiny.yaml': 'max_seq_len: 512\nmax_duration: 3ep\nglobal_train_batch_size: 32\n' }
    expect(valuesOf(train, { gpus: 4, files: other })).toMatchObject({ framework: 'llm-foundry', epochs: 3 })
  })
})
