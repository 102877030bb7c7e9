import type { Policy } from '../rulebook.ts'
import { formatMoney, formatPercent, formatRate } from '../units.ts'
import { basisWords, type Figures, overLimit } from './limits.ts'
import { anotherCandidate, costFigures, fewerGpus, firstOf, lessWork, shorterTimeLimit } from './remedies.ts'
import type { Breach, Rule } from './rule.ts'
import { gpuLine, largest, type Subject, timeLine } from './subject.ts'
import { describeWhere } from './where.ts'

/** Money of the job as written. */
function figuresOf({ money }: Subject): Figures {
  return { range: money.totalUsd, bound: money.upperBoundUsd }
}

export const jobCost: Rule = {
  id: 'job-cost',
  explanation: 'Limits what one job costs in total. Without level and basis it warns on the P90 and denies on the P50.',
  settings: ['limit: an amount in the currency of the file', 'basis: p50, p90 or bound (what the time limit bounds)'],
  example: '{rule: job-cost, limit: 500, where: {team: vision}}',
  smallestChange: 'another GPU type that costs less, a shorter time limit, fewer array tasks, epochs or steps',
  check(subject, policy) {
    const limitUsd = policy.limitUsd ?? Number.POSITIVE_INFINITY
    return costBreaches(subject, policy, limitUsd, usd => `is over ${formatMoney(usd, subject.config.currency)}`)
  },
}

export const hourlyCost: Rule = {
  id: 'hourly-cost',
  explanation: 'Limits what a job costs in an hour while all its machines run; it needs no estimate of the runtime.',
  settings: ['limit: an amount an hour in the currency of the file'],
  example: '{rule: hourly-cost, limit: 100, level: deny}',
  smallestChange: 'fewer array tasks at a time, fewer nodes or GPUs, or another GPU type',
  check(subject, policy) {
    const { usdPerHour } = subject.money
    const { currency } = subject.config
    const limit = policy.limitUsd ?? Number.POSITIVE_INFINITY
    if (usdPerHour === undefined || usdPerHour <= limit) return []
    const remedy = firstOf(
      'hourly-cost',
      fewerGpus(subject, limit / usdPerHour),
      anotherCandidate(subject, quote => quote.usdPerHour !== undefined && quote.usdPerHour <= limit),
    )
    const message = `${formatRate(usdPerHour, currency)} is over ${formatRate(limit, currency)}${describeWhere(policy.where)}`
    return [{ level: policy.level ?? 'deny', place: gpuLine(subject), message, remedy }]
  },
}

export const costIncrease: Rule = {
  id: 'cost-increase',
  explanation:
    'Limits by how much a change makes a job dearer than it is in the base revision; a new job counts whole. Only `check --base` compares.',
  settings: ['limit: an amount in the currency of the file', 'basis: p50, p90 or bound'],
  example: '{rule: cost-increase, limit: 50, level: deny}',
  smallestChange: 'the same as of job-cost, down to what the base costs and the limit',
  check(subject, policy) {
    const beforeUsd = subject.context.change?.beforeUsd
    if (beforeUsd === undefined) return []
    const { currency } = subject.config
    const limit = policy.limitUsd ?? Number.POSITIVE_INFINITY
    const baseUsd = beforeUsd[policy.basis === 'p90' ? 'p90' : 'p50']
    return costBreaches(
      subject,
      policy,
      baseUsd + limit,
      () => `is over the ${formatMoney(baseUsd, currency)} of the base by more than ${formatMoney(limit, currency)}`,
    )
  },
}

export const costIncreasePercent: Rule = {
  id: 'cost-increase-percent',
  explanation:
    'Limits by how many per cent a change makes a job dearer than it is in the base revision. A new job has no percentage. Only `check --base` compares.',
  settings: ['limit: per cent', 'basis: p50, p90 or bound'],
  example: '{rule: cost-increase-percent, limit: 25, level: warn}',
  smallestChange: 'the same as of job-cost, down to what the base costs and the limit',
  check(subject, policy) {
    const beforeUsd = subject.context.change?.beforeUsd
    const baseUsd = beforeUsd?.[policy.basis === 'p90' ? 'p90' : 'p50']
    if (baseUsd === undefined || baseUsd === 0) return []
    const share = policy.limitShare ?? Number.POSITIVE_INFINITY
    const base = formatMoney(baseUsd, subject.config.currency)
    return costBreaches(
      subject,
      policy,
      baseUsd * (1 + share),
      () => `is over the ${base} of the base by more than ${formatPercent(share)}`,
    )
  },
}

/** A total over a limit, and how to come below it. */
function costBreaches(
  subject: Subject,
  policy: Policy,
  limitUsd: number,
  describeLimit: (limitUsd: number) => string,
): readonly Breach[] {
  const excess = overLimit(policy, limitUsd, figuresOf(subject))
  if (excess === undefined) return []
  const passes = (figures: Figures) => (excess.measure(figures) ?? Number.POSITIVE_INFINITY) <= limitUsd
  const isBound = excess.basis === 'bound'
  const remedy = firstOf(
    policy.rule,
    isBound ? shorterTimeLimit(subject, limitUsd) : undefined,
    anotherCandidate(subject, quote => passes(costFigures(quote))),
    lessWork(subject, isBound ? 0 : limitUsd / excess.figure),
    shorterTimeLimit(subject, limitUsd),
  )
  const figure = `${formatMoney(excess.figure, subject.config.currency)} (${basisWords[excess.basis]})`
  const place = isBound ? timeLine(subject) : gpuLine(subject)
  const message = `${figure} ${describeLimit(limitUsd)}${describeWhere(policy.where)}`
  return [{ level: excess.level, place, message, remedy }]
}

export const unknownCost: Rule = {
  id: 'unknown-cost',
  explanation:
    'Finds jobs whose cost is not known. With basis p50 or p90 it wants an estimate, otherwise it is content with what the time limit bounds.',
  settings: ['basis: what has to be known'],
  example: '{rule: unknown-cost, basis: p50, level: deny}',
  smallestChange: 'the one line that would make it known: a time limit, a price in gpufare.yaml, or a #GPUFARE line',
  check(subject, policy) {
    const { totalUsd, upperBoundUsd } = subject.money
    const wantsEstimate = policy.basis === 'p50' || policy.basis === 'p90'
    const known = totalUsd ?? (wantsEstimate ? undefined : upperBoundUsd)
    if (known !== undefined || subject.roles.length === 0) return []
    return [{ level: policy.level ?? 'warn', place: timeLine(subject), ...describeUnknown(subject) }]
  },
}

/** What of a job's cost is not known, and what would make it known. */
export function describeUnknown(subject: Subject): { readonly message: string; readonly remedy: string } {
  const { asWritten, fare, money, config } = subject
  const missing = new Set(asWritten.flatMap(({ cost }) => (cost.kind === 'unknown' ? cost.missing : [])))
  const advice = fare.warnings.findLast(({ code }) => code === 'no-estimate' || code === 'no-training-facts')?.text
  const hasPrice = largest(asWritten.map(quote => quote.usdPerHour)) !== undefined
  const bound =
    money.upperBoundUsd === undefined
      ? ''
      : `, only that it is at most ${formatMoney(money.upperBoundUsd, config.currency)}`
  const reasons = missing.size > 0 ? ` (missing: ${[...missing].join(', ')})` : ''
  return {
    message: `the cost is not known${reasons}${bound}`,
    remedy: hasPrice
      ? (advice ?? 'a time limit would bound it; a line such as #GPUFARE runtime=4h would make it an estimate')
      : 'a rate for its partition or node pool in gpufare.yaml would make it known',
  }
}
