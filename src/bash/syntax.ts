import { type ParsedScript, parse } from 'unbash'
import type { Place } from '../errors.ts'

export type {
  ArithmeticExpression,
  ArrayValue,
  Assignment,
  Command,
  CommandNode,
  CompoundList,
  Function as FunctionNode,
  PipelineNode,
  Redirection,
  Statement,
  TestExpression,
  Word,
  WordPart,
} from 'unbash'

export type ParameterExpansion = Extract<import('unbash').WordPart, { type: 'ParameterExpansion' }>
export type HereDoc = Extract<import('unbash').Redirection, { type: 'HereDoc' }>
export type CommandExpansion = Extract<import('unbash').WordPart, { type: 'CommandExpansion' }>

/** A bash script as a tree, and where each offset of its text stands in the manifest. */
export interface BashScript {
  readonly tree: ParsedScript
  placeOf(offset: number): Place
}

/** Where a text was written: from each offset on it stands at another place. */
export type Lines = readonly { readonly offset: number; readonly place: Place }[]

/** Lines of a text whose line breaks are those of the file; undefined where it has none. */
export function linesAsWritten(text: string, { file, line = 1 }: Place): Lines | undefined {
  if (!text.includes('\n')) return undefined
  let offset = 0
  return text.split('\n').map((each, index) => {
    const start = { offset, place: { file, line: line + index } }
    offset += each.length + 1
    return start
  })
}

/** The place of one character of a text. */
export function placeIn(lines: Lines, offset: number): Place | undefined {
  return lines[countBefore(lines, offset) - 1]?.place
}

/** Lines that begin at an offset or before it. A text may have a hundred thousand of them, and as many places may be asked for. */
function countBefore(lines: Lines, offset: number): number {
  let from = 0
  let until = lines.length
  while (from < until) {
    const middle = (from + until) >>> 1
    if ((lines[middle]?.offset ?? 0) <= offset) from = middle + 1
    else until = middle
  }
  return from
}

/** Places of a text that stands further behind in a longer one, or (below zero) of the rest of a text that is cut. */
export function shiftLines(lines: Lines, by: number): Lines {
  const shifted = lines.map(({ offset, place }) => ({ offset: offset + by, place }))
  const first = shifted.findLastIndex(({ offset }) => offset <= 0)
  return first < 0 ? shifted : shifted.slice(first)
}

/** Where a script's text begins. */
export interface BashOrigin {
  readonly place: Place
  /** Where its parts stand; `as-written`: its line breaks are those of the file; undefined: all where it begins. */
  readonly lines: Lines | 'as-written' | undefined
}

/** Substitutions in one another, of which each has to be read with all that is in it: nobody writes a tenth of that. */
const deepestSubstitution = 100

/** Parses a script; what cannot be parsed is listed in `tree.errors`, and the rest is there. */
export function parseBash(text: string, { place, lines }: BashOrigin): BashScript {
  const tree = parseUnlessDeep(text)
  if (lines === undefined) return { tree, placeOf: () => place }
  if (lines !== 'as-written') return { tree, placeOf: offset => placeIn(lines, offset) ?? place }
  const lineStarts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  return {
    tree,
    placeOf(offset) {
      const line = lineOf(lineStarts, offset)
      return { file: place.file, line: (place.line ?? 1) + line, column: offset - (lineStarts[line] ?? 0) + 1 }
    },
  }
}

function parseUnlessDeep(text: string): ParsedScript {
  let depth = 0
  for (const { 0: bracket, index } of text.matchAll(/\$\(|\)/g)) {
    depth = bracket === ')' ? Math.max(0, depth - 1) : depth + 1
    if (depth <= deepestSubstitution) continue
    const message = `more than ${deepestSubstitution} commands stand in one another`
    return { ...parse(''), errors: [{ message, pos: index }] }
  }
  return parse(text)
}

/** Index of the last line that starts at or before the offset. */
function lineOf(lineStarts: readonly number[], offset: number): number {
  let low = 0
  let high = lineStarts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
