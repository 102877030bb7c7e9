import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Parser,
  type YAMLMap,
} from 'yaml'
import type * as z from 'zod'
import { type Fault, InputError, type Place } from './errors.ts'
import { ownEntry } from './own-entry.ts'
import { nearestWord } from './word-list.ts'
import { bareWordOfCore, bareWordOfKubectl } from './yaml/bare-words.ts'
import { quote, type SyntaxProblem, syntaxFaults } from './yaml/faults.ts'
import { LineIndex } from './yaml/line-index.ts'

/**
 * How bare words are read. `kubectl` reads YAML 1.1 without dates and base 60: `yes` and `on` are true, `010` is eight,
 * `<<` merges, and of two equal keys the last one counts. `yaml-1.2` is the core schema: two equal keys are a fault.
 */
export type Dialect = 'kubectl' | 'yaml-1.2'

/** Keys and positions that lead from a document's root to a value. */
export type DocumentPath = readonly (string | number)[]

/** A mapping as it was read: its values are not checked yet. */
export type Mapping = Readonly<Record<string, unknown>>

/** One scalar as it is written; offsets count characters of the whole text, quotes included. */
export interface ScalarSource {
  readonly start: number
  readonly end: number
  readonly style: 'plain' | 'single-quoted' | 'double-quoted' | 'block'
  /** Line where its first character of content stands: of a block scalar the one below the `|`. */
  readonly firstLine: number
}

/** One mapping as it is written. */
export interface MappingSource {
  readonly style: 'block' | 'flow'
  readonly keys: readonly { readonly key: string; readonly start: number; readonly end: number }[]
}

/** A document of a YAML or JSON text. Places and offsets are looked up only when somebody asks for them. */
export interface YamlDocument {
  readonly file: string
  /** The whole text, with the other documents in it. */
  readonly source: string
  /** Plain objects, lists, texts, numbers, booleans and null; aliases and merge keys are expanded. */
  readonly value: unknown
  /** Keys that stand twice in one mapping, where the dialect lets the last one win in silence. */
  readonly repeatedKeys: readonly { readonly key: string; readonly place: Place }[]
  /** Where a value stands; where a path leads nowhere, the nearest thing that exists on the way. */
  placeOf(path: DocumentPath): Place
  /** Where the key of a value stands, whatever the value is. */
  placeOfKey(path: DocumentPath): Place
  /** The path by which the text itself names a value: another one where the document was put together from parts of a text. */
  pathAsWritten(path: DocumentPath): DocumentPath
  /** The scalar at a path, undefined where there is none. Behind an alias it is the anchored one. */
  scalarAt(path: DocumentPath): ScalarSource | undefined
  /** The mapping at a path, undefined where there is none. */
  mappingAt(path: DocumentPath): MappingSource | undefined
}

/**
 * Values that aliases may add to a document. go-yaml, which kubectl reads with, stops at the same number of values when
 * nearly all of them come from aliases (`alias_ratio_range_low` in its decode.go).
 */
const MAX_ALIASED_VALUES = 400_000

/**
 * Reads all documents of a YAML text; as kubectl, also JSON objects one after the other.
 * Throws InputError with file, line and column where the text is not valid.
 */
