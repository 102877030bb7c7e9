/** A value as Slurm keeps it (`undefined` = the option is taken back), or what it would have taken instead. */
export type ValueReading = { readonly text: string | undefined } | { readonly expected: string }

/** strtol(3): leading white space and sign are fine, what follows the digits is left; 0 where there are none. */
export function leadingInteger(value: string): number {
  return Number(/^[ \t\n\v\f\r]*([+-]?\d+)/.exec(value)?.[1] ?? 0)
}

/** A whole number as parse_int of sbatch takes it: nothing may follow the digits. */
export function readCount(value: string, least: number): ValueReading {
  const count = /^([ \t\n\v\f\r]*[+-]?\d+)?$/.test(value) ? leadingInteger(value) : -1
  if (count >= least && count < 2147483647) return { text: String(count) }
  return { expected: least === 0 ? 'a whole number' : 'a whole number above 0' }
}

/** One of some words, in any case. */
export function readWord(value: string, words: readonly string[]): ValueReading {
  const word = value.toLowerCase()
  return words.includes(word) ? { text: word } : { expected: words.join(', ') }
}
