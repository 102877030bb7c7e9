import {
  type DocumentPath,
  isMapping,
  type Mapping,
  type MappingSource,
  type ScalarSource,
  valueAt,
  type YamlDocument,
} from '../../../document.ts'
import type { Place } from '../../../errors.ts'
import type { Turns } from '../../../job.ts'
import type { Warning } from '../../../warning.ts'
import type { Kind } from '../kinds.ts'
import type { KubernetesObject } from '../objects.ts'

/** One value of a translated object: where it stands there, and what of the file it comes from. */
export interface Entry {
  readonly at: DocumentPath
  readonly from: DocumentPath
  /** Another document of the file than the object's own. */
  readonly document?: YamlDocument
  readonly value: unknown
}

/** A role of a translated object. */
export interface TranslatedRole {
  readonly name: string
  /** What the role as a whole comes from. */
  readonly from: DocumentPath
  /** Within its pod template, `spec.containers[0]`. */
  readonly template: readonly Entry[]
  readonly replicas?: Omit<Entry, 'at'>
  /** Of what the role as a whole comes from; absent = the object's. */
  readonly document?: YamlDocument
  readonly range?: { readonly smallest: number; readonly largest: number }
  readonly runs?: { readonly tasks: number; readonly atOnce: number }
  /** It answers requests; with what, as far as the object itself says. */
  readonly serves?: Readonly<Partial<Record<'model' | 'framework' | 'tensor', Omit<Entry, 'at'>>>>
}

/** An object of a shape of its own, said as roles with pod templates, and what else has to be known of it. */
export interface Translation {
  readonly roles: readonly TranslatedRole[]
  /** What bears on the whole, by the names of a kind's row. */
  readonly whole?: Partial<Record<'deadline' | 'suspend' | 'schedule' | 'retries', Omit<Entry, 'at'>>>
  readonly endless: boolean
  readonly turns?: Turns
  readonly warnings?: readonly Warning[]
  /** Objects that it creates, each a job of its own. */
  readonly creates?: readonly KubernetesObject[]
}

/** Says an object in the common shape; all objects of the file stand beside it. */
export type Translate = (object: KubernetesObject, objects: readonly KubernetesObject[]) => Translation

/** The translated object, which the table of kinds reads like any other: every place and edit leads back to the file. */
export function asObject(
  object: KubernetesObject,
  { roles, whole = {}, endless }: Translation,
): { readonly object: KubernetesObject; readonly kind: Kind } {
  const { document, path } = object
  const own = (key: string): Entry => ({ at: [key], from: [...path, key], value: valueAt(object.value, [key]) })
  const entries: Entry[] = [
    ...['apiVersion', 'kind', 'metadata'].map(own),
    ...Object.entries(whole).map(([key, entry]) => ({ at: [key], ...entry })),
    ...roles.flatMap((role, index) => roleEntries(role, ['roles', index])),
  ]
  const translated = new TranslatedDocument(document, entries)
  return {
    object: { ...object, document: translated, path: [], value: isMapping(translated.value) ? translated.value : {} },
    kind: {
      group: object.group,
      kind: object.kind,
      roles: [
        {
          at: ['roles', '*'],
          pod: ['template'],
          replicas: ['replicas'],
          runs: { tasks: ['runs', 'tasks'], atOnce: ['runs', 'atOnce'] },
          serves: ['serves'],
          range: { smallest: ['range', 'smallest'], largest: ['range', 'largest'] },
        },
      ],
      ...(endless && { endless }),
      deadline: ['deadline'],
      suspend: ['suspend'],
      schedule: ['schedule'],
      retries: { paths: [['retries']] },
    },
  }
}

function roleEntries(role: TranslatedRole, at: DocumentPath): Entry[] {
  const { name, from, document, template, replicas, range, runs, serves } = role
  return [
    { at: [...at, 'name'], from, value: name, ...(document !== undefined && { document }) },
    ...template.map(entry => ({ ...entry, at: [...at, 'template', ...entry.at] })),
    ...(replicas === undefined ? [] : [{ at: [...at, 'replicas'], ...replicas }]),
    ...(range === undefined ? [] : [{ at: [...at, 'range'], from, value: range }]),
    ...(runs === undefined ? [] : [{ at: [...at, 'runs'], from, value: runs }]),
    ...(serves === undefined ? [] : [{ at: [...at, 'serves'], from, value: {} }]),
    ...Object.entries(serves ?? {}).map(([key, entry]) => ({ at: [...at, 'serves', key], ...entry })),
  ]
}

/** A document whose values were put together from parts of another one. */
export class TranslatedDocument implements YamlDocument {
  readonly value: unknown
  readonly original: YamlDocument
  private readonly entries: readonly Entry[]

  constructor(original: YamlDocument, entries: readonly Entry[]) {
    this.original = original
    this.entries = entries
    this.value = entries.reduce<unknown>((root, { at, value }) => withValue(root, at, value), {})
  }

  get file(): string {
    return this.original.file
  }

  get source(): string {
    return this.original.source
  }

  get repeatedKeys(): YamlDocument['repeatedKeys'] {
    return this.original.repeatedKeys
  }

  placeOf(path: DocumentPath): Place {
    const { document, path: written } = this.written(path)
    return document.placeOf(written)
  }

  placeOfKey(path: DocumentPath): Place {
    const { document, path: written } = this.written(path)
    return document.placeOfKey(written)
  }

  scalarAt(path: DocumentPath): ScalarSource | undefined {
    const { document, path: written } = this.written(path)
    return document.scalarAt(written)
  }

  mappingAt(path: DocumentPath): MappingSource | undefined {
    const { document, path: written } = this.written(path)
    return this.isWithinEntry(path) ? document.mappingAt(written) : undefined
  }

  pathAsWritten(path: DocumentPath): DocumentPath {
    return this.written(path).path
  }

  /** Where in the file a value comes from. */
  written(path: DocumentPath): { readonly document: YamlDocument; readonly path: DocumentPath } {
    const within = this.entriesAbove(path).toSorted((a, b) => b.at.length - a.at.length)[0]
    const entry = within ?? this.entries.find(({ at }) => startsWith(at, path))
    const rest = within === undefined ? [] : path.slice(within.at.length)
    return { document: entry?.document ?? this.original, path: [...(entry?.from ?? []), ...rest] }
  }

  private isWithinEntry(path: DocumentPath): boolean {
    return this.entriesAbove(path).length > 0
  }

  private entriesAbove(path: DocumentPath): readonly Entry[] {
    return this.entries.filter(({ at }) => startsWith(path, at))
  }
}

function startsWith(path: DocumentPath, start: DocumentPath): boolean {
  return start.length <= path.length && start.every((step, index) => step === path[index])
}

/** The same value with another one at a path: lists and mappings on the way are made where they are missing. */
export function withValue(root: unknown, [step, ...rest]: DocumentPath, value: unknown): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(root) ? [...root] : []
    list[step] = withValue(list[step], rest, value)
    return list
  }
  const mapping: Mapping = isMapping(root) ? root : {}
  return { ...mapping, [step]: withValue(mapping[step], rest, value) }
}
