import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

describe('llm.c', () => {
  test('a step is counted in tokens', () => {
    const command =
      'mpirun -np 8 ./train_gpt2cu -i "fineweb_train_*.bin" -o log -v 250 -h 1 -b 64 -t 1024 -d 1048576 -z 1 -x 18865 -n 5000 -y 1 -e d12'
    expect(valuesOf(command, { gpus: 8 })).toMatchObject({
      framework: 'llm.c',
      steps: 18_865,
      microBatch: 64,
      globalBatch: 1024,
      gradientAccumulation: 2,
      sequenceLength: 1024,
      tokens: 18_865 * 1_048_576,
      processes: 8,
      parallelism: { sharding: 'optimizer' },
      checkpoint: { intervalSteps: { value: 5000 }, destination: { value: 'log' }, resumes: { value: true } },
    })
    const [workload] = readScript(command, { gpus: 8 }).workloads
    // GPT-2 of 124 M parameters (llm.c, README).
    expect(Math.abs((workload?.model?.value.parameterCount ?? 0) / 124.4e6 - 1)).toBeLessThan(0.01)
  })

  test('without a number of steps it is one epoch, of which nothing is known', () => {
    const read = valuesOf('./train_gpt2cu -b 4 -t 512 -e gpt2_355M_bf16.bin -x -1')
    expect(read).toMatchObject({ modelName: 'gpt2 24x1024', globalBatch: 4 })
    expect(read['steps']).toBeUndefined()
  })

  test('its program in Python', () => {
    const command =
      'torchrun --standalone --nproc_per_node=4 train_gpt2.py --input_bin a.bin --model d24 --batch_size 16 --sequence_length 1024 --total_batch_size 262144 --num_iterations 500'
    expect(valuesOf(command, { gpus: 4 })).toMatchObject({
      framework: 'llm.c',
      modelName: 'gpt2 24x1024',
      steps: 500,
      globalBatch: 256,
      gradientAccumulation: 4,
    })
  })

  test("nanochat's steps follow from its size unless it is told", () => {
    const launch = 'torchrun --standalone --nproc_per_node=8 -m scripts.base_train --'
    const read = valuesOf(`${launch} --depth=26 --device_batch_size=16 --run=speed`, { gpus: 8 })
    expect(read).toMatchObject({ framework: 'nanochat', modelName: 'nanochat d26', microBatch: 16 })
    expect(read['steps']).toBeUndefined()
    const told = `${launch} --depth=4 --num_iterations=20 --max_seq_len=512 --total_batch_size=65536`
    expect(valuesOf(told, { gpus: 8 })).toMatchObject({ steps: 20, globalBatch: 128, tokens: 20 * 65_536 })
  })
})
