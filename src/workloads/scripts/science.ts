import type { KnownScript } from './known-script.ts'

/** Training programs of the natural sciences, and of 3-D scenes. */
export const scienceScripts: readonly KnownScript[] = [
  {
    // ACEsuit/mace, mace/tools/arg_parser.py
    framework: 'mace',
    program: /(^|\/)(mace_run_train|mace[./]cli[./]run_train(\.py)?)$|mace\S*\/run_train\.py$/,
    table: { epochs: ['max-num-epochs'], microBatch: ['batch-size'], optimizer: ['optimizer'] },
    defaults: { source: 'mace', gradientAccumulation: 1 },
    configFlags: ['config'],
    checkpoint: { folder: ['checkpoints-dir'], resume: ['restart-latest'] },
    epochOf: 'samples',
  },
  {
    // mir-group/nequip before 0.7: everything in a YAML file
    framework: 'nequip',
    program: /(^|\/)nequip-train$/,
    table: { epochs: ['max-epochs', 'trainer.max-epochs'], microBatch: ['batch-size'] },
    configFlags: [0],
    epochOf: 'samples',
  },
  {
    // deepmodeling/deepmd-kit: `dp train input.json`, with `numb_steps` in the file
    framework: 'deepmd-kit',
    program: /(^|\/)dp$/,
    table: { steps: ['training.numb-steps', 'training.stop-batch'] },
    configFlags: [0],
    purposes: [
      [/^(freeze|compress|convert-from|model-devi|neighbor-stat|transfer)$/, 'other'],
      [/^test$/, 'evaluate'],
    ],
  },
  {
    // nerfstudio, `ns-train METHOD`; its trainer takes a batch of rays, not of pictures
    framework: 'nerfstudio',
    program: /(^|\/)ns-train$/,
    table: { steps: ['max-num-iterations'] },
    checkpoint: { steps: ['steps-per-save'], folder: ['output-dir'], resume: ['load-dir'] },
  },
  {
    // MouseLand/cellpose, cellpose/cli.py
    framework: 'cellpose',
    program: /(^|\/)cellpose$/,
    own: { flags: ['train'], least: 1 },
    table: { epochs: ['n-epochs'], microBatch: ['train-batch-size'] },
    checkpoint: { epochs: ['save-every'] },
  },
]
