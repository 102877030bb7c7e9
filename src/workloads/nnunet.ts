import type { CommandLine } from '../command-lines.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import { resumption } from './checkpoints.ts'
import { runOf } from './configured.ts'
import { type Given, known, positiveFlag, readFlags, textFlag } from './flags.ts'
import { hasFlag } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** nnU-Net's own plan of training (nnunetv2/training/nnUNetTrainer/nnUNetTrainer.py; nnUNetTrainerV2 of version 1 has the same). */
const EPOCHS = 1_000
const ITERATIONS_PER_EPOCH = 250
const EPOCHS_PER_CHECKPOINT = 50

const TRAINING = /^nnUNet(v2)?_train$|(^|\/)nnunetv2[./]run[./]run_training(\.py)?$/
const OTHER: readonly (readonly [RegExp, Workload['purpose']])[] = [
  [/^nnUNet(v2)?_predict\w*$/, 'infer'],
  [/^nnUNet(v2)?_(evaluate|find_best)\w*$/, 'evaluate'],
  [/^nnUNet(v2)?_(plan|extract|preprocess|convert|move|export|import|ensemble|apply|accumulate)\w*$/, 'other'],
]

/** nnU-Net: what a run does follows from its trainer's name; the batch from plans that are made of the data. */
export const nnunet: WorkloadReader = {
  name: 'nnunet',

  refersTo() {
    return []
  },

  read(commandLine) {
    const other = OTHER.find(([pattern]) => pattern.test(commandLine.program))?.[1]
    if (other !== undefined) return { workload: runOf(commandLine, other, 'nnunet'), warnings: [] }
    if (!TRAINING.test(commandLine.program)) return undefined
    const flags = readFlags(commandLine)
    const isEvaluation = hasFlag(flags, ['val', 'validation-only'])
    const { dataset, configuration, trainer } = argumentsOf(commandLine)
    const processes =
      known(positiveFlag(flags, ['num-gpus'])) ?? sourced(1, { kind: 'assumed', reason: "nnU-Net's default" })
    const workload: Workload = {
      ...runOf(commandLine, isEvaluation ? 'evaluate' : 'train', 'nnunet'),
      ...withoutAbsent({
        dataset,
        modelName: configuration && sourced(`nnU-Net ${configuration.value}`, configuration.origin),
      }),
      processes,
      ...(isEvaluation ? {} : trainingValues(trainer, resumption(flags, ['c', 'continue-training']))),
    }
    return { workload, warnings: explainDefault(workload) }
  },
}

/** `DATASET CONFIGURATION FOLD -tr TRAINER`, in version 1 `CONFIGURATION TRAINER DATASET FOLD`. */
function argumentsOf(commandLine: CommandLine): {
  readonly dataset: Sourced<string> | undefined
  readonly configuration: Sourced<string> | undefined
  readonly trainer: Given<string>
} {
  const flags = readFlags(commandLine)
  const words = flags.positionals.map(({ text, place }) =>
    text === undefined ? undefined : sourced(text, { kind: 'manifest' as const, place }),
  )
  if (commandLine.program === 'nnUNet_train') return { configuration: words[0], trainer: words[1], dataset: words[2] }
  return { dataset: words[0], configuration: words[1], trainer: textFlag(flags, ['tr']) }
}

function trainingValues(trainer: Given<string>, resumes: Sourced<boolean> | undefined): Partial<Workload> {
  const epochs = trainer === 'unknown' ? undefined : epochsOf(trainer)
  const assumed = (reason: string): Origin => ({ kind: 'assumed', reason })
  return withoutAbsent({
    epochs,
    steps:
      epochs &&
      sourced(
        epochs.value * ITERATIONS_PER_EPOCH,
        assumed(`${epochs.value} epochs x nnU-Net's ${ITERATIONS_PER_EPOCH} iterations`),
      ),
    precision: sourced<'fp16'>('fp16', assumed('nnU-Net trains in mixed precision')),
    optimizer: sourced<'sgd'>('sgd', assumed("nnU-Net's default")),
    method: sourced<'full'>('full', assumed('it trains all parameters')),
    checkpoint: {
      intervalEpochs: sourced(EPOCHS_PER_CHECKPOINT, assumed("nnU-Net's default")),
      ...(resumes && { resumes }),
    },
  })
}

/** `nnUNetTrainer_250epochs` says it; of any other trainer than nnU-Net's own nothing is known. */
function epochsOf(trainer: Sourced<string> | undefined): Sourced<number> | undefined {
  const [, told] = /_(\d+)epochs?$/i.exec(trainer?.value ?? '') ?? []
  if (trainer !== undefined && told !== undefined) return sourced(Number(told), trainer.origin)
  if (trainer !== undefined && !/^nnUNetTrainer(V2)?$/.test(trainer.value)) return undefined
  return sourced(EPOCHS, { kind: 'assumed', reason: "the default of nnU-Net's trainer" })
}

function explainDefault({ epochs, place }: Workload): Warning[] {
  if (epochs?.origin.kind !== 'assumed') return []
  return [{ code: 'default-filled', text: `not said, so nnU-Net's default: epochs ${epochs.value}`, place }]
}
