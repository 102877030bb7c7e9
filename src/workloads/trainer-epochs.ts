import type { CommandLine } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Flags, known, switchFlag } from './flags.ts'
import { hasFlag } from './training-flags.ts'
import type { WorkloadReading } from './workload-reader.ts'

/** Examples of transformers that join all text and cut it into sequences of one length. */
const JOINS_TEXT = /^run_(clm|mlm|plm|fim|t5_mlm)\w*\.py$/

/** What an epoch of a script with the Trainer's flags goes through; each sample once, unless it packs its text. */
export function trainerEpoch(
  flags: Flags,
  { program }: CommandLine,
  generates: boolean,
): Pick<WorkloadReading, 'epochOf'> {
  // A prompt is answered several times, and an answer may be learnt from more than once.
  if (generates) return {}
  const isLines = known(switchFlag(flags, ['line-by-line']))?.value === true
  const isPacked = known(switchFlag(flags, ['packing', 'sample-packing', 'group-by-block']))?.value === true
  const packs = isPacked || (JOINS_TEXT.test(baseName(program)) && !isLines)
  // A script of one's own that is told the length of its blocks most likely joins its text, too.
  if (!packs && hasFlag(flags, ['block-size'])) return {}
  return { epochOf: packs ? 'packed-text' : 'samples' }
}
