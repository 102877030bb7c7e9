import type { Fault, Place } from './errors.ts'
import { type Exemption, exemptibleRules } from './finding.ts'
import { type Sourced, sourced, withoutAbsent } from './sourced.ts'
import { isDay, parseDuration, secondsPerDay, secondsPerHour, secondsPerMinute } from './units.ts'
import { editDistance } from './word-list.ts'

/** A measured speed the user vouches for: `2450 samples/s on 8xa100-80gb`. */
export interface DeclaredThroughput {
  readonly perSecond: number
  readonly unit: 'samples' | 'tokens' | 'steps'
  readonly gpuCount: number
  readonly gpuName: string
}

/** A runtime the user vouches for: `4h on 8xa100-80gb`. */
export interface DeclaredRuntime {
  readonly seconds: number
  /** Absent: as requested. */
  readonly gpuCount?: number
  readonly gpuName?: string
}

/** What the manifest says for itself; wins over whatever is derived. Keys as in README. */
export interface Declarations {
  readonly model?: Sourced<string>
  readonly params?: Sourced<number>
  readonly tokens?: Sourced<number>
  readonly samples?: Sourced<number>
  readonly epochs?: Sourced<number>
  readonly steps?: Sourced<number>
  readonly batch?: Sourced<number>
  readonly sequenceLength?: Sourced<number>
  readonly precision?: Sourced<string>
  readonly method?: Sourced<string>
  readonly throughput?: Sourced<DeclaredThroughput>
  readonly runtime?: Sourced<DeclaredRuntime>
  readonly checkpointIntervalSeconds?: Sourced<number>
  readonly team?: Sourced<string>
  readonly costCenter?: Sourced<string>
  /** Any others, by their names: `tag.project=apollo`. */
  readonly tags?: Readonly<Record<string, string>>
  /** Candidates to consider, as written: `8xt4`, `l40s`. */
  readonly gpus?: Sourced<readonly string[]>
  /** Rules that the manifest says need not hold for it; whether they then need not, the policy decides. */
  readonly exemptions?: readonly Exemption[]
}

/** One `#GPUFARE key=value` line or `gpufare.dev/key: value` annotation. */
export interface DeclarationEntry {
  readonly key: string
  readonly value: string
  readonly place: Place
}

/** What a comment `#GPUFARE key=value` declares; nothing where the line is none. */
export function declarationIn(line: string, place: Place): readonly DeclarationEntry[] {
  const [, head = '', key, value = ''] = /^(#\s?GPUFARE\s+)([\w.-]+)\s*=(.*)$/.exec(line) ?? []
  return key === undefined ? [] : [{ key, value: value.trim(), place: { ...place, column: head.length + 1 } }]
}

/** Reads one value; undefined when it is not of the kind that `expected` describes. */
interface Kind<T> {
  readonly expected: string
  read(value: string): T | undefined
}

const SUFFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, b: 1e9, t: 1e12 }

/** `7B`, `1.5k`, `1_000`, `300B tokens` (the unit's name may follow), `2,450`, `3e-4`; undefined for anything else. */
function readCount(value: string, unit?: RegExp): number | undefined {
  const match = /^([\d_,]*\.?\d+(?:e[+-]?\d+)?)\s*([kmgbt]?)\s*([a-z]*)$/i.exec(value.trim())
  if (match === null) return undefined
  const [, digits = '', suffix = '', word = ''] = match
  if (word !== '' && !unit?.test(word)) return undefined
  const number = Number(digits.replace(/[_,]/g, ''))
  const factor = SUFFIXES[suffix.toLowerCase()]
  return Number.isFinite(number) && factor !== undefined ? number * factor : undefined
}

/** Seconds of `4h`, `90m`, `2h30m`, `1.5d`, or of hours as Slurm writes them, `4:00:00` and `1-02:00:00`. */
function readDuration(value: string): number | undefined {
  const clock = /^(?:(\d+)-)?(\d+):([0-5]?\d):([0-5]?\d)$/.exec(value.trim())
  if (clock === null) return parseDuration(value)
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = clock.slice(1).map(part => Number(part ?? 0))
  return days * secondsPerDay + hours * secondsPerHour + minutes * secondsPerMinute + seconds
}

