import { type Document, isMap, isPair, isScalar, isSeq, type Node, parseAllDocuments, visit } from 'yaml'
import type { Random } from './random.ts'

/** One way to spoil a text. It works on the bytes as Latin-1, so that nothing is lost that is no UTF-8. */
type Mutation = (text: string, random: Random, others: readonly string[]) => string

type Bracket = readonly [open: string, close: string]

/** Files that lie outside of the folder of the manifest; none of them may be read. */
export const outsidePaths = [
  '../outside/secret.sh',
  '../outside/secret.yaml',
  '../outside/secret.json',
  './../outside/secret.py',
  'link.sh',
  'links/secret.yaml',
  '/etc/passwd',
  '~/secret.yaml',
  '$HOME/secret.yaml',
  '$PWD/../outside/secret.json',
] as const

const numbers = [
  '0',
  '-1',
  '1e309',
  '-1e-400',
  '99999999999999999999999',
  '0x7fffffffffffffff',
  '1_0',
  '.5',
  '٣',
  'NaN',
  '.inf',
  '1:00:00',
  '9'.repeat(400),
  '018',
  '+3',
  '1e400Gi',
  '4294967297',
] as const
/** UTF-8 as Latin-1 where it is more than ASCII. */
const nasty = [
  '\x1b[31mred',
  '\x1b]0;title\x07',
  '\x1b[2J',
  '\xc2\x9b31m',
  '\x07',
  '\x08\x08',
  '\r',
  '\0',
  '\xff\xfe',
  '\xc3\x28',
  '\xed\xa0\x80',
  '\xef\xbb\xbf',
  '\xe2\x80\xae',
  '\xe2\x80\xa8',
  '\xe2\x80\x8b',
  'constructor',
  '__proto__',
  'toString',
  '<script>alert(1)</script>',
  '`x`',
  '| a | b |',
  '=cmd()',
  '::error::x',
  '[a](javascript:b)',
  '$(touch pwned)',
  '\x24{x:-\x24{y}}',
  '__proto__',
  'constructor',
  'toString',
  '%s%n',
  "'",
  '"',
  '\\',
  '{{ x }}',
  '<<: *a',
  '!!binary x',
  '!<tag:x> y',
  '&a [*a]',
  '\x85',
  '\t',
] as const
const brackets: readonly [Bracket, ...Bracket[]] = [
  ['[', ']'],
  ['{a: ', '}'],
  ['(', ')'],
  ['$(', ')'],
  ['{"a":', '}'],
  ['"$(', ')"'],
  ['if true; then ', ' fi;'],
  ['- ', ''],
  ['\x24{a:-', '}'],
  ['$((', '))'],
]
const scalars: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  -(2 ** 63),
  Number.MAX_VALUE,
  '',
  ' ',
  'x',
  [],
  {},
  [[]],
  { a: null },
  '\ud800',
  '\udc00\u001b[1m',
  'a'.repeat(300),
  ...nasty,
]

function at(text: string, random: Random): number {
  return random.below(text.length + 1)
}

function lines(change: (lines: string[], random: Random, others: readonly string[]) => void): Mutation {
  return (text, random, others) => {
    const all = text.split('\n')
    change(all, random, others)
    return all.join('\n')
  }
}

