import type { Fault, Place } from '../../errors.ts'
import { editDistance } from '../../word-list.ts'
import type { Word } from './arguments.ts'

/** One `#SBATCH` line that counts, split into words. */
export interface Directive {
  readonly line: number
  readonly words: readonly DirectiveWord[]
  /** Text after an unquoted `#`. */
  readonly comment: string | undefined
  /** It begins a further component of a heterogeneous job. */
  readonly separates: boolean
}

/** A word of a directive line, and what part of the script it is written in. */
export interface DirectiveWord extends Word {
  readonly start: number
  readonly end: number
}

/** A line that has the look of a directive and does nothing, or the part of one that is cut off. */
export interface Ignored {
  readonly place: Place
  readonly reason: string
  readonly isPart?: true
}

/** What the head of a script says to sbatch. */
export interface Directives {
  readonly directives: readonly Directive[]
  readonly faults: readonly Fault[]
  readonly ignored: readonly Ignored[]
  /** Some lines begin with `#SLURM`, which sbatch takes and complains about. */
  readonly hasOldName: boolean
  /** Offset of the first line that is neither blank nor a comment; sbatch reads no further. */
  readonly end: number
}

/** A line of a text: its number from 1, its text without the line feed, and where it begins. */
export interface Line {
  readonly number: number
  readonly text: string
  readonly start: number
}

/** Lines one after the other; a script may be long and the part that counts is at its head. */
export function* eachLine(text: string): Generator<Line> {
  let start = 0
  for (let number = 1; start < text.length; number += 1) {
    const end = text.indexOf('\n', start)
    const stop = end === -1 ? text.length : end
    yield { number, text: text.slice(start, stop), start }
    start = stop + 1
  }
}

/**
 * Finds the directives as sbatch does: a line counts when it begins, in its first column, with `#SBATCH`; the first line that is
 * neither blank nor a comment ends the search (sbatch(1)).
 */
