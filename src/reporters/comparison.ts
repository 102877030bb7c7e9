import { canRun, type Fare, requestedQuotes } from '../fare.ts'
import { isSpot } from '../prices/price-source.ts'
import { isStoppedShort, type Quote } from '../quote.ts'
import { type Currency, formatDuration, formatMoney, secondsPerHour } from '../units.ts'
import { describeGpus } from './words.ts'

/** One row of a report: a quote, how it stands against the job as written, and what that trade means. */
export interface Row {
  readonly quote: Quote
  readonly label: string
  /** `saves $40, takes 1h55m longer: 3m a dollar`; absent where nothing can be compared. */
  readonly trade?: string
}

/** Rows shown where not all are asked for. */
const rowsWorthKnowing = 8

/**
 * The rows of a fare: as written, then what can run, cheapest first, then what cannot. The cheapest that can run is
 * among them however few are shown.
 */
export function rowsOf(fare: Fare, currency: Currency, all: boolean): readonly Row[] {
  const reference = requestedQuotes(fare)[0]
  const asWritten = fare.quotes.filter(quote => quote.candidate.asRequested)
  const others = fare.quotes.filter(quote => !quote.candidate.asRequested)
  const runnable = others.filter(quote => canRun(quote.candidate)).sort((a, b) => orderOf(a) - orderOf(b))
  const able = all ? runnable : runnable.filter(bringsSomething)
  const isStopped = (quote: Quote) => isStoppedShort(quote, reference)
  const done = able.filter(quote => !isStopped(quote))
  const stopped = able.filter(isStopped)
  const unable = others.filter(quote => !canRun(quote.candidate)).filter(isFirstOfItsGpus)
  const rows = [...asWritten, ...done, ...stopped, ...unable]
  return (all ? rows : rows.slice(0, Math.max(rowsWorthKnowing, asWritten.length + 1))).map(quote =>
    rowOf(quote, reference, currency),
  )
}

/** Where the GPUs themselves cannot do it, one layout says so for all. */
function isFirstOfItsGpus(quote: Quote, index: number, quotes: readonly Quote[]): boolean {
  const gpus = describeGpus(quote.candidate)
  return quotes.findIndex(other => describeGpus(other.candidate) === gpus) === index
}

/** Of layouts of the same GPUs that take and cost the same one is enough. */
function bringsSomething(quote: Quote, index: number, quotes: readonly Quote[]): boolean {
  const isSame = (other: Quote) =>
    describeGpus(other.candidate) === describeGpus(quote.candidate) &&
    other.tier === quote.tier &&
    other.usdPerHour === quote.usdPerHour &&
    medianSeconds(other) === medianSeconds(quote)
  return quotes.findIndex(isSame) === index
}

/** Cheapest first; what has no cost goes by its rate, what has no price comes last. */
function orderOf(quote: Quote): number {
  return medianUsd(quote) ?? quote.usdPerHour ?? Number.POSITIVE_INFINITY
}

function rowOf(quote: Quote, reference: Quote | undefined, currency: Currency): Row {
  const isLikeReference = reference === undefined || isSpot(quote.tier) === isSpot(reference.tier)
  if (quote.candidate.asRequested && isLikeReference) return { quote, label: 'as written' }
  if (!canRun(quote.candidate)) return { quote, label: 'no' }
  if (!isLikeReference) return { quote, label: isSpot(quote.tier) ? 'spot' : 'other' }
  if (reference === undefined) return { quote, label: 'other' }
  return { quote, ...compare(quote, reference, currency) }
}

/** Costs and times that differ by less are the same, as far as an estimate can tell. */
const sameShare = 0.05

/** How a quote stands against another of the same tier, the whole work on both. */
function compare(quote: Quote, reference: Quote, currency: Currency): Omit<Row, 'quote'> {
  if (quote.stop !== undefined && isStoppedShort(quote, reference)) {
    return {
      label: 'stopped',
      trade: `the time limit stops it after ${formatDuration(quote.stop.limitSeconds)}, before it is done`,
    }
  }
  const usd = difference(medianUsd(quote), medianUsd(reference))
  const seconds = difference(medianSeconds(quote), medianSeconds(reference))
  if (usd === undefined || seconds === undefined) return compareRates(quote, reference)
  const costs = compareShares(usd, medianUsd(reference))
  const takes = compareShares(seconds, medianSeconds(reference))
  const trades = describeTrade(usd, seconds, quote.tasks, currency)
  const { label, trade } = trades[`${costs} ${takes}`](quote.usdPerHour, reference.usdPerHour)
  const whole = [quote, reference].map(each => formatMoney(medianUsd(each) ?? 0, currency))
  // The cost of a row ends with the time limit.
  const isCut = isCutByLimit(quote) || isCutByLimit(reference)
  return { label, trade: isCut ? `${trade}; to its end it costs ${whole.join(' against ')}` : trade }
}

