import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

/** Rows compare the keys they name; undefined = has to be absent. */
function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
}

/** The checkpoint facts of the only run, without where they came from. */
function checkpointOf(script: string, setting: Setting = {}): Record<string, unknown> {
  const { checkpoint = {} } = readScript(script, setting).workloads[0] ?? {}
  return Object.fromEntries(Object.entries(checkpoint).map(([key, said]) => [key, said.value]))
}

const AXOLOTL = `
base_model: tiny-1b
load_in_4bit: false
adapter: &kind lora
lora_r: 32
datasets:
  - path: open/chats
    type: chat_template
  - path: data/ours.jsonl
    type: *kind
sequence_len: 2048
sample_packing: true
micro_batch_size: 2
gradient_accumulation_steps: 4
num_epochs: 3
bf16: auto
fp16:
gradient_checkpointing: true
flash_attention: true
optimizer: adamw_bnb_8bit
saves_per_epoch: 2
output_dir: ./out
`

describe('axolotl', () => {
  const files = { 'cfg.yml': AXOLOTL }
  test.each<Row>([
    [
      'its YAML, with anchors and empty values, and accelerate on all GPUs',
      'accelerate launch -m axolotl.cli.train cfg.yml',
      {
        framework: 'axolotl',
        purpose: 'train',
        modelName: 'tiny-1b',
        dataset: 'open/chats, data/ours.jsonl',
        epochs: 3,
        steps: undefined,
        microBatch: 2,
        gradientAccumulation: 4,
        globalBatch: 64,
        sequenceLength: 2048,
        method: 'lora',
        loraRank: 32,
        precision: 'bf16',
        optimizer: 'adam-8bit',
        flashAttention: true,
        activationRecompute: 'full',
        processes: 8,
      },
      { gpus: 8, files },
    ],
    [
      'options win over the file, and packed steps are full of tokens',
      'axolotl train cfg.yml --max-steps 100 --micro-batch-size=1',
      { steps: 100, epochs: undefined, globalBatch: 8, tokens: 100 * 8 * 2048 },
      { gpus: 2, files },
    ],
    [
      'without packing the longest sample is not each sample',
      'axolotl train cfg.yml --max-steps 100 --sample-packing false',
      { steps: 100, globalBatch: 16, tokens: undefined },
      { gpus: 2, files },
    ],
    [
      'torchrun with what stands behind two dashes',
      'axolotl train cfg.yml --launcher torchrun -- --nnodes=2 --nproc_per_node=4',
      { processes: 8, globalBatch: 64 },
      { nodes: 2, gpus: 4, files },
    ],
    [
      'on several nodes, without a word, who takes part is not known',
      'axolotl train cfg.yml',
      { processes: undefined, globalBatch: undefined },
      { nodes: 2, gpus: 4, files },
    ],
    [
      'adapters over 4-bit weights; FSDP as a list; an older key for the batch',
      'python -m axolotl.cli.train q.yml',
      { method: 'qlora', microBatch: 2, gradientAccumulation: 8, epochs: 1, globalBatch: 16 },
      {
        files: {
          'q.yml': 'base_model: tiny-1b\nadapter: lora\nload_in_4bit: true\nmicro_batch_size: 2\nbatch_size: 16\n',
        },
      },
    ],
    [
      'a file that is not here leaves all it says unknown',
      'axolotl train other.yml --max-steps 5',
      { framework: 'axolotl', steps: 5, modelName: undefined, method: undefined, gradientAccumulation: undefined },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('its other commands train nothing', () => {
    const { workloads } = readScript('axolotl preprocess cfg.yml\npython -m axolotl.cli.merge_lora cfg.yml', { files })
    expect(workloads.map(({ purpose, steps, epochs }) => [purpose, steps, epochs])).toEqual([
      ['other', undefined, undefined],
      ['other', undefined, undefined],
    ])
  })

  test('what it keeps', () => {
    const script = 'axolotl train cfg.yml --resume-from-checkpoint /data/ckpt/checkpoint-200'
    expect(checkpointOf(script, { files })).toEqual({ intervalEpochs: 0.5, destination: './out', resumes: true })
  })

  test('FSDP and DeepSpeed say what is shared', () => {
    const sharding = (more: string, files: Record<string, string> = {}) =>
      readScript('axolotl train c.yml', { gpus: 4, files: { 'c.yml': `base_model: m\n${more}`, ...files } })
        .workloads[0]?.parallelism?.value.sharding
    expect(sharding('fsdp:\n  - full_shard\n  - auto_wrap\n')).toBe('weights')
    expect(sharding('fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: false\n')).toBe('gradients')
    expect(sharding('deepspeed: ds.json\n', { 'ds.json': '{"zero_optimization": {"stage": 1}}' })).toBe('optimizer')
    expect(sharding('deepspeed: deepspeed_configs/zero3.json\n')).toBe('unknown')
  })
})

const FACTORY = `
model_name_or_path: tiny-1b
stage: sft
do_train: true
finetuning_type: lora
dataset: ours,identity
cutoff_len: 2048
max_samples: 1000
output_dir: saves/tiny
save_steps: 250
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
num_train_epochs: 3.0
bf16: true
`

describe('LLaMA-Factory', () => {
  const files = { 'sft.yaml': FACTORY }
  test.each<Row>([
    [
      'its command starts torchrun on every GPU it sees; the ceiling of samples is no size',
      'llamafactory-cli train sft.yaml',
      {
        framework: 'llama-factory',
        modelName: 'tiny-1b',
        dataset: 'ours,identity',
        epochs: 3,
        samples: undefined,
        steps: undefined,
        microBatch: 1,
        gradientAccumulation: 8,
        globalBatch: 32,
        sequenceLength: 2048,
        method: 'lora',
        loraRank: 8,
        precision: 'bf16',
        activationRecompute: 'full',
        processes: 4,
      },
      { gpus: 4, files },
    ],
    [
      'key=value behind the file wins; nodes and processes by variables',
      'NNODES=2 NPROC_PER_NODE=4 llamafactory-cli train sft.yaml max_steps=50 quantization_bit=4 lora_rank=64',
      { steps: 50, epochs: undefined, method: 'qlora', loraRank: 64, processes: 8, globalBatch: 64, tokens: undefined },
      { nodes: 2, gpus: 4, files },
    ],
    [
      'flags of the older script, started by the user',
      'deepspeed --num_gpus 2 src/train_bash.py --stage sft --do_train --model_name_or_path tiny-1b --finetuning_type full --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --num_train_epochs 1 --fp16',
      {
        framework: 'llama-factory',
        method: 'full',
        globalBatch: 16,
        epochs: 1,
        precision: 'fp16',
        loraRank: undefined,
      },
      { gpus: 2 },
    ],
    [
      'a file that is not here leaves its defaults open',
      'llamafactory-cli train away.yaml',
      { framework: 'llama-factory', epochs: undefined, microBatch: undefined, method: undefined },
    ],
    [
      'serving',
      'llamafactory-cli api sft.yaml',
      { purpose: 'serve', modelName: 'tiny-1b', epochs: undefined },
      { files },
    ],
    [
      'prediction alone is no training',
      'llamafactory-cli train p.yaml',
      { purpose: 'evaluate', epochs: undefined },
      { files: { 'p.yaml': 'model_name_or_path: tiny-1b\ndo_predict: true\n' } },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('it goes on from its output folder unless that is to be overwritten', () => {
    const script = 'llamafactory-cli train sft.yaml'
    expect(checkpointOf(script, { files })).toEqual({ intervalSteps: 250, destination: 'saves/tiny', resumes: true })
    expect(checkpointOf(`${script} overwrite_output_dir=true`, { files })).not.toHaveProperty('resumes')
  })
})

const TORCHTUNE = `
output_dir: /tmp/torchtune/out
model:
  _component_: torchtune.models.qwen2_5.lora_qwen2_5_0_5b
  lora_rank: 8
tokenizer:
  _component_: torchtune.models.qwen2_5.qwen2_5_tokenizer
  max_seq_len: null
dataset:
  _component_: torchtune.datasets.alpaca_cleaned_dataset
  packed: False
batch_size: 2
epochs: 2
max_steps_per_epoch: 25
gradient_accumulation_steps: 8
optimizer:
  _component_: torch.optim.AdamW
  lr: 3e-4
resume_from_checkpoint: False
compile: True
dtype: bf16
enable_activation_checkpointing: True
`

describe('torchtune', () => {
  const files = { 'r/lora.yaml': TORCHTUNE }
  test.each<Row>([
    [
      'the recipe configuration',
      'tune run --nproc_per_node 4 lora_finetune_distributed --config r/lora.yaml',
      {
        framework: 'torchtune',
        modelName: 'qwen2.5-0.5b',
        dataset: 'alpaca_cleaned',
        epochs: 2,
        steps: 50,
        microBatch: 2,
        gradientAccumulation: 8,
        globalBatch: 64,
        sequenceLength: undefined,
        method: 'lora',
        loraRank: 8,
        precision: 'bf16',
        optimizer: 'adam',
        compiled: true,
        activationRecompute: 'full',
        processes: 4,
        tokens: undefined,
      },
      { gpus: 4, files },
    ],
    [
      'overrides win, and null takes the cut of the steps away',
      'tune run --nproc_per_node 2 lora_finetune_distributed --config r/lora.yaml batch_size=4 epochs=1 max_steps_per_epoch=null tokenizer.max_seq_len=4096 dataset.packed=True',
      { microBatch: 4, globalBatch: 64, epochs: 1, steps: undefined, sequenceLength: 4096 },
      { gpus: 2, files },
    ],
    [
      'a configuration that comes with torchtune: the model by its name, no more',
      'tune run full_finetune_single_device --config llama3_2/3B_full_single_device epochs=3',
      {
        modelName: 'llama3.2-3b',
        method: 'full',
        epochs: 3,
        microBatch: undefined,
        gradientAccumulation: undefined,
        processes: 1,
      },
    ],
    [
      'QLoRA by the name of its configuration',
      'tune run lora_finetune_single_device --config llama2/13B_qlora_single_device',
      { modelName: 'llama2-13b', method: 'qlora' },
    ],
    ['an evaluation', 'tune run eleuther_eval --config r/eval.yaml', { purpose: 'evaluate', epochs: undefined }],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('it saves at the end of each epoch', () => {
    const script = 'tune run lora_finetune_single_device --config r/lora.yaml'
    const expected = { intervalEpochs: 1, destination: '/tmp/torchtune/out', resumes: false }
    expect(checkpointOf(script, { files })).toEqual(expected)
  })
})

describe("the Trainer's arguments in a file", () => {
  const files = {
    'conf/sft.yaml':
      'model_name_or_path: tiny-1b\ndataset_mixer:\n  open/chats: 1.0\n  open/code: 0.5\nbf16: true\nper_device_train_batch_size: 8\ngradient_accumulation_steps: 2\nnum_train_epochs: 1\nmax_seq_length: 2048\nsave_strategy: epoch\noutput_dir: /dev/shm/out\n',
    'conf/acc.yaml':
      'distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\nnum_processes: 8\nmixed_precision: bf16\n',
  }
  test.each<Row>([
    [
      'TRL by its command',
      'trl sft --config conf/sft.yaml --num_train_epochs 2',
      { framework: 'trl', modelName: 'tiny-1b', epochs: 2, globalBatch: 64, processes: 4, method: 'full' },
      { gpus: 4, files },
    ],
    [
      'the alignment handbook: the file as first argument, under accelerate',
      'accelerate launch --config_file conf/acc.yaml scripts/run_sft.py conf/sft.yaml --load_in_4bit=true --use_peft=true',
      {
        modelName: 'tiny-1b',
        dataset: 'open/chats, open/code',
        epochs: 1,
        globalBatch: 128,
        sequenceLength: 2048,
        precision: 'bf16',
        method: 'qlora',
      },
      { gpus: 8, files },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('what it keeps', () => {
    expect(checkpointOf('trl sft --config conf/sft.yaml', { files })).toEqual({
      intervalEpochs: 1,
      destination: '/dev/shm/out',
    })
    const flags = '--model_name_or_path tiny-1b --per_device_train_batch_size 1'
    expect(checkpointOf(`python run_clm.py ${flags} --output_dir $SCRATCH/out --save_steps 100`)).toEqual({
      intervalSteps: 100,
      destination: '$SCRATCH/out',
      resumes: true,
    })
    expect(checkpointOf(`python t.py ${flags} --save_strategy no`)).toEqual({})
    expect(checkpointOf(`python t.py ${flags} --save_steps 0.1 --save_only_model`)).toEqual({ content: 'weights' })
  })
})
