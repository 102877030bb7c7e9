import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { check, type Dialect, type DocumentPath, readYaml, type YamlDocument } from '../src/document.ts'
import { InputError } from '../src/errors.ts'

function only(text: string, dialect: Dialect = 'kubectl'): YamlDocument {
  const [document, ...others] = readYaml(text, 'job.yaml', dialect)
  if (document === undefined || others.length > 0) throw new Error('one document is expected')
  return document
}

function read(text: string, dialect: Dialect = 'kubectl'): unknown {
  return only(text, dialect).value
}

function faultsOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof InputError) return error.message
    throw error
  }
  throw new Error('no fault was found')
}

describe('bare words', () => {
  // What kubectl 1.32.4 makes of each (kubectl annotate --local -o json).
  test.each<[string, unknown]>([
    ['yes', true],
    ['on', true],
    ['True', true],
    ['y', true],
    ['tRue', 'tRue'],
    ['no', false],
    ['Off', false],
    ['N', false],
    ['null', null],
    ['~', null],
    ['Null', null],
    ['', null],
    ['010', 8],
    ['-010', -8],
    ['0_10', 8],
    ['08', 8],
    ['00', 0],
    ['0o17', 15],
    ['0o8', '0o8'],
    ['0x1F', 31],
    ['-0x1F', -31],
    ['0x', '0x'],
    ['0b11', 3],
    ['0b2', '0b2'],
    ['+12', 12],
    ['-0', 0],
    ['1_000', 1000],
    ['1__0', 10],
    ['_1', '_1'],
    ['._0', '._0'],
    ['1.5_0', 1.5],
    ['1.', 1],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['1e3', 1000],
    ['1E3', 1000],
    ['1e+3', 1000],
    ['1e', '1e'],
    ['1e999', '1e999'],
    ['1:30', '1:30'],
    ['190:20:30', '190:20:30'],
    ['2026-01-01', '2026-01-01'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['!!str 5', '5'],
    ['!!int "010"', 8],
    ['!!float 1', 1],
    ['!!bool "yes"', true],
    ['!!binary aGVsbG8=', 'hello'],
    ['!site bar', 'bar'],
    ['"yes"', 'yes'],
    ["'010'", '010'],
  ])('kubectl reads %s as %j', (written, expected) => {
    expect(read(`key: ${written}\n`)).toEqual({ key: expected })
  })

  test.each<[string, unknown]>([
    ['yes', 'yes'],
    ['on', 'on'],
    ['010', 10],
    ['0o17', 15],
    ['0x1F', 31],
    ['1_000', '1_000'],
    ['true', true],
    ['~', null],
    ['1e3', 1000],
    ['1:30', '1:30'],
  ])('YAML 1.2 reads %s as %j', (written, expected) => {
    expect(read(`key: ${written}\n`, 'yaml-1.2')).toEqual({ key: expected })
  })

  test.each(['.inf', '-.Inf', '.nan'])('%s has no place in JSON and is refused', written => {
    expect(faultsOf(() => read(`a: 1\nkey: ${written}\n`))).toMatch(/^job\.yaml:2:6 {2}a finite number is expected/)
  })

  test('any whole number that is written plainly stays what it is', () => {
    fc.assert(
      fc.property(fc.integer(), number => {
        expect(read(`key: ${number}\n`)).toEqual({ key: number })
        expect(read(`key: ${number}\n`, 'yaml-1.2')).toEqual({ key: number })
      }),
    )
  })

  test('any text in quotes stays what it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        expect(read(`key: ${JSON.stringify(text)}\n`)).toEqual({ key: text })
      }),
    )
  })
})

describe('keys', () => {
  test.each<[string, string]>([
    ['1', '1'],
    ['1.50', '1.5'],
    ['010', '8'],
    ['yes', 'true'],
    ['n', 'false'],
    ['"yes"', 'yes'],
  ])('kubectl takes the key %s for %s', (written, key) => {
    expect(read(`${written}: x\n`)).toEqual({ [key]: 'x' })
  })

  test('of two equal keys kubectl takes the last, and both are remembered', () => {
    const document = only('a: 1\nb: {c: 1, "c": 2}\na: 3\n')
    expect(document.value).toEqual({ a: 3, b: { c: 2 } })
    expect(document.repeatedKeys).toEqual([
      { key: 'c', place: { file: 'job.yaml', line: 2, column: 11 } },
      { key: 'a', place: { file: 'job.yaml', line: 3, column: 1 } },
    ])
  })

  test('two equal keys are a fault in YAML 1.2', () => {
    expect(faultsOf(() => read('a: 1\na: 2\n', 'yaml-1.2'))).toBe('job.yaml:2:1  a is given twice in one mapping')
  })

  test('__proto__ is a key like any other', () => {
    const value = read('__proto__: {polluted: 1}\n')
    expect(Object.keys(Object(value))).toEqual(['__proto__'])
    expect(Object(value).polluted).toBeUndefined()
  })

  test('a list as a key is refused', () => {
    expect(faultsOf(() => read('x: {? [a] : b}\n'))).toContain('a key must be text')
  })
})

