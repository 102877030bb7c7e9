import { describe, expect, test } from 'vitest'
import { emptyConfig } from '../../src/config.ts'
import { type Fare, fareOf } from '../../src/fare.ts'
import { manifestOf } from '../../src/manifest.ts'
import { readJobs } from '../../src/manifests/index.ts'
import { readTables } from '../../src/pricing-data.ts'
import { tablesFolder } from '../../src/quoted-manifests.ts'
import { findingsOf } from './policies.ts'

const tables = readTables(tablesFolder)
const config = {
  ...emptyConfig,
  clusters: [
    {
      name: 'lab',
      scheduler: 'slurm' as const,
      pools: [
        { name: 'h100', gpu: 'h100', gpusPerNode: 8, spot: false, gresType: 'h100', resourceName: 'gpu' },
        { name: 't4', gpu: 't4', gpusPerNode: 8, spot: false, gresType: 't4', resourceName: 'gpu' },
        { name: 'cheap', gpu: 'l40s', gpusPerNode: 8, spot: true, gresType: 'l40s', resourceName: 'gpu' },
      ],
    },
  ],
}

/** The only job of a manifest, on the cluster above. */
function fareFrom(text: string): Fare {
  const [job] = readJobs(manifestOf('job', new TextEncoder().encode(text)))
  if (job === undefined) throw new Error('no job')
  return fareOf(job, new Map(), tables, config)
}

function script(options: string, body = 'srun python train.py'): Fare {
  return fareFrom(`#!/bin/bash\n#SBATCH ${options}\n${body}\n`)
}

/** A pod that holds a GPU; `metadata` is a line of YAML. */
function pod(metadata: string): Fare {
  const container = '{name: main, image: a, resources: {limits: {nvidia.com/gpu: 1}}}'
  return fareFrom(`apiVersion: v1\nkind: Pod\n${metadata}\nspec: {containers: [${container}]}\n`)
}

function rulesIn(policy: Parameters<typeof findingsOf>[0], fare: Fare, more = {}): readonly string[] {
  return findingsOf(policy, fare, { ...config, ...more }).map(({ rule }) => rule)
}

describe('gpu-count', () => {
  const policy = { rule: 'gpu-count', limit: 16 } as const

  test('counts all nodes and proposes fewer', () => {
    expect(findingsOf(policy, script('-p h100 -N 4 --gres=gpu:h100:8 -t 60'), config)).toMatchObject([
      {
        level: 'deny',
        place: { file: 'job', line: 2 },
        message: '32 GPUs at one time is over 16',
        remedy: '2 nodes instead of 4 would pass',
      },
    ])
  })

  test('counts array tasks that run at one time, and no others', () => {
    expect(rulesIn(policy, script('-p h100 --gres=gpu:h100:8 -t 60 --array=0-99%2'))).toEqual([])
    expect(rulesIn(policy, script('-p h100 --gres=gpu:h100:8 -t 60 --array=0-99%3'))).toEqual(['gpu-count'])
  })
})

describe('time', () => {
  test('without a limit is found where one is required, also where it is said to be none', () => {
    const policy = { rule: 'required-time-limit' } as const
    expect(rulesIn(policy, script('-p h100 --gres=gpu:1'))).toEqual(['required-time-limit'])
    expect(rulesIn(policy, script('-p h100 --gres=gpu:1 --time=UNLIMITED'))).toEqual(['required-time-limit'])
    expect(rulesIn(policy, script('-p h100 --gres=gpu:1 --time=1:00:00'))).toEqual([])
  })

  test('limit that is many times the estimate is found, with one that passes', () => {
    const policy = { rule: 'time-limit-slack', limit: 3 } as const
    const fare = script('-p h100 --gres=gpu:h100:1 --time=4-00:00:00\n#GPUFARE runtime=4h')
    const [finding] = findingsOf(policy, fare, config)
    expect(finding).toMatchObject({ level: 'warn', place: { line: 2 } })
    // 4 h declared are 4h23m at the P90; three times that is 13h09m.
    expect(finding?.remedy).toMatch(/^--time=13:05:00 would pass and cost at most \$/)
    expect(rulesIn(policy, script('-p h100 --gres=gpu:h100:1 --time=12:00:00\n#GPUFARE runtime=4h'))).toEqual([])
    expect(rulesIn(policy, script('-p h100 --gres=gpu:h100:1 --time=4-00:00:00'))).toEqual([])
  })

  test('limit that would pass and is too short for the run is told with that', () => {
    const policy = { rule: 'runtime', limit: '2h', basis: 'bound' } as const
    const fare = script('-p h100 --gres=gpu:h100:1 --time=24:00:00\n#GPUFARE runtime=4h')
    expect(findingsOf(policy, fare, config)[0]?.remedy).toMatch(
      /^--time=2:00:00 would pass.*, and stop the run, which needs about 4h00m$/,
    )
  })

  test('limit over the longest runtime is denied where the bound counts', () => {
    const policy = { rule: 'runtime', limit: '24h', basis: 'bound' } as const
    expect(findingsOf(policy, script('-p h100 --gres=gpu:1 -t 2-0'), config)).toMatchObject([
      {
        level: 'deny',
        message: '2d00h (at most, by its time limit) is over 1d00h',
        remedy: '--time=1-00:00:00 would pass',
      },
    ])
  })
})

