import { readFileSync, statSync } from 'node:fs'
import { codeOf, InputError, systemReason } from './errors.ts'
import type { PipeLimits } from './pipe.ts'
import type { Input } from './terminal.ts'
import { formatMegabytes } from './units.ts'

/** A manifest as it was read: the very bytes that would be forwarded, and all that its scheduler would add to them. */
export interface Manifest {
  /** The path as typed, `-` for standard input, `--wrap` for the command of that option. */
  readonly path: string
  /** What messages call it: the path, or `standard input`. */
  readonly name: string
  readonly bytes: Uint8Array
  /** The bytes as text, without a byte order mark: UTF-8, or UTF-16 where its mark stands in front. */
  readonly text: string
  /** Options for sbatch or kubectl, typed after `--`. */
  readonly schedulerArguments: readonly string[]
  /** Arguments for the batch script itself. */
  readonly scriptArguments: readonly string[]
  /** The submitting shell's variables: `SBATCH_*` count, and the script may use the others. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Texts of scripts that a batch script sources, by their paths as seen from it; absent before they were read. */
  readonly sourcedFiles?: ReadonlyMap<string, string>
  /** Where the files beside it lie, if that is not the folder of its path. */
  readonly folder?: string
}

/** Path of a manifest that has no file: the command of `sbatch --wrap`. */
export const wrapPath = '--wrap'

/** What comes with a manifest, and how long and how much of it is read. */
export interface ReadManifestOptions {
  readonly stdin: Input
  readonly schedulerArguments?: readonly string[]
  readonly scriptArguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** A pipe that sends nothing for so long has nothing to say. */
  readonly silenceMilliseconds?: number
  readonly maxBytes?: number
}

const SILENCE_MILLISECONDS = 5_000
/** Ten megabytes: three times what the Kubernetes API takes (3 MiB), and more than Slurm takes by default (4 MiB, max_script_size). */
const MAX_BYTES = 10_000_000
const STDIN_NAME = 'standard input'
const STDIN_PATHS: ReadonlySet<string> = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])

/**
 * Reads a file, a pipe or, as `-`, standard input; never more than `maxBytes`.
 * Throws InputError where there is nothing to read, or no text.
 */
export async function readManifest(path: string, options: ReadManifestOptions): Promise<Manifest> {
  const name = STDIN_PATHS.has(path) ? STDIN_NAME : path
  const source = {
    name,
    silence: options.silenceMilliseconds ?? SILENCE_MILLISECONDS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  }
  const bytes = await readInput(path, options, source)
  return {
    ...manifestOf(name, bytes),
    path,
    schedulerArguments: options.schedulerArguments ?? [],
    scriptArguments: options.scriptArguments ?? [],
    environment: options.environment ?? {},
  }
}

/** A manifest whose bytes are known already, with nothing that comes with it. Throws InputError where they are no text. */
export function manifestOf(name: string, bytes: Uint8Array): Manifest {
  const text = readText(bytes, name)
  return { path: name, name, bytes, text, schedulerArguments: [], scriptArguments: [], environment: {} }
}

interface Source {
  readonly name: string
  readonly silence: number
  readonly maxBytes: number
}

async function readInput(path: string, options: ReadManifestOptions, source: Source): Promise<Uint8Array> {
  try {
    if (STDIN_PATHS.has(path)) return await readStandardInput(options.stdin, source)
    const stats = statSync(path)
    if (stats.isDirectory()) refuse(source, 'is a folder, a file is expected', 'name the manifests in it')
    if (stats.size > source.maxBytes) refuseSize(source, formatMegabytes(stats.size))
    // Asynchronous reading takes milliseconds to load, so only what may keep one waiting pays for it; files of /proc have no size.
    if (stats.isFile() && stats.size > 0) return readFileSync(path)
    const { readPipe } = await import('./pipe.ts')
    return await readPipe(path, stats.isFIFO(), limitsOf(source))
  } catch (error) {
    throw asInputError(error, source)
  }
}

async function readStandardInput(stdin: Input, source: Source): Promise<Uint8Array> {
  if (stdin.isTTY === true) {
    refuse(source, 'is a terminal: nothing is piped in', 'name a file, or pipe a manifest in')
  }
  const { readStream } = await import('./pipe.ts')
  return await readStream(stdin, limitsOf(source))
}

function limitsOf(source: Source): PipeLimits {
  return {
    maxBytes: source.maxBytes,
    silenceMilliseconds: source.silence,
    refuseSize: () => refuseSize(source, 'more'),
    refuseSilence: () => refuseSilence(source),
  }
}

/** What is said of a file that no text is in. */
export const binaryWords = 'is not text: it holds binary data'

/** Whether bytes are no text. */
export function holdsBinary(bytes: Uint8Array): boolean {
  return decode(bytes).includes('\0')
}

function readText(bytes: Uint8Array, name: string): string {
  const text = decode(bytes)
  const file = { name }
  const isEmpty = name === STDIN_NAME ? 'is empty' : 'the file is empty'
  if (bytes.length === 0) refuse(file, isEmpty)
  if (text.includes('\0')) refuse(file, binaryWords)
  if (text.trim() === '') refuse(file, `${isEmpty} (only blank lines)`)
  return text
}

/** kubectl reads UTF-16 where a byte order mark says so. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function asInputError(error: unknown, source: Source): unknown {
  if (error instanceof InputError || codeOf(error) === undefined) return error
  return new InputError([{ place: { file: source.name }, message: systemReason(error) }])
}

function refuse(source: { readonly name: string }, message: string, hint?: string): never {
  throw new InputError([{ place: { file: source.name }, message, ...(hint === undefined ? {} : { hint }) }])
}

function refuseSize(source: Source, size: string): never {
  const limit = formatMegabytes(source.maxBytes)
  refuse(
    source,
    size === 'more' ? `is larger than the limit of ${limit}` : `is larger than the limit: ${size}, limit ${limit}`,
  )
}

function refuseSilence(source: Source): never {
  refuse(
    source,
    `nothing was written to it for ${source.silence / 1000} seconds`,
    'is the program that should write still running?',
  )
}
