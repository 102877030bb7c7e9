import type { Place } from '../errors.ts'
import { fileText } from './files.ts'
import { fileOperand, picksAnyLine, printedBy, type Stage } from './programs.ts'
import {
  type Cell,
  type Field,
  type Found,
  findCell,
  findCells,
  isOwnArgument,
  noteAsked,
  type Scope,
  setVariable,
} from './scope.ts'
import {
  type ArithmeticExpression,
  type Command,
  type CommandExpansion,
  type HereDoc,
  type Lines,
  type ParameterExpansion,
  placeIn,
  shiftLines,
  type Word,
  type WordPart,
} from './syntax.ts'
import { anyLine, globToRegExp, isKnown, isShort, isUnknown, unknownText } from './text.ts'

/** A part of a word after expansion; `next` begins another word. */
type Piece = (Cell & { readonly splits: boolean; readonly quoted: boolean }) | 'next'

/** The text of a word where bash does no splitting: the right side of an assignment, a pattern, a here-document. */
export function expandText(
  word: Word | readonly WordPart[] | undefined,
  scope: Scope,
  unset: 'unknown' | 'empty' = 'unknown',
): string {
  if (word === undefined) return ''
  const parts = 'type' in word ? word.parts : word
  if (parts === undefined) return 'type' in word ? word.value : ''
  if (parts.length > mostParts) return unknownText(parts.map(part => part.text).join(''))
  const pieces = parts.flatMap(part => expandPart(part, scope, true, unset))
  return pieces.map(piece => (piece === 'next' ? ' ' : piece.text)).join('')
}

/** The value that an assignment gives: its text, and where each part of it stands. */
export function expandValue(word: Word, scope: Scope): Cell {
  const place = scope.script.placeOf(word.pos)
  if ((word.parts?.length ?? 0) > mostParts) return { text: unknownText(word.text), place }
  const pieces = (word.parts ?? []).flatMap(part => expandPart(part, scope, true, 'unknown'))
  if (word.parts === undefined) return { text: word.value, place }
  return joinCells(
    pieces.map(piece => (piece === 'next' ? { text: ' ', place } : piece)),
    place,
  )
}

/** Puts texts one behind the other; those without a line of their own stand at `place`. */
export function joinCells(cells: readonly Cell[], place: Place): Cell {
  const told = cells.filter(({ text }) => text !== '')
  const first = told[0] ?? cells.at(-1)
  const text = told.map(cell => cell.text).join('')
  const ownPlace = first?.place ?? place
  if (told.length < 2) return { text, place: ownPlace, lines: first?.lines }
  if (told.every(({ lines }) => lines === undefined)) return { text, place: ownPlace }
  let length = 0
  const lines = told.flatMap(cell => {
    const own = cell.lines ?? [{ offset: 0, place: cell.place ?? place }]
    const shifted = shiftLines(own, length)
    length += cell.text.length
    return shifted
  })
  return { text, place: ownPlace, lines }
}

/** Parts of a word that are looked into: one of more is no text that anybody wrote to be known. */
const mostParts = 5_000

/** The words that one written word becomes: none, one or many. */
export function expandWord(word: Word, scope: Scope, unset: 'unknown' | 'empty' = 'unknown'): Field[] {
  const place = scope.script.placeOf(word.pos)
  if (word.parts === undefined) return [{ text: word.value, place }]
  if (word.parts.length > mostParts) return [{ text: unknownText(word.text), place }]
  return expandBraces(word.parts).flatMap(parts => {
    const pieces = parts.flatMap(part => expandPart(part, scope, false, unset))
    return assembleFields(pieces, place)
  })
}

function assembleFields(pieces: readonly Piece[], wordPlace: Place): Field[] {
  const fields: Cell[] = []
  let open: Cell[] = []
  const close = () => {
    if (open.length > 0) fields.push(joinCells(open, wordPlace))
    open = []
  }
  for (const piece of pieces) {
    if (piece === 'next') {
      close()
      continue
    }
    const words = piece.splits ? splitCell(piece) : [piece]
    words.forEach((word, index) => {
      if (index > 0) close()
      if (word.text !== '' || piece.quoted) open.push(word)
    })
  }
  close()
  return fields.map(({ text, place = wordPlace, lines }) => ({ text, place, lines }))
}

