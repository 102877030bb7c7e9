import type { Origin, Sourced } from '../sourced.ts'
import { flatten, type Scalar, type Settings } from './settings.ts'

/**
 * Reads the assignments at the left margin of a Python file: texts, numbers, booleans, arithmetic over earlier names, lists,
 * dictionaries and `dict(…)`, and the keyword arguments of other calls. Nothing is run: what would need it is given, but unknown.
 */
export function readPythonSettings(text: string, origin: Origin): Settings {
  const settings = new Map<string, Sourced<Scalar>>()
  const names = new Map<string, unknown>()
  const tokens = tokenize(text)
  for (const statement of statements(tokens)) {
    const [first] = statement
    const equals = statement.findIndex(token => token.text === '=')
    const target = statement.slice(0, Math.max(equals, 0))
    if (first === undefined || first.indent > 0 || !isTarget(target)) continue
    const name = target.map(token => token.text).join('')
    const value = new Expression(statement.slice(equals + 1), names).read()
    names.set(name, value)
    for (const key of settings.keys()) if (key === name || key.startsWith(`${name}.`)) settings.delete(key)
    const at = lineOrigin(origin, first.line)
    for (const [path, scalar] of flatten(value, () => at)) settings.set(path === '' ? name : `${name}.${path}`, scalar)
  }
  return settings
}

function lineOrigin(origin: Origin, line: number): Origin {
  return origin.kind === 'file' ? { kind: 'file', place: { ...origin.place, line } } : origin
}

interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'sign' | 'end'
  readonly text: string
  readonly line: number
  /** Of its line: only statements at the margin always run. */
  readonly indent: number
}

