import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const config = `
data: {id: org/corpus, tokenizer: gpt2}
model:
  type: gpt2
  hidden_dim: 768
  num_heads: 12
  num_layers: 12
  seq_len: 1024
trainer:
  mp: p=f32,c=bfloat16
  train_batch_size: 512
  num_train_steps: 10000
  checkpointer: {save_interval: 30m, base_path: gs://b/c}
`

describe('Levanter', () => {
  const files = { 'config/small.yaml': config }
  const command = 'python -m levanter.main.train_lm --config_path config/small.yaml'

  test('the batch is that of all GPUs', () => {
    expect(valuesOf(`${command} --trainer.num_train_steps 2000`, { gpus: 8, files })).toMatchObject({
      framework: 'levanter',
      steps: 2000,
      globalBatch: 512,
      sequenceLength: 1024,
      tokens: 2000 * 512 * 1024,
      precision: 'bf16',
      method: 'full',
      dataset: 'org/corpus',
      checkpoint: { intervalSeconds: { value: 1800 }, destination: { value: 'gs://b/c' } },
    })
  })

  test('GPT-2 small is counted', () => {
    const [workload] = readScript(command, { files }).workloads
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / 124.4e6 - 1)).toBeLessThan(0.01)
  })

  test('a tokenizer that is not known leaves the size unknown', () => {
    const read = valuesOf(`${command} --data.tokenizer my/own`, { files })
    expect(read['model']).toBeUndefined()
    expect(read['steps']).toBe(10_000)
  })
})
