import { GpufareError } from './errors.ts'
import { learntIn } from './learnt.ts'
import { once } from './once.ts'
import { correctionsOf } from './runtimes/corrections.ts'
import type { Corrections } from './runtimes/runtime-model.ts'
import { readLines } from './state-files.ts'

/** Bytes at the end of the file that a quote looks through, a thousand runs: as many as are read unnoticed. */
const quotedBytes = 262_144

/** Lines of one job that are checked for a quote: twice the runs that count, since they are kept in the order they were reviewed in. */
const quotedLines = 40

/** Corrections for a quote: a file of any size is read in a bounded time, and one that cannot be read stops no quote. */
export function correctionsIn(path: string): Corrections | undefined {
  try {
    const lines = readLines(path, quotedBytes)
    const runsOf = once((fingerprint: string) => {
      // Checking a line takes longer than reading it.
      const own = lines.filter(line => line.includes(fingerprint) || line.includes('"forgotten"')).slice(-quotedLines)
      return learntIn(own).runs.filter(run => run.fingerprint === fingerprint)
    })
    return correctionsOf(runsOf)
  } catch (error) {
    if (error instanceof GpufareError) return undefined
    throw error
  }
}
