import { describe, expect, test } from 'vitest'
import type { Role } from '../../src/job.ts'
import { kubernetes } from '../../src/manifests/kubernetes/index.ts'
import { jobOf, manifestOf, warned } from './kubernetes-texts.ts'

/** A Pod that runs once; `before` are other documents of the file. */
function podText(container: string, pod = '', annotations = '{}', before = ''): string {
  return `${before}apiVersion: v1
kind: Pod
metadata: {name: p, annotations: ${annotations}}
spec:
  restartPolicy: Never
${pod}
  containers: [{name: a, image: i${container}}]
`
}

function roleOf(text: string): Role {
  const [role, ...more] = jobOf(text).roles
  if (role === undefined || more.length > 0) throw new Error('one role is expected')
  return role
}

const limits = (amounts: string) => `, resources: {limits: {${amounts}}}`
const typesOf = (role: Role) => role.gpuType.names.map(name => name.value)

describe('shares of GPUs by resource names', () => {
  test.each<[string, number, Role['deviceShare']]>([
    ['nvidia.com/gpu: 2, nvidia.com/gpumem-percentage: 50', 2, { kind: 'fraction', share: 0.5 }],
    [
      'nvidia.com/gpu: 1, nvidia.com/gpucores: 30, nvidia.com/gpumem-percentage: 60',
      1,
      { kind: 'fraction', share: 0.6 },
    ],
    ['nvidia.com/gpu: 1, nvidia.com/gpumem: 8000', 1, { kind: 'fraction' }],
    ['nvidia.com/gpu: 1, nvidia.com/gpucores: 100', 1, undefined],
    ['volcano.sh/vgpu-number: 2, volcano.sh/vgpu-cores: 25', 2, { kind: 'fraction', share: 0.25 }],
    ['volcano.sh/gpu-memory: 8192', 1, { kind: 'fraction' }],
    ['volcano.sh/gpu-number: 2', 2, undefined],
    ['aliyun.com/gpu-mem: 3', 1, { kind: 'fraction' }],
    ['koordinator.sh/gpu: 50', 1, { kind: 'fraction', share: 0.5 }],
    ['koordinator.sh/gpu: 200', 2, undefined],
    ['tencent.com/vcuda-core: 20', 1, { kind: 'fraction', share: 0.2 }],
    ['deviceclass.resource.kubernetes.io/gpu.nvidia.com: 4', 4, undefined],
  ])('%s', (amounts, gpus, share) => {
    const role = roleOf(podText(limits(amounts)))
    expect(role.gpusPerReplica.value).toBe(gpus)
    expect(role.deviceShare).toEqual(share)
  })

  test.each([
    'huawei.com/Ascend910',
    'habana.ai/gaudi2',
    'aws.amazon.com/neuroncore',
    'cambricon.com/mlu370',
    'metax-tech.com/gpu',
  ])('%s is an accelerator and no GPU', name => {
    const role = roleOf(podText(limits(`${name}: 2`)))
    expect(role.gpusPerReplica.value).toBe(0)
    expect(role.otherAccelerators).toEqual({ [name]: 2 })
  })

  test('the memory of an Ascend card is none by itself', () => {
    expect(roleOf(podText(limits('huawei.com/Ascend910B4-memory: 8192'))).otherAccelerators).toBeUndefined()
  })
})

describe('annotations', () => {
  test.each<[string, number, Role['deviceShare']]>([
    ['{gpu-fraction: "0.5"}', 1, { kind: 'fraction', share: 0.5 }],
    ['{gpu-fraction: "0.25", gpu-fraction-num-devices: "2"}', 2, { kind: 'fraction', share: 0.25 }],
    ['{gpu-memory: "2000"}', 1, { kind: 'fraction' }],
  ])('%s asks for a part of a GPU', (annotations, gpus, share) => {
    const role = roleOf(podText('', '  schedulerName: kai-scheduler', annotations))
    expect(role.gpusPerReplica.value).toBe(gpus)
    expect(role.deviceShare).toEqual(share)
  })

  test('HAMi’s choice of types', () => {
    const role = roleOf(podText(limits('nvidia.com/gpu: 1'), '', '{nvidia.com/use-gputype: "A100,V100"}'))
    expect(typesOf(role)).toEqual(['A100', 'V100'])
  })
})

