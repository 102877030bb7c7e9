import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

/** Rows compare the keys they name; undefined = has to be absent. */
function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
}

const TIMM = 'train.py /data/tiny-images --model vit_base_patch16_224 --sched cosine --drop-path 0.1 --opt adamw'

describe('timm', () => {
  test.each<Row>([
    [
      'the batch is per process',
      `torchrun --nproc_per_node=4 ${TIMM} -b 50 --grad-accum-steps 2 --epochs 3 --amp`,
      {
        framework: 'timm',
        modelName: 'vit_base_patch16_224',
        microBatch: 50,
        gradientAccumulation: 2,
        globalBatch: 400,
        epochs: 3,
        precision: 'fp16',
        optimizer: 'adam',
        method: 'full',
        dataset: 'tiny-images',
        samples: 1000,
        steps: 7,
      },
      { gpus: 4 },
    ],
    ['its own defaults', `python ${TIMM}`, { epochs: 300, microBatch: 128, globalBatch: 128, gradientAccumulation: 1 }],
    [
      'distributed_train.sh is told its processes first',
      `./distributed_train.sh 8 /data/x --model resnet50 --sched step --warmup-lr 1e-6 -b 256`,
      { framework: 'timm', processes: 8, globalBatch: 2048 },
      { gpus: 8 },
    ],
    ['bfloat16', `python ${TIMM} --amp --amp-dtype bfloat16`, { precision: 'bf16' }],
    [
      'a file of arguments, and options over it',
      `python train.py /data/x -c args.yaml --sched cosine --drop-path 0.2 --epochs 10`,
      { modelName: 'resnet18', epochs: 10, microBatch: 32 },
      { files: { 'args.yaml': 'model: resnet18\nepochs: 90\nbatch_size: 32\n' } },
    ],
    [
      'nothing is filled in for a file that was not read',
      `python train.py /data/x -c args.yaml --sched cosine --drop-path 0.2`,
      { modelName: undefined, epochs: undefined, microBatch: undefined },
    ],
    [
      'a folder of which only the place is not known',
      'python train.py --data-dir $SCRATCH/tiny-images --sched cosine --drop-path 0.2',
      { dataset: 'tiny-images' },
    ],
    [
      'what is only known when it runs',
      `torchrun --nproc_per_node=4 ${TIMM} -b $BATCH --epochs $EPOCHS`,
      { microBatch: undefined, globalBatch: undefined, epochs: undefined, steps: undefined },
      { gpus: 4 },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('defaults are told', () => {
    const told = (script: string) => readScript(script).warnings.filter(({ text }) => text.includes('the default of'))
    expect(told(`python ${TIMM}`)).toEqual([
      expect.objectContaining({ code: 'default-filled', text: expect.stringContaining('epochs 300, batch 128') }),
    ])
    expect(told(`python ${TIMM} -b 8 --epochs 2`)).toEqual([])
  })
})

describe('vision', () => {
  test.each<Row>([
    [
      'torchvision: the batch is per process',
      'torchrun --nproc_per_node=8 train.py --model regnet_y_16gf --batch-size 128 --epochs 100 --lr-scheduler cosineannealinglr --auto-augment imagenet --amp',
      { framework: 'torchvision', globalBatch: 1024, epochs: 100, precision: 'fp16', modelName: 'regnet_y_16gf' },
      { gpus: 8 },
    ],
    [
      'torchvision: epochs are not the same for all of its tasks',
      'torchrun --nproc_per_node=8 train.py --dataset coco --model retinanet_resnet50_fpn --aspect-ratio-group-factor 3 --lr-steps 16 22',
      { epochs: undefined, globalBatch: undefined, dataset: 'coco' },
      { gpus: 8 },
    ],
    [
      'torchvision: evaluation',
      'python train.py --model resnet50 --lr-scheduler steplr --auto-augment ra --test-only',
      { purpose: 'evaluate', epochs: undefined, method: undefined },
    ],
    [
      'the ImageNet example: a batch for each machine',
      'python main.py -a resnet50 --dist-url tcp://node0:23456 --multiprocessing-distributed --world-size 2 --rank 0 -b 512 /data/tiny-images',
      { framework: 'pytorch', globalBatch: 1024, epochs: 90, modelName: 'resnet50', steps: 87 },
      { nodes: 2, gpus: 8 },
    ],
    [
      'the ImageNet example: machines that are not told of each other',
      'python main.py -a resnet50 --dist-url env:// --multiprocessing-distributed -b 512 /data/x',
      { globalBatch: undefined, steps: undefined },
      { nodes: 2, gpus: 8 },
    ],
    [
      'MAE: accumulated batches of each process',
      'torchrun --nproc_per_node=8 main_pretrain.py --batch_size 64 --accum_iter 4 --model mae_vit_large_patch16 --epochs 800 --data_path /data/tiny-images',
      {
        globalBatch: 2048,
        gradientAccumulation: 4,
        epochs: 800,
        precision: 'fp16',
        modelName: 'mae_vit_large_patch16',
      },
      { gpus: 8 },
    ],
    [
      'ConvNeXt: update_freq',
      'python -m torch.distributed.launch --nproc_per_node=8 main.py --model convnext_tiny --batch_size 128 --update_freq 4 --data_set IMNET --data_path /data/x',
      { globalBatch: 4096, epochs: 300, dataset: 'IMNET' },
      { gpus: 8 },
    ],
    [
      'DINO',
      'torchrun --nproc_per_node=8 main_dino.py --arch vit_small --batch_size_per_gpu 32 --data_path /data/x',
      { globalBatch: 256, epochs: 100, modelName: 'vit_small' },
      { gpus: 8 },
    ],
    [
      'YOLOv5: the batch is for all GPUs',
      'torchrun --nproc_per_node 4 train.py --img 640 --batch 64 --epochs 50 --data tiny-images.yaml --weights yolov5s.pt --device 0,1,2,3',
      { framework: 'yolo', globalBatch: 64, epochs: 50, modelName: 'yolov5s', dataset: 'tiny-images', steps: 781 },
      { gpus: 4 },
    ],
    [
      'YOLOv5: a batch that it looks for itself',
      'python train.py --img 640 --batch -1 --epochs 50 --data own.yaml --weights runs/exp/last.pt',
      { globalBatch: undefined, modelName: undefined, steps: undefined },
    ],
    [
      'OpenCLIP: samples of an epoch as told',
      'torchrun --nproc_per_node 4 -m open_clip_train.main --train-data x.tar --train-num-samples 12000 --batch-size 100 --epochs 2 --model ViT-B-32 --precision amp',
      { framework: 'open-clip', samples: 12000, globalBatch: 400, steps: 60, precision: 'fp16', modelName: 'ViT-B-32' },
      { gpus: 4 },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('images, text and agents', () => {
  test.each<Row>([
    [
      'StyleGAN counts thousands of images',
      'python train.py --outdir=out --cfg=stylegan3-t --data=ffhq.zip --gpus=8 --batch=32 --gamma=8.2 --mirror=1 --kimg=5000',
      { framework: 'stylegan', samples: 5_000_000, globalBatch: 32, steps: 156_250, processes: 8, epochs: undefined },
      { gpus: 8 },
    ],
    [
      'EDM counts millions of images',
      'torchrun --nproc_per_node=8 train.py --outdir=out --data=x.zip --cond=1 --arch=ddpmpp --duration=10 --batch=512',
      { framework: 'edm', samples: 10_000_000, globalBatch: 512, steps: 19_531 },
      { gpus: 8 },
    ],
    [
      'fairseq: tokens in a batch are no sequences',
      'fairseq-train data-bin/wmt --arch transformer_vaswani_wmt_en_de_big --max-tokens 3584 --update-freq 16 --max-update 300000 --fp16',
      { framework: 'fairseq', steps: 300_000, gradientAccumulation: 16, globalBatch: undefined, precision: 'fp16' },
      { gpus: 8 },
    ],
    [
      'fairseq with Hydra, told only how long',
      'fairseq-hydra-train task.data=/d optimization.max_update=400000 distributed_training.distributed_world_size=8 --config-dir c --config-name w',
      { framework: 'fairseq', steps: 400_000, processes: 8 },
      { gpus: 8 },
    ],
    [
      'Marian: sentences fill a batch as memory allows',
      'build/marian --devices 0 1 2 3 -m m.npz --train-sets a b --mini-batch-fit --after-epochs 20 --optimizer-delay 2 --fp16',
      {
        framework: 'marian',
        epochs: 20,
        gradientAccumulation: 2,
        globalBatch: undefined,
        processes: 4,
        precision: 'fp16',
      },
      { gpus: 4 },
    ],
    [
      'OpenNMT: its batch counts words',
      'onmt_train -config c.yaml -world_size 2 -gpu_ranks 0 1',
      { framework: 'opennmt-py', steps: 50_000, gradientAccumulation: 4, globalBatch: undefined, processes: 2 },
      { gpus: 2, files: { 'c.yaml': 'train_steps: 50000\nbatch_type: tokens\nbatch_size: 4096\naccum_count: 4\n' } },
    ],
    [
      'Sockeye',
      'torchrun --no_python --nproc_per_node 4 sockeye-train --prepared-data p --batch-size 5000 --max-updates 90000 --amp -o out',
      { framework: 'sockeye', steps: 90_000, globalBatch: undefined, precision: 'fp16', processes: 4 },
      { gpus: 4 },
    ],
    [
      'MACE',
      'mace_run_train --name m --train_file t.xyz --max_num_epochs 200 --batch_size 10 --device cuda',
      { framework: 'mace', epochs: 200, microBatch: 10, globalBatch: 10 },
    ],
    [
      'DeePMD-kit: its length stands in its file',
      'dp --pt train input.json',
      { framework: 'deepmd-kit', steps: 1_000_000, purpose: 'train' },
      { files: { 'input.json': '{"model": {"type_map": ["O", "H"]}, "training": {"numb_steps": 1000000}}' } },
    ],
    ['DeePMD-kit tests', 'dp test -m graph.pb -s data', { framework: 'deepmd-kit', purpose: 'evaluate' }],
    ['nerfstudio', 'ns-train nerfacto --data d --max-num-iterations 30000', { framework: 'nerfstudio', steps: 30_000 }],
    [
      'CleanRL: steps of the environment are samples',
      'python cleanrl/ppo_atari.py --env-id BreakoutNoFrameskip-v4 --total-timesteps 10000000 --num-envs 8',
      { framework: 'cleanrl', samples: 10_000_000, steps: undefined, purpose: 'train' },
    ],
    [
      'the RL zoo',
      'python -m rl_zoo3.train --algo ppo --env PongNoFrameskip-v4 -n 500000',
      { framework: 'stable-baselines3', samples: 500_000, steps: undefined, modelName: undefined },
    ],
    [
      'Isaac Lab behind its shell script',
      './isaaclab.sh -p scripts/reinforcement_learning/rsl_rl/train.py --task Isaac-Ant-v0 --num_envs 4096 --max_iterations 1500 --headless',
      { framework: 'isaac-lab', steps: 1500, globalBatch: undefined },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('DINOv2', () => {
  const files = {
    'configs/train/cells.yaml':
      'train: {batch_size_per_gpu: 16, OFFICIAL_EPOCH_LENGTH: 500}\nstudent: {arch: vit_base}\noptim: {epochs: 20}\n',
  }
  const train = 'torchrun --nproc_per_node=4 dinov2/train/train.py --config-file configs/train/cells.yaml'

  test('an epoch is so many steps', () => {
    compare(train, { epochs: 20, steps: 10_000, globalBatch: 64, modelName: 'vit_base' }, { gpus: 4, files })
  })

  test('options count over the file, and 1250 steps where nothing is said', () => {
    const short = { 'configs/train/cells.yaml': 'train: {batch_size_per_gpu: 16}\n' }
    compare(`${train} optim.epochs=2`, { epochs: 2, steps: 2_500 }, { gpus: 4, files: short })
  })
})

test('half precision that is turned off is not the default', () => {
  const dino = 'python main_dino.py --arch resnet50 --epochs 8 --batch_size_per_gpu 4'
  expect(readScript(dino).workloads[0]?.precision?.value).toBe('fp16')
  expect(readScript(`${dino} --use_fp16 false`).workloads[0]).not.toHaveProperty('precision')
})

test('older programs called train_net.py and main.py have no defaults of others', () => {
  const old = readScript('python tools/train_net.py --iters 70 --cfg experiments/cfgs/rcnn.yml').workloads[0]
  expect(old?.framework?.value).not.toBe('detectron2')
  expect(old).not.toHaveProperty('steps')
  const own = readScript('python net/main.py --dist-url file:///x --backend nccl --batch-size 12 --epochs 15')
    .workloads[0]
  expect(own).not.toHaveProperty('modelName')
})

test('single letters in another case are other options', () => {
  expect(readScript('python main.py -B 4 -T --epochs 3').workloads[0]?.framework?.value).toBe('pytorch')
  expect(readScript('python main.py -b c.yaml -t --max_epochs 3').workloads[0]?.framework?.value).toBe(
    'latent-diffusion',
  )
})

test('other programs of the same name are not taken for these', () => {
  const [workload] = readScript('python train.py --model resnet50 --epochs 3 --batch-size 8').workloads
  expect(workload?.framework?.value).not.toBe('timm')
})