describe('anchors and merge keys', () => {
  test('a merge key fills in what is not written after it', () => {
    const text = 'a: &a {x: 1, k: 2}\nb: {<<: *a, x: 3}\nc: {x: 3, <<: *a}\nd: {<<: [*a, {k: 5, z: 9}]}\n'
    // As kubectl 1.32.4 does it: a merge wins over keys that stand before it.
    expect(read(text)).toEqual({
      a: { x: 1, k: 2 },
      b: { x: 3, k: 2 },
      c: { x: 1, k: 2 },
      d: { x: 1, k: 2, z: 9 },
    })
  })

  test('"<<" in quotes, and in YAML 1.2, is a key', () => {
    expect(read('a: &a {x: 1}\nb: {"<<": *a}\n')).toMatchObject({ b: { '<<': { x: 1 } } })
    expect(read('a: &a {x: 1}\nb: {<<: *a}\n', 'yaml-1.2')).toMatchObject({ b: { '<<': { x: 1 } } })
  })

  test('an anchor may be set anew: an alias means the last one before it', () => {
    expect(read('a: &x 1\nb: *x\nc: &x 2\nd: *x\n')).toEqual({ a: 1, b: 1, c: 2, d: 2 })
  })

  test.each([
    ['a: *nope\n', 'job.yaml:1:4  *nope: no anchor &nope stands before it'],
    ['a: &x [1, *x]\n', 'job.yaml:1:11  *x stands inside of what it repeats, &x'],
    ['a: {<<: 1}\n', 'job.yaml:1:9  << merges mappings only'],
  ])('%j is refused', (text, message) => {
    expect(faultsOf(() => read(text))).toBe(message)
  })

  test('a thousand uses of one anchor are ordinary', () => {
    const text = `base: &base {a: 1, b: [x, y]}\nlist:\n${'  - *base\n'.repeat(1000)}`
    expect(Object(read(text)).list).toHaveLength(1000)
  })

  test('aliases of aliases end at a limit, in little time and memory', () => {
    const levels = Array.from(
      { length: 30 },
      (_, level) => `x${level + 1}: &x${level + 1} [${`*x${level}, `.repeat(9)}]`,
    )
    const started = process.memoryUsage().heapUsed
    expect(faultsOf(() => read(`x0: &x0 [ha]\n${levels.join('\n')}\n`))).toMatch(/repeated too often.*400,000/)
    expect(process.memoryUsage().heapUsed - started).toBeLessThan(50e6)
  })
})

