import type { KnownScript } from './known-script.ts'

/** Training programs that make images or text, and do not take the flags of a bigger library. */
export const generationScripts: readonly KnownScript[] = [
  {
    // StyleGAN2-ADA and StyleGAN3
    framework: 'stylegan',
    program: /(^|\/)train\.py$/,
    own: { flags: ['gamma', 'kimg', 'aug', 'mirror', 'snap', 'metrics', 'cbase'], least: 2 },
    table: { globalBatch: ['batch'], modelName: ['cfg'] },
    wholeRun: { flags: ['kimg'], samples: 1_000 },
    dataFolder: ['data'],
    spawns: true,
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
    dataFolder: ['data-dir'],
  },
  {
    framework: 'fairseq',
    program: /(^|\/)(fairseq-train|fairseq-hydra-train|fairseq_cli\.(hydra_)?train|(hydra_)?train\.py)$/,
    own: {
      flags: ['arch', 'a', 'max-tokens', 'criterion', 'max-update', 'optimization.max-update', 'update-freq'],
      least: 2,
    },
    table: {
      steps: ['max-update', 'optimization.max-update'],
      epochs: ['max-epoch', 'optimization.max-epoch'],
      microBatch: ['batch-size', 'max-sentences', 'dataset.batch-size'],
      gradientAccumulation: ['update-freq', 'optimization.update-freq'],
      sequenceLength: ['tokens-per-sample', 'task.tokens-per-sample'],
      modelName: ['arch', 'a'],
      optimizer: ['optimizer', 'optimizer.-name'],
    },
    defaults: { source: 'fairseq 0.12', gradientAccumulation: 1 },
    mixed: { flags: ['fp16', 'common.fp16'], precision: 'fp16' },
    dataFolder: [0, 'task.data'],
    spawns: true,
  },
]
