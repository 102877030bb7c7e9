import { open } from 'node:fs/promises'
import { openTable } from '../csv.ts'

/** The last lines of a CSV file, and the line that names its columns. */
export interface Tail {
  readonly head: string
  readonly lines: readonly string[]
  /** The cell `name` of a line. */
  nameOf(line: string): string
}

/** Bytes that a line of column names has at most. */
const headBytes = 4_096

/** The whole lines among the last bytes of a file; undefined where it can't be read. */
export async function tailOf(path: string, bytes: number): Promise<Tail | undefined> {
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    const start = Math.max(0, size - bytes)
    const read = async (from: number, count: number) =>
      (await file.read(Buffer.alloc(count), 0, count, from)).buffer.toString('utf8', 0, Math.min(count, size - from))
    const [head = ''] = (await read(0, Math.min(size, headBytes))).split(/\r?\n/, 1)
    const text = await read(start, size - start)
    // The first line is the head, or the rest of a line that begins before.
    const lines = text
      .slice(text.indexOf('\n') + 1)
      .split(/\r?\n/)
      .filter(line => line !== '')
    const column = head.split(',').indexOf('name')
    return { head, lines, nameOf: line => cellOf(line, column, head) }
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}

/** Without quotes before it, a cell is found without splitting the others. */
function cellOf(line: string, column: number, head: string): string {
  if (line.includes('"')) return openTable(`${head}\n${line}`).lines()[0]?.cell('name') ?? ''
  let start = 0
  for (let passed = 0; passed < column; passed++) start = line.indexOf(',', start) + 1
  const end = line.indexOf(',', start)
  return line.slice(start, end === -1 ? undefined : end)
}
