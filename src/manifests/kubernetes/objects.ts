import { type DocumentPath, isMapping, type Mapping, valueAt, wrongValue, type YamlDocument } from '../../document.ts'
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
  /** The object that holds it and makes it: an AppWrapper. */
  readonly holder?: KubernetesObject
}

/** The objects of all documents, Lists and AppWrappers opened; documents without content are passed over. */
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
  holder?: KubernetesObject,
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
  const object = { document, path, value, group, version, kind, name, ...(holder !== undefined && { holder }) }
  const held = kind === 'AppWrapper' ? heldObjects(value) : []
  if (held.length === 0) objects.push(object)
  for (const at of held) collect(document, [...path, ...at], valueAt(value, at), objects, faults, object)
}

/** Objects within an AppWrapper, by the field names of its API v1beta2 and v1beta1 (project-codeflare/appwrapper). */
function heldObjects(value: Mapping): readonly DocumentPath[] {
  return [
    { list: ['spec', 'components'], key: 'template' },
    { list: ['spec', 'resources', 'GenericItems'], key: 'generictemplate' },
  ].flatMap(({ list, key }) => {
    const items = valueAt(value, list)
    return Array.isArray(items) ? items.map((_, index) => [...list, index, key]) : []
  })
}

function missingType(document: YamlDocument, path: DocumentPath, value: Mapping): Fault[] {
  return ['apiVersion', 'kind']
    .filter(key => typeof value[key] !== 'string')
    .map(key =>
      wrongValue(document, [...path, key], 'text is expected', 'every Kubernetes object has apiVersion and kind'),
    )
}
