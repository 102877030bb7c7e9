import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Input } from './terminal.ts'

/** How much is read of a pipe, how long it may keep silent, and what is thrown where it goes on too long. */
export interface PipeLimits {
  readonly maxBytes: number
  readonly silenceMilliseconds: number
  refuseSize(): never
  refuseSilence(): never
}

const POLL_MILLISECONDS = 10
const CHUNK_BYTES = 65_536

/** Reads a named pipe, or a device, to its end. */
export async function readPipe(path: string, isFifo: boolean, limits: PipeLimits): Promise<Uint8Array> {
  // Opening a named pipe would wait for its writer and could not be given up.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return await readHandle(handle, isFifo, limits)
  } finally {
    await handle.close()
  }
}

async function readHandle(handle: FileHandle, isFifo: boolean, limits: PipeLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  let lastByteAt = Date.now()
  for (;;) {
    const chunk = await readChunk(handle)
    if (chunk !== undefined && chunk.length > 0) {
      chunks.push(chunk)
      size += chunk.length
      lastByteAt = Date.now()
      if (size > limits.maxBytes) limits.refuseSize()
      continue
    }
    // A pipe without a writer looks as if it had ended: until the first byte it may still get one.
    const ended = chunk !== undefined && (!isFifo || size > 0)
    if (ended) return Buffer.concat(chunks, size)
    if (Date.now() - lastByteAt >= limits.silenceMilliseconds) limits.refuseSilence()
    await sleep(POLL_MILLISECONDS)
  }
}

/** The next bytes; none at the end, undefined while a writer keeps silent. */
async function readChunk(handle: FileHandle): Promise<Uint8Array | undefined> {
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES))
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}

/** Reads a stream to its end; one that fails or is refused is closed. */
export async function readStream(stream: Input, limits: PipeLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const iterator = stream[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await withinSilence(iterator.next(), limits)
      if (next.done === true) return Buffer.concat(chunks, size)
      const chunk = Buffer.from(next.value)
      chunks.push(chunk)
      size += chunk.length
      if (size > limits.maxBytes) limits.refuseSize()
    }
  } catch (error) {
    stream.pause()
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
    throw error
  }
}

async function withinSilence<T>(promise: Promise<T>, limits: PipeLimits): Promise<T> {
  const patience = new AbortController()
  const silence = sleep(limits.silenceMilliseconds, undefined, { signal: patience.signal }).then(() =>
    limits.refuseSilence(),
  )
  silence.catch(() => {})
  try {
    return await Promise.race([promise, silence])
  } finally {
    patience.abort()
  }
}
