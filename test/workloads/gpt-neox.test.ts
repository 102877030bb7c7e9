import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const model = `{
  # 1.4 billion parameters
  "pipe_parallel_size": 1,
  "model_parallel_size": 2,
  "num_layers": 24,
  "hidden_size": 2048,
  "num_attention_heads": 16,
  "seq_length": 2048,
  "max_position_embeddings": 2048,
  "pos_emb": "rotary",
  "no_weight_tying": true,
  "optimizer": {"type": "Adam", "params": {"lr": 0.0002}},
  "zero_optimization": {"stage": 1},
  "train_micro_batch_size_per_gpu": 8,
  "gradient_accumulation_steps": 4,
  "fp16": {"enabled": true, "loss_scale": 0},
  "checkpoint_activations": true,
  "train_iters": 143000,
}
`
const setup = `
vocab-file: "data/20B_tokenizer.json"
tokenizer_type: "HFTokenizer"
save: "ckpt/neox"
load: "ckpt/neox"
checkpoint-factor: 1000
train-iters: 1000
`

describe('GPT-NeoX', () => {
  const files = { 'configs/1b.yml': model, 'configs/local.yml': setup }
  const setting = { nodes: 2, gpus: 8, files }

  test('all files are one configuration, and deepy.py takes every GPU', () => {
    expect(valuesOf('python ./deepy.py train.py -d configs 1b local.yml', setting)).toMatchObject({
      framework: 'gpt-neox',
      purpose: 'train',
      steps: 1000,
      microBatch: 8,
      gradientAccumulation: 4,
      // 16 GPUs, two of which hold one model
      globalBatch: 8 * 4 * 8,
      sequenceLength: 2048,
      tokens: 1000 * 256 * 2048,
      precision: 'fp16',
      method: 'full',
      processes: 16,
      optimizer: 'adam',
      activationRecompute: 'full',
      parallelism: { tensor: 2, pipeline: 1, sharding: 'optimizer' },
      checkpoint: { intervalSteps: { value: 1000 }, destination: { value: 'ckpt/neox' }, resumes: { value: true } },
    })
  })

  test('the half precision of older versions may be bfloat16', () => {
    const bfloat16 = model.replace('"loss_scale": 0', '"type": "bfloat16"')
    const configured = { ...setting, files: { 'configs/1b.yml': bfloat16 } }
    expect(valuesOf('python ./deepy.py train.py configs/1b.yml', configured)).toMatchObject({ precision: 'bf16' })
  })

  test('the network is counted: Pythia 1.4B has this shape', () => {
    const [workload] = readScript('python deepy.py train.py configs/1b.yml configs/local.yml', setting).workloads
    // 1,414,647,808 parameters (Biderman et al., arXiv 2304.01373, table 1), of which its vocabulary is padded.
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / 1_414_647_808 - 1)).toBeLessThan(0.01)
  })

  test('a file that is not here leaves accumulation and shape unknown', () => {
    const { workloads, warnings } = readScript('python deepy.py train.py configs/other.yml configs/local.yml', setting)
    expect(workloads[0]).toMatchObject({ framework: { value: 'gpt-neox' }, steps: { value: 1000 } })
    expect(workloads[0]?.model).toBeUndefined()
    expect(workloads[0]?.gradientAccumulation).toBeUndefined()
    expect(warnings.map(({ code }) => code)).toContain('external-file-missing')
  })

  test('the evaluation harness trains nothing', () => {
    const { purpose, steps, tokens } = valuesOf('python deepy.py eval.py configs/1b.yml --eval_tasks lambada', setting)
    expect({ purpose, steps, tokens }).toEqual({ purpose: 'evaluate', steps: undefined, tokens: undefined })
  })
})
