import { followScript } from './bash/run.ts'
import type { Cell, Field, Findings } from './bash/scope.ts'
import type { BranchArm, StartedCommand } from './bash/shell.ts'
import { linesAsWritten } from './bash/syntax.ts'
import { showText, unknownText } from './bash/text.ts'
import type { Place } from './errors.ts'
import { type CommandWord, type Launch, peelLaunchers, toCommandWord } from './launchers.ts'
import type { Warning } from './warning.ts'

export type { BranchArm, CommandWord, Launch }

/** One program that a script would start, launchers and containers peeled off. */
export interface CommandLine {
  /** Program or script that does the work: `train.py`, `pretrain_gpt.py`, or a module `llamafactory.cli`. */
  readonly program: string
  readonly arguments: readonly CommandWord[]
  readonly place: Place
  /** From the outermost launcher to the innermost. */
  readonly launches: readonly Launch[]
  /** Variables set for it or exported before it, as far as known. */
  readonly environment: Readonly<Record<string, string>>
  /** Files that the script wrote before it, by the path as written there. */
  readonly writtenFiles: ReadonlyMap<string, string>
  /** It stands in a branch or loop whose course is not known. */
  readonly conditional: boolean
  /** The branch it stands in, where only one of several is taken. */
  readonly arm?: BranchArm
  /** Times it is run by a loop over literals; 1 otherwise. */
  readonly repetitions: number
  /** Started with `&`: runs beside its neighbours. */
  readonly background: boolean
  /** Where it runs, seen from the manifest's folder; absent = there, or where is not known. */
  readonly folder?: string
  /** The container image that it runs in, where a manifest says it. */
  readonly image?: string
}

/** What is known where a command line stands. */
export interface CommandContext {
  readonly file: string
  /** Line of the file where the script begins, from 1. */
  readonly firstLine: number
  /** Environment that the script starts with, as far as known. */
  readonly variables: Readonly<Record<string, string>>
  /** The script's own arguments; empty = none were given. */
  readonly arguments: readonly string[]
  /** Where the script runs, seen from the manifest's folder. */
  readonly folder?: string
  /** Texts of files beside the manifest that it may source, by their paths. */
  readonly sourcedFiles?: ReadonlyMap<string, string> | undefined
}

/** Shells within shells that are followed. */
const DEEPEST_NESTING = 8

/**
 * The programs that a bash script would start, in its order, found without running anything: assignments, defaults,
 * arrays, arithmetic, functions, branches and loops are followed as far as the text decides them.
 */
export function findCommandLines(
  script: string,
  context: CommandContext,
): { commandLines: CommandLine[]; warnings: Warning[]; sources: readonly string[] } {
  const findings: Findings = { defaults: new Map(), missingArguments: new Map(), assumedEmpty: 0, askedArguments: 0 }
  const given = context.arguments.map((text): Cell => ({ text, place: undefined }))
  const { started, errors, unfollowed, sources } = followScript(script, {
    file: context.file,
    firstLine: context.firstLine,
    lines: 'as-written',
    variables: context.variables,
    arguments: given.length === 0 ? undefined : given,
    findings,
    folder: context.folder,
    sourcedFiles: context.sourcedFiles,
  })
  const commandLines = mergeRepeated(started.flatMap(command => peelStarted(command, findings, 0)))
  const warnings: Warning[] = []
  const error = errors[0]
  if (error !== undefined) {
    warnings.push({
      code: 'cannot-parse-script',
      text: `the script is not valid bash from here on: ${error.message}; what stands after it may be missing below`,
      place: error.place,
    })
  }
  if (unfollowed !== undefined) {
    warnings.push({
      code: 'cannot-parse-script',
      text: 'the script goes round too often to be followed to its end',
      place: unfollowed,
    })
  }
  return { commandLines, warnings: [...warnings, ...explainFindings(findings)], sources }
}

/** The programs behind the launchers, containers and shells of one argument vector. */
export function peelCommand(words: readonly CommandWord[], context: CommandContext): CommandLine[] {
  const [first] = words
  if (first === undefined) return []
  const fields = words.map(({ text, written, place }): Field => {
    const lines = text === undefined ? undefined : linesAsWritten(text, place)
    return { text: text ?? markUnknown(written), place, lines }
  })
  const started: StartedCommand = {
    words: fields,
    place: first.place,
    input: undefined,
    environment: context.variables,
    exported: context.variables,
    writtenFiles: new Map(),
    conditional: false,
    arm: undefined,
    repetitions: 1,
    background: false,
    folder: '',
  }
  return mergeRepeated(
    peelStarted(started, { defaults: new Map(), missingArguments: new Map(), assumedEmpty: 0, askedArguments: 0 }, 0),
  )
}

