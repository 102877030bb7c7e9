import { unknownText } from '../../../../bash/text.ts'
import { isMapping, type Mapping } from '../../../../document.ts'

/** Values by the name a placeholder calls them, `inputs.parameters.lr`. A value may hold placeholders that nobody can fill in yet. */
export type Scope = ReadonlyMap<string, string>

/** `{{inputs.parameters.lr}}`; expressions, `{{=…}}`, are worked out only when the workflow runs. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
/** Placeholders may stand for each other; a circle of them ends here. */
const DEEPEST = 8

/** A text with its placeholders filled in, as far as the scope has their values. */
export function fillText(text: string, scope: Scope): string {
  let filled = text
  for (let depth = 0; depth < DEEPEST && filled.includes('{{'); depth++) {
    const next = filled.replace(PLACEHOLDER, (written, name: string) => scope.get(name.trim()) ?? written)
    if (next === filled) break
    filled = next
  }
  return filled
}

/** A value with the placeholders of all its texts filled in. */
export function fill(value: unknown, scope: Scope): unknown {
  return mapTexts(value, text => (text.includes('{{') ? fillText(text, scope) : text))
}

/** A command's words with what is still open marked as not known. */
export function markOpen(value: unknown): unknown {
  return mapTexts(value, text =>
    text.includes('{{') ? text.replace(PLACEHOLDER, written => unknownText(written)) : text,
  )
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => mapTexts(item, change))
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [change(key), mapTexts(inner, change)]))
}

/** The placeholders that stand in a value, each once. */
export function openPlaceholders(value: unknown): readonly string[] {
  const found = new Set<string>()
  mapTexts(value, text => {
    for (const [, name = ''] of text.matchAll(PLACEHOLDER)) found.add(name.trim())
    return text
  })
  return [...found]
}

/** The values that a list of parameters, `[{name, value, default}]`, gives, by name. */
export function parameterValues(list: unknown, scope: Scope): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const parameter of Array.isArray(list) ? list : []) {
    if (!isMapping(parameter) || typeof parameter['name'] !== 'string') continue
    const value = parameter['value'] ?? parameter['default']
    if (value != null) values.set(parameter['name'], fillText(asText(value), scope))
  }
  return values
}

/** A value as Argo writes it into a text: lists and mappings as JSON. */
export function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What `{{item}}` and `{{item.lr}}` stand for. */
export function itemScope(item: unknown): Scope {
  const fields: Mapping = isMapping(item) ? item : {}
  return new Map([
    ['item', asText(item)],
    ...Object.entries(fields).map(([key, value]) => [`item.${key}`, asText(value)] as const),
  ])
}