/** The words of a text, each where it stands. */
function splitCell({ text, place, lines }: Cell): Cell[] {
  if (lines === undefined) return text.split(/[ \t\n]+/).map(word => ({ text: word, place }))
  let offset = 0
  return text.split(/([ \t\n]+)/).flatMap((word, index): Cell[] => {
    const start = offset
    offset += word.length
    return index % 2 === 1 ? [] : [{ text: word, place: placeIn(lines, start) ?? place }]
  })
}

/** Where the lines of a quoted or plain text stand, given its source; undefined where it is on one line. */
function literalLines(source: string, position: number, escapes: boolean, scope: Scope): Lines | undefined {
  if (!source.includes('\n')) return undefined
  const lines = [{ offset: 0, place: scope.script.placeOf(position) }]
  let offset = 0
  for (let at = 0; at < source.length; at++) {
    const isEscape = escapes && source[at] === '\\'
    // A backslash at the end of a line takes the line break with it; before others that mean something, only itself.
    if (isEscape && /[$`"\\\n]/.test(source[at + 1] ?? '')) at++
    const isBreak = source[at] === '\n'
    if (!(isEscape && isBreak)) offset++
    if (isBreak) lines.push({ offset, place: scope.script.placeOf(position + at + 1) })
  }
  return lines
}

/** Words that braces are written out to; more stay as they are written. */
const MOST_WORDS = 10_000

/** `{1..3}` and `{a,b}` written out; one list of parts for each. */
function expandBraces(parts: readonly WordPart[]): (readonly WordPart[])[] {
  const at = parts.findIndex(part => part.type === 'BraceExpansion')
  const brace = parts[at]
  if (brace === undefined) return [parts]
  const braces = parts.filter(part => part.type === 'BraceExpansion')
  const count = braces.reduce((product, { text }) => product * braceTexts(text).length, 1)
  const literals = count > MOST_WORDS ? [brace.text] : braceTexts(brace.text)
  return literals.flatMap(text =>
    expandBraces([
      ...parts.slice(0, at),
      { type: 'Literal', pos: brace.pos, end: brace.end, value: text, text },
      ...parts.slice(at + 1),
    ]),
  )
}

function braceTexts(text: string): string[] {
  const range = /^\{(-?\d+)\.\.(-?\d+)(?:\.\.(\d+))?\}$/.exec(text)
  if (range !== null) {
    const [, first = '', last = '', by = 1] = range
    const [from, to, step] = [Number(first), Number(last), Number(by) || 1]
    const length = Math.floor(Math.abs(to - from) / step) + 1
    if (length > MOST_WORDS) return [text]
    // `{01..10}` keeps the width of its ends.
    const width = /^0\d/.test(first) || /^0\d/.test(last) ? Math.max(first.length, last.length) : 0
    return Array.from({ length }, (_, index) =>
      String(from + index * step * Math.sign(to - from || 1)).padStart(width, '0'),
    )
  }
  const inner = text.slice(1, -1)
  return /[{}$"'`\\]/.test(inner) || !inner.includes(',') ? [text] : inner.split(',')
}

function expandPart(part: WordPart, scope: Scope, quoted: boolean, unset: 'unknown' | 'empty'): Piece[] {
  // What has no line of its own (a variable's has) stands where the part is written.
  return expandOnePart(part, scope, quoted, unset).map(piece =>
    piece === 'next' || piece.place !== undefined ? piece : { ...piece, place: scope.script.placeOf(part.pos) },
  )
}

function expandOnePart(part: WordPart, scope: Scope, quoted: boolean, unset: 'unknown' | 'empty'): Piece[] {
  switch (part.type) {
    case 'Literal': {
      const lines = literalLines(part.text, part.pos, true, scope)
      return [{ ...pieceOf(part.value, quoted), lines }]
    }
    case 'SingleQuoted': {
      const lines = literalLines(part.text.slice(1, -1), part.pos + 1, false, scope)
      return [{ ...pieceOf(part.value, true), lines }]
    }
    case 'AnsiCQuoted':
      return [pieceOf(part.value, true)]
    case 'DoubleQuoted':
    case 'LocaleString': {
      if (part.parts.length > mostParts)
        return [pieceOf(unknownText(part.parts.map(({ text }) => text).join('')), true)]
      const inside = part.parts.flatMap(child => expandPart(child, scope, true, unset))
      return inside.length > 0 || part.parts.length > 0 ? inside : [pieceOf('', true)]
    }
    case 'SimpleExpansion':
      return expandVariable(part.text.slice(1), undefined, part.text, scope, quoted, unset, part.pos)
    case 'ParameterExpansion':
      return expandParameter(part, scope, quoted, unset)
    case 'CommandExpansion':
      return [pieceOf(captureOutput(part, scope), quoted, !quoted)]
    case 'ArithmeticExpansion': {
      const value = part.expression && evaluateArithmetic(part.expression, scope)
      return [pieceOf(value === undefined ? unknownText(part.text) : String(value), quoted)]
    }
    case 'ProcessSubstitution':
      return [pieceOf(unknownText(part.text), quoted)]
    default:
      return [pieceOf(part.text, quoted)]
  }
}

function pieceOf(text: string, quoted: boolean, splits = false): Exclude<Piece, 'next'> {
  return { text, splits, quoted, place: undefined }
}

function listPieces(cells: readonly Cell[], joined: boolean, quoted: boolean): Piece[] {
  if (joined) return [pieceOf(cells.map(cell => cell.text).join(' '), true)]
  return cells.flatMap((cell, index): Piece[] => {
    const piece: Piece = { ...cell, splits: !quoted, quoted }
    return index === 0 ? [piece] : ['next', piece]
  })
}

/** `$name`, `${name}` or `${name[index]}` without an operation. */
function expandVariable(
  name: string,
  index: Word | undefined,
  written: string,
  scope: Scope,
  quoted: boolean,
  unset: 'unknown' | 'empty',
  position: number,
): Piece[] {
  const key = index === undefined ? undefined : expandText(index, scope)
  if (name === '@' || name === '*' || key === '@' || key === '*') {
    const cells = findCells(scope, name)
    const joined = quoted && (name === '*' || key === '*')
    return cells === undefined ? [pieceOf(unknownText(written), quoted)] : listPieces(cells, joined, quoted)
  }
  if (name === '#') {
    if (scope.positional === undefined) scope.findings.assumedEmpty++
    noteAsked(scope, name)
    return [pieceOf(String(scope.positional?.length ?? 0), quoted)]
  }
  const found = findCell(scope, name, key === undefined ? '0' : arrayIndex(key, scope))
  if (found === 'unset' && unset === 'empty' && !scope.mayBeSet) {
    scope.findings.assumedEmpty++
    noteAsked(scope, name)
    return quoted ? [pieceOf('', quoted)] : []
  }
  if (found === 'unset' || found === 'unknown') {
    if (isOwnArgument(scope, name) && !scope.findings.missingArguments.has(name)) {
      scope.findings.missingArguments.set(name, scope.script.placeOf(position))
    }
    return [pieceOf(unknownText(written), quoted)]
  }
  return [{ ...found, splits: !quoted, quoted }]
}

/** The key of `a[key]`: a number where it is arithmetic, else itself (an associative array). */
function arrayIndex(key: string, scope: Scope): string {
  if (/^-?\d+$/.test(key)) return key
  const found = /^\w+$/.test(key) ? findCell(scope, key) : 'unset'
  return found !== 'unset' && found !== 'unknown' && /^\d+$/.test(found.text) ? found.text : key
}

function expandParameter(part: ParameterExpansion, scope: Scope, quoted: boolean, unset: 'unknown' | 'empty'): Piece[] {
  const { parameter: name, operation } = part
  const one = (text: string | undefined): Piece[] => [
    pieceOf(text ?? unknownText(part.text), quoted, !quoted && text !== undefined),
  ]
  const key = part.index === undefined ? undefined : expandText(part.index, scope)
  const isList = key === '@' || key === '*' || name === '@' || name === '*'
  if (part.prefix === '#') return one(lengthOf(name, key, isList, scope))
  if (part.prefix === '!') return one(indirectText(name, key, scope))
  if (operation === undefined) return expandVariable(name, part.index, part.text, scope, quoted, unset, part.pos)
  if (isList) {
    const cells = findCells(scope, name)
    if (cells === undefined || operation.type !== 'Slice') return one(undefined)
    const offset = numberOf(operation.offset, scope)
    const length = operation.length === undefined ? cells.length : numberOf(operation.length, scope)
    // `${@:2}` begins with the second argument, `${array[@]:2}` with the third element.
    const isArguments = name === '@' || name === '*'
    const from = offset !== undefined && offset > 0 && isArguments ? offset - 1 : offset
    if (from === undefined || length === undefined || cells.some(cell => isUnknown(cell.text))) return one(undefined)
    return listPieces(cells.slice(from, from + length), quoted && key === '*', quoted)
  }
  const found = findCell(scope, name, key === undefined ? '0' : arrayIndex(key, scope))
  if (operation.type === 'Default') return expandDefault(part, found, scope, quoted)
  if (found === 'unset' && unset === 'empty' && !scope.mayBeSet) {
    scope.findings.assumedEmpty++
    noteAsked(scope, name)
    return one('')
  }
  if (found === 'unset' || found === 'unknown' || !isKnown(found.text) || !isShort(found.text)) return one(undefined)
  const { text } = found
  switch (operation.type) {
    case 'Remove':
      return one(removePattern(text, expandText(operation.operand, scope), operation.operator))
    case 'Replace':
      return one(
        replacePattern(
          text,
          expandText(operation.pattern, scope),
          expandText(operation.replacement, scope),
          operation.operator,
        ),
      )
    case 'Slice': {
      const from = numberOf(operation.offset, scope)
      const length = operation.length === undefined ? text.length : numberOf(operation.length, scope)
      if (from === undefined || length === undefined) return one(undefined)
      const start = from < 0 ? text.length + from : from
      return one(text.slice(start, length < 0 ? length : start + length))
    }
    case 'CaseModification': {
      if (operation.operand !== undefined) return one(undefined)
      if (operation.operator === '^^') return one(text.toUpperCase())
      if (operation.operator === ',,') return one(text.toLowerCase())
      const first = operation.operator === '^' ? text.charAt(0).toUpperCase() : text.charAt(0).toLowerCase()
      return one(first + text.slice(1))
    }
    default:
      return one(undefined)
  }
}

/** `${name:-word}` and its kin. What nobody set takes the script's own default, which is remembered. */
function expandDefault(part: ParameterExpansion, found: Found, scope: Scope, quoted: boolean): Piece[] {
  const { operation } = part
  if (operation?.type !== 'Default') return []
  const { operator, operand } = operation
  const emptyCounts = operator.startsWith(':')
  const isSet = typeof found === 'object' && !(emptyCounts && found.text === '')
  const other = (): Piece[] => {
    if (operand.parts === undefined) return [pieceOf(operand.value, quoted, !quoted)]
    return operand.parts.flatMap(child => expandPart(child, scope, quoted, 'unknown'))
  }
  if (found === 'unknown') return [pieceOf(unknownText(part.text), quoted)]
  if (operator.endsWith('+')) return isSet ? other() : [pieceOf('', quoted, !quoted)]
  if (isSet) return [{ ...found, splits: !quoted, quoted }]
  if (operator.endsWith('?')) return [pieceOf(unknownText(part.text), quoted)]
  const pieces = other()
  const text = pieces.map(piece => (piece === 'next' ? ' ' : piece.text)).join('')
  const place = scope.script.placeOf(part.pos)
  if (found === 'unset' && text !== '' && part.index === undefined && !part.parameter.startsWith('SLURM_')) {
    const name = /^\d/.test(part.parameter) ? `argument ${part.parameter}` : part.parameter
    if (!scope.findings.defaults.has(name)) scope.findings.defaults.set(name, { text, place })
  }
  if (operator.endsWith('=')) setVariable(scope, part.parameter, { text, place })
  return pieces
}

function lengthOf(name: string, key: string | undefined, isList: boolean, scope: Scope): string | undefined {
  if (isList) {
    const cells = name === '@' || name === '*' ? scope.positional : findCells(scope, name)
    return cells === undefined || cells.some(cell => isUnknown(cell.text)) ? undefined : String(cells.length)
  }
  const found = findCell(scope, name, key)
  return typeof found === 'object' && isKnown(found.text) ? String(found.text.length) : undefined
}

function indirectText(name: string, key: string | undefined, scope: Scope): string | undefined {
  if (key === '@' || key === '*') {
    const variable = scope.variables.get(name)
    return variable && [...variable.cells.keys()].join(' ')
  }
  const pointer = findCell(scope, name, key)
  const target = typeof pointer === 'object' && isKnown(pointer.text) ? findCell(scope, pointer.text) : 'unknown'
  return typeof target === 'object' ? target.text : undefined
}

function numberOf(word: Word, scope: Scope): number | undefined {
  const text = expandText(word, scope).trim()
  if (/^-?\d+$/.test(text)) return Number(text)
  const found = findCell(scope, text)
  return typeof found === 'object' && /^-?\d+$/.test(found.text) ? Number(found.text) : undefined
}

function removePattern(text: string, pattern: string, operator: '#' | '##' | '%' | '%%'): string | undefined {
  const fromStart = operator.startsWith('#')
  if (fromStart) return globReplace(text, pattern, 'prefix', operator === '##')
  const whole = globToRegExp(pattern, 'whole')
  if (whole === undefined) return undefined
  const ends = Array.from({ length: text.length + 1 }, (_, index) => index)
  const at =
    operator === '%%' ? ends.find(i => whole.test(text.slice(i))) : ends.findLast(i => whole.test(text.slice(i)))
  return at === undefined ? text : text.slice(0, at)
}

function globReplace(text: string, pattern: string, reach: 'prefix', greedy: boolean): string | undefined {
  const expression = globToRegExp(pattern, reach, greedy)
  return expression && text.replace(expression, '')
}

function replacePattern(
  text: string,
  pattern: string,
  replacement: string,
  operator: '/' | '//' | '/#' | '/%',
): string | undefined {
  const reach = operator === '/#' ? 'prefix' : operator === '/%' ? 'suffix' : 'any'
  const expression = globToRegExp(pattern, reach)
  if (expression === undefined) return undefined
  const all = new RegExp(expression.source, operator === '//' ? 'g' : '')
  return pattern === '' ? text : text.replace(all, () => replacement)
}

/** The text of a here-document: as written where its end is quoted, else expanded, `\$` being a dollar. */
export function heredocText({ body, delimiter }: HereDoc, scope: Scope): string {
  if (body.parts !== undefined) return expandText(body.parts, scope)
  return delimiter?.quoted === true
    ? body.text
    : body.text.replace(/\\([$`\\]|\n)/g, (_, escaped: string) => escaped.trimEnd())
}

/** Characters of a substitution that is looked into: what a longer one prints nobody wrote to be known. */
const longestSubstitution = 10_000

/** What a command substitution prints, or a mark. */
function captureOutput(part: Pick<CommandExpansion, 'text' | 'script' | 'pos'>, scope: Scope): string {
  return printedInside(part, scope)?.replace(/\n+$/, '') ?? unknownText(part.text)
}

/** What the commands of a substitution print; undefined where that cannot be known. */
function printedInside(
  { text: written, script, pos }: Pick<CommandExpansion, 'text' | 'script' | 'pos'>,
  scope: Scope,
): string | undefined {
  const [statement, ...more] = written.length > longestSubstitution ? [] : (script?.commands ?? [])
  if (statement === undefined || more.length > 0) return undefined
  const commands = statement.command.type === 'Pipeline' ? statement.command.commands : [statement.command]
  const inner: Scope =
    script?.source === undefined
      ? scope
      : { ...scope, script: { ...scope.script, placeOf: () => scope.script.placeOf(pos) } }
  let text: string | undefined
  let linesAreKnown = false
  let before: Stage | undefined
  for (const command of commands) {
    if (command.type !== 'Command') return undefined
    const input = givenTo(command, inner) ?? text
    // `$(< file)` is what the file says.
    if (command.name === undefined) return commands.length === 1 ? input : undefined
    const stage = stageOf(command, command.name, inner)
    const operand = fileOperand(stage.program, stage.args)
    const read = operand === undefined ? input : fileText(inner, operand.path)
    const args = operand?.rest ?? stage.args
    const picked = before !== undefined && picksAnyLine(before, { ...stage, args }) ? text : undefined
    const counted = countedByCluster(stage.program, stage.args, scope)
    linesAreKnown ||= counted !== undefined
    const isFirstOfPick = read !== undefined && /^(head|tail)$/.test(stage.program) && args.some(isUnknownCount)
    text = isFirstOfPick ? anyLine(read) : (picked ?? counted ?? printedBy(stage.program, args, read, linesAreKnown))
    if (text === undefined || (before !== undefined && picked === undefined)) return undefined
    before = isFirstOfPick ? { ...stage, args } : undefined
  }
  return before === undefined ? text : undefined
}

/** `-n $N`, `+$N`, `-$N`, of which the number is not known. */
function isUnknownCount(arg: string): boolean {
  return isUnknown(arg.replace(/^(-n)?[-+]?/, ''))
}

function stageOf(command: Command, name: Word, scope: Scope): Stage {
  const args = command.args.flatMap(arg => (arg.type === 'Word' ? expandWord(arg, scope) : []))
  return { program: expandText(name, scope), args: args.map(field => field.text) }
}

/** What stands behind `<`, `<<` or `<<<` of a command. */
function givenTo({ redirects: [redirect] }: Command, scope: Scope): string | undefined {
  if (redirect?.type === 'HereDoc') return heredocText(redirect, scope)
  if (redirect?.type === 'HereString') return `${expandText(redirect.target, scope)}\n`
  return redirect?.operator === '<' ? redirectedText(redirect.target, scope) : undefined
}

/** What a command reads that is given `< file` or `< <(commands)`. */
export function redirectedText(target: Word | undefined, scope: Scope): string | undefined {
  const [only] = target?.parts ?? []
  if (only?.type === 'ProcessSubstitution') return printedInside(only, scope)
  return target === undefined ? undefined : fileText(scope, expandText(target, scope))
}

/** Programs that list what the request already says, one a line: node names, the node's GPUs. */
function countedByCluster(name: string, args: readonly string[], scope: Scope): string | undefined {
  const lookUp = (variable: string): string | undefined => {
    const found = findCell(scope, variable)
    return typeof found === 'object' && /^\d{1,5}$/.test(found.text) ? found.text : undefined
  }
  const lists = (variable: string): string | undefined => {
    const count = lookUp(variable)
    return count && Array.from({ length: Number(count) }, () => `${unknownText(`$(${name} …)`)}\n`).join('')
  }
  if (name === 'scontrol' && args[0] === 'show' && /^hostnames?$/.test(args[1] ?? '')) return lists('SLURM_NNODES')
  const countsDevices =
    args[0] === '-c' && /^import torch;? ?print\(torch\.cuda\.device_count\(\)\)$/.test(args[1] ?? '')
  if (/^python3?$/.test(name) && countsDevices) return lookUp('SLURM_GPUS_ON_NODE')
  if (
    name === 'nvidia-smi' &&
    (args[0] === '-L' || args[0] === '--list-gpus' || args.some(arg => /^--format=csv,noheader/.test(arg)))
  ) {
    return lists('SLURM_GPUS_ON_NODE')
  }
  return undefined
}

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => Math.trunc(a / b),
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '&&': (a, b) => Number(a !== 0 && b !== 0),
  '||': (a, b) => Number(a !== 0 || b !== 0),
  '<<': (a, b) => a * 2 ** b,
  '>>': (a, b) => Math.floor(a / 2 ** b),
  '&': (a, b) => Number(BigInt(a) & BigInt(b)),
  '|': (a, b) => Number(BigInt(a) | BigInt(b)),
  ',': (_, b) => b,
}

/** The value of `$((…))` or `((…))`, its assignments made; undefined where it hangs on something unknown. */
export function evaluateArithmetic(expression: ArithmeticExpression, scope: Scope): number | undefined {
  switch (expression.type) {
    case 'ArithmeticWord':
      return arithmeticWord(
        expression.parts === undefined ? expression.value : expandText(expression.parts, scope),
        scope,
      )
    case 'ArithmeticCommandExpansion':
      return arithmeticWord(captureOutput(expression, scope), scope)
    case 'ArithmeticGroup':
      return evaluateArithmetic(expression.expression, scope)
    case 'ArithmeticTernary': {
      const test = evaluateArithmetic(expression.test, scope)
      if (test === undefined) return undefined
      return evaluateArithmetic(test !== 0 ? expression.consequent : expression.alternate, scope)
    }
    case 'ArithmeticUnary': {
      const value = evaluateArithmetic(expression.operand, scope)
      const { operator, operand } = expression
      if (operator === '++' || operator === '--') {
        const after = value === undefined ? undefined : value + (operator === '++' ? 1 : -1)
        assignArithmetic(operand, after, scope)
        return expression.prefix ? after : value
      }
      if (value === undefined) return undefined
      return operator === '-' ? -value : operator === '!' ? Number(value === 0) : operator === '~' ? ~value : value
    }
    case 'ArithmeticBinary': {
      const { operator, left, right } = expression
      const assigning = /^([-+*/%&|^]|<<|>>)?=$/.exec(operator)
      if (assigning === null)
        return operate(operator, evaluateArithmetic(left, scope), () => evaluateArithmetic(right, scope))
      const before = assigning[1] === undefined ? 0 : evaluateArithmetic(left, scope)
      const value = operate(assigning[1] ?? '+', before, () => evaluateArithmetic(right, scope))
      assignArithmetic(left, value, scope)
      return value
    }
    default:
      return undefined
  }
}

/** The right side is only looked at where the left one does not decide, as in bash. */
function operate(operator: string, left: number | undefined, right: () => number | undefined): number | undefined {
  if ((operator === '&&' && left === 0) || (operator === '||' && left !== undefined && left !== 0))
    return Number(left !== 0)
  const [operation, second] = [OPERATIONS[operator], right()]
  if (operation === undefined || second === undefined) return undefined
  if (operator === ',') return second
  if (left === undefined || ((operator === '/' || operator === '%') && second === 0)) return undefined
  const value = operation(left, second)
  return Number.isSafeInteger(value) ? value : undefined
}

function assignArithmetic(target: ArithmeticExpression, value: number | undefined, scope: Scope): void {
  if (target.type !== 'ArithmeticWord') return
  const text = value === undefined ? unknownText(`$${target.value}`) : String(value)
  setVariable(scope, target.value, { text, place: scope.script.placeOf(target.pos) })
}

/** The number that a word of an expression stands for: written out, or a variable's. */
export function arithmeticWord(word: string, scope: Scope, depth = 0): number | undefined {
  const text = word.trim()
  if (/^[+-]?\d+$/.test(text)) return /^0\d/.test(text) ? Number.parseInt(text, 8) : Number(text)
  if (/^0x[\da-f]+$/i.test(text)) return Number(text)
  const based = /^(\d+)#(\w+)$/.exec(text)
  if (based?.[2] !== undefined) return Number.parseInt(based[2], Number(based[1]))
  // `$1` is an argument, 1 a number; `$name` and `name` are the same.
  const name = /^\$?(\w+)(?:\[(\w+)\])?$/.exec(text)
  if (name?.[1] === undefined || depth > 8) return undefined
  const found = findCell(scope, name[1], name[2] === undefined ? '0' : arrayIndex(name[2], scope))
  return typeof found === 'object' ? arithmeticWord(found.text, scope, depth + 1) : undefined
}
