import { describe, expect, test } from 'vitest'
import { NothingToPrice } from '../../src/errors.ts'
import { kubernetes } from '../../src/manifests/kubernetes/index.ts'
import { jobOf, manifestOf, sizesOf, template, warned } from './kubernetes-texts.ts'

describe('JobSet', () => {
  const jobSet = (job: string, more = '') => `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: set}
spec:
${more}  replicatedJobs:
  - name: workers
    replicas: 2
    template: {spec: {parallelism: 4, completions: 4, ${job}template: ${template(8)}}}
`

  test('copies of a Job are more of its pods', () => {
    expect(sizesOf(jobOf(jobSet('')))).toEqual(['workers 8x8'])
  })

  test('the limit of the inner Job is that of its role', () => {
    const job = jobOf(jobSet('activeDeadlineSeconds: 7200, '))
    expect(job.roles[0]?.timeLimitSeconds?.value).toBe(7200)
    expect(warned(job, 'no-time-limit')).toEqual([])
  })

  test('restarts of the set win over those of its Jobs, which are six by default', () => {
    expect(warned(jobOf(jobSet('', '  failurePolicy: {maxRestarts: 3}\n')), 'retries-multiply-cost')).toEqual([
      expect.stringContaining('3 times'),
    ])
    expect(warned(jobOf(jobSet('')), 'retries-multiply-cost')).toEqual([expect.stringContaining('6 times by default')])
    expect(warned(jobOf(jobSet('backoffLimit: 0, ')), 'retries-multiply-cost')).toEqual([])
  })

  test('pods that nothing starts together are counted while they wait', () => {
    const [warning] = jobOf(jobSet('')).warnings.filter(({ code }) => code === 'no-gang')
    expect(warning?.idleGpus).toBe(56)
    const queued = jobSet('').replace('{name: set}', '{name: set, labels: {kueue.x-k8s.io/queue-name: q}}')
    expect(warned(jobOf(queued), 'no-gang')).toEqual([])
  })
})

describe('LeaderWorkerSet', () => {
  const set = (parts: string) => `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve}
spec: ${parts}
`

  test.each([
    [
      'the size counts the leader',
      `{replicas: 2, leaderWorkerTemplate: {size: 3, leaderTemplate: ${template(0)}, workerTemplate: ${template(8)}}}`,
      ['leader 2x0', 'worker 4x8'],
    ],
    [
      'without a leader of its own all are workers',
      `{replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate: ${template(8)}}}`,
      ['worker 6x8'],
    ],
    [
      'a leader alone',
      `{leaderWorkerTemplate: {size: 1, leaderTemplate: ${template(4)}, workerTemplate: ${template(8)}}}`,
      ['leader 1x4'],
    ],
    ['one group of one pod by default', `{leaderWorkerTemplate: {workerTemplate: ${template(2)}}}`, ['worker 1x2']],
  ])('%s', (_, parts, sizes) => {
    const job = jobOf(set(parts))
    expect(sizesOf(job)).toEqual(sizes)
    expect(job.endless).toBe(true)
  })
})

