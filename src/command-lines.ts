import type { Place } from './errors.ts'
import type { Warning } from './warning.ts'

/** One word of a command: its text as far as it can be known without running anything. */
export interface CommandWord {
  /** Expanded text; undefined where it hangs on something only known when the job runs. */
  readonly text: string | undefined
  /** The word as written. */
  readonly written: string
  readonly place: Place
}

/** How a launcher multiplies the program it starts. */
export interface Launch {
  /** `torchrun`, `srun`, `accelerate`, `deepspeed`, `mpirun`, `python`. */
  readonly launcher: string
  readonly nodes?: number
  readonly processesPerNode?: number
  readonly processes?: number
  /** The launcher's own options, for readers that need more (`--mixed_precision` of accelerate). */
  readonly options: readonly CommandWord[]
}

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
  /** It stands in a branch or loop whose course is not known. */
  readonly conditional: boolean
  /** Times it is run by a loop over literals; 1 otherwise. */
  readonly repetitions: number
  /** Started with `&`: runs beside its neighbours. */
  readonly background: boolean
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
}

/** The programs that a script would start, in its order. */
export function findCommandLines(
  script: string,
  context: CommandContext,
): { commandLines: CommandLine[]; warnings: Warning[] } {
  const commandLines = script.split('\n').flatMap((line, index) => {
    const words = line.trim().split(/\s+/)
    if (line.trim() === '' || line.startsWith('#')) return []
    const place = { file: context.file, line: context.firstLine + index }
    return peelCommand(
      words.map(word => ({ text: word, written: word, place })),
      context,
    )
  })
  return { commandLines, warnings: [] }
}

/** The programs behind the launchers, containers and shells of one argument vector. */
export function peelCommand(words: readonly CommandWord[], context: CommandContext): CommandLine[] {
  const [first, ...rest] = words
  if (first === undefined) return []
  return [
    {
      program: first.text ?? first.written,
      arguments: rest,
      place: first.place,
      launches: [],
      environment: context.variables,
      conditional: false,
      repetitions: 1,
      background: false,
    },
  ]
}