/** `8xa100-80gb` or `a100-80gb` (one GPU). */
function readGpus(value: string): { gpuCount: number; gpuName: string } | undefined {
  const match = /^(?:(\d+)\s*[x*×]\s*)?([a-z][\w.-]*)$/i.exec(value.trim())
  if (match?.[2] === undefined) return undefined
  const gpuCount = Number(match[1] ?? 1)
  return gpuCount > 0 ? { gpuCount, gpuName: match[2] } : undefined
}

function count(what: string, unit: RegExp): Kind<number> {
  return {
    expected: `${what}, such as 1000, 1_000 or 1.5M`,
    read: value => {
      const number = readCount(value, unit)
      return number !== undefined && number > 0 ? number : undefined
    },
  }
}

const text: Kind<string> = { expected: 'some text', read: value => value.trim() || undefined }

function oneOf(...words: readonly string[]): Kind<string> {
  return {
    expected: `one of ${words.join(', ')}`,
    read: value => words.find(word => word === value.trim().toLowerCase()),
  }
}

const duration: Kind<number> = {
  expected: 'a duration, such as 4h, 90m, 2h30m or 1-02:00:00',
  read: value => {
    const seconds = readDuration(value)
    return seconds !== undefined && seconds > 0 ? seconds : undefined
  },
}

const throughput: Kind<DeclaredThroughput> = {
  expected: 'a speed and the GPUs it was measured on, such as 2450 samples/s on 8xa100-80gb',
  read: value => {
    const match = /^(.+?)\s*(samples?|tokens?|steps?)\s*\/\s*s(?:ec(?:ond)?)?\s+on\s+(.+)$/i.exec(value.trim())
    if (match === null) return undefined
    const [, speed = '', unit = '', gpus = ''] = match
    const perSecond = readCount(speed)
    const measuredOn = readGpus(gpus)
    if (perSecond === undefined || perSecond <= 0 || measuredOn === undefined) return undefined
    const named = (['samples', 'tokens', 'steps'] as const).find(name =>
      unit.toLowerCase().startsWith(name.slice(0, -1)),
    )
    return named && { perSecond, unit: named, ...measuredOn }
  },
}

const runtime: Kind<DeclaredRuntime> = {
  expected: 'a duration and, if need be, the GPUs it was measured on, such as 4h on 8xa100-80gb',
  read: value => {
    const [time = '', gpus, ...rest] = value.split(/\s+on\s+/i)
    const seconds = duration.read(time)
    if (seconds === undefined || rest.length > 0) return undefined
    if (gpus === undefined) return { seconds }
    const measuredOn = readGpus(gpus)
    return measuredOn && { seconds, ...measuredOn }
  },
}

const gpuList: Kind<readonly string[]> = {
  expected: 'GPU types, each with a number if need be, such as 8xt4, l40s',
  read: value => {
    const names = value.split(/[,\s]+/).filter(name => name !== '')
    return names.length > 0 && names.every(name => readGpus(name)) ? names : undefined
  },
}

/** `job-cost until 2026-12-31: reproduces the paper`, or several on lines of their own, as an annotation can hold them. */
const exemptions: Kind<readonly Omit<Exemption, 'place'>[]> = {
  expected: `a rule, its last day and the reason, such as job-cost until 2026-12-31: why; rules are ${exemptibleRules.join(', ')}`,
  read: value => {
    const lines = value.split('\n').filter(line => line.trim() !== '')
    const read = lines.flatMap(line => {
      const [, rule = '', until = '', reason = ''] = /^\s*([\w-]+)\s+until\s+([\d-]+)\s*:\s*(.*\S)/.exec(line) ?? []
      return exemptibleRules.some(known => known === rule) && isDay(until) && reason !== ''
        ? [{ rule, until, reason }]
        : []
    })
    return read.length > 0 && read.length === lines.length ? read : undefined
  },
}