describe('Ray', () => {
  const groups = (worker: string, head = template(0)) => `
    headGroupSpec: {rayStartParams: {}, template: ${head}}
    workerGroupSpecs:
    - groupName: big
      template: ${template(8)}
      ${worker}
`
  const cluster = (worker: string, more = '') =>
    `apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: pool}\nspec:\n    rayVersion: "2.50"${more}${groups(worker)}`
  const rayJob = (worker: string, more: string) =>
    `apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: tune}\nspec:\n  ${more}\n  rayClusterSpec:${groups(worker)}`

  test.each([
    ['no workers unless a number is written', '{}', 'big 0x8'],
    ['the number written', '{replicas: 3}', 'big 3x8'],
    ['never fewer than the smallest', '{replicas: 1, minReplicas: 2}', 'big 2x8'],
    ['never more than the largest', '{replicas: 9, maxReplicas: 4}', 'big 4x8'],
    ['each replica has several hosts', '{replicas: 2, numOfHosts: 4}', 'big 8x8'],
  ])('%s', (_, worker, size) => {
    const lines = worker.slice(1, -1).split(', ').join('\n      ')
    expect(sizesOf(jobOf(cluster(lines)))).toEqual(['head 1x0', size])
  })

  test('bounds are a range where the autoscaler is on', () => {
    const bounds = 'replicas: 1\n      minReplicas: 1\n      maxReplicas: 5'
    expect(jobOf(cluster(bounds)).roles[1]?.replicaRange).toBeUndefined()
    const scaled = jobOf(cluster(bounds, '\n    enableInTreeAutoscaling: true'))
    expect(scaled.roles[1]?.replicaRange).toEqual({ smallest: 1, largest: 5 })
    expect(warned(scaled, 'autoscaling-range')).toEqual([expect.stringContaining('8 to 40 GPUs')])
    const open = jobOf(cluster('replicas: 1', '\n    enableInTreeAutoscaling: true'))
    expect(warned(open, 'autoscaling-range')).toEqual([expect.stringContaining('no largest number')])
  })

  test('a cluster that stays after the work is told in GPUs', () => {
    const stays = jobOf(rayJob('replicas: 2', 'entrypoint: python train.py'))
    expect(stays.warnings.find(({ code }) => code === 'idle-gpus')?.idleGpus).toBe(16)
    for (const cleans of ['shutdownAfterJobFinishes: true', 'deletionStrategy: {deletionRules: []}']) {
      expect(warned(jobOf(rayJob('replicas: 2', `entrypoint: python train.py\n  ${cleans}`)), 'idle-gpus')).toEqual([])
    }
  })

  test('the entrypoint is the program, with the variables of its environment', () => {
    const text = rayJob(
      'replicas: 2',
      'entrypoint: python train.py --epochs $EPOCHS\n  runtimeEnvYAML: "env_vars: {EPOCHS: \\"3\\"}"\n  backoffLimit: 2',
    )
    const job = jobOf(text)
    const [line] = job.roles[1]?.commandLines ?? []
    expect(line?.program).toBe('train.py')
    expect(line?.arguments.map(word => word.text)).toEqual(['--epochs', '3'])
    expect(warned(job, 'retries-multiply-cost')).toEqual([expect.stringContaining('2 times')])
    expect(warned(jobOf(rayJob('replicas: 1', 'entrypoint: python a.py')), 'retries-multiply-cost')).toEqual([])
  })

  test('a job for a cluster that stands already has no price of its own', () => {
    const submitted = `apiVersion: ray.io/v1
kind: RayJob
metadata: {name: sub}
spec: {entrypoint: python a.py, clusterSelector: {ray.io/cluster: pool}}
`
    expect(() => kubernetes.read(manifestOf(submitted))).toThrow(/runs on a RayCluster that stands already/)
    expect(jobOf(`${submitted}---\n${cluster('replicas: 1')}`).name).toBe('pool')
  })

  test('GPUs that Ray is told of and the pod does not ask for are a conflict, never a count', () => {
    const job = jobOf(cluster('replicas: 1\n      rayStartParams: {num-gpus: "16"}'))
    expect(sizesOf(job)).toEqual(['head 1x0', 'big 1x8'])
    expect(warned(job, 'conflict')).toEqual([expect.stringContaining('16 GPUs')])
  })
})

describe('Volcano Job', () => {
  const volcano = (more: string) => `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: v}
spec:
  queue: research-a100
${more}  tasks:
  - {name: worker, replicas: 4, template: ${template(1)}}
`

  test('its controller starts the pods together', () => {
    const job = jobOf(volcano('  minAvailable: 4\n  priorityClassName: high\n'))
    expect(job.kind).toBe('Job (batch.volcano.sh)')
    expect(job.gang?.value).toBe('minAvailable 4 of 4 pods')
    expect(job.destination).toEqual({ queue: 'research-a100', priority: 'high' })
    expect(job.roles[0]?.gpuType.basis).toBe('partition-hint')
    expect(warned(jobOf(volcano('  minAvailable: 5\n')), 'scheduler-will-refuse')).toHaveLength(1)
  })

  test('retries count only where a policy restarts something', () => {
    const restarts = '  policies: [{event: PodEvicted, action: RestartJob}]\n'
    expect(warned(jobOf(volcano(restarts)), 'retries-multiply-cost')).toEqual([
      expect.stringContaining('3 times by default'),
    ])
    const completes = '  maxRetry: 5\n  policies: [{event: TaskCompleted, action: CompleteJob}]\n'
    expect(warned(jobOf(volcano(completes)), 'retries-multiply-cost')).toEqual([])
  })
})

