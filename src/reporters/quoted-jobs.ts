import { type CandidateLine, type CheckedJob, moneyOf, timeOf } from '../check-report.ts'
import { describePlace } from '../errors.ts'
import { canRun, type Fare, requestedQuotes } from '../fare.ts'
import { gpusAtOnce } from '../gpus-in-use.ts'
import type { Currency } from '../units.ts'
import { type Row, rowsOf } from './comparison.ts'
import { describeGpus, describeOffer, describeSource } from './words.ts'

/** A fare as the reports in columns show it: the same rows that the table has, their trade or obstacle as a note. */
export function quotedJobOf(fare: Fare, currency: Currency, all: boolean): CheckedJob {
  const { job } = fare
  const asWritten = requestedQuotes(fare)[0]
  return {
    name: job.name,
    kind: job.kind,
    place: job.place,
    team: undefined,
    gpuCount: gpusAtOnce(job),
    gpus: asWritten === undefined ? '' : describeGpus(asWritten.candidate),
    basis: asWritten?.runtime?.basis,
    gpuHours: asWritten?.gpuHours,
    ...timeOf(asWritten?.runtime),
    ...moneyOf(asWritten),
    candidates: rowsOf(fare, currency, all).map(row => lineOf(row, currency)),
    warnings: fare.warnings.map(({ text, place }) => (place === undefined ? text : `${describePlace(place)}: ${text}`)),
  }
}

function lineOf({ quote, label, trade }: Row, currency: Currency): CandidateLine {
  const able = canRun(quote.candidate)
  const notes = able
    ? [label === 'spot' ? 'spot' : undefined, trade, ...quote.candidate.remarks]
    : quote.candidate.obstacles
  return {
    asRequested: quote.candidate.asRequested,
    gpus: describeGpus(quote.candidate),
    offer: describeOffer(quote, currency),
    canRun: able,
    note: notes.filter(note => note !== undefined).join('; '),
    ...timeOf(quote.runtime),
    ...moneyOf(quote),
  }
}

/** `prices: aws on-demand 2026-07-20`: what a fare's prices rest on, and what they leave out. */
export function priceSources(fare: Fare | undefined): readonly string[] {
  const prices = (fare?.quotes ?? []).flatMap(quote => quote.prices.flatMap(price => price ?? []))
  const sources = prices.map(describeSource)
  return [
    sources.length === 0 ? 'no price is known' : `prices: ${[...new Set(sources)].join('; ')}`,
    'not included: storage, network, queueing, failed runs, tax',
  ]
}
