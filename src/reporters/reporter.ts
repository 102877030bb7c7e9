import type { Fare } from '../fare.ts'
import type { Currency } from '../units.ts'

/** What is reported: the fares of one call, and the currency its amounts are shown in. */
export interface Report {
  readonly fares: readonly Fare[]
  readonly currency: Currency
  /** Remarks on the call as a whole, such as settings that do not count. */
  readonly remarks: readonly string[]
}

/** Marks up text for a terminal; without colour each returns its text as it is. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
}

/** How a report is to be written. */
export interface RenderOptions {
  /** Columns to stay within. */
  readonly width: number
  readonly paint: Paint
  /** Every candidate, not only those worth knowing. */
  readonly all: boolean
  /** Each input with its origin, and the arithmetic. */
  readonly explain: boolean
}

/** Puts fares into words; prints nothing itself. */
export interface Reporter {
  readonly name: string
  render(report: Report, options: RenderOptions): string
}

function asIs(text: string): string {
  return text
}

/** No colour at all. */
export const plainPaint: Paint = { bold: asIs, dim: asIs, good: asIs, bad: asIs, warn: asIs }
