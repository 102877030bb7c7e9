import type { Fault } from '../errors.ts'
import type { LineIndex } from './line-index.ts'

/** An error as the YAML parser reports it. */
export interface SyntaxProblem {
  readonly code: string
  readonly pos: readonly [number, number]
  readonly message: string
}

/** The first error, and every tab after it: other errors in its wake are the parser's confusion. */
export function syntaxFaults(problems: readonly SyntaxProblem[], lines: LineIndex): Fault[] {
  const [first, ...rest] = problems
  if (first === undefined) return []
  const tabs = rest.filter(problem => problem.code === 'TAB_AS_INDENT' && problem.pos[0] !== first.pos[0])
  return [first, ...tabs].map(problem => syntaxFault(problem, lines))
}

function syntaxFault(problem: SyntaxProblem, lines: LineIndex): Fault {
  const [what, hint] = plainWords(problem)
  const place = lines.placeAt(firstVisible(lines.text, problem))
  const lineEnd = lines.text.indexOf('\n', problem.pos[0])
  const lineStart = lines.text.lastIndexOf('\n', problem.pos[0] - 1) + 1
  const line = lines.text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).trim()
  return { place, message: `not valid YAML: ${what}, found ${quote(line)}`, hint }
}

/** The parser points at a line's start where its indentation is wrong; people look for the first character. */
function firstVisible(text: string, problem: SyntaxProblem): number {
  const spaces = problem.code === 'TAB_AS_INDENT' ? /^[ ]*/ : /^[ \t]*/
  const start = problem.pos[0]
  return start + (spaces.exec(text.slice(start, start + 1000))?.[0].length ?? 0)
}

const INDENTATION: readonly [string, string] = [
  'wrong indentation',
  'entries of one mapping or list start at the same column',
]
const PLAIN_WORDS: Readonly<Record<string, readonly [string, string]>> = {
  TAB_AS_INDENT: ['a tab is used as indentation', 'indent with spaces'],
  BAD_INDENT: INDENTATION,
  BLOCK_AS_IMPLICIT_KEY: [
    'a second "key:" where one is allowed, or wrong indentation',
    'text with ": " in it needs quotes; entries of one mapping start at the same column',
  ],
  MULTILINE_IMPLICIT_KEY: ['a key without ":", or wrong indentation', 'each entry of a mapping is "key: value"'],
  BAD_SCALAR_START: ['a value starts with a character that YAML keeps for itself', 'put it in quotes'],
  BAD_DQ_ESCAPE: ['an unknown escape in double quotes', 'write \\\\ for a backslash, or use single quotes'],
  UNEXPECTED_TOKEN: ['something stands where a value has ended, or wrong indentation', 'check quotes and indentation'],
  RESOURCE_EXHAUSTION: ['lists or mappings are nested too deeply', 'no Kubernetes object is nested so deeply'],
  KEY_OVER_1024_CHARS: ['a key is longer than 1024 characters', 'check quotes and indentation'],
  BLOCK_IN_FLOW: ['a list item "- " stands inside { } or [ ]', 'write [a, b] inside braces'],
}

function plainWords({ code, message }: SyntaxProblem): readonly [string, string] {
  if (/quote/i.test(message) && code === 'MISSING_CHAR')
    return ['a quote is not closed', 'close it with the same quote']
  if (/Sequence item without/.test(message)) return INDENTATION
  if (/end with a [\]}]|Expected flow (map|sequence) to end|closing [\]}]/i.test(message)) {
    return ['a bracket is not closed', 'close every { and [']
  }
  const known = PLAIN_WORDS[code]
  return known ?? [message.charAt(0).toLowerCase() + message.slice(1), 'see yaml.org/spec']
}

/** Text in quotes, shortened where it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)
}
