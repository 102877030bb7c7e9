import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import type { Model, ModelTable } from '../model.ts'
import { readPythonSettings } from '../settings/python.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Checkpointing, Parallelism, Precision, TrainingMethod, Workload } from '../workload.ts'
import { findFile, precisionOf } from './config-files.ts'
import { type Configured, pathsOf, readConfigured, runOf } from './configured.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import {
  explainRepeated,
  type Flags,
  type Given,
  known,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { hydraConfig } from './hydra.ts'
import { vocabularyOf } from './megatron-vocabulary.ts'
import { compareNodes } from './pytorch.ts'
import { layFlags, settingsAsFlags } from './settings-table.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'
import { modelOfTransformer } from './written-shape.ts'

/** Keys of NeMo 1's Hydra configurations, of NeMo 2's recipes and of Megatron Bridge's. */
const TABLE: FlagTable = {
  steps: ['trainer.max-steps', 'train.train-iters'],
  epochs: ['trainer.max-epochs'],
  globalBatch: [
    'model.global-batch-size',
    'data.global-batch-size',
    'train.global-batch-size',
    'model.data.train-ds.global-batch-size',
  ],
  microBatch: [
    'model.micro-batch-size',
    'data.micro-batch-size',
    'train.micro-batch-size',
    'model.data.train-ds.micro-batch-size',
  ],
  sequenceLength: [
    'model.encoder-seq-length',
    'model.data.seq-length',
    'model.data.train-ds.max-seq-length',
    'data.seq-length',
    'model.seq-length',
    'dataset.sequence-length',
  ],
  optimizer: ['model.optim.name', 'optim.config.optimizer'],
}

/** The common options of Megatron-Bridge's run_recipe.py, which its keys win over (scripts/training/README.md). */
const BRIDGE_TABLE: FlagTable = {
  ...TABLE,
  steps: [...(TABLE.steps ?? []), 'max-steps'],
  globalBatch: [...(TABLE.globalBatch ?? []), 'global-batch-size'],
  microBatch: [...(TABLE.microBatch ?? []), 'micro-batch-size'],
  sequenceLength: [...(TABLE.sequenceLength ?? []), 'seq-length'],
}

/** What speech models and others without Megatron call one process's batch. */
const PROCESS_BATCH = ['model.train-ds.batch-size']

const DEGREES = {
  tensor: ['model.tensor-model-parallel-size', 'trainer.strategy.tensor-model-parallel-size'],
  pipeline: ['model.pipeline-model-parallel-size', 'trainer.strategy.pipeline-model-parallel-size'],
  context: ['model.context-parallel-size', 'trainer.strategy.context-parallel-size'],
  expert: ['model.expert-model-parallel-size', 'trainer.strategy.expert-model-parallel-size'],
} satisfies DegreeNames

/** Keys that no other trainer has. */
const OWN_KEYS = [
  'model.global-batch-size',
  'model.micro-batch-size',
  'model.data.train-ds.global-batch-size',
  'model.train-ds.manifest-filepath',
  'exp-manager.exp-dir',
  'train.train-iters',
]

/** NVIDIA NeMo: Hydra's configurations and keys, `nemo llm pretrain --factory recipe`, and scripts of recipes. */
export const nemo: WorkloadReader = {
  name: 'nemo',

  refersTo(commandLine) {
    return pathsOf([...hydraConfig(commandLine), ...recipeScript(commandLine)])
  },

  read(commandLine, context) {
    const configured = readConfigured(commandLine, hydraConfig(commandLine), context.files)
    const recipe = recipeOf(commandLine, context.files)
    const flags = recipe === undefined ? configured.flags : layFlags(recipe.flags, configured.flags)
    if (recipe === undefined && !isNemo(commandLine, flags)) return undefined
    const isBridge = recipe?.isBridge === true
    const given = readTable(flags, isBridge ? BRIDGE_TABLE : TABLE)
    const isMegatron =
      recipe !== undefined || hasFlag(flags, [...(TABLE.globalBatch ?? []), ...(TABLE.microBatch ?? [])])
    const shape = shapeOf(flags, context.models)
    const workload: Workload = {
      ...runOf(commandLine, purposeOf(commandLine), isBridge ? 'megatron-bridge' : 'nemo'),
      ...withoutAbsent({
        modelName:
          (isBridge ? known(textFlag(flags, ['hf-path'])) : undefined) ??
          recipe?.name ??
          (shape ? sourced(shape.value.name, shape.origin) : restoredName(flags)),
        model: shape,
        steps: known(given.steps),
        // Lightning ends with whichever comes first.
        epochs: known(given.epochs),
        ...(isMegatron
          ? { globalBatch: known(given.globalBatch), microBatch: known(given.microBatch) }
          : processBatch(flags)),
        sequenceLength: known(given.sequenceLength),
        precision: precisionFrom(flags),
        parallelism: recipe === undefined ? splitOf(configured, commandLine) : undefined,
        activationRecompute: recomputeOf(flags),
        method: methodOf(flags, recipe),
        optimizer: given.optimizer,
        checkpoint: checkpointOf(flags),
        processes: processesOf(flags, context),
      }),
    }
    const nodes = known(positiveFlag(flags, ['trainer.num-nodes']))
    return {
      workload,
      warnings: [
        ...configured.warnings,
        ...(nodes === undefined ? [] : compareNodes(flags, nodes.value, commandLine, context.peers)),
        ...explainRepeated(configured.typed, namesOf(TABLE)),
      ],
    }
  },
}

