import type { Sourced } from '../sourced.ts'
import type { Scalar, Settings } from './settings.ts'

/** References to references that are followed. */
const DEEPEST = 8

/**
 * Replaces values that are nothing but a reference, `${model.max_seq_len}` or `${.width}` and `${..width}` beside and above it, by
 * what they refer to (OmegaConf, "Variable interpolation"). What stands within a text, and what a resolver works out, is given but unknown.
 */
export function resolveReferences(settings: Settings): Settings {
  return new Map([...settings].map(([path, value]) => [path, resolved(path, value, settings, 0)]))
}

function resolved(path: string, setting: Sourced<Scalar>, settings: Settings, depth: number): Sourced<Scalar> {
  const { value } = setting
  if (typeof value !== 'string' || !value.includes('${')) return setting
  const unknown = { ...setting, value: undefined }
  const reference = /^\$\{(\.*)([\w.-]+)\}$/.exec(value)
  if (reference === null || depth > DEEPEST) return unknown
  const [, dots = '', name = ''] = reference
  const above = path.split('.').slice(0, -dots.length)
  const target = dots === '' ? name : [...above, name].join('.')
  const found = settings.get(target)
  return found === undefined ? unknown : { ...setting, value: resolved(target, found, settings, depth + 1).value }
}
