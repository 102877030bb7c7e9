import { describe, expect, test } from 'vitest'
import { findReferredPaths } from '../../src/workloads/index.ts'
import { readScript, roleNamed, valuesOf } from './runs.ts'

const TRAIN = 'train.py --model_name_or_path tiny-1b --per_device_train_batch_size 4 --block_size 1024 --max_steps 100'

describe('declarations', () => {
  test('they win over what was read, and what follows is worked out anew', () => {
    const values = valuesOf(`torchrun --nproc_per_node 2 ${TRAIN}`, {
      gpus: 2,
      declared: ['steps=50', 'batch=16', 'seq-len=512', 'precision=fp16', 'method=lora'],
    })
    expect(values).toMatchObject({
      steps: 50,
      globalBatch: 16,
      sequenceLength: 512,
      tokens: 50 * 16 * 512,
      precision: 'fp16',
      method: 'lora',
    })
  })

  test('a declared length replaces the one that was read', () => {
    const values = valuesOf(`torchrun --nproc_per_node 2 ${TRAIN}`, { gpus: 2, declared: ['tokens=819200'] })
    expect(values).toMatchObject({ tokens: 819_200, steps: 100 })
    expect(valuesOf(`torchrun --nproc_per_node 2 ${TRAIN}`, { gpus: 2, declared: ['tokens=1638400'] })).toMatchObject({
      steps: 200,
    })
  })

  test('declared samples complete epochs that were read', () => {
    const values = valuesOf('python train.py --epochs 3 --batch-size 10', { declared: ['samples=1000'] })
    expect(values).toMatchObject({ samples: 1000, epochs: 3, steps: 300 })
  })

  test('parameters that the name does not have make a model of their own', () => {
    const { model } = valuesOf(`python ${TRAIN}`, { declared: ['params=3B'] })
    expect(model).toMatchObject({ parameterCount: 3e9 })
  })

  test('alone they are a run, on every role that has GPUs', () => {
    const { workloads, warnings } = readScript('./simulate', {
      gpus: 4,
      declared: ['model=tiny-1b', 'tokens=1B', 'batch=100', 'seq-len=1000'],
      moreRoles: [roleNamed('worker', 3, 4, [])],
    })
    expect(workloads.map(workload => [workload.role, workload.steps?.value, workload.model?.value.name])).toEqual([
      ['job', 10_000, 'tiny-1b'],
      ['worker', 10_000, 'tiny-1b'],
    ])
    expect(warnings).toEqual([])
  })

  test('a declared runtime is enough not to be called ignorant', () => {
    expect(readScript('./simulate', { declared: ['runtime=4h'] }).warnings).toEqual([])
  })
})

describe('several runs', () => {
  test.each([
    ['lists', 'python main.py -m model=gcn,gat seed=1,2,3 trainer.max_epochs=5', 6],
    ['a range', "python main.py --multirun 'seed=range(1,5)' trainer.max_epochs=5", 4],
    ['a list that is one value', "python main.py -m 'layers=[64,64]' seed=1,2 trainer.max_epochs=5", 2],
    ['no sweep', 'python main.py seed=1,2 trainer.max_epochs=5', 1],
  ])('a sweep of Hydra over %s is as many runs', (_, script, runs) => {
    expect(readScript(script).workloads).toMatchObject([{ epochs: { value: 5 }, repetitions: runs }])
  })

  test('what a sweep goes over is not known', () => {
    const [workload] = readScript('python main.py -m trainer.max_epochs=5,10 data.batch_size=8 seed=1').workloads
    expect(workload).toMatchObject({ repetitions: 2 })
    expect(workload).not.toHaveProperty('epochs')
  })

  test('a script that the job writes is followed, whatever it is called', () => {
    const script = `cat > bind <<END\n#!/bin/bash\nexport ROCR_VISIBLE_DEVICES=\\$SLURM_LOCALID\nexec \\$*\nEND\nsrun ./bind python ${TRAIN}`
    expect(readScript(script).workloads).toMatchObject([{ modelName: { value: 'tiny-1b' }, steps: { value: 100 } }])
  })

  test('evaluations of a loop are counted where nothing trains', () => {
    const models = 'for m in org/a org/b org/c; do lm_eval --model hf --model_args pretrained=$m --tasks mmlu; done'
    expect(readScript(models).warnings).toMatchObject([
      { code: 'multiple-runs', text: expect.stringMatching(/3 evaluation runs/) },
    ])
    expect(readScript('lm_eval --model hf --model_args pretrained=org/a --tasks mmlu').warnings).toEqual([])
  })

  test('runs of a loop that compute the same are one with repetitions', () => {
    const { workloads, warnings } = readScript(`for seed in 1 2 3; do python ${TRAIN} --seed $seed; done`)
    expect(workloads.map(workload => workload.repetitions)).toEqual([3])
    expect(warnings).toMatchObject([{ code: 'multiple-runs', text: expect.stringMatching(/3 training runs.*3 times/) }])
  })

  test('runs of a loop that differ stay apart', () => {
    const { workloads } = readScript('for e in 1 2; do python train.py --epochs $e --batch-size 8; done')
    expect(workloads.map(workload => [workload.epochs?.value, workload.repetitions])).toEqual([
      [1, 1],
      [2, 1],
    ])
  })

  test('to start anew or to resume is one run that is sure to be made', () => {
    const { workloads, warnings } = readScript(
      `if [ -f last.pt ]; then python ${TRAIN} --resume last.pt; else python ${TRAIN}; fi`,
    )
    expect(workloads.map(workload => [workload.repetitions, workload.conditional])).toEqual([[1, false]])
    expect(warnings).toEqual([])
  })

  test('a run that may not be made says so', () => {
    const { workloads } = readScript(`if [ -f data ]; then python ${TRAIN}; fi`)
    expect(workloads.map(workload => workload.conditional)).toEqual([true])
  })

  test('training and then testing are two purposes, and one training run', () => {
    const { workloads, warnings } = readScript('python train.py --epochs 3 --batch-size 8\npython test.py --model m')
    expect(workloads.map(workload => workload.purpose)).toEqual(['train', 'evaluate'])
    expect(warnings).toEqual([])
  })
})

