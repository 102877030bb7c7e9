import type { Fare } from '../fare.ts'
import type { Paint } from '../terminal.ts'
import type { Currency } from '../units.ts'

/** What is reported: the fares of one call, and the currency its amounts are shown in. */
export interface Report {
  readonly fares: readonly Fare[]
  readonly currency: Currency
  /** Remarks on the call as a whole, such as settings that do not count. */
  readonly remarks: readonly string[]
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
