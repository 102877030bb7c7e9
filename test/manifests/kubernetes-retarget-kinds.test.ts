import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { kubernetes } from '../../src/manifests/kubernetes/index.ts'
import { describeKubernetes } from '../servers/state.ts'
import { jobOf, manifestOf, sizesOf } from './kubernetes-texts.ts'

/** A pod's spec with 8 A100, its lines as far in as wanted. */
function podSpec(indent: number): string {
  const lines = [
    'restartPolicy: Never   # once',
    'nodeSelector:',
    "  nvidia.com/gpu.product: 'NVIDIA-A100-SXM4-80GB'",
    'containers:',
    '- name: main',
    '  image: example/train:1',
    '  resources:',
    '    requests: {cpu: 8, nvidia.com/gpu: 8}',
    '    limits:',
    '      nvidia.com/gpu: "8"   # all',
  ]
  return lines.map(line => ' '.repeat(indent) + line).join('\n')
}

const cpuTemplate = '{spec: {containers: [{name: head, image: example/ray:2}]}}'

function kubeflow(kind: string, specs: string, role: string, more = ''): string {
  return `apiVersion: kubeflow.org/v1
kind: ${kind}
metadata: {name: retarget}
spec:
${more}  ${specs}:
    ${role}:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
${podSpec(10)}
`
}

function rayGroups(indent: number): string {
  const lines = `rayVersion: '2.50.0'
headGroupSpec:
  rayStartParams: {num-gpus: "0"}
  template: ${cpuTemplate}
workerGroupSpecs:
- groupName: gpu
  replicas: 2
  minReplicas: 1
  maxReplicas: 2
  rayStartParams:
    num-gpus: "8"
  template:
    spec:`
  return lines
    .split('\n')
    .map(line => ' '.repeat(indent) + line)
    .concat(podSpec(indent + 6))
    .join('\n')
}

const TRAIN_JOB = `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: rt}
spec:
  mlPolicy:
    numNodes: 1
    torch: {numProcPerNode: auto}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                nodeSelector:
                  nvidia.com/gpu.product: 'NVIDIA-A100-SXM4-80GB'
                containers:
                - name: node
                  image: example/train:1
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: retarget}
spec:
  runtimeRef: {apiGroup: trainer.kubeflow.org, kind: TrainingRuntime, name: rt}
  trainer:
    numNodes: 2     # machines
    numProcPerNode: 8
    resourcesPerNode:
      limits:
        nvidia.com/gpu: "8"   # all
`

/** A kind that the test cluster knows, with pods of 8 GPUs in one role. */
interface Sample {
  readonly kind: string
  readonly text: string
  /** Pods of that role. */
  readonly pods: number
  /** Lines beside the usual ones that have to change with the GPUs. */
  readonly more?: readonly (readonly [string, string])[]
}

const KINDS: readonly Sample[] = [
  {
    kind: 'JobSet',
    text: `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: retarget}
spec:
  replicatedJobs:
  - name: workers
    replicas: 2      # slices
    template:
      spec:
        parallelism: 2
        completions: 2
        backoffLimit: 0
        template:
          spec:
${podSpec(12)}
`,
    pods: 4,
  },
  { kind: 'TrainJob', text: TRAIN_JOB, pods: 2, more: [['    numProcPerNode: 8', '    numProcPerNode: 4']] },
  {
    kind: 'Volcano Job',
    text: `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: retarget}
spec:
  minAvailable: 2
  schedulerName: volcano
  tasks:
  - name: worker
    replicas: 2
    template:
      spec:
${podSpec(8)}
`,
    pods: 2,
  },
  {
    kind: 'RayCluster',
    text: `apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: retarget}\nspec:\n${rayGroups(2)}\n`,
    pods: 2,
    more: [['    num-gpus: "8"', '    num-gpus: "4"']],
  },
  {
    kind: 'RayJob',
    text: `apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: retarget}\nspec:\n  entrypoint: python train.py --steps 100\n  shutdownAfterJobFinishes: true\n  rayClusterSpec:\n${rayGroups(4)}\n`,
    pods: 2,
    more: [['    num-gpus: "8"', '    num-gpus: "4"']],
  },
  {
    kind: 'RayService',
    text: `apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: retarget}\nspec:\n  rayClusterConfig:\n${rayGroups(4)}\n`,
    pods: 2,
    more: [['    num-gpus: "8"', '    num-gpus: "4"']],
  },
  {
    kind: 'LeaderWorkerSet',
    text: `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: retarget}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      spec:
${podSpec(8).replace('restartPolicy: Never   # once', 'hostNetwork: false   # once')}
`,
    pods: 6,
  },
  {
    kind: 'PyTorchJob',
    text: kubeflow('PyTorchJob', 'pytorchReplicaSpecs', 'Worker', '  nprocPerNode: "8"\n'),
    pods: 1,
    more: [['  nprocPerNode: "8"', '  nprocPerNode: "4"']],
  },
  { kind: 'TFJob', text: kubeflow('TFJob', 'tfReplicaSpecs', 'Worker'), pods: 1 },
  { kind: 'XGBoostJob', text: kubeflow('XGBoostJob', 'xgbReplicaSpecs', 'Worker'), pods: 1 },
  { kind: 'PaddleJob', text: kubeflow('PaddleJob', 'paddleReplicaSpecs', 'Worker'), pods: 1 },
  { kind: 'JAXJob', text: kubeflow('JAXJob', 'jaxReplicaSpecs', 'Worker'), pods: 1 },
  {
    kind: 'MPIJob',
    text: `apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: retarget}
spec:
  slotsPerWorker: 8
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template: ${cpuTemplate}
    Worker:
      replicas: 2
      template:
        spec:
${podSpec(10)}
`,
    pods: 2,
    more: [['  slotsPerWorker: 8', '  slotsPerWorker: 4']],
  },
  {
    kind: 'Job',
    text: `apiVersion: batch/v1
kind: Job
metadata: {name: retarget}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
${podSpec(6)}
`,
    pods: 2,
  },
]

