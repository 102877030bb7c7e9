import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Model, ModelTable } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Precision, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  findFlag,
  type Given,
  known,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { vocabularyOf } from './megatron-vocabulary.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Keys of Levanter's configuration; the batch is that of all devices (trainer.py). */
const TABLE: FlagTable = {
  steps: ['trainer.num-train-steps'],
  globalBatch: ['trainer.train-batch-size'],
  sequenceLength: ['train-seq-len', 'model.seq-len', 'model.max-seq-len'],
  modelName: ['initialize-from-hf'],
  dataset: ['data.id'],
}

/** Levanter: `python -m levanter.main.train_lm --config_path FILE --trainer.key value`. */
export const levanter: WorkloadReader = {
  name: 'levanter',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, models }) {
    if (!isLevanter(commandLine)) return undefined
    const { flags, typed, warnings } = readConfigured(commandLine, configWords(commandLine), files)
    const given = readTable(flags, TABLE)
    const shape = shapeOf(flags, models)
    const published = known(given.modelName)
    const isPublished = published !== undefined && !/^(true|false)$/i.test(published.value)
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'levanter'),
      method: sourced(/lora/.test(commandLine.program) ? 'lora' : 'full', {
        kind: 'manifest',
        place: commandLine.place,
      }),
      ...withoutAbsent({
        modelName: isPublished ? published : shape && sourced(shape.value.name, shape.origin),
        model: isPublished ? undefined : shape,
        dataset: known(given.dataset),
        steps: known(given.steps),
        globalBatch: known(given.globalBatch),
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags),
        checkpoint: checkpointOf(flags),
      }),
    }
    return { workload, warnings: [...warnings, ...explainRepeated(typed, namesOf(TABLE))] }
  },
}

function isLevanter({ program }: CommandLine): boolean {
  return /(^|[./])levanter[./].*\b(train_lm|lora_lm|gpt2_example)(\.py)?$/.test(program)
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const word = isLevanter(commandLine) ? findFlag(readFlags(commandLine), ['config-path', 'config'])?.value : undefined
  return word === undefined ? [] : [word]
}

/** `p=f32,c=bfloat16`: parameters in one format, computed in another (jmp's policies). */
function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const policy = known(textFlag(flags, ['trainer.mp']))
  const computed = policy && /(?:^|,)\s*c(?:ompute)?=(\w+)/.exec(policy.value)?.[1]
  const precision = precisionOf(computed?.replace(/^(b?f)(16|32)$/, '$1loat$2'))
  return precision && policy && sourced(precision, policy.origin)
}

/** Intervals are times of the clock, `30m` (checkpoint.py). */
function checkpointOf(flags: Flags): Checkpointing | undefined {
  const interval = known(textFlag(flags, ['trainer.checkpointer.save-interval']))
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)\s*(s|m|h)/.exec(interval?.value ?? '') ?? []
  const seconds = { s: 1, m: 60, h: 3600 }[unit]
  const values = withoutAbsent({
    destination: known(textFlag(flags, ['trainer.checkpointer.base-path'])),
    intervalSeconds:
      interval === undefined || seconds === undefined ? undefined : sourced(Number(count) * seconds, interval.origin),
  })
  return Object.keys(values).length === 0 ? undefined : values
}

/** Llama's and GPT-2's networks by their dimensions (models/llama.py, models/gpt2.py); others are not counted. */
function shapeOf(flags: Flags, models: ModelTable): Sourced<Model> | undefined {
  const number = (name: string): Given<number> => positiveFlag(flags, [`model.${name}`])
  const type = known(textFlag(flags, ['model.type']))?.value
  const hidden = number('hidden-dim')
  const vocabulary = vocabularyOf(flags, models, 'data.')
  if ((type !== 'llama' && type !== 'gpt2') || hidden === undefined || hidden === 'unknown') return undefined
  if (vocabulary === undefined || vocabulary.assumed) return undefined
  const isLlama = type === 'llama'
  const fourTimes = sourced(4 * hidden.value, { kind: 'computed', formula: '4 x hidden_dim' } as const)
  return modelOfTransformer(type, {
    layers: number('num-layers'),
    hidden,
    heads: number('num-heads'),
    keyValueHeads: number('num-kv-heads'),
    feedForward: isLlama ? number('intermediate-dim') : fourTimes,
    gatedFeedForward: isLlama,
    vocabulary: sourced(vocabulary.count, { kind: 'computed', formula: 'by its tokenizer' }),
    contextLength: number('seq-len') ?? number('max-seq-len'),
    tiedEmbeddings: !isLlama || known(switchFlag(flags, ['model.tie-word-embeddings']))?.value === true,
    learnsPositions: !isLlama,
  })
}
