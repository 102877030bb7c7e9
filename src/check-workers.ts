import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { CheckedFile } from './checked-files.ts'

/** Checks the files of these paths. */
export type CheckPaths = (paths: readonly string[]) => Promise<readonly CheckedFile[]>

/** Below so many files a thread takes longer to start than it saves. */
const fewestFiles = 1_000
/** Files that a thread is handed at one time. */
const filesInPart = 100
/** More threads would each parse the program and hold its tables for ever fewer files. */
const mostThreads = 2
/** A thread reads one manifest after the other, and remembers some hundred quotes. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 }

/** Whether this is one of the threads that `checkInThreads` started. */
export function isCheckThread(): boolean {
  return !isMainThread
}

/**
 * Checks many files on several cores, each thread running this very program; `request` goes to them. Undefined where they are
 * too few, where the program is not built, or where a thread failed: then they are checked as if there were none.
 */
export async function checkInThreads(
  paths: readonly string[],
  request: object,
  progress: (done: number) => void,
): Promise<readonly CheckedFile[] | undefined> {
  const threadCount = Math.min(mostThreads, availableParallelism())
  if (paths.length < fewestFiles || threadCount < 2 || basename(import.meta.dirname) !== 'dist') return undefined
  const program = join(import.meta.dirname, '../bin/gpufare.js')
  const parts = Array.from({ length: Math.ceil(paths.length / filesInPart) }, (_, index) =>
    paths.slice(index * filesInPart, (index + 1) * filesInPart),
  )
  const checked: (readonly CheckedFile[])[] = []
  const threads = Array.from(
    { length: threadCount },
    () => new Worker(program, { argv: ['check'], workerData: request, resourceLimits }),
  )
  let next = 0
  let done = 0
  try {
    await new Promise<void>((resolve, reject) => {
      for (const thread of threads) {
        const hand = () => {
          const part = parts[next]
          if (part !== undefined) thread.postMessage({ index: next++, paths: part } satisfies Part)
        }
        thread.on('message', ({ index, files }: Answer) => {
          checked[index] = files
          done += files.length
          progress(done)
          if (done === paths.length) resolve()
          hand()
        })
        thread.on('error', reject)
        thread.on('exit', reject)
        hand()
        // A second part waits in the thread while the answer to the first is on its way.
        hand()
      }
    })
    return checked.flat()
  } catch {
    return undefined
  } finally {
    for (const thread of threads) await thread.terminate()
  }
}

interface Part {
  readonly index: number
  readonly paths: readonly string[]
}

interface Answer {
  readonly index: number
  readonly files: readonly CheckedFile[]
}

/** What a thread does: it checks the parts that it is handed until it is ended. `open` makes of the request what it takes. */
export async function serveAsThread<Request>(open: (request: Request) => Promise<CheckPaths>): Promise<number> {
  const checkPaths = await open(workerData)
  return new Promise((_, reject) => {
    let last = Promise.resolve()
    parentPort?.on('message', ({ index, paths }: Part) => {
      last = last
        .then(async () => parentPort?.postMessage({ index, files: await checkPaths(paths) } satisfies Answer))
        .catch(reject)
    })
  })
}
