import { isMapping, valueAt } from '../../../document.ts'
import type { Warning } from '../../../warning.ts'
import type { KubernetesObject } from '../objects.ts'
import { countAt, listOf, mappingOf, partAt } from './pod-parts.ts'
import type { Entry, Translation } from './translation.ts'

/** Most Jobs that KEDA runs at one time where nothing bounds them (keda.sh/docs, ScaledJob spec, maxReplicaCount). */
const MOST_SCALED_JOBS = 100

/** KEDA's ScaledJob: a Job for each piece of waiting work, however many there will be. */
export function scaledJob(object: KubernetesObject): Translation {
  const at = ['spec', 'jobTargetRef']
  const template = partAt(object, [...at, 'template']) ?? { from: [...object.path, ...at], value: {} }
  const parallelism = partAt(object, [...at, 'parallelism'])
  const deadline = partAt(object, [...at, 'activeDeadlineSeconds'])
  const retries = partAt(object, [...at, 'backoffLimit'])
  const most = countAt(object, ['spec', 'maxReplicaCount'])
  const place = object.document.placeOf([...object.path, 'spec'])
  const atOnce = `${most ?? MOST_SCALED_JOBS} at one time${most === undefined ? ' by default' : ''}`
  const warnings: Warning[] = [
    {
      code: 'autoscaling-range',
      text: `one Job runs for each piece of waiting work, at most ${atOnce}: figures are for one Job`,
      place,
    },
    { code: 'recurring', text: 'it starts Jobs for as long as it is there: figures are for one of them', place },
  ]
  return {
    roles: [
      {
        name: 'job',
        from: template.from,
        template: [{ at: [], ...template }],
        ...(parallelism && { replicas: parallelism }),
      },
    ],
    whole: { ...(deadline && { deadline }), ...(retries && { retries }) },
    endless: false,
    warnings,
  }
}

/** Kubeflow's Workspace: its size is one of those that its WorkspaceKind lists (kubeflow.org/v1beta1, options.podConfig). */
export function workspace(object: KubernetesObject, objects: readonly KubernetesObject[]): Translation {
  const options = ['spec', 'podTemplate', 'options']
  const chosen = partAt(object, [...options, 'podConfig'])
  const named = valueAt(object.value, ['spec', 'kind'])
  const kind = objects.find(other => other.kind === 'WorkspaceKind' && other.name === named)
  const at = [...options, 'podConfig', 'values']
  const index = kind === undefined ? -1 : listOf(kind, at).findIndex(each => valueAt(each, ['id']) === chosen?.value)
  const from = chosen?.from ?? [...object.path, 'spec']
  const container: Entry = { at: ['spec', 'containers', 0], from, value: { name: 'main' } }
  const role = { name: 'workspace', from, template: [container] }
  if (kind === undefined || index < 0) {
    const text = `its size is ${String(chosen?.value)} of the WorkspaceKind ${String(named)}, which is not in this file: how many GPUs that has is not known`
    return {
      roles: [role],
      endless: true,
      warnings: [{ code: 'gpu-count-unknown', text, place: object.document.placeOf(from) }],
    }
  }
  const spec = [...at, index, 'spec']
  const { resources, ...pod } = mappingOf(kind, spec)
  const placed = { from: [...kind.path, ...spec], document: kind.document }
  const template: Entry[] = [
    { at: ['spec'], ...placed, value: pod },
    container,
    {
      at: ['spec', 'containers', 0, 'resources'],
      document: kind.document,
      from: [...placed.from, 'resources'],
      value: isMapping(resources) ? resources : {},
    },
  ]
  return { roles: [{ ...role, template }], endless: true }
}
