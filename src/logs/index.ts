import { composer } from './composer.ts'
import { deepspeed } from './deepspeed.ts'
import { generic } from './generic.ts'
import { diffusion, huggingface, llamaFactoryJson } from './huggingface.ts'
import { imageSynthesis } from './image-synthesis.ts'
import { jax } from './jax.ts'
import { estimator, keras } from './keras.ts'
import { languageModels, torchtune } from './language-models.ts'
import { lightning } from './lightning.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import { megatronFamily, nemo, nemoBar } from './megatron.ts'
import { deviceMonitor, nvidiaSmi, wandb } from './monitoring.ts'
import { otherPrograms } from './other-programs.ts'
import { paddle } from './paddle.ts'
import { programOf } from './program-names.ts'
import { quantumChemistry } from './quantum-chemistry.ts'
import { endsOf, type LogBytes, type LogRecord, recordsOf } from './records.ts'
import { reinforcement, stableBaselines } from './reinforcement.ts'
import { progressOf, type RunProgress } from './run-progress.ts'
import { serving } from './serving.ts'
import { simulation } from './simulation.ts'
import { speech } from './speech.ts'
import { structuralBiology } from './structural-biology.ts'
import { translation } from './translation.ts'
import { ultralytics } from './ultralytics.ts'
import { vision } from './vision.ts'

/** Readers in the order in which they are asked: a program before what it is built on, any program's last. */
export const readers: readonly LogReader[] = [
  llamaFactoryJson,
  huggingface,
  diffusion,
  megatronFamily,
  nemo,
  nemoBar,
  torchtune,
  ...languageModels,
  composer,
  ...translation,
  ...speech,
  ...jax,
  ...paddle,
  ...vision,
  ...imageSynthesis,
  ultralytics,
  keras,
  estimator,
  stableBaselines,
  ...reinforcement,
  ...simulation,
  ...structuralBiology,
  ...quantumChemistry,
  ...serving,
  ...otherPrograms,
  lightning,
  deepspeed,
  nvidiaSmi,
  deviceMonitor,
  generic,
  wandb,
]

const nothing: LogReading = { unit: 'none', points: [], figures: {} }

/**
 * What a log tells of its run. `file` names it in the origins of figures.
 *
 * Never fails: of a file that is no log, nothing is known.
 */
export function readProgress(bytes: LogBytes, file: string, among: readonly LogReader[] = readers): RunProgress {
  const records = recordsOf(bytes)
  const progress = progressOf(readingOf(records, among), records, file)
  if (bytes.tail === undefined) return progress
  const warning = { code: 'truncated' as const, text: 'the middle of the file was not read: it is too long' }
  return { ...progress, warnings: [...progress.warnings, warning] }
}

/** A counter alone tells little: another reader may know more. */
function tellsTime({ points, figures, unit, framework }: LogReading): boolean {
  const isTimed = ({ timeSeconds, secondsPerStep, elapsedSeconds }: LogReading['points'][number]) =>
    timeSeconds !== undefined || secondsPerStep !== undefined || elapsedSeconds !== undefined
  return framework !== undefined || unit === 'none' || points.some(isTimed) || figures.secondsPerStep !== undefined
}

/** The reading of the first reader that knows the program, and that found a counter with a time, or figures. */
function readingOf(records: readonly LogRecord[], among: readonly LogReader[]): LogReading {
  const ends = endsOf(records)
  let thin: LogReading | undefined
  for (const reader of among) {
    const atEnds = reader.read(ends)
    const reading = atEnds === undefined || ends === records ? atEnds : reader.read(records)
    if (reading === undefined) continue
    if (tellsTime(reading)) return reading
    thin ??= reading
  }
  return thin ?? { ...nothing, framework: programOf(records) }
}
