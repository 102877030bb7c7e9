import { describePlace, type Place } from './errors.ts'
import { plainText } from './escaping.ts'

/** Every rule that a policy can name. */
export const policyRules = [
  'job-cost',
  'hourly-cost',
  'cost-increase',
  'cost-increase-percent',
  'unknown-cost',
  'gpu-count',
  'runtime',
  'time-limit-slack',
  'required-time-limit',
  'required-tags',
  'forbidden-gpu',
  'endless-session',
  'no-gang',
  'spot-without-checkpoint',
  'does-not-fit',
  'idle-gpus',
] as const

/** What can be exempted: a rule, or that a budget is used up. */
export const exemptibleRules = [...policyRules, 'budget'] as const

/** Why a finding does not count: somebody said so, for a reason and until a day. */
export interface Exemption {
  readonly rule: string
  readonly reason: string
  /** Last day it holds, ISO 8601. */
  readonly until: string
  readonly place: Place
}

/** One way in which a job breaks a policy. */
export interface Finding {
  /** Id of the rule, `job-cost`. */
  readonly rule: string
  readonly level: 'warn' | 'deny'
  /** The job it is about. */
  readonly jobName: string
  /** The line to change. */
  readonly place: Place
  /** What was found and what is allowed, with the figures: `$180 (P50) is over $100 for team vision`. */
  readonly message: string
  /** The smallest change that passes. */
  readonly remedy: string
  /** Present where it was let pass. */
  readonly exemption?: Exemption
}

/** Whether a finding counts: nobody let it pass. */
export function counts({ exemption }: Finding): boolean {
  return exemption === undefined
}

/** Two lines of plain text: place, rule and figures, then the smallest change that passes, or why it is let pass. */
export function describeFinding({ place, rule, message, remedy, exemption }: Finding): string {
  const below = exemption === undefined ? remedy : `let pass until ${exemption.until}: ${exemption.reason}`
  return `${plainText(`${describePlace(place)}  ${rule}: ${message}`)}\n  ${plainText(below)}`
}
