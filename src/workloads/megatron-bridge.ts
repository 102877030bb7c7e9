import { baseName } from '../launchers.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Parallelism, Precision, TrainingMethod, Workload } from '../workload.ts'
import { runOf } from './configured.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import { explainRepeated, type Flags, known, readFlags, switchFlag, textFlag } from './flags.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** Options of Megatron-Bridge's scripts/performance (argument_parser.py); their recipe fills in what is left out. */
const TABLE: FlagTable = {
  steps: ['max-steps', 'max-step', 'ms'],
  globalBatch: ['global-batch-size', 'gb'],
  microBatch: ['micro-batch-size', 'mb'],
  sequenceLength: ['seq-length', 'sl'],
}

const DEGREES: DegreeNames = {
  tensor: ['tensor-model-parallel-size', 'tp'],
  pipeline: ['pipeline-model-parallel-size', 'pp'],
  context: ['context-parallel-size', 'cp'],
  expert: ['expert-model-parallel-size', 'ep'],
}

/** Megatron-Bridge's performance scripts, which name a recipe: `run_script.py --model_recipe_name llama3_8b`. */
export const megatronBridge: WorkloadReader = {
  name: 'megatron-bridge',

  refersTo() {
    return []
  },

  read(commandLine, { processes }) {
    const flags = readFlags(commandLine)
    const name = recipeOf(flags)
    // setup_experiment.py only submits, and evaluate.py compares logs.
    if (name === undefined || /^(setup_experiment|evaluate)/.test(baseName(commandLine.program))) return undefined
    const given = readTable(flags, TABLE)
    const workload: Workload = {
      ...runOf(commandLine, 'train', 'megatron-bridge'),
      method: methodOf(flags),
      ...withoutAbsent({
        modelName: name,
        steps: known(given.steps),
        globalBatch: known(given.globalBatch),
        microBatch: known(given.microBatch),
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags),
        parallelism: parallelismOf(flags),
        processes,
      }),
    }
    return { workload, warnings: explainRepeated(flags, namesOf(TABLE)) }
  },
}

/** The recipe's name, which is that of its model; before 25.11 the name of the model's family and its size. */
function recipeOf(flags: Flags): Sourced<string> | undefined {
  const recipe = known(textFlag(flags, ['model-recipe-name', 'mr']))
  if (recipe !== undefined && hasFlag(flags, ['model-family-name', 'compute-dtype'])) return recipe
  const family = known(textFlag(flags, ['model-name']))
  const size = known(textFlag(flags, ['model-size']))
  const isOlder = family !== undefined && size !== undefined && hasFlag(flags, ['compute-dtype'])
  return isOlder ? sourced(`${family.value}-${size.value}`, family.origin) : undefined
}

function methodOf(flags: Flags): Sourced<TrainingMethod> {
  const task = known(textFlag(flags, ['task', 't']))
  if (task === undefined) return sourced('full', { kind: 'assumed', reason: 'Megatron-Bridge pretrains unless told' })
  return sourced(task.value === 'lora' ? 'lora' : 'full', task.origin)
}

/** `bf16`, and `fp8` in its recipes (`fp8_cs`, `fp8_mx`); NVFP4 is none of those that are known here. */
function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const word = known(textFlag(flags, ['compute-dtype', 'c']))
  const precision = /^(bf16|fp8)(_|$)/.exec(word?.value ?? '')?.[1]
  if (word === undefined || (precision !== 'bf16' && precision !== 'fp8')) return undefined
  return sourced(precision, word.origin)
}

/** Left out it is that of the recipe. */
function parallelismOf(flags: Flags): Sourced<Parallelism> | undefined {
  const said = known(textFlag(flags, DEGREES.tensor ?? []))
  const degrees = degreesOf(flags, DEGREES)
  if (said === undefined || degrees === undefined) return undefined
  const shardsAll = known(switchFlag(flags, ['use-megatron-fsdp']))?.value === true
  // Its recipes use Megatron's distributed optimizer.
  return sourced({ ...degrees, interleave: 1, sharding: shardsAll ? 'weights' : 'optimizer' }, said.origin)
}
