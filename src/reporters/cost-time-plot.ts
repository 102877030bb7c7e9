import type { CandidateLine } from '../check-report.ts'
import { htmlText } from '../escaping.ts'
import type { Range } from '../runtimes/runtime-model.ts'
import { type Currency, formatDuration, formatMoney, secondsPerHour } from '../units.ts'
import { moneyWords, runtimeWords } from './check-words.ts'

/** Size of the drawing in its own units: small, so that its letters are still readable on a phone's 340 pixels. */
const [width, height] = [420, 270]
const margin = { left: 58, right: 28, top: 14, bottom: 40 } as const

/** A candidate of which both figures are known. */
interface Point {
  /** As it is called in the table beside the plot. */
  readonly number: number
  readonly candidate: CandidateLine
  readonly seconds: Range
  readonly usd: Range
}

/**
 * Cost against time of the candidates as SVG, both axes from zero, with a bar from P10 to P90 each way; empty where less than two
 * can be placed. `number` of a point is its row in the table, counted from 1.
 */
export function plotCostAgainstTime(candidates: readonly CandidateLine[], currency: Currency, title: string): string {
  const points = candidates.flatMap((candidate, index) => pointOf(candidate, index + 1))
  if (points.length < 2) return ''
  const hours = axis(Math.max(...points.map(point => point.seconds.p90)) / secondsPerHour)
  const money = axis(Math.max(...points.map(point => point.usd.p90)) * currency.perUsd)
  const x = (seconds: number) =>
    margin.left + (seconds / secondsPerHour / hours.end) * (width - margin.left - margin.right)
  const y = (usd: number) =>
    height - margin.bottom - ((usd * currency.perUsd) / money.end) * (height - margin.top - margin.bottom)
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${htmlText(describe(title, points, currency))}">`,
    ...hours.ticks.map(tick =>
      verticalLine(x(tick * secondsPerHour), tick === 0 ? '0' : formatDuration(tick * secondsPerHour)),
    ),
    ...money.ticks.map(tick =>
      horizontalLine(y(tick / currency.perUsd), formatMoney(tick / currency.perUsd, currency)),
    ),
    text((margin.left + width - margin.right) / 2, height - 7, 'middle', 'runtime'),
    ...points.map(point => drawPoint(point, x, y, currency)),
    '</svg>',
    '<p class="soft">Bars reach from P10 to P90; filled: as written.</p>',
  ].join('\n')
}

function pointOf(candidate: CandidateLine, number: number): Point[] {
  const { runtimeSeconds: seconds, totalUsd: usd, canRun } = candidate
  return seconds === undefined || usd === undefined || !canRun ? [] : [{ number, candidate, seconds, usd }]
}

/** Five steps or so of 1, 2 or 5 times a power of ten, up to the first that holds the greatest figure. */
function axis(greatest: number): { readonly end: number; readonly ticks: readonly number[] } {
  const rough = greatest / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find(factor => factor * power >= rough) ?? 10) * power
  const count = Math.ceil(greatest / step)
  return { end: count * step, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) }
}

function verticalLine(x: number, label: string): string {
  const bottom = height - margin.bottom
  return `<line class="grid" x1="${round(x)}" y1="${margin.top}" x2="${round(x)}" y2="${bottom}"/>${text(x, bottom + 16, 'middle', label)}`
}

function horizontalLine(y: number, label: string): string {
  return `<line class="grid" x1="${margin.left}" y1="${round(y)}" x2="${width - margin.right}" y2="${round(y)}"/>${text(margin.left - 6, y + 4, 'end', label)}`
}

function drawPoint(
  { number, candidate, seconds, usd }: Point,
  x: (seconds: number) => number,
  y: (usd: number) => number,
  currency: Currency,
): string {
  const [left, middle, right] = [x(seconds.p10), x(seconds.p50), x(seconds.p90)].map(round)
  const [low, centre, high] = [y(usd.p10), y(usd.p50), y(usd.p90)].map(round)
  const title = `${candidate.gpus}: ${runtimeWords(candidate)}, ${moneyWords(candidate, currency)}`
  return [
    `<g class="${candidate.asRequested ? 'point written' : 'point'}"><title>${htmlText(title)}</title>`,
    `<path d="M${left} ${centre}H${right}M${middle} ${low}V${high}"/>`,
    `<circle cx="${middle}" cy="${centre}" r="9"/>`,
    text(x(seconds.p50), y(usd.p50) + 4, 'middle', String(number)),
    '</g>',
  ].join('')
}

function text(x: number, y: number, anchor: string, words: string): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${htmlText(words)}</text>`
}

function describe(title: string, points: readonly Point[], currency: Currency): string {
  const each = points.map(
    ({ number, candidate }) =>
      `${number}: ${candidate.gpus}, ${runtimeWords(candidate)}, ${moneyWords(candidate, currency)}`,
  )
  return `Cost against runtime of ${title}. ${each.join('. ')}`
}

function round(coordinate: number): number {
  return Math.round(coordinate * 10) / 10
}
