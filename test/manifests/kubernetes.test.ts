import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/errors.ts'
import type { Job, Role } from '../../src/job.ts'
import type { Manifest } from '../../src/manifest.ts'
import { kubernetes } from '../../src/manifests/kubernetes/index.ts'

function manifest(text: string, schedulerArguments: readonly string[] = [], name = 'job.yaml'): Manifest {
  return { path: name, name, bytes: Buffer.from(text), text, schedulerArguments, scriptArguments: [], environment: {} }
}

function jobs(text: string): readonly Job[] {
  return kubernetes.read(manifest(text))
}

function onlyJob(text: string): Job {
  const [job, ...others] = jobs(text)
  if (job === undefined || others.length > 0) throw new Error('one job is expected')
  return job
}

function onlyRole(text: string): Role {
  const [role, ...others] = onlyJob(text).roles
  if (role === undefined || others.length > 0) throw new Error('one role is expected')
  return role
}

function faultsOf(text: string): string {
  try {
    jobs(text)
  } catch (error) {
    if (error instanceof InputError) return error.message
    throw error
  }
  throw new Error('it was read')
}

function codes(job: Job): readonly string[] {
  return job.warnings.map(warning => warning.code)
}

/** A Job with one container; `pod` stands beside its containers, `job` beside its template. */
function jobWith(parts: { container?: string; pod?: string; job?: string; metadata?: string }): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: train${parts.metadata === undefined ? '' : `, ${parts.metadata}`}}
spec:
  backoffLimit: 0
${parts.job ?? ''}
  template:
    spec:
      restartPolicy: Never
${parts.pod ?? ''}
      containers:
      - name: main
        image: example/train:1
        ${parts.container ?? 'resources: {limits: {nvidia.com/gpu: 1}}'}
`
}

function withLimit(written: string): string {
  return jobWith({ container: `resources: {limits: {nvidia.com/gpu: ${written}}}` })
}

describe('GPU amounts', () => {
  // Accepted by the API server 1.37 with these values.
  test.each<[string, number]>([
    ['1000m', 1],
    ['8.0', 8],
    ['"8"', 8],
    ['"8 "', 8],
    ['+8', 8],
    ['010', 8],
    ['0o10', 8],
    ['0x8', 8],
    ['"010"', 10],
    ['1_0', 10],
    ['1e1', 10],
    ['"1e1"', 10],
    ['1k', 1000],
    ['8Gi', 8589934592],
    ['0', 0],
    ['', 0],
  ])('%s is %i', (written, expected) => {
    expect(onlyRole(withLimit(written)).gpusPerReplica.value).toBe(expected)
  })

  test.each([
    ['0.5', 'found 0.5'],
    ['500m', 'found "500m"'],
    ['-1', 'found -1'],
    ['two', 'found "two"'],
    ['yes', 'found true'],
    ['64GB', 'found "64GB"'],
    ['64g', 'found "64g"'],
    ['1e', 'found "1e"'],
    ['[8]', 'found a list'],
    ['{a: 1}', 'found a mapping'],
  ])('%s is refused', (written, found) => {
    const said = faultsOf(withLimit(written))
    expect(said).toMatch(
      /^job\.yaml:\d+:\d+ {2}spec\.template\.spec\.containers\[0\]\.resources\.limits\["nvidia\.com\/gpu"\]: a whole number/,
    )
    expect(said).toContain(found)
  })

  test('a request must equal its limit, and a limit must be there', () => {
    const container = (resources: string) => jobWith({ container: `resources: ${resources}` })
    expect(faultsOf(container('{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}'))).toContain(
      'container main: the request of nvidia.com/gpu (1) must equal its limit (2)',
    )
    expect(faultsOf(container('{requests: {amd.com/gpu: 1}}'))).toContain('amd.com/gpu needs a limit')
    expect(
      onlyRole(container('{requests: {nvidia.com/gpu: "2"}, limits: {nvidia.com/gpu: 2000m}}')).gpuCount.value,
    ).toBe(2)
  })

  test('a name without a domain is refused with the right one', () => {
    const said = faultsOf(jobWith({ container: 'resources: {limits: {gpu: 1}}' }))
    expect(said).toContain('gpu: not a resource that Kubernetes knows')
    expect(said).toContain('nvidia.com/gpu')
  })

  test.each([
    ['cpu: 1500m, memory: 1.5Gi', 1.5, 1610612736],
    ['cpu: "0.1", memory: 128M', 0.1, 128e6],
    ['cpu: 2, memory: 1e3', 2, 1000],
    ['cpu: 96, memory: 1Ti', 96, 2 ** 40],
  ])('%s', (amounts, cpus, bytes) => {
    const role = onlyRole(jobWith({ container: `resources: {limits: {nvidia.com/gpu: 1, ${amounts}}}` }))
    expect([role.cpusPerReplica?.value, role.memoryBytesPerReplica?.value]).toEqual([cpus, bytes])
  })

  test('a request of CPUs counts, not the limit', () => {
    const role = onlyRole(jobWith({ container: 'resources: {limits: {cpu: 8}, requests: {cpu: 2}}' }))
    expect(role.cpusPerReplica?.value).toBe(2)
  })
})

describe('a pod', () => {
  const pod = (init: string, main: string) => `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  restartPolicy: Never
  initContainers: ${init}
  containers: ${main}
