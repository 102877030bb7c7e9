import { hasIdleLimit } from '../sessions.ts'
import { formatRate, secondsPerHour } from '../units.ts'
import { writeTimeLimit } from './remedies.ts'
import type { Rule } from './rule.ts'
import { type Subject, timeLine } from './subject.ts'

/** A working day. */
const sessionSeconds = 8 * secondsPerHour

export const endlessSession: Rule = {
  id: 'endless-session',
  explanation:
    'Finds notebooks, editors, shells and sleepers that hold GPUs for a person and have neither a time limit nor an idle limit: they are paid over night and over the weekend.',
  settings: [],
  example: '{rule: endless-session, level: deny}',
  smallestChange: 'a time limit of a working day, or an option that ends it once nobody uses it',
  check(subject, policy) {
    const { job } = subject.fare
    const isEnded = subject.roles.every(role => role.timeLimitSeconds !== undefined) || hasIdleLimit(job)
    if (!subject.kinds.has('session') || isEnded) return []
    const rate = subject.money.usdPerHour
    const cost = rate === undefined ? '' : `, at ${formatRate(rate, subject.config.currency)}`
    const message = `a session without a time limit or an idle limit holds its GPUs until somebody ends it${cost}`
    return [{ level: policy.level ?? 'warn', place: timeLine(subject), message, remedy: waysToEnd(subject) }]
  },
}

/** Jupyter Server's own option, for whatever can have no time limit. */
const idleOption = '--ServerApp.shutdown_no_activity_timeout=3600'

function waysToEnd({ fare: { job } }: Subject): string {
  const canHaveLimit = job.scheduler === 'slurm' || !job.endless || job.kind === 'Pod'
  const idle = `for Jupyter ${idleOption} would pass`
  return canHaveLimit ? `${writeTimeLimit(job, sessionSeconds)} would pass; ${idle}` : idle
}
