import type { DocumentPath, YamlDocument } from '../../document.ts'
import { findGpuHint } from '../../gpu-hints.ts'
import type { DeviceShare, GpuBounds, GpuTypeRequest } from '../../job.ts'
import { ownEntry } from '../../own-entry.ts'
import { type Sourced, sourced } from '../../sourced.ts'
import { migShare } from './resources.ts'
import type { NodeSelectorTerm, PodSpec } from './schema.ts'

/** Node labels that say the GPU's model, the more exact ones first: GPU feature discovery, ROCm labeller, GKE, Karpenter for AWS, Azure and Google, EKS, CoreWeave. */
const TYPE_LABELS: readonly string[] = [
  'nvidia.com/gpu.product',
  'amd.com/gpu.product-name',
  'beta.amd.com/gpu.product-name',
  'cloud.google.com/gke-accelerator',
  'karpenter.k8s.aws/instance-gpu-name',
  'karpenter.azure.com/sku-gpu-name',
  'karpenter.k8s.gcp/instance-gpu-name',
  'eks.amazonaws.com/instance-gpu-name',
  'k8s.amazonaws.com/accelerator',
  'gpu.nvidia.com/class',
  'gpu.nvidia.com/model',
]
/** Labels that sites make for themselves: `accelerator: tesla-t4`, `example.com/gpu-type: a100`. */
const HOME_MADE_TYPE_LABEL = /(?:^|[/._-])(?:gpu|accelerator)(?:[-_.]?(?:type|model|product|name|class|sku))?$/i
/** What such labels say of a node that merely has a GPU. */
const NO_TYPE = /^(?:true|false|yes|no|on|off|present|exists|enabled|nvidia|amd|intel|gpu|any|none|\d+)$/i
const INSTANCE_LABELS: readonly string[] = [
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'karpenter.azure.com/sku-name',
]
const FAMILY_LABELS: readonly string[] = [
  'karpenter.k8s.aws/instance-family',
  'karpenter.k8s.gcp/instance-family',
  'cloud.google.com/machine-family',
  'eks.amazonaws.com/instance-family',
]
/** GPUs of the machine families of AWS and Google, as their lists of machine types have them (2026). */
const GPUS_OF_FAMILY: Readonly<Record<string, readonly string[]>> = {
  p3: ['v100-16gb'],
  p3dn: ['v100-32gb'],
  p4d: ['a100-40gb'],
  p4de: ['a100-80gb'],
  p5: ['h100'],
  p5e: ['h200'],
  p5en: ['h200'],
  'p6-b200': ['b200'],
  g4dn: ['t4'],
  g5: ['a10g'],
  g6: ['l4'],
  gr6: ['l4'],
  g6e: ['l40s'],
  g2: ['l4'],
  a2: ['a100-40gb', 'a100-80gb'],
  a3: ['h100', 'h200'],
  a4: ['b200'],
}
/** Pools as clouds and sites name them, and single nodes. */
const POOL_LABEL =
  /^kubernetes\.io\/hostname$|(?:^|[/._-])(?:node-?pool|node-?group(?:-name)?|agentpool|provisioner-name|pool)$/i

/** A label that a node must have, with the values that will do. */
export interface RequiredLabel {
  readonly key: string
  readonly values: readonly string[]
  /** Path of each value. */
  readonly paths: readonly DocumentPath[]
}

/** How a label bears on where the pod runs; `undefined` for labels that say nothing about GPUs or pools. */
export function labelMeaning(key: string): 'type' | 'instance' | 'family' | 'pool' | undefined {
  if (TYPE_LABELS.includes(key)) return 'type'
  if (INSTANCE_LABELS.includes(key)) return 'instance'
  if (FAMILY_LABELS.includes(key)) return 'family'
  if (POOL_LABEL.test(key)) return 'pool'
  return HOME_MADE_TYPE_LABEL.test(key) ? 'type' : undefined
}

/** The GPU's model by the labels of a node, the more exact one first; undefined where none says it. */
export function gpuTypeOfNode(labels: Readonly<Record<string, string>>): string | undefined {
  const homeMade = Object.keys(labels).filter(key => HOME_MADE_TYPE_LABEL.test(key))
  return [...TYPE_LABELS, ...homeMade].flatMap(key => labels[key] ?? []).find(value => !NO_TYPE.test(value))
}