`
  const holding = (name: string, gpus: number, extra = '') =>
    `{name: ${name}, ${extra}resources: {limits: {nvidia.com/gpu: ${gpus}}}}`

  test.each([
    ['its containers add up', '[]', `[${holding('a', 2)}, ${holding('b', 1)}]`, 3],
    ['an init container runs before them', `[${holding('i', 4)}]`, `[${holding('a', 2)}, ${holding('b', 1)}]`, 4],
    ['init containers run one after the other', `[${holding('i', 2)}, ${holding('j', 2)}]`, `[${holding('a', 3)}]`, 3],
    ['a sidecar stays beside them', `[${holding('s', 1, 'restartPolicy: Always, ')}]`, `[${holding('a', 2)}]`, 3],
    [
      'a sidecar stays beside later init containers',
      `[${holding('s', 1, 'restartPolicy: Always, ')}, ${holding('i', 4)}]`,
      `[${holding('a', 2)}]`,
      5,
    ],
    [
      'a sidecar that starts later is not beside earlier init containers',
      `[${holding('i', 4)}, ${holding('s', 1, 'restartPolicy: Always, ')}]`,
      `[${holding('a', 2)}]`,
      4,
    ],
  ])('%s', (_, init, main, gpus) => {
    expect(onlyRole(pod(init, main)).gpusPerReplica.value).toBe(gpus)
  })

  test('GPUs that only an init container uses are idle afterwards', () => {
    const idle = onlyJob(pod(`[${holding('i', 4)}]`, `[${holding('a', 3)}]`)).warnings
    expect(idle.filter(({ code }) => code === 'idle-gpus').map(({ idleGpus }) => idleGpus)).toEqual([1])
    expect(codes(onlyJob(pod(`[${holding('i', 3)}]`, `[${holding('a', 3)}]`)))).not.toContain('idle-gpus')
  })

  test('the number says which lines it comes from', () => {
    expect(onlyRole(pod('[]', `[${holding('a', 2)}]`)).gpusPerReplica.origin).toEqual({
      kind: 'manifest',
      place: { file: 'job.yaml', line: 7, column: 63 },
    })
    const { origin } = onlyRole(pod(`[${holding('i', 4)}]`, `[${holding('a', 2)}]`)).gpusPerReplica
    expect(origin.kind === 'computed' && origin.formula).toMatch(/i 4 \(line 6\), a 2 \(line 7\)/)
  })

  test.each([
    ['Always', true],
    ['OnFailure', false],
    ['Never', false],
  ])('with restartPolicy %s runs for ever: %s', (policy, endless) => {
    const text = pod('[]', `[${holding('a', 1)}]`).replace('Never', policy)
    expect(onlyJob(text).endless).toBe(endless)
    expect(onlyJob(text.replace('spec:', 'spec:\n  activeDeadlineSeconds: 60')).endless).toBe(false)
  })
})

describe('other devices', () => {
  const device = (name: string, count = 1) =>
    onlyRole(jobWith({ container: `resources: {limits: {${name}: ${count}}}` }))

  test.each([
    ['amd.com/gpu', undefined, undefined],
    ['gpu.intel.com/i915', undefined, undefined],
    ['nvidia.com/gpu.shared', { kind: 'time-slice' }, undefined],
    ['nvidia.com/mig-1g.10gb', { kind: 'mig', profile: '1g.10gb', share: 1 / 7 }, '1g.10gb'],
    ['nvidia.com/mig-3g.40gb', { kind: 'mig', profile: '3g.40gb', share: 3 / 7 }, '3g.40gb'],
    ['nvidia.com/mig-2g.12gb', { kind: 'mig', profile: '2g.12gb', share: 2 / 4 }, '2g.12gb'],
    ['nvidia.com/a100', undefined, 'a100'],
    ['nvidia.com/rtxa6000', undefined, 'rtxa6000'],
  ])('%s is a GPU or a part of one', (name, share, type) => {
    const role = device(name, 2)
    expect(role.gpusPerReplica.value).toBe(2)
    expect(role.deviceShare).toEqual(share)
    expect(role.gpuType.names.map(({ value }) => value)).toEqual(type === undefined ? [] : [type])
  })

  test.each(['google.com/tpu', 'aws.amazon.com/neuron', 'habana.ai/gaudi'])(
    '%s is an accelerator, but no GPU',
    name => {
      const job = onlyJob(jobWith({ container: `resources: {limits: {${name}: 4}}` }))
      expect(job.roles[0]).toMatchObject({ gpusPerReplica: { value: 0 }, otherAccelerators: { [name]: 4 } })
      expect(codes(job)).toContain('accelerator-not-gpu')
    },
  )

  test.each([
    'vpc.amazonaws.com/efa',
    'rdma/hca_shared',
    'nvidia.com/hostdev',
    'example.com/foo',
    'nvidia.com/vgpu_manager',
  ])('%s is no accelerator', name => {
    expect(device(name)).toMatchObject({ gpusPerReplica: { value: 0 } })
    expect(device(name).otherAccelerators).toBeUndefined()
  })

  test('a share of a GPU by HAMi', () => {
    const role = onlyRole(jobWith({ container: 'resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpucores: 30}}' }))
    expect(role.deviceShare).toEqual({ kind: 'fraction', share: 0.3 })
  })

  test('GPUs of a claim template in the same file count, those of another file are asked about', () => {
    const claim = `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two-40g}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