const mutations: readonly [Mutation, ...Mutation[]] = [
  // bytes
  (text, random) => {
    const index = at(text, random)
    return text.slice(0, index) + String.fromCharCode(random.below(256)) + text.slice(index + random.below(2))
  },
  (text, random) => {
    const index = at(text, random)
    return text.slice(0, index) + text.slice(index + random.below(40))
  },
  (text, random) => text.slice(0, at(text, random)),
  (text, random) => {
    const index = at(text, random)
    const chunk = text.slice(index, index + random.below(200))
    return text.slice(0, index) + chunk.repeat(1 + random.below(4)) + text.slice(index)
  },
  (text, random) => {
    const index = at(text, random)
    return text.slice(0, index) + random.pick(nasty) + text.slice(index)
  },
  // lines
  lines((all, random) => void all.splice(random.below(all.length), 1)),
  lines((all, random) => void all.splice(random.below(all.length), 0, all[random.below(all.length)] ?? '')),
  lines((all, random) => {
    const [a, b] = [random.below(all.length), random.below(all.length)]
    const [first, second] = [all[a] ?? '', all[b] ?? '']
    all[a] = second
    all[b] = first
  }),
  lines((all, random, others) => {
    const other = (random.pick(others) ?? '').split('\n')
    all.splice(random.below(all.length), 0, ...other.slice(random.below(other.length)).slice(0, 1 + random.below(8)))
  }),
  lines((all, random) => {
    const index = random.below(all.length)
    all[index] = ' '.repeat(random.below(5)) + (all[index] ?? '').trimStart()
  }),
  // words and numbers
  replaceOne(/\d+(?:\.\d+)?/g, random => random.pick(numbers)),
  replaceOne(/\d+(?:\.\d+)?/g, random => random.pick(numbers)),
  replaceOne(/[\w./-]+\.(?:py|sh|ya?ml|json|toml|cfg)\b/g, random => random.pick(outsidePaths)),
  replaceOne(/[\w-]{3,}/g, random => random.pick(nasty)),
  replaceOne(/(?<=: )[^\n]+/g, random => random.pick(nasty)),
  replaceOne(/\$\{?\w+\}?/g, random =>
    random.pick([
      '$(',
      '${',
      '$((1/0))',
      '\x24{x[@]}',
      '`',
      '$((9**99999))',
      '\x24{a//b/c}',
      '{1..99999999}',
      '$1',
      '"',
    ]),
  ),
  replaceOne(/=\S+/g, random => `=${random.pick(nasty)}`),
  // nesting
  (text, random) => {
    const [open, close] = random.pick(brackets)
    const depth = random.pick([3, 50, 1000, 20_000])
    const index = at(text, random)
    return (
      text.slice(0, index) + open.repeat(depth) + (random.chance(0.5) ? close.repeat(depth) : '') + text.slice(index)
    )
  },
  // size
  (text, random) => {
    const index = at(text, random)
    return (
      text.slice(0, index) +
      random.pick(['a', ' ', '#', '\\\n', '- x\n', '$a', '\n', '"', '*']).repeat(random.pick([10_000, 100_000])) +
      text.slice(index)
    )
  },
  (text, random) => `${text}\n---\n`.repeat(1 + random.below(30)),
  // encodings
  text => text.replaceAll('\n', '\r\n'),
  text => `\xef\xbb\xbf${text}`,
  text => `\xff\xfe${Buffer.from(text, 'utf16le').toString('latin1')}`,
  text => Buffer.from(text, 'utf16le').swap16().toString('latin1'),
  // nodes
  mutateNode,
  mutateNode,
  mutateNode,
]

function replaceOne(pattern: RegExp, replacement: (random: Random) => string): Mutation {
  return (text, random) => {
    const matches = [...text.matchAll(pattern)]
    const match = random.pick(matches)
    return match === undefined
      ? text
      : text.slice(0, match.index) + replacement(random) + text.slice(match.index + match[0].length)
  }
}

/** None where a mutation before this one nested the text too deeply. */
function documentsIn(text: string): readonly Document[] {
  try {
    // Pretty errors cut a line out of the text for each: of a text that is no YAML there are as many as characters.
    const documents = parseAllDocuments(text, { logLevel: 'silent', prettyErrors: false })
    return Array.isArray(documents) ? documents : []
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}

/** Puts another value in the place of one, or takes it out, or moves another one there. */
function mutateNode(text: string, random: Random): string {
  // What it writes is UTF-8 again.
  const list = documentsIn(Buffer.from(text, 'latin1').toString('utf8'))
  const document = random.pick(list)
  if (document === undefined || list.some(({ errors }) => errors.length > 0)) return text
  const nodes: Node[] = []
  visit(document, {
    Node(_, node) {
      nodes.push(node)
    },
  })
  const target = random.pick(nodes)
  const source = random.pick(nodes)
  if (isMap(target)) {
    const pair = random.pick(target.items)
    if (pair !== undefined && random.chance(0.5)) target.items.splice(target.items.indexOf(pair), 1)
    else if (isPair(pair))
      pair.value = random.chance(0.5) ? document.createNode(random.pick(scalars)) : (source ?? null)
  } else if (isSeq(target)) {
    if (random.chance(0.5)) target.items.splice(random.below(target.items.length), 1)
    else target.items.push(document.createNode(random.pick(scalars)))
  } else if (isScalar(target)) target.value = random.pick(scalars)
  try {
    return Buffer.from(list.map(String).join('---\n'), 'utf8').toString('latin1')
  } catch {
    // A node within itself cannot be written.
    return text
  }
}

/** A text with up to four things wrong, as bytes. */
export function mutate(bytes: Uint8Array, random: Random, others: readonly Uint8Array[]): Uint8Array {
  const latin1 = (each: Uint8Array) => Buffer.from(each).toString('latin1')
  let text = latin1(bytes)
  const texts = others.map(latin1)
  for (let times = 1 + random.below(4); times > 0; times--) text = random.pick(mutations)(text, random, texts)
  return Buffer.from(text.slice(0, largestBytes), 'latin1')
}

/** A megabyte of YAML takes its parser about a second: beyond, the time says nothing. */
const largestBytes = 1_000_000