function textOf(kind: string): string {
  return KINDS.find(sample => sample.kind === kind)?.text ?? ''
}

/** The same with four T4 for each pod. */
function toT4(text: string, pods: number): string {
  const nodeSelector = { 'nvidia.com/gpu.product': 'Tesla-T4' }
  return kubernetes.retarget(manifestOf(text), { replicas: pods, gpusPerReplica: 4, nodeSelector })
}

describe('other GPUs for the kinds of operators', () => {
  test.each(KINDS)('$kind: only what is about the GPUs changes', ({ kind, text, pods, more = [] }) => {
    const shortened = [
      ["'NVIDIA-A100-SXM4-80GB'", "'Tesla-T4'"],
      ['nvidia.com/gpu: 8', 'nvidia.com/gpu: 4'],
      ['nvidia.com/gpu: "8"   # all', 'nvidia.com/gpu: "4"   # all'],
      ...more,
    ]
    const wanted = shortened.reduce((changed, [before = '', after = '']) => {
      return changed.replace(before, after)
    }, text)
    expect(wanted).not.toBe(text)
    expect(toT4(text, pods), kind).toBe(wanted)
  })

  test.each(KINDS)('$kind: the new text reads as what was wanted', ({ text, pods }) => {
    const after = jobOf(toT4(text, pods))
    const sizes = sizesOf(after).filter(size => !size.endsWith('x0'))
    expect(sizes).toEqual([expect.stringMatching(new RegExp(` ${pods}x4$`))])
    const [role] = after.roles.filter(each => each.gpusPerReplica.value > 0)
    expect(role?.gpuType.names.map(name => name.value)).toEqual(['Tesla-T4'])
  })
})

describe('what is not changed in place says why', () => {
  const jobSet = textOf('JobSet')
  const rayJob = textOf('RayJob')
  test.each<[string, string, number, number, RegExp]>([
    ['copies of a Job', jobSet, 8, 8, /several numbers make up its pods/],
    ['more pods than the bounds', rayJob, 3, 8, /its bounds are 1 and 2 pods, not 3/],
    [
      'an entrypoint that counts the GPUs',
      rayJob.replace('--steps 100', '--num-workers 16'),
      2,
      4,
      /its entrypoint says 16/,
    ],
    [
      'a runtime of the whole cluster',
      TRAIN_JOB.replaceAll('TrainingRuntime', 'ClusterTrainingRuntime'),
      2,
      8,
      /a ClusterTrainingRuntime is for all jobs that name it/,
    ],
    [
      'GPUs of a claim',
      'apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\nspec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com}}]}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceClaims: [{name: g, resourceClaimTemplateName: c}], containers: [{name: a, image: i}]}\n',
      1,
      2,
      /its GPUs come by a resource claim/,
    ],
    [
      'a part of a GPU',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: i, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 3000}}}]}\n',
      1,
      2,
      /it takes a part of a GPU/,
    ],
  ])('%s', (_, text, replicas, gpusPerReplica, reason) => {
    const nodeSelector = { 'nvidia.com/gpu.product': 'Tesla-T4' }
    expect(() => kubernetes.retarget(manifestOf(text), { replicas, gpusPerReplica, nodeSelector })).toThrow(reason)
  })
})

describeKubernetes('the API server takes what was changed', environment => {
  test.each(KINDS)('$kind', ({ text, pods }) => {
    const words = ['create', '--dry-run=server', '-n', 'team-b', '-o', 'name', '-f', '-']
    const printed = execFileSync('kubectl', words, { env: environment, encoding: 'utf8', input: toT4(text, pods) })
    expect(printed).toMatch(/\/retarget\n$/)
  })
})
