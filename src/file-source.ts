import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, posix, relative, sep } from 'node:path'
import { codeOf } from './errors.ts'
import { once } from './once.ts'

/** Bytes of a file, or why there are none. */
export type FileReading = { readonly bytes: Uint8Array } | { readonly notRead: string }

/**
 * Files of one folder or repository at one moment: as they lie on the disk, in git's index or in a revision. Paths start from
 * its root and have `/` between their parts. Nothing outside is ever read, whatever links say.
 */
export interface FileSource {
  /** Absolute path of the folder it stands for. */
  readonly root: string
  has(path: string): boolean
  /** A regular file of at most so many bytes. Of a source that has not fetched it yet: it is noted, and answered as not there. */
  read(path: string, largestBytes: number): FileReading
  /** Fetches all that was noted; false where there was nothing, so that what was read before is all there is. */
  fetch(): Promise<boolean>
  /** Lets go of what was fetched. */
  forget(): void
}

const notThere = { notRead: 'not found beside the manifest' } as const

/** What `read` answers once all is fetched that it takes, such as the links on the way. */
export async function readFetched<T>(source: FileSource, read: () => T): Promise<T> {
  for (;;) {
    const found = read()
    if (!(await source.fetch())) return found
  }
}

/** The files below a folder on the disk. `oddNames` are the names in bytes of those that are not UTF-8, by what they are called here. */
export function diskFiles(root: string, oddNames: ReadonlyMap<string, Uint8Array> = new Map()): FileSource {
  const outside = { notRead: `it lies outside ${root}` }
  // Links are followed before the question is asked where they lead; of a folder it is asked once.
  const isInside = once((path: string) => isWithin(realPath(root), realPath(join(root, path))))
  return {
    root,
    has: path => existsSync(join(root, path)),
    read(path, largestBytes) {
      const oddName = oddNames.get(path)
      const target = oddName === undefined ? join(root, path) : Buffer.concat([Buffer.from(`${root}${sep}`), oddName])
      try {
        if (oddName === undefined && isInside(folderOf(path))) {
          const descriptor = openUnlessLink(target)
          if (descriptor !== undefined) return readOpen(descriptor, largestBytes)
        }
        return isWithin(realPath(root), realPath(target)) ? readOpen(open(target), largestBytes) : outside
      } catch (error) {
        return isMissing(error) ? notThere : { notRead: 'it cannot be read' }
      }
    },
    fetch: async () => false,
    forget: () => {},
  }
}

/** Byte by byte, since names need not be UTF-8. */
function realPath(path: string | Uint8Array): string {
  return realpathSync.native(Buffer.from(path), 'buffer').toString('latin1')
}

/** Whether a path is a folder or lies in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** The folder of a source's path, empty for the root. */
export function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? '' : folder
}

/** What is said of a file that is not read for its size. */
export function tooLarge(largestBytes: number): { readonly notRead: string } {
  return { notRead: `larger than ${largestBytes / 1e6} MB` }
}

// A named pipe would wait for somebody to write.
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK

function open(path: string | Uint8Array, more = 0): number {
  return openSync(typeof path === 'string' ? path : Buffer.from(path), readOnly | more)
}

/** Undefined where the last part of a path is a link. */
function openUnlessLink(path: string | Uint8Array): number | undefined {
  try {
    return open(path, constants.O_NOFOLLOW)
  } catch (error) {
    if (codeOf(error) === 'ELOOP') return undefined
    throw error
  }
}

function readOpen(descriptor: number, largestBytes: number): FileReading {
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return { notRead: 'not a file' }
    if (stats.size > largestBytes) return tooLarge(largestBytes)
    return { bytes: readBytes(descriptor, stats.size) }
  } finally {
    closeSync(descriptor)
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')
}

function readBytes(descriptor: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size)
  let length = 0
  while (length < size) {
    const read = readSync(descriptor, bytes, length, size - length, null)
    if (read === 0) break
    length += read
  }
  return bytes.subarray(0, length)
}
