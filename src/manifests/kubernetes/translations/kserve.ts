import { type DocumentPath, isMapping, type Mapping, valueAt } from '../../../document.ts'
import type { Warning } from '../../../warning.ts'
import { words } from '../../../word-list.ts'
import type { KubernetesObject } from '../objects.ts'
import { deviceOf } from '../resources.ts'
import { containerEntry, countAt, countOf, listOf, mappingOf, partAt, podFieldsOf } from './pod-parts.ts'
import type { Entry, TranslatedRole, Translation } from './translation.ts'

const COMPONENTS = ['predictor', 'transformer', 'explainer'] as const
/** Keys under which a predictor of v1beta1 holds its container, besides `model` (kserve pkg/apis/serving/v1beta1/predictor.go). */
const MODEL_KEYS = words(
  'model sklearn xgboost tensorflow pytorch triton onnx huggingface pmml lightgbm paddle art alibi aix',
)
const GPU = 'nvidia.com/gpu'

/**
 * KServe's InferenceService (serving.kserve.io/v1beta1): pods stand directly under each component, the model's container
 * under `model` or its framework's name, and what they leave out comes from a ServingRuntime.
 */
export function inferenceService(object: KubernetesObject, objects: readonly KubernetesObject[]): Translation {
  const parts = COMPONENTS.filter(name => {
    const part = valueAt(object.value, ['spec', name])
    return (
      isMapping(part) &&
      (name === 'predictor' || Array.isArray(part['containers']) || MODEL_KEYS.some(key => part[key] != null))
    )
  })
  const read = parts.map(name => component(object, name, objects))
  return { roles: read.flatMap(part => part.roles), warnings: read.flatMap(part => part.warnings), endless: true }
}

interface Component {
  readonly roles: readonly TranslatedRole[]
  readonly warnings: readonly Warning[]
}

function component(object: KubernetesObject, name: string, objects: readonly KubernetesObject[]): Component {
  const at = ['spec', name]
  const own = mappingOf(object, at)
  const key = MODEL_KEYS.find(each => isMapping(own[each]))
  const model = key === undefined ? undefined : mappingOf(object, [...at, key])
  const runtime = model && runtimeFor(key, model, objects)
  const group = groupOf(object, model, runtime)
  const base: Entry[] = [podFieldsOf(object, at), ...acceleratorLabel(object)]
  const container =
    model === undefined || key === undefined
      ? []
      : [
          containerEntry(0, {
            from: [...object.path, ...at, key],
            value: modelContainer(key, model, runtime, group?.head),
          }),
        ]
  const entries = model === undefined ? base : [...base, ...runtimePod(object, runtime, at), ...container]
  const scale = scaleOf(object, at, name)
  const address = key === undefined ? undefined : partAt(object, [...at, key, 'storageUri'])
  const head: TranslatedRole = {
    name,
    from: [...object.path, ...at],
    template: entries,
    ...scale.sizes,
    ...(name === 'predictor' && { serves: publishedModel(address) }),
  }
  const warnings = [...scale.warnings, ...unknownRuntime(object, [...at, key ?? ''], model, runtime)]
  if (group === undefined || group.nodes < 2) return { roles: [head], warnings }
  return { roles: [head, workers(object, runtime, group, head)], warnings }
}

/** `hf://org/name:revision` is a model of the Hugging Face Hub; what lies in a bucket has no name that is known. */
function publishedModel(address: Omit<Entry, 'at'> | undefined): NonNullable<TranslatedRole['serves']> {
  const name = /^hf:\/\/([^/]+\/[^/:]+)/.exec(typeof address?.value === 'string' ? address.value : '')?.[1]
  return address === undefined || name === undefined ? {} : { model: { ...address, value: name } }
}

