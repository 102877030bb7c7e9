import type { KnownScript } from './known-script.ts'

const fairseq: Omit<KnownScript, 'program'> = {
  framework: 'fairseq',
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
  spawns: {
    perMachine: ['distributed-world-size', 'distributed-training.distributed-world-size'],
    machines: [],
    otherwise: 'each-gpu',
  },
  checkpoint: {
    steps: ['save-interval-updates', 'checkpoint.save-interval-updates'],
    epochs: ['save-interval', 'checkpoint.save-interval'],
    folder: ['save-dir', 'checkpoint.save-dir'],
    resume: ['restore-file'],
  },
}

/** Toolkits for translation. Most fill a batch by words or memory, so that a step has no fixed number of sentences. */
export const translationScripts: readonly KnownScript[] = [
  { ...fairseq, program: /(^|\/)(fairseq-(hydra-)?train|fairseq_cli[./](hydra_)?train(\.py)?)$/ },
  {
    ...fairseq,
    program: /(^|\/)(hydra_)?train\.py$/,
    own: {
      flags: ['arch', 'a', 'max-tokens', 'criterion', 'max-update', 'optimization.max-update', 'update-freq'],
      least: 2,
    },
  },
  {
    // `marian --help`: updates and epochs without limit by themselves, one process for all devices of a machine
    framework: 'marian',
    program: /(^|\/)marian(-train)?$/,
    table: {
      steps: ['after-batches'],
      epochs: ['after-epochs', 'e'],
      gradientAccumulation: ['optimizer-delay'],
      optimizer: ['optimizer'],
    },
    configFlags: ['config', 'c'],
    mixed: { flags: ['fp16'], precision: 'fp16' },
    spawns: { perMachine: [], machines: [], otherwise: 'each-gpu' },
    checkpoint: { steps: ['save-freq'], folder: ['model', 'm'] },
  },
  {
    // OpenNMT-py 3, onmt/opts.py
    framework: 'opennmt-py',
    program: /(^|\/)onmt_train$|(^|\/)onmt[./]bin[./]train(\.py)?$/,
    table: {
      steps: ['train-steps'],
      gradientAccumulation: ['accum-count'],
      optimizer: ['optim'],
    },
    defaults: { source: 'OpenNMT-py 3', steps: 100_000 },
    configFlags: ['config'],
    spawns: { perMachine: ['world-size'], machines: [], otherwise: 'one' },
    checkpoint: { steps: ['save-checkpoint-steps'], folder: ['save-model'], resume: ['train-from'] },
  },
  {
    // sockeye/arguments.py
    framework: 'sockeye',
    program: /(^|\/)sockeye-train$|(^|\/)sockeye[./]train(\.py)?$/,
    table: {
      steps: ['max-updates'],
      epochs: ['max-num-epochs'],
      samples: ['max-samples'],
      gradientAccumulation: ['update-interval'],
      optimizer: ['optimizer'],
    },
    mixed: { flags: ['amp', 'apex-amp'], precision: 'fp16' },
    checkpoint: { steps: ['checkpoint-interval'], folder: ['output', 'o'] },
  },
]