describe('malformed text', () => {
  test('with more errors than anybody reads is given up, at the place of the first', () => {
    const said = faultsOf(() => read(`a:\n  b: {c:\\\n${'\\\n'.repeat(300_000)}`))
    expect(said).toMatch(/^job\.yaml:3:1 +not valid YAML: a bracket is not closed[^\n]*$/)
    expect(faultsOf(() => read(`a:\n${'\tb: 1\n'.repeat(5_000)}`)).split('\n').length).toBeLessThanOrEqual(1_001)
  })

  test.each([
    ['a:\n  - b: 1\n    c: 2\n   d: 3\n', 'job.yaml:4:4', 'wrong indentation', 'd: 3'],
    ['a:\n  b: 1\n c: 2\n', 'job.yaml:3:2', 'wrong indentation', 'c: 2'],
    ['a:\n\tb: 1\n', 'job.yaml:2:1', 'a tab is used as indentation', 'b: 1'],
    ['a: "x\nb: 1\n', 'job.yaml:', 'a quote is not closed', ''],
    ['a: b: c\n', 'job.yaml:1:4', 'a second "key:"', 'a: b: c'],
    ['a: [1, 2\nb: 3\n', 'job.yaml:2:1', 'a bracket is not closed', 'b: 3'],
    ['a: @x\n', 'job.yaml:1:4', 'a character that YAML keeps for itself', 'a: @x'],
    ['key\nb: 1\n', 'job.yaml:1:1', 'a key without ":"', 'key'],
  ])('%j is refused in plain words, with its place', (text, place, words, line) => {
    const said = faultsOf(() => read(text))
    expect(said.startsWith(place)).toBe(true)
    expect(said).toContain('not valid YAML')
    expect(said).toContain(words)
    expect(said).toContain(line)
  })

  test('the first error and every tab are reported, not what follows from them', () => {
    const text = 'a:\n  - b: 1\n   c:\n\td: 4\n'
    expect(faultsOf(() => read(text)).split('\n')).toHaveLength(2)
  })

  test('a second document is checked too, with the line of the whole file', () => {
    expect(faultsOf(() => readYaml('a: 1\n---\nb: [\n', 'job.yaml', 'kubectl'))).toMatch(/^job\.yaml:[34]:/)
  })

  test('kubectl reads YAML 1.1 only', () => {
    expect(faultsOf(() => read('%YAML 1.2\n---\na: 1\n'))).toContain('found %YAML 1.2')
    expect(read('%YAML 1.1\n---\na: 1\n')).toEqual({ a: 1 })
  })

  test('nesting that no document needs is refused, not a crash', () => {
    expect(() => read(`a: ${'['.repeat(50_000)}`)).toThrow(InputError)
    expect(() => read(`a: ${'['.repeat(50_000)}${']'.repeat(50_000)}`)).toThrow(InputError)
  })

  test('a long line is shown shortened', () => {
    expect(faultsOf(() => read(`a: "${'x'.repeat(100_000)}\n`)).length).toBeLessThan(400)
  })
})

describe('several documents, JSON and odd encodings', () => {
  test('documents are separated by --- and ended by ..., with comments', () => {
    const documents = readYaml('--- # first\na: 1\n---\n# nothing\n---\nb: 2\n...\n', 'job.yaml', 'kubectl')
    expect(documents.map(document => document.value)).toEqual([{ a: 1 }, null, { b: 2 }])
  })

  test('JSON objects may follow one another', () => {
    const documents = readYaml('{"a": 10}', 'job.json', 'kubectl')
    expect(documents.map(document => document.value)).toEqual([{ a: 10 }])
    const two = readYaml('{"a": "}{"}\n {"b":\n\t[1, {}]}\n', 'job.json', 'kubectl')
    expect(two.map(document => document.value)).toEqual([{ a: '}{' }, { b: [1, {}] }])
    expect(two[1]?.placeOf(['b', 0])).toEqual({ file: 'job.json', line: 3, column: 3 })
  })

  test.each([
    ['{"a": 1,}', /^job\.yaml:1:9 {2}not valid JSON/],
    ['{"a": 010}', /^job\.yaml:1:8 {2}not valid JSON/],
    ['{a: b}', /^job\.yaml:1:2 {2}not valid JSON/],
    ['{"a": 1', /it ends too early/],
    ['{"a": 1} # comment', /^job\.yaml:1:10 {2}after a JSON object only another one may follow/],
  ])('%s is refused as kubectl refuses it', (text, said) => {
    expect(faultsOf(() => readYaml(text, 'job.yaml', 'kubectl'))).toMatch(said)
  })

  test('YAML 1.2 may be written in braces', () => {
    expect(read('{a: b,}\n', 'yaml-1.2')).toEqual({ a: 'b' })
  })

  test('a byte order mark and Windows line ends make no difference', () => {
    expect(read('\uFEFFa: 1\r\nb:\r\n  - x\r\n')).toEqual({ a: 1, b: ['x'] })
    expect(read('\uFEFF{"a": 1}')).toEqual({ a: 1 })
  })
})

