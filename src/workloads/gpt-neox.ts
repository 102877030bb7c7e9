import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import type { Model, ModelTable } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Parallelism, Precision, Workload } from '../workload.ts'
import { ZERO_STAGES } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import { type Flags, type Given, known, numberFlag, positiveFlag, switchFlag, textFlag } from './flags.ts'
import { vocabularyOf } from './megatron-vocabulary.ts'
import { type FlagTable, hasFlag, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Names of GPT-NeoX's arguments, which are Megatron's and DeepSpeed's (configs/neox_arguments.md). */
const TABLE: FlagTable = {
  steps: ['train-iters'],
  globalBatch: ['train-batch-size'],
  microBatch: ['train-micro-batch-size-per-gpu'],
  gradientAccumulation: ['gradient-accumulation-steps', 'gas'],
  sequenceLength: ['seq-length'],
  optimizer: ['optimizer.type'],
}

const DEGREES: DegreeNames = {
  tensor: ['model-parallel-size'],
  pipeline: ['pipe-parallel-size'],
  context: ['context-parallel-size'],
}

const once = sourced(1, { kind: 'assumed', reason: 'GPT-NeoX accumulates nothing unless told' })

/** GPT-NeoX: `deepy.py train.py [-d folder] one.yml two.yml`, all files together being one configuration. */
export const gptNeox: WorkloadReader = {
  name: 'gpt-neox',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, models, peers, processes }) {
    const words = configWords(commandLine)
    if (words.length === 0) return undefined
    const { flags, isComplete, warnings } = readConfigured(commandLine, words, files, { list: [], positionals: [] })
    const program = commandLine.arguments[0]?.written ?? ''
    const given = readTable(flags, TABLE)
    const purpose = /eval/.test(program) ? 'evaluate' : /generate/.test(program) ? 'infer' : 'train'
    const common = withoutAbsent({
      model: shapeOf(flags, models),
      sequenceLength: known(given.sequenceLength),
      precision: precisionFrom(flags),
      parallelism: splitOf(flags, commandLine),
      microBatch: known(given.microBatch),
      // deepy.py starts DeepSpeed, which takes every GPU of the machines it is given.
      processes:
        processes ??
        (peers.gpuCount > 0
          ? sourced(peers.gpuCount, {
              kind: 'computed',
              formula: `deepy.py starts a process on each of ${peers.gpuCount} GPUs`,
            })
          : undefined),
    })
    const workload: Workload = {
      ...runOf(commandLine, purpose, 'gpt-neox'),
      ...common,
      ...(common.model && { modelName: sourced(common.model.value.name, common.model.origin) }),
    }
    if (purpose !== 'train') return { workload, warnings }
    const accumulation =
      given.gradientAccumulation ?? (given.globalBatch === undefined && isComplete ? once : undefined)
    return {
      workload: {
        ...workload,
        method: sourced('full', { kind: 'assumed', reason: 'GPT-NeoX trains all parameters' }),
        ...withoutAbsent({
          steps: known(given.steps),
          globalBatch: known(given.globalBatch),
          gradientAccumulation: known(accumulation),
          optimizer: given.optimizer,
          activationRecompute: recomputeOf(flags),
          checkpoint: checkpointOf(flags),
        }),
      },
      warnings,
    }
  },
}

/** The files after deepy.py and its program; `-d` or `--conf_dir` names their folder, and endings may be left out. */
function configWords(commandLine: CommandLine): CommandWord[] {
  if (baseName(commandLine.program) !== 'deepy.py') return []
  const [program, ...rest] = commandLine.arguments
  if (program === undefined || !/\.py$/.test(program.written)) return []
  const at = rest.findIndex(word => /^(-d|--conf_dir)$/.test(word.written))
  const folder = at < 0 ? undefined : rest[at + 1]
  const names = rest.filter((word, index) => !word.written.startsWith('-') && (at < 0 || index !== at + 1))
  return names.map(word => {
    const path = (text: string) => {
      const ended = /\.(ya?ml|json)$/.test(text) ? text : `${text}.yml`
      return folder === undefined ? ended : `${folder.written.replace(/\/$/, '')}/${ended}`
    }
    const isKnown = word.text !== undefined && (folder === undefined || folder.text !== undefined)
    return { text: isKnown ? path(word.written) : undefined, written: path(word.written), place: word.place }
  })
}

