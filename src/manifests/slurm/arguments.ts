import type { Fault, Place } from '../../errors.ts'
import type { Origin } from '../../sourced.ts'
import { editDistance } from '../../word-list.ts'

/** One word of an option list, and where it stands. */
export interface Word {
  readonly text: string
  readonly origin: Origin
  readonly place: Place
}

/** What the argument reader has to know of an option. */
export interface Accepted {
  readonly name: string
  readonly short: string | undefined
  readonly argument: 'required' | 'optional' | 'none'
  /** A beginning of its name that no other option has will do. */
  readonly abbreviable: boolean
}

/** Options by name and by letter. */
export interface OptionTable<T extends Accepted> {
  readonly byName: ReadonlyMap<string, T>
  readonly byLetter: ReadonlyMap<string, T>
}

/** An option that was given, with its value as written. */
export interface Given<T extends Accepted> {
  readonly option: T
  readonly value: string | undefined
  /** As it was typed, for messages: `--time=banana`, `-t banana`. */
  readonly written: string
  readonly origin: Origin
  readonly place: Place
  /** Where the value begins, when it is a word or part of a word of its own. */
  readonly valuePlace: Place
}

/** The options of a word list, what is wrong with it, and the first word that is no option. */
export interface Arguments<T extends Accepted> {
  readonly given: readonly Given<T>[]
  readonly faults: readonly Fault[]
  /** Index of the first word that is neither an option nor a value; the number of words when there is none. */
  readonly end: number
}

export function optionTable<T extends Accepted>(options: readonly T[]): OptionTable<T> {
  const byLetter = new Map<string, T>()
  for (const option of options) if (option.short !== undefined) byLetter.set(option.short, option)
  return { byName: new Map(options.map(option => [option.name, option])), byLetter }
}

/**
 * Reads words as getopt_long(3) does without permutation: the first word that is no option ends them. Unlike it, goes on after
 * a word it does not know, so that one reading finds every fault.
 */
export function readArguments<T extends Accepted>(words: readonly Word[], table: OptionTable<T>): Arguments<T> {
  const given: Given<T>[] = []
  const faults: Fault[] = []
  let at = 0
  while (at < words.length) {
    const word = words[at]
    if (word === undefined || !word.text.startsWith('-') || word.text === '-') break
    at += 1
    if (word.text === '--') break
    at += word.text.startsWith('--')
      ? readLongOption(word, words[at], table, given, faults)
      : readLetters(word, words[at], table, given, faults)
  }
  return { given, faults, end: at }
}

/** Answers how many words were used beyond the option's own. */
function readLongOption<T extends Accepted>(
  word: Word,
  next: Word | undefined,
  table: OptionTable<T>,
  given: Given<T>[],
  faults: Fault[],
): number {
  const equals = word.text.indexOf('=')
  const name = word.text.slice(2, equals === -1 ? undefined : equals)
  const attached = equals === -1 ? undefined : word.text.slice(equals + 1)
  const matches = findLong(name, table)
  const [option] = matches
  if (option === undefined || matches.length > 1) {
    faults.push(unknownOption(word, `--${name}`, matches, table))
    return attached === undefined && next !== undefined && !next.text.startsWith('-') ? 1 : 0
  }
  if (attached !== undefined) {
    if (option.argument === 'none') {
      faults.push({ place: word.place, message: `${word.text}: --${option.name} takes no value` })
    } else {
      given.push(makeGiven(option, attached, word, word.text, shift(word.place, equals + 1)))
    }
    return 0
  }
  return takeNext(option, word, next, `--${option.name}`, given, faults)
}

function readLetters<T extends Accepted>(
  word: Word,
  next: Word | undefined,
  table: OptionTable<T>,
  given: Given<T>[],
  faults: Fault[],
): number {
  for (let index = 1; index < word.text.length; index += 1) {
    const letter = word.text.charAt(index)
    const option = table.byLetter.get(letter)
    if (option === undefined) {
      faults.push(unknownOption(word, `-${letter}`, [], table))
      return 0
    }
    const rest = word.text.slice(index + 1)
    if (option.argument === 'none') {
      given.push(makeGiven(option, undefined, word, `-${letter}`, word.place))
    } else if (rest !== '' || option.argument === 'optional') {
      const value = rest === '' ? undefined : rest
      given.push(makeGiven(option, value, word, `-${letter}${rest}`, shift(word.place, index + 1)))
      return 0
    } else {
      return takeNext(option, word, next, `-${letter}`, given, faults)
    }
  }
  return 0
}

function takeNext<T extends Accepted>(
  option: T,
  word: Word,
  next: Word | undefined,
  written: string,
  given: Given<T>[],
  faults: Fault[],
): number {
  if (option.argument !== 'required') {
    given.push(makeGiven(option, undefined, word, written, word.place))
    return 0
  }
  if (next === undefined) {
    faults.push({ place: word.place, message: `${word.text}: a value is missing` })
    return 0
  }
  given.push(makeGiven(option, next.text, word, `${written} ${next.text}`, next.place))
  return 1
}

function makeGiven<T extends Accepted>(
  option: T,
  value: string | undefined,
  word: Word,
  written: string,
  valuePlace: Place,
): Given<T> {
  return { option, value, written, origin: word.origin, place: word.place, valuePlace }
}

function findLong<T extends Accepted>(name: string, table: OptionTable<T>): readonly T[] {
  const exact = table.byName.get(name)
  if (exact !== undefined) return [exact]
  return [...table.byName.values()].filter(option => option.abbreviable && option.name.startsWith(name))
}

function unknownOption<T extends Accepted>(
  word: Word,
  written: string,
  matches: readonly T[],
  table: OptionTable<T>,
): Fault {
  if (matches.length > 1) {
    const names = matches.map(option => `--${option.name}`).join(', ')
    return { place: word.place, message: `${written}: several options begin so`, hint: `one of ${names}` }
  }
  const place = word.place
  const message = `unknown option ${written}`
  const nearest = written.startsWith('--') ? nearestName(written.slice(2), [...table.byName.keys()]) : undefined
  return nearest === undefined ? { place, message } : { place, message, hint: `did you mean --${nearest}?` }
}

/** The name that differs least, where that is a slip of the finger and no other word. */
function nearestName(written: string, names: readonly string[]): string | undefined {
  const lowered = written.toLowerCase().replaceAll('_', '-')
  const closest = names
    .map(name => ({ name, distance: editDistance(lowered, name) }))
    .reduce((best, candidate) => (candidate.distance < best.distance ? candidate : best))
  return closest.distance <= Math.max(1, Math.floor(closest.name.length / 4)) ? closest.name : undefined
}

/** The same line, some columns on. Quotes and escapes inside a word are not counted: the column is then a little early. */
function shift(place: Place, columns: number): Place {
  return place.column === undefined ? place : { ...place, column: place.column + columns }
}