---
`
    const text = jobWith({
      pod: '      resourceClaims: [{name: g, resourceClaimTemplateName: two-40g}]',
      container: 'resources: {claims: [{name: g}]}',
    })
    expect(onlyRole(claim + text).gpusPerReplica.value).toBe(2)
    expect(codes(onlyJob(text))).toContain('gpu-count-unknown')
  })
})

describe('GPU types from node labels', () => {
  const selector = (labels: string) => onlyRole(jobWith({ pod: `      nodeSelector: {${labels}}` }))
  const affinity = (terms: string) =>
    onlyJob(
      jobWith({
        pod: `      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ${terms}}}}`,
      }),
    )
  const names = (role: Role | undefined) => role?.gpuType.names.map(({ value }) => value)

  test.each([
    ['nvidia.com/gpu.product: Tesla-T4', 'Tesla-T4', 'label'],
    ['cloud.google.com/gke-accelerator: nvidia-l4', 'nvidia-l4', 'label'],
    ['karpenter.k8s.aws/instance-gpu-name: a10g', 'a10g', 'label'],
    ['eks.amazonaws.com/instance-gpu-name: l40s', 'l40s', 'label'],
    ['gpu.nvidia.com/class: A40', 'A40', 'label'],
    ['amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM', 'AMD_Instinct_MI300X_OAM', 'label'],
    ['accelerator: tesla-t4', 'tesla-t4', 'label'],
    ['example.com/gpu-type: a100', 'a100', 'label'],
    ['node.kubernetes.io/instance-type: p4d.24xlarge', 'p4d.24xlarge', 'instance'],
    ['beta.kubernetes.io/instance-type: g5.xlarge', 'g5.xlarge', 'instance'],
    ['node.kubernetes.io/instance-type: ml.p5.48xlarge', 'p5.48xlarge', 'instance'],
    ['node.kubernetes.io/instance-type: g5.xlarge, nvidia.com/gpu.product: NVIDIA-A10G', 'NVIDIA-A10G', 'label'],
    ['cloud.google.com/gke-nodepool: train-a100', 'a100', 'partition-hint'],
    ['eks.amazonaws.com/nodegroup: gpu-h100-80gb-spot', 'h100-80gb', 'partition-hint'],
    ['kubernetes.io/hostname: node-l40s-03', 'l40s', 'partition-hint'],
  ])('%s', (labels, name, basis) => {
    const role = selector(labels)
    expect([names(role), role.gpuType.basis]).toEqual([[name], basis])
  })

  test.each([
    'nvidia.com/gpu.present: "true"',
    'nvidia.com/gpu.memory: "23028"',
    'accelerator: nvidia',
    'gpu: "true"',
    'kubernetes.azure.com/accelerator: nvidia',
    'topology.kubernetes.io/region: a100-land',
    'cloud.google.com/gke-nodepool: gpu-pool-1',
    'node.kubernetes.io/lifecycle: spot',
  ])('%s names no type', labels => {
    const role = selector(labels)
    expect([names(role), role.gpuType.basis]).toEqual([[], 'none'])
  })

  test('a pool is where it would run', () => {
    expect(selector('cloud.google.com/gke-nodepool: pool-7').partitions.map(({ value }) => value)).toEqual(['pool-7'])
  })

  test('several values in one rule are a choice', () => {
    const job = affinity('[{matchExpressions: [{key: gpu.nvidia.com/class, operator: In, values: [A40, RTX_A6000]}]}]')
    expect(names(job.roles[0])).toEqual(['A40', 'RTX_A6000'])
    expect(codes(job)).toContain('gpu-type-ambiguous')
  })

  test('several terms are a choice as well', () => {
    const term = (value: string) => `{matchExpressions: [{key: accelerator, operator: In, values: [${value}]}]}`
    expect(names(affinity(`[${term('t4')}, ${term('l4')}]`).roles[0])).toEqual(['t4', 'l4'])
  })

  test('a label that only one of two terms asks for is not required', () => {
    const terms =
      '[{matchExpressions: [{key: accelerator, operator: In, values: [t4]}]}, {matchExpressions: [{key: zone, operator: Exists}]}]'
    expect(names(affinity(terms).roles[0])).toEqual([])
  })

  test('what a node must not be says nothing', () => {
    expect(
      names(affinity('[{matchExpressions: [{key: accelerator, operator: NotIn, values: [t4]}]}]').roles[0]),
    ).toEqual([])
  })

  test("a queue's name is a hint where no label says more", () => {
    const metadata = 'labels: {kueue.x-k8s.io/queue-name: h100-queue}'
    const hinted = onlyJob(jobWith({ metadata }))
    expect([names(hinted.roles[0]), codes(hinted).includes('gpu-type-hint-only')]).toEqual([['h100'], true])
    const labelled = onlyJob(jobWith({ metadata, pod: '      nodeSelector: {accelerator: t4}' }))
    expect(names(labelled.roles[0])).toEqual(['t4'])
  })

  test('a taint that is put up with is a hint where it is called after one GPU type, and nothing where after several', () => {
    const tolerating = (list: string) => onlyJob(jobWith({ pod: `      tolerations: [${list}]` }))
    const one = tolerating('{key: nvidia.com/gpu, operator: Equal, value: a100}, {key: sku, value: gpu-A100}')
    expect([names(one.roles[0]), codes(one).includes('gpu-type-hint-only')]).toEqual([['a100'], true])
    const several = tolerating('{key: sku, value: a100}, {key: sku, value: h100}')
    expect([names(several.roles[0]), codes(several).includes('gpu-type-unknown')]).toEqual([[], true])
    expect(names(tolerating('{key: nvidia.com/gpu, operator: Exists}').roles[0])).toEqual([])
  })

  test('what one rule excludes is no alternative of another, and two lists of one label leave what both hold', () => {
    const required = (expressions: string) =>
      onlyJob(
        jobWith({
          pod: `      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [${expressions}]}]}}}`,
        }),
      )
    const list = (operator: string, values: string) =>
      `{key: nvidia.com/gpu.product, operator: ${operator}, values: [${values}]}`
    const excluding = required(`${list('In', 'Tesla-T4, NVIDIA-L4, NVIDIA-A10')}, ${list('NotIn', 'NVIDIA-L4')}`)
    expect(names(excluding.roles[0])).toEqual(['Tesla-T4', 'NVIDIA-A10'])
    const both = required(`${list('In', 'Tesla-T4, NVIDIA-L4')}, ${list('In', 'NVIDIA-L4, NVIDIA-A10')}`)
    expect(names(both.roles[0])).toEqual(['NVIDIA-L4'])
  })

  test('a pod that only waits for a person has no end, and does nothing again', () => {
    const running = (command: string, more = '') =>
      codes(
        onlyJob(`apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: OnFailure
${more}  containers:
    - {name: a, image: i, command: [sh, -c, "${command}"], resources: {limits: {nvidia.com/gpu: 1}}}
