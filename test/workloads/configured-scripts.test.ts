import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
}

const detectron = {
  'configs/mask_rcnn_R_50_FPN_3x.yaml': `
_BASE_: "Base-RCNN-FPN.yaml"
SOLVER:
  STEPS: (210000, 250000)
  MAX_ITER: 270000
`,
  'configs/Base-RCNN-FPN.yaml': `
MODEL:
  META_ARCHITECTURE: "GeneralizedRCNN"
DATASETS:
  TRAIN: ("tiny-images",)
SOLVER:
  IMS_PER_BATCH: 16
  MAX_ITER: 90000
  CHECKPOINT_PERIOD: 5000
`,
}
const DETECTRON = 'python tools/train_net.py --num-gpus 8 --config-file configs/mask_rcnn_R_50_FPN_3x.yaml'

describe('keys and values behind a configuration', () => {
  test.each<Row>([
    [
      'detectron2: the batch is for all GPUs',
      DETECTRON,
      {
        framework: 'detectron2',
        modelName: 'mask_rcnn_R_50_FPN_3x',
        steps: 270_000,
        globalBatch: 16,
        dataset: 'tiny-images',
        processes: 8,
        optimizer: 'sgd',
      },
      { gpus: 8, files: detectron },
    ],
    [
      'detectron2: pairs win',
      `${DETECTRON} SOLVER.IMS_PER_BATCH 32 SOLVER.MAX_ITER 45000 SOLVER.AMP.ENABLED True`,
      { steps: 45_000, globalBatch: 32, precision: 'fp16' },
      { gpus: 8, files: detectron },
    ],
    [
      'detectron2: no default where a base was not read',
      'python train_net.py --config-file my.yaml',
      { steps: undefined, globalBatch: undefined, modelName: 'my' },
      { files: { 'my.yaml': '_BASE_: base.yaml\nOUTPUT_DIR: out\n' } },
    ],
    [
      'detectron2: evaluation',
      `${DETECTRON} --eval-only`,
      { purpose: 'evaluate', steps: undefined },
      { files: detectron },
    ],
    [
      'Swin: --opts, and batches of each process',
      'torchrun --nproc_per_node 8 main.py --cfg swin_tiny.yaml --data-path /data/tiny-images --batch-size 64 --opts TRAIN.EPOCHS 30 TRAIN.WARMUP_EPOCHS 2',
      {
        modelName: 'swin_tiny_patch4_window7_224',
        epochs: 30,
        globalBatch: 1024,
        gradientAccumulation: 2,
        precision: 'fp16',
      },
      {
        gpus: 8,
        files: {
          'swin_tiny.yaml':
            'MODEL:\n  NAME: swin_tiny_patch4_window7_224\nTRAIN:\n  ACCUMULATION_STEPS: 2\n  EPOCHS: 300\n',
        },
      },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('images', () => {
  test.each<Row>([
    [
      'Ultralytics',
      'yolo detect train data=tiny-images.yaml model=yolov8n.pt epochs=50 imgsz=640 batch=64 device=0,1,2,3',
      {
        framework: 'ultralytics',
        purpose: 'train',
        modelName: 'yolov8n',
        epochs: 50,
        globalBatch: 64,
        processes: 4,
        precision: 'fp16',
        steps: 781,
      },
      { gpus: 4 },
    ],
    [
      'Ultralytics: its own defaults',
      'yolo task=segment mode=train data=own.yaml model=yolo11m-seg.yaml',
      { epochs: 100, globalBatch: 16, processes: 1, modelName: 'yolo11m-seg' },
    ],
    [
      'Ultralytics: a share of the memory is no batch',
      'yolo train data=own.yaml batch=0.7',
      { globalBatch: undefined },
    ],
    ['Ultralytics: prediction', 'yolo predict model=best.pt source=x.mp4', { purpose: 'infer', epochs: undefined }],
    [
      'sd-scripts: a LoRA, its batch in the file of the data',
      'accelerate launch --num_processes 2 sdxl_train_network.py --pretrained_model_name_or_path stabilityai/stable-diffusion-xl-base-1.0 --dataset_config data.toml --network_module networks.lora --network_dim 32 --max_train_epochs 10 --max_train_steps 3000 --mixed_precision bf16 --save_every_n_epochs 2 --output_dir out',
      {
        framework: 'kohya-sd-scripts',
        method: 'lora',
        loraRank: 32,
        microBatch: 4,
        globalBatch: 8,
        epochs: 10,
        steps: undefined,
        precision: 'bf16',
        modelName: 'stabilityai/stable-diffusion-xl-base-1.0',
      },
      { gpus: 2, files: { 'data.toml': '[general]\nresolution = 1024\n[[datasets]]\nbatch_size = 4\n' } },
    ],
    [
      'sd-scripts: everything in a file',
      'accelerate launch --num_processes 1 train_network.py --config_file run.toml',
      { steps: 2000, microBatch: 2, globalBatch: 4, method: 'lora' },
      {
        files: {
          'run.toml':
            'network_module = "networks.lora"\nmax_train_steps = 2000\ntrain_batch_size = 2\ngradient_accumulation_steps = 2\n',
        },
      },
    ],
    [
      'latent-diffusion',
      'python main.py --base configs/autoencoder.yaml -t --gpus 0,1,2,3,',
      {
        framework: 'latent-diffusion',
        microBatch: 12,
        globalBatch: 96,
        gradientAccumulation: 2,
        steps: 5000,
        processes: 4,
      },
      {
        gpus: 4,
        files: {
          'configs/autoencoder.yaml':
            'data:\n  params:\n    batch_size: 12\nlightning:\n  trainer:\n    max_steps: 5000\n    accumulate_grad_batches: 2\n',
        },
      },
    ],
    [
      'MONAI bundle',
      'python -m monai.bundle run --config_file configs/train.json --epochs 400',
      { framework: 'monai', epochs: 400, microBatch: 2, purpose: 'train' },
      { files: { 'configs/train.json': '{"epochs": 1260, "train": {"dataloader": {"batch_size": 2}}}' } },
    ],
    [
      'MONAI bundle: inference',
      'python -m monai.bundle run --config_file configs/inference.json',
      { purpose: 'infer', epochs: undefined },
      { files: { 'configs/inference.json': '{"amp": true}' } },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('nnU-Net', () => {
  test.each<Row>([
    [
      'a plan of its own',
      'nnUNetv2_train 27 3d_fullres 0 --c',
      {
        framework: 'nnunet',
        dataset: '27',
        modelName: 'nnU-Net 3d_fullres',
        epochs: 1000,
        steps: 250_000,
        globalBatch: undefined,
        precision: 'fp16',
        optimizer: 'sgd',
        processes: 1,
      },
    ],
    [
      'a trainer that says its epochs',
      'nnUNetv2_train Dataset027_ACDC 2d 3 -tr nnUNetTrainer_250epochs -num_gpus 2',
      { epochs: 250, steps: 62_500, processes: 2, dataset: 'Dataset027_ACDC' },
      { gpus: 2 },
    ],
    [
      'any other trainer',
      'nnUNetv2_train 27 3d_lowres all -tr nnUNetTrainerOwn',
      { epochs: undefined, steps: undefined },
    ],
    [
      'version 1',
      'nnUNet_train 3d_fullres nnUNetTrainerV2 Task500_Lung 4',
      { dataset: 'Task500_Lung', modelName: 'nnU-Net 3d_fullres', epochs: 1000 },
    ],
    ['validation', 'nnUNetv2_train 27 3d_fullres 0 --val', { purpose: 'evaluate', steps: undefined }],
    ['prediction', 'nnUNetv2_predict -i in -o out -d 27 -c 3d_fullres', { purpose: 'infer' }],
    ['planning', 'nnUNetv2_plan_and_preprocess -d 27', { purpose: 'other' }],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('what a run keeps', () => {
  const kept = (script: string, setting: Setting = {}) => readScript(script, setting).workloads[0]?.checkpoint

  test('by default', () => {
    expect(kept('yolo train data=own.yaml')?.intervalEpochs).toMatchObject({ value: 1, origin: { kind: 'assumed' } })
    expect(kept(DETECTRON, { files: detectron })).toEqual({
      intervalSteps: { value: 5000, origin: { kind: 'file', place: expect.objectContaining({ line: 9 }) } },
    })
  })

  test('as said', () => {
    expect(
      kept(
        'accelerate launch train_network.py --network_module networks.lora --save_every_n_epochs 2 --output_dir out',
      ),
    ).toMatchObject({
      intervalEpochs: { value: 2, origin: { kind: 'manifest' } },
      destination: { value: 'out' },
    })
  })
})
