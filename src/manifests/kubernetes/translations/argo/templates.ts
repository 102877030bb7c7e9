import { type DocumentPath, isMapping, type Mapping, valueAt, wrongValue } from '../../../../document.ts'
import { InputError, NothingToPrice } from '../../../../errors.ts'
import type { KubernetesObject } from '../../objects.ts'
import { listOf, mappingOf } from '../pod-parts.ts'

/** A template, and the object that holds it. */
export interface Template {
  readonly name: string
  readonly holder: KubernetesObject
  /** From the holder. */
  readonly path: DocumentPath
  /** With what the holder's templateDefaults add. */
  readonly value: Mapping
}

/** Where an object keeps the spec of its workflow. */
export interface WorkflowSpec {
  readonly holder: KubernetesObject
  readonly path: DocumentPath
}

const REFERRED = ['WorkflowTemplate', 'ClusterWorkflowTemplate']

/** The spec of an object's own, and that of the WorkflowTemplate it is made from. Throws NothingToPrice where that is not in the file. */
export function specsOf(object: KubernetesObject, objects: readonly KubernetesObject[]): readonly WorkflowSpec[] {
  const path = object.kind === 'CronWorkflow' ? ['spec', 'workflowSpec'] : ['spec']
  const own = { holder: object, path }
  const at = [...path, 'workflowTemplateRef']
  const reference = mappingOf(object, at)
  if (reference['name'] === undefined) return [own]
  const holder = objects.find(({ kind, name }) => REFERRED.includes(kind) && name === reference['name'])
  if (holder !== undefined) return [own, { holder, path: ['spec'] }]
  const message = `its steps are those of the WorkflowTemplate ${String(reference['name'])}, which is not in this file`
  const hint = 'put both into one file, or hand over: argo template get NAME -o yaml'
  const place = object.document.placeOf([...object.path, ...at])
  throw new NothingToPrice([{ code: 'external-file-missing', place, message, hint }], 'template')
}

/** What the first of several specs that has a field says of it. */
export function fieldOf(
  specs: readonly WorkflowSpec[],
  key: string,
): { readonly spec: WorkflowSpec; readonly value: unknown } | undefined {
  for (const spec of specs) {
    const value = valueAt(spec.holder.value, [...spec.path, key])
    if (value != null) return { spec, value }
  }
  return undefined
}

/** The template of a name in a workflow. */
export function findTemplate(specs: readonly WorkflowSpec[], name: unknown): Template | undefined {
  for (const { holder, path } of specs) {
    const at = [...path, 'templates']
    const index = listOf(holder, at).findIndex(each => valueAt(each, ['name']) === name)
    if (index >= 0) return templateAt(holder, path, [...at, index])
  }
  return undefined
}

/**
 * The template that a step or task runs: one by name, one of another object, or one that stands in it; `missing` where that
 * object is not in the file. Throws InputError where the workflow has none of that name.
 */
export function templateOf(
  step: Mapping,
  specs: readonly WorkflowSpec[],
  at: { readonly holder: KubernetesObject; readonly path: DocumentPath },
  objects: readonly KubernetesObject[],
): { readonly template: Template } | { readonly missing: string } {
  const { holder, path } = at
  if (isMapping(step['inline'])) return { template: templateAt(holder, ['spec'], [...path, 'inline']) }
  const reference = step['templateRef']
  const found = isMapping(reference)
    ? findReferred(reference, objects)
    : findTemplate([{ holder, path: ['spec'] }, ...specs], step['template'])
  if (found !== undefined) return { template: found }
  if (isMapping(reference)) return { missing: `${String(reference['template'])} of ${String(reference['name'])}` }
  throw new InputError([
    wrongValue(holder.document, [...holder.path, ...path, 'template'], 'a template of this workflow is expected'),
  ])
}

function findReferred(reference: Mapping, objects: readonly KubernetesObject[]): Template | undefined {
  const holder = objects.find(({ kind, name }) => REFERRED.includes(kind) && name === reference['name'])
  return holder && findTemplate([{ holder, path: ['spec'] }], reference['template'])
}

function templateAt(holder: KubernetesObject, spec: DocumentPath, path: DocumentPath): Template {
  const own = mappingOf(holder, path)
  const value = { ...mappingOf(holder, [...spec, 'templateDefaults']), ...own }
  return { name: typeof own['name'] === 'string' ? own['name'] : 'inline', holder, path, value }
}

/** Whether an object only holds templates for others: a WorkflowTemplate that a workflow of the file uses, or that has no beginning. */
export function isOnlyReferredTo(object: KubernetesObject, objects: readonly KubernetesObject[]): boolean {
  if (object.group !== 'argoproj.io' || !REFERRED.includes(object.kind)) return false
  if (valueAt(object.value, ['spec', 'entrypoint']) == null) return true
  return objects.some(other => other !== object && other.group === 'argoproj.io' && refersTo(other.value, object.name))
}

function refersTo(value: unknown, name: string | undefined): boolean {
  if (Array.isArray(value)) return value.some(item => refersTo(item, name))
  if (!isMapping(value)) return false
  return Object.entries(value).some(([key, inner]) =>
    key === 'templateRef' || key === 'workflowTemplateRef' ? valueAt(inner, ['name']) === name : refersTo(inner, name),
  )
}
