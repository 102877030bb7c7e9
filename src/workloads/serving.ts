import type { CommandLine, CommandWord } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { imageName, SERVING_IMAGES } from '../serving-images.ts'
import { type Origin, type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import { words } from '../word-list.ts'
import type { Parallelism, Precision, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import { type DegreeNames, degreesOf } from './degrees.ts'
import {
  type Flag,
  type Flags,
  findFlag,
  type Given,
  known,
  numberFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { gpusOnMachine } from './processes.ts'
import { hasFlag } from './training-flags.ts'
import { weightBitsOf } from './weight-bits.ts'
import type { FilesAtHand, RunContext, WorkloadReader } from './workload-reader.ts'

/** One program that answers requests, and how its options are called. */
interface Engine {
  readonly name: string
  /** Programs and modules; an image is matched by the last part of its name. */
  readonly programs: readonly string[]
  readonly images?: RegExp
  /** Words of which the first argument has to be one, with what each does; without it every call serves. */
  readonly commands?: Readonly<Record<string, Workload['purpose']>>
  /** What every call does, where that is not serving. */
  readonly purpose?: Workload['purpose']
  readonly model: readonly string[]
  /** The model is the first argument, behind the command. */
  readonly modelStands?: true
  readonly length: readonly string[]
  readonly degrees: DegreeNames
  /** Copies of the model side by side. */
  readonly replicas?: readonly string[]
  readonly precision?: readonly string[]
  readonly quantization?: readonly string[]
  /** Variables that say what the options would, by the option's name. */
  readonly variables?: Readonly<Record<string, string>>
  /** It splits the model over every GPU it sees unless told how many. */
  readonly takesAllGpus?: true
}

const VLLM = {
  name: 'vllm',
  model: ['model', 'model-tag'],
  length: ['max-model-len'],
  degrees: {
    tensor: ['tensor-parallel-size', 'tp'],
    pipeline: ['pipeline-parallel-size', 'pp'],
  },
  replicas: ['data-parallel-size', 'dp'],
  precision: ['dtype'],
  quantization: ['quantization', 'q'],
} as const

/** Names by each engine's own argument parser. */
const ENGINES: readonly Engine[] = [
  {
    ...VLLM,
    programs: ['vllm', 'vllm.entrypoints.cli.main'],
    commands: { serve: 'serve', 'run-batch': 'infer', chat: 'infer', complete: 'infer', bench: 'evaluate' },
    modelStands: true,
  },
  {
    ...VLLM,
    programs: ['vllm.entrypoints.openai.api_server', 'vllm.entrypoints.api_server', 'fastchat.serve.vllm_worker'],
    images: SERVING_IMAGES.vllm,
    model: ['model', 'model-path'],
  },
  { ...VLLM, programs: ['vllm.entrypoints.openai.run_batch'], purpose: 'infer' },
  // NVIDIA Dynamo's workers take the engine's own options (components/src/dynamo).
  { ...VLLM, programs: ['dynamo.vllm'] },
  // KServe's server for Hugging Face models hands what it does not know itself to vLLM (python/huggingfaceserver).
  {
    ...VLLM,
    name: 'huggingfaceserver',
    programs: ['huggingfaceserver'],
    images: SERVING_IMAGES.huggingfaceserver,
    model: ['model-id'],
  },
  // TRL's server for the samples of its trainers, on GPUs of its own.
  { ...VLLM, programs: ['trl', 'trl.scripts.vllm_serve'], commands: { 'vllm-serve': 'serve' } },
  {
    name: 'sglang',
    programs: ['sglang.launch_server', 'sglang_router.launch_server', 'dynamo.sglang', 'dynamo.sglang.worker'],
    images: SERVING_IMAGES.sglang,
    model: ['model-path', 'model'],
    length: ['context-length'],
    degrees: {
      tensor: ['tp', 'tp-size', 'tensor-parallel-size'],
      pipeline: ['pp', 'pp-size', 'pipeline-parallel-size'],
    },
    replicas: ['dp', 'dp-size', 'data-parallel-size'],
    precision: ['dtype'],
    quantization: ['quantization'],
  },
  {
    name: 'tgi',
    programs: ['text-generation-launcher'],
    images: SERVING_IMAGES.tgi,
    model: ['model-id'],
    length: ['max-total-tokens'],
    degrees: { tensor: ['num-shard'] },
    precision: ['dtype'],
    quantization: ['quantize'],
    variables: {
      'model-id': 'MODEL_ID',
      'num-shard': 'NUM_SHARD',
      'max-total-tokens': 'MAX_TOTAL_TOKENS',
      quantize: 'QUANTIZE',
      dtype: 'DTYPE',
    },
    takesAllGpus: true,
  },
  {
    name: 'text-embeddings-inference',
    programs: ['text-embeddings-router'],
    images: SERVING_IMAGES['text-embeddings-inference'],
    model: ['model-id'],
    length: [],
    degrees: {},
    precision: ['dtype'],
    variables: { 'model-id': 'MODEL_ID', dtype: 'DTYPE' },
  },
  {
    name: 'tensorrt-llm',
    programs: ['trtllm-serve'],
    model: ['model'],
    modelStands: true,
    length: ['max-seq-len'],
    degrees: { tensor: ['tp-size'], pipeline: ['pp-size'] },
  },
  {
    name: 'tensorrt-llm',
    programs: ['dynamo.trtllm'],
    model: ['model-path'],
    length: ['max-seq-len'],
    degrees: { tensor: ['tensor-parallel-size'], pipeline: ['pipeline-parallel-size'] },
  },
  { name: 'triton', programs: ['tritonserver'], model: [], length: [], degrees: {} },
  {
    name: 'lmdeploy',
    programs: ['lmdeploy'],
    commands: { serve: 'serve', chat: 'infer' },
    model: ['model'],
    modelStands: true,
    length: ['session-len'],
    degrees: { tensor: ['tp'] },
    precision: ['dtype'],
  },
  {
    name: 'llama.cpp',
    programs: ['llama-server', 'llama_cpp.server'],
    images: SERVING_IMAGES['llama.cpp'],
    model: ['m', 'model', 'hf', 'hfr', 'hf-repo'],
    length: ['c', 'ctx-size', 'n-ctx'],
    degrees: {},
  },
  {
    name: 'llama.cpp',
    programs: ['llama-cli', 'llama-batched', 'llama-bench'],
    purpose: 'infer',
    model: ['m', 'model', 'hf', 'hfr', 'hf-repo'],
    length: ['c', 'ctx-size'],
    degrees: {},
  },
  {
    name: 'ollama',
    programs: ['ollama'],
    images: SERVING_IMAGES.ollama,
    commands: { serve: 'serve', run: 'infer' },
    model: [],
    modelStands: true,
    length: [],
    degrees: {},
  },
  { name: 'fastchat', programs: ['fastchat.serve.model_worker'], model: ['model-path'], length: [], degrees: {} },
]

/** A script of somebody's own that generates with vLLM. */
const SCRIPT: Engine = {
  ...VLLM,
  programs: [],
  model: ['model', 'model-name-or-path', 'model-path', 'model-name', 'model-id'],
}
/** Options that only vLLM's own arguments have: a script that takes them generates with it. */
const VLLM_ONLY = ['tensor-parallel-size', 'gpu-memory-utilization', 'max-model-len']
/** Options of training, which may be split in the same ways (NeuronX Distributed, Megatron's relatives). */
const TRAINING = words(`
  per-device-train-batch-size train-batch-size global-batch-size max-steps train-iters epochs num-epochs num-train-epochs lr
  learning-rate warmup-steps weight-decay
`)
/** Sub-commands that stand behind a command: `lmdeploy serve api_server MODEL`. */
const INNER_COMMANDS = words('api_server gradio throughput latency')

/** Inference engines: what answers requests, for as long as it is left running, or works off a batch of them. */
export const serving: WorkloadReader = {
  name: 'serving',

  refersTo(commandLine) {
    return engineOf(commandLine) === undefined ? [] : pathsOf(configWords(readFlags(commandLine)))
  },

  read(commandLine, context) {
    const found = engineOf(commandLine)
    if (found === undefined) return undefined
    const { engine } = found
    const purpose = found.purpose ?? (context.job.endless ? 'serve' : 'infer')
    const { flags, warnings } = configure(engine, commandLine, context.files)
    const modelName = modelOf(engine, flags, commandLine)
    const precision = precisionIn(flags, engine.precision ?? [])
    const quantization = known(textFlag(flags, engine.quantization ?? []))
    const split = splitOf(engine, flags, commandLine, context)
    const workload: Workload = {
      ...runOf(commandLine, purpose, found.isUnnamed ? undefined : engine.name),
      ...withoutAbsent({
        modelName,
        sequenceLength: known(positive(numberFlag(flags, engine.length))),
        precision,
        weightBits: weightBitsOf(modelName, quantization),
        parallelism: split?.parallelism,
        processes: split?.processes,
      }),
    }
    return { workload, warnings }
  },
}

/** The engine that a command line calls, and what it does there; absent where that hangs on whether the job ends. */
interface FoundEngine {
  readonly engine: Engine
  readonly purpose?: Workload['purpose']
  /** An image of somebody's own, which may hold any engine that takes these options. */
  readonly isUnnamed?: true
}

function engineOf(commandLine: CommandLine): FoundEngine | undefined {
  const name = baseName(commandLine.program)
  const command = commandLine.arguments[0]?.text ?? ''
  const image = imageName(commandLine.program)
  for (const engine of ENGINES) {
    const isProgram = engine.programs.includes(name)
    // An image that is given only options runs its own program.
    const isImage = commandLine.launches.length === 0 && commandLine.program.includes('/') && engine.images?.test(image)
    if (isProgram) {
      const purpose = engine.commands === undefined ? (engine.purpose ?? 'serve') : engine.commands[command]
      if (purpose !== undefined) return { engine, purpose }
    } else if (isImage && !/^[^-]/.test(command)) return { engine, purpose: 'serve' }
  }
  const flags = readFlags(commandLine)
  const isOptioned = commandLine.launches.length === 0 && commandLine.program.includes('/') && command.startsWith('-')
  if (isOptioned && hasFlag(flags, VLLM_ONLY)) return { engine: SCRIPT, isUnnamed: true }
  const isScript = /\.py$/.test(name) && hasFlag(flags, VLLM_ONLY) && !hasFlag(flags, TRAINING)
  if (!isScript || /train|rl|ppo|grpo/.test(name)) return undefined
  return { engine: SCRIPT, purpose: /eval|test|bench/.test(name) ? 'evaluate' : 'infer' }
}

function configWords(flags: Flags): readonly CommandWord[] {
  const config = findFlag(flags, ['config'])?.value
  return config !== undefined && /\.ya?ml$/.test(config.written) ? [config] : []
}

function configure(engine: Engine, commandLine: CommandLine, files: FilesAtHand) {
  const typed = readFlags(commandLine)
  const configured = readConfigured(commandLine, configWords(typed), files, typed)
  const { place, environment } = commandLine
  const set = Object.entries(engine.variables ?? {}).flatMap(([name, variable]): Flag[] => {
    const text = environment[variable]
    const origin: Origin = { kind: 'manifest', place }
    return text === undefined ? [] : [{ name, written: variable, value: { text, written: text, place }, place, origin }]
  })
  return { flags: { ...configured.flags, list: [...set, ...configured.flags.list] }, warnings: configured.warnings }
}

function modelOf(engine: Engine, flags: Flags, commandLine: CommandLine): Sourced<string> | undefined {
  const named = textFlag(flags, engine.model)
  if (named !== undefined || engine.modelStands === undefined) return known(named)
  const behind = commandLine.arguments.slice(engine.commands === undefined ? 0 : 1)
  const word = behind.find(({ written }) => !INNER_COMMANDS.includes(written))
  return word?.text === undefined || word.text.startsWith('-')
    ? undefined
    : sourced(word.text, { kind: 'manifest', place: word.place })
}

function positive(given: Given<number>): Given<number> {
  return given === undefined || given === 'unknown' || given.value > 0 ? given : undefined
}

/** `auto` and `half` are words of these engines, too; `auto` is what the model's own configuration says. */
function precisionIn(flags: Flags, names: readonly string[]): Sourced<Precision> | undefined {
  const word = known(textFlag(flags, names))
  const precision = precisionOf(word?.value)
  return precision && word && sourced(precision, word.origin)
}

/** The GPUs of all copies: one where nothing is said, but for engines that take every GPU they see. */
function splitOf(
  engine: Engine,
  flags: Flags,
  commandLine: CommandLine,
  { peers }: RunContext,
): { parallelism: Sourced<Parallelism>; processes: Sourced<number> } | undefined {
  if (Object.keys(engine.degrees).length === 0) return undefined
  const degrees = degreesOf(flags, engine.degrees)
  const replicas = numberFlag(flags, engine.replicas ?? [])
  if (degrees === undefined || replicas === 'unknown') return undefined
  const said = findFlag(flags, Object.values(engine.degrees).flat()) ?? findFlag(flags, engine.replicas ?? [])
  const all = gpusOnMachine(commandLine, peers)
  const isSharded = known(switchFlag(flags, ['sharded']))?.value !== false
  const tensor = engine.takesAllGpus && said === undefined && isSharded ? Math.max(1, all) : degrees.tensor
  const { pipeline } = degrees
  const copies = replicas?.value ?? 1
  const origin: Origin = said?.origin ?? { kind: 'assumed', reason: `${engine.name}'s default` }
  return {
    parallelism: sourced({ ...degrees, tensor, interleave: 1, sharding: 'none' }, origin),
    processes: sourced(tensor * pipeline * copies, {
      kind: 'computed',
      formula: `${tensor} tensor x ${pipeline} pipeline x ${copies} copies (${engine.name})`,
    }),
  }
}
