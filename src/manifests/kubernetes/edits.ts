import { isDeepStrictEqual } from 'node:util'
import { type DocumentPath, isMapping, type Mapping, readYaml, valueAt, type YamlDocument } from '../../document.ts'
import type { Manifest } from '../../manifest.ts'

/** Text that takes the place of the characters from `start` to `end`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** One thing that shall be otherwise in a document: undefined takes the key away. */
export interface Change {
  readonly path: DocumentPath
  readonly value: string | number | Mapping | undefined
}

/** A change and the text edits that make it. */
export interface Alteration {
  readonly changes: readonly Change[]
  readonly edits: readonly TextEdit[]
}

/** Another value for a scalar that is there, in the quotes it has; undefined where it is no scalar on one line. */
export function replaceScalar(
  document: YamlDocument,
  path: DocumentPath,
  value: string | number,
): Alteration | undefined {
  const scalar = document.scalarAt(path)
  if (scalar === undefined || scalar.style === 'block') return undefined
  const isText = typeof valueAt(document.value, path) === 'string'
  const text =
    scalar.style === 'single-quoted'
      ? `'${String(value).replaceAll("'", "''")}'`
      : scalar.style === 'double-quoted'
        ? JSON.stringify(String(value))
        : isText && typeof value === 'number'
          ? JSON.stringify(String(value))
          : plainOrQuoted(value)
  const wanted = isText ? String(value) : value
  return { changes: [{ path, value: wanted }], edits: [{ start: scalar.start, end: scalar.end, text }] }
}

/** A new entry in front of a mapping's first one; undefined where the mapping has none. */
export function insertEntry(
  document: YamlDocument,
  path: DocumentPath,
  key: string,
  value: number | string | Mapping,
): Alteration | undefined {
  const mapping = document.mappingAt(path)
  const first = mapping?.keys[0]
  if (mapping === undefined || first === undefined) return undefined
  const text =
    mapping.style === 'flow'
      ? `${flow({ [key]: value }).slice(1, -1)}, `
      : blockEntry(document, first.start, key, value)
  return { changes: [{ path: [...path, key], value }], edits: [{ start: first.start, end: first.start, text }] }
}

/** Another key for an entry, its value untouched. */
export function renameKey(document: YamlDocument, path: DocumentPath, key: string, to: string): Alteration | undefined {
  const entry = document.mappingAt(path)?.keys.findLast(candidate => candidate.key === key)
  if (entry === undefined) return undefined
  const quote = /^["']/.exec(document.source.slice(entry.start, entry.end))?.[0] ?? ''
  return {
    changes: [
      { path: [...path, key], value: undefined },
      { path: [...path, to], value: scalarValue(valueAt(document.value, [...path, key])) },
    ],
    edits: [{ start: entry.start, end: entry.end, text: quote + to + quote }],
  }
}

/** Takes away an entry that has a line for itself; undefined where it shares one. */
export function removeLine(document: YamlDocument, path: DocumentPath, key: string): Alteration | undefined {
  const mapping = document.mappingAt(path)
  const entry = mapping?.keys.findLast(candidate => candidate.key === key)
  if (mapping?.style !== 'block' || mapping.keys.length < 2 || entry === undefined) return undefined
  const start = document.source.lastIndexOf('\n', entry.start - 1) + 1
  const newline = document.source.indexOf('\n', entry.start)
  if (document.source.slice(start, entry.start).trim() !== '' || newline === -1) return undefined
  return { changes: [{ path: [...path, key], value: undefined }], edits: [{ start, end: newline + 1, text: '' }] }
}

function scalarValue(value: unknown): string | number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

function blockEntry(document: YamlDocument, at: number, key: string, value: number | string | Mapping): string {
  const indent = ' '.repeat(at - document.source.lastIndexOf('\n', at - 1) - 1)
  const end = document.source.includes('\r\n') ? '\r\n' : '\n'
  if (!isMapping(value)) return `${plainOrQuoted(key)}: ${plainOrQuoted(value)}${end}${indent}`
  const lines = Object.entries(value).map(
    ([name, inner]) => `${indent}  ${plainOrQuoted(name)}: ${plainOrQuoted(String(inner))}${end}`,
  )
  return `${plainOrQuoted(key)}:${end}${lines.join('')}${indent}`
}

/** Bare where no dialect could take the word for anything but text. */
function plainOrQuoted(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const isPlain = /^[A-Za-z][\w./-]*$/.test(value) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(value)
  return isPlain ? value : JSON.stringify(value)
}

function flow(value: Mapping): string {
  const entries = Object.entries(value).map(
    ([key, inner]) => `${JSON.stringify(key)}: ${isMapping(inner) ? flow(inner) : JSON.stringify(inner)}`,
  )
  return `{${entries.join(', ')}}`
}

/** The manifest's text with its documents altered; undefined where it would not read as the old documents with just these changes. */
export function alterText(
  { text: source, name }: Pick<Manifest, 'text' | 'name'>,
  documents: readonly YamlDocument[],
  altered: ReadonlyMap<YamlDocument, readonly Alteration[]>,
): string | undefined {
  const text = applyEdits(
    source,
    [...altered.values()].flat().flatMap(({ edits }) => edits),
  )
  if (text === undefined) return undefined
  const after = readYaml(text, name, 'kubectl')
  const isAsWanted = (document: YamlDocument, index: number) => {
    const changes = (altered.get(document) ?? []).flatMap(alteration => alteration.changes)
    return isDeepStrictEqual(changes.reduce(withChange, document.value), after[index]?.value)
  }
  return documents.length === after.length && documents.every(isAsWanted) ? text : undefined
}

/** The text with all edits made; undefined where two of them want different things of the same characters. */
function applyEdits(source: string, edits: readonly TextEdit[]): string | undefined {
  const distinct = new Map(edits.map(edit => [JSON.stringify(edit), edit]))
  const ordered = [...distinct.values()].toSorted((a, b) => a.start - b.start || a.end - b.end)
  let text = ''
  let position = 0
  for (const edit of ordered) {
    if (edit.start < position) return undefined
    text += source.slice(position, edit.start) + edit.text
    position = edit.end
  }
  return text + source.slice(position)
}

/** The value with a change made; everything that is not on its path is shared with the old one. */
function withChange(value: unknown, { path, value: wanted }: Change): unknown {
  const [step, ...rest] = path
  if (step === undefined) return wanted
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === step ? withChange(item, { path: rest, value: wanted }) : item))
  }
  const mapping: Record<string, unknown> = { ...(isMapping(value) ? value : {}) }
  if (rest.length === 0 && wanted === undefined) delete mapping[step]
  else mapping[step] = withChange(mapping[step], { path: rest, value: wanted })
  return mapping
}
