import { type DocumentPath, isMapping, type Mapping, valueAt } from '../../../document.ts'
import type { Warning } from '../../../warning.ts'
import type { KubernetesObject } from '../objects.ts'
import { nimImage } from '../resources.ts'
import { containerEntry, countAt, countOf, listOf, mappingOf, partAt, podFieldsOf } from './pod-parts.ts'
import type { Entry, TranslatedRole, Translation } from './translation.ts'

const SCALE = 'autoscaling.knative.dev/'

/**
 * Knative Serving's Service, Configuration and Revision: annotations of the pod template bound its size, in a spelling with
 * hyphens and an older one. None is the default for both: scaled to nothing, and without a largest size
 * (knative.dev/docs/serving/autoscaling/scale-bounds).
 */
export function knativeService(object: KubernetesObject): Translation {
  const at = object.kind === 'Revision' ? [] : ['spec', 'template']
  const annotations = [...at, 'metadata', 'annotations']
  const bound = (key: string, older: string) =>
    partAt(object, [...annotations, SCALE + key]) ?? partAt(object, [...annotations, SCALE + older])
  const least = bound('min-scale', 'minScale')
  const most = countOf(bound('max-scale', 'maxScale')?.value)
  const smallest = countOf(least?.value) ?? 0
  const place = object.document.placeOf([...object.path, ...annotations])
  const template = partAt(object, at) ?? { from: [...object.path, ...at], value: {} }
  const unbounded: Warning = {
    code: 'autoscaling-range',
    text: `Knative scales it from ${smallest} pods on, and no max-scale bounds them; figures are for ${Math.max(1, smallest)}`,
    place,
  }
  return {
    endless: true,
    roles: [
      {
        name: object.kind.toLowerCase(),
        from: template.from,
        template: [{ at: [], ...template }],
        serves: {},
        ...(least !== undefined && { replicas: { from: least.from, value: Math.max(1, smallest) } }),
        ...(most !== undefined && most > 0 && { range: { smallest, largest: most } }),
      },
    ],
    ...((most === undefined || most === 0) && { warnings: [unbounded] }),
  }
}

/** Servers that Seldon Core brings itself, by the word for them in a graph (docs.seldon.io, "Prepackaged Model Servers"). */
const SELDON_SERVERS: ReadonlyMap<unknown, string> = new Map([
  ['TRITON_SERVER', 'triton'],
  ['TENSORFLOW_SERVER', 'tensorflow-serving'],
])

/** The server that one of these containers is, where the predictor's graph says so of its name. */
function serverOf(object: KubernetesObject, graph: DocumentPath, names: readonly unknown[]): TranslatedRole['serves'] {
  const at = [...graph, 'implementation']
  const framework = SELDON_SERVERS.get(valueAt(object.value, at))
  if (framework !== undefined && names.includes(valueAt(object.value, [...graph, 'name']))) {
    return { framework: { from: [...object.path, ...at], value: framework } }
  }
  return listOf(object, [...graph, 'children'])
    .map((_, index) => serverOf(object, [...graph, 'children', index], names))
    .find(found => found !== undefined)
}

/** Seldon Core's SeldonDeployment: every component of a predictor is a Deployment of its own, sized by itself, its predictor or the whole. */
export function seldonDeployment(object: KubernetesObject): Translation {
  const predictors = listOf(object, ['spec', 'predictors'])
  const roles = predictors.flatMap((predictor, index) => {
    const at = ['spec', 'predictors', index]
    const name = valueAt(predictor, ['name'])
    const components = listOf(object, [...at, 'componentSpecs'])
    return components.map((_, each): TranslatedRole => {
      const own = [...at, 'componentSpecs', each]
      const replicas = [own, at, ['spec']]
        .map(path => partAt(object, [...path, 'replicas']))
        .find(part => part !== undefined)
      const containers = listOf(object, [...own, 'spec', 'containers']).map(container => valueAt(container, ['name']))
      const most = countAt(object, [...own, 'hpaSpec', 'maxReplicas'])
      const least = countAt(object, [...own, 'hpaSpec', 'minReplicas']) ?? 1
      return {
        name: [typeof name === 'string' ? name : `predictor ${index}`, ...(components.length > 1 ? [each] : [])].join(
          ' ',
        ),
        from: [...object.path, ...own],
        template: ['metadata', 'spec'].flatMap(key => nested(object, [...own, key], [key])),
        serves: serverOf(object, [...at, 'graph'], containers) ?? {},
        ...(replicas !== undefined && { replicas }),
        ...(most !== undefined && most > least && { range: { smallest: least, largest: most } }),
      }
    })
  })
  return { roles, endless: true }
}