/** Node labels that the scheduler insists on: `nodeSelector`, and `In` of the required node affinity without what `NotIn` takes out of it. */
export function requiredLabels(spec: PodSpec, path: DocumentPath): readonly RequiredLabel[] {
  const selected = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => ({
    key,
    values: [value],
    paths: [[...path, 'nodeSelector', key]],
  }))
  return [...selected, ...affinityLabels(spec, path)]
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'

function affinityLabels(spec: PodSpec, path: DocumentPath): readonly RequiredLabel[] {
  const terms = spec.affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? []
  const byKey = new Map<string, { values: string[]; paths: DocumentPath[]; terms: number }>()
  terms.forEach((term, termIndex) => {
    const at = [...path, 'affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms', termIndex, 'matchExpressions']
    const expressions = term.matchExpressions ?? []
    expressions.forEach((expression, index) => {
      const isFirst =
        expressions.findIndex(({ key, operator }) => operator === 'In' && key === expression.key) === index
      if (!isFirst) return
      const known = byKey.get(expression.key) ?? { values: [], paths: [], terms: 0 }
      known.terms += 1
      expression.values?.forEach((value, valueIndex) => {
        const isRuledOut = expressions.some(other => rulesOut(other, expression.key, value))
        if (known.values.includes(value) || isRuledOut) return
        known.values.push(value)
        known.paths.push([...at, index, 'values', valueIndex])
      })
      byKey.set(expression.key, known)
    })
  })
  // One term of several is enough for the scheduler: a label that not all of them name is not required.
  return [...byKey]
    .filter(([, label]) => label.terms >= terms.length && label.values.length > 0)
    .map(([key, label]) => ({ key, ...label }))
}

type MatchExpression = NonNullable<NodeSelectorTerm['matchExpressions']>[number]

/** Whether an expression, all of which have to hold, allows a label no such value. */
function rulesOut({ key, operator, values = [] }: MatchExpression, label: string, value: string): boolean {
  if (key !== label) return false
  return operator === 'NotIn' ? values.includes(value) : operator === 'In' && !values.includes(value)
}

/** What the node labels say about a pod's GPUs. */
export interface GpuTypeReading {
  readonly request: GpuTypeRequest
  readonly share?: DeviceShare
  readonly pools: readonly Sourced<string>[]
}

/** Reads the GPU type, the pools and the way a GPU is shared from the labels that a pod's node must have. */
export function readGpuType(labels: readonly RequiredLabel[], document: YamlDocument): GpuTypeReading {
  const pools = labels.filter(label => labelMeaning(label.key) === 'pool').flatMap(label => named(label, document))
  const share = labelledShare(labels)
  const reading = share === undefined ? { pools } : { pools, share }
  const typed = labels.filter(
    label => labelMeaning(label.key) === 'type' && !label.values.some(value => NO_TYPE.test(value)),
  )
  const best = typed.toSorted((a, b) => labelRank(a.key) - labelRank(b.key))[0]
  if (best !== undefined) return { ...reading, request: { names: named(best, document, baseProduct), basis: 'label' } }
  const instance = labels.find(label => labelMeaning(label.key) === 'instance')
  if (instance !== undefined)
    return { ...reading, request: { names: named(instance, document, machineName), basis: 'instance' } }
  const family = labels.find(label => labelMeaning(label.key) === 'family')
  const ofFamily = family === undefined ? [] : gpusOfFamily(family, document)
  if (ofFamily.length > 0) return { ...reading, request: { names: ofFamily, basis: 'instance' } }
  return { ...reading, request: hintedType(pools) }
}

/** None where one of the families has no GPU that is known here. */
function gpusOfFamily(label: RequiredLabel, document: YamlDocument): readonly Sourced<string>[] {
  const gpus = label.values.map(value => ownEntry(GPUS_OF_FAMILY, value) ?? [])
  if (gpus.some(names => names.length === 0)) return []
  return gpus.flatMap((names, index) => {
    const place = document.placeOf(label.paths[index] ?? [])
    return names.map(name => sourced(name, { kind: 'manifest', place }))
  })
}

/** Labels with the memory of one GPU in MiB: GPU feature discovery, Karpenter. */
const MEMORY_LABELS: readonly string[] = ['nvidia.com/gpu.memory', 'karpenter.k8s.aws/instance-gpu-memory']

