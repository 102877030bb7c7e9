import type { CommandLine, CommandWord } from '../command-lines.ts'
import { sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { pathsOf, readConfigured, runOf } from './configured.ts'
import { explainRepeated, type Flags, findFlag, type Given, known, positiveFlag, readFlags } from './flags.ts'
import { precisionFrom } from './precision-flags.ts'
import { type FlagTable, hasFlag, namesOf, readTable } from './training-flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** A toolkit for speech. Batches are put together by length, so that a step has no fixed number of samples. */
interface Toolkit {
  readonly framework: string
  readonly program: RegExp
  /** Options or keys that tell its programs from others of that name; none where the path says it all. */
  readonly own?: readonly string[]
  readonly table: FlagTable
  /** Option that names its configuration; `0` for the first argument that is none. */
  readonly config?: string | 0
  /** Option by which it starts its own processes. */
  readonly processes?: string
  /** The first epoch of this run, counted from 1. */
  readonly firstEpoch?: string
}

const TOOLKITS: readonly Toolkit[] = [
  {
    framework: 'icefall',
    program: /(^|\/)\w+\/(train|finetune)\w*\.py$/,
    own: ['max-duration'],
    table: { epochs: ['num-epochs'], gradientAccumulation: ['accum-steps'] },
    processes: 'world-size',
    firstEpoch: 'start-epoch',
  },
  {
    framework: 'wenet',
    program: /(^|\/|\.)wenet[/.]bin[/.]train(\.py)?$/,
    table: { epochs: ['max-epoch'], gradientAccumulation: ['accum-grad'], modelName: ['encoder'] },
    config: 'config',
  },
  {
    framework: 'espnet',
    program: /(^|\.)espnet2\.bin\.\w+_train$|(^|\/)espnet2\/bin\/\w+_train\.py$/,
    table: { epochs: ['max-epoch'], gradientAccumulation: ['accum-grad'], optimizer: ['optim'] },
    config: 'config',
    processes: 'ngpu',
  },
  {
    framework: 'speechbrain',
    program: /(^|\/)(train|finetune)\w*\.py$/,
    own: ['number-of-epochs', 'n-epochs-schedule', 'train-annotation'],
    table: { epochs: ['number-of-epochs'], gradientAccumulation: ['grad-accumulation-factor'] },
    config: 0,
  },
]

/** icefall, WeNet, ESPnet and SpeechBrain. */
export const speech: WorkloadReader = {
  name: 'speech',

  refersTo(commandLine) {
    return TOOLKITS.filter(({ program }) => program.test(commandLine.program)).flatMap(toolkit =>
      pathsOf(configWords(toolkit, commandLine)),
    )
  },

  read(commandLine, { files, processes: launched }) {
    for (const toolkit of TOOLKITS) {
      if (!toolkit.program.test(commandLine.program)) continue
      const words = configWords(toolkit, commandLine)
      const { flags, typed, warnings } = readConfigured(commandLine, words, files)
      if (toolkit.own !== undefined && !hasFlag(flags, toolkit.own)) continue
      const given = readTable(flags, toolkit.table)
      const processes = toolkit.processes === undefined ? undefined : known(positiveFlag(flags, [toolkit.processes]))
      const workload: Workload = {
        ...runOf(commandLine, 'train', toolkit.framework),
        method: sourced('full', { kind: 'assumed', reason: `${toolkit.framework} trains all parameters` }),
        ...withoutAbsent({
          modelName: known(given.modelName),
          epochs: epochsLeft(given.epochs, flags, toolkit),
          gradientAccumulation: known(given.gradientAccumulation),
          precision: precisionFrom(mixed(flags)),
          optimizer: given.optimizer,
          processes: processes ?? launched,
        }),
      }
      return { workload, warnings: [...warnings, ...explainRepeated(typed, namesOf(toolkit.table))] }
    }
    return undefined
  },
}

function configWords({ config, framework }: Toolkit, commandLine: CommandLine): readonly CommandWord[] {
  if (config === undefined) return []
  const flags = readFlags(commandLine)
  const word = config === 0 ? flags.positionals[0] : findFlag(flags, [config])?.value
  if (word === undefined || !/\.ya?ml$/.test(word.written)) return []
  // Anybody's train.py may have a YAML file; SpeechBrain's lie in a folder of this name.
  return framework === 'speechbrain' && !/(^|\/)hparams\//.test(word.written) ? [] : [word]
}

/** `--use-fp16 1` is icefall's switch. */
function mixed(flags: Flags): Flags {
  const renamed = flags.list.map(flag =>
    /^use-(fp16|bf16)$/.test(flag.name) ? { ...flag, name: flag.name.slice(4) } : flag,
  )
  return { ...flags, list: renamed }
}

function epochsLeft(epochs: Given<number>, flags: Flags, { firstEpoch }: Toolkit): Workload['epochs'] | undefined {
  const first = firstEpoch === undefined ? undefined : positiveFlag(flags, [firstEpoch])
  if (epochs === undefined || epochs === 'unknown' || first === 'unknown') return undefined
  if (first === undefined || first.value === 1) return epochs
  const left = epochs.value - first.value + 1
  return left > 0 ? sourced(left, { kind: 'computed', formula: `epochs ${first.value} to ${epochs.value}` }) : undefined
}
