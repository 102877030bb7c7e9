import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Manifest } from '../../src/manifest.ts'
import { kubernetes } from '../../src/manifests/kubernetes/index.ts'
import type { Retarget } from '../../src/manifests/manifest-format.ts'

function manifest(text: string): Manifest {
  return {
    path: 'job.yaml',
    name: 'job.yaml',
    bytes: Buffer.from(text),
    text,
    schedulerArguments: [],
    scriptArguments: [],
    environment: {},
  }
}

function caseText(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../cases/${path}`, import.meta.url)), 'utf8')
}

/** Lines that went, and lines that came. */
function changes(
  before: string,
  target: Retarget,
): { readonly gone: readonly string[]; readonly come: readonly string[] } {
  const after = kubernetes.retarget(manifest(before), target)
  const old = before.split('\n')
  const young = after.split('\n')
  return { gone: old.filter(line => !young.includes(line)), come: young.filter(line => !old.includes(line)) }
}

const job = `apiVersion: batch/v1
kind: Job   # nightly
metadata:
  name: train
spec:
  parallelism: 2      # pods
  completions: 2
  template:
    spec:
      restartPolicy: Never
      nodeSelector:
        cloud.google.com/gke-accelerator: 'nvidia-a100-80gb'   # big
        zone: b
      containers:
      - name: main
        image: example/train:1
        command: [bash, -c]
        args:
        - |
          # eight of them
          torchrun --nnodes=2 --nproc_per_node 8 train.py --lr 8
        resources:
          requests: {cpu: 8, nvidia.com/gpu: 8}
          limits:
            nvidia.com/gpu: "8"   # all
`

describe('another GPU type', () => {
  test('the same label gets the new value, in the quotes it has', () => {
    const target = {
      replicas: 2,
      gpusPerReplica: 8,
      nodeSelector: { 'cloud.google.com/gke-accelerator': 'nvidia-tesla-t4' },
    }
    expect(changes(job, target)).toEqual({
      gone: ["        cloud.google.com/gke-accelerator: 'nvidia-a100-80gb'   # big"],
      come: ["        cloud.google.com/gke-accelerator: 'nvidia-tesla-t4'   # big"],
    })
  })

  test('another label takes the place of the old one', () => {
    const target = { replicas: 2, gpusPerReplica: 8, nodeSelector: { 'nvidia.com/gpu.product': 'Tesla-T4' } }
    expect(changes(job, target).come).toEqual(["        nvidia.com/gpu.product: 'Tesla-T4'   # big"])
  })

  test('labels that are missing are added, obsolete ones are taken out', () => {
    const two = { 'nvidia.com/gpu.product': 'Tesla-T4', pool: 't4' }
    const added = changes(job, { replicas: 2, gpusPerReplica: 8, nodeSelector: two })
    expect(added.come).toEqual(['        pool: t4', "        nvidia.com/gpu.product: 'Tesla-T4'   # big"])
    const both = job.replace(
      '        zone: b\n',
      '        zone: b\n        cloud.google.com/gke-accelerator-count: "8"\n',
    )
    const removed = changes(both, {
      replicas: 2,
      gpusPerReplica: 8,
      nodeSelector: { 'nvidia.com/gpu.product': 'Tesla-T4' },
    })
    expect(removed.gone).toContain('        cloud.google.com/gke-accelerator-count: "8"')
  })

  test('a nodeSelector is added where there is none, as far in as its neighbours', () => {
    const bare = job.replace(/ {6}nodeSelector:\n.*\n.*\n/, '')
    const target = { replicas: 2, gpusPerReplica: 8, nodeSelector: { pool: 't4', spot: 'true' } }
    expect(changes(bare, target)).toEqual({
      gone: [],
      come: ['      nodeSelector:', '        pool: t4', '        spot: "true"'],
    })
  })

  test('Windows line ends stay Windows line ends', () => {
    const bare = job.replace(/ {6}nodeSelector:\n.*\n.*\n/, '').replaceAll('\n', '\r\n')
    const after = kubernetes.retarget(manifest(bare), { replicas: 2, gpusPerReplica: 8, nodeSelector: { pool: 't4' } })
    expect(after.replaceAll('\r\n', '')).not.toContain('\n')
  })

  test('another resource name keeps its figure and comment', () => {
    expect(changes(job, { replicas: 2, gpusPerReplica: 8, resourceName: 'amd.com/gpu' })).toEqual({
      gone: ['          requests: {cpu: 8, nvidia.com/gpu: 8}', '            nvidia.com/gpu: "8"   # all'],
      come: ['          requests: {cpu: 8, amd.com/gpu: 8}', '            amd.com/gpu: "8"   # all'],
    })
  })

  test('an affinity rule with one value is changed in place', () => {
    const text = job.replace(
      /nodeSelector:\n.*\n.*\n/,
      `affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: gpu.nvidia.com/class, operator: In, values: [A40]}