`),
      )
    const waiting = running('jupyter lab --no-browser')
    expect(waiting).toContain('long-running-service')
    expect(waiting).not.toContain('no-time-limit')
    expect(waiting).not.toContain('retries-multiply-cost')
    // The limit ends the one, training goes before the end of the other, and a daemon may have left the terminal.
    expect(running('jupyter lab', '  activeDeadlineSeconds: 60\n')).not.toContain('long-running-service')
    expect(running('python train.py; sleep infinity')).toContain('no-time-limit')
    expect(running('tmux new -d x')).toContain('no-time-limit')
  })

  test('how many nodes a DaemonSet fits on is no statement of the file', () => {
    const [role] = onlyJob(`apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  template:
    spec: {containers: [{name: a, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}
`).roles
    expect([role?.gpuCount.value, role?.gpuCount.origin.kind, role?.gpusPerReplica.origin.kind]).toEqual([
      2,
      'assumed',
      'manifest',
    ])
  })

  test.each([
    [
      'nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb',
      'NVIDIA-A100-SXM4-80GB',
      { kind: 'mig', profile: '1g.10gb', share: 1 / 7 },
    ],
    ['nvidia.com/gpu.product: NVIDIA-L4-SHARED', 'NVIDIA-L4', { kind: 'time-slice' }],
    [
      'cloud.google.com/gke-accelerator: nvidia-tesla-t4, cloud.google.com/gke-max-shared-clients-per-gpu: "4", cloud.google.com/gke-gpu-sharing-strategy: time-sharing',
      'nvidia-tesla-t4',
      { kind: 'time-slice', share: 1 / 4 },
    ],
    [
      'cloud.google.com/gke-accelerator: nvidia-tesla-a100, cloud.google.com/gke-gpu-partition-size: 1g.5gb',
      'nvidia-tesla-a100',
      { kind: 'mig', profile: '1g.5gb', share: 1 / 7 },
    ],
  ])('%s is a part of a GPU', (labels, name, share) => {
    const role = selector(labels)
    expect(names(role)).toEqual([name])
    expect(role.deviceShare).toEqual(share)
  })
})

describe('a Job', () => {
  test.each([
    ['', 1, 1, 1],
    ['  parallelism: 4', 4, 1, 1],
    ['  parallelism: 4\n  completions: 4', 4, 1, 1],
    ['  parallelism: 8\n  completions: 4\n  completionMode: Indexed', 4, 1, 1],
    ['  completions: 5', 1, 5, 1],
    ['  parallelism: 3\n  completions: 12', 1, 12, 3],
    ['  parallelism: 0\n  completions: 12', 1, 12, 1],
  ])('%j', (counts, replicas, tasks, concurrentTasks) => {
    expect(onlyRole(jobWith({ job: counts }))).toMatchObject({ replicas: { value: replicas }, tasks, concurrentTasks })
  })

  test('its deadline spans all of its runs, a pod deadline each of them', () => {
    const counts = '  parallelism: 3\n  completions: 12'
    const ofJob = onlyRole(jobWith({ job: `${counts}\n  activeDeadlineSeconds: 3600` }))
    expect([ofJob.timeLimitSeconds?.value, ofJob.limitSpansTasks]).toEqual([3600, true])
    const ofPod = onlyRole(jobWith({ job: counts, pod: '      activeDeadlineSeconds: 600' }))
    expect([ofPod.timeLimitSeconds?.value, ofPod.limitSpansTasks]).toEqual([600, undefined])
    // 12 pods of 600 s are less than 3 pods of 3600 s.
    const both = onlyRole(
      jobWith({ job: `${counts}\n  activeDeadlineSeconds: 3600`, pod: '      activeDeadlineSeconds: 600' }),
    )
    expect([both.timeLimitSeconds?.value, both.limitSpansTasks]).toEqual([600, undefined])
  })

  test.each([
    ['backoffLimit: 0', false],
    ['backoffLimit: 3', true],
    ['ttlSecondsAfterFinished: 5', true],
    ['backoffLimit: 3\n  backoffLimitPerIndex: 0', false],
  ])('with %j may be repeated: %s', (line, repeats) => {
    const text = jobWith({}).replace('backoffLimit: 0', line)
    expect(codes(onlyJob(text)).includes('retries-multiply-cost')).toBe(repeats)
  })

  test('waits where it is suspended or a queue holds it', () => {
    expect(codes(onlyJob(jobWith({ job: '  suspend: true' })))).toContain('suspended')
    const queued = onlyJob(jobWith({ metadata: 'labels: {kueue.x-k8s.io/queue-name: research}' }))
    expect(codes(queued)).toContain('suspended')
    expect(queued.destination).toEqual({ queue: 'research' })
    expect(codes(onlyJob(jobWith({ pod: '      schedulingGates: [{name: example.com/hold}]' })))).toContain('suspended')
  })

  test('goes to the namespace of the file, or of the command line', () => {
    expect(onlyJob(jobWith({ metadata: 'namespace: team-a' })).destination).toEqual({ namespace: 'team-a' })
    for (const options of [['-n', 'team-b'], ['--namespace=team-b'], ['-nteam-b'], ['-n=team-b']]) {
      expect(kubernetes.read(manifest(jobWith({}), options))[0]?.destination).toEqual({ namespace: 'team-b' })
    }
  })

  test('is called by generateName where it has no name', () => {
    expect(onlyJob(jobWith({}).replace('name: train', 'generateName: train-')).name).toBe('train-')
  })
})

describe('other kinds', () => {
  const template =
    'template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, resources: {limits: {nvidia.com/gpu: 2}}}]}}'

  test.each([
    ['apps/v1', 'Deployment', 'replicas: 3', 6],
    ['apps/v1', 'StatefulSet', 'replicas: 3', 6],
    ['apps/v1', 'ReplicaSet', '', 2],
    ['apps/v1', 'DaemonSet', '', 2],
    ['v1', 'ReplicationController', 'replicas: 2', 4],
  ])('%s %s runs until it is deleted', (apiVersion, kind, counts, gpus) => {
    const job = onlyJob(
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\nspec:\n  ${counts}\n  ${template}\n`,
    )
    expect([job.endless, job.roles[0]?.gpuCount.value, job.roles[0]?.name]).toEqual([true, gpus, kind.toLowerCase()])
    expect(codes(job)).toContain('long-running-service')
    expect(codes(job)).not.toContain('retries-multiply-cost')
    expect(codes(job).includes('gpu-count-unknown')).toBe(kind === 'DaemonSet')
  })

  test.each([
    ['PyTorchJob', 'pytorchReplicaSpecs', 'kubeflow.org/v1'],
    ['TFJob', 'tfReplicaSpecs', 'kubeflow.org/v1'],
    ['XGBoostJob', 'xgbReplicaSpecs', 'kubeflow.org/v1'],
    ['PaddleJob', 'paddleReplicaSpecs', 'kubeflow.org/v1'],
    ['JAXJob', 'jaxReplicaSpecs', 'kubeflow.org/v1'],
    ['MPIJob', 'mpiReplicaSpecs', 'kubeflow.org/v1'],
    ['MPIJob', 'mpiReplicaSpecs', 'kubeflow.org/v2beta1'],
  ])('%s has roles under %s (%s)', (kind, roles, apiVersion) => {
    const job = onlyJob(`apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: a}
spec:
  runPolicy: {activeDeadlineSeconds: 60}
  ${roles}:
    Master: {${template}}
    Worker: {replicas: 3, restartPolicy: OnFailure, ${template}}
`)
    expect(job.roles.map(role => [role.name, role.gpuCount.value, role.timeLimitSeconds?.value])).toEqual([
      ['Master', 2, 60],
      ['Worker', 6, 60],
    ])
    expect(codes(job)).toContain('retries-multiply-cost')
  })

  test('roles that are not there are a fault', () => {
    expect(faultsOf('apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\nspec: {}\n')).toContain(
      'spec.pytorchReplicaSpecs: the roles of the job',
    )
  })

  test('a CronJob repeats', () => {
    const job = onlyJob(`apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  schedule: "@weekly"
  suspend: true
  jobTemplate: {spec: {parallelism: 2, ${template}}}
`)
    expect(job.roles[0]?.gpuCount.value).toBe(4)
    expect(codes(job)).toEqual(expect.arrayContaining(['recurring', 'suspended', 'retries-multiply-cost']))
  })

  test('an elastic job and an autoscaled one have a range', () => {
    const elastic = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  elasticPolicy: {minReplicas: 1, maxReplicas: 8}
  pytorchReplicaSpecs: {Worker: {replicas: 2, ${template}}}
`
    const scaled = `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec: {${template}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec: {scaleTargetRef: {name: api}, maxReplicaCount: 8}
`
    expect(onlyRole(elastic).replicaRange).toEqual({ smallest: 1, largest: 8 })
    expect(onlyRole(scaled).replicaRange).toEqual({ smallest: 0, largest: 8 })
    for (const text of [elastic, scaled]) expect(codes(onlyJob(text))).toContain('autoscaling-range')
  })

  test('a kind nobody knows is read through its pod templates, and says so', () => {
    const job = onlyJob(`apiVersion: example.com/v1
kind: Trainer
metadata: {name: a}
spec: {worker: {replicas: 3, ${template}}}
`)
    expect(job.roles.map(role => [role.name, role.gpuCount.value])).toEqual([['worker', 6]])
    expect(codes(job)).toContain('gpu-count-inferred')
  })

  test('numbers above a pod template multiply', () => {
    const job = onlyJob(`apiVersion: jobset.example.com/v1
kind: JobSet
metadata: {name: a}
spec:
  replicatedJobs:
  - name: w
    replicas: 2
    template: {spec: {parallelism: 4, ${template}}}
`)
    expect(job.roles.map(role => role.gpuCount.value)).toEqual([16])
  })

  test('a kind of another group is another kind', () => {
    const job = onlyJob(`apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a}
spec: {tasks: [{name: w, replicas: 4, ${template}}]}
`)
    expect(job.roles[0]?.gpuCount.value).toBe(8)
  })

  test('a kind nobody knows without a pod template is an error', () => {
    expect(faultsOf(`${jobWith({})}---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n`)).toMatch(
      /Thing \(example\.com\/v1\) is not a kind gpufare knows, and no pod template/,
    )
  })
})

describe('several documents', () => {
  const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: []}\n'

  test('what runs no pods is passed over', () => {
    expect(jobs(`${service}---\n${jobWith({})}---\n---\n${service}`)).toHaveLength(1)
  })

  test('what runs no GPU is passed over where something else does', () => {
    const database = jobWith({ container: 'resources: {limits: {cpu: 1}}', metadata: 'labels: {a: b}' })
    expect(jobs(`${database}---\n${jobWith({})}`).map(job => job.roles[0]?.gpuCount.value)).toEqual([1])
    expect(jobs(`${database}---\n${database}`)).toHaveLength(2)
  })

  test.each(['List', 'JobList'])('a %s is opened, with places inside of it', kind => {
    const apiVersion = kind === 'List' ? 'v1' : 'batch/v1'
    const items = jobWith({}).replace(/^/gm, '  ').replace('  apiVersion', '- apiVersion').trimEnd()
    const job = onlyJob(`apiVersion: ${apiVersion}\nkind: ${kind}\nitems:\n${items}\n`)
    expect(job.roles[0]?.gpuCount.value).toBe(1)
    expect(job.place.line).toBe(5)
  })

  test('JSON is read, one object or several', () => {
    const object = (name: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { containers: [{ name: 'a', resources: { limits: { 'nvidia.com/gpu': '2' } } }] },
      })
    expect(jobs(`${object('a')}\n${object('b')}`).map(job => job.name)).toEqual(['a', 'b'])
  })

  test.each([
    ['foo\n', /a Kubernetes object \(a mapping with apiVersion and kind\) is expected, found "foo"/],
    ['- a\n', /is expected, found a list/],
    ['kind: Pod\n', /apiVersion: text is expected, but it is missing/],
    ['a: 1\n', /kind: text is expected, but it is missing/],
    [service, /no document in the file describes a job/],
  ])('%j is refused', (text, said) => {
    expect(faultsOf(text)).toMatch(said)
  })

  test('the faults of all documents are told at once', () => {
    const said = faultsOf(`${withLimit('x')}---\n${withLimit('y')}`)
    expect(said.split('\n')).toHaveLength(2)
  })

  test('a key given twice is told', () => {
    const job = onlyJob(jobWith({ container: 'resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpu: 4}}' }))
    expect(job.roles[0]?.gpuCount.value).toBe(4)
    expect(codes(job)).toContain('last-flag-wins')
  })
})

describe('what the API server would refuse', () => {
  test.each([
    ['args: [--epochs, 3]', 'containers[0].args[1]: text is expected, found 3'],
    ['command: python train.py', 'containers[0].command: a list of words is expected, found "python train.py"'],
    ['env: [{name: EPOCHS, value: 3}]', 'containers[0].env[0].value: text is expected, found 3'],
    ['image: yes', 'containers[0].image: text is expected, found true'],
  ])('%s', (container, said) => {
    const text = jobWith({ container }).replace('        image: example/train:1\n', '')
    expect(faultsOf(text)).toContain(said)
  })

  test.each([
    [
      'limits: {memory: 4Gi}, requests: {memory: 8Gi}',
      'container main: the request of memory (8Gi) is larger than its limit (4Gi)',
    ],
    ['limits: {cpu: -1}', 'resources.limits.cpu: a quantity is expected, found -1'],
  ])('resources {%s}', (resources, said) => {
    expect(faultsOf(jobWith({ container: `resources: {${resources}}` }))).toContain(said)
  })

  test('a Job whose pods restart for ever is still read, with a warning', () => {
    for (const line of ['restartPolicy: Always', 'hostNetwork: true']) {
      expect(codes(onlyJob(jobWith({}).replace('restartPolicy: Never', line)))).toContain('scheduler-will-refuse')
    }
    expect(codes(onlyJob(jobWith({})))).not.toContain('scheduler-will-refuse')
  })

  test('a label or annotation that is no text', () => {
    expect(faultsOf(jobWith({ metadata: 'annotations: {a: 5}' }))).toContain(
      'metadata.annotations.a: text is expected, found 5',
    )
  })

  test('a deadline that is no number', () => {
    expect(faultsOf(jobWith({ job: '  activeDeadlineSeconds: 24h' }))).toContain(
      'a whole number is expected, found "24h"',
    )
  })

  test('null is the same as nothing', () => {
    expect(onlyRole(jobWith({ job: '  completions: null', pod: '      nodeSelector: {a: null}' })).tasks).toBe(1)
  })
})

describe('templates', () => {
  test('braces in a field of Kubernetes', () => {
    expect(faultsOf(withLimit('"{{ .Values.gpus }}"'))).toMatch(
      /unrendered Helm template: \{\{ \.Values\.gpus \}\} \(line \d+\)/,
    )
    expect(faultsOf(withLimit('{{ gpus }}'))).toContain('unrendered template: {{ gpus }}')
  })

  test('Helm braces in arguments', () => {
    expect(faultsOf(jobWith({ container: 'args: ["--epochs", "{{ .Values.epochs }}"]' }))).toContain('.Values.epochs')
  })

  test('braces in a comment or of a program do not hide a wrong indentation', () => {
    const container = 'args: ["{{ m.content }}"]'
    expect(faultsOf(`# {{ .Values.y }}\n${jobWith({ container })}     x: 1\n`)).toContain('not valid YAML')
    expect(faultsOf(`a: b\n{{ gpus }}\n`)).toContain('unrendered template')
  })

  test('braces that belong to a program are no template', () => {
    const container = `args: ["--chat-template", "{% for m in messages %}{{ m.content }}{% endfor %}"]
        resources: {limits: {nvidia.com/gpu: 1}}`
    expect(onlyRole(jobWith({ container })).gpuCount.value).toBe(1)
  })

  test('a variable of a shell is no template, one of a field is', () => {
    const container = `command: [sh, -c, "train --lr \${LR}"]
        resources: {limits: {nvidia.com/gpu: 1}}`
    expect(onlyRole(jobWith({ container })).gpuCount.value).toBe(1)
    expect(faultsOf(jobWith({ job: `  parallelism: \${PODS}` }))).toMatch(/\$\{PODS\} \(line 6\).*envsubst/)
  })

  test.each([
    ['a variable without braces', withLimit('$GPUS'), /\$\{GPUS\} \(line \d+\)/],
    ['a blank that a person is to fill in', withLimit('<number of gpus>'), /<number of gpus> \(line \d+\)/],
    ['a blank for the node', jobWith({ pod: '      nodeSelector: {a: <type>}' }), /<type> \(line 10\)/],
  ])('%s where a figure hangs on it leaves none', (_, text, message) => {
    expect(faultsOf(text)).toMatch(message)
  })

  test('what no figure hangs on may be open, and is named', () => {
    const job = onlyJob(
      jobWith({ metadata: `namespace: "\${TEAM}"`, pod: '      serviceAccountName: <account>' }).replace(
        'example/train:1',
        '$IMAGE',
      ),
    )
    expect(job.roles[0]?.gpuCount.value).toBe(1)
    expect(job.warnings.filter(({ code }) => code === 'unresolved-template').map(({ text }) => text)).toEqual([
      `these have no value yet: \${TEAM} (line 3), <account> (line 10), $IMAGE (line 13)`,
    ])
  })

  // With a look that goes over the rest of the text for each beginning these would fail by vitest's time limit.
  test.each(['${a', '${', '<a', `\${${'a'.repeat(9)}`, '$A_'])('a long text of %s is looked at once', part => {
    const job = onlyJob(jobWith({ metadata: `labels: {x: "${part.repeat(200_000)}"}` }))
    expect(job.roles).toHaveLength(1)
  })

  test('a part of an image may be open, the text of a name has no variable by a dollar alone', () => {
    const named = (image: string) =>
      onlyJob(jobWith({}).replace('example/train:1', image)).warnings.flatMap(({ code, text }) =>
        code === 'unresolved-template' ? [text] : [],
      )
    expect(named('docker.example/$PROJECT_ID/train:1')).toEqual([expect.stringContaining('$PROJECT_ID')])
    expect(named('docker.example/a$b/train:1')).toEqual([])
  })

  test('programs see a blank as not known', () => {
    const container = 'command: [python, train.py, "--model=<your model>", <data>, "a<b"]'
    const [line] = onlyJob(jobWith({ container })).roles[0]?.commandLines ?? []
    expect(line?.arguments.map(({ text }) => text)).toEqual([undefined, undefined, 'a<b'])
  })
})