describe('RayService', () => {
  const served = (applications: string) => {
    const job = jobOf(`apiVersion: ray.io/v1
kind: RayService
metadata: {name: s}
spec:
  serveConfigV2: |
    applications: ${applications}
  rayClusterConfig:
    headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: h, image: x}]}}}
    workerGroupSpecs: [{groupName: w, replicas: 0, minReplicas: 0, maxReplicas: 2, rayStartParams: {}, template: ${template(4)}}]
`)
    return job.roles.map(({ serves }) => serves && [serves.modelName?.value, serves.tensorParallel?.value])
  }
  const model = (id: string) =>
    `{model_loading_config: {model_id: short, model_source: ${id}}, engine_kwargs: {tensor_parallel_size: 4}}`

  test('serves the model that its configuration names where the GPUs are', () => {
    expect(served(`[{args: {llm_configs: [${model('org/one')}]}}]`)).toEqual([undefined, ['org/one', 4]])
    expect(served('[{runtime_env: {env_vars: {MODEL_ID: org/one}}}]')).toEqual([undefined, ['org/one', undefined]])
  })

  test('variables of its programs make it no template', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Ray's
    expect(served('[{runtime_env: {env_vars: {MODEL_ID: org/one, PYTHONPATH: "${HOME}/models"}}}]')).toEqual([
      undefined,
      ['org/one', undefined],
    ])
  })

  test('names none of several, and none where its configuration is no YAML', () => {
    const nothing = [undefined, [undefined, undefined]]
    expect(served(`[{args: {llm_configs: [${model('org/one')}, ${model('org/two')}]}}]`)).toEqual(nothing)
    expect(served('[{')).toEqual(nothing)
  })
})

test.each([
  ['nvcr.io/nim/org/one:1', '', 'org/one'],
  ['nvcr.io/nim/nvidia/llm-nim:1.14', 'env: [{name: NIM_MODEL_NAME, value: "hf://org/two"}], ', 'org/two'],
  ['nvcr.io/nim/nvidia/llm-nim:1.14', '', undefined],
])('the NIM image %s with {%s} serves %s', (image, env, model) => {
  const container = `{name: c, image: '${image}', ${env}resources: {limits: {nvidia.com/gpu: 1}}}`
  const job = jobOf(`apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [${container}]}\n`)
  expect(job.roles[0]?.serves?.framework?.value).toBe('nim')
  expect(job.roles[0]?.serves?.modelName?.value).toBe(model)
})

test('mpi-operator’s launcher is a Job, which tries six times more; training-operator’s is none', () => {
  const mpiJob = (version: string, policy = '') => `apiVersion: kubeflow.org/${version}
kind: MPIJob
metadata: {name: m}
spec:
  runPolicy: {${policy}}
  mpiReplicaSpecs:
    Launcher: {replicas: 1, restartPolicy: Never, template: {spec: {containers: [{name: l, image: x}]}}}
    Worker: {replicas: 2, restartPolicy: Never, template: ${template(8)}}
`
  expect(warned(jobOf(mpiJob('v2beta1')), 'retries-multiply-cost')).toEqual([expect.stringContaining('6 times')])
  expect(warned(jobOf(mpiJob('v2beta1', 'backoffLimit: 0')), 'retries-multiply-cost')).toEqual([])
  expect(warned(jobOf(mpiJob('v1')), 'retries-multiply-cost')).toEqual([])
})

