import { isKnown } from './text.ts'

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

/** Programs that pass on what they get, whatever it is. */
const PASSING_ON = ['echo', 'cat', 'printf']
/** Programs that look at lines, not at what stands in them. */
const BY_LINE = ['wc', 'head', 'tail']

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
  const needsText = !PASSING_ON.includes(program) && !readsLines
  if (needsText && ![...args, input ?? ''].every(isKnown)) return undefined
  return printing(args, input)
}