describe('declarations', () => {
  test('annotations of the object and of its pod template are read', () => {
    const job = onlyJob(
      jobWith({ metadata: 'annotations: {gpufare.dev/team: vision, other: x}' }).replace(
        '  template:\n',
        '  template:\n    metadata: {annotations: {gpufare.dev/epochs: "3"}}\n',
      ),
    )
    expect(job.declarations).toMatchObject({ team: { value: 'vision' }, epochs: { value: 3 } })
  })

  test('a key that gpufare does not know is a fault with its place', () => {
    expect(faultsOf(jobWith({ metadata: 'annotations: {gpufare.dev/epoch: "3"}' }))).toMatch(
      /^job\.yaml:3:\d+ {2}epoch/,
    )
  })

  test('the quote that gpufare wrote itself is no declaration', () => {
    expect(onlyJob(jobWith({ metadata: 'annotations: {gpufare.dev/quote: "12.50 USD"}' })).declarations).toEqual({})
  })
})

describe('programs', () => {
  const programs = (job: Job) =>
    job.roles.flatMap(role =>
      role.commandLines.map(line => [line.place.line, line.program, ...line.arguments.map(word => word.text)]),
    )

  test('command and args are one argument vector, each word with its line', () => {
    const container = `command:
        - python
        - train.py
        args:
        - --epochs=3`
    expect(programs(onlyJob(jobWith({ container })))).toEqual([[15, 'train.py', '--epochs=3']])
  })

  test.each([
    '[bash, -c, "python train.py --lr 1"]',
    '[/bin/sh, -ec, "python train.py --lr 1"]',
    '[bash, -euo, pipefail, -c, "python train.py --lr 1"]',
    '[bash, -c, --, "python train.py --lr 1"]',
    '[bash, --login, -xc, "python train.py --lr 1"]',
  ])('%s is a script', command => {
    expect(programs(onlyJob(jobWith({ container: `command: ${command}` })))).toEqual([[14, 'train.py', '--lr', '1']])
  })

  test('a script in a block has the lines of the file', () => {
    const container = `command: [bash, -c]
        args:
        - |
          set -e

          python train.py --epochs 3`
    expect(programs(onlyJob(jobWith({ container })))).toEqual([[19, 'train.py', '--epochs', '3']])
  })

  test('$(NAME) is expanded as Kubernetes does it', () => {
    const container = `command: [python, train.py, "--a=$(A)", "--b=$(B)", "--c=$$(A)", "--d=$(NOPE)", "--e=$(SECRET)"]
        env:
        - {name: A, value: "1"}
        - {name: B, value: "$(A)2"}
        - {name: SECRET, valueFrom: {secretKeyRef: {name: s, key: k}}}`
    expect(programs(onlyJob(jobWith({ container })))).toEqual([
      [14, 'train.py', '--a=1', '--b=12', '--c=$(A)', '--d=$(NOPE)', undefined],
    ])
  })

  test.each([
    ['by its path', 'python train.py --config /cfg/a.yaml', ''],
    ['from where the container works', 'python train.py --config a.yaml', 'workingDir: /cfg\n        '],
  ])('files of a ConfigMap in the same file are known %s', (_, command, beside) => {
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: code}\ndata: {a.yaml: "epochs: 7"}\n---\n'
    const volumes = (volume: string) => `      volumes: [{name: v, ${volume}}]`
    const container = `${beside}command: ${JSON.stringify(command.split(' '))}\n        volumeMounts: [{name: v, mountPath: /cfg}]`
    for (const volume of ['configMap: {name: code}', 'projected: {sources: [{configMap: {name: code}}]}']) {
      const [line] = onlyJob(map + jobWith({ container, pod: volumes(volume) })).roles[0]?.commandLines ?? []
      expect(line?.writtenFiles.get(command.split(' ')[3] ?? '')).toBe('epochs: 7')
    }
    const [other] =
      onlyJob(map + jobWith({ container, pod: volumes('configMap: {name: other}') })).roles[0]?.commandLines ?? []
    expect(other?.writtenFiles.size).toBe(0)
  })

  test('an image that serves as it is needs no command, others say nothing', () => {
    const served = jobWith({ container: 'env: [{name: MODEL_ID, value: org/tiny}]' })
    const program = (image: string) =>
      onlyJob(served.replace('example/train:1', image)).roles[0]?.commandLines.map(line => line.program)
    expect(program('ghcr.io/huggingface/text-generation-inference:2.4')).toEqual([
      'ghcr.io/huggingface/text-generation-inference:2.4',
    ])
    expect(program('registry.example/lab/fit:2')).toEqual([])
  })

  test('variables and scripts of a ConfigMap in the same file are known', () => {
    const config = `apiVersion: v1
kind: ConfigMap
metadata: {name: code}
data:
  EPOCHS: "7"
  run.sh: |
    python train.py --epochs $EPOCHS --lr $1
---
`
    const text = jobWith({
      pod: '      volumes: [{name: v, configMap: {name: code}}]',
      container: `command: [bash, /code/run.sh, "0.1"]
        envFrom: [{configMapRef: {name: code}}]
        volumeMounts: [{name: v, mountPath: /code/}]`,
    })
    expect(programs(onlyJob(config + text))).toEqual([[7, 'train.py', '--epochs', '7', '--lr', '0.1']])
    expect(codes(onlyJob(text))).toContain('external-file-missing')
  })

  test('options alone are those of the image', () => {
    const container = 'args: ["--model", "gpt2"]'
    expect(programs(onlyJob(jobWith({ container })))).toEqual([[13, 'example/train:1', '--model', 'gpt2']])
  })

  test('what master and workers run together is listed once, with the processes of all', () => {
    const role = (replicas: number) =>
      `{replicas: ${replicas}, template: {spec: {containers: [{name: m, args: [train.py], resources: {limits: {nvidia.com/gpu: 8}}}]}}}`
    const job = onlyJob(`apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  nprocPerNode: "8"
  pytorchReplicaSpecs:
    Master: ${role(1)}
    Worker: ${role(3)}
`)
    expect(job.roles.map(each => each.commandLines.length)).toEqual([1, 0])
    expect(job.roles[0]?.commandLines[0]?.launches).toMatchObject([
      { launcher: 'torchrun', nodes: 4, processesPerNode: 8 },
    ])
  })
})

