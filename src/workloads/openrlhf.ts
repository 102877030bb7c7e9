import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { asCheckpoint, destinationOf } from './checkpoints.ts'
import { ZERO_STAGES } from './config-files.ts'
import { runOf } from './configured.ts'
import { explainRepeated, type Flags, known, numberFlag, positiveFlag, readFlags, switchFlag } from './flags.ts'
import { dataParallel, trainerFlash, trainerPrecision, trainerRecompute } from './training-arguments.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** Names of OpenRLHF's commands (openrlhf/cli). `max_samples` is a ceiling, no size; `train_batch_size` is everybody's. */
const TABLE: FlagTable = {
  epochs: ['max-epochs'],
  globalBatch: ['train-batch-size'],
  microBatch: ['micro-train-batch-size'],
  sequenceLength: ['max-len'],
  loraRank: ['lora-rank'],
  modelName: ['pretrain'],
  dataset: ['dataset', 'prompt-data'],
}
/** Prompt and answer where the model writes its own training text. */
const PROMPT = ['prompt-max-len']
const ANSWER = ['generate-max-len']

/** What its modules do, by the module's name. */
const PURPOSES: readonly (readonly [RegExp, Workload['purpose']])[] = [
  [/^train_/, 'train'],
  [/^(batch_inference|interactive_chat)$/, 'infer'],
  [/^serve_/, 'serve'],
]

/** OpenRLHF: supervised and preference training under deepspeed, PPO and its kind under Ray. */
export const openrlhf: WorkloadReader = {
  name: 'openrlhf',

  refersTo() {
    return []
  },

  read(commandLine, context) {
    const module = /^openrlhf\.cli\.(\w+)$/.exec(commandLine.program)?.[1]
    if (module === undefined) return undefined
    const flags = readFlags(commandLine)
    const purpose = PURPOSES.find(([pattern]) => pattern.test(module))?.[1] ?? 'other'
    const given = readTable(flags, TABLE)
    const run = { ...runOf(commandLine, purpose, 'openrlhf'), ...withoutAbsent({ modelName: known(given.modelName) }) }
    if (purpose !== 'train') return { workload: run, warnings: [] }
    const generates = hasFlag(flags, ANSWER) || /ppo|grpo|_es_/.test(module)
    const workload: Workload = {
      ...run,
      ...withoutAbsent({
        dataset: known(given.dataset),
        // Passes over the prompts are episodes; `max_epochs` are then those over each batch of answers.
        epochs: known(generates ? positiveFlag(flags, ['num-episodes']) : given.epochs),
        globalBatch: known(given.globalBatch),
        microBatch: known(given.microBatch),
        sequenceLength: generates ? generatedLength(flags) : known(given.sequenceLength),
        precision: trainerPrecision(flags, commandLine),
        method: methodOf(flags),
        loraRank: known(given.loraRank),
        parallelism: shardingOf(flags),
        cpuOffload: known(switchFlag(flags, ['adam-offload'])),
        activationRecompute: trainerRecompute(flags),
        flashAttention: trainerFlash(flags) ?? known(switchFlag(flags, ['flash-attn'])),
        checkpoint: checkpointOf(flags),
        generates: generates ? (true as const) : undefined,
        processes: generates ? actorsOf(flags) : context.processes,
      }),
    }
    const isPacked = known(switchFlag(flags, ['packing-samples']))?.value === true
    return {
      workload,
      notDerived: generates || isPacked ? ['steps', 'tokens'] : ['tokens'],
      warnings: explainRepeated(flags, namesOf(TABLE)),
    }
  },
}

function generatedLength(flags: Flags): Sourced<number> | undefined {
  const prompt = known(positiveFlag(flags, PROMPT))
  const answer = known(positiveFlag(flags, ANSWER))
  if (prompt === undefined || answer === undefined) return undefined
  const formula = `prompt ${prompt.value} + answer ${answer.value}, at most`
  return sourced(prompt.value + answer.value, { kind: 'computed', formula })
}

function methodOf(flags: Flags): Workload['method'] {
  const rank = numberFlag(flags, ['lora-rank'])
  const quantized = known(switchFlag(flags, ['load-in-4bit']))
  if (rank === 'unknown') return undefined
  if (rank === undefined || rank.value <= 0)
    return sourced('full', { kind: 'assumed', reason: 'no adapter option is given' })
  return quantized?.value === true ? sourced('qlora', quantized.origin) : sourced('lora', rank.origin)
}

/** Stage 2 is the default of its commands. */
function shardingOf(flags: Flags): Workload['parallelism'] {
  const stage = numberFlag(flags, ['zero-stage'])
  if (stage === 'unknown') return undefined
  const sharding = ZERO_STAGES[stage?.value ?? 2]
  return sharding && dataParallel(sourced(sharding, stage?.origin ?? { kind: 'assumed', reason: "OpenRLHF's default" }))
}

/** All roles on the actor's GPUs are so many processes; apart from each other they each have their own. */
function actorsOf(flags: Flags): Sourced<number> | undefined {
  const nodes = known(numberFlag(flags, ['actor-num-nodes']))
  const each = known(numberFlag(flags, ['actor-num-gpus-per-node']))
  if (nodes === undefined || each === undefined || !hasFlag(flags, ['colocate-all-models'])) return undefined
  return sourced(nodes.value * each.value, {
    kind: 'computed',
    formula: `${nodes.value} nodes x ${each.value} GPUs of the actor, which all models share`,
  })
}

/** `save_steps -1` saves the weights at the end alone; a checkpoint has all that is needed to go on. */
function checkpointOf(flags: Flags): Workload['checkpoint'] {
  const steps = known(positiveFlag(flags, ['save-steps']))
  return asCheckpoint({
    intervalSteps: steps,
    destination: steps && destinationOf(flags, ['ckpt-path']),
    content: steps && sourced('full', steps.origin),
    resumes: known(switchFlag(flags, ['load-checkpoint'])),
  })
}