/** The ServingRuntime of the same file that a model would be served by: the one named, or the only one for its format. */
function runtimeFor(
  key: string | undefined,
  model: Mapping,
  objects: readonly KubernetesObject[],
): KubernetesObject | undefined {
  const runtimes = objects.filter(({ kind }) => kind === 'ServingRuntime' || kind === 'ClusterServingRuntime')
  if (typeof model['runtime'] === 'string') return runtimes.find(({ name }) => name === model['runtime'])
  const format = key === 'model' ? valueAt(model, ['modelFormat', 'name']) : key
  const fitting = runtimes.filter(runtime =>
    listOf(runtime, ['spec', 'supportedModelFormats']).some(each => valueAt(each, ['name']) === format),
  )
  return fitting.length === 1 ? fitting[0] : undefined
}

/** The runtime's container, and over it what the service says itself: arguments follow the runtime's own (kserve, MergeRuntimeContainers). */
function modelContainer(
  key: string,
  model: Mapping,
  runtime: KubernetesObject | undefined,
  gpus: number | undefined,
): Mapping {
  const template = firstContainer(runtime, ['spec', 'containers'])
  const merged: Record<string, unknown> = { ...template, ...model }
  const format = key === 'model' ? valueAt(model, ['modelFormat', 'name']) : key
  for (const list of ['args', 'env']) merged[list] = [...asList(template[list]), ...asList(model[list])]
  merged['resources'] = mergedResources(template['resources'], model['resources'], gpus)
  // The image of KServe's own runtime for Hugging Face models starts this module (python/huggingfaceserver).
  const isOwnServer = format === 'huggingface' && merged['command'] === undefined && merged['image'] === undefined
  if (isOwnServer) merged['command'] = ['python3', '-m', 'huggingfaceserver']
  else if (merged['command'] === undefined && merged['image'] === undefined) delete merged['args']
  return merged
}

function mergedResources(below: unknown, above: unknown, gpus: number | undefined): Mapping {
  const amounts = (part: string) => ({ ...asMapping(valueAt(below, [part])), ...asMapping(valueAt(above, [part])) })
  const limits: Mapping = amounts('limits')
  const hasGpus = Object.keys(limits).some(name => deviceOf(name)?.kind === 'gpu')
  const added = gpus === undefined || hasGpus ? {} : { [GPU]: gpus }
  return { limits: { ...limits, ...added }, requests: { ...amounts('requests'), ...added } }
}

/** Labels, volumes and the like that a runtime sets for its pods and the service does not. */
function runtimePod(object: KubernetesObject, runtime: KubernetesObject | undefined, at: DocumentPath): Entry[] {
  if (runtime === undefined) return []
  const own = mappingOf(object, at)
  return (['nodeSelector', 'affinity', 'volumes'] as const).flatMap(key => {
    const value = valueAt(runtime.value, ['spec', key])
    return value == null || own[key] != null ? [] : [{ at: ['spec', key], from: [...object.path, ...at], value }]
  })
}

/** An annotation that KServe turns into a node label (pkg/webhook/admission/pod/accelerator_injector.go). */
function acceleratorLabel(object: KubernetesObject): Entry[] {
  const path = ['metadata', 'annotations', 'serving.kserve.io/gke-accelerator']
  const label = partAt(object, path)
  return label === undefined ? [] : [{ at: ['spec', 'nodeSelector', 'cloud.google.com/gke-accelerator'], ...label }]
}

interface Scale {
  readonly sizes: Pick<TranslatedRole, 'replicas' | 'range'>
  readonly warnings: readonly Warning[]
}

/**
 * At least one pod unless minReplicas says otherwise. Without maxReplicas a service in Standard mode stays at its smallest size
 * (hpa_reconciler.go), one that Knative scales has no largest.
 */
