import { type Currency, countOf, formatDuration, formatMoney, formatPercent } from '../units.ts'
import { type Outcome, wastedUsd } from './outcome.ts'
import { type Group, isWithin, type Review, runtimeError, unitCost } from './summary.ts'

/** A table of texts, whoever prints it. */
export interface TextTable {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** What a review tells, in tables and sentences. */
export interface ReviewWords {
  readonly tables: readonly TextTable[]
  readonly sentences: readonly string[]
}

/** Most rows of jobs; what cost most comes first. */
const mostJobs = 20

/** Puts a review into words. Amounts in the currency of the configuration. */
export function describeReview(review: Review, currency: Currency): ReviewWords {
  const { outcomes, groups, weeks, by } = review
  const dearest = [...outcomes].sort((a, b) => (b.usd ?? 0) - (a.usd ?? 0)).slice(0, mostJobs)
  const left = outcomes.length - dearest.length
  return {
    tables: [
      {
        title: `jobs${left > 0 ? `, the ${mostJobs} dearest` : ''}`,
        head: ['job', 'name', 'ended', 'quoted', 'took', 'off', 'quoted', 'cost', 'wasted', 'unit cost'],
        rows: dearest.map(outcome => jobRow(outcome, currency)),
      },
      { title: `by ${by}`, head: groupHead(by), rows: groups.map(group => groupRow(group, currency)) },
      ...(weeks.length > 1
        ? [{ title: 'by week', head: groupHead('week of'), rows: weeks.map(group => groupRow(group, currency)) }]
        : []),
    ],
    sentences: [...totals(review, currency), ...baselines(review, currency), ...advice(outcomes, currency)],
  }
}

function jobRow(outcome: Outcome, currency: Currency): readonly string[] {
  const { quoted, runtimeSeconds, usd, endings, ending, restarts } = outcome
  const error = runtimeError(outcome)
  const unit = unitCost(outcome)
  const wasted = wastedUsd(outcome)
  const mixed = endings.size > 1 ? Array.from(endings, ([each, count]) => `${count} ${each}`).join(', ') : ending
  const most = quoted.runtimeUpperBoundSeconds
  return [
    shortId(outcome),
    outcome.name,
    restarts === 0 ? mixed : `${mixed}, begun again ${countOf(restarts, 'time')}`,
    quoted.runtimeSeconds
      ? formatDuration(quoted.runtimeSeconds.p50)
      : most === undefined
        ? '?'
        : `<= ${formatDuration(most)}`,
    runtimeSeconds === undefined ? '-' : formatDuration(runtimeSeconds),
    error === undefined
      ? '-'
      : `${error < 0 ? '-' : '+'}${formatPercent(Math.abs(error))}${isWithin(outcome) ? '' : ' !'}`,
    quoted.usd
      ? formatMoney(quoted.usd.p50, currency)
      : quoted.upperBoundUsd === undefined
        ? '?'
        : `<= ${formatMoney(quoted.upperBoundUsd, currency)}`,
    usd === undefined ? '?' : formatMoney(usd, currency),
    wasted === 0 ? '-' : formatMoney(wasted, currency),
    unit === undefined ? '-' : `${formatMoney(unit.usd, currency)} a ${unit.unit}`,
  ]
}

/** A number of Slurm, what kubectl calls it, or of a uid the part that is enough among some. */
function shortId({ id, record }: Outcome): string {
  return record?.reference ?? (id.replace(/^([\da-f]{8})(?:-[\da-f]{4}){3}-[\da-f]{12}$/, '$1') || '?')
}

function groupHead(name: string): readonly string[] {
  return [name, 'jobs', 'GPU-hours', 'cost', 'wasted', 'quoted', 'took', 'within range', 'idle', 'cheaper choices']
}

function groupRow(group: Group, currency: Currency): readonly string[] {
  const money = (usd: number) => formatMoney(usd, currency)
  return [
    group.name,
    String(group.jobs),
    group.gpuHours.toFixed(group.gpuHours < 10 ? 2 : 0),
    money(group.usd),
    money(group.wastedUsd),
    group.compared === 0 ? '-' : money(group.quotedUsd),
    group.compared === 0 ? '-' : money(group.takenUsd),
    group.compared === 0 ? '-' : `${group.within} of ${group.compared}`,
    group.idleShare === undefined ? '?' : formatPercent(group.idleShare),
    String(group.cheaperChoices),
  ]
}

function totals({ total, outcomes }: Review, currency: Currency): readonly string[] {
  const unpriced = outcomes.filter(({ usd, gpuHours }) => usd === undefined && gpuHours > 0).length
  const lost = outcomes.filter(({ ending }) => ending === 'unknown').length
  const gone = outcomes.filter(({ ending }) => ending === 'gone').length
  return [
    `${countOf(total.jobs, 'job')} cost ${formatMoney(total.usd, currency)}, ${formatMoney(total.wastedUsd, currency)} of it for nothing that was kept`,
    ...(total.compared === 0
      ? []
      : [`${total.within} of ${countOf(total.compared, 'run')} with a range stayed within it; eight of ten should`]),
    ...(unpriced === 0 ? [] : [`the price of ${countOf(unpriced, 'job')} is not known; it is in no sum`]),
    ...(lost === 0
      ? []
      : [`what became of ${countOf(lost, 'job')} is not known: the scheduler no longer tells, or not to you`]),
    ...(gone === 0
      ? []
      : [`${countOf(gone, 'job')} ${gone === 1 ? 'is' : 'are'} gone from the cluster, and what was taken with it`]),
  ]
}

function baselines({ baselines }: Review, currency: Currency): readonly string[] {
  return baselines.map(({ gpuType, gpus, share, savedUsd }) => {
    if (gpus === 0) return `${gpuType}: no GPU was held all the time, a commitment would not pay`
    const saving =
      savedUsd === undefined
        ? 'no price of a commitment is known'
        : `a one-year commitment for just these would have saved ${formatMoney(savedUsd, currency)}`
    return `${gpuType}: ${countOf(gpus, 'GPU')} never stopped, ${formatPercent(share)} of the GPU-hours; ${saving}`
  })
}

/** What to do about those that wasted most. */
function advice(outcomes: readonly Outcome[], currency: Currency): readonly string[] {
  const worst = outcomes.filter(each => wastedUsd(each) > 0).sort((a, b) => wastedUsd(b) - wastedUsd(a))
  return worst.slice(0, 3).map(outcome => {
    const { name, waste } = outcome
    const [kind] = Object.entries(waste).sort(([, a], [, b]) => b - a)[0] ?? []
    return `${name} (${shortId(outcome)}), ${formatMoney(wastedUsd(outcome), currency)}: ${remedies[kind ?? ''] ?? ''}`
  })
}

const remedies: Readonly<Record<string, string>> = {
  failedUsd: 'it failed; let a short run on one GPU find that before the long one',
  timedOutUsd:
    'its time limit stopped it and it is not known to go on from a checkpoint; keep checkpoints or ask for more time',
  cancelledUsd: 'it was cancelled; stop a run that does not learn early, and try on fewer GPUs first',
  interruptedUsd: 'it was begun again from the start; keep checkpoints and go on from them',
  idleUsd: 'its GPUs had nothing to do for a part of the time; ask for fewer, or feed them faster',
}
