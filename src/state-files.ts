import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GpufareError, systemReason } from './errors.ts'

/** A record that stands beside a line that broke off is written again; more than once it only happens on a broken disk. */
const attempts = 3

/** `$XDG_STATE_HOME/gpufare/NAME` (XDG Base Directory Specification); undefined where there is no home folder. */
export function statePath(
  environment: Readonly<Record<string, string | undefined>>,
  name: 'ledger.jsonl' | 'learnt.jsonl' | 'ended.jsonl' | 'logs.jsonl',
): string | undefined {
  const { XDG_STATE_HOME: state, HOME: home } = environment
  const folder = state || (home ? join(home, '.local/state') : undefined)
  return folder && join(folder, 'gpufare', name)
}

/**
 * Adds a line, of a page at most since local file systems and NFS write no more at once, so that when it returns the line stands there
 * whole, whoever else writes or is killed meanwhile. Throws GpufareError where it cannot be written.
 */
export function appendLine(path: string, text: string): void {
  const line = Buffer.from(`${text}\n`)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600)
    try {
      for (let attempt = 0; attempt < attempts; attempt += 1) if (appendTo(file, line)) return
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new GpufareError(`${path}: ${systemReason(error)}`, 1)
  }
  throw new GpufareError(`${path}: the record was not written whole`, 1)
}

/** Writes the line at once; whether it then stands there whole and on a line of its own. */
function appendTo(file: number, line: Buffer): boolean {
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

/**
 * The lines of a file; of one longer than `mostBytes` those at its end, of one that is not there none. Throws GpufareError where it cannot
 * be read.
 */
export function readLines(path: string, mostBytes = Number.POSITIVE_INFINITY): readonly string[] {
  return textOf(path, mostBytes)
    .split('\n')
    .filter(line => line.trim() !== '')
}

function textOf(path: string, mostBytes: number): string {
  try {
    if (mostBytes === Number.POSITIVE_INFINITY) return readFileSync(path, 'utf8')
    const file = openSync(path, 'r')
    try {
      const from = Math.max(0, fstatSync(file).size - mostBytes)
      const text = readFrom(file, from).toString('utf8')
      return from === 0 ? text : text.slice(text.indexOf('\n') + 1)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw new GpufareError(`${path}: ${systemReason(error)}`, 1)
  }
}

/** What a line says; undefined where it is no JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