export function readDirectives(script: string, file: string): Directives {
  const directives: Directive[] = []
  const faults: Fault[] = []
  const ignored: Ignored[] = []
  let hasOldName = false
  let end = script.length
  for (const line of eachLine(script)) {
    const mark = /^#(?:SBATCH|SLURM)/.exec(line.text)?.[0]
    if (mark !== undefined) {
      hasOldName ||= mark === '#SLURM'
      directives.push(readDirective(line, mark.length, file, faults, ignored))
    } else if (/^[ \t\v\f\r]*[^# \t\v\f\r]/.test(line.text)) {
      end = line.start
      break
    } else {
      const reason = whyIgnored(line.text)
      if (reason !== undefined) ignored.push({ place: { file, line: line.number, column: 1 }, reason })
    }
  }
  ignored.push(...ignoredAfterCommands(script, end, file))
  return { directives, faults, ignored, hasOldName, end }
}

/** `# sbatch --nodes=2 train.slurm large`: a remark on how the script is submitted. */
const calledWithScript = /^\s*#\s+sbatch\s.*\s[^-\s]\S*\.(sh|bash|sbatch|slurm|sl|job|sub|submit|cmd)(\s|$)/

/** Whether a word is another one with a letter wrong, or with its letters in another order. */
function isSlipOf(word: string, meant: string): boolean {
  const sorted = (text: string): string => [...text].sort().join('')
  return word !== meant && (editDistance(word, meant) === 1 || sorted(word) === sorted(meant))
}

/** `##SBATCH` is how people switch a directive off; the other forms look as if somebody meant them. */
function whyIgnored(text: string): string | undefined {
  const misspelt = /^#(S?[A-Z]{3,7})\s+--?[a-zA-Z]/.exec(text)?.[1]
  if (misspelt !== undefined && isSlipOf(misspelt, 'SBATCH')) return `#${misspelt} is not #SBATCH`
  if (!/^\s*#\s*sbatch\s+-/i.test(text) || calledWithScript.test(text)) return undefined
  if (/^\s/.test(text)) return 'a blank stands before #SBATCH'
  if (/^#\s/.test(text)) return 'a blank stands between # and SBATCH'
  return '#SBATCH has to be in capitals'
}

function readDirective(line: Line, from: number, file: string, faults: Fault[], ignored: Ignored[]): Directive {
  const split = splitWords(line, from, file)
  if (split.fault !== undefined) faults.push(split.fault)
  if (split.ignored !== undefined) ignored.push(split.ignored)
  const separates = /^[ \t\v\f\r]*(?:hetjob|packjob)(?![^ \t\v\f\r])/i.test(line.text.slice(from))
  return { line: line.number, words: split.words, comment: split.comment, separates }
}

interface SplitLine {
  readonly words: readonly DirectiveWord[]
  readonly comment: string | undefined
  readonly fault: Fault | undefined
  readonly ignored: Ignored | undefined
}

const blank = ' \t\v\f\r'

/**
 * Splits a line into words as sbatch does, not as a shell would: both kinds of quote group and vanish, a backslash takes the next
 * character as it is (but does not join words over a blank), a bare `#` begins a comment even inside a word, and an empty
 * word (`""`) ends the line.
 */
export function splitWords(line: Line, from: number, file: string): SplitLine {
  const words: DirectiveWord[] = []
  const place = (at: number): Place => ({ file, line: line.number, column: at + 1 })
  const done = (rest: Partial<SplitLine> = {}): SplitLine => ({
    words,
    comment: undefined,
    fault: undefined,
    ignored: undefined,
    ...rest,
  })
  let at = from
  for (;;) {
    while (at < line.text.length && blank.includes(line.text.charAt(at))) at += 1
    if (at >= line.text.length) return done()
    const rest = line.text.slice(at)
    if (/^(?:hetjob|packjob)(?![^ \t\v\f\r])/i.test(rest)) {
      const after = rest.slice(rest.toLowerCase().indexOf('job') + 3).trim()
      const reason = `${after} stands on the line of hetjob, where sbatch reads nothing more`
      return done(after === '' || after.startsWith('#') ? {} : { ignored: { place: place(at), reason } })
    }
    if (line.text.charAt(at) === ':') {
      return done({ fault: { place: place(at), message: 'a word begins with a colon, which sbatch refuses' } })
    }
    const word = readWord(line.text, at)
    if (word.openQuote !== undefined) {
      const message = `a quote is not closed: ${line.text.slice(word.openQuote)}`
      return done({ fault: { place: place(word.openQuote), message } })
    }
    if (word.text !== '') {
      const origin = { kind: 'manifest', place: place(at) } as const
      words.push({ text: word.text, origin, place: place(at), start: line.start + at, end: line.start + word.end })
    }
    const comment = word.comment ? line.text.slice(word.end + 1) : undefined
    if (word.text === '' || comment !== undefined) {
      const reason = `the # in ${line.text.slice(at).trim()} begins a comment: sbatch reads ${word.text}`
      const cut = comment !== undefined && word.end > at && /^[^\s#]/.test(comment)
      const lost = `"" ends the line: ${line.text.slice(word.end).trim()} is not read`
      const hidden = comment === undefined && line.text.slice(word.end).trim() !== ''
      if (cut) return done({ comment, ignored: { place: place(word.end), reason, isPart: true } })
      return done(hidden ? { ignored: { place: place(word.end), reason: lost, isPart: true } } : { comment })
    }
    at = word.end
  }
}

interface RawWord {
  readonly text: string
  readonly end: number
  readonly comment: boolean
  readonly openQuote: number | undefined
}

function readWord(line: string, from: number): RawWord {
  let text = ''
  let quote: string | undefined
  let openQuote: number | undefined
  let at = from
  while (at < line.length) {
    const character = line.charAt(at)
    if (quote === undefined && blank.includes(character)) break
    if (character === '\\') {
      at += 1
      const escaped = line.charAt(at)
      if (quote === undefined && blank.includes(escaped)) break
      text += escaped
    } else if (quote !== undefined) {
      if (character === quote) quote = openQuote = undefined
      else text += character
    } else if (character === '"' || character === "'") {
      quote = character
      openQuote = at
    } else if (character === '#') {
      return { text, end: at, comment: true, openQuote: undefined }
    } else {
      text += character
    }
    at += 1
  }
  return { text, end: Math.min(at, line.length), comment: false, openQuote }
}

/** Directives below the first command; those in here-documents and in the argument of a no-op (`: '…'`) are text. */
function ignoredAfterCommands(script: string, from: number, file: string): readonly Ignored[] {
  const first = script.indexOf('\n#SBATCH', from)
  if (first === -1) return []
  const lines: number[] = []
  let isEnd: ((text: string) => boolean) | undefined
  for (const line of eachLine(script)) {
    if (line.start < from) continue
    if (isEnd !== undefined) {
      if (isEnd(line.text)) isEnd = undefined
    } else {
      isEnd = endOfText(line.text)
      if (/^#SBATCH\s*-/.test(line.text)) lines.push(line.number)
    }
  }
  const [line] = lines
  if (line === undefined) return []
  const where = lines.length === 1 ? 'the line stands' : `lines ${lines.join(', ')} stand`
  return [
    { place: { file, line, column: 1 }, reason: `${where} below the first command, where sbatch no longer looks` },
  ]
}

/** Where a line begins a text of several lines that is no part of the script's own: how its last line is known. */
function endOfText(line: string): ((text: string) => boolean) | undefined {
  const word = /<<-?\s*(["']?)\\?(\w+)\1/.exec(line)?.[2]
  if (word !== undefined) return text => text.trim() === word
  const [, quote, rest] = /^\s*:\s+(["'])(.*)$/.exec(line) ?? []
  return quote === undefined || rest?.includes(quote) ? undefined : text => text.includes(quote)
}
