import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { GpufareError } from './errors.ts'
import { folderFiles } from './folder-files.ts'
import type { LogBytes } from './logs/records.ts'

/** Beyond this a log is read at its head and its tail: counters and rates of the middle are between theirs. */
const largestBytes = 5_000_000
const chunkBytes = 1_048_576

/** What output files of jobs end with. */
const endings: ReadonlySet<string> = new Set(['.log', '.out', '.err', '.txt', '.jsonl', '.csv', ''])

/** The log files that names stand for: files as they are, of folders what is called like a log. Throws GpufareError where nothing is. */
export function findLogs(names: readonly string[]): readonly string[] {
  return names.flatMap(name => {
    if (!isFolder(name)) return [name]
    return folderFiles(name)
      .paths.filter(path => endings.has(extname(path)) || /\.o\d+$/.test(path))
      .map(path => join(name, path))
  })
}

function isFolder(name: string): boolean {
  try {
    return statSync(name).isDirectory()
  } catch {
    throw new GpufareError(`${name} is not there`, 2)
  }
}

/** Bytes of a log; of a long one head and tail and, unless that would take too long, how many lines lie between. Never holds more than the two. */
export function readLog(path: string, countsLines = true): LogBytes {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch {
    throw new GpufareError(`${path} cannot be read`, 2)
  }
  try {
    const { size } = statSync(path)
    if (size <= largestBytes) return { head: readRange(descriptor, 0, size) }
    const half = largestBytes / 2
    return {
      head: readRange(descriptor, 0, half),
      tail: readRange(descriptor, size - half, half),
      ...(countsLines && { linesLeftOut: lineFeedsBetween(descriptor, half, size - half) }),
    }
  } finally {
    closeSync(descriptor)
  }
}

function readRange(descriptor: number, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(descriptor, bytes, filled, length - filled, from + filled)
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
}

function lineFeedsBetween(descriptor: number, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at += chunkBytes) {
    const { buffer, byteLength } = readRange(descriptor, at, Math.min(chunkBytes, to - at))
    const chunk = Buffer.from(buffer, 0, byteLength)
    for (let found = chunk.indexOf(10); found >= 0; found = chunk.indexOf(10, found + 1)) count += 1
  }
  return count
}
