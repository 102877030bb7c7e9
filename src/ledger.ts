import type { QuoteRecord } from './quote-record.ts'
import { appendLine, parseLine, readLines, statePath } from './state-files.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** A line is no longer than what is written at once: a page. */
const longestBytes = 4_000

/** `gpufare/ledger.jsonl` in the user's folder for state; undefined where there is no home folder. */
export function ledgerPath(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  return statePath(environment, 'ledger.jsonl')
}

/**
 * Adds a record to the ledger, so that when it returns the record stands there whole, whoever else writes or is killed
 * meanwhile. Throws GpufareError where it cannot be written.
 */
export function appendRecord(path: string, record: QuoteRecord): void {
  appendLine(path, lineOf(record))
}

function lineOf(record: QuoteRecord): string {
  const whole = JSON.stringify({ schemaVersion, ...record })
  if (Buffer.byteLength(whole) < longestBytes) return whole
  return JSON.stringify({ schemaVersion, ...record, rates: [] })
}

/** Records of a ledger, the earliest first. */
export interface Ledger {
  readonly records: readonly QuoteRecord[]
  /** Lines that are no whole record of a version that this program knows. */
  readonly skipped: number
}

/** Reads the ledger; one that is not there is empty. Throws GpufareError where it cannot be read. */
export async function readLedger(path: string): Promise<Ledger> {
  const { LedgerLine } = await import('./ledger-schema.ts')
  const lines = readLines(path)
  const records = lines.flatMap((line): QuoteRecord[] => {
    const read = LedgerLine.safeParse(parseLine(line))
    if (!read.success) return []
    const { schemaVersion: _, ...record } = read.data
    return [record]
  })
  return { records, skipped: lines.length - records.length }
}