export function readYaml(text: string, file: string, dialect: Dialect): readonly YamlDocument[] {
  const lines = new LineIndex(text, file)
  if (dialect === 'kubectl' && /^\uFEFF?\s*\{/.test(text)) return readJson(text, lines)
  const documents = parseText(text, lines, dialect)
  return documents.map(document => {
    const builder = new Builder(dialect, lines)
    refuseOtherVersion(document, dialect, lines)
    const value = document.contents === null ? null : builder.build(document.contents)
    return new ParsedDocument(lines, value, () => ({ root: document.contents, builder }), builder.repeated)
  })
}

function parseText(text: string, lines: LineIndex, dialect: Dialect): Document.Parsed[] {
  const { stackTraceLimit } = Error
  try {
    // A text that is no YAML has a fault for every character, and a trace of each is what costs time.
    Error.stackTraceLimit = 0
    // The failsafe schema leaves every scalar the text it is: what a bare word means is said below, by dialect.
    const composer = new Composer({
      schema: 'failsafe',
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    })
    stopAtErrors(composer, lines)
    const list = [...composer.compose(parserOf(dialect).parse(text))]
    const faults = list.flatMap(document => syntaxFaults(document.errors, lines))
    if (faults.length > 0) throw new InputError(faults)
    return list
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new InputError([
      { place: { file: lines.file }, message: 'lists or mappings are nested too deeply to be read' },
    ])
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Errors of one document after which the others say nothing new. */
const mostErrors = 1_000

/** What of the composer below keeps errors. */
interface ErrorKeeper {
  readonly errors: readonly SyntaxProblem[]
  onError(...error: readonly unknown[]): void
}

/** A text that is no YAML may hold as many errors as characters, each of which takes memory: `yaml` has no option to stop. */
function stopAtErrors(composer: Composer, lines: LineIndex): void {
  const keep: ErrorKeeper['onError'] = Reflect.get(composer, 'onError')
  const onError: ErrorKeeper['onError'] = (...error) => {
    keep(...error)
    const errors: ErrorKeeper['errors'] = Reflect.get(composer, 'errors')
    if (errors.length > mostErrors) throw new InputError(syntaxFaults(errors, lines))
  }
  Reflect.set(composer, 'onError', onError)
}

/** What of the lexer below reads quoted texts. */
interface QuoteLexer {
  /** Columns that the next line has to be indented by. */
  indentNext: number
  parseQuotedScalar(): Generator<string, unknown>
}

/** go-yaml lets the lines of a quoted text begin in any column; `yaml` keeps to the specification and has no option for it. */
function parserOf(dialect: Dialect): Parser {
  const parser = new Parser()
  if (dialect !== 'kubectl') return parser
  const lexer: QuoteLexer = Reflect.get(parser, 'lexer')
  const readQuoted = lexer.parseQuotedScalar
  lexer.parseQuotedScalar = function* () {
    const { indentNext } = this
    this.indentNext = 0
    const next = yield* readQuoted.call(this)
    this.indentNext = indentNext
    return next
  }
  return parser
}

function refuseOtherVersion(document: Document, dialect: Dialect, lines: LineIndex): void {
  const directive = document.directives?.yaml
  if (dialect !== 'kubectl' || directive?.explicit !== true || directive.version === '1.1') return
  const place = lines.placeAt(Math.max(0, lines.text.indexOf('%YAML')))
  throw new InputError([{ place, message: `kubectl reads YAML 1.1 only, found %YAML ${directive.version}` }])
}

/** Objects one after the other, as strict as kubectl is as soon as a text begins with `{`. */
function readJson(text: string, lines: LineIndex): readonly YamlDocument[] {
  return jsonObjects(text, lines).map(({ start, end }) => {
    const chunk = text.slice(start, end)
    const value = parseJson(chunk, start, lines)
    const nodes = () => {
      const [document] = parseText(chunk, lines, 'yaml-1.2')
      const builder = new Builder('yaml-1.2', lines)
      if (document?.contents != null) builder.build(document.contents)
      return { root: document?.contents ?? null, builder }
    }
    return new ParsedDocument(lines, value, nodes, [], start)
  })
}

function jsonObjects(text: string, lines: LineIndex): { start: number; end: number }[] {
  const objects: { start: number; end: number }[] = []
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/gs
  let depth = 0
  let start = -1
  let end = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '{' && depth++ === 0) {
      refuseBetween(text, end, match.index, lines)
      start = match.index
    }
    if (match[0] === '}' && --depth === 0) {
      end = match.index + 1
      objects.push({ start, end })
    }
    if (depth < 0) break
  }
  if (depth > 0) objects.push({ start, end: text.length })
  else refuseBetween(text, end, text.length, lines)
  return objects
}

function refuseBetween(text: string, from: number, to: number, lines: LineIndex): void {
  const between = text.slice(from, to).replace(/^\uFEFF/, ' ')
  const stray = between.search(/\S/)
  if (stray === -1) return
  const message = `after a JSON object only another one may follow, found ${quote(between.trim())}`
  throw new InputError([{ place: lines.placeAt(from + stray), message }])
}

function parseJson(chunk: string, start: number, lines: LineIndex): unknown {
  try {
    return JSON.parse(chunk)
  } catch (error) {
    const said = error instanceof Error ? error.message : ''
    const position = Number(/at position (\d+)/.exec(said)?.[1] ?? chunk.length)
    const place = lines.placeAt(start + position)
    throw new InputError([
      {
        place,
        message: `not valid JSON: ${position >= chunk.length ? 'it ends too early' : 'this character may not stand here'}`,
        hint: 'kubectl reads a file that begins with { as strict JSON: quoted keys, no comma at the end, no comments',
      },
    ])
  }
}

/** Turns a tree of nodes into plain values, and remembers what its aliases stand for. */
class Builder {
  readonly repeated: { key: string; place: Place }[] = []
  private readonly targets = new Map<Node, Node>()
  private readonly pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>()
  private readonly anchors = new Map<string, { node: Node; value: unknown; size: number }>()
  private readonly open = new Set<string>()
  private readonly dialect: Dialect
  private readonly lines: LineIndex
  private size = 0
  private aliasedSize = 0

  constructor(dialect: Dialect, lines: LineIndex) {
    this.dialect = dialect
    this.lines = lines
  }

  build(node: Node): unknown {
    if (isAlias(node)) return this.expand(node, node.source)
    const before = this.size++
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
    if (anchor !== undefined) this.open.add(anchor)
    const value = this.buildContent(node)
    if (anchor !== undefined) {
      this.open.delete(anchor)
      this.anchors.set(anchor, { node, value, size: this.size - before })
    }
    return value
  }

  /** What an alias stands for; any other node is itself. */
  target(node: Node): Node {
    return this.targets.get(node) ?? node
  }

  keyOf(pair: Pair): string | undefined {
    if (!isScalar(pair.key)) return undefined
    const key = this.scalar(pair.key)
    return key === null ? undefined : String(key)
  }

  /** The pair that each key of a mapping comes from, those of merged mappings included. */
  pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.pairs.get(map)
    if (known !== undefined) return known
    const pairs = new Map<string, Pair>()
    for (const pair of map.items) {
      if (this.isMerge(pair)) {
        for (const source of this.mergedMaps(pair).reverse()) {
          for (const [key, merged] of this.pairsOf(source)) pairs.set(key, merged)
        }
      } else {
        pairs.set(this.keyOf(pair) ?? '', pair)
      }
    }
    this.pairs.set(map, pairs)
    return pairs
  }

  private mergedMaps(pair: Pair): YAMLMap[] {
    const value = isNode(pair.value) ? this.target(pair.value) : undefined
    const sources = isSeq(value) ? value.items : [value]
    return sources.map(source => (isNode(source) ? this.target(source) : undefined)).filter(source => isMap(source))
  }

  private isMerge(pair: Pair): boolean {
    return this.dialect === 'kubectl' && isScalar(pair.key) && pair.key.source === '<<' && pair.key.type === 'PLAIN'
  }

  private buildContent(node: Node): unknown {
    if (isMap(node)) return this.mapping(node)
    if (isSeq(node)) return node.items.map(item => (isNode(item) ? this.build(item) : null))
    return this.scalar(node)
  }

  private expand(alias: Node, name: string): unknown {
    const anchor = this.anchors.get(name)
    if (this.open.has(name)) this.refuse(alias, `*${name} stands inside of what it repeats, &${name}`)
    if (anchor === undefined) this.refuse(alias, `*${name}: no anchor &${name} stands before it`)
    this.targets.set(alias, anchor.node)
    this.size += anchor.size
    this.aliasedSize += anchor.size
    if (this.aliasedSize > MAX_ALIASED_VALUES) {
      const limit = MAX_ALIASED_VALUES.toLocaleString('en-US')
      this.refuse(
        alias,
        `aliases are repeated too often or too deeply: they stand for more than ${limit} values, the limit`,
      )
    }
    return anchor.value
  }

  private mapping(map: YAMLMap): Mapping {
    const result: Record<string, unknown> = {}
    const own = new Set<string>()
    for (const pair of map.items) {
      if (this.isMerge(pair)) {
        // As go-yaml does it: a merge wins over the keys before it, and the first of a list over the others.
        for (const source of this.mergeSources(pair).reverse()) Object.assign(result, source)
        continue
      }
      const key = isNode(pair.key) && isScalar(pair.key) ? this.keyOf(pair) : undefined
      if (key === undefined) this.refuse(isNode(pair.key) ? pair.key : map, 'a key must be text')
      if (isNode(pair.key)) this.build(pair.key)
      if (own.has(key) && isNode(pair.key)) this.repeat(key, pair.key)
      own.add(key)
      define(result, key, isNode(pair.value) ? this.build(pair.value) : null)
    }
    return result
  }

  private mergeSources(pair: Pair): Mapping[] {
    const value = isNode(pair.value) ? this.build(pair.value) : null
    const sources = Array.isArray(value) ? value : [value]
    return sources.map(source => {
      if (isMapping(source)) return source
      const at = isNode(pair.value) ? pair.value : isNode(pair.key) ? pair.key : undefined
      return this.refuse(at, '<< merges mappings only')
    })
  }

  private repeat(key: string, node: Node): void {
    const place = this.placeOf(node)
    if (this.dialect === 'kubectl') this.repeated.push({ key, place })
    else throw new InputError([{ place, message: `${key} is given twice in one mapping` }])
  }

  private scalar(node: Node): unknown {
    if (!isScalar(node)) return null
    // Some tags (!!binary, !!timestamp) are resolved by the parser in any schema: their text is in the source.
    const text = typeof node.value === 'string' ? node.value : (node.source ?? '')
    const tag = node.tag
    if (tag === undefined) {
      if (node.type !== 'PLAIN') return text
      return this.finite(node, this.dialect === 'kubectl' ? bareWordOfKubectl(text) : bareWordOfCore(text))
    }
    return this.tagged(node, tag, text)
  }

  private tagged(node: Node, tag: string, text: string): unknown {
    const name = tag.replace('tag:yaml.org,2002:', '')
    if (name === 'binary') return Buffer.from(text, 'base64').toString('utf8')
    const wanted = ownEntry({ int: 'number', float: 'number', bool: 'boolean', null: 'object' }, name)
    if (wanted === undefined) return text
    const value = this.dialect === 'kubectl' ? bareWordOfKubectl(text) : bareWordOfCore(text)
    return typeof value === wanted
      ? this.finite(node, value)
      : this.refuse(node, `!!${name} does not fit ${quote(text)}`)
  }

  private finite(node: Node, value: unknown): unknown {
    const unfit = typeof value === 'number' && !Number.isFinite(value)
    return unfit ? this.refuse(node, `a finite number is expected, found ${value}`) : value
  }

  private placeOf(node: Node): Place {
    return this.lines.placeAt(node.range?.[0] ?? 0)
  }

  private refuse(node: Node | undefined, message: string): never {
    throw new InputError([{ place: node === undefined ? { file: this.lines.file } : this.placeOf(node), message }])
  }
}

