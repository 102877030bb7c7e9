import { baseName } from '../launchers.ts'
import type { Model } from '../model.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Workload } from '../workload.ts'
import { ZERO_STAGES } from './config-files.ts'
import { runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  type Given,
  known,
  numberFlag,
  positiveFlag,
  readFlags,
  textFlag,
} from './flags.ts'
import { hasFlag } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'
import { gpt2Shape, modelOfShape } from './written-shape.ts'

/** Width and heads by depth (llm.c, gpt2_set_hyperparameters). */
const NETWORKS: Readonly<Record<string, readonly [hidden: number, heads: number]>> = {
  d6: [384, 6],
  d12: [768, 12],
  d24: [1024, 16],
  d36: [1280, 20],
  d48: [1600, 25],
  d60: [1920, 30],
}
/** Sizes in the names of the checkpoints of GPT-2 that llm.c comes with. */
const CHECKPOINTS: readonly (readonly [RegExp, string])[] = [
  [/gpt2_124M/, 'd12'],
  [/gpt2_355M/, 'd24'],
  [/gpt2_774M/, 'd36'],
  [/gpt2_1558M/, 'd48'],
]
/** GPT-2's 50,257 tokens, padded, and its longest sequence (llm.c, gpt2_set_hyperparameters). */
const VOCABULARY = 50_304
const CONTEXT = 1024

/** Names of the same values in the program in CUDA and in the one in Python that it is checked against. */
interface Names {
  readonly steps: readonly string[]
  readonly microBatch: readonly string[]
  readonly sequenceLength: readonly string[]
  readonly tokensOfStep: readonly string[]
  readonly network: readonly string[]
  readonly stage: readonly string[]
}
const IN_CUDA: Names = {
  steps: ['x'],
  microBatch: ['b'],
  sequenceLength: ['t'],
  tokensOfStep: ['d'],
  network: ['e'],
  stage: ['z'],
}
const IN_PYTHON: Names = {
  steps: ['num-iterations'],
  microBatch: ['batch-size'],
  sequenceLength: ['sequence-length'],
  tokensOfStep: ['total-batch-size'],
  network: ['model'],
  stage: ['zero-stage'],
}
/** nanochat's pretraining; its number of steps follows from the size of the network unless it is told one. */
const IN_NANOCHAT: Names = {
  steps: ['num-iterations'],
  microBatch: ['device-batch-size'],
  sequenceLength: ['max-seq-len'],
  tokensOfStep: ['total-batch-size'],
  network: [],
  stage: [],
}

/** llm.c and nanochat, which count the batch of a step in tokens. */
export const llmC: WorkloadReader = {
  name: 'llm.c',

  refersTo() {
    return []
  },

  read(commandLine, { processes: launched }) {
    const name = baseName(commandLine.program)
    const flags = readFlags(commandLine)
    const isCuda = /^train_gpt[23](fp32)?cu$/.test(name)
    const isNanochat = /(^|\.)base_train(\.py)?$/.test(name)
    const isPython = name === 'train_gpt2.py' && hasFlag(flags, ['input-bin', 'total-batch-size', 'num-iterations'])
    if (!isCuda && !isNanochat && !isPython) return undefined
    const names = isCuda ? IN_CUDA : isNanochat ? IN_NANOCHAT : IN_PYTHON
    const processes = launched ?? sourced(1, { kind: 'computed', formula: 'one process, without a launcher' })
    const model = modelOf(textFlag(flags, names.network))
    const sequenceLength = known(positiveFlag(flags, names.sequenceLength))
    const workload: Workload = {
      ...runOf(commandLine, 'train', isNanochat ? 'nanochat' : 'llm.c'),
      method: sourced('full', { kind: 'assumed', reason: 'it trains all parameters' }),
      ...withoutAbsent({
        modelName: model === undefined ? depthName(flags, isNanochat) : sourced(model.value.name, model.origin),
        model,
        steps: known(positiveFlag(flags, names.steps)),
        microBatch: known(positiveFlag(flags, names.microBatch)),
        sequenceLength,
        globalBatch: sequencesOf(positiveFlag(flags, names.tokensOfStep), sequenceLength),
        gradientAccumulation: hasFlag(flags, names.tokensOfStep) || isNanochat ? undefined : once,
        precision: isCuda ? sourced('bf16', { kind: 'assumed', reason: "the default of llm.c's Makefile" }) : undefined,
        parallelism: isCuda ? splitOf(numberFlag(flags, names.stage)) : undefined,
        checkpoint: isCuda ? checkpointOf(flags) : undefined,
        processes,
      }),
    }
    return { workload, warnings: explainRepeated(flags, Object.values(names).flat()) }
  },
}

const once = sourced(1, { kind: 'assumed', reason: 'without a batch in tokens nothing is accumulated' })

function depthName(flags: Flags, isNanochat: boolean): Sourced<string> | undefined {
  const depth = isNanochat ? known(positiveFlag(flags, ['depth'])) : undefined
  return depth && sourced(`nanochat d${depth.value}`, depth.origin)
}

function sequencesOf(tokens: Given<number>, length: Sourced<number> | undefined): Sourced<number> | undefined {
  if (tokens === undefined || tokens === 'unknown' || length === undefined) return undefined
  const count = tokens.value / length.value
  const formula = `${tokens.value} tokens a step / ${length.value}`
  return Number.isInteger(count) ? sourced(count, { kind: 'computed', formula }) : undefined
}

/** `d12` starts anew, the file of a checkpoint goes on from published weights. */
function modelOf(given: Given<string>): Sourced<Model> | undefined {
  const word = known(given)
  if (word === undefined) return undefined
  const name = word.value.replace(/^gpt2:/, '')
  const depth = ownEntry(NETWORKS, name) === undefined ? CHECKPOINTS.find(([pattern]) => pattern.test(name))?.[1] : name
  const network = depth === undefined ? undefined : ownEntry(NETWORKS, depth)
  if (depth === undefined || network === undefined) return undefined
  const [hidden, heads] = network
  const layers = Number(depth.slice(1))
  const shape = gpt2Shape(layers, hidden, heads, VOCABULARY, CONTEXT)
  return modelOfShape(`gpt2 ${layers}x${hidden}`, 'decoder', shape, CONTEXT, `parameters of llm.c's ${depth}`)
}

function splitOf(stage: Given<number>): Workload['parallelism'] | undefined {
  if (stage === 'unknown') return undefined
  const sharding = ZERO_STAGES[stage?.value ?? 0] ?? 'unknown'
  const split = { tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding }
  return sourced(split, stage?.origin ?? { kind: 'assumed', reason: 'llm.c shards nothing unless told' })
}

function checkpointOf(flags: Flags): Checkpointing | undefined {
  const destination = known(textFlag(flags, ['o']))
  if (destination === undefined) return undefined
  const resumes = known(numberFlag(flags, ['y']))
  return {
    destination,
    ...withoutAbsent({
      intervalSteps: known(positiveFlag(flags, ['n'])),
      resumes: resumes && sourced(resumes.value === 1, resumes.origin),
    }),
  }
}
