import { type DocumentPath, isMapping } from '../../document.ts'
import { InputError, NothingToPrice } from '../../errors.ts'
import type { Manifest } from '../../manifest.ts'
import type { Warning } from '../../warning.ts'
import type { KubernetesObject } from './objects.ts'

/** `{{ .Values.gpus }}`, `{{- include "x" . }}`: what Helm fills in, and nothing else looks like. */
const GO_TEMPLATE =
  /\{\{-?\s*(?:\.|\$|\(|(?:if|else|end|range|with|define|template|block|include|tpl|toYaml|toJson|required|default|printf|quote|lookup)\b)/
const BRACES = /\{\{-?((?:(?!\{\{).)*?)-?\}\}/gs
/** What envsubst and its like fill in, `${GPUS}` or, where a value is nothing else, `$GPUS`; and what a person is to, `<gpus>`. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?!\w)[^{}]*\}|(?<![\w/$=-])\$([A-Za-z_]\w*)(?=["']?\s*(?:[,}\]]|$))/gm
const BLANK = /(?<!<)<([A-Za-z][\w ./-]*)>/g
const IN_VALUE = /\$\{[A-Za-z_][^{}]*\}|^\$[A-Za-z_]\w*$|(?<=[/:.@-])\$[A-Z_][A-Z0-9_]*|(?<!<)<[A-Za-z][\w ./-]*>/
/** Parts whose text belongs to programs: braces and variables there mean something to them. */
const PROGRAM_TEXT: ReadonlySet<string> = new Set([
  'command',
  'args',
  'source',
  'manifest',
  'env',
  'data',
  'annotations',
  'serveConfigV2',
])
/** Parts that no size, type or length hangs on. */
const NO_FIGURES: ReadonlySet<string> = new Set([
  'metadata',
  'name',
  'namespace',
  'image',
  'imagePullPolicy',
  'imagePullSecrets',
  'volumes',
  'volumeMounts',
  'volumeClaimTemplates',
  'envFrom',
  'ports',
  'selector',
  'serviceName',
  'serviceAccount',
  'serviceAccountName',
  'securityContext',
  'tolerations',
  'schedulerName',
  'priorityClassName',
  'runtimeClassName',
  'workingDir',
  'storageUri',
  'storage',
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
])
const SHOWN_PLACEHOLDERS = 12

/** What is wrong with a text that is no YAML: its placeholders, where it is a template, or else the error itself. */
export function explainSyntaxError(manifest: Manifest, error: unknown): unknown {
  if (!(error instanceof InputError) || !manifest.text.includes('{{')) return error
  const lines = manifest.text.split('\n')
  const faultyLines = error.faults.map(({ place }) => lines[(place.line ?? 0) - 1] ?? '')
  const isTemplate =
    faultyLines.some(line => line.includes('{{')) || lines.some(line => GO_TEMPLATE.test(withoutComment(line)))
  return isTemplate ? bracesError(manifest) : error
}

function withoutComment(line: string): string {
  return line.trimStart().startsWith('#') ? '' : line
}

/** Throws InputError that names the placeholders where objects that run pods still hold some. */
export function refusePlaceholders(manifest: Manifest, objects: readonly KubernetesObject[]): void {
  const { text } = manifest
  if (text.includes('{{') && objects.some(object => holdsText(object.value, ownBraces(object), GO_TEMPLATE)))
    throw bracesError(manifest)
  const open = objects.filter(object => openIn(object.value, []).some(({ bearsOnFigures }) => bearsOnFigures))
  if (open.length > 0) throw variablesError(manifest)
}

/** What is still to be filled in where no figure hangs on it. */
export function placeholderWarnings({ value, document, path }: KubernetesObject): readonly Warning[] {
  const open = openIn(value, []).map(({ text, at }) => ({ text, place: document.placeOf([...path, ...at]) }))
  const [first] = open
  if (first === undefined) return []
  const named = [...new Map(open.map(each => [each.text, each.place.line]))]
  const shown = named.slice(0, SHOWN_PLACEHOLDERS).map(([text, line]) => `${text} (line ${line})`)
  const text = `these have no value yet: ${shown.join(', ')}`
  return [{ code: 'unresolved-template', text, place: first.place }]
}

/** Whether a mark stands where a size, type or length of an object would. */
export function holdsInFigures(value: unknown, mark: string): boolean {
  if (typeof value === 'string') return value.includes(mark)
  if (Array.isArray(value)) return value.some(item => holdsInFigures(item, mark))
  if (!isMapping(value)) return false
  return Object.entries(value).some(
    ([key, inner]) =>
      key.includes(mark) || (!PROGRAM_TEXT.has(key) && !NO_FIGURES.has(key) && holdsInFigures(inner, mark)),
  )
}

interface Open {
  readonly text: string
  readonly at: DocumentPath
  readonly bearsOnFigures: boolean
}

/** Variables and blanks in what Kubernetes itself reads. */
function openIn(value: unknown, at: DocumentPath, bearsOnFigures = true): readonly Open[] {
  if (typeof value === 'string') {
    const [text] = IN_VALUE.exec(value) ?? []
    return text === undefined ? [] : [{ text, at, bearsOnFigures }]
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => openIn(item, [...at, index], bearsOnFigures))
  if (!isMapping(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (PROGRAM_TEXT.has(key)) return []
    const inFigures = bearsOnFigures && !NO_FIGURES.has(key)
    return [...openIn(key, [...at, key], inFigures), ...openIn(inner, [...at, key], inFigures)]
  })
}

/** What marks a template of somebody else: Argo fills in braces of its own, KServe's runtimes hold some for theirs. */
function ownBraces({ group }: KubernetesObject): string | undefined {
  return group === 'argoproj.io' || group === 'serving.kserve.io' ? undefined : '{{'
}

/** Whether a mark stands in a key or text that Kubernetes itself reads, or `anywhere` in any text. */
function holdsText(value: unknown, mark: string | undefined, anywhere: RegExp): boolean {
  if (typeof value === 'string') return mark === undefined ? anywhere.test(value) : value.includes(mark)
  if (Array.isArray(value)) return value.some(item => holdsText(item, mark, anywhere))
  if (!isMapping(value)) return false
  return Object.entries(value).some(([key, inner]) => {
    if (!PROGRAM_TEXT.has(key)) return holdsText(key, mark, anywhere) || holdsText(inner, mark, anywhere)
    return anywhere.test(JSON.stringify(inner))
  })
}

function bracesError(manifest: Manifest): InputError {
  const found = [...manifest.text.matchAll(BRACES)]
    .map(match => ({ what: (match[1] ?? '').trim(), offset: match.index }))
    .filter(({ what }) => !/^(?:end|else|\/\*.*)$/s.test(what))
    .map(({ what, offset }) => ({ name: `{{ ${what} }}`, offset }))
  const isHelm = GO_TEMPLATE.test(manifest.text)
  const hint = isHelm
    ? 'render it first: helm template CHART | gpufare estimate -'
    : 'fill in its placeholders first and hand over the result'
  return templateError(manifest, isHelm ? 'an unrendered Helm template' : 'an unrendered template', found, hint)
}

function variablesError(manifest: Manifest): InputError {
  const variables = [...manifest.text.matchAll(VARIABLE)].map(match => ({
    name: `\${${match[1] ?? match[2]}}`,
    offset: match.index,
  }))
  const blanks = [...manifest.text.matchAll(BLANK)].map(match => ({ name: match[0], offset: match.index }))
  const found = [...variables, ...blanks].toSorted((a, b) => a.offset - b.offset)
  if (variables.length === 0)
    return templateError(manifest, 'a template: these have no value', found, 'fill them in first')
  const hint = `fill them in first: envsubst < ${manifest.name} | gpufare estimate -`
  return templateError(manifest, 'a template: these variables have no value', found, hint)
}

function templateError(
  manifest: Manifest,
  what: string,
  found: readonly { readonly name: string; readonly offset: number }[],
  hint: string,
): InputError {
  const offsets = new Map<string, number>()
  for (const { name, offset } of found) if (!offsets.has(name)) offsets.set(name, offset)
  const lines = [...offsets]
    .slice(0, SHOWN_PLACEHOLDERS)
    .map(([name, offset]) => ({ name, line: manifest.text.slice(0, offset).split('\n').length }))
  const shown = lines.map(({ name, line }) => `${name} (line ${line})`)
  if (offsets.size > SHOWN_PLACEHOLDERS) shown.push(`${offsets.size - SHOWN_PLACEHOLDERS} more`)
  const first = lines[0]?.line
  const place = first === undefined ? { file: manifest.name } : { file: manifest.name, line: first }
  return new NothingToPrice(
    [{ code: 'unresolved-template', place, message: `${what}: ${shown.join(', ')}`, hint }],
    'template',
  )
}
