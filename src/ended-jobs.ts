import type { Allocation } from './history/allocation.ts'
import { appendLine, parseLine, readLines } from './state-files.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/**
 * Clusters delete finished jobs after a while, and with them all that is known of them: what was seen of those that had ended is kept in a file.
 * Answers with what is there now and what was there before. Throws GpufareError where the file cannot be read or written.
 */
export async function withEnded(path: string, seen: readonly Allocation[]): Promise<readonly Allocation[]> {
  const kept = await readEnded(path)
  const known = new Set(kept.map(keyOf))
  const present = new Set(seen.flatMap(each => (each.state === 'gone' ? [] : keyOf(each))))
  const open = new Set(seen.flatMap(each => (isOver(each) ? [] : keyOf(each))))
  for (const each of seen) {
    const key = keyOf(each)
    if (!open.has(key) && !known.has(key)) appendLine(path, JSON.stringify({ schemaVersion, ...each }))
  }
  const before = kept.filter(each => !present.has(keyOf(each)))
  const told = new Set(before.map(({ jobId }) => jobId))
  return [...seen.filter(({ state, jobId }) => state !== 'gone' || !told.has(jobId)), ...before]
}

async function readEnded(path: string): Promise<readonly Allocation[]> {
  const { EndedLine } = await import('./ended-jobs-schema.ts')
  return readLines(path).flatMap((line): Allocation[] => {
    const { success, data } = EndedLine.safeParse(parseLine(line))
    if (!success) return []
    const { schemaVersion: _, ...allocation } = data
    return [allocation]
  })
}

/** Every start of a task has the same. */
function keyOf({ jobId, task }: Allocation): string {
  return `${jobId} ${task}`
}

function isOver({ state }: Allocation): boolean {
  return state !== 'running' && state !== 'waiting' && state !== 'gone'
}