describe('places', () => {
  const text = `kind: Pod
spec:
  containers:
    - name: a
      limits: &limits {nvidia.com/gpu: 2}
    - name: b
      limits: *limits
      requests:
        <<: *limits
        cpu: 1
`
  test.each<[DocumentPath, number, number]>([
    [['kind'], 1, 7],
    [['spec', 'containers'], 3, 3],
    [['spec', 'containers', 1, 'name'], 6, 13],
    [['spec', 'containers', 0, 'limits', 'nvidia.com/gpu'], 5, 40],
    [['spec', 'containers', 1, 'limits'], 7, 15],
    [['spec', 'containers', 1, 'limits', 'nvidia.com/gpu'], 5, 40],
    [['spec', 'containers', 1, 'requests', 'nvidia.com/gpu'], 5, 40],
    [['spec', 'containers', 1, 'requests', 'cpu'], 10, 14],
    [['spec', 'containers', 1, 'args', 3], 6, 7],
    [['spec', 'volumes'], 2, 1],
  ])('%j stands at %i:%i', (path, line, column) => {
    expect(only(text).placeOf(path)).toEqual({ file: 'job.yaml', line, column })
  })

  test('a scalar can be cut out of the text with its quotes', () => {
    const document = only(`a: "x"  # c\nb: 'y'\nc: |\n  one\n  two\nd: plain\n`)
    const cut = (key: string) => {
      const scalar = document.scalarAt([key])
      return scalar && [document.source.slice(scalar.start, scalar.end), scalar.style, scalar.firstLine]
    }
    expect(cut('a')).toEqual(['"x"', 'double-quoted', 1])
    expect(cut('b')).toEqual(["'y'", 'single-quoted', 2])
    expect(cut('c')).toEqual(['|\n  one\n  two\n', 'block', 4])
    expect(cut('d')).toEqual(['plain', 'plain', 6])
    expect(cut('e')).toBeUndefined()
  })
})

describe('schemas', () => {
  const Job = z.object({
    name: z.string(),
    pods: z.number().int().min(1).optional(),
    roles: z.record(z.string(), z.object({ gpus: z.number() })).optional(),
    list: z.array(z.string()).optional(),
    mode: z.enum(['fast', 'slow']).optional(),
    either: z.union([z.string(), z.object({ deep: z.number() })]).optional(),
  })

  test('what fits comes back with its type', () => {
    expect(check(Job, only('name: a\npods: 2\nother: 1\n')).pods).toBe(2)
  })

  test('every fault is reported, with place, path and what was found', () => {
    const text = 'pods: 2.5\nroles:\n  worker:\n    gpus: four\nlist: {a: b}\nmode: medium\neither: {deep: x}\n'
    expect(faultsOf(() => check(Job, only(text))).split('\n')).toEqual([
      'job.yaml:1:1  name: text is expected, but it is missing',
      'job.yaml:1:7  pods: a whole number is expected, found 2.5',
      'job.yaml:4:11  roles.worker.gpus: a number is expected, found "four"',
      'job.yaml:5:1  list: a list is expected, found a mapping',
      'job.yaml:6:7  mode: fast or slow is expected, found "medium"',
      'job.yaml:7:16  either.deep: a number is expected, found "x"',
    ])
  })

  test('a key that nobody knows is named where it stands', () => {
    const text = 'name: a\nspeed:\n  x: 1\n'
    expect(faultsOf(() => check(z.strictObject({ name: z.string() }), only(text)))).toBe(
      'job.yaml:2:1  speed: not a key that is known here (known are name)',
    )
  })

  test('a part of a document is checked by its path', () => {
    const document = only('a:\n  - name: 5\n')
    expect(faultsOf(() => check(Job, document, ['a', 0]))).toBe('job.yaml:2:11  a[0].name: text is expected, found 5')
  })
})

describe('quoted texts over several lines', () => {
  test.each([
    ['a:\n  b: "x\n  y"\nc: 1\n', { a: { b: 'x y' }, c: 1 }],
    ['a:\n  b: "x\n y"\nc: 1\n', { a: { b: 'x y' }, c: 1 }],
    ['a:\n  b: "x\ny"\nc: 1\n', { a: { b: 'x y' }, c: 1 }],
    ["a:\n  - 'x\n\n  y\n'\n  - z\n", { a: ['x\ny ', 'z'] }],
  ])('begin in any column for kubectl: %j', (text, value) => {
    expect(readYaml(text, 'x.yaml', 'kubectl').map(document => document.value)).toEqual([value])
  })

  test('have to be closed all the same', () => {
    expect(() => readYaml('a:\n  b: "x\n', 'x.yaml', 'kubectl')).toThrow(/a quote is not closed/)
    expect(() => readYaml('a: "x\n---\nb: y"\n', 'x.yaml', 'kubectl')).toThrow(/a quote is not closed/)
    expect(() => readYaml('a:\n  b: "x\ny"\n', 'x.yaml', 'yaml-1.2')).toThrow(/a quote is not closed/)
  })
})