describe('required-tags', () => {
  const policy = { rule: 'required-tags', tags: ['team', 'cost-center'] } as const

  test('names those that are missing and the lines to add', () => {
    const rows = { ...policy, tags: [...policy.tags] }
    expect(findingsOf(rows, script('-p h100 --gres=gpu:1\n#GPUFARE team=nlp'), config)).toMatchObject([
      {
        message: 'what costs are told apart by is missing: cost-center',
        remedy: expect.stringContaining('#GPUFARE cost-center=NAME'),
      },
    ])
    expect(rulesIn(rows, script('-p h100 --gres=gpu:1\n#GPUFARE team=nlp\n#GPUFARE cost-center=7'))).toEqual([])
  })

  test('may be tags of any name: labels, a declaration, the configuration', () => {
    const rows = { ...policy, tags: ['team', 'project', 'app.kubernetes.io/part-of'] }
    const labelled = pod('metadata: {name: a, labels: {team: nlp, app.kubernetes.io/part-of: apollo}}')
    expect(findingsOf(rows, labelled, config)).toMatchObject([
      {
        message: 'what costs are told apart by is missing: project',
        remedy: 'the label project, or project in gpufare.yaml, would pass',
      },
    ])
    expect(rulesIn(rows, labelled, { tags: { project: 'apollo' } })).toEqual([])
    const declared = script('-p h100 --gres=gpu:1\n#GPUFARE team=nlp\n#GPUFARE tag.project=apollo')
    expect(findingsOf(rows, declared, config)).toMatchObject([
      { remedy: expect.stringContaining('#GPUFARE tag.app.kubernetes.io/part-of=NAME') },
    ])
  })

  test('that a policy is about are found wherever they are said', () => {
    const rows = { rule: 'required-time-limit', where: { tag: { project: 'apollo' } } } as const
    const annotated = 'metadata: {name: a, annotations: {gpufare.dev/tag.project: apollo}}'
    expect(rulesIn(rows, pod('metadata: {name: a, labels: {project: apollo}}'))).toEqual(['required-time-limit'])
    expect(rulesIn(rows, pod(annotated))).toEqual(['required-time-limit'])
    expect(rulesIn(rows, pod('metadata: {name: a, labels: {project: gemini}}'))).toEqual([])
  })

  test('keyed like an object of the language are just missing', () => {
    const rows = { ...policy, tags: ['constructor'] }
    expect(rulesIn(rows, script('-p h100 --gres=gpu:1'))).toEqual(['required-tags'])
  })
})

describe('forbidden-gpu', () => {
  const onlySmall = { rule: 'forbidden-gpu', jobs: ['session' as const], allowed: ['t4', 'slice'] } as const
  const policy = { ...onlySmall, jobs: [...onlySmall.jobs], allowed: [...onlySmall.allowed] }

  test('allows notebooks what it names and forbids them the rest', () => {
    expect(findingsOf(policy, script('-p h100 --gres=gpu:h100:1 -t 60', 'jupyter lab'), config)).toMatchObject([
      {
        level: 'deny',
        message: 'h100-80gb is forbidden for session jobs, only t4 or slice is allowed',
        remedy: expect.stringContaining('T4'),
      },
    ])
    expect(rulesIn(policy, script('-p t4 --gres=gpu:t4:1 -t 60', 'jupyter lab'))).toEqual([])
  })

  test('leaves other jobs alone', () => {
    expect(rulesIn(policy, script('-p h100 --gres=gpu:h100:1 -t 60'))).toEqual([])
  })

  test('takes any spelling of a GPU type', () => {
    const forbidden = { rule: 'forbidden-gpu' as const, gpus: ['NVIDIA-H100-80GB-HBM3'] }
    expect(rulesIn(forbidden, script('-p h100 --gres=gpu:h100:1 -t 60'))).toEqual(['forbidden-gpu'])
    expect(rulesIn(forbidden, script('-p t4 --gres=gpu:t4:1 -t 60'))).toEqual([])
  })

  test('allows a slice of any GPU', () => {
    const pod = (resource: string) =>
      fareFrom(`apiVersion: v1
kind: Pod
metadata: {name: notebook}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
  containers: [{name: a, image: x, command: [jupyter, lab], resources: {limits: {${resource}: 1}}}]
`)
    expect(rulesIn(policy, pod('nvidia.com/mig-1g.10gb'))).toEqual([])
    expect(rulesIn(policy, pod('nvidia.com/gpu'))).toEqual(['forbidden-gpu'])
  })
})

