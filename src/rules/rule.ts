import type { Place } from '../errors.ts'
import type { Policy } from '../rulebook.ts'
import type { Subject } from './subject.ts'

/** One way in which a job breaks a policy: a finding before anybody asked whether it is exempt. */
export interface Breach {
  readonly level: 'warn' | 'deny'
  /** The line to change. */
  readonly place: Place
  /** What was found and what is allowed, with the figures. */
  readonly message: string
  /** The smallest change that passes. */
  readonly remedy: string
}

/**
 * One rule that a policy can name. It looks at a job with its quotes and says where the policy is broken; what it cannot
 * know, it does not hold against the job (`unknown-cost` does that). A new rule is an object like the others, a line in the
 * list of `index.ts`, and a row in `rulebook-schema.ts` for its settings.
 */
export interface Rule {
  readonly id: Policy['rule']
  /** What it does, in a sentence or two. */
  readonly explanation: string
  /** Its settings beside `where`, `level` and `self-exempt`, which every rule has. */
  readonly settings: readonly string[]
  /** A policy of gpufare.yaml. */
  readonly example: string
  /** What it proposes to a job that breaks it. */
  readonly smallestChange: string
  check(subject: Subject, policy: Policy): readonly Breach[]
}