/** Assigning would set the prototype. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}

/** Whether a value is a mapping: neither a list nor null. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface Nodes {
  readonly root: Node | null
  readonly builder: Builder
}

interface Found {
  /** The pair's key, where the last step went into a mapping. */
  readonly key: Node | undefined
  /** What is written there: an alias stays one. */
  readonly node: Node | undefined
  readonly complete: boolean
}

class ParsedDocument implements YamlDocument {
  readonly file: string
  readonly source: string
  readonly value: unknown
  readonly repeatedKeys: readonly { readonly key: string; readonly place: Place }[]
  private readonly lines: LineIndex
  private readonly parse: () => Nodes
  /** Where the parsed part begins in the whole text. */
  private readonly offset: number
  private nodes: Nodes | undefined

  constructor(
    lines: LineIndex,
    value: unknown,
    parse: () => Nodes,
    repeatedKeys: readonly { readonly key: string; readonly place: Place }[],
    offset = 0,
  ) {
    this.lines = lines
    this.file = lines.file
    this.source = lines.text
    this.value = value
    this.parse = parse
    this.repeatedKeys = repeatedKeys
    this.offset = offset
  }

  placeOf(path: DocumentPath): Place {
    const { key, node } = this.find(path)
    // A list or mapping begins on the line below its key; people look for the key.
    const isShown = key === undefined || isScalar(node) || isAlias(node)
    return this.placeOfNode(isShown ? node : key)
  }

