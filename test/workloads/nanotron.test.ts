import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const configuration = `
checkpoints: {checkpoints_path: out, checkpoint_interval: 500}
data_stages:
  - name: stable
    data: {dataset: {hf_dataset_or_datasets: org/corpus}}
model:
  dtype: bfloat16
  model_config:
    hidden_act: silu
    hidden_size: 64
    intermediate_size: 256
    max_position_embeddings: 512
    num_attention_heads: 4
    num_hidden_layers: 2
    num_key_value_heads: 2
    tie_word_embeddings: false
    vocab_size: 1000
optimizer: {zero_stage: 1, optimizer_factory: {name: adamW}}
parallelism: {dp: 4, pp: 1, tp: 2}
tokens: {batch_accumulation_per_replica: 3, micro_batch_size: 2, sequence_length: 512, train_steps: 100}
`
const files = { 'configs/tiny.yaml': configuration }
const train = 'torchrun --nproc_per_node=8 run_train.py --config-file configs/tiny.yaml'

describe('nanotron', () => {
  test('all that counts stands in its file', () => {
    expect(valuesOf(train, { gpus: 8, files })).toMatchObject({
      purpose: 'train',
      framework: 'nanotron',
      dataset: 'org/corpus',
      steps: 100,
      microBatch: 2,
      gradientAccumulation: 3,
      globalBatch: 24,
      sequenceLength: 512,
      tokens: 100 * 24 * 512,
      precision: 'bf16',
      method: 'full',
      parallelism: { tensor: 2, pipeline: 1, sharding: 'optimizer' },
      checkpoint: { destination: { value: 'out' }, intervalSteps: { value: 500 } },
    })
  })

  test('the network is counted', () => {
    const [workload] = readScript(train, { gpus: 8, files }).workloads
    // queries and outputs 64·64 each, keys and values 64·32 each, a gated feed-forward, and two tables of 1000 x 64
    const weights = 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 256) + 2 * 1000 * 64
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / weights - 1)).toBeLessThan(0.005)
  })

  test('of several stages no data set is that of the run', () => {
    const staged = configuration.replace(
      'model:\n',
      '  - name: decay\n    data: {dataset: {hf_dataset_or_datasets: org/other}}\nmodel:\n',
    )
    expect(valuesOf(train, { gpus: 8, files: { 'configs/tiny.yaml': staged } })['dataset']).toBeUndefined()
  })

  test('a script of that name with a configuration of its own is not', () => {
    const own = { 'configs/tiny.yaml': 'epochs: 3\nbatch_size: 8\n' }
    expect(readScript(train, { gpus: 8, files: own }).workloads[0]?.framework?.value).not.toBe('nanotron')
  })
})
