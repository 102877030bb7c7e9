import { anyLine, hasKnownFields, isKnown, isUnknown } from './text.ts'

/** What a program prints, given its arguments and standard input; undefined where that cannot be known without running it. */
type Printing = (args: readonly string[], input: string | undefined) => string | undefined

function lines(text: string): string[] {
  const all = text.split('\n')
  if (all.at(-1) === '') all.pop()
  return all
}

function unlines(all: readonly (string | number)[]): string {
  return all.map(line => `${line}\n`).join('')
}

/** `-n 3`, `-n3` or `-3`: how many lines; 10 without one. */
function lineCount(args: readonly string[]): number | undefined {
  const joined = args.join(' ')
  if (joined === '') return 10
  const match = /^(?:-n ?|--lines=|-)(\d+)$/.exec(joined)
  return match === null ? undefined : Number(match[1])
}

/** Integer arithmetic of `expr` and `bc`, left to right by precedence; undefined for anything else. */
function calculate(tokens: readonly string[]): string | undefined {
  const [first, ...rest] = tokens.length === 1 ? [] : tokens
  if (first === undefined) return tokens[0] !== undefined && /^-?\d+$/.test(tokens[0]) ? tokens[0] : undefined
  const values = [Number(first)]
  const pending: string[] = []
  for (let i = 0; i < rest.length; i += 2) {
    const operator = rest[i]
    const right = Number(rest[i + 1])
    const left = values.at(-1)
    if (left === undefined || operator === undefined) return undefined
    if (operator === '*') values[values.length - 1] = left * right
    else if (operator === '/' && right !== 0) values[values.length - 1] = Math.trunc(left / right)
    else if (operator === '%' && right !== 0) values[values.length - 1] = left % right
    else if (operator === '+' || operator === '-') {
      values.push(operator === '-' ? -right : right)
      pending.push(operator)
    } else return undefined
  }
  const total = values.reduce((sum, value) => sum + value, 0)
  return Number.isInteger(total) ? String(total) : undefined
}

/** Characters of a set of `tr`: `a-z`, `\n`, `[:upper:]` is not one of them. */
function trSet(set: string): string[] | undefined {
  if (set.includes('[:')) return undefined
  const plain = set.replace(/\\n/g, '\n').replace(/\\t/g, '\t').replace(/\\\\/g, '\\')
  return Array.from(
    plain.replace(/(.)-(.)/gs, (_, from: string, to: string) => {
      const length = to.charCodeAt(0) - from.charCodeAt(0) + 1
      return length > 0 ? Array.from({ length }, (_, i) => String.fromCharCode(from.charCodeAt(0) + i)).join('') : ''
    }),
  )
}

