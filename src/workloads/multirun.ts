import type { CommandLine, CommandWord } from '../command-lines.ts'

/** Hydra's switch for a sweep. */
const SWITCH = /^(-m|--multirun)$/

/**
 * A sweep of Hydra (`-m lr=0.1,0.01 seed=range(3)`) is as many runs as its values combine to; what is swept over differs from run to
 * run and is therefore not known. Any other command line, and a sweep of which a count is not known, is left as it is.
 */
export function asSweep(commandLine: CommandLine): CommandLine {
  const { arguments: words, repetitions } = commandLine
  if (!words.some(word => SWITCH.test(word.written))) return commandLine
  const counts = words.map(countValues)
  const runs = counts.reduce((product, count) => product * count, 1)
  if (runs < 2 || !Number.isFinite(runs)) return commandLine
  const swept = words.map(
    (word, index): CommandWord => ((counts[index] ?? 1) > 1 ? { ...word, text: undefined } : word),
  )
  return { ...commandLine, arguments: swept, repetitions: repetitions * runs }
}

/** Values of one override: those between commas outside of brackets, or of `range(…)` and `choice(…)`. */
function countValues({ text }: CommandWord): number {
  const [, value] = /^\+{0,2}[A-Za-z_][\w./@-]*=(.+)$/s.exec(text ?? '') ?? []
  if (value === undefined) return 1
  const [, sweep, inside = ''] = /^(range|choice)\((.*)\)$/.exec(value) ?? []
  if (sweep === 'range') return countOfRange(inside.split(',').map(Number))
  return (sweep === 'choice' ? inside : value).replace(/\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|'[^']*'|"[^"]*"/g, '').split(',')
    .length
}

/** `range(stop)`, `range(start,stop)`, `range(start,stop,step)`, as Python counts them. */
function countOfRange(numbers: readonly number[]): number {
  const [start = 0, stop = 0, step = 1] = numbers.length === 1 ? [0, ...numbers] : numbers
  return Math.max(0, Math.ceil((stop - start) / step))
}
