import type { CommandLine, CommandWord } from '../command-lines.ts'
import type { Model } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Parallelism, Workload } from '../workload.ts'
import { fsdpSharding, precisionOf } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  findFlag,
  type Given,
  known,
  positiveFlag,
  switchFlag,
  textFlag,
} from './flags.ts'
import { countingLaunch } from './processes.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Keys of LLM Foundry's train.py, which Composer's Trainer shares. */
const TABLE: FlagTable = {
  globalBatch: ['global-train-batch-size'],
  microBatch: ['device-train-microbatch-size'],
  sequenceLength: ['max-seq-len', 'variables.max-seq-len', 'train-loader.dataset.max-seq-len', 'model.max-seq-len'],
  modelName: ['model.pretrained-model-name-or-path'],
  dataset: ['train-loader.dataset.hf-name', 'train-loader.dataset.remote', 'train-loader.dataset.local'],
  optimizer: ['optimizer.name'],
}

/** LLM Foundry: `composer train.py recipe.yaml key=value`. */
export const llmFoundry: WorkloadReader = {
  name: 'llm-foundry',

  refersTo(commandLine) {
    return pathsOf(configWords(commandLine))
  },

  read(commandLine, { files, processes }) {
    const words = configWords(commandLine)
    if (words.length === 0) return undefined
    const configured = readConfigured(commandLine, words, files)
    const { flags, typed, warnings } = configured
    if (!hasFlag(flags, ['max-duration']) && countingLaunch(commandLine)?.launcher !== 'composer') return undefined
    const given = readTable(flags, TABLE)
    const shape = shapeOf(flags)
    const isEvaluation = /eval[^/]*\.py$/.test(commandLine.program)
    const values = withoutAbsent({
      modelName: known(given.modelName) ?? (shape && sourced(shape.value.name, shape.origin)),
      model: shape,
      sequenceLength: known(given.sequenceLength),
      precision: precisionFrom(flags),
      processes,
    })
    const run = { ...runOf(commandLine, isEvaluation ? 'evaluate' : 'train', 'llm-foundry'), ...values }
    if (isEvaluation) return { workload: run, warnings }
    const lies = known(given.dataset)
    const workload: Workload = {
      ...run,
      ...withoutAbsent({
        ...durationOf(flags, 'max-duration'),
        dataset: known(given.dataset),
        globalBatch: known(given.globalBatch),
        microBatch: known(given.microBatch),
        parallelism: splitOf(configured, commandLine),
        activationRecompute: recomputeOf(flags),
        method: methodOf(configured),
        optimizer: given.optimizer,
        checkpoint: checkpointOf(flags),
      }),
    }
    return {
      workload,
      ...(lies !== undefined && /\//.test(lies.value) && { dataFolder: lies }),
      warnings: [...warnings, ...explainRepeated(typed, [...namesOf(TABLE), 'max-duration'])],
    }
  },
}

function configWords(commandLine: CommandLine): CommandWord[] {
  const isTrainer = /(^|\/)(train|eval)[\w-]*\.py$/.test(commandLine.program)
  const first = commandLine.arguments.find(word => /\.ya?ml$/.test(word.written))
  return isTrainer && first !== undefined && !/[=-]/.test(first.written.charAt(0)) && !first.written.includes('=')
    ? [first]
    : []
}

/** Composer's times: `10ba` batches, `3ep` epochs, `2e9tok` tokens, `5000sp` samples; a bare number counts epochs. */
function durationOf(flags: Flags, name: string): Pick<Workload, 'steps' | 'epochs' | 'tokens' | 'samples'> {
  const given = known(textFlag(flags, [name]))
  const [, count, unit = 'ep'] = /^\s*([\d._e+]+)\s*(ba|ep|tok|sp)?\s*$/i.exec(given?.value ?? '') ?? []
  const value = Number(count?.replaceAll('_', ''))
  if (given === undefined || !(value > 0)) return {}
  const amount = sourced(value, given.origin)
  if (unit === 'ba') return { steps: amount }
  if (unit === 'tok') return { tokens: amount }
  return unit === 'sp' ? { samples: amount } : { epochs: amount }
}

function precisionFrom(flags: Flags): Workload['precision'] | undefined {
  const word = known(textFlag(flags, ['precision']))
  const precision = precisionOf(word?.value)
  return precision && word && sourced(precision, word.origin)
}

/** Without a section for FSDP every GPU keeps the whole model. */
function splitOf({ flags, isComplete }: Configured, commandLine: CommandLine): Sourced<Parallelism> | undefined {
  if (!isComplete) return undefined
  const strategy = textFlag(flags, ['fsdp-config.sharding-strategy'])
  const usesFsdp = flags.list.some(flag => flag.name.startsWith('fsdp-config.'))
  const sharding =
    strategy === 'unknown' ? 'unknown' : usesFsdp ? fsdpSharding(strategy?.value ?? 'FULL_SHARD') : ('none' as const)
  const split = { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding }
  return sourced(
    split,
    strategy === undefined || strategy === 'unknown' ? { kind: 'manifest', place: commandLine.place } : strategy.origin,
  )
}

function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const isOn = known(switchFlag(flags, ['fsdp-config.activation-checkpointing']))
  return isOn && sourced(isOn.value ? 'full' : 'none', isOn.origin)
}

