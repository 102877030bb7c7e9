import type { CommandLine } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import type { Workload } from '../workload.ts'
import { type Flag, type Flags, findFlag, known, parseNumber, switchFlag, textFlag } from './flags.ts'

/**
 * What a program's name says it does; training is what has a length or a batch and is none of these. Of several words the first
 * counts: `train_and_eval` trains, `make_train_set` does not.
 */
const PURPOSES: readonly (readonly [RegExp, Workload['purpose']])[] = [
  [
    /(^|[_.-])(pre-?process|prepare|prep|download|convert|tokenize|make|build|score|plot|export|merge|extract|watch|monitor|setup|collect|stats|index|bench|benchmark|profile|check|visuali[sz]e|compile|simulat|analy[sz]e)/,
    'other',
  ],
  [/(^|[_.-])(eval|evaluate|evaluation|test|validate|val)([_.-]|$)/, 'evaluate'],
  [
    /(^|[_.-])(infer|inference|predict|generate|sample|translate|transcribe|demo|embed|embeddings?|encode|caption|captioning|annotate|rerank|ocr|synthesi[sz]e)([_.-]|$)/,
    'infer',
  ],
  [/(^|[_.-])(serve|server|serving|api_server)([_.-]|$)/, 'serve'],
]

/** What a training program is called: `train_net`, `main_pretrain`, `run_finetuning`, `trainer`. */
const TRAINING = /(^|[_.-])((pre|post)?-?train(er|ing)?|fit|fine-?tun(e|ing))([_.-]|\d|$)/i

/** Options by which a program of several uses is told which. */
const MODES = ['mode', 'phase', 'run-mode', 'run-type', 'action', 'task']

/** Switches by which a program that trains only evaluates what it has; the first two where nothing says for how long. */
const EVALUATES = ['eval', 'evaluate']
const ONLY_EVALUATES = [
  'eval-only',
  'evaluate-only',
  'only-eval',
  'test-only',
  'only-test',
  'validate-only',
  'inference-only',
]
const LENGTHS = /^(max-|num-|n-|train-|total-)?(epochs?|steps|iters|iterations)$/

/** Endings of scripts: Python's, Julia's and R's. */
const SCRIPT = /\.(py|jl|R)$/

/** `deep-index train --epochs 40`: a command of several, told to train and for how long. */
export function isTrainingCommand({ program, arguments: [first] }: CommandLine, flags: Flags): boolean {
  const isTold = /^(train|fit|pretrain|finetune|fine-tune)$/.test(first?.text ?? '')
  return isTold && !/\.\w+$/.test(program) && flags.list.some(isLength)
}

function isLength({ name, value }: Flag): boolean {
  return LENGTHS.test(name) && parseNumber(value?.text) !== undefined
}

/** What a program is told to do (`mode=ppl_eval`, `--phase test`), else what its name says. */
export function purposeOfProgram({ program }: CommandLine, flags: Flags): Workload['purpose'] {
  const told = findFlag(flags, MODES)?.value?.text?.toLowerCase()
  const hasLength = flags.list.some(({ name }) => LENGTHS.test(name))
  const switches = hasLength ? ONLY_EVALUATES : [...EVALUATES, ...ONLY_EVALUATES]
  if (switches.some(name => known(switchFlag(flags, [name]))?.value === true)) return 'evaluate'
  const isTold =
    told !== undefined &&
    /^([a-z]+[_-])?(eval|evaluate|evaluation|test|validate|infer|inference|predict|generate)$/.test(told)
  const name = isTold ? told : baseName(program).replace(SCRIPT, '').toLowerCase()
  if (/(^|[_.-])bench(mark(ing)?)?([_.-]|$)/.test(name) && asksPublishedModel(flags)) return 'infer'
  const trainsAt = foundAt(TRAINING, name)
  const [first] = PURPOSES.map(([pattern, purpose]) => ({ purpose, at: foundAt(pattern, name) }))
    .filter(({ at }) => at < trainsAt)
    .sort((one, other) => one.at - other.at)
  return first?.purpose ?? 'train'
}

function foundAt(pattern: RegExp, name: string): number {
  return pattern.exec(name)?.index ?? Number.POSITIVE_INFINITY
}

/** A benchmark that is given a model of the Hugging Face Hub, and nothing to train it for, lets it answer. */
function asksPublishedModel(flags: Flags): boolean {
  const model = known(textFlag(flags, ['model', 'model-id', 'model-name', 'model-name-or-path']))?.value ?? ''
  const trains = ['epochs', 'num-epochs', 'max-steps', 'learning-rate', 'lr', 'num-iters', 'num-batches-per-iter']
  return /^[\w.-]+\/[\w.-]+$/.test(model) && findFlag(flags, trains) === undefined
}

/** A program that is called so, or told so, trains, even where nothing says for how long. */
export function isCalledTraining({ program }: CommandLine, flags: Flags): boolean {
  const name = baseName(program).replace(SCRIPT, '')
  const told = [findFlag(flags, MODES)?.value?.text, flags.positionals[0]?.text]
  return (
    TRAINING.test(name) ||
    /(^|\/)(pre)?train(ing)?\//.test(program) ||
    known(switchFlag(flags, ['do-train']))?.value === true ||
    told.some(word => /^(train|training|fit|pretrain|finetune|fine-tune)$/i.test(word ?? ''))
  )
}