/** References within a word of an argument vector: the shell's, Kubernetes' `$(NAME)`, a template's. */
const REFERENCE = /\$\(\w+\)|\$\{[^}]*\}|\$\w+|\{\{(?:(?!\{\{).)*?\}\}/g

function markUnknown(written: string): string {
  const marked = written.replace(REFERENCE, unknownText)
  return marked === written ? unknownText(written) : marked
}

function peelStarted(started: StartedCommand, findings: Findings, depth: number): CommandLine[] {
  const peeled = peelLaunchers(started.words, started.environment)
  const environment = { ...started.environment, ...peeled.environment }
  const [first, ...rest] = peeled.words
  if (peeled.kind === 'program') {
    if (first === undefined) return []
    const arm = started.arm === undefined ? {} : { arm: started.arm }
    return [
      {
        program: showText(first.text),
        arguments: rest.map(toCommandWord),
        place: started.place,
        launches: peeled.launches,
        environment,
        writtenFiles: started.writtenFiles,
        conditional: started.conditional,
        ...arm,
        repetitions: started.repetitions,
        background: started.background,
        ...(started.folder === '' ? {} : { folder: started.folder }),
      },
    ]
  }
  const script = peeled.kind === 'script' ? first : started.input
  if (script === undefined && peeled.launches.some(isAtTerminal)) return [interactiveShell(started, peeled.launches)]
  if (script === undefined || depth > DEEPEST_NESTING) return []
  const inner = followScript(script.text, {
    file: script.place.file,
    firstLine: script.place.line ?? 1,
    lines: script.lines,
    variables: { ...started.exported, ...environment },
    // `bash -c script name one two`: the name is $0, the arguments begin after it.
    arguments: rest.slice(1),
    findings,
    folder: started.folder,
  })
  return inner.started
    .flatMap(command =>
      peelStarted(
        { ...command, writtenFiles: new Map([...started.writtenFiles, ...command.writtenFiles]) },
        findings,
        depth + 1,
      ),
    )
    .map(line => ({
      ...line,
      launches: [...peeled.launches, ...line.launches],
      conditional: line.conditional || started.conditional,
      ...(line.arm === undefined && started.arm !== undefined ? { arm: started.arm } : {}),
      repetitions: line.repetitions * started.repetitions,
      background: line.background || started.background,
    }))
}

/** `srun --pty bash`: a shell without a script, for the person at the terminal. */
function isAtTerminal({ options }: Launch): boolean {
  return options.some(({ written }) => written === '--pty')
}

function interactiveShell(started: StartedCommand, launches: readonly Launch[]): CommandLine {
  const { place, environment, writtenFiles, conditional, repetitions, background } = started
  return {
    program: 'bash',
    arguments: [],
    place,
    launches,
    environment,
    writtenFiles,
    conditional,
    repetitions,
    background,
  }
}

/** The same command at the same place, started by a loop, is one with repetitions. */
function mergeRepeated(lines: readonly CommandLine[]): CommandLine[] {
  const merged: CommandLine[] = []
  const byPlace = new Map<string, number[]>()
  for (const line of lines) {
    const key = `${line.place.line}:${line.place.column}`
    const standing = byPlace.get(key) ?? []
    const at = standing.find(index => isSameCommand(merged[index], line))
    const before = at === undefined ? undefined : merged[at]
    if (at !== undefined && before !== undefined) {
      merged[at] = { ...before, repetitions: before.repetitions + line.repetitions }
    } else byPlace.set(key, [...standing, merged.push(line) - 1])
  }
  return merged
}

function isSameCommand(one: CommandLine | undefined, other: CommandLine): boolean {
  return (
    one?.program === other.program &&
    one.conditional === other.conditional &&
    one.arm?.branch === other.arm?.branch &&
    one.arm?.arm === other.arm?.arm &&
    one.arguments.length === other.arguments.length &&
    one.arguments.every((word, index) => word.written === other.arguments[index]?.written)
  )
}

/** Where something lies or listens, which decides no figure. */
function isPlace(name: string, value: string): boolean {
  return /^(\.{0,2}\/|[~$])/.test(value) || /(PORT|ADDR|ADDRESS)$/i.test(name)
}

/** What tells libraries how to go about it, and not what is to be done. */
const ABOUT_LIBRARIES =
  /^(XLA_FLAGS|TOKENIZERS_PARALLELISM|HF_(HOME|TOKEN|HUB_\w+|DATASETS_\w+)|(OMP|MKL)_NUM_THREADS|(NCCL|UCX|TF|TORCH|PYTORCH|WANDB|LD)_\w+|PYTHON\w*)$/

function explainFindings(findings: Findings): Warning[] {
  const warnings: Warning[] = []
  const defaults = [...findings.defaults].filter(
    ([name, cell]) => !isPlace(name, showText(cell.text)) && !ABOUT_LIBRARIES.test(name),
  )
  const place = defaults[0]?.[1].place
  if (place !== undefined) {
    const listed = defaults.map(([name, cell]) => `${name}=${showText(cell.text)}`)
    warnings.push({
      code: 'default-filled',
      text: `taken from the script's own defaults, which the environment or arguments at submission can change: ${listed.join(', ')}`,
      place,
    })
  }
  const missing = [...findings.missingArguments]
  if (missing[0] !== undefined) {
    warnings.push({
      code: 'unknown-arguments',
      text: `the script takes arguments that were not given: ${missing.map(([name]) => `$${name}`).join(', ')}; give them after the file as for sbatch`,
      place: missing[0][1],
    })
  }
  return warnings
}
