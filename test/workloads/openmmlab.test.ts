import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
}

const files = {
  'configs/rcnn/mask-rcnn_r50_fpn_2x_own.py': `
_base_ = [
    '../_base_/own.py',
    '../_base_/schedule.py'
]
train_cfg = dict(max_epochs=24)
train_dataloader = dict(batch_size=4, num_workers=8)
`,
  'configs/_base_/own.py': `
default_scope = 'mmdet'
dataset_type = 'CocoDataset'
data_root = 'data/tiny-images/'
train_dataloader = dict(
    batch_size=2,
    dataset=dict(type=dataset_type, data_root=data_root, ann_file='train.json'))
`,
  'configs/_base_/schedule.py': `
train_cfg = dict(type='EpochBasedTrainLoop', max_epochs=12, val_interval=1)
optim_wrapper = dict(type='AmpOptimWrapper', optimizer=dict(type='SGD', lr=0.02))
default_hooks = dict(checkpoint=dict(type='CheckpointHook', interval=2))
`,
  'configs/seg/segformer_own-512x512.py': `
_base_ = '../_base_/own.py'
train_cfg = dict(type='IterBasedTrainLoop', max_iters=160_000, val_interval=16000)
optim_wrapper = dict(type='OptimWrapper', accumulative_counts=4, optimizer=dict(type='AdamW', lr=6e-5))
default_hooks = dict(checkpoint=dict(by_epoch=False, interval=16000))
`,
  'configs/old/faster_rcnn.py': `
data = dict(samples_per_gpu=2, workers_per_gpu=2, train=dict(type='CocoDataset'))
optimizer = dict(type='SGD', lr=0.02)
runner = dict(type='EpochBasedRunner', max_epochs=12)
fp16 = dict(loss_scale=512.)
`,
  'configs/own/anew.py': `
_base_ = '../_base_/schedule.py'
train_cfg = dict(_delete_=True, type='IterBasedTrainLoop', max_iters=1000)
train_dataloader = dict(batch_size=3)
`,
}
const CONFIG = 'configs/rcnn/mask-rcnn_r50_fpn_2x_own.py'

describe('OpenMMLab', () => {
  test.each<Row>([
    [
      'a configuration over those it begins with',
      `bash tools/dist_train.sh ${CONFIG} 8`,
      {
        framework: 'mmdetection',
        modelName: 'mask-rcnn_r50_fpn_2x_own',
        epochs: 24,
        steps: 750,
        microBatch: 4,
        gradientAccumulation: 1,
        globalBatch: 32,
        precision: 'fp16',
        optimizer: 'sgd',
        processes: 8,
        dataset: 'tiny-images',
        samples: 1000,
      },
      { gpus: 8, files },
    ],
    [
      'options over the configuration',
      `torchrun --nproc_per_node=4 tools/train.py ${CONFIG} --launcher pytorch --cfg-options train_dataloader.batch_size=8 train_cfg.max_epochs=36`,
      { epochs: 36, globalBatch: 32 },
      { gpus: 4, files },
    ],
    [
      'iterations, of which several make a step',
      'python tools/train.py configs/seg/segformer_own-512x512.py --work-dir out/seg --resume',
      {
        steps: 40_000,
        epochs: undefined,
        gradientAccumulation: 4,
        globalBatch: 8,
        optimizer: 'adam',
        precision: undefined,
      },
      { files },
    ],
    [
      'MMCV 1.x',
      'NNODES=2 bash tools/dist_train.sh configs/old/faster_rcnn.py 8 --work-dir out',
      { epochs: 12, microBatch: 2, globalBatch: 32, precision: 'fp16', processes: 16 },
      { nodes: 2, gpus: 8, files },
    ],
    [
      'a mapping that begins anew',
      'python tools/train.py configs/own/anew.py',
      { steps: 1000, epochs: undefined, globalBatch: 3, precision: 'fp16' },
      { files },
    ],
    [
      'mim',
      `mim train mmdet ${CONFIG} --gpus 8 --launcher pytorch`,
      { framework: 'mmdetection', globalBatch: 32 },
      { gpus: 8, files },
    ],
    [
      'a test',
      `bash tools/dist_test.sh ${CONFIG} out/latest.pth 8`,
      { purpose: 'evaluate', epochs: undefined },
      { files },
    ],
    [
      'a part that was not read: what it may say is not filled in',
      `bash tools/dist_train.sh ${CONFIG} 8`,
      { epochs: 24, microBatch: 4, gradientAccumulation: undefined, globalBatch: undefined, steps: undefined },
      { gpus: 8, files: { [CONFIG]: files[CONFIG] } },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('what it keeps', () => {
    const [workload] = readScript(
      'python tools/train.py configs/seg/segformer_own-512x512.py --work-dir out/seg --resume',
      {
        files,
      },
    ).workloads
    expect(workload?.checkpoint).toMatchObject({
      intervalSteps: { value: 16_000 },
      destination: { value: 'out/seg' },
      resumes: { value: true },
    })
    expect(workload?.checkpoint?.intervalEpochs).toBeUndefined()
  })

  test('a missing part is named', () => {
    const { warnings } = readScript(`bash tools/dist_train.sh ${CONFIG} 8`, { files: { [CONFIG]: files[CONFIG] } })
    expect(warnings).toContainEqual(
      expect.objectContaining({
        code: 'external-file-missing',
        text: expect.stringContaining('configs/_base_/schedule.py'),
      }),
    )
  })

  test('configurations that begin with each other come to an end', () => {
    const many = Array.from({ length: 12 }, (_, index) => `configs/${index}.py`)
    const bases = `_base_ = [${many.map(path => `'${path.slice(8)}'`).join(', ')}]\n`
    const circle = Object.fromEntries(many.map(path => [path, `${bases}train_cfg = dict(max_epochs=3)\n`]))
    const [workload] = readScript('python tools/train.py configs/0.py', { files: circle }).workloads
    expect(workload?.epochs?.value).toBe(3)
  })
})

test.each([
  ['its preprocessor', 'python tools/train.py configs/a.py', 'mmsegmentation'],
  ['the folder that it runs in', 'cd mmdetection3d\npython tools/train.py configs/b.py', 'mmdetection3d'],
  ['nothing', 'python tools/train.py configs/c.py', 'openmmlab'],
])('the project is known by %s', (_, script, framework) => {
  const text = "model = dict(data_preprocessor=dict(type='SegDataPreProcessor'))\ntrain_cfg = dict(max_iters=5)\n"
  const read = valuesOf(script, { files: { 'configs/a.py': text, 'mmdetection3d/configs/b.py': text } })
  expect(read['framework']).toBe(framework)
})
