import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config.ts'
import type { ReferredFiles } from './workloads/workload-reader.ts'

/** A file of many that say the same but for the number at the end of their job's name, as generated ones do. */
export interface Twin {
  /** The text without the number. */
  readonly text: string
  /** Of the job. */
  readonly name: string
  /** What the file is called in messages. */
  readonly file: string
}

/** Where a job is named: a Kubernetes object's metadata, or a directive. */
const NAMED = /^(?: {2}name: |#SBATCH (?:--job-name=|-J ))([a-z][a-z0-9.-]*-\d{1,6})$/m

/** The twin that a file is; undefined where its job has no such name, or where the name stands in other places as well. */
export function twinOf(text: string, file: string): Twin | undefined {
  const match = NAMED.exec(text)
  const [line = '', name = ''] = match ?? []
  if (match === null || text.split(name).length !== 2) return undefined
  const end = match.index + line.length
  return { text: text.slice(0, end - digitsOf(name)) + text.slice(end), name, file }
}

function digitsOf(name: string): number {
  return name.length - name.lastIndexOf('-') - 1
}

/** What came of a file, and the files that it refers to as they lie beside it: those of a twin have to say the same. */
export interface Remembered<T> {
  readonly outcome: T
  readonly referred: ReferredFiles
}

interface Known<T> extends Remembered<T> {
  readonly twin: Twin
  /** A second file came out alike in all but names: only then are others taken to. */
  readonly isProven: boolean
}

/** Kinds of files that are remembered. */
const mostKinds = 200
/** Text of the files beside a kind that is held for comparing, in UTF-16 units. */
const mostText = 100_000

/**
 * Outcomes of files, for their twins. That twins come out alike is not taken for granted: the second of them is worked out
 * as well, and only where it is the first one with other names are the rest taken from there.
 */
export class TwinMemory<T> {
  private readonly kinds = new Map<Config, Map<string, Known<T> | 'differ'>>()

  /** The outcome of a file, taken from its twins; true of it where the files beside it say the same. */
  recall(twin: Twin, config: Config): Remembered<T> | undefined {
    const known = this.kinds.get(config)?.get(twin.text)
    return known === undefined || known === 'differ' || !known.isProven
      ? undefined
      : { outcome: renamed(known.outcome, known.twin, twin), referred: known.referred }
  }

  /** Keeps the outcome of a file that was worked out. */
  learn(twin: Twin, config: Config, { outcome, referred }: Remembered<T>): void {
    const kinds = this.kinds.get(config) ?? new Map<string, Known<T> | 'differ'>()
    this.kinds.set(config, kinds)
    const known = kinds.get(twin.text)
    if (known === undefined && kinds.size < mostKinds && lengthOf(referred) <= mostText)
      kinds.set(twin.text, { twin, outcome, referred, isProven: false })
    if (known === undefined || known === 'differ' || known.isProven) return
    // With other files beside it a file may well come out differently.
    if (!isDeepStrictEqual(known.referred, referred)) return
    const isAlike = isDeepStrictEqual(renamed(known.outcome, known.twin, twin), outcome)
    kinds.set(twin.text, isAlike ? { ...known, isProven: true } : 'differ')
  }
}

function lengthOf(referred: ReferredFiles): number {
  return [...referred.values()].reduce((sum, file) => sum + ('text' in file ? file.text.length : 0), 0)
}

/** The same value with the names of another file; parts without any are shared. */
function renamed<T>(value: T, from: Twin, to: Twin): T
function renamed(value: unknown, from: Twin, to: Twin): unknown {
  if (typeof value === 'string') {
    // A file's name may hold the job's; a NUL stands in no text.
    return value.replaceAll(from.file, '\0').replaceAll(from.name, to.name).replaceAll('\0', to.file)
  }
  if (Array.isArray(value)) {
    const items = value.map(item => renamed(item, from, to))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const changed = entries.map(([key, item]) => [key, renamed(item, from, to)] as const)
  return changed.every(([, item], index) => item === entries[index]?.[1]) ? value : Object.fromEntries(changed)
}
