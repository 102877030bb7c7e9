import { describe, expect, test } from 'vitest'
import { readScript, type Setting, tinyModel, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

/** Rows compare the keys they name; undefined = has to be absent. */
function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
}

const HF = 'run_clm.py --model_name_or_path tiny-1b --per_device_train_batch_size 4 --block_size 1024'

describe('Hugging Face Trainer', () => {
  test.each<Row>([
    [
      'the batch is per process, times processes',
      `torchrun --nproc_per_node 8 ${HF} --gradient_accumulation_steps 2 --max_steps 100 --bf16`,
      {
        framework: 'hf-trainer',
        microBatch: 4,
        gradientAccumulation: 2,
        globalBatch: 64,
        steps: 100,
        tokens: 100 * 64 * 1024,
        precision: 'bf16',
        method: 'full',
        processes: 8,
      },
      { gpus: 8 },
    ],
    [
      'without accumulation it is one',
      `torchrun --nproc_per_node 8 ${HF}`,
      { gradientAccumulation: 1, globalBatch: 32 },
      { gpus: 8 },
    ],
    [
      'an accumulation that is not known is not one',
      `torchrun --nproc_per_node 8 ${HF} --gradient_accumulation_steps $ACC`,
      { gradientAccumulation: undefined, globalBatch: undefined },
      { gpus: 8 },
    ],
    [
      'epochs without the size of the data give no steps',
      `python ${HF} --num_train_epochs 3`,
      { epochs: 3, steps: undefined, tokens: undefined },
    ],
    ['steps win over epochs', `python ${HF} --num_train_epochs 3 --max_steps 10`, { steps: 10, epochs: undefined }],
    ['-1 steps are not set', `python ${HF} --num_train_epochs 3 --max_steps -1`, { steps: undefined, epochs: 3 }],
    [
      'steps that are not known leave no epochs to go by',
      `python ${HF} --num_train_epochs 3 --max_steps $S`,
      { steps: undefined, epochs: undefined },
    ],
    [
      'samples and epochs give steps',
      `python ${HF} --num_train_epochs 2 --max_train_samples 1000`,
      { steps: 500, samples: 1000, globalBatch: 4 },
    ],
    [
      'a plain program on several GPUs: how it uses them is not known',
      `python ${HF}`,
      { globalBatch: undefined, processes: undefined },
      { gpus: 4 },
    ],
    [
      'switches with a value',
      `python ${HF} --bf16 True --fp16 False --gradient_checkpointing true`,
      { precision: 'bf16', activationRecompute: 'full' },
    ],
    ['a switch turned off', `python ${HF} --bf16 False`, { precision: undefined }],
    [
      'an equals sign',
      'python t.py --model_name_or_path=tiny-1b --per_device_train_batch_size=2',
      { modelName: 'tiny-1b', model: tinyModel, microBatch: 2 },
    ],
    [
      'dashes for underscores',
      'python t.py --model-name-or-path tiny-1b --per-device-train-batch-size 2',
      { microBatch: 2 },
    ],
    [
      'precision by accelerate',
      `accelerate launch --mixed_precision fp16 --num_processes 2 ${HF}`,
      { precision: 'fp16', processes: 2 },
      { gpus: 2 },
    ],
    [
      'accelerate takes all GPUs when told nothing',
      `accelerate launch ${HF}`,
      { processes: 4, globalBatch: 16 },
      { gpus: 4 },
    ],
    [
      'deepspeed takes the GPUs that are included',
      `deepspeed --include localhost:0,1,2 ${HF}`,
      { processes: 3 },
      { gpus: 8 },
    ],
    ['deepspeed takes all GPUs of all hosts', `deepspeed --hostfile h ${HF}`, { processes: 8 }, { nodes: 2, gpus: 4 }],
    ['LoRA by its rank', `python ${HF} --lora_r 16`, { method: 'lora', loraRank: 16 }],
    ['LoRA by its switch', `python ${HF} --use_peft`, { method: 'lora' }],
    ['QLoRA', `python ${HF} --use_peft --load_in_4bit`, { method: 'qlora' }],
    ['no LoRA where it is turned off', `python ${HF} --use_peft False`, { method: 'full' }],
    [
      'a recipe may say what the command line does not',
      `python ${HF} --config recipe.yaml`,
      { method: undefined, gradientAccumulation: undefined, globalBatch: undefined },
    ],
    [
      'evaluation only',
      `python ${HF} --do_eval --per_device_eval_batch_size 16`,
      { purpose: 'evaluate', microBatch: 16, globalBatch: 16, method: undefined, steps: undefined },
    ],
    ['a task of GLUE', 'python run_glue.py --model_name_or_path tiny-1b --task_name mnli', { dataset: 'glue/mnli' }],
    [
      'FSDP',
      `torchrun --nproc_per_node 2 ${HF} --fsdp "full_shard auto_wrap"`,
      { parallelism: { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'weights' } },
      { gpus: 2 },
    ],
    ['weights loaded in a format, and nothing mixed', `python ${HF} --torch_dtype bfloat16`, { precision: 'bf16' }],
    ['the name of the model wins over that of its shape', `python ${HF} --config_name other`, { modelName: 'tiny-1b' }],
    [
      'TRL by its command',
      'trl sft --model_name_or_path tiny-1b --num_train_epochs 2 --use_peft',
      { framework: 'trl', method: 'lora', epochs: 2 },
    ],
    ['TRL by how it fills its sequences', `python ${HF} --packing`, { framework: 'trl' }],
    [
      'diffusers',
      'accelerate launch --num_processes 2 train_text_to_image.py --pretrained_model_name_or_path tiny-1b --train_batch_size 8 --max_train_steps 100 --mixed_precision fp16',
      { framework: 'diffusers', modelName: 'tiny-1b', microBatch: 8, globalBatch: 16, steps: 100, precision: 'fp16' },
      { gpus: 2 },
    ],
    ['an eight-bit optimizer', `python ${HF} --optim paged_adamw_8bit`, { optimizer: 'adam-8bit' }],
    ['flash attention', `python ${HF} --attn_implementation flash_attention_2`, { flashAttention: true }],
    [
      'GRPO makes its own text: its length is a limit, its tokens are not known',
      'python grpo.py --model tiny-1b --per_device_train_batch_size 2 --num_generations 8 --max_prompt_length 100 --max_completion_length 156 --max_steps 5',
      { framework: 'trl', sequenceLength: 256, tokens: undefined, steps: 5 },
    ],
    [
      'a path that is only known when it runs names no model',
      'python t.py --model_name_or_path $OUT/checkpoint-1 --tokenizer_name tiny-1b --num_train_epochs 1',
      { modelName: undefined, model: undefined },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('a DeepSpeed file says the stage, and auto says nothing', () => {
    const files = {
      'ds.json':
        '{"zero_optimization":{"stage":3,"offload_optimizer":{"device":"cpu"}},"train_micro_batch_size_per_gpu":"auto","bf16":{"enabled":"auto"}}',
    }
    compare(
      `deepspeed ${HF} --deepspeed ds.json`,
      {
        cpuOffload: true,
        microBatch: 4,
        precision: undefined,
        parallelism: expect.objectContaining({ sharding: 'weights' }),
      },
      { files },
    )
  })

  test('numbers of a DeepSpeed file count where no flag says more', () => {
    const files = {
      'ds.json': '{"train_micro_batch_size_per_gpu":2,"gradient_accumulation_steps":8,"fp16":{"enabled":true}}',
    }
    const script = 'deepspeed t.py --model_name_or_path tiny-1b --num_train_epochs 1 --deepspeed ds.json'
    compare(script, { microBatch: 2, gradientAccumulation: 8, precision: 'fp16', globalBatch: 32 }, { files, gpus: 2 })
  })

  test('a DeepSpeed file that the script writes is read', () => {
    const script = `cat <<E > ds.json\n{"zero_optimization": {"stage": 2}}\nE\ndeepspeed ${HF} --deepspeed ds.json`
    compare(script, { parallelism: expect.objectContaining({ sharding: 'gradients' }) })
  })

  test('an accelerate file says processes, precision and sharding', () => {
    const files = {
      'a.yaml':
        'distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\nmixed_precision: bf16\nnum_processes: 4\n',
    }
    compare(
      `accelerate launch --config_file a.yaml ${HF}`,
      {
        processes: 4,
        globalBatch: 16,
        precision: 'bf16',
        parallelism: expect.objectContaining({ sharding: 'gradients' }),
      },
      { files, gpus: 4 },
    )
  })

  test('a file that is not here is named, and what it would say stays unknown', () => {
    const { workloads, warnings } = readScript(`deepspeed ${HF} --deepspeed conf/z3.json`)
    expect(warnings).toMatchObject([
      { code: 'external-file-missing', text: expect.stringMatching(/conf\/z3\.json.*not found/), place: { line: 1 } },
    ])
    expect(workloads[0]?.parallelism?.value.sharding).toBe('unknown')
  })

  test('a flag given twice is named with both values and places', () => {
    const { workloads, warnings } = readScript(`A="--num_train_epochs 3"\npython ${HF} $A --num_train_epochs 2`)
    expect(workloads[0]?.epochs?.value).toBe(2)
    expect(warnings).toMatchObject([
      { code: 'last-flag-wins', text: expect.stringMatching(/3 \(line 1\), then 2 \(line 2\)/) },
    ])
  })

  test('a flag given twice with one value is not worth a word', () => {
    expect(readScript(`python ${HF} --num_train_epochs 2 --num_train_epochs 2`).warnings).toEqual([])
  })

  test('every value says where it was read', () => {
    const [workload] = readScript(`torchrun --nproc_per_node 2 ${HF} \\\n  --max_steps 10`, { gpus: 2 }).workloads
    expect(workload?.steps?.origin).toMatchObject({ kind: 'manifest', place: { file: 'job.sbatch', line: 2 } })
    expect(workload?.gradientAccumulation?.origin).toMatchObject({ kind: 'assumed' })
    expect(workload?.globalBatch?.origin).toMatchObject({
      kind: 'computed',
      formula: expect.stringMatching(/4 per process x 1 accumulated x 2/),
    })
    expect(workload?.model?.origin).toMatchObject({ kind: 'table', table: 'models.csv' })
  })
})

const SHAPE =
  '--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048'

describe('Megatron-LM', () => {
  test.each<Row>([
    [
      'tensor and pipeline ranks share their data',
      `torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py ${SHAPE} --micro-batch-size 2 --global-batch-size 64 --train-iters 1000 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --bf16`,
      {
        framework: 'megatron-lm',
        globalBatch: 64,
        microBatch: 2,
        gradientAccumulation: 16,
        steps: 1000,
        tokens: 1000 * 64 * 2048,
        precision: 'bf16',
        parallelism: { tensor: 2, pipeline: 4, interleave: 1, context: 1, expert: 1, sharding: 'none' },
      },
      { nodes: 2, gpus: 8 },
    ],
    [
      'without a global batch nothing is accumulated',
      `torchrun --nproc_per_node 4 pretrain_gpt.py ${SHAPE} --micro-batch-size 2 --train-iters 5 --tensor-model-parallel-size 2`,
      { globalBatch: 4, gradientAccumulation: 1 },
      { gpus: 4 },
    ],
    [
      'samples give steps',
      `python pretrain_gpt.py ${SHAPE} --micro-batch-size 2 --global-batch-size 64 --train-samples 6400`,
      { samples: 6400, steps: 100, tokens: 6400 * 2048 },
    ],
    [
      'samples give none where the batch grows',
      `python pretrain_gpt.py ${SHAPE} --micro-batch-size 2 --global-batch-size 64 --train-samples 6400 --rampup-batch-size 16 16 1000`,
      { samples: 6400, steps: undefined, tokens: 6400 * 2048 },
    ],
    [
      'a program that evaluates',
      `deepspeed tasks/eval_harness/evaluate.py ${SHAPE} --micro-batch-size 2 --inference`,
      { purpose: 'evaluate', steps: undefined },
    ],
    [
      'dimensions that stand for those of the checkpoint',
      'deepspeed tasks/main.py --num-layers -1 --hidden-size -1 --num-attention-heads -1 --micro-batch-size 2',
      { model: undefined, modelName: undefined },
    ],
    [
      'a ZeRO stage',
      `deepspeed pretrain_gpt.py ${SHAPE} --micro-batch-size 2 --global-batch-size 64 --train-iters 5 --deepspeed --zero-stage 1`,
      { framework: 'megatron-deepspeed', parallelism: expect.objectContaining({ sharding: 'optimizer' }) },
    ],
    [
      'its distributed optimizer',
      `torchrun pretrain_gpt.py ${SHAPE} --micro-batch-size 2 --train-iters 5 --use-distributed-optimizer`,
      { parallelism: expect.objectContaining({ sharding: 'optimizer' }) },
    ],
    [
      'recompute',
      `torchrun pretrain_gpt.py ${SHAPE} --train-iters 5 --recompute-granularity full --recompute-method uniform`,
      { activationRecompute: 'full' },
    ],
    [
      'selective recompute',
      `torchrun pretrain_gpt.py ${SHAPE} --train-iters 5 --recompute-activations`,
      { activationRecompute: 'selective' },
    ],
    [
      'a degree that is not known leaves the split unknown',
      `torchrun pretrain_gpt.py ${SHAPE} --train-iters 5 --tensor-model-parallel-size $TP`,
      { parallelism: undefined },
    ],
    [
      'a width that is not known leaves the size unknown',
      'torchrun pretrain_gpt.py --num-layers 24 --hidden-size $H --num-attention-heads 16 --seq-length 2048 --train-iters 5',
      { model: undefined, sequenceLength: 2048 },
    ],
    ['FP8', `torchrun pretrain_gpt.py ${SHAPE} --train-iters 5 --bf16 --fp8-format hybrid`, { precision: 'fp8' }],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  /** Parameters as their papers or model cards give them. */
  test.each<[name: string, flags: string, billions: number]>([
    ['GPT-3 1.3B', `${SHAPE} --vocab-file gpt2-vocab.json`, 1.316],
    [
      'GPT-3 175B',
      '--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 51200',
      174.6,
    ],
    [
      'Llama 3 8B',
      '--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8 --swiglu --position-embedding-type rope --untie-embeddings-and-output-weights --vocab-size 128256 --seq-length 8192 --max-position-embeddings 8192',
      8.03,
    ],
    [
      'Mixtral 8x7B',
      '--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8 --swiglu --position-embedding-type rope --untie-embeddings-and-output-weights --vocab-size 32000 --seq-length 4096 --max-position-embeddings 32768 --num-experts 8 --moe-router-topk 2',
      46.7,
    ],
    [
      'BERT large',
      '--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 --vocab-file bert-large-uncased-vocab.txt',
      0.335,
    ],
  ])('the flags of %s give its size', (name, flags, billions) => {
    const program = name.startsWith('BERT') ? 'pretrain_bert.py' : 'pretrain_gpt.py'
    const [workload] = readScript(`torchrun ${program} ${flags} --train-iters 5 --micro-batch-size 1`).workloads
    const read = (workload?.model?.value.parameterCount ?? 0) / 1e9
    expect(Math.abs(read / billions - 1)).toBeLessThan(0.02)
  })
})

describe('nanoGPT', () => {
  const files = {
    'config/train.py':
      "# comment\nbatch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\nmax_iters = 600000\ndataset = 'openwebtext' # text\nn_layer, n_head = 99, 99\nweight_decay = 1e-1\nout_dir = f'out-{x}'\ndtype = 'bfloat16'\nlr_decay_iters = max_iters // 2\n",
  }

  test('the configuration is read and not run, and its arithmetic is done', () => {
    compare(
      'torchrun --standalone --nproc_per_node=8 train.py config/train.py',
      {
        framework: 'nanogpt',
        microBatch: 12,
        gradientAccumulation: 5,
        globalBatch: 480,
        steps: 600_000,
        sequenceLength: 1024,
        tokens: 600_000 * 480 * 1024,
        dataset: 'openwebtext',
        precision: 'bf16',
      },
      { gpus: 8, files },
    )
  })

  test('flags win over the configuration', () => {
    compare(
      'python train.py config/train.py --max_iters=10 --batch_size=2 --compile=False',
      { steps: 10, microBatch: 2, gradientAccumulation: 40, globalBatch: 80, compiled: false },
      { files },
    )
  })

  test('GPT-2 small is what train.py trains when told nothing of the shape', () => {
    const [workload] = readScript('python train.py config/train.py', { files }).workloads
    // 124M parameters (karpathy/nanoGPT, README), of which its vocabulary is padded.
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / 124.4e6 - 1)).toBeLessThan(0.01)
    expect(workload?.model?.origin.kind).toBe('computed')
  })

  test('accumulation that the processes do not divide is not known', () => {
    compare(
      'torchrun --nproc_per_node=7 train.py config/train.py',
      { gradientAccumulation: undefined, globalBatch: undefined },
      { gpus: 7, files },
    )
  })

  test('characters bring a vocabulary of their own, so that the size is not known', () => {
    compare(
      'python train.py --n_layer=6 --n_head=6 --n_embd=384 --block_size=256 --dataset=shakespeare_char --max_iters=5000',
      { model: undefined, steps: 5000, sequenceLength: 256 },
    )
  })

  test('a checkpoint to start from names the model', () => {
    compare('python train.py --init_from=gpt2-xl --max_iters=20', { modelName: 'gpt2-xl', steps: 20 })
  })

  test('a configuration that is not here is named', () => {
    const { warnings } = readScript('python train.py config/other.py --max_iters=20')
    expect(warnings).toMatchObject([
      { code: 'external-file-missing', text: expect.stringMatching(/config\/other\.py/) },
    ])
  })
})

describe('any Python program', () => {
  test.each<Row>([
    [
      'the batch of a single process is the whole batch',
      'python train.py --epochs 10 --batch-size 32 --arch resnet50',
      { epochs: 10, globalBatch: 32, modelName: 'resnet50', framework: 'pytorch', method: 'full' },
    ],
    [
      'a process that starts others does not say whose batch it is',
      'srun python train.py --epochs 10 --batch-size 32 --devices 2',
      { globalBatch: undefined, processes: undefined },
      { gpus: 2, variables: { SLURM_NTASKS: '1', SLURM_NNODES: '1' } },
    ],
    [
      'one visible GPU is one process',
      'CUDA_VISIBLE_DEVICES=1 python train.py --epochs 10 --batch-size 32',
      { globalBatch: 32 },
      { gpus: 2 },
    ],
    [
      'with accumulation it is one part of it',
      'python train.py --epochs 10 --batch-size 32 --accum-iter 4',
      { globalBatch: 128, microBatch: 32, gradientAccumulation: 4 },
    ],
    [
      'under torchrun it is taken as the batch of each process',
      'torchrun --nproc_per_node 8 train.py --epochs 10 --batch-size 32',
      { framework: 'pytorch', globalBatch: 256, microBatch: 32, epochs: 10, method: 'full' },
      { gpus: 8 },
    ],
    [
      'a name that says so is per process',
      'srun python train.py --epochs 10 --batch-size-per-gpu 32',
      { microBatch: 32, globalBatch: 256 },
      { gpus: 8, variables: { SLURM_NTASKS: '8', SLURM_NNODES: '1' } },
    ],
    [
      'a name that says so is the whole',
      'torchrun --nproc_per_node 8 train.py --max-steps 10 --global-batch-size 512',
      { globalBatch: 512, steps: 10 },
      { gpus: 8 },
    ],
    [
      'Lightning counts per device, and devices times nodes',
      'srun python main.py trainer.devices=4 trainer.num_nodes=2 trainer.max_steps=80_000 trainer.precision=bf16-mixed data.batch_size=16',
      { framework: 'lightning', steps: 80_000, microBatch: 16, globalBatch: 128, precision: 'bf16', processes: 8 },
      { nodes: 2, gpus: 4 },
    ],
    [
      'Horovod counts per process',
      'horovodrun -np 4 python train.py --epochs 3 --batch-size 32',
      { framework: 'horovod', microBatch: 32, globalBatch: 128 },
      { gpus: 4 },
    ],
    ['amp with a value', 'torchrun train.py --max_updates=1000 --amp=bf16', { steps: 1000, precision: 'bf16' }],
    ['amp alone may be either', 'torchrun train.py --max_updates=1000 --amp', { precision: undefined }],
    [
      'epochs while the rate decays are epochs too',
      'python train.py --n_epochs 10 --n_epochs_decay 10 --batch_size 1',
      { epochs: 20 },
    ],
    [
      'a recipe may change the method',
      'torchrun train.py --epochs 3 --config conf.yaml',
      { method: undefined, epochs: 3 },
    ],
    [
      'a module is some framework’s own',
      'accelerate launch -m someones.train c.toml --max_steps=900',
      { steps: 900, framework: undefined, method: undefined },
    ],
    [
      'a path is no data set’s name',
      'python train.py --epochs 3 --dataset /data/set --model m',
      { dataset: undefined },
    ],
    ['a test program evaluates', 'python test.py --model m --batch-size 8', { purpose: 'evaluate', epochs: undefined }],
    [
      'a container image with options',
      'registry.example/lab/fit:1.3 --epochs=12',
      { epochs: 12, framework: undefined },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test.each([
    ['nothing known', 'python main.py --config $1 --seed 3'],
    ['a line of Python', 'python -c "print(1)" --epochs 3'],
    ['copies and installations', 'pip install -r r.txt\nnvidia-smi\nmkdir -p out\nmodule load cuda\ncp a b'],
    ['no Python', './simulate --steps 1000'],
    ['a model, and questions', 'python hf_causal.py --model_name_or_path org/net --max_length 768 --num_few_shot 5'],
  ])('%s is no run', (_, script) => {
    const { workloads, warnings } = readScript(script)
    expect(workloads).toEqual([])
    expect(warnings.map(warning => warning.code)).toEqual(['no-training-facts'])
  })

  test('what is called scoring is no training, and alone it says nothing of the cost', () => {
    const { workloads, warnings } = readScript('python score_all.py --epochs 3')
    expect(workloads).toEqual([])
    expect(warnings.map(warning => warning.code)).toEqual(['no-training-facts'])
  })

  test('a step besides training is told', () => {
    const { workloads } = readScript('python train.py --epochs 3\npython merge_results.py --in out')
    expect(workloads.map(({ purpose }) => purpose)).toEqual(['train', 'other'])
  })

  test('nodes that the program is told and nodes that are requested are both named', () => {
    const { warnings } = readScript(
      'srun python train.py --gpus=4 --num_nodes=16 --max_epochs=7 --replace_sampler_ddp=True',
      { nodes: 8, gpus: 4 },
    )
    expect(warnings).toMatchObject([{ code: 'conflict', text: expect.stringMatching(/16.*8/), place: { line: 1 } }])
  })
})