describe('launcher and request', () => {
  test.each<
    [what: string, script: string, setting: { nodes: number; gpus: number }, codes: readonly string[], text: RegExp]
  >([
    [
      'half of the GPUs',
      `torchrun --nproc_per_node 4 ${TRAIN}`,
      { nodes: 1, gpus: 8 },
      ['idle-gpus'],
      /8 GPUs are requested, torchrun starts 4 processes: 4 GPUs have/,
    ],
    [
      'one process by default',
      `torchrun ${TRAIN}`,
      { nodes: 1, gpus: 2 },
      ['idle-gpus'],
      /starts 1 process: 1 GPU has/,
    ],
    [
      'one of two nodes',
      `torchrun --nproc_per_node 8 ${TRAIN}`,
      { nodes: 2, gpus: 8 },
      ['idle-gpus'],
      /16 GPUs.*8 processes/,
    ],
    [
      'more nodes than there are',
      `srun torchrun --nnodes 16 --nproc_per_node 8 ${TRAIN}`,
      { nodes: 8, gpus: 8 },
      ['conflict'],
      /16 nodes, 8 are requested/,
    ],
    [
      'more processes than GPUs',
      `torchrun --nproc_per_node 8 ${TRAIN}`,
      { nodes: 1, gpus: 4 },
      ['conflict'],
      /8 processes on a node that has 4 GPUs/,
    ],
  ])('%s', (_, script, setting, codes, text) => {
    const { warnings } = readScript(script, setting)
    expect(warnings.map(warning => warning.code)).toEqual(codes)
    expect(warnings[0]?.text).toMatch(text)
    expect(warnings[0]?.place).toMatchObject({ file: 'job.sbatch', line: 1 })
  })

  test('a run beside another one in the background leaves it its GPUs', () => {
    const script = `torchrun --nproc_per_node 6 ${TRAIN} &\npython serve.py --model m &\nwait`
    expect(readScript(script, { gpus: 8 }).warnings).toEqual([])
  })

  test('a run in front of one in the background leaves it its GPUs, errands have none', () => {
    const beside = (other: string) => `${other} &\ntorchrun --nproc_per_node 6 ${TRAIN}`
    expect(readScript(beside('python serve.py --model m'), { gpus: 8 }).warnings).toEqual([])
    const { warnings } = readScript(beside('tensorboard --logdir runs'), { gpus: 8 })
    expect(warnings.map(warning => warning.code)).toEqual(['idle-gpus'])
  })

  test('more launchers than nodes, each with processes for all GPUs, get in each other’s way', () => {
    const variables = { SLURM_NNODES: '2', SLURM_NTASKS: '8' }
    const { warnings } = readScript(`srun torchrun --nnodes 2 --nproc_per_node 4 ${TRAIN}`, {
      nodes: 2,
      gpus: 4,
      variables,
    })
    expect(warnings).toMatchObject([{ code: 'conflict', text: expect.stringMatching(/srun starts 8 times torchrun/) }])
  })

  test('GPUs that CUDA_VISIBLE_DEVICES hides from every program are idle', () => {
    const { warnings } = readScript(`export CUDA_VISIBLE_DEVICES=0\npython ${TRAIN}`, { gpus: 4 })
    expect(warnings).toMatchObject([{ code: 'idle-gpus', idleGpus: 3 }])
    const each = [0, 1, 2, 3].map(gpu => `CUDA_VISIBLE_DEVICES=${gpu} python ${TRAIN} --seed ${gpu} &`)
    const { warnings: none } = readScript(each.join('\n'), { gpus: 4 })
    expect(none.map(warning => warning.code)).not.toContain('idle-gpus')
  })

  test('a step that is narrowed to one GPU is one process', () => {
    const { workloads } = readScript(`srun -n1 -N1 --gres=gpu:a100:1 --exclusive python ${TRAIN}`, { gpus: 4 })
    expect(workloads[0]?.processes?.value).toBe(1)
  })

  test('an independent launcher on every node leaves none idle', () => {
    const script = `srun --ntasks-per-node=1 torchrun --standalone --nproc_per_node 8 ${TRAIN}`
    const variables = { SLURM_NNODES: '2', SLURM_NTASKS: '2' }
    expect(readScript(script, { nodes: 2, gpus: 8, variables }).warnings).toEqual([])
  })

  test('roles that start nothing join the run that is told of their machines', () => {
    const { workloads, warnings } = readScript(`torchrun --nnodes 4 --nproc_per_node 8 ${TRAIN}`, {
      gpus: 8,
      moreRoles: [roleNamed('worker', 3, 8, [])],
    })
    expect(workloads.map(workload => [workload.role, workload.globalBatch?.value])).toEqual([
      ['job', 128],
      ['worker', 128],
    ])
    expect(warnings).toEqual([])
  })

  test('a launcher without GPUs works on those of the role that has them', () => {
    const { workloads } = readScript(`mpirun -np 8 python ${TRAIN}`, {
      gpus: 0,
      moreRoles: [roleNamed('worker', 2, 4, [])],
    })
    expect(workloads.map(workload => [workload.role, workload.processes?.value])).toEqual([['worker', 8]])
  })
})

