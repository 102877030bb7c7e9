import type { Place } from './errors.ts'

/** Where a figure was read, or that it was assumed. */
export type Origin =
  /** A line of the manifest or its scheduler's own options. */
  | { readonly kind: 'manifest'; readonly place: Place }
  /** A `#GPUFARE` line or a `gpufare.dev/` annotation: wins over everything else. */
  | { readonly kind: 'annotation'; readonly place: Place }
  /** A file that the manifest's command refers to. */
  | { readonly kind: 'file'; readonly place: Place }
  /** gpufare.yaml. */
  | { readonly kind: 'config'; readonly place: Place }
  /** An option typed after `--`, or of gpufare itself. */
  | { readonly kind: 'command-line'; readonly option: string }
  /** An environment variable such as SBATCH_PARTITION. */
  | { readonly kind: 'environment'; readonly variable: string }
  /** A row of a table in pricing-data/. */
  | { readonly kind: 'table'; readonly table: string; readonly row: string; readonly source: string }
  /** Worked out from other figures; the formula in words. */
  | { readonly kind: 'computed'; readonly formula: string }
  /** Nobody said so: a default, with the reason it was taken. */
  | { readonly kind: 'assumed'; readonly reason: string }

/** A value and where it came from. */
export interface Sourced<T> {
  readonly value: T
  readonly origin: Origin
}

/** Pairs a value with its origin. */
export function sourced<T>(value: T, origin: Origin): Sourced<T> {
  return { value, origin }
}

/** An object whose members may be absent, but are not undefined. */
export type Present<T> = { -readonly [K in keyof T]?: Exclude<T[K], undefined> }

/** The same object without its undefined members: absent means unknown. */
export function withoutAbsent<T extends object>(values: T): Present<T> {
  const present: Present<T> = { ...values }
  for (const key in present) if (present[key] === undefined) delete present[key]
  return present
}
