import { formatDuration, formatMoney, secondsPerHour, secondsPerMinute } from '../units.ts'
import { basisWords, type Figures, overLimit } from './limits.ts'
import { anotherCandidate, firstOf, lessWork, runtimeFigures, writeTimeLimit } from './remedies.ts'
import type { Rule } from './rule.ts'
import { largest, type Subject, timeLine } from './subject.ts'
import { describeWhere } from './where.ts'

/** Time limit of all roles with GPUs, in seconds; undefined where one has none. */
function limitSeconds({ roles }: Subject): number | undefined {
  return largest(roles.map(role => role.timeLimitSeconds?.value))
}

/** Hours of the job as written, the slowest of the GPU types that it may get. */
function figuresOf(subject: Subject): Figures {
  const ranges = subject.asWritten.map(({ runtime }) => runtimeFigures(runtime).range)
  const figure = (name: 'p10' | 'p50' | 'p90') => largest(ranges.map(range => range?.[name]))
  const [p10, p50, p90] = [figure('p10'), figure('p50'), figure('p90')]
  const range = p10 === undefined || p50 === undefined || p90 === undefined ? undefined : { p10, p50, p90 }
  return { range, bound: limitSeconds(subject) }
}

export const runtime: Rule = {
  id: 'runtime',
  explanation:
    'Limits how long one task of a job runs. Without level and basis it warns on the P90 and denies on the P50; with basis bound it limits the time limit itself.',
  settings: ['limit: a duration such as 24h', 'basis: p50, p90 or bound'],
  example: '{rule: runtime, limit: 24h, basis: bound, level: deny, where: {cluster: research}}',
  smallestChange: 'a shorter time limit, another GPU type that is quicker, fewer epochs or steps',
  check(subject, policy) {
    const limit = policy.limitSeconds ?? Number.POSITIVE_INFINITY
    const excess = overLimit(policy, limit, figuresOf(subject))
    if (excess === undefined) return []
    const isBound = excess.basis === 'bound'
    const quicker = anotherCandidate(subject, ({ runtime: other }) => {
      const seconds = excess.measure(runtimeFigures(other))
      return seconds !== undefined && seconds <= limit
    })
    const remedy = firstOf(
      policy.rule,
      isBound ? `${writeTimeLimit(subject.fare.job, limit)} would pass${stoppedBy(limit, subject)}` : undefined,
      isBound ? undefined : quicker,
      isBound ? undefined : lessWork({ ...subject, roles: [] }, limit / excess.figure),
    )
    const message = `${formatDuration(excess.figure)} (${basisWords[excess.basis]}) is over ${formatDuration(limit)}${describeWhere(policy.where)}`
    return [{ level: excess.level, place: timeLine(subject), message, remedy }]
  },
}

export const timeLimitSlack: Rule = {
  id: 'time-limit-slack',
  explanation:
    'Compares the time limit with the estimate: a job that hangs is paid until its limit. Says nothing where there is no estimate.',
  settings: ['limit: how many times the P90 runtime the time limit may be'],
  example: '{rule: time-limit-slack, limit: 3}',
  smallestChange: 'the longest time limit that passes, and what the job could cost at most then',
  check(subject, policy) {
    const seconds = limitSeconds(subject)
    const p90 = figuresOf(subject).range?.p90
    const factor = policy.limitFactor ?? Number.POSITIVE_INFINITY
    if (seconds === undefined || p90 === undefined || seconds <= p90 * factor) return []
    const { upperBoundUsd: usd } = subject.money
    const most = usd === undefined ? '' : ` and could cost ${formatMoney(usd, subject.config.currency)} if it hangs`
    const message = `the time limit of ${formatDuration(seconds)} is ${Math.round((seconds / p90) * 10) / 10} times the P90 runtime of ${formatDuration(p90)}, over ${factor} times${most}`
    const remedy = limitedTo(subject, p90 * factor, seconds)
    return [{ level: policy.level ?? 'warn', place: timeLine(subject), message, remedy }]
  },
}

export const requiredTimeLimit: Rule = {
  id: 'required-time-limit',
  explanation:
    'Finds jobs without a time limit, which nothing stops when they hang. Services, which have none by nature, are passed over.',
  settings: [],
  example: '{rule: required-time-limit, level: deny}',
  smallestChange: 'a time limit that is enough for the P90 runtime',
  check(subject, policy) {
    const { job } = subject.fare
    // A Deployment can't have one; a Pod that is started again and again could.
    if (limitSeconds(subject) !== undefined || (job.endless && job.kind !== 'Pod')) return []
    const p90 = figuresOf(subject).range?.p90
    const message = 'no time limit is set: nothing bounds what this costs if it hangs'
    const remedy =
      p90 === undefined
        ? `a line such as ${writeTimeLimit(job, 4 * secondsPerHour)}${hourly(subject)}`
        : limitedTo(subject, Math.ceil(p90 / (5 * secondsPerMinute)) * 5 * secondsPerMinute, undefined)
    return [{ level: policy.level ?? 'warn', place: timeLine(subject), message, remedy }]
  },
}

/** What a time limit does to a run that needs longer. */
function stoppedBy(seconds: number, { asWritten }: Subject): string {
  const needs = asWritten.flatMap(({ runtime }) =>
    runtime === undefined || runtime.basis === 'limit' ? [] : [(runtime.unlimitedSeconds ?? runtime.seconds).p50],
  )
  const needed = Math.max(0, ...needs)
  return needed > seconds ? `, and stop the run, which needs about ${formatDuration(needed)}` : ''
}

/** A time limit, and the most that the job could cost with it. */
function limitedTo(subject: Subject, seconds: number, now: number | undefined): string {
  const { config, money, asWritten, fare } = subject
  const rates = asWritten.map(({ usdPerHour, cost, runtime: own }) =>
    cost.kind === 'range' && own !== undefined && own.basis !== 'limit'
      ? cost.usd.p50 / own.seconds.p50
      : usdPerHour && usdPerHour / secondsPerHour,
  )
  const rate = largest(rates)
  const bounded = now === undefined || money.upperBoundUsd === undefined ? undefined : money.upperBoundUsd / now
  const usdPerSecond = bounded ?? rate
  const usd =
    usdPerSecond === undefined ? '' : ` and cost at most ${formatMoney(usdPerSecond * seconds, config.currency)}`
  return `${writeTimeLimit(fare.job, seconds)} would pass${usd}`
}

function hourly({ money, config }: Subject): string {
  return money.usdPerHour === undefined
    ? ''
    : `; every hour of it costs ${formatMoney(money.usdPerHour, config.currency)}`
}
