import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { GpufareError } from './errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a program that was only asked something answered. */
export interface Answer {
  readonly exitCode: number
  readonly stdout: string
  /** What stood on stdout as it came, for what is not text. */
  readonly stdoutBytes: Uint8Array
  readonly stderr: string
  /** It was ended because its time was over; what it had printed by then is kept. */
  readonly timedOut: boolean
}

/** How a program is asked something. */
export interface Asking {
  readonly environment: Environment
  readonly timeoutMilliseconds: number
  /** Time to end by itself, and to end what it started, once its time is over; none otherwise. */
  readonly graceMilliseconds?: number
  /** For its standard input, which is empty otherwise. */
  readonly input?: Uint8Array
  /** Its time is over as soon as this is aborted. */
  readonly signal?: AbortSignal
}

interface ProgramOutput {
  write(chunk: Uint8Array): unknown
  readonly fd?: number
}

/** The streams a program takes over; a `Terminal` is one. A stream without `fd` is fed and read through pipes. */
export interface Streams {
  readonly stdin: { readonly fd?: number }
  readonly stdout: ProgramOutput
  readonly stderr: ProgramOutput
  readonly environment: Environment
}

/** How the user's own program is run. */
export interface PassingThrough {
  /** For its standard input instead of the terminal's. */
  readonly input?: Uint8Array
  /** Keep what it prints on stdout as well as showing it. */
  readonly keepStdout?: boolean
}

/** Programs that were asked something and have not answered yet. */
const asked = new Set<ChildProcess>()
/** The user's own program while it runs. */
let passedThrough: ChildProcess | undefined

/**
 * Runs a program that only answers: nothing of it reaches the terminal. It leads a process group of its own, so that
 * what it starts (a kubectl login plugin, say) ends with it when its time is over or this process ends.
 */
export function askProgram(program: string, words: readonly string[], asking: Asking): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { env: { ...asking.environment }, detached: true, stdio: 'pipe' })
    if (asked.size === 0) process.on('exit', endAsked)
    asked.add(child)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    feed(child, asking.input)
    const settle = (exitCode: number, timedOut: boolean) => {
      clearTimeout(timer)
      asking.signal?.removeEventListener('abort', end)
      forget(child)
      const stdoutBytes = Buffer.concat(stdout)
      resolve({
        exitCode,
        stdoutBytes,
        get stdout() {
          return stdoutBytes.toString()
        },
        stderr: Buffer.concat(stderr).toString(),
        timedOut,
      })
    }
    let isOver = false
    const giveUp = () => {
      endGroup(child)
      settle(1, true)
    }
    const end = () => {
      clearTimeout(timer)
      if (asking.graceMilliseconds === undefined) return giveUp()
      isOver = true
      signalGroup(child, 'SIGTERM')
      timer = setTimeout(giveUp, asking.graceMilliseconds)
    }
    let timer = setTimeout(end, asking.timeoutMilliseconds)
    asking.signal?.addEventListener('abort', end, { once: true })
    child.on('error', error => {
      clearTimeout(timer)
      forget(child)
      reject(cannotStart(program, error))
    })
    child.on('close', (code, signal) => settle(exitCodeOf(code, signal), isOver))
  })
}

/**
 * Runs the user's own program on the terminal's streams, its arguments, output and exit code untouched. Ends with the
 * code a shell would give: 128 and the signal's number where a signal ended it.
 */
export function passThrough(
  program: string,
  words: readonly string[],
  streams: Streams,
  how: PassingThrough = {},
): Promise<{ readonly exitCode: number; readonly stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      env: { ...streams.environment },
      stdio: [
        how.input === undefined ? (streams.stdin.fd ?? 'ignore') : 'pipe',
        how.keepStdout === true ? 'pipe' : (streams.stdout.fd ?? 'pipe'),
        streams.stderr.fd ?? 'pipe',
      ],
    })
    passedThrough = child
    const stdout: Buffer[] = []
    child.stdout?.on('data', (chunk: Buffer) => {
      streams.stdout.write(chunk)
      if (how.keepStdout === true) stdout.push(chunk)
    })
    child.stderr?.on('data', (chunk: Buffer) => streams.stderr.write(chunk))
    if (how.input !== undefined) feed(child, how.input)
    child.on('error', error => {
      passedThrough = undefined
      reject(cannotStart(program, error))
    })
    child.on('close', (code, signal) => {
      passedThrough = undefined
      resolve({ exitCode: exitCodeOf(code, signal), stdout: Buffer.concat(stdout).toString() })
    })
  })
}

/**
 * From now on Ctrl-C, a closed terminal or `kill` ends this process in order: what was asked ends too, the cursor comes
 * back, the exit code is a shell's (130). While the user's own program runs, the signal is that program's to answer.
 */
export function exitWhenInterrupted(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // At a terminal Ctrl-C has reached the program already; a second one does sbatch and kubectl no harm.
      if (passedThrough !== undefined) passedThrough.kill(signal)
      else process.exit(exitCodeOf(null, signal))
    })
  }
}

/** A command line that a POSIX shell reads as these very words. */
export function describeCommand(program: string, words: readonly string[]): string {
  return [program, ...words].map(quoteForShell).join(' ')
}

/** A word as a POSIX shell reads it back. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function feed(child: ChildProcess, input: Uint8Array | undefined): void {
  child.stdin?.on('error', () => {}) // it ended without reading everything; its exit code says why
  child.stdin?.end(input)
}

function forget(child: ChildProcess): void {
  asked.delete(child)
  if (asked.size === 0) process.off('exit', endAsked)
}

function endAsked(): void {
  for (const child of asked) endGroup(child)
}

function endGroup(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
  signalGroup(child, 'SIGKILL')
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // it has ended by itself
  }
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}

function cannotStart(program: string, error: Error & { readonly code?: string }): GpufareError {
  if (error.code === 'ENOENT') return new ProgramNotFound(program)
  return new GpufareError(`${program} cannot be started: ${error.message}`, 1)
}

/** A program is not there; whoever needs it adds what to do about that. */
export class ProgramNotFound extends GpufareError {
  readonly program: string

  constructor(program: string, hint?: string) {
    super(`${program} is not installed here: no folder of PATH has it`, 1, hint)
    this.program = program
  }

  withHint(hint: string): ProgramNotFound {
    return new ProgramNotFound(this.program, hint)
  }
}
