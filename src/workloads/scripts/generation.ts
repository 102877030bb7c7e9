import type { KnownScript } from './known-script.ts'

/** Training programs that make images or text. */
export const generationScripts: readonly KnownScript[] = [
  {
    // kohya-ss/sd-scripts, which takes names of diffusers for what it calls otherwise
    framework: 'kohya-sd-scripts',
    program:
      /(^|\/)(\w+_)?train_(network|db|textual_inversion|controlnet|control_net\w*)\.py$|(^|\/)(sdxl|flux|sd3|lumina)_train\.py$/,
    own: {
      flags: [
        'network-module',
        'network-dim',
        'dataset-config',
        'config-file',
        'max-train-epochs',
        'save-model-as',
        'output-name',
      ],
      least: 1,
    },
    table: {
      steps: ['max-train-steps'],
      epochs: ['max-train-epochs'],
      microBatch: ['general.batch-size', 'datasets.0.batch-size', 'train-batch-size'],
      gradientAccumulation: ['gradient-accumulation-steps'],
      loraRank: ['network-dim'],
      modelName: ['pretrained-model-name-or-path'],
      optimizer: ['optimizer-type'],
    },
    defaults: {
      source: 'sd-scripts',
      steps: 1_600,
      microBatch: 1,
      gradientAccumulation: 1,
      optimizer: 'adam',
    },
    configFlags: ['dataset-config', 'config-file'],
    epochsWin: true,
    adapter: ['network-module'],
    checkpoint: {
      steps: ['save-every-n-steps'],
      epochs: ['save-every-n-epochs'],
      folder: ['output-dir'],
      resume: ['resume'],
    },
  },
  {
    // CompVis/latent-diffusion, stable-diffusion, ControlNet's relatives: a configuration for Lightning
    framework: 'latent-diffusion',
    program: /(^|\/)main\.py$/,
    own: { flags: ['base', 'b', 't', 'train', 'scale-lr', 'gpus', 'devices'], least: 2 },
    table: {
      steps: ['lightning.trainer.max-steps', 'max-steps'],
      epochs: ['lightning.trainer.max-epochs', 'max-epochs'],
      microBatch: ['data.params.batch-size'],
      gradientAccumulation: ['lightning.trainer.accumulate-grad-batches', 'accumulate-grad-batches'],
    },
    defaults: { source: 'main.py of latent-diffusion', gradientAccumulation: 1, optimizer: 'adam' },
    configFlags: ['base', 'b'],
    namesModelByConfig: true,
    spawns: { perMachine: ['gpus', 'devices'], machines: ['num-nodes'], otherwise: 'one' },
    checkpoint: {
      steps: ['lightning.modelcheckpoint.params.every-n-train-steps'],
      folder: ['logdir'],
      resume: ['resume', 'r'],
    },
  },
  {
    // StyleGAN2-ADA and StyleGAN3
    framework: 'stylegan',
    program: /(^|\/)train\.py$/,
    own: { flags: ['gamma', 'kimg', 'aug', 'mirror', 'snap', 'metrics', 'cbase'], least: 2 },
    table: { globalBatch: ['batch'], modelName: ['cfg'] },
    wholeRun: { flags: ['kimg'], samples: 1_000 },
    dataFolder: ['data'],
    spawns: { perMachine: ['gpus'], machines: [], otherwise: 'each-gpu' },
    checkpoint: { folder: ['outdir'], resume: ['resume'] },
  },
  {
    framework: 'edm',
    program: /(^|\/)train(_edm2)?\.py$/,
    own: { flags: ['arch', 'duration', 'cond', 'batch-gpu', 'augment', 'precond', 'preset'], least: 3 },
    table: { globalBatch: ['batch'], modelName: ['arch', 'preset'] },
    wholeRun: { flags: ['duration'], samples: 1_000_000 },
    dataFolder: ['data'],
  },
  {
    // improved-diffusion and guided-diffusion
    framework: 'guided-diffusion',
    program: /(^|\/)(image_train|classifier_train|super_res_train)\.py$/,
    table: { steps: ['lr-anneal-steps', 'iterations'], microBatch: ['batch-size'] },
    defaults: { source: 'image_train.py of guided-diffusion', gradientAccumulation: 1, optimizer: 'adam' },
    mixed: { flags: ['use-fp16'], precision: 'fp16' },
    checkpoint: { steps: ['save-interval'], resume: ['resume-checkpoint'] },
    dataFolder: ['data-dir'],
  },
]
