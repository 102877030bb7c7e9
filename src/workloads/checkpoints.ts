import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing } from '../workload.ts'
import { type Flags, findFlag, known, numberFlag, positiveFlag, readBoolean, switchFlag, textFlag } from './flags.ts'

/** What a framework does where nobody says it. */
export interface CheckpointHabit {
  /** It saves as the Trainer does by default. */
  readonly savesAlone?: boolean
  /** It goes on from the last checkpoint in its output folder, unless told to overwrite that. */
  readonly resumesAlone?: boolean
}

/** Steps between checkpoints of Hugging Face's Trainer where nobody says it (TrainingArguments, save_steps). */
const TRAINER_SAVE_STEPS = 500

/** What Hugging Face's Trainer keeps, by TrainingArguments. */
export function trainerCheckpoint(
  flags: Flags,
  { savesAlone = false, resumesAlone = false }: CheckpointHabit,
): Checkpointing | undefined {
  const strategy = known(textFlag(flags, ['save-strategy']))
  const weightsOnly = known(switchFlag(flags, ['save-only-model']))
  if (strategy?.value === 'no') return undefined
  const isEveryEpoch = strategy?.value === 'epoch'
  return asCheckpoint({
    intervalSteps: isEveryEpoch || strategy?.value === 'best' ? undefined : saveSteps(flags, savesAlone),
    intervalEpochs: isEveryEpoch ? sourced(1, strategy.origin) : undefined,
    destination: destinationOf(flags, ['output-dir']),
    content: weightsOnly && sourced(weightsOnly.value ? 'weights' : 'full', weightsOnly.origin),
    resumes:
      resumption(flags, ['resume-from-checkpoint', 'auto-resume-from-checkpoints']) ?? habit(flags, resumesAlone),
  })
}

/** Names whose unit and meaning are plain, whatever program takes them; those of Lightning's callbacks stand at a path's end. */
const PLAIN = {
  steps: /^(save|checkpointing|checkpoint|ckpt)-(every-n-)?(steps|iters|iterations)$|(^|\.)every-n-train-steps$/,
  epochs: /^(save|checkpoint|ckpt)-(every-n-)?epochs$|\.every-n-epochs$/,
  folder: /^(checkpoint|ckpt|checkpoints|save)-(dir|folder)$|^save-path$|\.dirpath$|^trainer\.default-root-dir$/,
  resumes: /^(resume|auto-resume|resume-from|resume-from-checkpoint|ckpt-path|trainer\.resume-from-checkpoint)$/,
}

/** What any training program is told to keep; Lightning saves at the end of each epoch unless it is told otherwise. */
export function plainCheckpoint(flags: Flags, isLightning: boolean): Checkpointing | undefined {
  const nameOf = (pattern: RegExp) => flags.list.flatMap(({ name }) => (pattern.test(name) ? name : []))
  const steps = known(positiveFlag(flags, nameOf(PLAIN.steps)))
  const epochs = known(positiveFlag(flags, nameOf(PLAIN.epochs)))
  const isOff = known(switchFlag(flags, ['trainer.enable-checkpointing', 'enable-checkpointing']))?.value === false
  const habit = sourced(1, { kind: 'assumed', reason: 'Lightning saves at the end of each epoch' })
  const savesAlone = isLightning && !isOff && steps === undefined
  return asCheckpoint({
    intervalSteps: steps,
    intervalEpochs: epochs ?? (savesAlone ? habit : undefined),
    destination: isOff ? undefined : destinationOf(flags, nameOf(PLAIN.folder)),
    content: undefined,
    resumes: resumption(flags, nameOf(PLAIN.resumes)),
  })
}

/** A share below one is one of all steps; `-1` and `0` are never. */
function saveSteps(flags: Flags, savesAlone: boolean): Sourced<number> | undefined {
  const given = numberFlag(flags, ['save-steps', 'checkpointing-steps'])
  if (given === undefined && savesAlone)
    return sourced(TRAINER_SAVE_STEPS, { kind: 'assumed', reason: "the Trainer's own default" })
  return given === undefined || given === 'unknown' || given.value < 1 ? undefined : given
}

/** Where checkpoints go, as written: `$SCRATCH/out` says where, though not all of it. */
export function destinationOf(flags: Flags, names: readonly string[]): Sourced<string> | undefined {
  const flag = findFlag(flags, names)
  return flag?.value === undefined || flag.value.written === '' ? undefined : sourced(flag.value.written, flag.origin)
}

/** An option that is a switch or the path of a checkpoint. */
export function resumption(flags: Flags, names: readonly string[]): Sourced<boolean> | undefined {
  const flag = findFlag(flags, names)
  if (flag === undefined) return undefined
  const said = flag.value === undefined ? true : (readBoolean(flag.value.text) ?? true)
  return sourced(said, flag.origin)
}

function habit(flags: Flags, resumesAlone: boolean): Sourced<boolean> | undefined {
  if (!resumesAlone || known(switchFlag(flags, ['overwrite-output-dir']))?.value === true) return undefined
  return sourced(true, { kind: 'assumed', reason: 'it looks for a checkpoint in its output folder' })
}

/** What is said of checkpoints; undefined where nothing is. */
export function asCheckpoint(
  values: {
    readonly [K in keyof Checkpointing]: Checkpointing[K] | undefined
  },
): Checkpointing | undefined {
  const present = withoutAbsent(values)
  return Object.keys(present).length === 0 ? undefined : present
}
