import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const base = `
model_name: default
dtype: "bfloat16"
quantization: ""
base_emb_dim: 2048
base_num_query_heads: 16
base_num_kv_heads: 16
base_mlp_dim: 7168
base_num_decoder_layers: 16
head_dim: 128
mlp_activations: ["silu", "linear"]
logits_via_embedding: False
num_experts: 1
vocab_size: 32_000
remat_policy: 'full'
per_device_batch_size: 12.0
steps: 150_001
max_target_length: 2048
opt_type: adamw
enable_checkpointing: True
checkpoint_period: 10_000
base_output_directory: ""
`

describe('MaxText', () => {
  const files = { 'configs/base.yml': base }

  test('a batch is that of a GPU, and JAX works on all of them', () => {
    const command =
      'python3 -m MaxText.train configs/base.yml run_name=r model_name=llama2-7b steps=30 per_device_batch_size=4 base_output_directory=gs://b/o quantization=fp8'
    expect(valuesOf(command, { nodes: 2, gpus: 8, files })).toMatchObject({
      framework: 'maxtext',
      modelName: 'llama2-7b',
      steps: 30,
      globalBatch: 64,
      microBatch: 4,
      sequenceLength: 2048,
      tokens: 30 * 64 * 2048,
      precision: 'fp8',
      method: 'full',
      activationRecompute: 'full',
      checkpoint: { intervalSteps: { value: 10_000 }, destination: { value: 'gs://b/o' }, resumes: { value: true } },
    })
  })

  test('half a sequence a GPU', () => {
    const command = 'python -m MaxText.train configs/base.yml per_device_batch_size=0.5'
    expect(valuesOf(command, { gpus: 8, files })).toMatchObject({ globalBatch: 4, steps: 150_001 })
    expect(valuesOf(command, { gpus: 1, files })['globalBatch']).toBeUndefined()
  })

  test('GPUs that share a sequence have no batch of their own', () => {
    const command = 'python -m MaxText.train configs/base.yml per_device_batch_size=2 ici_tensor_parallelism=4'
    const read = valuesOf(command, { gpus: 8, files })
    expect([read['globalBatch'], read['microBatch']]).toEqual([16, undefined])
  })

  test('the network of the file is counted', () => {
    const [workload] = readScript('python -m MaxText.train configs/base.yml', { gpus: 8, files }).workloads
    // 16 layers of 4·2048² + 3·2048·7168 weights, and two tables of 32,000 x 2048
    const weights = 16 * (4 * 2048 ** 2 + 3 * 2048 * 7168) + 2 * 32_000 * 2048
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / weights - 1)).toBeLessThan(0.001)
  })

  test('without its file only what is typed is known', () => {
    const read = valuesOf('python -m MaxText.train other.yml model_name=gemma-2b steps=10', { gpus: 8 })
    expect(read).toMatchObject({ modelName: 'gemma-2b', steps: 10 })
    expect(read['globalBatch']).toBeUndefined()
    expect(read['precision']).toBeUndefined()
  })
})