describe('recognition goes by content', () => {
  test.each<[string, string, boolean]>([
    ['apiVersion: v1\nkind: Pod\n', 'x', true],
    ['"kind": "Pod"\n', '-', true],
    ['{"apiVersion": "v1"}', '-', true],
    ['# only comments\n', 'a.yml', true],
    ['#!/bin/bash\n#SBATCH -N1\ncat > a.yaml <<E\nkind: Pod\nE\n', 'a.yaml', false],
    ['echo hello\n', 'run.sh', false],
    ['foo: bar\n', '-', false],
  ])('%j in %s: %s', (text, name, recognised) => {
    expect(kubernetes.recognises(manifest(text, [], name))).toBe(recognised)
  })
})

describe('where a pod has to run', () => {
  const pinOf = (labels: string) => onlyRole(jobWith({ pod: `      nodeSelector: {${labels}}` })).pin
  const pinned = (labels: string) => {
    const { provider, regions, spot } = pinOf(labels) ?? {}
    return [provider?.value, regions?.map(({ value }) => value), spot?.value]
  }

  test.each([
    ['cloud.google.com/gke-accelerator: nvidia-l4, cloud.google.com/gke-spot: "true"', 'gcp', undefined, true],
    ['cloud.google.com/gke-provisioning: standard', 'gcp', undefined, false],
    ['karpenter.sh/capacity-type: spot, karpenter.k8s.aws/instance-gpu-name: t4', 'aws', undefined, true],
    ['karpenter.sh/capacity-type: on-demand', undefined, undefined, false],
    ['eks.amazonaws.com/capacityType: SPOT', 'aws', undefined, true],
    ['kubernetes.azure.com/scalesetpriority: spot', 'azure', undefined, true],
    ['topology.kubernetes.io/region: us-central1', undefined, ['us-central1'], undefined],
    ['topology.kubernetes.io/zone: us-central1-a', undefined, ['us-central1'], undefined],
    ['topology.kubernetes.io/zone: us-east-1d', undefined, ['us-east-1'], undefined],
    ['topology.kubernetes.io/zone: eastus2-1', undefined, ['eastus2'], undefined],
    ['nvidia.com/gpu.product: NVIDIA-L4', undefined, undefined, undefined],
  ])('is read from %s', (labels, provider, regions, spot) => {
    expect(pinned(labels)).toEqual([provider, regions, spot])
  })

  test('is open where either kind of capacity will do', () => {
    const pod = `      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}`
    expect(onlyRole(jobWith({ pod })).pin).toBeUndefined()
  })

  test('has the line of its label', () => {
    expect(pinOf('eks.amazonaws.com/capacityType: SPOT')?.spot?.origin).toMatchObject({ place: { line: 10 } })
  })

  test.each([
    ['nvidia.com/gpu', 'NVIDIA'],
    ['amd.com/gpu', 'AMD'],
    ['gpu.intel.com/i915', 'Intel'],
  ])('%s means GPUs of %s', (resource, vendor) => {
    const container = `resources: {limits: {${resource}: 8}}`
    expect(onlyRole(jobWith({ container })).gpuVendor).toBe(vendor)
  })
})