function methodOf({ flags, isComplete }: Configured): Workload['method'] | undefined {
  const adapter = findFlag(flags, [
    'peft-config.peft-type',
    'model.peft-config.peft-type',
    'peft-config.r',
    'model.peft-config.r',
  ])
  if (adapter !== undefined) return sourced('lora', adapter.origin)
  return isComplete ? sourced('full', { kind: 'assumed', reason: 'no adapter is asked for' }) : undefined
}

function checkpointOf(flags: Flags): Checkpointing | undefined {
  const destination = known(textFlag(flags, ['save-folder']))
  if (destination === undefined) return undefined
  const interval = durationOf(flags, 'save-interval')
  const weightsOnly = known(switchFlag(flags, ['save-weights-only']))
  return {
    destination,
    ...withoutAbsent({
      intervalSteps: interval.steps,
      intervalEpochs: interval.epochs,
      content: weightsOnly && sourced(weightsOnly.value ? ('weights' as const) : ('full' as const), weightsOnly.origin),
      resumes: known(switchFlag(flags, ['autoresume'])),
    }),
  }
}

/** MPT's network (mpt/configuration_mpt.py and its defaults): four times as wide, tokens' table shared, positions learned unless ALiBi. */
function shapeOf(flags: Flags): Sourced<Model> | undefined {
  const number = (name: string): Given<number> => positiveFlag(flags, [`model.${name}`])
  const hidden = number('d-model')
  const ratio = number('expansion-ratio') ?? sourced(4, { kind: 'assumed' as const, reason: "MPT's own default" })
  const kind = known(textFlag(flags, ['model.ffn-config.ffn-type']))?.value ?? 'mptmlp'
  if (known(textFlag(flags, ['model.name']))?.value !== 'mpt_causal_lm' || !/^(mptmlp|mptglu)$/.test(kind))
    return undefined
  if (hidden === undefined || hidden === 'unknown' || ratio === 'unknown') return undefined
  const isOn = (name: string): boolean => known(switchFlag(flags, [name]))?.value === true
  const isTied = known(switchFlag(flags, ['model.tie-word-embeddings']))?.value !== false
  const learns = known(switchFlag(flags, ['model.learned-pos-emb']))?.value !== false
  return modelOfTransformer('mpt', {
    layers: number('n-layers'),
    hidden,
    heads: number('n-heads'),
    keyValueHeads: number('attn-config.kv-n-heads'),
    feedForward: sourced(hidden.value * ratio.value, { kind: 'computed', formula: 'd_model x expansion_ratio' }),
    gatedFeedForward: kind === 'mptglu',
    vocabulary: number('vocab-size'),
    contextLength: number('max-seq-len'),
    tiedEmbeddings: isTied,
    learnsPositions: learns && !isOn('model.attn-config.alibi') && !isOn('model.attn-config.rope'),
  })
}
