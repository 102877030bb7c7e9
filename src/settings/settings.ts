import type { Sourced } from '../sourced.ts'

/** One value of a configuration that is no list and no mapping; undefined = it is given, but only known when the program runs. */
export type Scalar = string | number | boolean | null | undefined

/**
 * The scalars of a configuration by their path (`model.name`, `datasets.0.path`), in the order of the file, each with its
 * place. An empty list or mapping leaves nothing.
 */
export type Settings = ReadonlyMap<string, Sourced<Scalar>>

/** A file of more values is no configuration. */
const MOST_VALUES = 100_000
const DEEPEST = 64

/** Collects the scalars of nested plain values; `placeOf` names the origin of the one at a path. */
export function flatten(
  value: unknown,
  originOf: (path: readonly (string | number)[]) => Sourced<Scalar>['origin'],
): Settings {
  const settings = new Map<string, Sourced<Scalar>>()
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    if (settings.size >= MOST_VALUES || path.length > DEEPEST) return
    if (value instanceof Date || typeof value === 'bigint') {
      settings.set(path.join('.'), { value: String(value), origin: originOf(path) })
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index])
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) visit(item, [...path, key])
    } else if (isScalar(value)) {
      settings.set(path.join('.'), { value, origin: originOf(path) })
    }
  }
  visit(value, [])
  return settings
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value)
}

/** The same settings with others laid over them: a later value wins. */
export function overlay(base: Settings, over: Settings): Settings {
  return new Map([...base, ...over])
}

/** The part below a path, its keys without it: `section(settings, 'trainer')` has `max_steps` of `trainer.max_steps`. */
export function section(settings: Settings, path: string): Settings {
  const prefix = `${path}.`
  return new Map(
    [...settings].flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
    ),
  )
}