function isCutByLimit({ cost, wholeRunUsd }: Quote): boolean {
  return cost.kind === 'range' && wholeRunUsd !== undefined && cost.usd.p50 < wholeRunUsd.p50
}

/** Less, the same or more, as far as an estimate can tell. */
function compareShares(change: number, whole: number | undefined): Compared {
  if (Math.abs(change) < sameShare * (whole ?? 0)) return 'same'
  return change < 0 ? 'less' : 'more'
}

type Compared = 'less' | 'same' | 'more'
type Trade = (usdPerHour?: number, usdPerHourAsWritten?: number) => Required<Omit<Row, 'quote'>>

/** What a change of the cost of all tasks and one of the time of each mean together, by `cost time`. */
function describeTrade(
  usd: number,
  taskSeconds: number,
  tasks: number,
  currency: Currency,
): Record<`${Compared} ${Compared}`, Trade> {
  const money = formatMoney(Math.abs(usd), currency)
  const time = `${formatDuration(Math.abs(taskSeconds))}${tasks > 1 ? ' a task' : ''}`
  const seconds = taskSeconds * tasks
  const dollar = 1 / currency.perUsd
  const timeForDollar = () =>
    `${formatDuration((seconds / -usd) * dollar)} for each ${formatMoney(dollar, currency)} saved`
  const moneyForHour = () => `${formatMoney((usd / -seconds) * secondsPerHour, currency)} for each hour saved`
  return {
    'same same': () => ({ label: 'alike', trade: 'takes and costs about the same' }),
    'same less': () => ({ label: 'faster', trade: `saves ${time} at about the same cost` }),
    'same more': () => ({ label: 'slower', trade: `takes ${time} longer at about the same cost` }),
    'less same': () => ({ label: 'cheaper', trade: `saves ${money} in about the same time` }),
    'less less': () => ({ label: 'better', trade: `saves ${money} and ${time}` }),
    'less more': () => ({ label: 'cheaper', trade: `saves ${money}, takes ${time} longer: ${timeForDollar()}` }),
    'more same': () => ({ label: 'dearer', trade: `costs ${money} more and is no faster` }),
    'more less': () => ({ label: 'faster', trade: `saves ${time}, costs ${money} more: ${moneyForHour()}` }),
    'more more': (usdPerHour = 0, asWritten = 0) => ({
      label: 'dearer',
      trade: `costs ${money} more and takes ${time} longer${usdPerHour < asWritten ? ', though less an hour' : ''}`,
    }),
  }
}

/** Rates that differ by less are the same. */
const sameRateShare = 0.05

/** Without runtimes only the rates can be compared: up to which slowdown the cheaper one pays. */
function compareRates(quote: Quote, reference: Quote): Omit<Row, 'quote'> {
  if (quote.usdPerHour === undefined || reference.usdPerHour === undefined) return { label: 'other' }
  const ratio = reference.usdPerHour / quote.usdPerHour
  if (Math.abs(ratio - 1) < sameRateShare) return { label: 'same rate' }
  const isEndless = quote.cost.kind === 'unknown' && quote.cost.missing.includes('it has no end')
  if (ratio > 1) {
    return {
      label: 'lower rate',
      ...(!isEndless && { trade: `cheaper if it is no more than ${ratio.toFixed(1)} times slower` }),
    }
  }
  return {
    label: 'higher rate',
    ...(!isEndless && { trade: `cheaper if it is more than ${(1 / ratio).toFixed(1)} times faster` }),
  }
}

function medianUsd(quote: Quote): number | undefined {
  return quote.wholeRunUsd?.p50
}

function medianSeconds(quote: Quote): number | undefined {
  return quote.runtime === undefined || quote.runtime.basis === 'limit' ? undefined : quote.runtime.seconds.p50
}

function difference(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a - b
}
