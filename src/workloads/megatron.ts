import type { CommandLine } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import type { Model, ModelKind, ModelTable, TransformerShape } from '../model.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Checkpointing, Parallelism, Precision, Workload } from '../workload.ts'
import { findFile, readDeepspeedConfig, referredPath, ZERO_STAGES } from './config-files.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import {
  explainRepeated,
  type Flags,
  findFlag,
  known,
  numberFlag,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { vocabularyOf } from './megatron-vocabulary.ts'
import { purposeOfProgram } from './program-purpose.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { modelOfShape } from './written-shape.ts'

/** Names of Megatron-LM's arguments.py; Megatron-DeepSpeed has the same. */
const TABLE: FlagTable = {
  steps: ['train-iters'],
  samples: ['train-samples'],
  globalBatch: ['global-batch-size'],
  microBatch: ['micro-batch-size'],
  sequenceLength: ['seq-length', 'encoder-seq-length'],
  optimizer: ['optimizer'],
}

const DEGREES: DegreeNames = {
  tensor: ['tensor-model-parallel-size', 'tensor-parallel-size'],
  pipeline: ['pipeline-model-parallel-size', 'pipeline-parallel-size'],
  context: ['context-parallel-size'],
  expert: ['expert-model-parallel-size'],
}

const SHAPE_FLAGS = ['num-layers', 'hidden-size', 'num-attention-heads']
const OWN_FLAGS = ['micro-batch-size', 'train-iters', 'train-samples', 'tensor-model-parallel-size']

const once = sourced(1, { kind: 'assumed', reason: 'no global batch is given: Megatron-LM accumulates nothing then' })

/** Megatron-LM and its relatives, whose flags describe the network itself. */
export const megatron: WorkloadReader = {
  name: 'megatron-lm',

  refersTo(commandLine) {
    const file = findFlag(readFlags(commandLine), ['deepspeed-config'])?.value
    return [referredPath(file) ?? []].flat()
  },

  read(commandLine, { processes, files, models }) {
    const flags = readFlags(commandLine)
    if (!SHAPE_FLAGS.every(name => hasFlag(flags, [name])) || !hasFlag(flags, OWN_FLAGS)) return undefined
    const given = readTable(flags, TABLE)
    const origin: Origin = { kind: 'manifest', place: commandLine.place }
    const warnings: Warning[] = []
    const usesDeepspeed = hasFlag(flags, ['deepspeed', 'zero-stage', 'deepspeed-config'])
    const configWord = findFlag(flags, ['deepspeed-config'])?.value
    const file = configWord === undefined ? undefined : findFile(configWord, commandLine, files)
    if (file !== undefined && 'warning' in file) warnings.push(file.warning)
    const config = file !== undefined && 'text' in file ? readDeepspeedConfig(file.text, file.origin) : undefined
    const parallelism = parallelismOf(flags, config?.sharding?.value, origin)
    const shape = shapeOf(flags, commandLine, models)
    const workload: Workload = {
      purpose: hasFlag(flags, ['inference']) ? 'evaluate' : purposeOfProgram(commandLine, flags),
      framework: sourced(usesDeepspeed ? 'megatron-deepspeed' : 'megatron-lm', origin),
      place: commandLine.place,
      role: '',
      repetitions: commandLine.repetitions,
      conditional: commandLine.conditional,
      method: sourced('full', { kind: 'assumed', reason: 'Megatron-LM trains all parameters' }),
      ...withoutAbsent({
        modelName: shape && sourced(shape.value.name, shape.origin),
        model: shape,
        steps: known(given.steps),
        samples: known(given.samples),
        globalBatch: known(given.globalBatch) ?? config?.globalBatch,
        microBatch: known(given.microBatch) ?? config?.microBatch,
        gradientAccumulation: given.globalBatch === undefined && config?.globalBatch === undefined ? once : undefined,
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags) ?? config?.precision,
        parallelism,
        activationRecompute: recomputeOf(flags),
        flashAttention: known(switchFlag(flags, ['use-flash-attn', 'use-flash-attn-v2'])),
        optimizer: given.optimizer,
        cpuOffload: known(switchFlag(flags, ['cpu-optimizer', 'optimizer-cpu-offload'])) ?? config?.cpuOffload,
        checkpoint: checkpointOf(flags),
        processes,
      }),
    }
    return {
      workload,
      notDerived: hasFlag(flags, ['rampup-batch-size']) ? ['steps'] : [],
      warnings: [...warnings, ...explainRepeated(flags, [...namesOf(TABLE), ...SHAPE_FLAGS])],
    }
  },
}

