import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GpufareError } from './errors.ts'
import type { QuoteRecord } from './quote-record.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** A line is no longer than what local file systems and NFS write at once: a page. */
const longestBytes = 4_000

/** A record that stands beside a line that broke off is written again; more than once it only happens on a broken disk. */
const attempts = 3

/** `$XDG_STATE_HOME/gpufare/ledger.jsonl` (XDG Base Directory Specification); undefined where there is no home folder. */
export function ledgerPath(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_STATE_HOME: state, HOME: home } = environment
  const folder = state || (home ? join(home, '.local/state') : undefined)
  return folder && join(folder, 'gpufare', 'ledger.jsonl')
}

/**
 * Adds a record to the ledger, so that when it returns the record stands there whole, whoever else writes or is killed
 * meanwhile. Throws GpufareError where it cannot be written.
 */
export function appendRecord(path: string, record: QuoteRecord): void {
  const line = lineOf(record)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600)
    try {
      for (let attempt = 0; attempt < attempts; attempt += 1) if (appendLine(file, line)) return
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new GpufareError(`${path}: ${error instanceof Error ? error.message : String(error)}`, 1)
  }
  throw new GpufareError(`${path}: the record was not written whole`, 1)
}

/** Writes the line at once; whether it then stands there whole and on a line of its own. */
function appendLine(file: number, line: Buffer): boolean {
  const before = fstatSync(file)
  // A line that broke off, since its writer was killed or the disk was full, must not swallow this one.
  const bytes = endsInLine(file, before.size) ? line : Buffer.concat([Buffer.from('\n'), line])
  if (writeSync(file, bytes) < bytes.length) return false
  if (!before.isFile()) return true
  // One may also have broken off in between, and on NFS two appends may meet in one place.
  const from = Math.max(0, before.size - 1)
  const tail = readFrom(file, from)
  const at = tail.indexOf(line)
  return at === 0 ? from === 0 : at > 0 && tail[at - 1] === 0x0a
}

function endsInLine(file: number, size: number): boolean {
  return size === 0 || readFrom(file, size - 1, 1)[0] === 0x0a
}

function readFrom(file: number, from: number, length = Math.max(0, fstatSync(file).size - from)): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, from))
}

function lineOf(record: QuoteRecord): Buffer {
  const whole = Buffer.from(`${JSON.stringify({ schemaVersion, ...record })}\n`)
  if (whole.length <= longestBytes) return whole
  return Buffer.from(`${JSON.stringify({ schemaVersion, ...record, rates: [] })}\n`)
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
  const lines = textOf(path)
    .split('\n')
    .filter(line => line.trim() !== '')
  const records = lines.flatMap((line): QuoteRecord[] => {
    const read = LedgerLine.safeParse(parsed(line))
    if (!read.success) return []
    const { schemaVersion: _, ...record } = read.data
    return [record]
  })
  return { records, skipped: lines.length - records.length }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw new GpufareError(`${path}: ${error instanceof Error ? error.message : String(error)}`, 1)
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