describe('claims of dynamic resource allocation', () => {
  const claim = (version: string, request: string, kind = 'ResourceClaimTemplate') => {
    const devices = `devices: {requests: [${request}]}`
    const spec = kind === 'ResourceClaimTemplate' ? `{spec: {${devices}}}` : `{${devices}}`
    return `apiVersion: resource.k8s.io/${version}\nkind: ${kind}\nmetadata: {name: c}\nspec: ${spec}\n---\n`
  }
  const claiming = (documents: string, reference = 'resourceClaimTemplateName: c') =>
    podText('', `  resourceClaims: [{name: g, ${reference}}]`, '{}', documents)

  test.each([
    ['v1beta1', '{name: r, deviceClassName: gpu.nvidia.com, count: 2}'],
    ['v1beta2', '{name: r, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}'],
    ['v1', '{name: r, exactly: {deviceClassName: gpu.nvidia.com, allocationMode: ExactCount, count: 2}}'],
  ])('%s', (version, request) => {
    const role = roleOf(claiming(claim(version, request)))
    expect([role.gpusPerReplica.value, role.gpuVendor]).toEqual([2, 'NVIDIA'])
  })

  test.each([
    ["device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A100-SXM4-80GB'", ['NVIDIA A100-SXM4-80GB']],
    ["device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*a100.*$')", ['a100']],
    ["device.attributes['gpu.nvidia.com'].productName.contains('H100') && device.driver == 'gpu.nvidia.com'", ['H100']],
    ["device.attributes['gpu.nvidia.com'].productName.matches('.*(H100|H200).*')", ['H100', 'H200']],
    ["device.attributes['gpu.nvidia.com'].productName in ['Tesla T4', 'NVIDIA L4']", ['Tesla T4', 'NVIDIA L4']],
    ["device.attributes['g'].productName == 'A' || device.attributes['g'].productName == 'B'", ['A', 'B']],
    ["device.attributes['gpu.nvidia.com'].productName != 'Tesla T4'", []],
    ["!device.attributes['gpu.nvidia.com'].productName.contains('T4')", []],
    ["device.attributes['g'].productName == 'A' || device.attributes['g'].index == 0", []],
  ])('selector %s', (expression, names) => {
    const request = `{name: r, exactly: {deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: ${JSON.stringify(expression)}}}]}}`
    expect(typesOf(roleOf(claiming(claim('v1', request))))).toEqual(names)
  })

  test('a least memory rules GPUs out', () => {
    const expression = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"
    const request = `{name: r, exactly: {deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: "${expression}"}}]}}`
    const job = jobOf(claiming(claim('v1', request)))
    expect(job.roles[0]?.gpuBounds?.leastMemoryBytes?.value).toBe(40 * 2 ** 30)
    expect(warned(job, 'gpu-type-ambiguous')).toEqual([expect.stringContaining('at least 40 GiB')])
  })

  test('MIG slices by their profiles', () => {
    const slice = (name: string, profile: string) =>
      `{name: ${name}, exactly: {deviceClassName: mig.nvidia.com, selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].profile == '${profile}'"}}]}}`
    const role = roleOf(claiming(claim('v1', [slice('a', '1g.5gb'), slice('b', '3g.20gb')].join(', '))))
    expect(role.gpusPerReplica.value).toBe(2)
    expect(role.deviceShare).toMatchObject({ kind: 'mig', profile: '1x 1g.5gb + 1x 3g.20gb' })
    expect(role.deviceShare?.share).toBeCloseTo(2 / 7, 6)
  })

  test('the first of a list that can be had leaves type or number open', () => {
    const first = (one: string, other: string) => `{name: r, firstAvailable: [{name: a, ${one}}, {name: b, ${other}}]}`
    const product = (name: string) =>
      `deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].productName == '${name}'"}}]`
    const types = jobOf(claiming(claim('v1', first(product('NVIDIA H100'), product('NVIDIA A100')))))
    expect(types.roles.map(typesOf)).toEqual([['NVIDIA H100', 'NVIDIA A100']])
    expect(warned(types, 'gpu-type-ambiguous')).not.toEqual([])
    const numbers = jobOf(
      claiming(claim('v1', first('deviceClassName: gpu.nvidia.com', 'deviceClassName: gpu.nvidia.com, count: 2'))),
    )
    expect(warned(numbers, 'gpu-count-unknown')).toEqual([expect.stringContaining('1 or 2')])
  })

  test.each([
    ['all of a node', '{name: r, exactly: {deviceClassName: gpu.nvidia.com, allocationMode: All}}', 1],
    ['a class that nobody describes', '{name: r, exactly: {deviceClassName: fast-ones}}', 0],
  ])('%s: the number is not known', (_, request, gpus) => {
    const job = jobOf(claiming(claim('v1', request)))
    expect(job.roles[0]?.gpusPerReplica.value).toBe(gpus)
    expect(warned(job, 'gpu-count-unknown')).toHaveLength(1)
  })

  test('a class of the file says what it stands for', () => {
    const deviceClass = `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: big}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].productName == 'NVIDIA B200'"}}]}
---
`
    const role = roleOf(claiming(deviceClass + claim('v1', '{name: r, exactly: {deviceClassName: big, count: 4}}')))
    expect([role.gpusPerReplica.value, ...typesOf(role)]).toEqual([4, 'NVIDIA B200'])
  })

  test('GPUs of a claim that two objects share are there once', () => {
    const request = claim('v1', '{name: r, exactly: {deviceClassName: gpu.nvidia.com}}', 'ResourceClaim')
    const sharing = (kind: string) => podText('', `  resourceClaims: [{name: g, ${kind}: c}]`)
    const gpusOf = (text: string) =>
      kubernetes.read(manifestOf(text)).flatMap(job => job.roles.map(role => role.gpuCount.value))
    const both = `${request}${sharing('resourceClaimName')}---\n${sharing('resourceClaimName')}`
    expect(gpusOf(both)).toEqual([1])
    const own = request.replace('kind: ResourceClaim', 'kind: ResourceClaimTemplate').replace('spec: ', 'spec: {spec: ')
    const each = `${own.replace('\n---', '}\n---')}${sharing('resourceClaimTemplateName')}---\n${sharing('resourceClaimTemplateName')}`
    expect(gpusOf(each)).toEqual([1, 1])
  })

  test('channels of a compute domain and watching devices are no GPUs', () => {
    const domain =
      'apiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomain\nmetadata: {name: d}\nspec: {channel: {resourceClaimTemplate: {name: c}}}\n---\n'
    const channel = jobOf(
      podText(limits('nvidia.com/gpu: 1'), '  resourceClaims: [{name: g, resourceClaimTemplateName: c}]', '{}', domain),
    )
    expect(channel.roles[0]?.gpusPerReplica.value).toBe(1)
    expect(warned(channel, 'gpu-count-unknown')).toEqual([])
    const watching = '{name: r, exactly: {deviceClassName: gpu.nvidia.com, adminAccess: true, allocationMode: All}}'
    expect(roleOf(claiming(claim('v1', watching))).gpusPerReplica.value).toBe(0)
  })

  test('the GPUs of one claim for several pods are there once', () => {
    const shared = claim('v1', '{name: r, exactly: {deviceClassName: gpu.nvidia.com}}', 'ResourceClaim')
    const one = jobOf(claiming(shared, 'resourceClaimName: c'))
    expect(warned(one, 'gpu-count-unknown')).toEqual([])
    const several = jobOf(`${shared}apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: 3, template: {spec: {resourceClaims: [{name: g, resourceClaimName: c}], containers: [{name: a, image: i}]}}}
`)
    expect(warned(several, 'gpu-count-unknown')).toEqual([])
    expect([several.roles[0]?.replicas.value, several.roles[0]?.gpuCount.value]).toEqual([3, 1])
    expect(warned(several, 'fractional-gpu')).toHaveLength(1)
  })
})

