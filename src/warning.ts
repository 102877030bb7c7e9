import type { Place } from './errors.ts'

/** The facts a user has to learn from a manifest; the report says them in its own words. */
export type WarningCode =
  | 'no-time-limit'
  | 'gpu-type-unknown'
  | 'configuration'
  | 'gpu-type-hint-only'
  | 'gpu-type-ambiguous'
  | 'gpu-variant-open'
  | 'gpu-count-inferred'
  | 'gpu-count-unknown'
  | 'exclusive-whole-node'
  | 'directive-ignored'
  | 'directive-cut'
  | 'variable-in-directive'
  | 'time-format-trap'
  | 'conflict'
  | 'unresolved-template'
  | 'unknown-arguments'
  | 'fractional-gpu'
  | 'no-training-facts'
  | 'no-estimate'
  | 'autoscaling-range'
  | 'long-running-service'
  | 'multiple-runs'
  | 'child-jobs'
  | 'retries-multiply-cost'
  | 'suspended'
  | 'accelerator-not-gpu'
  | 'last-flag-wins'
  | 'idle-gpus'
  | 'no-gang'
  | 'cpu-work'
  | 'time-limit-too-short-to-judge'
  | 'time-limit-too-long'
  | 'earlier-runs'
  | 'recurring'
  | 'external-file-missing'
  | 'default-filled'
  | 'assumed'
  | 'scheduler-will-refuse'
  | 'no-directives'
  | 'cannot-parse-script'
  | 'session'
  | 'earlier-run-stopped'
  | 'corrected'

/** Something the user should know before saying yes; never stops the quote. */
export interface Warning {
  readonly code: WarningCode
  readonly text: string
  /** GPUs that a task holds and does not use. */
  readonly idleGpus?: number
  readonly place?: Place
}