const TOKEN =
  /(?<space>[ \t\f\r]+|\\\n|#[^\n]*)|(?<end>\n)|(?<text>[rRbBuU]{0,2}(?:'''[\s\S]*?'''|"""[\s\S]*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"))|(?<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?|0x[\da-fA-F_]+)|(?<name>[^\W\d]\w*)|(?<sign>\*\*|\/\/|[=!<>]=|[\s\S])/gy

/** A line end counts outside of brackets only. A text that has no end is a sign of its quote. */
function tokenize(code: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  let indent = 0
  let depth = 0
  let lineStart = 0
  for (const match of code.matchAll(TOKEN)) {
    const [text] = match
    const { end, name, number, text: quoted, sign } = match.groups ?? {}
    if (end !== undefined) {
      if (depth === 0) tokens.push({ kind: 'end', text: '', line, indent })
    } else if (name !== undefined || number !== undefined || quoted !== undefined || sign !== undefined) {
      const isFirst = depth === 0 && tokens.at(-1)?.kind !== undefined ? tokens.at(-1)?.kind === 'end' : depth === 0
      if (isFirst) indent = match.index - lineStart
      if (/^[([{]$/.test(text)) depth++
      if (/^[)\]}]$/.test(text)) depth = Math.max(0, depth - 1)
      const kind =
        name !== undefined ? 'name' : number !== undefined ? 'number' : quoted !== undefined ? 'text' : 'sign'
      tokens.push({ kind, text, line, indent })
    }
    const breaks = text.split('\n').length - 1
    line += breaks
    if (breaks > 0) lineStart = match.index + text.lastIndexOf('\n') + 1
  }
  return tokens
}

function statements(tokens: readonly Token[]): Token[][] {
  const found: Token[][] = [[]]
  for (const token of tokens) {
    const isEnd = token.kind === 'end' || token.text === ';'
    if (isEnd) found.push([])
    else found.at(-1)?.push(token)
  }
  return found.filter(statement => statement.length > 0)
}

/** `name`, `name.member` or `name['key']` is left to the program: only the first two are settings. An annotation is left out. */
function isTarget(tokens: readonly Token[]): boolean {
  return (
    tokens.length % 2 === 1 &&
    tokens.every((token, index) => (index % 2 === 0 ? token.kind === 'name' : token.text === '.'))
  )
}

/** Deeper brackets than anybody writes. */
const DEEPEST = 60

/** One expression; a value that would need the program to run is undefined. */
class Expression {
  private readonly tokens: readonly Token[]
  private readonly names: ReadonlyMap<string, unknown>
  private at = 0
  private depth = 0

  constructor(tokens: readonly Token[], names: ReadonlyMap<string, unknown>) {
    this.tokens = tokens
    this.names = names
  }

  read(): unknown {
    const value = this.value()
    if (this.peek() === ',') return undefined
    return this.at === this.tokens.length ? value : undefined
  }

  private peek(): string | undefined {
    return this.tokens[this.at]?.text
  }

  /** A value inside brackets ends at its comma or bracket, whatever stands before it. */
  private value(): unknown {
    if (this.depth > DEEPEST) return undefined
    const value = this.sum()
    const next = this.peek()
    if (next === undefined || [',', ')', ']', '}', ':'].includes(next)) return value
    this.skip()
    return undefined
  }

  private skip(): void {
    let depth = 0
    for (let text = this.peek(); text !== undefined; text = this.peek()) {
      if (depth === 0 && [',', ')', ']', '}'].includes(text)) return
      if (['(', '[', '{'].includes(text)) depth++
      if ([')', ']', '}'].includes(text)) depth--
      this.at++
    }
  }

  private sum(): unknown {
    return this.chain(
      () => this.product(),
      (sign, left, right) => (sign === '+' ? left + right : sign === '-' ? left - right : undefined),
    )
  }

  private product(): unknown {
    return this.chain(
      () => this.power(),
      (sign, left, right) => {
        if (sign === '*') return left * right
        if (sign === '/') return left / right
        if (sign === '//') return Math.floor(left / right)
        return sign === '%' ? left % right : undefined
      },
    )
  }

  /** Operands from left to right for as long as the sign between them is one that `apply` knows. */
  private chain(
    operand: () => unknown,
    apply: (sign: string, left: number, right: number) => number | undefined,
  ): unknown {
    let value = operand()
    for (let sign = this.peek(); sign !== undefined && apply(sign, 1, 1) !== undefined; sign = this.peek()) {
      this.at++
      const right = operand()
      value = typeof value === 'number' && typeof right === 'number' ? finite(apply(sign, value, right)) : undefined
    }
    return value
  }

  private power(): unknown {
    const base = this.atom()
    if (this.peek() !== '**') return base
    this.at++
    const exponent = this.power()
    return typeof base === 'number' && typeof exponent === 'number' ? finite(base ** exponent) : undefined
  }

  private atom(): unknown {
    const token = this.tokens[this.at]
    if (token === undefined) return undefined
    if (token.kind === 'text') return this.text()
    if (token.kind === 'name') return this.named()
    if ([')', ']', '}', ',', ':'].includes(token.text)) return undefined
    this.at++
    if (token.kind === 'number') return finite(Number(token.text.replaceAll('_', '')))
    if (token.text === '-') {
      const value = this.power()
      return typeof value === 'number' ? -value : undefined
    }
    if (token.text === '(') return this.parenthesis()
    if (token.text === '[') return this.items(']')
    if (token.text === '{') return this.dictionary()
    return undefined
  }

  /** Texts that stand side by side are one; `f'…'` is a name before a text and so unknown. */
  private text(): string | undefined {
    let text = ''
    for (let token = this.tokens[this.at]; token?.kind === 'text'; token = this.tokens[++this.at]) {
      const inner = /^[a-zA-Z]*('''|"""|'|")([\s\S]*)\1$/.exec(token.text)?.[2] ?? ''
      text += inner.replace(/\\(['"\\])/g, '$1')
    }
    return text
  }

  private named(): unknown {
    const { text = '' } = this.tokens[this.at++] ?? {}
    let name = text
    while (this.peek() === '.' && this.tokens[this.at + 1]?.kind === 'name') {
      name += `.${this.tokens[this.at + 1]?.text}`
      this.at += 2
    }
    if (this.peek() !== '(') {
      if (this.peek() === '[') return this.unknownRest()
      return name === 'True' ? true : name === 'False' ? false : name === 'None' ? null : this.names.get(name)
    }
    let members: unknown
    while (this.peek() === '(') {
      this.at++
      members = this.keywords()
    }
    return members
  }

  /** An index or a slice: what it picks is not worked out. */
  private unknownRest(): undefined {
    this.skip()
    return undefined
  }

  private parenthesis(): unknown {
    const start = this.at
    const items = this.items(')')
    const comma = this.tokens[this.at - 2]?.text === ',' || items.length !== 1
    return comma || this.at === start + 1 ? items : items[0]
  }

  private items(close: string): unknown[] {
    const items: unknown[] = []
    this.depth++
    while (this.peek() !== undefined && this.peek() !== close) {
      const before = this.at
      items.push(this.value())
      if (this.peek() === ',' || this.at === before) this.at++
    }
    this.at++
    this.depth--
    return items
  }

  private dictionary(): Readonly<Record<string, unknown>> {
    const entries: [string, unknown][] = []
    this.depth++
    while (this.peek() !== undefined && this.peek() !== '}') {
      const before = this.at
      const key = this.value()
      if (this.peek() === ':') {
        this.at++
        const value = this.value()
        if (typeof key === 'string' || typeof key === 'number') entries.push([String(key), value])
      }
      if (this.peek() === ',' || this.at === before) this.at++
    }
    this.at++
    this.depth--
    return Object.fromEntries(entries)
  }

  /** `dict(a=1, b=2)`, and the named arguments of any other call. */
  private keywords(): Readonly<Record<string, unknown>> {
    const entries: [string, unknown][] = []
    this.depth++
    while (this.peek() !== undefined && this.peek() !== ')') {
      const before = this.at
      const name = this.tokens[this.at]
      if (name?.kind === 'name' && this.tokens[this.at + 1]?.text === '=') {
        this.at += 2
        entries.push([name.text, this.value()])
      } else this.value()
      if (this.peek() === ',' || this.at === before) this.at++
    }
    this.at++
    this.depth--
    return Object.fromEntries(entries)
  }
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined
}
