import { describe, expect, test } from 'vitest'
import { readScript, tinyModel, valuesOf } from './runs.ts'

const command =
  'python scripts/performance/run_script.py --gpu h100 --model_family_name llama --model_recipe_name tiny_1b --num_gpus 16 --compute_dtype fp8_cs --max_steps 40'

describe("Megatron-Bridge's performance scripts", () => {
  test('name the recipe of a model, and what differs from it', () => {
    const sizes = '--global_batch_size 256 --micro_batch_size 2 --seq_length 8192'
    const degrees = '--tensor_model_parallel_size 2 --pipeline_model_parallel_size 1 --context_parallel_size 1'
    expect(valuesOf(`${command} ${sizes} ${degrees}`, { nodes: 2, gpus: 8 })).toMatchObject({
      framework: 'megatron-bridge',
      modelName: 'tiny_1b',
      model: tinyModel,
      method: 'full',
      steps: 40,
      globalBatch: 256,
      microBatch: 2,
      sequenceLength: 8192,
      precision: 'fp8',
      parallelism: { tensor: 2, pipeline: 1, context: 1, expert: 1, interleave: 1, sharding: 'optimizer' },
    })
  })

  test('leave to the recipe what they do not say', () => {
    const { parallelism, globalBatch, sequenceLength } = valuesOf(command, { gpus: 8 })
    expect([parallelism, globalBatch, sequenceLength]).toEqual([undefined, undefined, undefined])
  })

  test.each([
    ['--task lora', { method: 'lora' }],
    [
      '--tensor_model_parallel_size 1 --use_megatron_fsdp true',
      { parallelism: expect.objectContaining({ sharding: 'weights' }) },
    ],
  ])('%s', (words, expected) => {
    expect(valuesOf(`${command} ${words}`, { gpus: 8 })).toMatchObject(expected)
  })

  test('named a family and a size before', () => {
    const older = 'python run.py --config_file a.yaml --model_name tiny --model_size 1b --compute_dtype bf16 -ng 8'
    expect(valuesOf(older, { gpus: 8 })).toMatchObject({
      framework: 'megatron-bridge',
      model: tinyModel,
      precision: 'bf16',
    })
  })

  test('do not train where they submit others', () => {
    const { workloads } = readScript(command.replace('run_script', 'setup_experiment'), { gpus: 8 })
    expect(workloads.map(({ framework }) => framework?.value)).not.toContain('megatron-bridge')
  })
})