function scaleOf(object: KubernetesObject, at: DocumentPath, name: string): Scale {
  const least = countAt(object, [...at, 'minReplicas'])
  const most = countAt(object, [...at, 'maxReplicas'])
  const from = [...object.path, ...at, 'minReplicas']
  const smallest = least ?? 1
  const sizes = {
    ...(least === undefined ? {} : { replicas: { from, value: Math.max(1, least) } }),
    ...(most === undefined || most <= smallest ? {} : { range: { smallest, largest: most } }),
  }
  const mode = valueAt(object.value, ['metadata', 'annotations', 'serving.kserve.io/deploymentMode'])
  const place = object.document.placeOf([...object.path, ...at])
  if (most !== undefined && most > 0) return { sizes, warnings: [] }
  const warnings: Warning[] = []
  if (mode !== 'RawDeployment' && mode !== 'Standard') {
    const text = `${name}: maxReplicas is not set: where Knative scales it, nothing bounds its pods; figures are for ${Math.max(1, smallest)}`
    warnings.push({ code: 'autoscaling-range', text, place })
  }
  return { sizes, warnings }
}

function unknownRuntime(
  object: KubernetesObject,
  at: DocumentPath,
  model: Mapping | undefined,
  runtime: KubernetesObject | undefined,
): readonly Warning[] {
  const hasGpus = Object.keys(asMapping(valueAt(model, ['resources', 'limits']))).some(
    name => deviceOf(name) !== undefined,
  )
  if (model === undefined || runtime !== undefined || hasGpus) return []
  const named = model['runtime']
  const text =
    typeof named === 'string'
      ? `what the model is served with comes from the runtime ${named}, which is not in this file: it may ask for GPUs`
      : 'what the model is served with comes from a ServingRuntime of the cluster: it may ask for GPUs'
  return [{ code: 'external-file-missing', text, place: object.document.placeOf([...object.path, ...at]) }]
}

/** Pods that serve one copy of a model together. */
interface Group {
  readonly nodes: number
  readonly head: number
  readonly worker: number
}

/** As computeRayNodeAndGPUs and computeMpNodeAndGPUs of kserve's predictor.go count them. */
function groupOf(
  object: KubernetesObject,
  model: Mapping | undefined,
  runtime: KubernetesObject | undefined,
): Group | undefined {
  const at = ['spec', 'predictor', 'workerSpec']
  if (!isMapping(valueAt(object.value, at))) return undefined
  const size = (key: string) =>
    countAt(object, [...at, key]) ?? countOf(valueAt(runtime?.value, ['spec', 'workerSpec', key])) ?? 1
  const [pipeline, tensor] = [size('pipelineParallelSize'), size('tensorParallelSize')]
  const backend = valueAt(runtime?.value, ['metadata', 'annotations', 'serving.kserve.io/multi-node-executor-backend'])
  if (backend === 'mp') return { nodes: pipeline, head: tensor, worker: tensor }
  const total = pipeline * tensor
  const template = firstContainer(runtime, ['spec', 'containers'])
  const workerTemplate = firstContainer(runtime, ['spec', 'workerSpec', 'containers'])
  const head = gpusOf(model) ?? gpusOf(template)
  const worker = gpusOf(firstContainer(object, [...at, 'containers'])) ?? gpusOf(workerTemplate)
  if (worker === undefined) {
    return head === undefined
      ? { nodes: total, head: 1, worker: 1 }
      : { nodes: 1 + Math.max(0, total - head), head, worker: 1 }
  }
  const isOne = worker >= total || (head !== undefined && head >= total)
  if (isOne) return { nodes: 1, head: total, worker: 0 }
  const nodes = Math.ceil(total / worker)
  return { nodes, head: head ?? total - worker * (nodes - 1), worker }
}

function workers(
  object: KubernetesObject,
  runtime: KubernetesObject | undefined,
  { nodes, worker }: Group,
  head: TranslatedRole,
): TranslatedRole {
  const at = ['spec', 'predictor', 'workerSpec']
  const from = [...object.path, ...at]
  const own = firstContainer(object, [...at, 'containers'])
  const template = firstContainer(runtime, ['spec', 'workerSpec', 'containers'])
  const copies = typeof head.replicas?.value === 'number' ? head.replicas.value : 1
  const value = { ...template, ...own, resources: mergedResources(template['resources'], own['resources'], worker) }
  const part = isMapping(valueAt(object.value, [...at, 'containers', 0])) ? [...from, 'containers', 0] : from
  return {
    name: 'worker',
    from,
    template: [podFieldsOf(object, at), containerEntry(0, { from: part, value })],
    replicas: { from: [...from, 'pipelineParallelSize'], value: (nodes - 1) * copies },
    ...(head.range && {
      range: { smallest: head.range.smallest * (nodes - 1), largest: head.range.largest * (nodes - 1) },
    }),
  }
}

