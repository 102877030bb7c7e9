import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Model } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Precision, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  type Given,
  known,
  numberFlag,
  positiveFlag,
  switchFlag,
  textFlag,
} from './flags.ts'
import type { Peers } from './processes.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Keys of MaxText's configs/base.yml. */
const TABLE: FlagTable = {
  steps: ['steps'],
  sequenceLength: ['max-target-length'],
  dataset: ['dataset-name', 'hf-path', 'dataset-path'],
  optimizer: ['opt-type'],
}

/** MaxText: `python -m MaxText.train base.yml key=value`. */
export const maxtext: WorkloadReader = {
  name: 'maxtext',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, peers }) {
    if (!/(^|\/)maxtext[./](\w+[./])*(train|sft\w*)(\.py)?$/i.test(commandLine.program)) return undefined
    const { flags, typed, warnings } = readConfigured(commandLine, configWords(commandLine), files)
    const given = readTable(flags, TABLE)
    const name = known(textFlag(flags, ['model-name']))
    const isNamed = name !== undefined && name.value !== 'default'
    const shape = isNamed ? undefined : shapeOf(flags)
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'maxtext'),
      method: sourced('full', { kind: 'assumed', reason: 'MaxText trains all parameters' }),
      ...withoutAbsent({
        modelName: isNamed ? name : shape && sourced(shape.value.name, shape.origin),
        model: shape,
        dataset: known(given.dataset),
        steps: known(given.steps),
        globalBatch: globalBatch(flags, peers),
        microBatch: microBatch(flags),
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags),
        activationRecompute: recomputeOf(flags),
        optimizer: given.optimizer,
        checkpoint: checkpointOf(flags),
      }),
    }
    return { workload, warnings: [...warnings, ...explainRepeated(typed, namesOf(TABLE))] }
  },
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const first = commandLine.arguments[0]
  return first !== undefined && /^[^=]+\.ya?ml$/.test(first.written) ? [first] : []
}

/** JAX works on every GPU there is, and each gets so many sequences, which may be a part of one (pyconfig.py). */
function globalBatch(flags: Flags, { gpuCount }: Peers): Sourced<number> | undefined {
  const perDevice = known(positiveFlag(flags, ['per-device-batch-size']))
  const accumulation = positiveFlag(flags, ['gradient-accumulation-steps'])
  if (perDevice === undefined || accumulation === 'unknown' || gpuCount === 0) return undefined
  const times = accumulation?.value ?? 1
  const batch = perDevice.value * gpuCount * times
  const formula = `${perDevice.value} per GPU x ${gpuCount} GPUs${times === 1 ? '' : ` x ${times} accumulated`}`
  return Number.isInteger(batch) ? sourced(batch, { kind: 'computed', formula }) : undefined
}

/** What each device gets is a process's own batch, unless several share a sequence. */
function microBatch(flags: Flags): Sourced<number> | undefined {
  const perDevice = known(positiveFlag(flags, ['per-device-batch-size']))
  const splits = flags.list.filter(({ name }) =>
    /^(ici|dcn)-(tensor|context|sequence|pipeline)\w*(-\w+)*-parallelism$/.test(name),
  )
  const isWhole = perDevice !== undefined && Number.isInteger(perDevice.value)
  return isWhole && splits.every(({ value }) => value?.text === '1') ? perDevice : undefined
}

function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const quantization = textFlag(flags, ['quantization'])
  if (quantization !== undefined && quantization !== 'unknown' && /fp8/.test(quantization.value))
    return sourced('fp8', quantization.origin)
  const word = known(textFlag(flags, ['dtype']))
  const precision = precisionOf(word?.value)
  return precision && word && sourced(precision, word.origin)
}

/** Of its policies only `full` is one of the three that are told apart here. */
function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const policy = known(textFlag(flags, ['remat-policy']))
  return policy?.value === 'full' ? sourced('full', policy.origin) : undefined
}

/** A run goes on from the last checkpoint of its name (configs/base.yml, "Checkpointing"). */
function checkpointOf(flags: Flags): Checkpointing | undefined {
  const isOn = known(switchFlag(flags, ['enable-checkpointing']))
  const destination = known(textFlag(flags, ['base-output-directory']))
  if (isOn?.value === false || (isOn ?? destination) === undefined) return undefined
  return withoutAbsent({
    destination,
    intervalSteps: known(positiveFlag(flags, ['checkpoint-period'])),
    resumes: isOn && sourced(true, isOn.origin),
  })
}

function shapeOf(flags: Flags): Sourced<Model> | undefined {
  const number = (name: string): Given<number> => positiveFlag(flags, [name])
  const experts = numberFlag(flags, ['num-experts'])
  const scale = numberFlag(flags, ['global-parameter-scale'])
  const isPlain = [experts, scale].every(value => value === undefined || (value !== 'unknown' && value.value === 1))
  if (!isPlain || !hasFlag(flags, ['base-emb-dim'])) return undefined
  return modelOfTransformer('maxtext', {
    layers: number('base-num-decoder-layers'),
    hidden: number('base-emb-dim'),
    heads: number('base-num-query-heads'),
    keyValueHeads: number('base-num-kv-heads'),
    headSize: number('head-dim'),
    feedForward: number('base-mlp-dim'),
    gatedFeedForward: flags.list.filter(flag => /^mlp-activations\.\d$/.test(flag.name)).length === 2,
    vocabulary: number('vocab-size'),
    contextLength: number('max-target-length'),
    tiedEmbeddings: known(switchFlag(flags, ['logits-via-embedding']))?.value === true,
    learnsPositions: false,
  })
}