describe('endless-session', () => {
  const policy = { rule: 'endless-session' } as const
  const request = '-p t4 --gres=gpu:t4:1'

  test.each(['jupyter lab --no-browser', 'sleep infinity', 'code-server', 'tail -f /dev/null'])('finds %s', body => {
    expect(rulesIn(policy, script(request, body))).toEqual(['endless-session'])
  })

  test.each([
    ['a job that computes', request, 'python train.py'],
    ['a short sleep', request, 'sleep 60'],
    ['a time limit', `${request} --time=8:00:00`, 'jupyter lab'],
    ['an idle limit', request, 'jupyter lab --ServerApp.shutdown_no_activity_timeout=3600'],
  ])('passes %s', (_, options, body) => {
    expect(rulesIn(policy, script(options, body))).toEqual([])
  })
})

describe('a notebook of Kubeflow', () => {
  const policy = { rule: 'endless-session' } as const
  const notebook = (annotations: string, variables = '') =>
    fareFrom(`apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: lab, annotations: {${annotations}}}
spec: {template: {spec: {containers: [{name: lab, image: x, env: [${variables}], resources: {limits: {nvidia.com/gpu: 1}}}]}}}
`)

  test('runs over night unless a culler watches it or its server ends itself', () => {
    expect(rulesIn(policy, notebook('team: vision'))).toEqual(['endless-session'])
    expect(rulesIn(policy, notebook('notebooks.kubeflow.org/last-activity: "2026-11-01T10:00:00Z"'))).toEqual([])
    const told = '{name: NOTEBOOK_ARGS, value: "--ServerApp.port=8888 --ServerApp.shutdown_no_activity_timeout=3600"}'
    expect(rulesIn(policy, notebook('', told))).toEqual([])
  })

  test('that is stopped says so', () => {
    const stopped = notebook('kubeflow-resource-stopped: "2026-11-01T10:00:00Z"')
    expect(stopped.warnings.map(({ code }) => code)).toContain('suspended')
  })
})

describe('no-gang', () => {
  const policy = { rule: 'no-gang' } as const
  const job = (workers: number, labels = '', scheduler = '') =>
    fareFrom(`apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train${labels}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: ${workers}
      template:
        spec:
          ${scheduler}
          containers: [{name: pytorch, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]
`)

  test('finds several pods that nothing starts together', () => {
    expect(rulesIn(policy, job(4))).toEqual(['no-gang'])
    expect(rulesIn(policy, job(1))).toEqual([])
  })

  test('is content with a queue that admits all, or a scheduler of gangs', () => {
    expect(rulesIn(policy, job(4, ', labels: {kueue.x-k8s.io/queue-name: gpus}'))).toEqual([])
    expect(rulesIn(policy, job(4, '', 'schedulerName: volcano'))).toEqual([])
    expect(rulesIn(policy, job(4, '', 'schedulerName: default-scheduler'))).toEqual(['no-gang'])
  })

  test('leaves Slurm alone, which starts all nodes together', () => {
    expect(rulesIn(policy, script('-p h100 -N 2 --gres=gpu:h100:8 -t 60'))).toEqual([])
  })
})