describe('scripts behind scripts', () => {
  const script = 'export STEPS=7\nsrun bash scripts/node.sh 3'
  const files = { 'scripts/node.sh': 'python train.py --epochs $1 --max-steps $STEPS --config conf/a.yaml\n' }

  test('a shell script that was read is followed with its arguments and variables', () => {
    expect(valuesOf(script, { files })).toMatchObject({
      steps: 7,
      epochs: 3,
      place: { file: 'scripts/node.sh', line: 1 },
    })
  })

  test('it is among the files to read, and what it refers to afterwards', () => {
    const place = { file: 'job.sbatch', line: 2 }
    const line = {
      program: 'scripts/node.sh',
      arguments: [],
      place,
      launches: [],
      environment: {},
      writtenFiles: new Map(),
      conditional: false,
      repetitions: 1,
      background: false,
    }
    const job = {
      name: 'job',
      scheduler: 'slurm' as const,
      kind: 'batch script',
      place,
      roles: [roleNamed('job', 1, 1, [line])],
      endless: false,
      destination: {},
      declarations: {},
      warnings: [],
    }
    expect(findReferredPaths(job, new Map())).toEqual(['scripts/node.sh'])
    const text = 'deepspeed train.py --deepspeed conf/z2.json --num_train_epochs 1'
    expect(findReferredPaths(job, new Map([['scripts/node.sh', { text }]]))).toContain('conf/z2.json')
  })
})

describe('what is not understood is named, and nothing is said of what stands there', () => {
  test.each([
    [
      'a launcher script',
      './distributed_train.sh 8 /data --model resnet50 --epochs 300',
      './distributed_train.sh 8 /data',
    ],
    ['a recipe', 'pip install x\nsrun python -m someones.cook qlora.gin\ncp a b', 'someones.cook qlora.gin'],
    ['a program of its own kind', 'melt run strong --config furnace/8B epochs=3\ntar cf x y', 'melt run'],
  ])('%s', (_, script, named) => {
    const { workloads, warnings } = readScript(script)
    expect(workloads).toEqual([])
    const [warning, ...more] = warnings
    expect(more).toEqual([])
    expect(warning?.code).toBe('no-training-facts')
    expect(warning?.text).toMatch(/^gpufare cannot read what `.*` computes$/)
    expect(warning?.text).toContain(named)
    expect(script.split('\n')[(warning?.place?.line ?? 0) - 1]).toContain(named)
  })

  test('a run whose length is all that is missing has nothing said of it here', () => {
    const { workloads, warnings } = readScript('torchrun --nproc_per_node=1 train.py --batch-size 8')
    expect(workloads).toHaveLength(1)
    expect(warnings).toEqual([])
  })

  test('a configuration that is not here is named, though nothing else is understood', () => {
    const { warnings } = readScript('torchrun --standalone --nproc_per_node=1 cook.py config/train_gpt2.py')
    expect(warnings).toMatchObject([
      { code: 'external-file-missing', text: expect.stringContaining('config/train_gpt2.py'), place: { line: 1 } },
      { code: 'no-training-facts' },
    ])
  })
})

test('a script beside the manifest is followed, one of thousands of lines is not', () => {
  const command = 'torchrun --nproc_per_node 8 train.py --epochs 3\n'
  const follow = (text: string) => readScript('bash run.sh', { gpus: 8, files: { 'run.sh': text } }).workloads
  expect(follow(command).map(({ epochs }) => epochs?.value)).toEqual([3])
  expect(follow(`${command}${'echo on\n'.repeat(6_000)}`)).toEqual([])
})
