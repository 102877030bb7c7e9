import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Parallelism, Workload } from '../workload.ts'
import { asCheckpoint, destinationOf } from './checkpoints.ts'
import { runOf } from './configured.ts'
import {
  explainRepeated,
  type Flags,
  known,
  numberFlag,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { dataParallel } from './training-arguments.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** Keys of verl's Hydra configurations (verl/trainer/config). `data.train_batch_size` counts prompts, or samples, of all GPUs. */
const TABLE: FlagTable = {
  steps: ['trainer.total-training-steps'],
  epochs: ['trainer.total-epochs'],
  globalBatch: ['data.train-batch-size'],
  modelName: ['actor-rollout-ref.model.path', 'model.partial-pretrain', 'model.path'],
  sequenceLength: ['data.max-length'],
  loraRank: ['actor-rollout-ref.model.lora-rank', 'model.lora-rank'],
}

/** What a module of verl does: PPO and its kind, or supervised training. */
const MODULES: Readonly<Record<string, 'reinforced' | 'supervised'>> = {
  'verl.trainer.main_ppo': 'reinforced',
  'recipe.dapo.main_dapo': 'reinforced',
  'verl.trainer.fsdp_sft_trainer': 'supervised',
  'verl.trainer.sft_trainer': 'supervised',
}

/** verl: Hydra overrides, `trainer.n_gpus_per_node=8`. */
export const verl: WorkloadReader = {
  name: 'verl',

  refersTo() {
    return []
  },

  read(commandLine, context) {
    const kind = ownEntry(MODULES, commandLine.program)
    if (kind === undefined) return undefined
    const generates = kind === 'reinforced'
    const flags = readFlags(commandLine)
    const given = readTable(flags, TABLE)
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'verl'),
      ...withoutAbsent({
        modelName: known(given.modelName),
        dataset: known(textFlag(flags, ['data.train-files'])),
        steps: known(given.steps),
        epochs: given.steps === undefined ? known(given.epochs) : undefined,
        globalBatch: known(given.globalBatch),
        microBatch: generates
          ? known(positiveFlag(flags, ['actor-rollout-ref.actor.ppo-micro-batch-size-per-gpu']))
          : known(positiveFlag(flags, ['data.micro-batch-size-per-gpu'])),
        sequenceLength: generates ? generatedLength(flags) : known(given.sequenceLength),
        method: methodOf(flags),
        loraRank: known(given.loraRank),
        activationRecompute: recomputeOf(flags),
        parallelism: shardingOf(flags),
        checkpoint: checkpointOf(flags),
        generates: generates ? (true as const) : undefined,
        processes: generates ? workersOf(flags) : context.processes,
      }),
    }
    return {
      workload,
      // Several mini-batches, each an optimizer step, are made of one batch of answers.
      notDerived: generates ? ['steps', 'tokens'] : ['tokens'],
      warnings: explainRepeated(flags, namesOf(TABLE)),
    }
  },
}

/** Ray's workers: GPUs of a node times nodes, as its trainer is told. */
function workersOf(flags: Flags): Sourced<number> | undefined {
  const each = known(numberFlag(flags, ['trainer.n-gpus-per-node']))
  const nodes = numberFlag(flags, ['trainer.nnodes'])
  if (each === undefined || nodes === 'unknown') return undefined
  const machines = nodes?.value ?? 1
  return sourced(machines * each.value, { kind: 'computed', formula: `${machines} nodes x ${each.value} GPUs` })
}

function generatedLength(flags: Flags): Sourced<number> | undefined {
  const prompt = known(positiveFlag(flags, ['data.max-prompt-length']))
  const answer = known(positiveFlag(flags, ['data.max-response-length']))
  if (prompt === undefined || answer === undefined) return undefined
  const formula = `prompt ${prompt.value} + answer ${answer.value}, at most`
  return sourced(prompt.value + answer.value, { kind: 'computed', formula })
}

function methodOf(flags: Flags): Workload['method'] {
  const rank = numberFlag(flags, TABLE.loraRank ?? [])
  if (rank === 'unknown') return undefined
  if (rank === undefined || rank.value <= 0)
    return sourced('full', { kind: 'assumed', reason: 'no LoRA rank is given' })
  return sourced('lora', rank.origin)
}

function recomputeOf(flags: Flags): Workload['activationRecompute'] {
  const names = ['actor-rollout-ref.model.enable-gradient-checkpointing', 'model.enable-gradient-checkpointing']
  const on = known(switchFlag(flags, names))
  return on && sourced(on.value ? 'full' : 'none', on.origin)
}

/** FSDP unless the strategy is Megatron's, whose degrees are keys of their own. */
function shardingOf(flags: Flags): Sourced<Parallelism> | undefined {
  const strategy = known(textFlag(flags, ['actor-rollout-ref.actor.strategy', 'engine']))
  if (strategy !== undefined && !/^fsdp2?$/.test(strategy.value)) return undefined
  const assumed = { kind: 'assumed', reason: "FSDP is verl's default" } as const
  return dataParallel(sourced('weights', strategy?.origin ?? assumed))
}

/** `save_freq` counts steps, `-1` never; `resume_mode` is auto unless it is disabled. */
function checkpointOf(flags: Flags): Workload['checkpoint'] {
  const steps = known(positiveFlag(flags, ['trainer.save-freq']))
  const mode = known(textFlag(flags, ['trainer.resume-mode']))
  const isOn = sourced(true, { kind: 'assumed', reason: 'verl goes on from its last checkpoint' } as const)
  return asCheckpoint({
    intervalSteps: steps,
    destination: steps && destinationOf(flags, ['trainer.default-local-dir']),
    resumes: mode === undefined ? steps && isOn : sourced(mode.value !== 'disable', mode.origin),
  })
}