  placeOfKey(path: DocumentPath): Place {
    const { key, node } = this.find(path)
    return this.placeOfNode(key ?? node)
  }

  pathAsWritten(path: DocumentPath): DocumentPath {
    return path
  }

  private placeOfNode(node: Node | undefined): Place {
    return node?.range == null ? { file: this.file } : this.lines.placeAt(this.offset + node.range[0])
  }

  scalarAt(path: DocumentPath): ScalarSource | undefined {
    const { node, complete } = this.find(path)
    const scalar = node && this.tree().builder.target(node)
    if (!complete || !isScalar(scalar) || scalar.range == null) return undefined
    const start = this.offset + scalar.range[0]
    const end = this.offset + scalar.range[1]
    const style = SCALAR_STYLES[scalar.type ?? 'PLAIN'] ?? 'plain'
    return { start, end, style, firstLine: this.lines.placeAt(start).line + (style === 'block' ? 1 : 0) }
  }

  mappingAt(path: DocumentPath): MappingSource | undefined {
    const { node, complete } = this.find(path)
    const { builder } = this.tree()
    const map = node && builder.target(node)
    if (!complete || !isMap(map)) return undefined
    const keys = map.items.flatMap(pair => {
      const key = builder.keyOf(pair)
      if (key === undefined || !isScalar(pair.key) || pair.key.range == null) return []
      return [{ key, start: this.offset + pair.key.range[0], end: this.offset + pair.key.range[1] }]
    })
    return { style: map.flow === true ? 'flow' : 'block', keys }
  }