function isNemo({ program, launches }: CommandLine, flags: Flags): boolean {
  const isPython = /\.py$/.test(program) || launches.some(({ launcher }) => launcher === 'python')
  return isPython && hasFlag(flags, OWN_KEYS)
}

function purposeOf(commandLine: CommandLine): Workload['purpose'] {
  const name = baseName(commandLine.program)
  if (/(^|_)(eval|evaluate|test)(_|\.|$)/.test(name)) return 'evaluate'
  return /(^|_)(generate|infer|inference|transcribe\w*)(_|\.|$)/.test(name) ? 'infer' : 'train'
}

/** What a recipe's name and its script say; all that they leave out stands in the recipe, which is not here. */
interface Recipe {
  readonly name: Sourced<string> | undefined
  readonly isFinetuning: boolean
  /** Megatron-Bridge calls its recipes `llama32_1b_pretrain_config`. */
  readonly isBridge: boolean
  readonly flags: Flags
}

/** `nemo llm pretrain --factory "llama3_8b(num_nodes=2)"`, `run_recipe.py --recipe NAME`, or a script that changes a recipe. */
function recipeOf(commandLine: CommandLine, files: FilesAtHand): Recipe | undefined {
  const typed = readFlags(commandLine)
  const isCommand = /^nemo(run|_run)?$/.test(baseName(commandLine.program))
  const named = known(textFlag(typed, ['factory', 'recipe', 'recipe-name']))
  if (isCommand || (named !== undefined && /recipe/.test(commandLine.program))) {
    const name = named && sourced(named.value.replace(/\(.*$|_(pretrain|finetune|sft|peft)_config$/s, ''), named.origin)
    const isFinetuning =
      commandLine.arguments.some(word => word.text === 'finetune') || /finetune|sft|peft/.test(named?.value ?? '')
    const isBridge = !isCommand && /_config$/.test(named?.value ?? '')
    return { name, isFinetuning, isBridge, flags: { list: [], positionals: [] } }
  }
  const [script] = recipeScript(commandLine)
  const file = script === undefined ? undefined : findFile(script, commandLine, files)
  if (file === undefined || 'warning' in file) return undefined
  const made = /\bllm\.(\w+)\.(pretrain|finetune)_recipe\(/.exec(file.text)
  if (made === null) return undefined
  const flags = settingsAsFlags(readPythonSettings(assignmentsTo('recipe', file.text), file.origin), commandLine.place)
  const list = flags.list.map(flag => ({ ...flag, name: flag.name.replace(/^recipe\./, '') }))
  const name = made[1] === undefined ? undefined : sourced(made[1], file.origin)
  return { name, isFinetuning: made[2] === 'finetune', isBridge: false, flags: { list, positionals: [] } }
}

function recipeScript({ program, place }: CommandLine): readonly CommandWord[] {
  const isOne = /\.py$/.test(program) && /nemo|recipe/.test(baseName(program))
  return isOne ? [{ text: program, written: program, place }] : []
}

/** The lines that set a member of `name` at the margin or in a function's own body, the others left empty so that places hold. */
function assignmentsTo(name: string, text: string): string {
  const line = new RegExp(`^(?: {4}|\\t)?(${name}\\.[\\w.]+\\s*=[^=].*)$`)
  return text
    .split('\n')
    .map(each => line.exec(each)?.[1] ?? '')
    .join('\n')
}

function restoredName(flags: Flags): Sourced<string> | undefined {
  const path = known(textFlag(flags, ['model.restore-from-path', 'restore-from-path', 'init-from-nemo-model']))
  const name = path && /([^/]+)\.nemo$/.exec(path.value)?.[1]
  return name === undefined || path === undefined ? undefined : sourced(name, path.origin)
}

function processBatch(flags: Flags): Pick<Workload, 'microBatch' | 'gradientAccumulation'> {
  const accumulation = positiveFlag(flags, ['trainer.accumulate-grad-batches'])
  const once = sourced(1, { kind: 'assumed', reason: "Lightning's own default" })
  return withoutAbsent({
    microBatch: known(positiveFlag(flags, PROCESS_BATCH)),
    gradientAccumulation: accumulation === undefined ? once : known(accumulation),
  })
}

function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  const fp8 = known(switchFlag(flags, ['model.fp8']))
  if (fp8?.value === true) return sourced('fp8', fp8.origin)
  const word = known(textFlag(flags, ['trainer.precision', 'mixed-precision']))
  const precision = precisionOf(word?.value)
  return precision && word && sourced(precision, word.origin)
}

function splitOf({ flags, isComplete }: Configured, commandLine: CommandLine): Sourced<Parallelism> | undefined {
  const degrees = degreesOf(flags, DEGREES)
  // Who says both of the usual ones says how the model is split, whatever else stands in a file that is not here.
  const isSaid = hasFlag(flags, DEGREES.tensor) && hasFlag(flags, DEGREES.pipeline)
  if (degrees === undefined || !(isComplete || isSaid)) return undefined
  const optimizer = textFlag(flags, ['model.optim.name'])
  const isShared = optimizer !== 'unknown' && /distributed/.test(optimizer?.value ?? '')
  const isOpen = optimizer === 'unknown' || (optimizer === undefined && !isComplete)
  const sharding = isOpen ? 'unknown' : isShared ? 'optimizer' : 'none'
  return sourced({ ...degrees, interleave: 1, sharding }, { kind: 'manifest', place: commandLine.place })
}

function recomputeOf(flags: Flags): Workload['activationRecompute'] | undefined {
  const names = ['model.activations-checkpoint-granularity', 'model.recompute-granularity']
  const granularity = known(textFlag(flags, names))
  const kind = (['full', 'selective'] as const).find(each => each === granularity?.value)
  return kind && granularity && sourced(kind, granularity.origin)
}

/** A recipe for fine-tuning may or may not bring an adapter. */
function methodOf(flags: Flags, recipe: Recipe | undefined): Sourced<TrainingMethod> | undefined {
  const mode = recipe?.isBridge === true ? known(textFlag(flags, ['mode', 'task'])) : undefined
  if (mode?.value === 'sft' || mode?.value === 'lora')
    return sourced(mode.value === 'sft' ? 'full' : 'lora', mode.origin)
  const scheme = known(textFlag(flags, ['model.peft.peft-scheme', 'peft', 'peft-scheme']))
  if (scheme !== undefined) {
    if (/^q?lora$/i.test(scheme.value)) return sourced(/^q/i.test(scheme.value) ? 'qlora' : 'lora', scheme.origin)
    return /^(none|null)$/i.test(scheme.value) ? sourced('full', scheme.origin) : undefined
  }
  if (recipe?.isFinetuning === true) return undefined
  return sourced('full', { kind: 'assumed', reason: 'no adapter is asked for' })
}

function checkpointOf(flags: Flags): Checkpointing | undefined {
  const callback = 'exp-manager.checkpoint-callback-params'
  const values = withoutAbsent({
    destination: known(
      textFlag(flags, ['exp-manager.exp-dir', 'exp-manager.explicit-log-dir', 'checkpoint.save', 'log.log-dir']),
    ),
    intervalSteps: known(
      positiveFlag(flags, [
        `${callback}.every-n-train-steps`,
        'checkpoint.save-interval',
        'log.ckpt.every-n-train-steps',
      ]),
    ),
    resumes: known(switchFlag(flags, ['exp-manager.resume-if-exists', 'resume.resume-if-exists'])),
  })
  return Object.keys(values).length === 0 ? undefined : values
}

/** Lightning starts its own processes: devices times nodes. */
function processesOf(flags: Flags, { processes }: RunContext): Sourced<number> | undefined {
  const devices = known(positiveFlag(flags, ['trainer.devices']))
  const nodes = positiveFlag(flags, ['trainer.num-nodes'])
  if (devices === undefined || nodes === 'unknown') return processes
  const count = devices.value * (nodes?.value ?? 1)
  return sourced(count, { kind: 'computed', formula: `${devices.value} devices x ${nodes?.value ?? 1} nodes` })
}

/** The network that NeMo's configuration of a GPT describes (megatron_gpt_config.yaml and its defaults). */
function shapeOf(flags: Flags, models: ModelTable): Sourced<Model> | undefined {
  const number = (name: string): Given<number> => positiveFlag(flags, [`model.${name}`])
  const activation = known(textFlag(flags, ['model.activation']))?.value ?? 'gelu'
  const positions = known(textFlag(flags, ['model.position-embedding-type']))?.value ?? 'learned_absolute'
  const hidden = number('hidden-size')
  const width = number('ffn-hidden-size')
  const isGated = /glu$/.test(activation)
  if (hidden === undefined || hidden === 'unknown' || (isGated && width === undefined)) return undefined
  if (hasFlag(flags, ['model.num-moe-experts'])) return undefined
  const computed = (value: number): Given<number> =>
    sourced(value, { kind: 'computed', formula: 'by the configuration' })
  const vocabulary = vocabularyOf(flags, models, 'model.tokenizer.')
  const shared = known(switchFlag(flags, ['model.share-embeddings-and-output-weights']))
  return modelOfTransformer('gpt', {
    layers: number('num-layers'),
    hidden,
    heads: number('num-attention-heads'),
    keyValueHeads: number('num-query-groups'),
    headSize: number('kv-channels'),
    feedForward: width ?? computed(4 * hidden.value),
    gatedFeedForward: isGated,
    vocabulary: vocabulary && computed(vocabulary.count),
    contextLength: number('max-position-embeddings') ?? number('encoder-seq-length'),
    tiedEmbeddings: shared?.value !== false,
    learnsPositions: positions === 'learned_absolute',
  })
}
