import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { InputError } from './errors.ts'
import type { Input } from './terminal.ts'
import { formatMegabytes } from './units.ts'

/** A manifest as it was read: the very bytes that would be forwarded, and all that its scheduler would add to them. */
export interface Manifest {
  /** The path as typed, `-` for standard input. */
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
}

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
const POLL_MILLISECONDS = 10
const CHUNK_BYTES = 65_536
const STDIN_NAME = 'standard input'
const STDIN_PATHS: ReadonlySet<string> = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])

/**
 * Reads a file, a pipe or, as `-`, standard input; never more than `maxBytes`.
 * Throws InputError where there is nothing to read, or no text.
 */
export async function readManifest(path: string, options: ReadManifestOptions): Promise<Manifest> {
  const fromStdin = STDIN_PATHS.has(path)
  const name = fromStdin ? STDIN_NAME : path
  const source = {
    name,
    silence: options.silenceMilliseconds ?? SILENCE_MILLISECONDS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  }
  const bytes = fromStdin ? await readStream(options.stdin, source) : await readPath(path, source)
  return {
    path,
    name,
    bytes,
    text: readText(bytes, name),
    schedulerArguments: options.schedulerArguments ?? [],
    scriptArguments: options.scriptArguments ?? [],
    environment: options.environment ?? {},
  }
}

interface Source {
  readonly name: string
  readonly silence: number
  readonly maxBytes: number
}

async function readPath(path: string, source: Source): Promise<Uint8Array> {
  let handle: FileHandle | undefined
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) refuse(source, 'is a folder, a file is expected', 'name the manifests in it')
    if (stats.isFile() && stats.size > source.maxBytes) refuseSize(source, formatMegabytes(stats.size))
    // Opening a named pipe would wait for its writer and could not be given up.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return await readHandle(handle, stats.isFIFO(), source)
  } catch (error) {
    throw asInputError(error, source)
  } finally {
    await handle?.close()
  }
}

async function readHandle(handle: FileHandle, isPipe: boolean, source: Source): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  let lastByteAt = Date.now()
  for (;;) {
    const chunk = await readChunk(handle)
    if (chunk !== undefined && chunk.length > 0) {
      chunks.push(chunk)
      size += chunk.length
      lastByteAt = Date.now()
      if (size > source.maxBytes) refuseSize(source, 'more')
      continue
    }
    // A pipe without a writer looks as if it had ended: until the first byte it may still get one.
    const ended = chunk !== undefined && (!isPipe || size > 0)
    if (ended) return Buffer.concat(chunks, size)
    if (Date.now() - lastByteAt >= source.silence) refuseSilence(source)
    await sleep(POLL_MILLISECONDS)
  }
}

/** The next bytes; none at the end, undefined while a writer keeps silent. */
async function readChunk(handle: FileHandle): Promise<Uint8Array | undefined> {
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES))
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined
    throw error
  }
}

async function readStream(stream: Input, source: Source): Promise<Uint8Array> {
  if (stream.isTTY === true) {
    refuse(source, 'is a terminal: nothing is piped in', 'name a file, or pipe a manifest in')
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const iterator = stream[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await withinSilence(iterator.next(), source)
      if (next.done === true) return Buffer.concat(chunks, size)
      const chunk = Buffer.from(next.value)
      chunks.push(chunk)
      size += chunk.length
      if (size > source.maxBytes) refuseSize(source, 'more')
    }
  } catch (error) {
    stream.pause()
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
    throw asInputError(error, source)
  }
}

async function withinSilence<T>(promise: Promise<T>, source: Source): Promise<T> {
  const patience = new AbortController()
  const silence = sleep(source.silence, undefined, { signal: patience.signal }).then(() => refuseSilence(source))
  silence.catch(() => {})
  try {
    return await Promise.race([promise, silence])
  } finally {
    patience.abort()
  }
}

function readText(bytes: Uint8Array, name: string): string {
  const text = decode(bytes)
  const file = { name }
  const isEmpty = name === STDIN_NAME ? 'is empty' : 'the file is empty'
  if (bytes.length === 0) refuse(file, isEmpty)
  if (text.includes('\0')) refuse(file, 'is not text: it holds binary data')
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

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file: a part of its path is no folder',
  EACCES: 'may not be read: permission denied',
  EPERM: 'may not be read: permission denied',
  ELOOP: 'links in its path lead in a circle',
  ENAMETOOLONG: 'the name is too long for a file',
  EISDIR: 'is a folder, a file is expected',
}

function asInputError(error: unknown, source: Source): unknown {
  const code = codeOf(error)
  if (error instanceof InputError || code === undefined) return error
  const message = REASONS[code] ?? `cannot be read: ${error instanceof Error ? error.message : code}`
  return new InputError([{ place: { file: source.name }, message }])
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
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