/** GPU types and sizes of memory that required node affinity rules out; undefined where it does neither. */
export function readGpuBounds(spec: PodSpec, path: DocumentPath, document: YamlDocument): GpuBounds | undefined {
  const terms = spec.affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? []
  // Of several terms any one is enough: none of them rules anything out for sure.
  if (terms.length !== 1) return undefined
  const expressions = terms[0]?.matchExpressions ?? []
  const at = [...path, 'affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms', 0, 'matchExpressions']
  const excluded = expressions.flatMap(({ key, operator, values = [] }, index) =>
    operator === 'NotIn' && labelMeaning(key) === 'type'
      ? values.map((value, each) =>
          sourced(baseProduct(value), { kind: 'manifest', place: document.placeOf([...at, index, 'values', each]) }),
        )
      : [],
  )
  const memory = expressions.flatMap(({ key, operator, values = [] }, index) => {
    const mebibytes = Number(values[0])
    if (operator !== 'Gt' || !MEMORY_LABELS.includes(key) || !Number.isInteger(mebibytes)) return []
    const place = document.placeOf([...at, index])
    return [sourced((mebibytes + 1) * 2 ** 20, { kind: 'manifest', place } as const)]
  })[0]
  if (excluded.length === 0 && memory === undefined) return undefined
  return { excluded, ...(memory !== undefined && { leastMemoryBytes: memory }) }
}

function labelRank(key: string): number {
  const rank = TYPE_LABELS.indexOf(key)
  return rank === -1 ? TYPE_LABELS.length : rank
}

function named(label: RequiredLabel, document: YamlDocument, spelling = (value: string) => value): Sourced<string>[] {
  return label.values.map((value, index) =>
    sourced(spelling(value), { kind: 'manifest', place: document.placeOf(label.paths[index] ?? []) }),
  )
}

/** SageMaker HyperPod calls the machines of EC2 `ml.p5.48xlarge` (docs.aws.amazon.com, "Amazon SageMaker HyperPod pricing"). */
function machineName(instanceType: string): string {
  return instanceType.replace(/^ml\.(?=[a-z0-9-]+\.)/, '')
}

/** A taint that a pod puts up with, named after a GPU: it may run there, and anywhere else. Undefined where several are. */
export function toleratedType(spec: PodSpec, path: DocumentPath, document: YamlDocument): GpuTypeRequest | undefined {
  const named = (spec.tolerations ?? []).map(({ key, value }, index) => {
    const { origin } = sourced('', { kind: 'manifest', place: document.placeOf([...path, 'tolerations', index]) })
    return hintedType([key, value].flatMap(text => (text === undefined ? [] : [sourced(text, origin)])))
  })
  const names = named.flatMap(type => type.names)
  const [first] = names
  if (first === undefined || names.some(name => name.value.toLowerCase() !== first.value.toLowerCase()))
    return undefined
  return { names: [first], basis: 'partition-hint' }
}

/** A pool's or queue's name that holds a GPU's name: a guess. */
export function hintedType(pools: readonly Sourced<string>[]): GpuTypeRequest {
  const names = pools.flatMap(pool => {
    const hint = findGpuHint(pool.value)
    return hint === undefined ? [] : [sourced(hint, pool.origin)]
  })
  return { names, basis: names.length > 0 ? 'partition-hint' : 'none' }
}

/** GPU feature discovery appends how a GPU is shared: `NVIDIA-A100-SXM4-80GB-MIG-1g.10gb`, `NVIDIA-L4-SHARED`. */
function baseProduct(product: string): string {
  return product.replace(/-MIG-\S+$/, '').replace(/-SHARED$/, '')
}

function labelledShare(labels: readonly RequiredLabel[]): DeviceShare | undefined {
  const valueFor = (key: string) => labels.find(label => label.key === key)?.values[0]
  const product = valueFor('nvidia.com/gpu.product') ?? ''
  const profile = /-MIG-(\S+)$/.exec(product)?.[1] ?? valueFor('cloud.google.com/gke-gpu-partition-size')
  if (profile !== undefined) return migShare(profile)
  const strategy = valueFor('cloud.google.com/gke-gpu-sharing-strategy') ?? valueFor('nvidia.com/gpu.sharing-strategy')
  const clients = Number(
    valueFor('cloud.google.com/gke-max-shared-clients-per-gpu') ?? valueFor('nvidia.com/gpu.replicas'),
  )
  const isShared = product.endsWith('-SHARED') || clients > 1 || (strategy !== undefined && strategy !== 'none')
  if (!isShared) return undefined
  return clients > 1 ? { kind: 'time-slice', share: 1 / clients } : { kind: 'time-slice' }
}