/** Seldon Core 2's Server: pods that models are loaded into; what `podSpec` leaves out comes from the ServerConfig of the cluster. */
export function seldonServer(object: KubernetesObject): Translation {
  const spec = partAt(object, ['spec', 'podSpec'])
  const replicas = partAt(object, ['spec', 'replicas'])
  if (spec === undefined) return { roles: [], endless: true }
  const [most, least = 1] = ['maxReplicas', 'minReplicas'].map(key => countAt(object, ['spec', key]))
  return {
    endless: true,
    roles: [
      {
        name: 'server',
        from: spec.from,
        template: [{ at: ['spec'], ...spec }],
        serves: {},
        ...(replicas !== undefined && { replicas }),
        ...(most !== undefined && most > least && { range: { smallest: least, largest: most } }),
      },
    ],
  }
}

/** NVIDIA's NIM Operator: one image with its resources beside it (apps.nvidia.com/v1alpha1 NIMService). */
export function nimService(object: KubernetesObject): Translation {
  const at = ['spec']
  const spec = mappingOf(object, at)
  const { resources: _, ...fields } = asMapping(podFieldsOf(object, at).value)
  const [repository, tag] = ['repository', 'tag'].map(key => valueAt(spec, ['image', key]))
  const image = typeof repository === 'string' ? [repository, tag].filter(part => part != null).join(':') : undefined
  const replicas = partAt(object, [...at, 'replicas'])
  const most = countAt(object, [...at, 'scale', 'hpa', 'maxReplicas'])
  const least = countAt(object, [...at, 'scale', 'hpa', 'minReplicas']) ?? 1
  const isScaled = valueAt(spec, ['scale', 'enabled']) === true && most !== undefined && most > least
  const nodes =
    countAt(object, [...at, 'multiNode', 'parallelism', 'pipeline']) ??
    countAt(object, [...at, 'multiNode', 'size']) ??
    1
  const from = [...object.path, ...at]
  const pods = (countOf(replicas?.value) ?? 1) * nodes
  const model = typeof repository === 'string' ? nimImage(repository)?.model : undefined
  const role: TranslatedRole = {
    name: 'nim',
    from,
    serves: {
      framework: { from, value: 'nim' },
      ...(model !== undefined && { model: { from: [...from, 'image', 'repository'], value: model } }),
    },
    template: [
      { at: ['spec'], from, value: fields },
      containerEntry(0, {
        from,
        value: { name: 'nim', ...(image !== undefined && { image }), ...pick(spec, ['command', 'args', 'env']) },
      }),
      ...nested(object, [...at, 'resources'], ['spec', 'containers', 0, 'resources']),
    ],
    ...(pods !== 1 || replicas !== undefined
      ? { replicas: nodes === 1 && replicas !== undefined ? replicas : { from, value: pods } }
      : {}),
    ...(isScaled && { range: { smallest: least * nodes, largest: most * nodes } }),
  }
  return { roles: [role], endless: true }
}