  private tree(): Nodes {
    this.nodes ??= this.parse()
    return this.nodes
  }

  private find(path: DocumentPath): Found {
    const { root, builder } = this.tree()
    let found: Found = { key: undefined, node: root ?? undefined, complete: true }
    for (const step of path) {
      const next = found.node && stepInto(builder.target(found.node), step, builder)
      if (next === undefined) return { ...found, complete: false }
      found = next
    }
    return found
  }
}

const SCALAR_STYLES: Readonly<Record<string, ScalarSource['style']>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single-quoted',
  QUOTE_DOUBLE: 'double-quoted',
  BLOCK_LITERAL: 'block',
  BLOCK_FOLDED: 'block',
}

function stepInto(node: Node, step: string | number, builder: Builder): Found | undefined {
  if (isSeq(node)) {
    const item = typeof step === 'number' ? node.items[step] : undefined
    return isNode(item) ? { key: undefined, node: item, complete: true } : undefined
  }
  const pair = isMap(node) ? builder.pairsOf(node).get(String(step)) : undefined
  if (pair === undefined) return undefined
  const key = isNode(pair.key) ? pair.key : undefined
  return { key, node: isNode(pair.value) ? pair.value : undefined, complete: true }
}

/** What `check` asks of a schema, of zod or of the small zod. */
interface Schema<T> {
  safeParse(value: unknown, context: z.core.ParseContext<z.core.$ZodIssue>): z.core.util.SafeParseResult<T>
}

/** The value that a schema makes of a document or of a part of it. Throws InputError with every fault. */
export function check<T>(schema: Schema<T>, document: YamlDocument, path: DocumentPath = []): T {
  const checked = tryCheck(schema, document, path)
  if ('faults' in checked) throw new InputError(checked.faults)
  return checked.value
}

/** As `check`, for who collects the faults of several parts. */
export function tryCheck<T>(
  schema: Schema<T>,
  document: YamlDocument,
  path: DocumentPath = [],
): { readonly value: T } | { readonly faults: readonly Fault[] } {
  // Most runs check one document: compiling the schemas would take longer than it saves.
  const parsed = schema.safeParse(valueAt(document.value, path), { error: issue => expectation(issue), jitless: true })
  if (parsed.success) return { value: parsed.data }
  return { faults: parsed.error.issues.flatMap(issue => issueFaults(issue, document, path)) }
}

/** What stands at a path of a plain value; undefined where it leads nowhere. */
export function valueAt(value: unknown, path: DocumentPath): unknown {
  let found = value
  for (const step of path) {
    if (Array.isArray(found) && typeof step === 'number') found = found[step]
    else if (isMapping(found) && Object.hasOwn(found, step)) found = found[String(step)]
    else return undefined
  }
  return found
}

