import { isMapping } from '../../document.ts'
import { InputError, NothingToPrice } from '../../errors.ts'
import type { Manifest } from '../../manifest.ts'
import type { KubernetesObject } from './objects.ts'

/** `{{ .Values.gpus }}`, `{{- include "x" . }}`: what Helm fills in, and nothing else looks like. */
const GO_TEMPLATE =
  /\{\{-?\s*(?:\.|\$|\(|(?:if|else|end|range|with|define|template|block|include|tpl|toYaml|toJson|required|default|printf|quote|lookup)\b)/
const BRACES = /\{\{-?\s*(.*?)\s*-?\}\}/gs
const VARIABLE = /\$\{([A-Za-z_]\w*)[^}]*\}/g
/** Parts whose text belongs to programs: braces and variables there mean something to them. */
const PROGRAM_TEXT: ReadonlySet<string> = new Set([
  'command',
  'args',
  'source',
  'manifest',
  'env',
  'data',
  'annotations',
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
  if (text.includes('${') && objects.some(object => holdsText(object.value, '${', undefined)))
    throw variablesError(manifest)
}

/** What marks a template of somebody else: Argo fills in braces of its own, KServe's runtimes hold some for theirs. */
function ownBraces({ group }: KubernetesObject): string | undefined {
  return group === 'argoproj.io' || group === 'serving.kserve.io' ? undefined : '{{'
}

/** Whether a mark stands in a key or text that Kubernetes itself reads, or `anywhere` in any text. */
function holdsText(value: unknown, mark: string | undefined, anywhere: RegExp | undefined): boolean {
  if (typeof value === 'string') return mark === undefined ? (anywhere?.test(value) ?? false) : value.includes(mark)
  if (Array.isArray(value)) return value.some(item => holdsText(item, mark, anywhere))
  if (!isMapping(value)) return false
  return Object.entries(value).some(([key, inner]) => {
    if (!PROGRAM_TEXT.has(key)) return holdsText(key, mark, anywhere) || holdsText(inner, mark, anywhere)
    return anywhere?.test(JSON.stringify(inner)) ?? false
  })
}

function bracesError(manifest: Manifest): InputError {
  const found = [...manifest.text.matchAll(BRACES)]
    .filter(match => !/^(?:end|else|\/\*.*)$/s.test(match[1] ?? ''))
    .map(match => ({ name: `{{ ${match[1]} }}`, offset: match.index }))
  const isHelm = GO_TEMPLATE.test(manifest.text)
  const hint = isHelm
    ? 'render it first: helm template CHART | gpufare estimate -'
    : 'fill in its placeholders first and hand over the result'
  return templateError(manifest, isHelm ? 'an unrendered Helm template' : 'an unrendered template', found, hint)
}

function variablesError(manifest: Manifest): InputError {
  const found = [...manifest.text.matchAll(VARIABLE)].map(match => ({ name: `\${${match[1]}}`, offset: match.index }))
  const hint = `fill them in first: envsubst < ${manifest.name} | gpufare estimate -`
  return templateError(manifest, 'a template: these variables have no value', found, hint)
}

function templateError(
  manifest: Manifest,
  what: string,
  found: readonly { readonly name: string; readonly offset: number }[],
  hint: string,
): InputError {
  const lines = new Map<string, number>()
  for (const { name, offset } of found) {
    if (!lines.has(name)) lines.set(name, manifest.text.slice(0, offset).split('\n').length)
  }
  const shown = [...lines].slice(0, SHOWN_PLACEHOLDERS).map(([name, line]) => `${name} (line ${line})`)
  if (lines.size > SHOWN_PLACEHOLDERS) shown.push(`${lines.size - SHOWN_PLACEHOLDERS} more`)
  const [first] = lines.values()
  const place = first === undefined ? { file: manifest.name } : { file: manifest.name, line: first }
  return new NothingToPrice([{ place, message: `${what}: ${shown.join(', ')}`, hint }], 'template')
}