describe('fields that Kubernetes does not know', () => {
  const refused = (text: string) => onlyJob(text).warnings.filter(({ code }) => code === 'scheduler-will-refuse')

  test.each<[string, Parameters<typeof jobWith>[0], string, string]>([
    ['resources', { container: 'resources: {limit: {nvidia.com/gpu: 8}}' }, 'limit is no field of resources', 'limits'],
    ['a container', { container: 'resource: {limits: {nvidia.com/gpu: 8}}' }, 'resource is no field', 'resources'],
    ['a pod', { pod: '      nodeselector: {a: b}' }, 'nodeselector is no field of spec', 'nodeSelector'],
    ['a Job', { job: '  backofflimit: 2' }, 'backofflimit is no field of spec', 'backoffLimit'],
  ])('one of %s is named, with what was meant', (_, parts, said, meant) => {
    const [warning, ...more] = refused(jobWith(parts))
    expect(more).toEqual([])
    expect(warning?.text).toContain(said)
    expect(warning?.text).toContain(`did you mean ${meant}?`)
    expect(warning?.place?.line).toBeGreaterThan(1)
  })

  test('a word that is like none has nothing suggested', () => {
    expect(refused(jobWith({ pod: '      zebra: 1' }))[0]?.text).not.toContain('did you mean')
  })

  test('all that is known is passed over', () => {
    expect(
      refused(jobWith({ pod: '      tolerations: []\n      runtimeClassName: nvidia', job: '  suspend: true' })),
    ).toEqual([])
  })
})