function gpusOf(container: Mapping | undefined): number | undefined {
  for (const part of ['requests', 'limits']) {
    for (const [name, amount] of Object.entries(asMapping(valueAt(container, ['resources', part])))) {
      if (deviceOf(name)?.kind === 'gpu') return countOf(amount)
    }
  }
  return undefined
}

/**
 * KServe's LLMInferenceService: `template` is a pod's spec and leads a group with `worker` pods, whose size is
 * data / dataLocal or pipeline (ParallelismSpec.GetSize); `prefill` is a second one of the same shape.
 */
export function llmInferenceService(object: KubernetesObject): Translation {
  const bases = listOf(object, ['spec', 'baseRefs']).map(each => String(valueAt(each, ['name'])))
  const place = object.document.placeOf([...object.path, 'spec'])
  const groups = [
    ...llmGroup(object, ['spec'], 'serving'),
    ...(isMapping(valueAt(object.value, ['spec', 'prefill'])) ? llmGroup(object, ['spec', 'prefill'], 'prefill') : []),
  ]
  const text =
    bases.length > 0
      ? `what it leaves out comes from ${bases.join(', ')}, which is not in this file: that may ask for GPUs`
      : 'its pods are described in no template here, but by the configuration of the cluster: that may ask for GPUs'
  const isOpen = groups.length === 0 || bases.length > 0
  return {
    roles: groups,
    endless: true,
    ...(isOpen && { warnings: [{ code: 'external-file-missing', text, place }] }),
  }
}

function llmGroup(object: KubernetesObject, at: DocumentPath, name: string): readonly TranslatedRole[] {
  const size = (key: string) => Math.max(1, countAt(object, [...at, 'parallelism', key]) ?? 1)
  const isDataParallel = size('data') > 1 || size('dataLocal') > 1
  const pods = isDataParallel ? Math.floor(size('data') / size('dataLocal')) : size('pipeline')
  const replicas = partAt(object, [...at, 'replicas'])
  const [least, most] = ['minReplicas', 'maxReplicas'].map(key => countAt(object, [...at, 'scaling', key]))
  const smallest = least ?? 1
  const copies = countOf(replicas?.value) ?? smallest
  const tensor = partAt(object, [...at, 'parallelism', 'tensor'])
  const named = partAt(object, ['spec', 'model', 'name'])
  const serves = {
    ...(named !== undefined && typeof named.value === 'string' && named.value.includes('/') && { model: named }),
    ...publishedModel(partAt(object, ['spec', 'model', 'uri'])),
    ...(typeof tensor?.value === 'number' && { tensor }),
  }
  const role = (key: string, as: string, perCopy: number): readonly TranslatedRole[] => {
    const spec = partAt(object, [...at, key])
    if (spec === undefined || perCopy === 0) return []
    const from = replicas?.from ?? [...object.path, ...at]
    return [
      {
        name: as,
        from: spec.from,
        template: [{ at: ['spec'], ...spec }],
        ...(key === 'template' && { serves }),
        replicas: perCopy === 1 && replicas !== undefined ? replicas : { from, value: copies * perCopy },
        ...(most !== undefined &&
          most > smallest && { range: { smallest: smallest * perCopy, largest: most * perCopy } }),
      },
    ]
  }
  const hasWorkers = isMapping(valueAt(object.value, [...at, 'worker']))
  return [...role('template', name, 1), ...(hasWorkers ? role('worker', `${name} worker`, Math.max(0, pods - 1)) : [])]
}

function firstContainer(object: KubernetesObject | undefined, path: DocumentPath): Mapping {
  return asMapping(valueAt(object?.value, [...path, 0]))
}

function asMapping(value: unknown): Mapping {
  return isMapping(value) ? value : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
