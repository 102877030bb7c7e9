import { expect, test } from 'vitest'
import { valuesOf } from './runs.ts'

test('icefall goes on from an epoch, and starts its own processes', () => {
  const command =
    './zipformer/train.py --world-size 4 --num-epochs 30 --start-epoch 11 --use-fp16 1 --exp-dir exp --max-duration 1000'
  const read = valuesOf(command, { gpus: 4 })
  expect(read).toMatchObject({ framework: 'icefall', epochs: 20, processes: 4, precision: 'fp16' })
  expect(read['globalBatch']).toBeUndefined()
})

test('WeNet has its epochs in a file', () => {
  const files = { 'conf/train_conformer.yaml': 'encoder: conformer\nmax_epoch: 240\naccum_grad: 4\n' }
  const command = 'torchrun --nproc_per_node=8 wenet/bin/train.py --config conf/train_conformer.yaml --model_dir exp'
  expect(valuesOf(command, { gpus: 8, files })).toMatchObject({
    framework: 'wenet',
    epochs: 240,
    gradientAccumulation: 4,
    processes: 8,
  })
})

test("ESPnet's options win over its file", () => {
  const files = {
    'conf/asr.yaml': 'max_epoch: 50\nbatch_type: numel\nbatch_bins: 16000000\naccum_grad: 2\noptim: adam\n',
  }
  const command = 'python3 -m espnet2.bin.asr_train --config conf/asr.yaml --ngpu 2 --max_epoch 35'
  expect(valuesOf(command, { gpus: 2, files })).toMatchObject({
    framework: 'espnet',
    epochs: 35,
    gradientAccumulation: 2,
    optimizer: 'adam',
    processes: 2,
  })
})

test('SpeechBrain is known by its file', () => {
  const files = { 'hparams/ctc.yaml': 'number_of_epochs: 15\nbatch_size: 8\n' }
  expect(valuesOf('python train.py hparams/ctc.yaml --data_folder /d', { files })).toMatchObject({
    framework: 'speechbrain',
    epochs: 15,
  })
})

test('a program of the same name without their options is none of theirs', () => {
  expect(valuesOf('python vision/train.py --num-epochs 3 --batch-size 4')['framework']).toBe('pytorch')
})