describe('where it has to run', () => {
  const gpu = limits('nvidia.com/gpu: 1')
  const affinity = (expression: string) =>
    `  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [${expression}]}]}}}`

  test.each([
    ['karpenter.k8s.aws/instance-family: g6e', ['l40s'], 'instance'],
    ['cloud.google.com/machine-family: a3', ['h100', 'h200'], 'instance'],
    ['karpenter.azure.com/sku-name: Standard_ND96isr_H100_v5', ['Standard_ND96isr_H100_v5'], 'instance'],
    ['karpenter.azure.com/sku-gpu-name: A100', ['A100'], 'label'],
    ['karpenter.k8s.aws/instance-family: c7i', [], 'none'],
    ['nvidia.com/gpu.product: NVIDIA-L4-SHARED', ['NVIDIA-L4'], 'label'],
  ])('%s', (label, names, basis) => {
    const role = roleOf(podText(gpu, `  nodeSelector: {${label}}`))
    expect(typesOf(role)).toEqual(names)
    expect(role.gpuType.basis).toBe(basis)
  })

  test('NotIn rules types out, Gt on memory small ones', () => {
    const product = '{key: nvidia.com/gpu.product, operator: NotIn, values: [Tesla-T4, NVIDIA-L4-SHARED]}'
    const memory = '{key: nvidia.com/gpu.memory, operator: Gt, values: ["40000"]}'
    const { gpuBounds } = roleOf(podText(gpu, affinity(`${product}, ${memory}`)))
    expect(gpuBounds?.excluded.map(name => name.value)).toEqual(['Tesla-T4', 'NVIDIA-L4'])
    expect(gpuBounds?.leastMemoryBytes?.value).toBe(40001 * 2 ** 20)
  })

  test('one of several terms rules nothing out for sure', () => {
    const terms =
      '{matchExpressions: [{key: nvidia.com/gpu.product, operator: NotIn, values: [Tesla-T4]}]}, {matchExpressions: [{key: zone, operator: In, values: [a]}]}'
    const text = podText(
      gpu,
      `  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [${terms}]}}}`,
    )
    expect(roleOf(text).gpuBounds).toBeUndefined()
  })
})
