import { type ParsedScript, parse } from 'unbash'
import type { Place } from './errors.ts'

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
export type CommandExpansion = Extract<import('unbash').WordPart, { type: 'CommandExpansion' }>

/** A bash script as a tree, and where each offset of its text stands in the manifest. */
export interface BashScript {
  readonly tree: ParsedScript
  placeOf(offset: number): Place
}

/** Where a script's text begins; `spread` is false where its line breaks are not those of the file. */
export interface BashOrigin {
  readonly file: string
  readonly line: number
  readonly spread: boolean
}

/** Parses a script; what cannot be parsed is listed in `tree.errors`, and the rest is there. */
export function parseBash(text: string, origin: BashOrigin): BashScript {
  const lineStarts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  return {
    tree: parse(text),
    placeOf(offset) {
      if (!origin.spread) return { file: origin.file, line: origin.line }
      const line = lineOf(lineStarts, offset)
      return { file: origin.file, line: origin.line + line, column: offset - (lineStarts[line] ?? 0) + 1 }
    },
  }
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