describe('TrainJob', () => {
  const runtime = (kind: string, policy: string, jobs: string) => `apiVersion: trainer.kubeflow.org/v1alpha1
kind: ${kind}
metadata: {name: rt}
spec:
  mlPolicy: ${policy}
  template: {spec: {replicatedJobs: [${jobs}]}}
---
`
  const node = (gpus: number, more = '') =>
    `{name: node, template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {${more}containers: [{name: node, image: i, command: [torchrun, train.py], resources: {limits: {nvidia.com/gpu: ${gpus}, example.com/nic: 1}}}]}}}}}`
  const trainJob = (trainer: string, more = '') => `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t}
spec:
  runtimeRef: {name: rt}
  trainer: ${trainer}
${more}`

  test('what it leaves out is the runtime’s', () => {
    const job = jobOf(runtime('ClusterTrainingRuntime', '{numNodes: 2, torch: {}}', node(4)) + trainJob('{}'))
    expect(sizesOf(job)).toEqual(['node 2x4'])
    expect(job.roles[0]?.commandLines[0]?.launches).toMatchObject([
      { launcher: 'torchrun', nodes: 2, processesPerNode: 4 },
    ])
  })

  test('what it says wins, by name of the resource', () => {
    const trainer =
      '{numNodes: 3, numProcPerNode: 2, args: [--epochs=2], resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}'
    const job = jobOf(
      runtime('ClusterTrainingRuntime', '{numNodes: 1, torch: {numProcPerNode: auto}}', node(4)) + trainJob(trainer),
    )
    expect(sizesOf(job)).toEqual(['node 3x8'])
    const [line] = job.roles[0]?.commandLines ?? []
    expect(line?.arguments.map(word => word.text)).toEqual(['--epochs=2'])
    expect(line?.launches).toMatchObject([{ nodes: 3, processesPerNode: 2 }])
  })

  test.each([
    [
      'podTemplateOverrides',
      'podTemplateOverrides: [{targetJobs: [{name: node}], spec: {nodeSelector: {nvidia.com/gpu.product: Tesla-T4}}}]',
    ],
    [
      'podSpecOverrides',
      'podSpecOverrides: [{targetJobs: [{name: node}], nodeSelector: {nvidia.com/gpu.product: Tesla-T4}}]',
    ],
    [
      'runtimePatches',
      'runtimePatches: [{manager: me, trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {nodeSelector: {nvidia.com/gpu.product: Tesla-T4}}}}}}]}}}}]',
    ],
  ])('%s are laid over the pods', (_, overrides) => {
    const labelled = node(1, 'nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4, disk: fast}, ')
    const job = jobOf(runtime('ClusterTrainingRuntime', '{torch: {}}', labelled) + trainJob('{}', `  ${overrides}\n`))
    expect(job.roles[0]?.gpuType.names.map(name => name.value)).toEqual(['Tesla-T4'])
  })

  test('a launcher that works too is one of the nodes', () => {
    const jobs = `${node(8).replace('{name: node,', '{name: launcher,')}, {name: node, template: {spec: {template: {spec: {containers: [{name: node, image: i}]}}}}}`
    const mpi = '{numNodes: 1, mpi: {numProcPerNode: 1, runLauncherAsNode: true}}'
    const trainer = '{numNodes: 4, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}'
    const job = jobOf(runtime('ClusterTrainingRuntime', mpi, jobs) + trainJob(trainer))
    expect(sizesOf(job)).toEqual(['launcher 1x8', 'node 3x8'])
  })

  test('a namespaced runtime is another object than one of the cluster of the same name', () => {
    const text = runtime('TrainingRuntime', '{torch: {}}', node(4)) + trainJob('{}')
    expect(() => kubernetes.read(manifestOf(text))).toThrow(/ClusterTrainingRuntime rt, which is not in this file/)
  })

  test('without its runtime it is read as far as it goes, or what is missing is named', () => {
    const known = jobOf(trainJob('{numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}'))
    expect(sizesOf(known)).toEqual(['node 2x8'])
    expect(warned(known, 'external-file-missing')).toEqual([expect.stringContaining('ClusterTrainingRuntime rt')])
    expect(warned(known, 'gpu-count-unknown')).toEqual([])
    const open = jobOf(trainJob('{resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}'))
    expect(warned(open, 'gpu-count-unknown')).toHaveLength(1)
    const read = () => kubernetes.read(manifestOf(trainJob('{numNodes: 2}')))
    expect(read).toThrow(NothingToPrice)
    expect(read).toThrow(/kubectl get clustertrainingruntime rt -o yaml/)
  })
})

