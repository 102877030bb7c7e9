import { type DocumentPath, isMapping, type Mapping, wrongValue, type YamlDocument } from '../../document.ts'
import type { Fault } from '../../errors.ts'

/** One Kubernetes object of a manifest, and where it stands in its document: the items of a List stand inside of it. */
export interface KubernetesObject {
  readonly document: YamlDocument
  readonly path: DocumentPath
  readonly value: Mapping
  /** `kubeflow.org`; empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly name: string | undefined
}

/** The objects of all documents, Lists opened; documents without content are passed over. */
export function readObjects(documents: readonly YamlDocument[]): {
  readonly objects: readonly KubernetesObject[]
  readonly faults: readonly Fault[]
} {
  const objects: KubernetesObject[] = []
  const faults: Fault[] = []
  for (const document of documents) {
    if (document.value !== null) collect(document, [], document.value, objects, faults)
  }
  return { objects, faults }
}

function collect(
  document: YamlDocument,
  path: DocumentPath,
  value: unknown,
  objects: KubernetesObject[],
  faults: Fault[],
): void {
  if (!isMapping(value)) {
    faults.push(wrongValue(document, path, 'a Kubernetes object (a mapping with apiVersion and kind) is expected'))
    return
  }
  const { apiVersion, kind, items } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    faults.push(...missingType(document, path, value))
    return
  }
  if (kind.endsWith('List') && Array.isArray(items)) {
    for (const [index, item] of items.entries()) collect(document, [...path, 'items', index], item, objects, faults)
    return
  }
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const metadata = isMapping(value['metadata']) ? value['metadata'] : {}
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : undefined
  objects.push({ document, path, value, group, version, kind, name })
}

function missingType(document: YamlDocument, path: DocumentPath, value: Mapping): Fault[] {
  return ['apiVersion', 'kind']
    .filter(key => typeof value[key] !== 'string')
    .map(key =>
      wrongValue(document, [...path, key], 'text is expected', 'every Kubernetes object has apiVersion and kind'),
    )
}