function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const named = textFlag(flags, ['precision'])
  const word = known(named)
  if (named === 'unknown') return undefined
  if (word?.value === 'bfloat16') return sourced('bf16', word.origin)
  if (word?.value === 'fp16' || word?.value === 'fp32') return sourced(word.value, word.origin)
  if (known(textFlag(flags, ['fp16.type']))?.value === 'bfloat16') {
    const isOn = known(switchFlag(flags, ['fp16.enabled']))
    if (isOn?.value === true) return sourced('bf16', isOn.origin)
  }
  for (const [name, precision] of [
    ['bf16.enabled', 'bf16'],
    ['fp16.enabled', 'fp16'],
  ] as const) {
    const isOn = known(switchFlag(flags, [name]))
    if (isOn?.value === true) return sourced(precision, isOn.origin)
  }
  return undefined
}

function splitOf(flags: Flags, commandLine: CommandLine): Sourced<Parallelism> | undefined {
  const degrees = degreesOf(flags, DEGREES)
  if (degrees === undefined) return undefined
  const stage = numberFlag(flags, ['zero-optimization.stage'])
  const sharding = stage === undefined ? 'none' : (stage !== 'unknown' && ZERO_STAGES[stage.value]) || 'unknown'
  // GPT-NeoX writes 0, too, for a model that is not cut into stages.
  const split = { ...degrees, pipeline: Math.max(1, degrees.pipeline), tensor: Math.max(1, degrees.tensor) }
  return sourced({ ...split, interleave: 1, sharding }, { kind: 'manifest', place: commandLine.place })
}

function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const isOn = known(switchFlag(flags, ['checkpoint-activations']))
  return isOn && sourced(isOn.value ? 'full' : 'none', isOn.origin)
}

/** `save` and `load` name folders; a run goes on from what it finds in `load`. */
function checkpointOf(flags: Flags): Checkpointing | undefined {
  const destination = known(textFlag(flags, ['save']))
  if (destination === undefined) return undefined
  const weightsOnly = known(switchFlag(flags, ['no-save-optim']))?.value === true
  const load = known(textFlag(flags, ['load']))
  return {
    destination,
    content: sourced(weightsOnly ? 'weights' : 'full', destination.origin),
    resumes: sourced(load?.value === destination.value, (load ?? destination).origin),
    ...withoutAbsent({ intervalSteps: known(positiveFlag(flags, ['checkpoint-factor', 'save-interval'])) }),
  }
}

function shapeOf(flags: Flags, models: ModelTable): Sourced<Model> | undefined {
  const number = (...names: string[]): Given<number> => positiveFlag(flags, names)
  const hidden = number('hidden-size')
  const activation = known(textFlag(flags, ['activation']))?.value ?? 'gelu'
  const isGated = /swiglu|geglu|glu$/.test(activation) || known(textFlag(flags, ['mlp-type']))?.value === 'llama'
  const width = number('intermediate-size', 'ffn-hidden-size')
  if (hasFlag(flags, ['moe-num-experts', 'num-experts'])) return undefined
  const positions = known(textFlag(flags, ['pos-emb']))?.value ?? 'learned'
  const vocabulary = vocabularyOf(flags, models)
  const computed = (value: number): Given<number> =>
    sourced(value, { kind: 'computed', formula: 'by the configuration' })
  const usual = hidden === undefined || hidden === 'unknown' ? hidden : computed(usualWidth(hidden.value, isGated))
  return modelOfTransformer('gpt-neox', {
    layers: number('num-layers'),
    hidden,
    heads: number('num-attention-heads'),
    keyValueHeads: number('num-kv-heads'),
    feedForward: width ?? usual,
    gatedFeedForward: isGated,
    vocabulary: vocabulary === undefined ? undefined : computed(vocabulary.count),
    contextLength: number('max-position-embeddings', 'seq-length'),
    tiedEmbeddings: known(switchFlag(flags, ['no-weight-tying']))?.value !== true,
    learnsPositions: positions === 'learned',
  })
}

/** Four times the hidden size; of a gated layer two thirds of that, up to the next 256 (LLaMAParallelMLP). */
function usualWidth(hidden: number, isGated: boolean): number {
  return isGated ? Math.ceil((hidden * 8) / 3 / 256) * 256 : 4 * hidden
}