function issueFaults(issue: z.core.$ZodIssue, document: YamlDocument, base: DocumentPath): readonly Fault[] {
  const path = [...base, ...issue.path.filter(step => typeof step !== 'symbol')]
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys.get(issue.keys) ?? []
    return issue.keys.map(key => ({
      place: document.placeOfKey([...path, key]),
      message: `${inWords([...path, key])}: not a key that is known here`,
      ...hintTo(key, known),
    }))
  }
  if (issue.code === 'invalid_union') {
    const nested = closestBranch(issue.errors)
    if (nested !== undefined) return nested.flatMap(inner => issueFaults(inner, document, path))
  }
  return [wrongValue(document, path, issue.message)]
}

/** The keys of the mapping that an issue's unknown keys stand in. */
const knownKeys = new WeakMap<readonly string[], readonly string[]>()

function rememberKeys(issue: z.core.$ZodRawIssue): void {
  const definition: object | undefined = issue.inst?._zod.def
  if (issue.code !== 'unrecognized_keys' || definition === undefined || !('shape' in definition)) return
  knownKeys.set(issue.keys, Object.keys(isMapping(definition.shape) ? definition.shape : {}))
}

function hintTo(key: string, known: readonly string[]): { readonly hint?: string } {
  const nearest = nearestWord(key, known)
  if (nearest !== undefined) return { hint: `did you mean ${nearest}?` }
  return known.length === 0 ? {} : { hint: `known are ${known.join(', ')}` }
}

/** The alternative that came nearest: it was taken up and failed further inside. */
function closestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const entered = branches.filter(issues => issues.length > 0 && issues.every(issue => issue.path.length > 0))
  return entered.toSorted((a, b) => a.length - b.length)[0]
}

/** `spec.replicas: a whole number is expected, found "four"`, with its place. */
export function wrongValue(document: YamlDocument, path: DocumentPath, expected: string, hint?: string): Fault {
  const value = valueAt(document.value, path)
  const message = `${inWords(document.pathAsWritten(path))}: ${expected}, ${value === undefined ? 'but it is missing' : `found ${describeValue(value)}`}`
  return { place: document.placeOf(path), message, ...(hint === undefined ? {} : { hint }) }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

function expectation(issue: z.core.$ZodRawIssue): string {
  rememberKeys(issue)
  if (issue.code === 'invalid_type') return `${typeInWords(issue.expected)} is expected`
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return `${oneOf(issue.options.map(String))} is expected`
  }
  if (issue.code === 'invalid_union') {
    const types = issue.errors
      .flat()
      .flatMap(each => (each.code === 'invalid_type' ? [typeInWords(each.expected)] : []))
    if (types.length > 0) return `${oneOf([...new Set(types)])} is expected`
  }
  if (issue.code === 'invalid_value') return `${oneOf(issue.values.map(String))} is expected`
  if (issue.code === 'too_small')
    return sizeWords(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
  if (issue.code === 'too_big')
    return sizeWords(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
  if (issue.code === 'not_multiple_of') return `a multiple of ${issue.divisor} is expected`
  return 'something else is expected'
}

function typeInWords(type: string): string {
  return ownEntry(TYPE_WORDS, type) ?? type
}

/** `a or b`, `a, b, c or d`. */
function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

/** What sizes are counted in, one and several. */
const SIZE_WORDS: Readonly<Record<string, readonly [string, string]>> = {
  array: [' entry in the list', ' entries in the list'],
  set: [' entry', ' entries'],
  string: [' character', ' characters'],
}

function sizeWords(origin: string, bound: string, limit: number | bigint): string {
  const [one, several] = ownEntry(SIZE_WORDS, origin) ?? ['', '']
  return `${bound} ${limit}${Number(limit) === 1 ? one : several} is expected`
}

/** `spec.containers[0].resources.limits["nvidia.com/gpu"]` */
export function inWords(path: DocumentPath): string {
  const words = path.map((step, index) => {
    if (typeof step === 'number') return `[${step}]`
    if (!/^[\w-]+$/.test(step)) return `["${step}"]`
    return index === 0 ? step : `.${step}`
  })
  return words.join('') || 'the document'
}

/** What was found, in words: text in quotes and shortened. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' ? 'a mapping' : String(value)
}
