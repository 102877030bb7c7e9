import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

/** Rows compare the keys they name; undefined = has to be absent. `sharding` stands for what ranks share. */
function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const workload = readScript(script, setting).workloads[0]
  const all: Record<string, unknown> = { ...valuesOf(script, setting), sharding: workload?.parallelism?.value.sharding }
  expect(Object.fromEntries(Object.keys(values).map(key => [key, all[key]]))).toEqual(values)
}

function checkpointOf(script: string, setting: Setting = {}): Record<string, unknown> {
  const { checkpoint = {} } = readScript(script, setting).workloads[0] ?? {}
  return Object.fromEntries(Object.entries(checkpoint).map(([key, said]) => [key, said.value]))
}

describe('ms-swift', () => {
  const SFT =
    "swift sft --model org/tiny-1b --dataset 'AI/chats#500' --train_type lora --lora_rank 8 --torch_dtype bfloat16 --num_train_epochs 2 --per_device_train_batch_size 1 --gradient_accumulation_steps 16 --max_length 2048 --output_dir output --save_steps 50"
  test.each<Row>([
    [
      'torchrun by its variables, samples by the data set, a preset of DeepSpeed',
      `NPROC_PER_NODE=4 ${SFT} --deepspeed zero2`,
      {
        framework: 'ms-swift',
        modelName: 'org/tiny-1b',
        dataset: 'AI/chats',
        samples: 500,
        epochs: 2,
        globalBatch: 64,
        steps: 15,
        sequenceLength: 2048,
        method: 'lora',
        loraRank: 8,
        precision: 'bf16',
        sharding: 'gradients',
        processes: 4,
        tokens: undefined,
      },
      { gpus: 4 },
    ],
    [
      'without its variable it is one process, whose GPUs are not known',
      SFT,
      { processes: undefined, globalBatch: undefined },
      { gpus: 4 },
    ],
    [
      'its second version',
      'swift sft --model_type tiny-1b --sft_type full --dataset coco-mini --batch_size 2 --max_steps 10',
      { modelName: 'tiny-1b', method: 'full', microBatch: 2, steps: 10, samples: undefined },
    ],
    [
      'text that the model writes',
      'swift rlhf --rlhf_type grpo --model tiny-1b --dataset a --num_train_epochs 1',
      { generates: true, purpose: 'train' },
    ],
    ['serving', 'swift deploy --model tiny-1b', { purpose: 'serve', modelName: 'tiny-1b', method: undefined }],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('what it keeps', () => {
    expect(checkpointOf(SFT)).toEqual({ intervalSteps: 50, destination: 'output' })
  })
})

describe('OpenRLHF', () => {
  test.each<Row>([
    [
      'the batch is everybody’s; the ceiling of samples is no size',
      'deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --pretrain org/tiny-1b --dataset open/chats --max_len 2048 --train_batch_size 256 --micro_train_batch_size 2 --max_samples 5000 --max_epochs 1 --zero_stage 3 --bf16 --gradient_checkpointing',
      {
        framework: 'openrlhf',
        modelName: 'org/tiny-1b',
        dataset: 'open/chats',
        samples: undefined,
        epochs: 1,
        globalBatch: 256,
        microBatch: 2,
        gradientAccumulation: 16,
        sequenceLength: 2048,
        precision: 'bf16',
        method: 'full',
        sharding: 'weights',
        processes: 8,
      },
      { gpus: 8 },
    ],
    [
      'PPO under Ray: episodes, and all models on the same GPUs',
      "ray job submit --runtime-env-json='{}' -- python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 2 --actor_num_gpus_per_node 4 --colocate_all_models --pretrain tiny-1b --train_batch_size 128 --prompt_max_len 1024 --generate_max_len 2048 --num_episodes 3 --max_epochs 1 --zero_stage 3",
      { epochs: 3, processes: 8, sequenceLength: 3072, generates: true, steps: undefined, tokens: undefined },
      { nodes: 2, gpus: 4 },
    ],
    [
      'models on GPUs of their own: nobody counts them here',
      'python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --actor_num_gpus_per_node 4 --pretrain tiny-1b --generate_max_len 9',
      { processes: undefined },
      { gpus: 8 },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('what it keeps', () => {
    const base = 'python -m openrlhf.cli.train_dpo --pretrain m --train_batch_size 8 --ckpt_path /data/c'
    expect(checkpointOf(`${base} --save_steps 100 --load_checkpoint`)).toEqual({
      intervalSteps: 100,
      destination: '/data/c',
      content: 'full',
      resumes: true,
    })
    expect(checkpointOf(`${base} --save_steps -1`)).toEqual({})
  })
})

describe('verl', () => {
  const PPO =
    'python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=1024 data.max_prompt_length=512 data.max_response_length=1024 actor_rollout_ref.model.path=org/tiny-1b trainer.n_gpus_per_node=8 trainer.nnodes=2 trainer.save_freq=20 trainer.total_epochs=15'
  test.each<Row>([
    [
      'overrides of Hydra',
      PPO,
      {
        framework: 'verl',
        modelName: 'org/tiny-1b',
        epochs: 15,
        globalBatch: 1024,
        sequenceLength: 1536,
        processes: 16,
        generates: true,
        method: 'full',
        sharding: 'weights',
        steps: undefined,
      },
      { nodes: 2, gpus: 8 },
    ],
    [
      'supervised training under torchrun',
      'torchrun --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=256 data.micro_batch_size_per_gpu=4 data.max_length=2048 model.partial_pretrain=org/tiny-1b trainer.total_training_steps=100 model.lora_rank=32',
      { steps: 100, globalBatch: 256, microBatch: 4, gradientAccumulation: 16, method: 'lora', processes: 4 },
      { gpus: 4 },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('what it keeps', () => {
    expect(checkpointOf(PPO)).toEqual({ intervalSteps: 20, resumes: true })
    expect(checkpointOf(`${PPO} trainer.save_freq=-1 trainer.resume_mode=disable`)).toEqual({ resumes: false })
  })
})

describe('litgpt', () => {
  test.each<Row>([
    [
      'fine-tuning: the batch is that of all devices',
      'litgpt finetune_lora org/tiny-1b --data Alpaca --train.global_batch_size 64 --train.micro_batch_size 2 --train.epochs 3 --train.max_seq_length 512 --lora_r 16 --precision bf16-true --devices 4',
      {
        framework: 'litgpt',
        modelName: 'org/tiny-1b',
        dataset: 'Alpaca',
        epochs: 3,
        globalBatch: 64,
        gradientAccumulation: 8,
        sequenceLength: 512,
        method: 'lora',
        loraRank: 16,
        precision: 'bf16',
        processes: 4,
      },
      { gpus: 4 },
    ],
    [
      'data of its own have no name',
      'litgpt finetune_lora org/tiny-1b --data JSON --data.json_path mine.json --train.epochs 3',
      { dataset: undefined, epochs: 3 },
    ],
    [
      'pretraining by tokens, its settings in a file',
      'litgpt pretrain --config pre.yaml --train.max_tokens 1000000000',
      { modelName: 'tiny-1b', tokens: 1e9, globalBatch: 512, processes: 8, method: 'full' },
      {
        gpus: 8,
        files: {
          'pre.yaml': 'model_name: tiny-1b\ndevices: auto\ntrain:\n  global_batch_size: 512\n  max_tokens: 3000000\n',
        },
      },
    ],
    [
      'quantised weights',
      'litgpt finetune_lora tiny-1b --quantize bnb.nf4',
      { method: 'qlora', processes: 1 },
      { gpus: 2 },
    ],
    ['a download', 'litgpt download org/tiny-1b', { purpose: 'other', epochs: undefined }],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('libraries on top of the Trainer', () => {
  test.each<Row>([
    [
      'unsloth trains adapters',
      'python unsloth-cli.py --model_name org/tiny-1b --max_seq_length 2048 --load_in_4bit --r 16 --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_steps 400',
      { framework: 'unsloth', method: 'qlora', globalBatch: 8, steps: 400, sequenceLength: 2048 },
    ],
    [
      'FastChat',
      'torchrun --nproc_per_node=4 fastchat/train/train_mem.py --model_name_or_path org/tiny-1b --bf16 True --num_train_epochs 3 --per_device_train_batch_size 2 --gradient_accumulation_steps 16 --model_max_length 2048 --fsdp "full_shard auto_wrap"',
      { framework: 'fastchat', globalBatch: 128, epochs: 3, sequenceLength: 2048, sharding: 'weights' },
      { gpus: 4 },
    ],
    [
      'DeepSpeed-Chat says its stage itself',
      'deepspeed --num_gpus 8 main.py --model_name_or_path org/tiny-1b --per_device_train_batch_size 4 --max_seq_len 512 --num_train_epochs 2 --zero_stage 2 --deepspeed',
      { sharding: 'gradients', globalBatch: 32, epochs: 2, sequenceLength: 512 },
      { gpus: 8 },
    ],
    [
      'text that the model writes takes time of its own',
      'trl grpo --model_name_or_path tiny-1b --max_steps 10 --per_device_train_batch_size 4',
      { framework: 'trl', generates: true },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('Lightning', () => {
  const files = {
    'fit.yaml':
      'trainer:\n  devices: 4\n  max_epochs: 10\n  precision: bf16-mixed\n  accumulate_grad_batches: 2\n  callbacks:\n    - class_path: lightning.pytorch.callbacks.ModelCheckpoint\n      init_args:\n        every_n_train_steps: 500\n        dirpath: /tmp/ck\ndata:\n  batch_size: 16\nckpt_path: last\n',
  }
  test('its command line interface reads a file, whose batch is that of a device', () => {
    compare(
      'srun python main.py fit --config fit.yaml --trainer.max_steps 1000',
      {
        framework: 'lightning',
        steps: 1000,
        microBatch: 16,
        gradientAccumulation: 2,
        globalBatch: 128,
        precision: 'bf16',
        processes: 4,
      },
      { gpus: 4, files },
    )
  })

  test('what it keeps', () => {
    expect(checkpointOf('python main.py fit --config fit.yaml', { gpus: 4, files })).toEqual({
      intervalSteps: 500,
      destination: '/tmp/ck',
      resumes: true,
    })
    const alone = 'python main.py trainer.max_epochs=3 trainer.devices=2 data.batch_size=8'
    expect(checkpointOf(alone)).toEqual({ intervalEpochs: 1 })
    expect(checkpointOf(`${alone} trainer.enable_checkpointing=false`)).toEqual({})
  })
})

test('any program whose names are plain says what it keeps; a name that may count steps or epochs says nothing', () => {
  const train = 'python train.py --epochs 3 --batch-size 8'
  expect(checkpointOf(`${train} --save-every-n-steps 100 --checkpoint-dir $WORK/ck --resume none`)).toEqual({
    intervalSteps: 100,
    destination: '$WORK/ck',
    resumes: false,
  })
  expect(checkpointOf(`${train} --save-every 5 --output out`)).toEqual({})
})

test("a script of one's own takes batch, precision and sharding from DeepSpeed's file", () => {
  const script = 'deepspeed --num_gpus 4 train.py --epochs 3 --deepspeed --deepspeed_config ds.json'
  const ds =
    '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}}'
  const values = { epochs: 3, microBatch: 4, globalBatch: 128, precision: 'bf16', sharding: 'weights', processes: 4 }
  compare(script, values, { gpus: 4, files: { 'ds.json': ds } })
  compare(script, { epochs: 3, microBatch: undefined, globalBatch: undefined }, { gpus: 4 })
})