`,
    )
    const target = { replicas: 2, gpusPerReplica: 8, nodeSelector: { 'gpu.nvidia.com/class': 'RTX_A6000' } }
    expect(changes(text, target).come).toEqual([
      '              - {key: gpu.nvidia.com/class, operator: In, values: [RTX_A6000]}',
    ])
    expect(() => changes(text, { ...target, nodeSelector: { pool: 'x' } })).toThrow(
      /affinity rule asks for gpu\.nvidia\.com\/class/,
    )
  })
})

describe('another number', () => {
  test('limits, requests, pods and the launcher change together', () => {
    expect(changes(job, { replicas: 4, gpusPerReplica: 4 })).toEqual({
      gone: [
        '  parallelism: 2      # pods',
        '  completions: 2',
        '          torchrun --nnodes=2 --nproc_per_node 8 train.py --lr 8',
        '          requests: {cpu: 8, nvidia.com/gpu: 8}',
        '            nvidia.com/gpu: "8"   # all',
      ],
      come: [
        '  parallelism: 4      # pods',
        '  completions: 4',
        '          torchrun --nnodes=4 --nproc_per_node 4 train.py --lr 8',
        '          requests: {cpu: 8, nvidia.com/gpu: 4}',
        '            nvidia.com/gpu: "4"   # all',
      ],
    })
  })

  test('a number that was not written is added', () => {
    const text =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      containers:\n      - name: m\n        resources: {limits: {nvidia.com/gpu: 1}}\n'
    expect(changes(text, { replicas: 3, gpusPerReplica: 1 })).toEqual({ gone: [], come: ['  replicas: 3'] })
  })

  test('nprocPerNode follows, and flags whose value is a word of its own', () => {
    const text = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  nprocPerNode: "8"
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec:
          containers:
          - name: m
            command: [torchrun, --nproc_per_node, "8", train.py]
            resources: {limits: {nvidia.com/gpu: 8}}
`
    expect(changes(text, { replicas: 2, gpusPerReplica: 4 }).come).toEqual([
      '  nprocPerNode: "4"',
      '      replicas: 2',
      '            command: [torchrun, --nproc_per_node, "4", train.py]',
      '            resources: {limits: {nvidia.com/gpu: 4}}',
    ])
  })

  test('the same figures change nothing', () => {
    expect(kubernetes.retarget(manifest(job), { replicas: 2, gpusPerReplica: 8 })).toBe(job)
  })
})

describe('several places', () => {
  test('an alias that serves all roles is changed once', () => {
    const text = caseText('27-pytorchjob-master-worker/job.yaml').replace('replicas: 3', 'replicas: 1')
    const target = {
      replicas: 1,
      gpusPerReplica: 4,
      nodeSelector: { 'node.kubernetes.io/instance-type': 'g5.12xlarge' },
    }
    expect(changes(text, target)).toEqual({
      gone: [
        '  nprocPerNode: "8"',
        '            node.kubernetes.io/instance-type: "p4d.24xlarge"',
        '                  nvidia.com/gpu: 8',
        '                  nvidia.com/gpu: 8',
        '            node.kubernetes.io/instance-type: "p4d.24xlarge"',
      ],
      come: [
        '  nprocPerNode: "4"',
        '            node.kubernetes.io/instance-type: "g5.12xlarge"',
        '                  nvidia.com/gpu: 4',
        '                  nvidia.com/gpu: 4',
        '            node.kubernetes.io/instance-type: "g5.12xlarge"',
      ],
    })
  })

  test('documents and roles without GPUs stay as they are', () => {
    const text = caseText('29-mpijob-launcher-no-gpu/job.yaml')
    const label = { 'gpu.nvidia.com/class': 'A40' }
    expect(changes(text, { replicas: 4, gpusPerReplica: 8, nodeSelector: label }).come).toEqual([
      '                          - A40',
    ])
    const several = `${job}---\nkind: Service\napiVersion: v1\nmetadata: {name: s} # keep\n`
    expect(kubernetes.retarget(manifest(several), { replicas: 2, gpusPerReplica: 4 })).toContain(
      'metadata: {name: s} # keep',
    )
  })

  test('JSON stays JSON', () => {
    const text = JSON.stringify(
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'a', resources: { limits: { 'nvidia.com/gpu': 2 } } }] },
      },
      null,
      2,
    )
    const after = kubernetes.retarget(manifest(text), { replicas: 1, gpusPerReplica: 4, nodeSelector: { pool: 't4' } })
    expect(JSON.parse(after).spec).toEqual({
      nodeSelector: { pool: 't4' },
      containers: [{ name: 'a', resources: { limits: { 'nvidia.com/gpu': 4 } } }],
    })
  })
})

describe('what cannot be done safely is left to the user', () => {
  test.each<[string, string, Retarget]>([
    [
      'several containers share the GPUs',
      caseText('39-deployment-init-and-sidecar/serve.yaml'),
      { replicas: 2, gpusPerReplica: 8 },
    ],
    ['one pod cannot become two', caseText('44-pod-amd-heredoc-config/pod.yaml'), { replicas: 2, gpusPerReplica: 8 }],
    ['runs of their own', caseText('43-kueue-completions-waves/job.yaml'), { replicas: 2, gpusPerReplica: 1 }],
    [
      'an anchor that is used elsewhere',
      job.replace('cpu: 8, nvidia.com/gpu: 8', 'cpu: &n 8, nvidia.com/gpu: *n'),
      { replicas: 2, gpusPerReplica: 4 },
    ],
  ])('%s', (_, text, target) => {
    expect(kubernetes.read(manifest(text))).toHaveLength(1)
    expect(() => kubernetes.retarget(manifest(text), target)).toThrow(/cannot be changed to other GPUs safely/)
  })
})
