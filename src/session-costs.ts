import type { Job } from './job.ts'
import type { Quote } from './quote.ts'
import { findSession, hasIdleLimit, type Session } from './sessions.ts'
import { type Currency, formatDuration, formatMoney, formatRate, secondsPerHour } from './units.ts'
import type { Warning } from './warning.ts'

const workingDayHours = 8
/** From six in the evening to nine in the morning. */
const nightHours = 15
/** From Friday 18:00 to Monday 9:00. */
const weekendHours = 63

/** What a session costs while somebody uses it, and where it is forgotten; a time limit ends it earlier. US dollars. */
export interface SessionCost extends Session {
  readonly usdPerHour: number
  readonly workingDayUsd: number
  readonly nightUsd: number
  readonly weekendUsd: number
  /** Absent where nothing ends it. */
  readonly limitSeconds?: number
}

/** The cost of a job that is a session, at the rate of a quote; undefined where it is none, or has no price. */
export function sessionCostOf(job: Job, quote: Quote | undefined): SessionCost | undefined {
  const session = findSession(job)
  const usdPerHour = quote?.usdPerHour
  const roles = job.roles.filter(role => role.gpuCount.value > 0)
  if (session === undefined || usdPerHour === undefined || roles.length === 0) return undefined
  const limits = roles.map(role => role.timeLimitSeconds?.value ?? Number.POSITIVE_INFINITY)
  const limitSeconds = Math.max(...limits)
  const usdIn = (hours: number) => usdPerHour * Math.min(hours, limitSeconds / secondsPerHour)
  return {
    ...session,
    usdPerHour,
    workingDayUsd: usdIn(workingDayHours),
    nightUsd: usdIn(nightHours),
    weekendUsd: usdIn(weekendHours),
    ...(Number.isFinite(limitSeconds) && { limitSeconds }),
  }
}

/** What somebody who starts a session should know of its cost. */
export function sessionWarnings(job: Job, cost: SessionCost | undefined, currency: Currency): readonly Warning[] {
  if (cost === undefined || hasIdleLimit(job)) return []
  const money = (usd: number) => formatMoney(usd, currency)
  const rate = `${cost.what} holds the GPUs for a person: ${formatRate(cost.usdPerHour, currency)}`
  const day = `${money(cost.workingDayUsd)} for a working day of ${workingDayHours} h`
  const forgotten = `forgotten over night (${nightHours} h) ${money(cost.nightUsd)}, from Friday evening to Monday morning (${weekendHours} h) ${money(cost.weekendUsd)}`
  const end =
    cost.limitSeconds === undefined
      ? `${day}; ${forgotten}`
      : `its time limit ends it after ${formatDuration(cost.limitSeconds)}, at ${money((cost.usdPerHour * cost.limitSeconds) / secondsPerHour)}`
  return [{ code: 'session', text: `${rate}, ${end}`, place: cost.place }]
}