const PRINTING: Readonly<Record<string, Printing>> = {
  echo: args => {
    const words = args[0] === '-n' || args[0] === '-e' || args[0] === '-ne' ? args.slice(1) : args
    return `${words.join(' ')}\n`
  },
  printf: ([format = '', ...args]) => {
    if (/%[^sd%]/.test(format) || (args.length > 1 && (format.match(/%[sd]/g)?.length ?? 0) !== args.length))
      return undefined
    let next = 0
    return format
      .replace(/%([sd%])/g, (_, kind: string) => (kind === '%' ? '%' : (args[next++] ?? '')))
      .replace(/\\n/g, '\n')
  },
  cat: (args, input) => (args.length === 0 || (args.length === 1 && args[0] === '-') ? input : undefined),
  basename: ([path, suffix = '']) => {
    const name = path?.replace(/\/+$/, '').split('/').at(-1)
    return name?.endsWith(suffix) && name !== suffix ? name.slice(0, name.length - suffix.length) : name
  },
  dirname: ([path]) => {
    if (path === undefined) return undefined
    const parent = path.replace(/\/+$/, '').replace(/\/*[^/]*$/, '')
    return parent === '' ? (path.startsWith('/') ? '/' : '.') : parent
  },
  seq: written => {
    const isPadded = written[0] === '-w'
    const args = isPadded ? written.slice(1) : written
    const numbers = args.map(Number)
    const [from = 1, step = 1, to = 0] =
      numbers.length === 1 ? [1, 1, numbers[0]] : numbers.length === 2 ? [numbers[0], 1, numbers[1]] : numbers
    if (numbers.some(number => !Number.isInteger(number)) || step === 0 || Math.abs((to - from) / step) > 10_000)
      return undefined
    const out: number[] = []
    for (let value = from; step > 0 ? value <= to : value >= to; value += step) out.push(value)
    const width = isPadded ? Math.max(...args.map(each => each.length)) : 0
    return unlines(out.map(value => String(value).padStart(width, '0')))
  },
  expr: args => calculate(args),
  bc: (_, input) => calculate(input?.replace(/^scale=0;/, '').match(/\d+|[-+*/%]/g) ?? []),
  tr: (args, input) => {
    if (input === undefined) return undefined
    const [first = '', second = ''] = args
    const from = trSet(first === '-d' ? second : first)
    const to = first === '-d' ? [] : trSet(second)
    if (from === undefined || to === undefined || (first.startsWith('-') && first !== '-d')) return undefined
    return Array.from(input, character => {
      const at = from.indexOf(character)
      return at < 0 ? character : (to[Math.min(at, to.length - 1)] ?? '')
    }).join('')
  },
  wc: ([option], input) => {
    if (input === undefined) return undefined
    if (option === '-l') return String(input.split('\n').length - 1)
    if (option === '-w') return String(input.split(/\s+/).filter(word => word !== '').length)
    return undefined
  },
  head: (args, input) => {
    const count = lineCount(args)
    return input === undefined || count === undefined ? undefined : unlines(lines(input).slice(0, count))
  },
  tail: (args, input) => {
    const count = lineCount(args)
    return input === undefined || count === undefined ? undefined : unlines(lines(input).slice(-count))
  },
  sed: (args, input) => {
    const [, number = '', operation] = /^(.+?) ?(p|\{ ?p; ?q;? ?\}|q; ?d)$/.exec(args.at(-1) ?? '') ?? []
    const isSilent = args[0] === '-n' && args.length === 2
    if (input === undefined || operation === undefined || isSilent === operation.startsWith('q')) return undefined
    return lineOf(number, input)
  },
  awk: (args, input) => (input === undefined ? undefined : printedByAwk(args, input)),
  gawk: (args, input) => (input === undefined ? undefined : printedByAwk(args, input)),
  grep: (args, input) => {
    const [pattern, ...more] = args.filter(arg => arg !== '-m1' && arg !== '-E')
    // Without special characters a pattern is a text that is looked for.
    if (input === undefined || pattern === undefined || more.length > 0 || !/^\^?[\w:=\- ]+$/.test(pattern))
      return undefined
    const plain = pattern.replace(/^\^/, '')
    const found = lines(input).filter(line => (plain === pattern ? line.includes(plain) : line.startsWith(plain)))
    return unlines(args.includes('-m1') ? found.slice(0, 1) : found)
  },
  which: args => nameOf(args),
  command: ([option, ...args]) => (option === '-v' ? nameOf(args) : undefined),
  type: ([option, ...args]) => (/^-[pP]$/.test(option ?? '') ? nameOf(args) : undefined),
  cut: (args, input) => {
    const match = /^(?:-d ?(.) -f ?(\d+)|-f ?(\d+) -d ?(.))$/.exec(args.join(' '))
    const delimiter = match?.[1] ?? match?.[4]
    const field = Number(match?.[2] ?? match?.[3])
    if (input === undefined || delimiter === undefined) return undefined
    return unlines(
      lines(input).map(line => (line.includes(delimiter) ? (line.split(delimiter)[field - 1] ?? '') : line)),
    )
  },
}

/** The program that is looked for, which is found wherever it is. */
function nameOf([name, ...more]: readonly string[]): string | undefined {
  return name === undefined || more.length > 0 || name.startsWith('-') ? undefined : name
}

/** A line by its number; where that is not known, what all lines have in common. */
function lineOf(number: string, input: string): string | undefined {
  if (/^\d+$/.test(number)) return lines(input)[Number(number) - 1]
  return isUnknown(number) ? anyLine(input) : undefined
}