const KINDS = {
  model: text,
  params: count('a number of parameters', /^(params?|parameters?)$/i),
  tokens: count('a number of tokens', /^tokens?$/i),
  samples: count('a number of samples', /^(samples?|sequences?|images?|examples?)$/i),
  epochs: count('a number of epochs', /^epochs?$/i),
  steps: count('a number of optimizer steps', /^(steps?|iterations?|iters?)$/i),
  batch: count('sequences or images of one optimizer step, over all GPUs', /^(samples?|sequences?|images?)$/i),
  'seq-len': count('a number of tokens', /^tokens?$/i),
  precision: oneOf('fp32', 'tf32', 'fp16', 'bf16', 'fp8'),
  method: oneOf('full', 'lora', 'qlora'),
  throughput,
  runtime,
  'checkpoint-interval': duration,
  team: text,
  'cost-center': text,
  gpus: gpuList,
  exempt: exemptions,
}

/** `tag.project`: a tag of any name. */
const TAG_PREFIX = 'tag.'

/** The keys that may be declared, in the order README lists them. */
export const DECLARATION_KEYS: readonly string[] = Object.keys(KINDS)

/**
 * What `#GPUFARE` lines or `gpufare.dev/` annotations say; the later of two lines with one key wins. A key that is not
 * known or a value of the wrong kind is a fault, and the other lines are read all the same. Exemptions all count.
 */
export function readDeclarations(entries: readonly DeclarationEntry[]): {
  declarations: Declarations
  faults: readonly Fault[]
} {
  const faults: Fault[] = []
  for (const { key, place } of entries) {
    if (!DECLARATION_KEYS.includes(key) && !isTag(key)) faults.push(unknownKey(key, place))
  }
  function last<T>(key: string, kind: Kind<T>): Sourced<T> | undefined {
    let read: Sourced<T> | undefined
    for (const entry of entries.filter(candidate => candidate.key === key)) {
      const value = kind.read(entry.value)
      if (value === undefined) faults.push(wrongValue(entry, kind.expected))
      else read = sourced(value, { kind: 'annotation', place: entry.place })
    }
    return read
  }
  function all<T extends object>(key: string, kind: Kind<readonly T[]>): readonly (T & { place: Place })[] | undefined {
    const found = entries
      .filter(entry => entry.key === key)
      .flatMap(entry => {
        const values = kind.read(entry.value)
        if (values === undefined) faults.push(wrongValue(entry, kind.expected))
        return (values ?? []).map(value => ({ ...value, place: entry.place }))
      })
    return found.length > 0 ? found : undefined
  }
  function tags(): Declarations['tags'] {
    const keys = [...new Set(entries.map(({ key }) => key).filter(isTag))]
    const read = keys.map(key => [key.slice(TAG_PREFIX.length), last(key, text)?.value] as const)
    const said = read.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
    return said.length > 0 ? Object.fromEntries(said) : undefined
  }
  const declarations = withoutAbsent({
    tags: tags(),
    model: last('model', KINDS.model),
    params: last('params', KINDS.params),
    tokens: last('tokens', KINDS.tokens),
    samples: last('samples', KINDS.samples),
    epochs: last('epochs', KINDS.epochs),
    steps: last('steps', KINDS.steps),
    batch: last('batch', KINDS.batch),
    sequenceLength: last('seq-len', KINDS['seq-len']),
    precision: last('precision', KINDS.precision),
    method: last('method', KINDS.method),
    throughput: last('throughput', KINDS.throughput),
    runtime: last('runtime', KINDS.runtime),
    checkpointIntervalSeconds: last('checkpoint-interval', KINDS['checkpoint-interval']),
    team: last('team', KINDS.team),
    costCenter: last('cost-center', KINDS['cost-center']),
    gpus: last('gpus', KINDS.gpus),
    exemptions: all('exempt', KINDS.exempt),
  })
  return { declarations, faults }
}

function isTag(key: string): boolean {
  return key.startsWith(TAG_PREFIX) && key.length > TAG_PREFIX.length
}

function wrongValue(entry: DeclarationEntry, expected: string): Fault {
  return { place: entry.place, message: `${entry.key}=${entry.value}: expected ${expected}` }
}

function unknownKey(key: string, place: Place): Fault {
  const nearest = DECLARATION_KEYS.map(known => ({ known, distance: editDistance(key.toLowerCase(), known) })).sort(
    (a, b) => a.distance - b.distance,
  )[0]
  const hint =
    nearest !== undefined && nearest.distance <= 3
      ? `did you mean ${nearest.known}?`
      : `known keys: ${DECLARATION_KEYS.join(', ')}`
  return { place, message: `${key}: not a key gpufare knows`, hint }
}