function parallelismOf(
  flags: Flags,
  zero: Parallelism['sharding'] | undefined,
  origin: Origin,
): Sourced<Parallelism> | undefined {
  const degrees = degreesOf(flags, DEGREES)
  if (degrees === undefined) return undefined
  const layersPerChunk = known(numberFlag(flags, ['num-layers-per-virtual-pipeline-stage']))?.value
  const layers = known(numberFlag(flags, ['num-layers']))?.value
  const interleave =
    layersPerChunk === undefined || layers === undefined
      ? 1
      : Math.max(1, Math.round(layers / degrees.pipeline / layersPerChunk))
  const stage = known(numberFlag(flags, ['zero-stage']))?.value
  const sharding =
    stage !== undefined
      ? (ZERO_STAGES[stage] ?? 'unknown')
      : (zero ?? (hasFlag(flags, ['use-distributed-optimizer']) ? 'optimizer' : 'none'))
  return sourced({ ...degrees, interleave, sharding }, origin)
}

function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const fp8 = findFlag(flags, ['fp8-format', 'fp8-hybrid', 'fp8-e4m3'])
  if (fp8 !== undefined) return sourced('fp8', { kind: 'manifest', place: fp8.place })
  for (const name of ['bf16', 'fp16'] as const) {
    const on = known(switchFlag(flags, [name]))
    if (on?.value === true) return sourced(name, on.origin)
  }
  return undefined
}

/** Megatron recomputes nothing unless told; `--recompute-activations` is the selective kind (arguments.py). */
function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const granularity = textFlag(flags, ['recompute-granularity'])
  if (granularity === 'unknown') return undefined
  if (granularity?.value === 'full' || granularity?.value === 'selective')
    return sourced(granularity.value, granularity.origin)
  const full = findFlag(flags, ['checkpoint-activations', 'recompute-method', 'deepspeed-activation-checkpointing'])
  if (full !== undefined) return sourced('full', { kind: 'manifest', place: full.place })
  const selective = findFlag(flags, ['recompute-activations'])
  if (selective !== undefined) return sourced('selective', { kind: 'manifest', place: selective.place })
  return sourced('none', { kind: 'assumed', reason: "Megatron-LM's own default" })
}

/** `--save` names the folder; a run goes on from what it finds in `--load` (arguments.py, checkpointing). */
function checkpointOf(flags: Flags): Checkpointing | undefined {
  const destination = known(textFlag(flags, ['save']))
  if (destination === undefined) return undefined
  const load = known(textFlag(flags, ['load']))
  const leavesOut = known(switchFlag(flags, ['no-save-optim']))?.value === true
  return {
    destination,
    content: sourced(leavesOut ? 'weights' : 'full', destination.origin),
    resumes: sourced(load?.value === destination.value, (load ?? destination).origin),
    ...withoutAbsent({ intervalSteps: known(positiveFlag(flags, ['save-interval'])) }),
  }
}