/** NVIDIA Dynamo: a graph of services by name in v1alpha1, a list of components with pod templates in v1beta1. */
export function dynamoGraph(object: KubernetesObject): Translation {
  const services = Object.keys(mappingOf(object, ['spec', 'services']))
  const components = listOf(object, ['spec', 'components'])
  return {
    endless: true,
    roles: [
      ...services.map(name => dynamoService(object, name)),
      ...components.map((component, index) => dynamoComponent(object, component, index)),
    ],
  }
}

function dynamoService(object: KubernetesObject, name: string): TranslatedRole {
  const at = ['spec', 'services', name]
  const from = [...object.path, ...at]
  const pod = [...at, 'extraPodSpec']
  const main = partAt(object, [...pod, 'mainContainer']) ?? { from, value: {} }
  const container = { name: 'main', ...asMapping(main.value) }
  const kind = valueAt(object.value, [...at, 'componentType'])
  return {
    name,
    from,
    ...(kind === 'worker' && { serves: {} }),
    template: [
      podFieldsOf(object, pod),
      containerEntry(0, { from: main.from, value: container }),
      ...['limits', 'requests'].flatMap(part => dynamoAmounts(object, [...at, 'resources'], part)),
    ],
    ...dynamoSize(object, at),
  }
}

/** `gpu: "8"` means the resource that gpuType names, NVIDIA's by default; `custom` holds further names. */
function dynamoAmounts(object: KubernetesObject, resources: DocumentPath, part: string): Entry[] {
  const into = ['spec', 'containers', 0, 'resources', part]
  const { gpuType, ...amounts } = mappingOf(object, [...resources, part])
  const gpus = typeof gpuType === 'string' && gpuType.includes('/') ? gpuType : 'nvidia.com/gpu'
  return Object.keys(amounts).flatMap((key): Entry[] => {
    const amount = partAt(object, [...resources, part, key])
    if (amount === undefined) return []
    if (key === 'custom') {
      return Object.entries(asMapping(amount.value)).map(([name, value]) => ({
        at: [...into, name],
        from: [...amount.from, name],
        value,
      }))
    }
    return [{ at: [...into, key === 'gpu' ? gpus : key], ...amount }]
  })
}

function dynamoComponent(object: KubernetesObject, component: unknown, index: number): TranslatedRole {
  const at = ['spec', 'components', index]
  const name = valueAt(component, ['name'])
  const from = [...object.path, ...at]
  return {
    name: typeof name === 'string' ? name : `component ${index}`,
    from,
    template: [{ at: [], ...(partAt(object, [...at, 'podTemplate']) ?? { from, value: {} }) }],
    ...dynamoSize(object, at),
  }
}

function dynamoSize(object: KubernetesObject, at: DocumentPath): Pick<TranslatedRole, 'replicas' | 'range'> {
  const replicas = partAt(object, [...at, 'replicas'])
  const nodes = countAt(object, [...at, 'multinode', 'nodeCount']) ?? 1
  const scaling = mappingOf(object, [...at, 'autoscaling'])
  const most = countOf(scaling['maxReplicas'])
  const least = countOf(scaling['minReplicas']) ?? 1
  const pods = {
    from: [...object.path, ...at, 'multinode', 'nodeCount'],
    value: (countOf(replicas?.value) ?? 1) * nodes,
  }
  const sizes = nodes === 1 ? replicas : pods
  return {
    ...(sizes !== undefined && { replicas: sizes }),
    ...(scaling['enabled'] === true &&
      most !== undefined &&
      most > least && { range: { smallest: least * nodes, largest: most * nodes } }),
  }
}

function nested(object: KubernetesObject, path: DocumentPath, at: DocumentPath): Entry[] {
  const part = partAt(object, path)
  return part === undefined ? [] : [{ at, ...part }]
}

function pick(mapping: Mapping, keys: readonly string[]): Mapping {
  return Object.fromEntries(keys.flatMap(key => (mapping[key] == null ? [] : [[key, mapping[key]]])))
}

function asMapping(value: unknown): Mapping {
  return isMapping(value) ? value : {}
}
