import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Model } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import { explainRepeated, type Flags, type Given, known, positiveFlag, switchFlag, textFlag } from './flags.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Keys of OLMo's TrainConfig (olmo/config.py). */
const TABLE: FlagTable = {
  globalBatch: ['global-train-batch-size'],
  microBatch: ['device-train-microbatch-size'],
  sequenceLength: ['model.max-sequence-length'],
  optimizer: ['optimizer.name'],
}

/** OLMo: `torchrun scripts/train.py configs/OLMo-7B.yaml --key=value`. */
export const olmo: WorkloadReader = {
  name: 'olmo',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, processes }) {
    const words = configWords(commandLine)
    if (words.length === 0) return undefined
    const { flags, typed, warnings } = readConfigured(commandLine, words, files)
    if (!hasFlag(flags, ['model.max-sequence-length']) || !hasFlag(flags, ['model.d-model'])) return undefined
    const given = readTable(flags, TABLE)
    const shape = shapeOf(flags)
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'olmo'),
      method: sourced('full', { kind: 'assumed', reason: 'OLMo trains all parameters' }),
      ...withoutAbsent({
        ...durationOf(flags),
        modelName: shape && sourced(shape.value.name, shape.origin),
        model: shape,
        globalBatch: known(given.globalBatch),
        microBatch: known(given.microBatch),
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags),
        optimizer: given.optimizer,
        checkpoint: checkpointOf(flags),
        processes,
      }),
    }
    return { workload, warnings: [...warnings, ...explainRepeated(typed, [...namesOf(TABLE), 'max-duration'])] }
  },
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const first = commandLine.arguments.find(word => /^[^-=][^=]*\.ya?ml$/.test(word.written))
  return /(^|\/)train\.py$/.test(commandLine.program) && first !== undefined ? [first] : []
}

/** A bare number counts steps, `2e12T` tokens, `1ep` epochs (olmo/train.py, max_steps and max_epochs). */
function durationOf(flags: Flags): Pick<Workload, 'steps' | 'epochs' | 'tokens'> {
  const given = known(textFlag(flags, ['max-duration']))
  const [, count, unit = ''] = /^([\d._e+]+)(T|ep)?$/.exec(given?.value.trim() ?? '') ?? []
  const value = Number(count?.replaceAll('_', ''))
  if (given === undefined || !(value > 0)) return {}
  const amount = sourced(value, given.origin)
  if (unit === 'T') return { tokens: amount }
  return unit === 'ep' ? { epochs: amount } : { steps: amount }
}

function precisionFrom(flags: Flags): Workload['precision'] | undefined {
  const word = known(textFlag(flags, ['precision']))
  const precision = precisionOf(word?.value)
  return precision && word && sourced(precision, word.origin)
}

function checkpointOf(flags: Flags): Checkpointing | undefined {
  const destination = known(textFlag(flags, ['save-folder']))
  const intervalSteps = known(positiveFlag(flags, ['save-interval']))
  return destination && { destination, ...withoutAbsent({ intervalSteps }) }
}

/** OLMo's network (olmo/model.py): of SwiGLU's first layer half is the gate, so that its feed-forward is half as wide as is written. */
function shapeOf(flags: Flags): Sourced<Model> | undefined {
  const number = (name: string): Given<number> => positiveFlag(flags, [`model.${name}`])
  const isOn = (name: string): boolean => known(switchFlag(flags, [`model.${name}`]))?.value === true
  const hidden = known(number('d-model'))
  const width = number('mlp-hidden-size') ?? times(number('mlp-ratio'), hidden)
  if (hidden === undefined || width === undefined || width === 'unknown') return undefined
  const activation = known(textFlag(flags, ['model.activation-type']))?.value ?? 'swiglu'
  const isGated = activation === 'swiglu'
  const feedForward = isGated ? width.value / 2 : width.value
  return modelOfTransformer('olmo', {
    layers: number('n-layers'),
    hidden,
    heads: number('n-heads'),
    keyValueHeads: isOn('multi-query-attention') ? sourced(1, hidden.origin) : number('n-kv-heads'),
    feedForward: sourced(feedForward, {
      kind: 'computed',
      formula: isGated ? 'half of the written width' : 'as written',
    }),
    gatedFeedForward: isGated,
    vocabulary: number('embedding-size') ?? number('vocab-size'),
    contextLength: number('max-sequence-length'),
    tiedEmbeddings: known(switchFlag(flags, ['model.weight-tying']))?.value !== false,
    learnsPositions: !isOn('alibi') && !isOn('rope'),
  })
}

function times(ratio: Given<number>, hidden: Sourced<number> | undefined): Given<number> {
  if (ratio === undefined || ratio === 'unknown' || hidden === undefined) return ratio
  return sourced(ratio.value * hidden.value, { kind: 'computed', formula: 'd_model x mlp_ratio' })
}
