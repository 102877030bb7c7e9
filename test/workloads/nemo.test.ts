import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const config = `
trainer:
  devices: 8
  num_nodes: 1
  precision: bf16
  max_epochs: -1
  max_steps: 100000
exp_manager:
  exp_dir: runs/gpt
  resume_if_exists: True
  checkpoint_callback_params:
    every_n_train_steps: 500
model:
  micro_batch_size: 2
  global_batch_size: 256
  encoder_seq_length: 2048
  max_position_embeddings: \${.encoder_seq_length}
  num_layers: 24
  hidden_size: 2048
  ffn_hidden_size: \${multiply:4, \${.hidden_size}}
  num_attention_heads: 16
  tensor_model_parallel_size: 1
  activations_checkpoint_granularity: selective
  tokenizer: {library: megatron, type: GPT2BPETokenizer}
  optim: {name: distributed_fused_adam}
`

describe('NeMo', () => {
  const files = { 'examples/nlp/conf/gpt.yaml': config }
  const program = 'examples/nlp/megatron_gpt_pretraining.py'

  test('who says both degrees says how the model is split, though the configuration is not here', () => {
    const command = `python ${program} --config-path=/opt/conf --config-name=gpt trainer.max_steps=10 trainer.devices=8`
    const degrees = 'model.tensor_model_parallel_size=2 model.pipeline_model_parallel_size=1 model.global_batch_size=64'
    expect(valuesOf(`${command} ${degrees}`, { gpus: 8 })).toMatchObject({
      parallelism: { tensor: 2, pipeline: 1, sharding: 'unknown' },
    })
    const half = 'model.tensor_model_parallel_size=2 model.global_batch_size=64'
    expect(valuesOf(`${command} ${half}`, { gpus: 8 })).not.toHaveProperty('parallelism')
  })

  test("Hydra's keys win over its file, which lies beside the program", () => {
    const command = `python ${program} --config-path=conf --config-name=gpt trainer.num_nodes=2 trainer.max_steps=5000 +model.tensor_model_parallel_size=4`
    expect(valuesOf(command, { nodes: 2, gpus: 8, files })).toMatchObject({
      framework: 'nemo',
      purpose: 'train',
      steps: 5000,
      globalBatch: 256,
      microBatch: 2,
      // 16 processes, 4 of which hold one model
      gradientAccumulation: 32,
      processes: 16,
      sequenceLength: 2048,
      tokens: 5000 * 256 * 2048,
      precision: 'bf16',
      method: 'full',
      activationRecompute: 'selective',
      parallelism: { tensor: 4, sharding: 'optimizer' },
      checkpoint: { intervalSteps: { value: 500 }, destination: { value: 'runs/gpt' }, resumes: { value: true } },
    })
  })

  test('a width that the program works out is not known, and the network is not either', () => {
    const [workload] = readScript(`python ${program} --config-path=conf --config-name=gpt`, { files }).workloads
    expect(workload?.model).toBeUndefined()
    const given = `python ${program} --config-path=conf --config-name=gpt model.ffn_hidden_size=8192`
    const [counted] = readScript(given, { files }).workloads
    // 24 layers of 12·2048² weights, and 50,257 + 2,048 rows of 2,048.
    const weights = 24 * 12 * 2048 ** 2 + (50_257 + 2048) * 2048
    expect(Math.abs((counted?.model?.value.parameterCount ?? 0) / weights - 1)).toBeLessThan(0.001)
  })

  test('a recipe is named, and only what is said beside it is known', () => {
    const command =
      'nemo llm pretrain --factory "llama3_8b(num_nodes=2)" trainer.max_steps=1000 data.global_batch_size=128 data.seq_length=8192'
    const read = valuesOf(command, { nodes: 2, gpus: 8 })
    expect(read).toMatchObject({
      framework: 'nemo',
      modelName: 'llama3_8b',
      steps: 1000,
      globalBatch: 128,
      tokens: 1000 * 128 * 8192,
      method: 'full',
    })
    expect(read['parallelism']).toBeUndefined()
    expect(read['precision']).toBeUndefined()
  })

  test('a recipe for fine-tuning may bring an adapter', () => {
    const read = valuesOf('nemo llm finetune --factory llama3_8b trainer.max_steps=10')
    expect(read['method']).toBeUndefined()
    expect(valuesOf('nemo llm finetune --factory llama3_8b peft=lora trainer.max_steps=10')).toMatchObject({
      method: 'lora',
    })
  })

  test("Megatron-Bridge's recipe says its model, its mode the method, and keys win over options", () => {
    const bridge =
      'torchrun --nproc_per_node=8 scripts/training/run_recipe.py --recipe tiny_1b_sft_config --hf_path org/tiny-1b'
    expect(
      valuesOf(`${bridge} --mode sft --seq_length 4096 --max_steps 10 train.train_iters=500`, { gpus: 8 }),
    ).toMatchObject({
      framework: 'megatron-bridge',
      modelName: 'org/tiny-1b',
      sequenceLength: 4096,
      steps: 500,
      method: 'full',
    })
    expect(valuesOf(`${bridge} --mode lora`, { gpus: 8 })['method']).toBe('lora')
    expect(valuesOf(bridge, { gpus: 8 })['method']).toBeUndefined()
  })

  test('a script that changes a recipe is read, and not run', () => {
    const script = `
import nemo_run as run
from nemo.collections import llm

def configure():
    recipe = llm.mistral_7b.pretrain_recipe(name='x', num_nodes=1)
    recipe.trainer.max_steps = 10 * 20
    recipe.data.global_batch_size = 64
    if fast:
        recipe.trainer.max_steps = 5
    return recipe
`
    const files = { 'nemo_pretrain.py': script }
    expect(valuesOf('python nemo_pretrain.py', { files })).toMatchObject({
      framework: 'nemo',
      modelName: 'mistral_7b',
      steps: 200,
      globalBatch: 64,
    })
  })

  test('nodes that NeMo is told and nodes that are requested are both named', () => {
    const command = `python ${program} --config-path=conf --config-name=gpt trainer.num_nodes=4`
    const { warnings } = readScript(command, { nodes: 2, gpus: 8, files })
    expect(warnings).toMatchObject([{ code: 'conflict', text: expect.stringMatching(/is 4, 2 nodes/) }])
  })

  test('speech models have one process’s batch', () => {
    const command =
      'python speech_to_text_ctc_bpe.py trainer.devices=4 trainer.max_epochs=100 model.train_ds.manifest_filepath=a.json model.train_ds.batch_size=32 trainer.precision=16'
    expect(valuesOf(command, { gpus: 4 })).toMatchObject({
      framework: 'nemo',
      epochs: 100,
      microBatch: 32,
      globalBatch: 128,
      precision: 'fp16',
    })
  })
})