describe('what holds or queues a job', () => {
  const wrapped = (metadata: string, spec = '') => `apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: w${metadata}}
spec:
${spec}  components:
  - template:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: inner}
      spec: {parallelism: 2, completions: 2, backoffLimit: 0, template: ${template(8)}}
  - template: {apiVersion: v1, kind: Service, metadata: {name: s}}
`

  test('the objects in an AppWrapper are read, its queue and suspension are theirs', () => {
    const job = jobOf(wrapped(', labels: {kueue.x-k8s.io/queue-name: team-q}', '  suspend: true\n'))
    expect([job.name, ...sizesOf(job)]).toEqual(['inner', 'job 2x8'])
    expect(job.destination).toEqual({ queue: 'team-q' })
    expect(job.gang?.value).toBe('kueue.x-k8s.io/queue-name')
    expect(warned(job, 'suspended')).toEqual([expect.stringContaining('queue team-q')])
  })

  test('an AppWrapper makes again what failed', () => {
    expect(warned(jobOf(wrapped('')), 'retries-multiply-cost')).toEqual([expect.stringContaining('3 times by default')])
    const never = ', annotations: {workload.codeflare.dev.appwrapper/retryLimit: "0"}'
    expect(warned(jobOf(wrapped(never)), 'retries-multiply-cost')).toEqual([])
  })

  const job = (metadata: string, pod: string) => `apiVersion: batch/v1
kind: Job
metadata: {name: j${metadata}}
spec: {parallelism: 2, completions: 2, template: ${template(8, pod)}}
`

  test('Kueue’s longest time is a limit', () => {
    const limited = jobOf(
      job(', labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: "3600"}', ''),
    )
    expect(limited.roles[0]?.timeLimitSeconds?.value).toBe(3600)
    expect(warned(limited, 'no-time-limit')).toEqual([])
  })

  test.each([
    ['a scheduling group of Kubernetes itself', 'schedulingGroup: {podGroupName: g}, ', 'schedulingGroup'],
    ['a scheduler that starts groups', 'schedulerName: kai-scheduler, ', 'schedulerName kai-scheduler'],
  ])('%s starts pods together', (_, pod, gang) => {
    expect(jobOf(job('', pod)).gang?.value).toBe(gang)
  })

  test('the priority of the pods is shown', () => {
    expect(jobOf(job('', 'priorityClassName: urgent, ')).destination).toEqual({ priority: 'urgent' })
  })
})

test('a program that a role without GPUs starts by ssh runs where the GPUs are', () => {
  const job = jobOf(`apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mpi}
spec:
  tasks:
  - name: master
    replicas: 1
    template: {spec: {containers: [{name: m, image: i, command: [mpirun, -np, "16", python, train.py]}]}}
  - {name: worker, replicas: 2, template: ${template(8)}}
`)
  expect(job.roles.map(role => role.commandLines.map(line => line.program))).toEqual([[], ['train.py']])
})

describe('a kind that nobody knows', () => {
  const odd = (more: string) => `apiVersion: example.org/v1
kind: TrainingThing
metadata: {name: odd}
spec:
  groups:
  - {name: a, replicas: 3, ${more}template: ${template(2)}}
`

  test('is read through its pod templates, and says so', () => {
    const job = jobOf(odd(''))
    expect(sizesOf(job)).toEqual(['groups 3x2'])
    expect(warned(job, 'gpu-count-inferred')).toHaveLength(1)
    expect(warned(job, 'gpu-count-unknown')).toEqual([])
  })

  test.each(['count: 5, ', 'numWorkers: 4, ', 'groupSize: 2, '])(
    '%smay be a number of pods, and counts for none',
    more => {
      const job = jobOf(odd(more))
      expect(sizesOf(job)).toEqual(['groups 3x2'])
      expect(warned(job, 'gpu-count-unknown')).toEqual([expect.stringContaining(more.slice(0, -2))])
    },
  )
})

describe('Run:ai', () => {
  const workload = (kind: string, spec: string, more = '') =>
    `apiVersion: run.ai/v2alpha1\nkind: ${kind}\nmetadata: {name: w}\n${more}spec: ${spec}\n`

  test('GPUs are a number or a part of one', () => {
    const whole = jobOf(workload('TrainingWorkload', '{gpuDevices: {value: 8}, command: {value: python train.py}}'))
    expect(sizesOf(whole)).toEqual(['workload 1x8'])
    expect(whole.roles[0]?.commandLines[0]?.program).toBe('train.py')
    const part = jobOf(workload('InteractiveWorkload', '{gpu: {value: "0.5"}}'))
    expect(part.roles[0]?.deviceShare).toEqual({ kind: 'fraction', share: 0.5 })
    expect(part.endless).toBe(true)
  })

  test('workers stand beside a master', () => {
    const master = 'masterSpec: {gpuDevices: {value: 8}}\n'
    const job = jobOf(workload('DistributedWorkload', '{gpuDevices: {value: 8}, workers: {value: 3}}', master))
    expect(sizesOf(job)).toEqual(['master 1x8', 'worker 3x8'])
    expect(job.gang?.value).toBe('schedulerName runai-scheduler')
    const without = jobOf(workload('DistributedWorkload', '{gpuDevices: {value: 8}, workers: {value: 3}}'))
    expect(warned(without, 'gpu-count-unknown')).toHaveLength(1)
  })
})
