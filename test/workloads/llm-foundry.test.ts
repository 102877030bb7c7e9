import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const config = `
variables:
  max_seq_len: 2048
max_seq_len: \${variables.max_seq_len}
model:
  name: mpt_causal_lm
  d_model: 4096
  n_heads: 32
  n_layers: 32
  expansion_ratio: 4
  max_seq_len: \${max_seq_len}
  vocab_size: 50368
  attn_config: {attn_impl: triton, alibi: true}
optimizer: {name: decoupled_adamw}
max_duration: 63900ba
global_train_batch_size: 1024
device_train_microbatch_size: 8
precision: amp_bf16
fsdp_config:
  sharding_strategy: FULL_SHARD
  activation_checkpointing: true
save_interval: 500ba
save_folder: s3://bucket/run
autoresume: true
`

describe('LLM Foundry', () => {
  const files = { 'yamls/mpt.yaml': config }

  test('batches are steps, and the micro-batch is that of a device', () => {
    expect(valuesOf('composer -n 8 train/train.py yamls/mpt.yaml', { gpus: 8, files })).toMatchObject({
      framework: 'llm-foundry',
      steps: 63_900,
      globalBatch: 1024,
      microBatch: 8,
      gradientAccumulation: 16,
      sequenceLength: 2048,
      tokens: 63_900 * 1024 * 2048,
      precision: 'bf16',
      method: 'full',
      optimizer: 'adam',
      activationRecompute: 'full',
      parallelism: { sharding: 'weights' },
      checkpoint: {
        intervalSteps: { value: 500 },
        destination: { value: 's3://bucket/run' },
        resumes: { value: true },
      },
    })
  })

  test('the network is counted: MPT-7B has this shape', () => {
    const [workload] = readScript('composer train.py yamls/mpt.yaml', { files }).workloads
    // 6,649,286,656 parameters (mosaicml/mpt-7b, model card: 6.7 B).
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / 6_649_286_656 - 1)).toBeLessThan(0.01)
  })

  test.each([
    ['max_duration=2e9tok', { tokens: 2e9, steps: Math.round(2e9 / (1024 * 2048)) }],
    ['max_duration=3ep', { epochs: 3, steps: undefined }],
    ['max_duration=5000sp', { samples: 5000, steps: 4 }],
    ['max_duration=soon', { steps: undefined, epochs: undefined, tokens: undefined }],
    ['device_train_microbatch_size=auto', { microBatch: undefined, gradientAccumulation: undefined }],
  ])('%s', (option, values) => {
    const read = valuesOf(`composer train.py yamls/mpt.yaml ${option}`, { gpus: 8, files })
    expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
  })

  test('a file that is not here says nothing', () => {
    const { workloads, warnings } = readScript('composer train.py yamls/other.yaml max_duration=10ba', { files })
    expect(workloads[0]).toMatchObject({ framework: { value: 'llm-foundry' }, steps: { value: 10 } })
    expect(workloads[0]?.method).toBeUndefined()
    expect(warnings.map(({ code }) => code)).toContain('external-file-missing')
  })
})
