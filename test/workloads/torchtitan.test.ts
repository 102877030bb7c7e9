import { describe, expect, test } from 'vitest'
import { readScript, valuesOf } from './runs.ts'

const config = `
[model]
name = "llama3"
flavor = "70B"

[training]
local_batch_size = 2
seq_len = 8192
steps = 3000
dataset = "c4"

[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 8

[activation_checkpoint]
mode = "full"

[checkpoint]
enable_checkpoint = true
folder = "checkpoint"
interval = 250
`

describe('torchtitan', () => {
  const files = { 'conf/llama70b.toml': config }
  const launch = 'torchrun --nnodes=4 --nproc_per_node=8'

  test('a batch is that of a data-parallel rank, which tensor-parallel processes share', () => {
    const read = valuesOf(`srun ${launch} -m torchtitan.train --job.config_file conf/llama70b.toml`, {
      nodes: 4,
      gpus: 8,
      files,
    })
    expect(read).toMatchObject({
      framework: 'torchtitan',
      purpose: 'train',
      modelName: 'llama3 70B',
      dataset: 'c4',
      steps: 3000,
      microBatch: 2,
      gradientAccumulation: 1,
      // 32 processes, 8 of which hold one model: 4 ranks with 2 sequences each
      globalBatch: 8,
      sequenceLength: 8192,
      tokens: 3000 * 8 * 8192,
      precision: 'bf16',
      method: 'full',
      activationRecompute: 'full',
      parallelism: { tensor: 8, pipeline: 1, context: 1, expert: 1, interleave: 1, sharding: 'weights' },
      checkpoint: { intervalSteps: { value: 250 }, destination: { value: 'checkpoint' }, resumes: { value: true } },
    })
  })

  test('options win over the file, and a global batch over ranks', () => {
    const command = `${launch} train.py --job.config_file conf/llama70b.toml --training.steps 10 --training.global_batch_size 64`
    expect(valuesOf(command, { nodes: 4, gpus: 8, files })).toMatchObject({
      steps: 10,
      globalBatch: 64,
      gradientAccumulation: 8,
    })
  })

  test('run_train.sh is told its file by a variable', () => {
    const command = 'CONFIG_FILE=conf/llama70b.toml NGPU=4 ./run_train.sh --training.steps 20'
    expect(valuesOf(command, { gpus: 4, files })).toMatchObject({
      framework: 'torchtitan',
      steps: 20,
      processes: 4,
      sequenceLength: 8192,
    })
  })

  test('where the file is not here, nothing is assumed of what it may say', () => {
    const { workloads, warnings } = readScript(
      `${launch} -m torchtitan.train --job.config_file conf/other.toml --training.steps 5`,
    )
    expect(workloads).toMatchObject([{ framework: { value: 'torchtitan' }, steps: { value: 5 } }])
    expect(workloads[0]?.precision).toBeUndefined()
    expect(workloads[0]?.globalBatch).toBeUndefined()
    expect(warnings.map(({ code }) => code)).toContain('external-file-missing')
  })

  test('float8 linear layers compute in fp8', () => {
    const command = `${launch} train.py --job.config_file conf/llama70b.toml --model.converters float8`
    expect(valuesOf(command, { nodes: 4, gpus: 8, files })).toMatchObject({ precision: 'fp8' })
  })
})