/** `awk 'NR==3'`, `awk '$1==7 {print $2}'`, `awk '{print $2}'`, with `-F` and `-v`; anything else is not followed. */
function printedByAwk(args: readonly string[], input: string): string | undefined {
  const variables = new Map<string, string>()
  let separator: string | undefined
  let at = 0
  for (; at < args.length; at++) {
    const [, letter, glued = ''] = /^-([Fv])(.*)$/s.exec(args[at] ?? '') ?? []
    if (letter === undefined) break
    const value = glued === '' ? (args[++at] ?? '') : glued
    if (letter === 'F') separator = value
    else variables.set(value.split('=')[0] ?? '', value.slice(value.indexOf('=') + 1))
  }
  const program = /^\s*(?:(NR|\$(\d+)) ?== ?([^\s{]+))?\s*(?:\{ ?print(?: \$(\d+|NF))? ?;? ?\})?\s*$/.exec(
    args[at] ?? '',
  )
  if (program === null || at !== args.length - 1) return undefined
  const [, tested, column, wanted = '', printed = '0'] = program
  const value = variables.get(wanted) ?? wanted
  const fieldsOf = (line: string) => line.trim().split(separator ?? /\s+/)
  const pick = (line: string) =>
    printed === '0' ? line : (fieldsOf(line).at(printed === 'NF' ? -1 : Number(printed) - 1) ?? '')
  if (tested === undefined) return hasKnownFields(input) ? unlines(lines(input).map(pick)) : undefined
  if (!/^\d+$/.test(value) && !isUnknown(value)) return undefined
  if (tested === 'NR') {
    const line = lineOf(value, input)
    return line === undefined || !hasKnownFields(line) ? line : pick(line)
  }
  // A table has numbered rows, and perhaps a heading.
  const rows = lines(input).filter(line => /^\d+$/.test(fieldsOf(line)[Number(column) - 1] ?? ''))
  const own = isUnknown(value)
    ? rows
    : rows.filter(line => Number(fieldsOf(line)[Number(column) - 1]) === Number(value))
  return anyLine(own.map(pick).join('\n'))
}

/** Options of programs that read files which take the next word for their value, and words of their own before the files. */
const READING: ReadonlyMap<string, { readonly valued: readonly string[]; readonly own: number }> = new Map([
  ['cat', { valued: [], own: 0 }],
  ['head', { valued: ['-n', '-c'], own: 0 }],
  ['tail', { valued: ['-n', '-c'], own: 0 }],
  ['cut', { valued: ['-d', '-f', '-c'], own: 0 }],
  ['wc', { valued: [], own: 0 }],
  ['sed', { valued: ['-e'], own: 1 }],
  ['awk', { valued: ['-F', '-v'], own: 1 }],
  ['gawk', { valued: ['-F', '-v'], own: 1 }],
  ['grep', { valued: ['-m', '-e'], own: 1 }],
])

/** The one file that a program is told to read, and its arguments without it. */
export function fileOperand(
  program: string,
  args: readonly string[],
): { readonly path: string; readonly rest: readonly string[] } | undefined {
  const reading = READING.get(program)
  if (reading === undefined) return undefined
  const operands: number[] = []
  for (let at = 0; at < args.length; at++) {
    const text = args[at] ?? ''
    if (reading.valued.includes(text)) at++
    else if (!text.startsWith('-') || text === '-') operands.push(at)
  }
  const [file, ...more] = operands.slice(reading.own)
  const path = file === undefined || more.length > 0 ? undefined : args[file]
  return path === undefined || path === '-' ? undefined : { path, rest: args.filter((_, index) => index !== file) }
}

/** `head -n $N | tail -n 1` and `tail -n +$N | head -n 1`: one line, and which only the run knows. */
export function picksAnyLine(first: Stage, second: Stage): boolean {
  const isOne = /^(-n ?1|-1|--lines=1)$/.test(second.args.join(' '))
  const [, sign, count = ''] = /^(?:-n ?)?([-+]?)(.+)$/.exec(first.args.join(' ')) ?? []
  if (!isOne || !isUnknown(count)) return false
  return first.program === 'head'
    ? second.program === 'tail' && sign !== '+'
    : first.program === 'tail' && second.program === 'head' && sign === '+'
}

/** A program of a pipe with its arguments. */
export interface Stage {
  readonly program: string
  readonly args: readonly string[]
}

/** Programs that pass on what they get, whatever it is. */
const PASSING_ON = ['echo', 'cat', 'printf']
/** Programs that look at lines, not at what stands in them. */
const BY_LINE = ['wc', 'head', 'tail']
/** Programs that pick lines and fields, by numbers that may not be known. */
const PICKING = ['sed', 'awk', 'gawk']

/**
 * What a program prints; undefined where it, its arguments or its input are not known. Only programs whose output
 * follows from what they are given. `linesAreKnown`: what stands in each line of the input may be unknown, but not how
 * many there are.
 */
export function printedBy(
  program: string,
  args: readonly string[],
  input: string | undefined,
  linesAreKnown: boolean,
): string | undefined {
  const printing = Object.hasOwn(PRINTING, program) ? PRINTING[program] : undefined
  if (printing === undefined) return undefined
  const readsLines = linesAreKnown && BY_LINE.includes(program) && args[0] !== '-w'
  const picks = PICKING.includes(program) || (program === 'cut' && hasKnownFields(input ?? '') && args.every(isKnown))
  const needsText = !PASSING_ON.includes(program) && !readsLines && !picks
  if (needsText && ![...args, input ?? ''].every(isKnown)) return undefined
  return printing(args, input)
}
