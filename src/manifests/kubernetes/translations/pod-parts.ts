import { type DocumentPath, isMapping, type Mapping, valueAt } from '../../../document.ts'
import { containerFields, podSpecFields } from '../known-fields.ts'
import type { KubernetesObject } from '../objects.ts'
import type { Entry } from './translation.ts'

/** What stands at a path of an object, and where that is in its document. */
export function partAt(object: KubernetesObject, path: DocumentPath): Omit<Entry, 'at'> | undefined {
  const value = valueAt(object.value, path)
  return value == null ? undefined : { from: [...object.path, ...path], value }
}

/** The mapping at a path of an object; empty where there is none. */
export function mappingOf(object: KubernetesObject, path: DocumentPath): Mapping {
  const value = valueAt(object.value, path)
  return isMapping(value) ? value : {}
}

/** The items of a list at a path; none where there is no list. */
export function listOf(object: KubernetesObject, path: DocumentPath): readonly unknown[] {
  const value = valueAt(object.value, path)
  return Array.isArray(value) ? value : []
}

/** A whole number at a path, written as one or in quotes; undefined where there is none. */
export function countAt(object: KubernetesObject, path: DocumentPath): number | undefined {
  return countOf(valueAt(object.value, path))
}

/** A whole number, written as one or in quotes. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined
}

/** Fields of a pod's spec that stand among others, in a mapping of another kind. */
export function podFieldsOf(object: KubernetesObject, path: DocumentPath): Entry {
  const fields = Object.entries(mappingOf(object, path))
    .filter(([key]) => podSpecFields.includes(key))
    .map(([key, value]) => [key, key === 'initContainers' ? ownFields(value) : value])
  return { at: ['spec'], from: [...object.path, ...path], value: Object.fromEntries(fields) }
}

/** Init containers without the fields that only their template's controller knows, as Argo's mirrorVolumeMounts. */
function ownFields(containers: unknown): unknown {
  if (!Array.isArray(containers)) return containers
  return containers.map(container => (isMapping(container) ? containerValue(container) : container))
}

function containerValue(value: Mapping): Mapping {
  return Object.fromEntries(Object.entries(value).filter(([key]) => containerFields.includes(key)))
}

/** One container of a pod, from those fields of another mapping that a container has. */
export function containerEntry(
  index: number,
  { value, ...part }: Omit<Entry, 'at' | 'value'> & { readonly value: Mapping },
): Entry {
  return { at: ['spec', 'containers', index], ...part, value: containerValue(value) }
}
