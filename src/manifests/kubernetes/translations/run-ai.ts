import { type DocumentPath, type Mapping, valueAt } from '../../../document.ts'
import type { Warning } from '../../../warning.ts'
import type { KubernetesObject } from '../objects.ts'
import { countOf, partAt } from './pod-parts.ts'
import type { TranslatedRole, Translation } from './translation.ts'

/**
 * Run:ai's workloads (run.ai/v2alpha1; docs.run.ai, "Cluster API reference"): every field is a mapping with its `value`, GPUs
 * are a number or a fraction. Its scheduler starts all pods together.
 */
export function runAiWorkload(object: KubernetesObject): Translation {
  // A template is what other workloads are based on: it runs nothing.
  if (valueAt(object.value, ['spec', 'usage']) === 'Template') return { roles: [], endless: false }
  const retries = fieldAt(object, ['spec', 'backoffLimit'])
  return {
    roles: object.kind === 'DistributedWorkload' ? distributedRoles(object) : [role(object, 'workload', ['spec'])],
    whole: { ...(retries !== undefined && { retries }) },
    endless: object.kind === 'InteractiveWorkload' || object.kind === 'InferenceWorkload',
    warnings: [...basedOn(object), ...withoutMaster(object)],
  }
}

function distributedRoles(object: KubernetesObject): readonly TranslatedRole[] {
  const workers = fieldAt(object, ['spec', 'workers'])
  const count = countOf(workers?.value)
  const worker = role(object, 'worker', ['spec'])
  const hasMaster = partAt(object, ['masterSpec']) !== undefined
  return [
    ...(hasMaster ? [role(object, 'master', ['masterSpec'])] : []),
    { ...worker, ...(workers !== undefined && count !== undefined && { replicas: { ...workers, value: count } }) },
  ]
}

function role(object: KubernetesObject, name: string, at: DocumentPath): TranslatedRole {
  const from = [...object.path, ...at]
  const written = (key: string) => fieldAt(object, [...at, key])?.value
  const gpus = Number(written('gpuDevices') ?? written('gpu') ?? 0)
  const isPart = gpus > 0 && gpus < 1
  const memory = written('gpuMemory')
  const profile = written('migProfile')
  const limits: Mapping = {
    ...(gpus >= 1 && { 'nvidia.com/gpu': gpus }),
    ...(typeof profile === 'string' && { [`nvidia.com/mig-${profile}`]: 1 }),
  }
  const requests = Object.fromEntries(
    ['cpu', 'memory'].map(key => [key, written(key)]).filter(([, value]) => value != null),
  )
  const command = [written('command'), written('arguments')].filter(text => typeof text === 'string').join(' ')
  const image = written('image')
  const pool = String(written('nodePools') ?? written('nodePool') ?? '').split(' ')[0]
  const annotations = {
    ...(isPart && { 'gpu-fraction': String(gpus) }),
    ...(memory != null && { 'gpu-memory': String(memory) }),
  }
  const value = {
    metadata: { annotations },
    spec: {
      schedulerName: 'runai-scheduler',
      restartPolicy: 'Never',
      ...(pool !== '' && pool !== 'default' && { nodeSelector: { 'runai/node-pool': pool } }),
      containers: [
        {
          name: 'main',
          ...(typeof image === 'string' && { image }),
          ...(command !== '' && { command: ['sh', '-c', command] }),
          resources: { limits, requests },
        },
      ],
    },
  }
  return { name, from, template: [{ at: [], from, value }] }
}

function fieldAt(object: KubernetesObject, path: DocumentPath): ReturnType<typeof partAt> {
  return partAt(object, [...path, 'value'])
}

function basedOn(object: KubernetesObject): readonly Warning[] {
  const base = partAt(object, ['spec', 'baseWorkload'])
  if (base === undefined) return []
  const text = `it inherits from the workload ${String(base.value)}, which is not read: what it leaves out may stand there`
  return [{ code: 'external-file-missing', text, place: object.document.placeOf(base.from) }]
}

function withoutMaster(object: KubernetesObject): readonly Warning[] {
  if (object.kind !== 'DistributedWorkload' || partAt(object, ['masterSpec']) !== undefined) return []
  const text = 'no masterSpec says whether a master with GPUs of its own is added to the workers: figures are for these'
  return [{ code: 'gpu-count-unknown', text, place: object.document.placeOf([...object.path, 'spec']) }]
}
