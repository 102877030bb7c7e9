import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Parallelism, TrainingMethod, Workload } from '../workload.ts'
import { asCheckpoint, destinationOf } from './checkpoints.ts'
import { precisionOf } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { degreesOf } from './degrees.ts'
import { explainRepeated, type Flags, findFlag, known, positiveFlag, readFlags, switchFlag, textFlag } from './flags.ts'
import { launchOption } from './processes.ts'
import { type FlagTable, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

/** Keys of torchtune's recipes (recipes/configs). The batch is one device's. */
const TABLE: FlagTable = {
  epochs: ['epochs'],
  microBatch: ['batch-size'],
  gradientAccumulation: ['gradient-accumulation-steps'],
  sequenceLength: ['tokenizer.max-seq-len'],
  loraRank: ['model.lora-rank'],
}

/** What a recipe does by its name; undefined: it trains. */
const PURPOSES: readonly (readonly [RegExp, Workload['purpose']])[] = [
  [/eval/, 'evaluate'],
  [/generate/, 'infer'],
  [/^quantize/, 'other'],
]

/** torchtune: `tune run RECIPE --config FILE key=value`. */
export const torchtune: WorkloadReader = {
  name: 'torchtune',

  refersTo(commandLine, files) {
    if (recipeOf(commandLine) === undefined) return []
    return pathsOf(configure(commandLine, files).words)
  },

  read(commandLine, context) {
    const recipe = recipeOf(commandLine)
    if (recipe === undefined) return undefined
    const configured = configure(commandLine, context.files)
    const { flags, typed } = configured
    const purpose = PURPOSES.find(([pattern]) => pattern.test(recipe))?.[1] ?? 'train'
    const name = modelOf(flags) ?? builtInModel(typed)
    const workload: Workload = {
      ...runOf(commandLine, purpose, 'torchtune'),
      ...withoutAbsent({
        modelName: name,
        ...(purpose === 'train' ? trainingValues(configured, recipe, commandLine) : {}),
        processes: processesOf(commandLine, context),
        parallelism: purpose === 'train' ? parallelismOf(flags, recipe) : undefined,
      }),
    }
    const isPacked = known(switchFlag(flags, ['dataset.packed']))?.value === true
    return {
      workload,
      notDerived: isPacked ? ['steps'] : ['tokens'],
      warnings: [...configured.warnings, ...explainRepeated(typed, namesOf(TABLE))],
    }
  },
}

/** The word before `--config`: `lora_finetune_distributed`, or the path of a recipe of the user's own. */
function recipeOf({ program, arguments: words }: CommandLine): string | undefined {
  if (baseName(program) !== 'tune' || words[0]?.text !== 'run') return undefined
  const at = words.findIndex(({ written }) => /^--config(=|$)/.test(written))
  return at < 2 ? undefined : words[at - 1]?.text
}

function configure(
  commandLine: CommandLine,
  files: FilesAtHand,
): Configured & { readonly words: readonly CommandWord[] } {
  const typed = readFlags(commandLine)
  const config = findFlag(typed, ['config'])?.value
  // Any other word is the name of a recipe configuration that comes with torchtune.
  const words = config !== undefined && /\.ya?ml$/.test(config.written) ? [config] : []
  const configured = readConfigured(commandLine, words, files, typed)
  return { ...configured, words, isComplete: configured.isComplete && words.length > 0 }
}

function trainingValues(
  { flags, isComplete }: Configured,
  recipe: string,
  commandLine: CommandLine,
): Partial<Workload> {
  const given = readTable(flags, TABLE)
  const recompute = known(switchFlag(flags, ['enable-activation-checkpointing']))
  const optimizer = readTable(flags, { optimizer: ['optimizer.-component-', 'optimizer'] }).optimizer
  const precision = known(textFlag(flags, ['dtype']))
  const format = precisionOf(precision?.value)
  return withoutAbsent({
    dataset: datasetOf(flags),
    steps: stepsOf(flags),
    epochs: known(given.epochs),
    microBatch: known(given.microBatch),
    gradientAccumulation:
      given.gradientAccumulation === undefined && isComplete
        ? sourced(1, { kind: 'assumed', reason: "torchtune's default" })
        : known(given.gradientAccumulation),
    sequenceLength: known(given.sequenceLength),
    precision: precision && format && sourced(format, precision.origin),
    method: methodOf(flags, recipe, commandLine),
    loraRank: known(given.loraRank),
    activationRecompute: recompute && sourced(recompute.value ? 'full' : 'none', recompute.origin),
    compiled: known(switchFlag(flags, ['compile'])),
    optimizer,
    checkpoint: asCheckpoint({
      intervalEpochs: sourced(1, { kind: 'assumed', reason: 'torchtune saves at the end of each epoch' }),
      destination: destinationOf(flags, ['output-dir']) ?? destinationOf(flags, ['checkpointer.output-dir']),
      content: contentOf(flags),
      resumes: known(switchFlag(flags, ['resume-from-checkpoint'])),
    }),
  })
}

/** `max_steps_per_epoch` cuts every epoch short; a smaller data set ends before, and `null` takes the cut of the file away. */
function stepsOf(flags: Flags): Sourced<number> | undefined {
  const most = known(positiveFlag(flags, ['max-steps-per-epoch']))
  const epochs = known(positiveFlag(flags, TABLE.epochs ?? []))
  if (most === undefined || epochs === undefined) return undefined
  return sourced(most.value * epochs.value, {
    kind: 'computed',
    formula: `${epochs.value} epochs x ${most.value} steps, at most`,
  })
}

function contentOf(flags: Flags): Sourced<'full' | 'weights'> | undefined {
  const onlyAdapter = known(switchFlag(flags, ['save-adapter-weights-only']))
  return onlyAdapter?.value === true ? sourced('weights', onlyAdapter.origin) : undefined
}

/** `torchtune.models.llama3_1.lora_llama3_1_8b`: the family stands before the builder, its size at the builder's end. */
function modelOf(flags: Flags): Sourced<string> | undefined {
  const component = known(textFlag(flags, ['model.-component-', 'model']))
  const match = /(?:^|\.)models\.(\w+)(?:\.\w+)*\.(\w+)$/.exec(component?.value ?? '')
  if (component === undefined || match === null) return undefined
  const [, family = '', builder = ''] = match
  const size = builder.replace(/^(q?lora|dora|qat|full)_/, '').slice(family.length + 1)
  const isOfFamily = builder.replace(/^(q?lora|dora|qat|full)_/, '').startsWith(`${family}_`)
  return isOfFamily ? sourced(spelled(family, size), component.origin) : undefined
}

/** `llama3_1/8B_lora`: family, then size and method. */
function builtInModel(typed: Flags): Sourced<string> | undefined {
  const config = known(textFlag(typed, ['config']))
  const [, family = '', size = ''] = /^(\w+)\/(\d+(?:\.\d+|_\d+)?[BM])(?:_|$)/.exec(config?.value ?? '') ?? []
  return config && family !== '' ? sourced(spelled(family, size), config.origin) : undefined
}

/** `llama3_1` and `8b` are `llama3.1-8b`: where a point cannot stand, torchtune writes an underscore. */
function spelled(family: string, size: string): string {
  const pointed = (text: string) => text.replace(/(\d)_(?=\d)/g, '$1.')
  return `${pointed(family)}-${pointed(size).toLowerCase()}`
}

/** `torchtune.datasets.alpaca_cleaned_dataset` by its own name; a general builder by the data it reads. */
function datasetOf(flags: Flags): Sourced<string> | undefined {
  const source = known(textFlag(flags, ['dataset.source']))
  const component = known(textFlag(flags, ['dataset.-component-', 'dataset']))
  const name = /^torchtune\.datasets\.(?:\w+\.)*(\w+?)_dataset$/.exec(component?.value ?? '')?.[1]
  if (source !== undefined && !/^(json|csv|text|parquet)$/.test(source.value)) return source
  if (component === undefined || name === undefined || /^(chat|instruct|text_completion|preference|sft)$/.test(name))
    return undefined
  return sourced(name, component.origin)
}

function methodOf(flags: Flags, recipe: string, { place }: CommandLine): Sourced<TrainingMethod> | undefined {
  const component = known(textFlag(flags, ['model.-component-', 'model']))
  const config = known(textFlag(flags, ['config']))
  const quantized = known(switchFlag(flags, ['model.quantize-base']))
  const isQuantized =
    quantized?.value === true || [component, config].some(word => /(^|[._/])qlora/.test(word?.value ?? ''))
  const origin = component?.origin ?? { kind: 'manifest' as const, place }
  if (/lora|dora/.test(recipe)) return sourced(isQuantized ? 'qlora' : 'lora', origin)
  if (/^(full|qat|ppo_full)/.test(recipe)) return sourced('full', { kind: 'manifest', place })
  if (component === undefined) return undefined
  return sourced(/\.(q?lora|dora)_/.test(component.value) ? (isQuantized ? 'qlora' : 'lora') : 'full', origin)
}

/** Distributed recipes shard weights, gradients and optimizer by FSDP. */
function parallelismOf(flags: Flags, recipe: string): Sourced<Parallelism> | undefined {
  if (!/distributed/.test(recipe)) return undefined
  const degrees = degreesOf(flags, { tensor: ['tensor-parallel-dim'], context: ['context-parallel-dim'] })
  const assumed = { kind: 'assumed', reason: 'distributed recipes of torchtune shard by FSDP' } as const
  const split = findFlag(flags, ['tensor-parallel-dim', 'context-parallel-dim'])
  return degrees && sourced({ ...degrees, interleave: 1, sharding: 'weights' }, split?.origin ?? assumed)
}

/** `tune run` hands its options to torchrun; without any it starts the recipe itself. */
function processesOf(commandLine: CommandLine, { peers, processes }: RunContext): Sourced<number> | undefined {
  const options = { launcher: 'torchrun', options: commandLine.arguments }
  const perNode = launchOption(options, ['nproc-per-node'])
  const nodes = launchOption(options, ['nnodes'])
  if (perNode === undefined && nodes === undefined) {
    return processes ?? sourced(1, { kind: 'assumed', reason: 'tune run starts one process unless told more' })
  }
  const machines = nodes === undefined ? 1 : /^\d+$/.test(nodes) ? Number(nodes) : peers.machines
  const each = perNode === undefined ? 1 : /^(gpu|auto)$/.test(perNode) ? peers.gpusPerMachine : Number(perNode)
  if (!Number.isInteger(each)) return undefined
  return sourced(machines * each, { kind: 'computed', formula: `${machines} nodes x ${each} processes (tune run)` })
}