describe('spot-without-checkpoint', () => {
  const policy = { rule: 'spot-without-checkpoint' } as const
  const onSpot = '-p cheap --gres=gpu:l40s:1 -t 60'

  test('finds a job on spot machines that saves nothing', () => {
    expect(rulesIn(policy, script(onSpot))).toEqual(['spot-without-checkpoint'])
    expect(rulesIn(policy, script('-p h100 --gres=gpu:h100:1 -t 60'))).toEqual([])
  })

  test('node labels that insist on spot are spot machines, wherever they stand', () => {
    const pod = (label: string) =>
      fareFrom(`apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  nodeSelector: {${label}}
  containers: [{name: a, image: x, command: [python, train.py], resources: {limits: {nvidia.com/gpu: 1}}}]
`)
    expect(rulesIn(policy, pod('karpenter.sh/capacity-type: spot'))).toEqual(['spot-without-checkpoint'])
    expect(rulesIn(policy, pod('karpenter.sh/capacity-type: on-demand'))).toEqual([])
  })

  test.each(['--save_steps 500', '--checkpoint-dir=out', '--resume_from_checkpoint last', 'trainer.save_interval=100'])(
    'is content with %s',
    option => {
      expect(rulesIn(policy, script(onSpot, `python train.py ${option}`))).toEqual([])
    },
  )

  test.each(['--gradient_checkpointing true', '--save_strategy no', '--data checkpoint.pt'])(
    'is not with %s',
    option => {
      expect(rulesIn(policy, script(onSpot, `python train.py ${option}`))).toEqual(['spot-without-checkpoint'])
    },
  )

  test('is content with a manifest that says so', () => {
    expect(rulesIn(policy, script(`${onSpot}\n#GPUFARE checkpoint-interval=30m`))).toEqual([])
  })

  const trainer = 'srun python run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 4'

  test('is content with a trainer that saves by itself, wherever that is not said to be lost', () => {
    expect(rulesIn(policy, script(onSpot, `${trainer} --output_dir $SCRATCH/out`))).toEqual([])
  })

  test('finds checkpoints that go with the node', () => {
    const [finding] = findingsOf(policy, script(onSpot, `${trainer} --output_dir /dev/shm/out --save_steps 50`), config)
    expect(finding?.message).toBe(
      'it runs on spot machines, and its checkpoints go to /dev/shm/out, which is lost with the node: an interruption loses all its work',
    )
  })
})

describe('does-not-fit', () => {
  test('finds more nodes than there are, and a number of GPUs that no node has', () => {
    const few = {
      ...config,
      clusters: config.clusters.map(each => ({ ...each, pools: each.pools.map(pool => ({ ...pool, nodes: 2 })) })),
    }
    const [job] = readJobs(
      manifestOf(
        'job',
        new TextEncoder().encode('#!/bin/bash\n#SBATCH -p h100 -N 3 --gres=gpu:h100:8 -t 60\nsrun x\n'),
      ),
    )
    const fare = job && fareOf(job, new Map(), tables, few)
    expect(fare && findingsOf({ rule: 'does-not-fit' }, fare, few)).toMatchObject([
      { level: 'deny', message: 'it cannot run as written: needs 3 nodes, h100 has 2' },
    ])
    expect(rulesIn({ rule: 'does-not-fit' }, script('-p h100 -N 3 --gres=gpu:h100:8 -t 60'))).toEqual([])
  })
})

describe('idle-gpus', () => {
  test('finds GPUs without a process, at the line that starts too few', () => {
    const fare = script(
      '-p h100 --gres=gpu:h100:8 -t 60',
      'torchrun --nproc_per_node=4 train.py --model_name_or_path gpt2 --num_train_epochs 1',
    )
    expect(findingsOf({ rule: 'idle-gpus' }, fare, config)).toMatchObject([
      {
        level: 'warn',
        place: { line: 3 },
        message: expect.stringContaining('8 GPUs'),
        remedy: '4 GPUs instead of 8 would pass',
      },
    ])
  })
})

describe('where', () => {
  const policy = { rule: 'gpu-count', limit: 0 } as const
  const fare = script('-p h100 --account=nlp --gres=gpu:h100:1 -t 60\n#GPUFARE team=vision\n#GPUFARE cost-center=7')

  test.each([
    [{ cluster: 'lab' }, true],
    [{ cluster: 'other' }, false],
    [{ team: ['nlp', 'vision'] }, true],
    [{ team: 'nlp' }, false],
    [{ gpu: 'H100' }, true],
    [{ gpu: 't4' }, false],
    [{ path: 'jobs/**' }, true],
    [{ path: '*.sbatch' }, true],
    [{ path: 'other/' }, false],
    [{ tag: { 'cost-center': '7', account: 'nlp' } }, true],
    [{ tag: { account: 'cv' } }, false],
    [{ team: 'vision', gpu: 't4' }, false],
  ])('%j: %s', (where, isFound) => {
    const found = findingsOf({ ...policy, where }, fare, config, { path: 'jobs/deep/train.sbatch' })
    expect(found.length === 1).toBe(isFound)
  })

  test('is said in the finding', () => {
    expect(findingsOf({ ...policy, where: { team: 'vision', cluster: 'lab' } }, fare, config)).toMatchObject([
      { message: '1 GPU at one time is over 0 for team vision on cluster lab' },
    ])
  })
})