/** The network that the flags describe, its parameters counted; undefined where a dimension is not known. */
function shapeOf(flags: Flags, commandLine: CommandLine, models: ModelTable): Sourced<Model> | undefined {
  const number = (...names: string[]) => numberFlag(flags, names)
  const dimension = (...names: string[]) => known(positiveFlag(flags, names))
  const layers = dimension('num-layers', 'encoder-num-layers')
  const hidden = dimension('hidden-size')
  const heads = dimension('num-attention-heads')
  const feedForward = number('ffn-hidden-size')
  const groups = number('num-query-groups')
  const vocabulary = vocabularyOf(flags, models)
  const experts = expertsOf(flags)
  if (layers === undefined || hidden === undefined || heads === undefined) return undefined
  if (feedForward === 'unknown' || groups === 'unknown' || experts === 'unknown' || vocabulary === undefined)
    return undefined
  const program = baseName(commandLine.program).toLowerCase()
  // T5 and vision networks are put together otherwise.
  if (/t5|vision|vit|retro|ict|dino/.test(program)) return undefined
  const kind: ModelKind = /bert/.test(program) ? 'encoder' : 'decoder'
  const gated = hasFlag(flags, ['swiglu', 'geglu'])
  const context = known(number('max-position-embeddings', 'seq-length'))?.value ?? 0
  const width = feedForward?.value ?? defaultFeedForward(hidden.value, gated)
  const shape: TransformerShape = {
    layers: layers.value,
    hidden: hidden.value,
    heads: heads.value,
    keyValueHeads: hasFlag(flags, ['group-query-attention']) ? (groups?.value ?? 1) : heads.value,
    headSize: known(number('kv-channels'))?.value ?? hidden.value / heads.value,
    feedForward: width,
    gatedFeedForward: gated,
    vocabulary: vocabulary.count,
    contextLength: context,
    tiedEmbeddings: !hasFlag(flags, ['untie-embeddings-and-output-weights']),
    ...(experts === undefined
      ? {}
      : { experts: { ...experts, feedForward: experts.feedForward ?? width, denseLayers: 0 } }),
  }
  const learnedPositions =
    known(textFlag(flags, ['position-embedding-type']))?.value ??
    (hasFlag(flags, ['use-rotary-position-embeddings']) ? 'rope' : 'learned_absolute')
  const positions = learnedPositions === 'learned_absolute' ? context : 0
  const isLikeLlama = gated && positions === 0 && known(textFlag(flags, ['normalization']))?.value === 'RMSNorm'
  const family = kind === 'encoder' ? 'bert' : isLikeLlama ? 'llama-like' : 'gpt'
  const name = `${family} ${layers.value}x${hidden.value}`
  const formula = `parameters of ${name} by its flags${vocabulary.assumed ? ', GPT-2 vocabulary assumed' : ''}`
  return modelOfShape(name, kind, shape, positions, formula)
}

/** Four times the width, of which a gated layer takes two thirds in steps of 64 (arguments.py). */
function defaultFeedForward(hidden: number, gated: boolean): number {
  return gated ? Math.trunc((4 * hidden * 2) / 3 / 64) * 64 : 4 * hidden
}

interface Experts {
  readonly count: number
  readonly perToken: number
  readonly shared: number
  readonly feedForward: number | undefined
}

function expertsOf(flags: Flags): Experts | 'unknown' | undefined {
  const count = numberFlag(flags, ['num-experts'])
  if (count === undefined || count === 'unknown') return count
  if (count.value < 2) return undefined
  const perToken = numberFlag(flags, ['moe-router-topk'])
  const width = numberFlag(flags, ['moe-ffn-hidden-size'])
  const shared = numberFlag(flags, ['moe-shared-expert-intermediate-size'])
  if (perToken === 'unknown' || width === 'unknown' || shared === 'unknown') return 'unknown'
  const everyLayer = findFlag(flags, ['moe-layer-freq'])
  if (everyLayer !== undefined && everyLayer.value?.text !== '1') return 'unknown'
  const sharedExperts = shared === undefined || width === undefined ? 0 : shared.value / width.value
  // Two experts a token is Megatron's default (arguments.py, moe-router-topk).
  return { count: count.value, perToken: perToken?.value ?? 2, shared: sharedExperts, feedForward: width?.value }
}