describe('deadlines of kinds that have no row', () => {
  const pod = `template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]`
  const unbounded = (job: Job) => job.warnings.filter(({ code }) => code === 'no-time-limit').map(({ text }) => text)

  test('one that stands over all of it bounds it', () => {
    const job = onlyJob(`apiVersion: ray.io/v1
kind: RayJob
metadata: {name: ray}
spec:
  activeDeadlineSeconds: 7200
  rayClusterSpec:
    headGroupSpec:
      ${pod.replaceAll('\n', '\n  ')}
`)
    expect(job.roles[0]?.timeLimitSeconds?.value).toBe(7200)
    expect(unbounded(job)).toEqual([])
  })

  test('those of its parts are named, and it is not said that none is set', () => {
    const part = (name: string, seconds: number) => `  - name: ${name}
    template:
      spec:
        activeDeadlineSeconds: ${seconds}
        ${pod.replaceAll('\n', '\n    ')}
`
    const job = onlyJob(`apiVersion: jobset.x-k8s.io/v1alpha2
kind: SomeSet
metadata: {name: set}
spec:
  replicatedJobs:
${part('a', 60)}${part('b', 3600)}`)
    expect(unbounded(job)).toEqual([expect.stringMatching(/^what bounds the whole is not known: .* and /)])
  })
})
