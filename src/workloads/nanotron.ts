import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Model } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Parallelism, Workload } from '../workload.ts'
import { precisionOf, ZERO_STAGES } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import {
  type Flags,
  findFlag,
  type Given,
  known,
  numberFlag,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { type FlagTable, hasFlag, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Keys of nanotron's configuration (nanotron/config/config.py). */
const TABLE: FlagTable = {
  steps: ['tokens.train-steps'],
  microBatch: ['tokens.micro-batch-size'],
  gradientAccumulation: ['tokens.batch-accumulation-per-replica'],
  sequenceLength: ['tokens.sequence-length'],
  optimizer: ['optimizer.optimizer-factory.name'],
}

const DEGREES: DegreeNames = {
  tensor: ['parallelism.tp'],
  pipeline: ['parallelism.pp'],
  context: ['parallelism.context-parallel-size'],
  expert: ['parallelism.expert-parallel-size'],
}

/** nanotron: `torchrun run_train.py --config-file config.yaml`; all that counts stands in the file. */
export const nanotron: WorkloadReader = {
  name: 'nanotron',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, processes }) {
    const words = configWords(commandLine)
    if (words.length === 0) return undefined
    const { flags, warnings } = readConfigured(commandLine, words, files)
    if (!hasFlag(flags, ['tokens.train-steps']) || !hasFlag(flags, ['parallelism.dp'])) return undefined
    const given = readTable(flags, TABLE)
    const shape = shapeOf(flags)
    const word = known(textFlag(flags, ['model.dtype']))
    const precision = precisionOf(word?.value)
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'nanotron'),
      method: sourced('full', { kind: 'assumed', reason: 'nanotron trains all parameters' }),
      ...withoutAbsent({
        modelName: shape && sourced(shape.value.name, shape.origin),
        model: shape,
        dataset: datasetOf(flags),
        steps: known(given.steps),
        globalBatch: globalBatch(flags, known(given.microBatch), known(given.gradientAccumulation)),
        microBatch: known(given.microBatch),
        gradientAccumulation: known(given.gradientAccumulation),
        sequenceLength: known(given.sequenceLength),
        precision: precision && word && sourced(precision, word.origin),
        parallelism: splitOf(flags, commandLine),
        optimizer: given.optimizer,
        checkpoint: checkpointOf(flags),
        processes,
      }),
    }
    return { workload, warnings }
  },
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const config = findFlag(readFlags(commandLine), ['config-file'])?.value
  return /(^|\/)run_train\w*\.py$/.test(commandLine.program) && config !== undefined && /\.ya?ml$/.test(config.written)
    ? [config]
    : []
}

/** Replicas times the batch of each times what it accumulates. */
function globalBatch(
  flags: Flags,
  microBatch: Sourced<number> | undefined,
  accumulation: Sourced<number> | undefined,
): Sourced<number> | undefined {
  const replicas = known(positiveFlag(flags, ['parallelism.dp']))
  if (replicas === undefined || microBatch === undefined || accumulation === undefined) return undefined
  const formula = `${microBatch.value} per replica x ${accumulation.value} accumulated x ${replicas.value} replicas`
  return sourced(microBatch.value * accumulation.value * replicas.value, { kind: 'computed', formula })
}

/** Of several stages, each with data of its own, no one is that of the run. */
function datasetOf(flags: Flags): Sourced<string> | undefined {
  const isStaged = flags.list.some(({ name }) => name.startsWith('data-stages.1.'))
  return isStaged ? undefined : known(textFlag(flags, ['data-stages.0.data.dataset.hf-dataset-or-datasets']))
}

function splitOf(flags: Flags, { place }: CommandLine): Sourced<Parallelism> | undefined {
  const degrees = degreesOf(flags, DEGREES)
  const stage = known(numberFlag(flags, ['optimizer.zero-stage']))?.value ?? 0
  const sharding = ZERO_STAGES[stage]
  return degrees && sharding && sourced({ ...degrees, interleave: 1, sharding }, { kind: 'manifest', place })
}

function checkpointOf(flags: Flags): Checkpointing | undefined {
  const destination = known(textFlag(flags, ['checkpoints.checkpoints-path']))
  const intervalSteps = known(positiveFlag(flags, ['checkpoints.checkpoint-interval']))
  return destination && { destination, ...withoutAbsent({ intervalSteps }) }
}

/** A network of Llama's kind, by the names of its configuration on the Hub. */
function shapeOf(flags: Flags): Sourced<Model> | undefined {
  const number = (name: string): Given<number> => positiveFlag(flags, [`model.model-config.${name}`])
  const isGated = known(textFlag(flags, ['model.model-config.hidden-act']))?.value === 'silu'
  if (!isGated) return undefined
  return modelOfTransformer('llama', {
    layers: number('num-hidden-layers'),
    hidden: number('hidden-size'),
    heads: number('num-attention-heads'),
    keyValueHeads: number('num-key-value-heads'),
    feedForward: number('intermediate-size'),
    gatedFeedForward: isGated,
    vocabulary: number('vocab-size'),
    contextLength: number('max-position-embeddings'),
    tiedEmbeddings: known(switchFlag(flags, ['model.model-config.tie-word-embeddings']))?.value === true,
    learnsPositions: false,
  })
}
