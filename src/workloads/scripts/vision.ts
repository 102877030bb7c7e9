import { words } from '../../word-list.ts'
import type { KnownScript } from './known-script.ts'

const IMAGES = ['data-path', 'data-dir', 'data', 'root', 'train-dir']

/** Training programs for images that are copied and started as they are. */
export const visionScripts: readonly KnownScript[] = [
  {
    framework: 'timm',
    program: /(^|\/)(train\.py|distributed_train\.sh)$/,
    own: {
      flags: words(`
        model-ema drop-path aa reprob remode sched warmup-lr cooldown-epochs amp-dtype smoothing mixup cutmix bce-loss
        opt-eps clip-grad layer-decay train-interpolation decay-epochs jsd-loss img-size channels-last
        grad-accum-steps torchcompile grad-checkpointing data-dir
      `),
      least: 2,
    },
    table: {
      epochs: ['epochs'],
      samples: ['train-num-samples'],
      microBatch: ['batch-size', 'b'],
      gradientAccumulation: ['grad-accum-steps'],
      modelName: ['model'],
      dataset: ['dataset'],
      optimizer: ['opt'],
    },
    defaults: {
      source: 'train.py of timm 1.0',
      epochs: 300,
      microBatch: 128,
      gradientAccumulation: 1,
      modelName: 'resnet50',
      optimizer: 'sgd',
    },
    configFlags: ['config', 'c'],
    dataFolder: ['data-dir', 0],
    checkpoint: { folder: ['output'], resume: ['resume'] },
    mixed: { flags: ['amp'], precision: 'fp16' },
    epochOf: 'samples',
  },
  {
    framework: 'torchvision',
    program: /(^|\/)train(_quantization)?\.py$/,
    own: {
      flags: words(`
        lr-scheduler lr-step-size lr-warmup-epochs lr-warmup-method auto-augment random-erase norm-weight-decay
        mixup-alpha cutmix-alpha val-resize-size val-crop-size train-crop-size ra-sampler ra-reps aspect-ratio-group-factor
        lr-steps trainable-backbone-layers aux-loss weights-backbone data-augmentation
      `),
      least: 2,
    },
    table: {
      epochs: ['epochs'],
      microBatch: ['batch-size', 'b'],
      modelName: ['model'],
      dataset: ['dataset'],
      optimizer: ['opt'],
    },
    defaults: { source: "torchvision's reference scripts", gradientAccumulation: 1, optimizer: 'sgd' },
    dataFolder: ['data-path'],
    checkpoint: { folder: ['output-dir'], resume: ['resume'] },
    mixed: { flags: ['amp'], precision: 'fp16' },
    evaluation: ['test-only'],
    epochOf: 'samples',
  },
  {
    framework: 'pytorch',
    program: /(^|\/)main\.py$/,
    own: { flags: ['multiprocessing-distributed', 'dist-url'], least: 1 },
    table: { epochs: ['epochs'], modelName: ['arch', 'a'] },
    machineBatch: { batch: ['batch-size', 'b'], machines: ['world-size'] },
    defaults: {
      source: "PyTorch's ImageNet example",
      epochs: 90,
      globalBatch: 256,
      gradientAccumulation: 1,
      modelName: 'resnet18',
      optimizer: 'sgd',
    },
    dataFolder: [0],
    evaluation: ['evaluate', 'e'],
    spawns: { perMachine: [], machines: ['world-size'], otherwise: 'each-gpu' },
    checkpoint: { resume: ['resume'] },
    epochOf: 'samples',
  },
  {
    // MAE, BEiT, VideoMAE and what was made of them
    framework: 'pytorch',
    program:
      /(^|\/)(main_pretrain|main_finetune|main_linprobe|run_mae_pretraining|run_class_finetuning|run_beit\w*)\.py$/,
    table: {
      epochs: ['epochs'],
      microBatch: ['batch-size'],
      gradientAccumulation: ['accum-iter', 'update-freq'],
      modelName: ['model'],
      dataset: ['data-set'],
      optimizer: ['opt'],
    },
    defaults: { source: 'the scripts of MAE and BEiT', gradientAccumulation: 1, precision: 'fp16', optimizer: 'adam' },
    dataFolder: IMAGES,
    checkpoint: {
      epochs: ['saveckp-freq', 'save-ckpt-freq'],
      folder: ['output-dir'],
      resume: ['resume', 'auto-resume'],
    },
    evaluation: ['eval'],
    epochOf: 'samples',
  },
  {
    // Swin and what was made of it
    framework: 'pytorch',
    program: /(^|\/)main(_simmim_(pt|ft))?\.py$/,
    own: { flags: ['cfg'], least: 1 },
    table: {
      epochs: ['train.epochs'],
      microBatch: ['batch-size', 'data.batch-size'],
      gradientAccumulation: ['accumulation-steps', 'train.accumulation-steps'],
      modelName: ['model.name'],
      optimizer: ['train.optimizer.name'],
    },
    defaults: {
      source: 'config.py of Swin',
      epochs: 300,
      microBatch: 128,
      gradientAccumulation: 1,
      precision: 'fp16',
      optimizer: 'adam',
    },
    configFlags: ['cfg'],
    takesPairs: true,
    namesModelByConfig: true,
    dataFolder: ['data-path'],
    evaluation: ['eval'],
    checkpoint: { epochs: ['save-freq'], folder: ['output'], resume: ['resume', 'train.auto-resume'] },
    epochOf: 'samples',
  },
  {
    // DeiT and ConvNeXt
    framework: 'pytorch',
    program: /(^|\/)(main|run_with_submitit)\.py$/,
    own: {
      flags: words(`
        data-set repeated-aug distillation-type teacher-model model-key layer-scale-init-value head-init-scale update-freq
        unscale-lr threeaugment
      `),
      least: 1,
    },
    table: {
      epochs: ['epochs'],
      microBatch: ['batch-size'],
      gradientAccumulation: ['update-freq'],
      modelName: ['model'],
      dataset: ['data-set'],
      optimizer: ['opt'],
    },
    defaults: {
      source: 'main.py of DeiT and ConvNeXt',
      epochs: 300,
      microBatch: 64,
      gradientAccumulation: 1,
      optimizer: 'adam',
    },
    dataFolder: IMAGES,
    checkpoint: {
      epochs: ['saveckp-freq', 'save-ckpt-freq'],
      folder: ['output-dir'],
      resume: ['resume', 'auto-resume'],
    },
    evaluation: ['eval'],
    epochOf: 'samples',
  },
  {
    framework: 'pytorch',
    program: /(^|\/)main_dino\.py$/,
    table: { epochs: ['epochs'], microBatch: ['batch-size-per-gpu'], modelName: ['arch'], optimizer: ['optimizer'] },
    defaults: {
      source: 'main_dino.py',
      epochs: 100,
      microBatch: 64,
      gradientAccumulation: 1,
      precision: 'fp16',
      optimizer: 'adam',
    },
    dataFolder: IMAGES,
    checkpoint: {
      epochs: ['saveckp-freq', 'save-ckpt-freq'],
      folder: ['output-dir'],
      resume: ['resume', 'auto-resume'],
    },
    epochOf: 'samples',
  },
  {
    // DETR and its descendants
    framework: 'pytorch',
    program: /(^|\/)main\.py$/,
    own: { flags: ['coco-path', 'dataset-file', 'coco-panoptic-path'], least: 1 },
    table: { epochs: ['epochs'], microBatch: ['batch-size'], dataset: ['dataset-file'] },
    defaults: { source: 'main.py of DETR', gradientAccumulation: 1, optimizer: 'adam' },
    dataFolder: ['coco-path'],
    checkpoint: { folder: ['output-dir'], resume: ['resume'] },
    evaluation: ['eval'],
    epochOf: 'samples',
  },
  {
    framework: 'yolo',
    program: /(^|\/)train(_aux)?\.py$/,
    own: { flags: ['weights', 'cfg', 'hyp', 'img', 'imgsz', 'img-size'], least: 2 },
    table: {
      epochs: ['epochs'],
      globalBatch: ['batch', 'batch-size'],
      modelName: ['weights', 'cfg'],
      dataset: ['data'],
      optimizer: ['optimizer'],
    },
    defaults: {
      source: 'train.py of YOLOv5 and YOLOv7',
      globalBatch: 16,
      gradientAccumulation: 1,
      precision: 'fp16',
      optimizer: 'sgd',
    },
    epochOf: 'samples',
  },
  {
    framework: 'ultralytics',
    program: /^(yolo|ultralytics)$/,
    table: {
      epochs: ['epochs'],
      globalBatch: ['batch'],
      modelName: ['model'],
      dataset: ['data'],
      optimizer: ['optimizer'],
    },
    defaults: { source: 'Ultralytics 8', epochs: 100, globalBatch: 16, gradientAccumulation: 1, precision: 'fp16' },
    configFlags: ['cfg'],
    purposes: [
      [/^(mode=)?val$/, 'evaluate'],
      [/^(mode=)?(predict|track)$/, 'infer'],
      [/^(mode=)?(export|benchmark)$|^(help|checks|version|settings|copy-cfg|solutions)$/, 'other'],
    ],
    spawns: { perMachine: [], devices: ['device'], machines: [], otherwise: 'one' },
    checkpoint: { epochs: ['save-period'], folder: ['project'], resume: ['resume'] },
    epochOf: 'samples',
  },
  {
    framework: 'open-clip',
    program: /^(open_clip_train|training)\.main$|(^|\/)(open_clip_train|training)\/main\.py$/,
    table: {
      epochs: ['epochs'],
      samples: ['train-num-samples'],
      microBatch: ['batch-size'],
      gradientAccumulation: ['accum-freq'],
      modelName: ['model'],
      optimizer: ['opt'],
    },
    defaults: {
      source: 'params.py of OpenCLIP',
      epochs: 32,
      microBatch: 64,
      gradientAccumulation: 1,
      modelName: 'RN50',
      optimizer: 'adam',
    },
    dataFolder: ['train-data'],
    checkpoint: { epochs: ['save-frequency'], folder: ['logs'], resume: ['resume'] },
    mixed: { flags: ['precision'], word: 'amp', precision: 'fp16' },
    epochOf: 'samples',
  },
  {
    framework: 'detectron2',
    program: /(^|\/)(plain_|lazyconfig_)?train_net\.py$/,
    table: {
      steps: ['solver.max-iter', 'train.max-iter'],
      globalBatch: ['solver.ims-per-batch', 'dataloader.train.total-batch-size'],
      dataset: ['datasets.train', 'dataloader.train.dataset.names'],
      optimizer: ['solver.optimizer'],
    },
    defaults: { source: 'detectron2 0.6', steps: 40_000, globalBatch: 16, gradientAccumulation: 1, optimizer: 'sgd' },
    configFlags: ['config-file'],
    takesPairs: true,
    namesModelByConfig: true,
    mixed: { flags: ['solver.amp.enabled', 'train.amp.enabled'], precision: 'fp16' },
    evaluation: ['eval-only'],
    spawns: { perMachine: ['num-gpus'], machines: ['num-machines'], otherwise: 'one' },
    checkpoint: {
      steps: ['solver.checkpoint-period', 'train.checkpointer.period'],
      folder: ['output-dir', 'train.output-dir'],
      resume: ['resume'],
    },
  },
  {
    framework: 'slowfast',
    program: /(^|\/)run_net\.py$/,
    own: { flags: ['cfg'], least: 1 },
    table: { epochs: ['solver.max-epoch'], dataset: ['train.dataset'], optimizer: ['solver.optimizing-method'] },
    machineBatch: { batch: ['train.batch-size'], machines: ['num-shards'] },
    configFlags: ['cfg'],
    takesPairs: true,
    namesModelByConfig: true,
    mixed: { flags: ['train.mixed-precision'], precision: 'fp16' },
    dataFolder: ['data.path-to-data-dir'],
    spawns: { perMachine: ['num-gpus'], machines: ['num-shards'], otherwise: 'one' },
    checkpoint: { epochs: ['train.checkpoint-period'], folder: ['output-dir'], resume: ['train.auto-resume'] },
    epochOf: 'samples',
  },
  {
    framework: 'monai',
    program: /^monai\.bundle(\.\w+)?$/,
    table: {
      epochs: ['epochs', 'max-epochs', 'trainer#max-epochs', 'train#trainer#max-epochs'],
      microBatch: ['batch-size', 'train.dataloader.batch-size', 'train#dataloader#batch-size'],
    },
    configFlags: ['config-file'],
    mixed: { flags: ['amp', 'train.trainer.amp', 'train#trainer#amp'], precision: 'fp16' },
    purposes: [
      [/evaluat/, 'evaluate'],
      [/inference/, 'infer'],
    ],
    dataFolder: ['dataset-dir'],
  },
]
