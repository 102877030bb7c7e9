import { type DocumentPath, isMapping, type Mapping, valueAt } from '../../../document.ts'
import type { KubernetesObject } from '../objects.ts'
import { containerEntry, countAt, countOf, listOf, mappingOf, partAt, podFieldsOf } from './pod-parts.ts'
import type { Entry, TranslatedRole, Translation } from './translation.ts'

/**
 * The Spark operator's SparkApplication and ScheduledSparkApplication (sparkoperator.k8s.io/v1beta2): a driver and its executors, whose
 * GPUs stand under `gpu`, or in Spark's own settings (spark.apache.org, "Running Spark on Kubernetes", resource allocation).
 */
export function sparkApplication(object: KubernetesObject): Translation {
  const at = object.kind === 'ScheduledSparkApplication' ? ['spec', 'template'] : ['spec']
  const policy = mappingOf(object, [...at, 'restartPolicy'])
  const retries = partAt(object, [...at, 'restartPolicy', 'onFailureRetries'])
  const schedule = partAt(object, ['spec', 'schedule'])
  const suspend = partAt(object, ['spec', 'suspend'])
  return {
    roles: [driver(object, at), executors(object, at)],
    endless: policy['type'] === 'Always',
    whole: {
      ...(policy['type'] === 'OnFailure' && retries !== undefined && { retries }),
      ...(object.kind === 'ScheduledSparkApplication' && schedule !== undefined && { schedule }),
      ...(suspend !== undefined && { suspend }),
    },
  }
}

function driver(object: KubernetesObject, at: DocumentPath): TranslatedRole {
  const file = valueAt(object.value, [...at, 'mainApplicationFile'])
  const given = listOf(object, [...at, 'arguments']).map(String)
  const command = typeof file === 'string' ? ['spark-submit', file.replace(/^local:\/\//, ''), ...given] : undefined
  return pods(object, at, 'driver', command === undefined ? {} : { command })
}

function executors(object: KubernetesObject, at: DocumentPath): TranslatedRole {
  const own = [...at, 'executor']
  const instances = partAt(object, [...own, 'instances'])
  const scaling = [...at, 'dynamicAllocation']
  const isScaled = valueAt(object.value, [...scaling, 'enabled']) === true
  const smallest = countAt(object, [...scaling, 'minExecutors']) ?? 0
  const largest = countAt(object, [...scaling, 'maxExecutors'])
  const first = partAt(object, [...scaling, 'initialExecutors']) ?? instances
  const replicas = isScaled ? first : instances
  return {
    ...pods(object, at, 'executor', {}),
    ...(replicas !== undefined && { replicas }),
    ...(isScaled && largest !== undefined && largest > smallest && { range: { smallest, largest } }),
  }
}

function pods(object: KubernetesObject, at: DocumentPath, name: 'driver' | 'executor', more: Mapping): TranslatedRole {
  const own = [...at, name]
  const from = [...object.path, ...own]
  const cores = partAt(object, [...own, 'coreRequest']) ?? partAt(object, [...own, 'cores'])
  const image = valueAt(object.value, [...own, 'image']) ?? valueAt(object.value, [...at, 'image'])
  const cpu = { at: ['spec', 'containers', 0, 'resources', 'requests', 'cpu'] }
  return {
    name,
    from,
    template: [
      podFieldsOf(object, own),
      containerEntry(0, { from, value: { name, ...(typeof image === 'string' && { image }), ...more } }),
      ...(cores === undefined ? [] : [{ ...cpu, ...cores }]),
      ...gpus(object, at, name),
    ],
  }
}

function gpus(object: KubernetesObject, at: DocumentPath, name: string): readonly Entry[] {
  const into = ['spec', 'containers', 0, 'resources', 'limits']
  const own = mappingOf(object, [...at, name, 'gpu'])
  const quantity = partAt(object, [...at, name, 'gpu', 'quantity'])
  if (typeof own['name'] === 'string' && quantity !== undefined) return [{ at: [...into, own['name']], ...quantity }]
  const settings = [...at, 'sparkConf']
  const setting = (key: string) => partAt(object, [...settings, `spark.${name}.resource.gpu.${key}`])
  const amount = setting('amount')
  const vendor = setting('vendor')?.value ?? 'nvidia.com'
  return amount === undefined || countOf(amount.value) === undefined || isMapping(vendor)
    ? []
    : [{ at: [...into, `${String(vendor)}/gpu`], ...amount }]
}
