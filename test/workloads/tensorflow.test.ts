import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

describe('TensorFlow', () => {
  const files = {
    'configs/resnet.yaml':
      'runtime: {mixed_precision_dtype: mixed_float16}\ntask: {train_data: {global_batch_size: 4096}}\ntrainer: {train_steps: 28080, checkpoint_interval: 312}\n',
  }

  test('overrides win over the file of an experiment', () => {
    const command =
      "python -m official.vision.train --experiment=resnet_imagenet --config_file=configs/resnet.yaml --mode=train_and_eval --model_dir=gs://b/run --params_override='trainer.train_steps=1000,runtime.num_gpus=8'"
    expect(valuesOf(command, { gpus: 8, files })).toMatchObject({
      framework: 'tensorflow',
      purpose: 'train',
      steps: 1000,
      globalBatch: 4096,
      precision: 'fp16',
      processes: 8,
      checkpoint: { intervalSteps: { value: 312 }, destination: { value: 'gs://b/run' }, resumes: { value: true } },
    })
  })

  test('an experiment may only evaluate', () => {
    const command =
      'python -m official.nlp.train --experiment=bert/sentence_prediction --config_file=configs/resnet.yaml --mode=eval'
    const { purpose, steps } = valuesOf(command, { files })
    expect({ purpose, steps }).toEqual({ purpose: 'evaluate', steps: undefined })
  })

  test('a program that is told of others by TF_CONFIG', () => {
    const told = { TF_CONFIG: '{}', EPOCHS: '30', BACKBONE: 'efficientdet_d4' }
    expect(valuesOf('python train.py', { variables: told })).toMatchObject({
      framework: 'tensorflow',
      epochs: 30,
      modelName: 'efficientdet_d4',
    })
    expect(valuesOf('python train.py --epochs 5 --model unet', { variables: told })).toMatchObject({
      epochs: 5,
      modelName: 'unet',
    })
  })

  test('a backbone is part of a network whose size nobody says', () => {
    const sized = (variable: string) =>
      readScript('python train.py', { variables: { TF_CONFIG: '{}', EPOCHS: '3', [variable]: 'tiny-1b' } }).workloads[0]
    expect(sized('BACKBONE')?.modelName?.value).toBe('tiny-1b')
    expect(sized('BACKBONE')?.model).toBeUndefined()
    expect(sized('MODEL')?.model?.value.name).toBe('tiny-1b')
  })

  test('variables mean nothing to any other program', () => {
    expect(readScript('python main.py', { variables: { EPOCHS: '30' } }).workloads).toEqual([])
  })
})
