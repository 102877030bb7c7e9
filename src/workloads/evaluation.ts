import { baseName } from '../launchers.ts'
import { ownEntry } from '../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { runOf } from './configured.ts'
import { degreesOf } from './degrees.ts'
import {
  type Flag,
  type Flags,
  findFlag,
  flagName,
  known,
  numberFlag,
  positiveFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts'
import { weightBitsOf } from './weight-bits.ts'
import type { RunContext, WorkloadReader } from './workload-reader.ts'

/** Programs and modules of each harness. */
const HARNESSES: Readonly<Record<string, string>> = {
  lm_eval: 'lm-eval',
  'lm-eval': 'lm-eval',
  'lm_eval.__main__': 'lm-eval',
  lighteval: 'lighteval',
  'lighteval.__main__': 'lighteval',
  opencompass: 'opencompass',
  'helm-run': 'helm',
  'helm.benchmark.run': 'helm',
}

/** Back ends that ask a server for answers: nothing is computed here. */
const REMOTE = /api|openai|anthropic|completions|endpoint|litellm|tgi|inference-providers|^dummy$/

/** Evaluation harnesses for language models: lm-eval, lighteval, HELM. */
export const evaluation: WorkloadReader = {
  name: 'evaluation',

  refersTo() {
    return []
  },

  read(commandLine, context) {
    const harness = ownEntry(HARNESSES, baseName(commandLine.program))
    if (harness === undefined) return undefined
    const typed = readFlags(commandLine)
    if (isRemote(harness, typed)) return { workload: runOf(commandLine, 'other', harness), warnings: [] }
    const model = modelArguments(typed)
    const modelName =
      harness === 'helm' ? helmModel(typed) : known(textFlag(model, ['pretrained', 'model-name', 'model']))
    const format = known(textFlag(model, ['dtype']))
    const precision = precisionOf(format?.value)
    const fourBits = known(switchFlag(model, ['load-in-4bit']))
    const workload: Workload = {
      ...runOf(commandLine, 'evaluate', harness),
      ...withoutAbsent({
        modelName,
        precision: precision && format && sourced(precision, format.origin),
        weightBits:
          fourBits?.value === true
            ? sourced(4, fourBits.origin)
            : weightBitsOf(modelName, known(textFlag(model, ['quantization']))),
        microBatch:
          known(positiveFlag(typed, ['batch-size', 'b', 'override-batch-size'])) ??
          known(positiveFlag(model, ['batch-size'])),
        sequenceLength: known(positiveFlag(model, ['max-model-len', 'max-length', 'max-model-length'])),
        ...splitOf(model, context),
      }),
    }
    return { workload, warnings: [] }
  },
}

function isRemote(harness: string, typed: Flags): boolean {
  if (harness === 'helm') return false
  const backend = harness === 'lm-eval' ? known(textFlag(typed, ['model', 'm']))?.value : typed.positionals[0]?.text
  return backend !== undefined && REMOTE.test(backend)
}

/** `pretrained=org/model,dtype=float16` behind `--model_args` or alone, its pairs as options of their own. */
function modelArguments(typed: Flags): Flags {
  const texts = typed.list.flatMap(({ name, written, value }) => {
    if (value === undefined) return []
    if (['model-args', 'a'].includes(name)) return [{ pairs: value.written, value }]
    return written.startsWith('-') ? [] : [{ pairs: `${written}=${value.written}`, value }]
  })
  const list = texts.flatMap(({ pairs, value: { place } }) =>
    pairs.split(',').flatMap((pair): Flag[] => {
      const [, name, given = ''] = /^([\w.]+)=(.*)$/s.exec(pair) ?? []
      if (name === undefined) return []
      const value = { text: /[$`]/.test(given) ? undefined : given, written: given, place }
      return [{ name: flagName(name), written: name, value, place, origin: { kind: 'manifest', place } }]
    }),
  )
  return { list, positionals: [] }
}

/** `--run-entries mmlu:subject=law,model=org/name`, or `--models-to-run org/name`. */
function helmModel(typed: Flags): Sourced<string> | undefined {
  const named = known(textFlag(typed, ['models-to-run']))
  if (named !== undefined) return named
  const entry = known(textFlag(typed, ['run-entries', 'r', 'run-specs']))
  const model = /(?:^|[:,])model=([^,\s]+)/.exec(entry?.value ?? '')?.[1]
  return entry && model !== undefined ? sourced(model, entry.origin) : undefined
}

/** One process for each GPU by the launcher; within vLLM the GPUs of all its copies. */
function splitOf(model: Flags, { processes }: RunContext): Pick<Workload, 'parallelism' | 'processes'> {
  const TENSOR = ['tensor-parallel-size']
  const REPLICAS = ['data-parallel-size']
  const degrees = degreesOf(model, { tensor: TENSOR, pipeline: ['pipeline-parallel-size'] })
  const said = findFlag(model, [...TENSOR, ...REPLICAS])
  if (said === undefined) return withoutAbsent({ processes })
  const copies = numberFlag(model, REPLICAS)
  if (degrees === undefined || copies === 'unknown') return {}
  const count = degrees.tensor * degrees.pipeline * (copies?.value ?? 1)
  return {
    parallelism: sourced({ ...degrees, interleave: 1, sharding: 'none' }, said.origin),
    processes: sourced(count, { kind: 'computed', formula: `${count} GPUs of vLLM's copies` }),
  }
}
