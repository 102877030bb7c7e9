import { fstatSync, openSync, statSync, writeSync } from 'node:fs'
import { isatty, ReadStream } from 'node:tty'
import { GpufareError } from './errors.ts'
import { plainLines } from './escaping.ts'

/** Where keys come from. */
export type Input = NodeJS.ReadableStream & {
  readonly isTTY?: boolean
  readonly fd?: number
  /** Where it is a terminal: each key comes at once, and none is shown. */
  setRawMode?(mode: boolean): unknown
}

/** Where text goes to; `fd` where it is a real file, pipe or terminal. */
export interface Output {
  write(chunk: string | Uint8Array): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly fd?: number
}

/** An output that questions and spinners can be drawn on. */
export type Screen = NodeJS.WritableStream & Output

/** The streams of one run and what may be done with them; an argument of every command, so that tests can pretend one. */
export interface Terminal {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Screen
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Width for tables, in characters. */
  readonly columns: number
  readonly colour: { readonly stdout: boolean; readonly stderr: boolean }
  /** A person sits at both ends: stdin and stderr are terminals, and this is no CI run. */
  readonly interactive: boolean
}

/** Puts text into colour, or leaves it as it is. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

/** Width where nothing tells it. */
const usualColumns = 80
/** Waits shorter than this show no spinner: it would only flicker. */
const patienceMilliseconds = 300

/** Leaves text as it is. */
export const plainPaint: Paint = {
  bold: text => text,
  dim: text => text,
  red: text => text,
  green: text => text,
  yellow: text => text,
  cyan: text => text,
}

/** The three streams of a run. */
interface Streams {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Screen
}

const fileDescriptors = { stdin: 0, stdout: 1, stderr: 2 } as const

/** The terminal of this process. `wantsColour` is `--color` or `--no-color`; undefined leaves it to the environment. */
export function processTerminal(wantsColour?: boolean): Terminal {
  // Node.js opens each stream when it is first looked at, which takes a millisecond that most runs can spare.
  const streams = {
    get stdin() {
      return process.stdin
    },
    get stdout() {
      return isTerminal(fileDescriptors.stdout) ? untilClosed(process.stdout) : plainStdout
    },
    get stderr() {
      return untilClosed(process.stderr)
    },
  }
  return describeTerminal(streams, process.env, wantsColour, name => isTerminal(fileDescriptors[name]))
}

/** Whether a file descriptor is a terminal. The module that knows takes milliseconds to load, so only for what may be one. */
function isTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    const nullDevice = statSync('/dev/null', { throwIfNoEntry: false })
    return stats.isCharacterDevice() && stats.rdev !== nullDevice?.rdev && isatty(descriptor)
  } catch {
    return false // closed
  }
}

/** A stdout that is a file or pipe, written to without the stream, which takes milliseconds to load. */
const plainStdout: Output = {
  fd: fileDescriptors.stdout,
  write(chunk) {
    let rest = Buffer.from(chunk)
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fileDescriptors.stdout, rest))
    } catch (error) {
      // A pipe that is full for the moment, or closed, is the stream's to deal with.
      if (!isSystemError(error) || (error.code !== 'EAGAIN' && error.code !== 'EPIPE')) throw cannotWrite(error)
      untilClosed(process.stdout).write(rest)
    }
  },
}

/** What three streams and the environment allow: colour, width, questions. */
export function describeTerminal(
  streams: Streams,
  environment: Readonly<Record<string, string | undefined>>,
  wantsColour?: boolean,
  isTerminal: (name: keyof Streams) => boolean = name => streams[name].isTTY === true,
): Terminal {
  const outputs = (['stdout', 'stderr'] as const).filter(isTerminal)
  return {
    get stdin() {
      return streams.stdin
    },
    get stdout() {
      return streams.stdout
    },
    get stderr() {
      return streams.stderr
    },
    environment,
    columns: columnsOf(
      outputs.map(name => streams[name]),
      environment,
    ),
    colour: {
      stdout: wantsColour ?? showsColour(outputs.includes('stdout'), environment),
      stderr: wantsColour ?? showsColour(outputs.includes('stderr'), environment),
    },
    interactive: isTerminal('stdin') && outputs.includes('stderr') && !runsInCi(environment),
  }
}

/**
 * Does something at the same terminal, but with the keyboard of `/dev/tty`, because stdin carries something else
 * (`gpufare submit - < train.sbatch`); at the terminal as it is where there is nobody to ask.
 */
export async function atKeyboard<T>(terminal: Terminal, work: (terminal: Terminal) => Promise<T>): Promise<T> {
  const keyboard = canHaveKeyboard(terminal) ? openKeyboard() : undefined
  if (keyboard === undefined) return work(terminal)
  try {
    return await work({ ...terminal, stdin: keyboard, interactive: true })
  } finally {
    keyboard.destroy() // an open one would keep the process alive
  }
}

function canHaveKeyboard(terminal: Terminal): boolean {
  return !terminal.interactive && terminal.stderr.isTTY === true && !runsInCi(terminal.environment)
}

/** Undefined without a controlling terminal: cron, a daemon, a build. */
function openKeyboard(): ReadStream | undefined {
  try {
    return new ReadStream(openSync('/dev/tty', 'r'))
  } catch {
    return undefined
  }
}

/** Colours for one of the two outputs; chalk is loaded only where there will be colour. */
export async function loadPaint(terminal: Terminal, output: 'stdout' | 'stderr'): Promise<Paint> {
  if (!terminal.colour[output]) return plainPaint
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  // chalk joins all it is given, so `lines.map(chalk.dim)` would print line numbers
  return {
    bold: text => chalk.bold(text),
    dim: text => chalk.dim(text),
    red: text => chalk.red(text),
    green: text => chalk.green(text),
    yellow: text => chalk.yellow(text),
    cyan: text => chalk.cyan(text),
  }
}

/** Turns a spinner on stderr while work takes longer than a moment; without a terminal it only waits. */
export async function withSpinner<T>(terminal: Terminal, text: string, work: Promise<T>): Promise<T> {
  // ora counts the lines of a terminal without a width (`script`, some containers) for ever.
  const canTurn = terminal.stderr.isTTY === true && terminal.stderr.columns !== 0
  if (!canTurn || runsInCi(terminal.environment)) return work
  let stop = () => {}
  let over = false
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora')
    // The terminal's own Ctrl-C must keep reaching this process, so stdin is left alone.
    const colour = terminal.colour.stderr ? ('cyan' as const) : false
    const spinner = ora({
      text: plainLines(text),
      stream: terminal.stderr,
      discardStdin: false,
      isEnabled: true,
      color: colour,
    })
    if (!over) stop = () => spinner.stop()
    if (!over) spinner.start()
  }, patienceMilliseconds)
  try {
    return await work
  } finally {
    over = true
    clearTimeout(timer)
    stop()
  }
}

/** Shows on stderr how far long work has come; without a terminal, and where it takes but a moment, nothing. */
export async function withProgress<T>(
  terminal: Terminal,
  work: (show: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (terminal.stderr.isTTY !== true || runsInCi(terminal.environment)) return work(() => {})
  const started = Date.now()
  let isShown = false
  try {
    return await work(text => {
      if (Date.now() - started < patienceMilliseconds) return
      isShown = true
      terminal.stderr.write(`\r${text}\u001b[K`)
    })
  } finally {
    if (isShown) terminal.stderr.write('\r\u001b[K')
  }
}

/** `NO_COLOR` (no-color.org), then `FORCE_COLOR` (force-color.org), then whether the stream is a terminal that can. */
function showsColour(isTerminal: boolean, environment: Readonly<Record<string, string | undefined>>): boolean {
  const { NO_COLOR: none, FORCE_COLOR: force, TERM: kind } = environment
  if (none !== undefined && none !== '') return false
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false'
  return isTerminal && kind !== 'dumb'
}

/** The first stream that is a terminal says it; else `COLUMNS`, which scripts set for what they start. */
function columnsOf(terminals: readonly Output[], environment: Readonly<Record<string, string | undefined>>): number {
  const terminalColumns = terminals.find(stream => stream.columns)?.columns
  const named = Number(environment['COLUMNS'])
  return terminalColumns ?? (Number.isInteger(named) && named > 0 ? named : usualColumns)
}

/** Why a terminal is there and nobody is asked; undefined where there is none. */
export function whyNobodyIsAsked({ stdin, stderr, environment }: Terminal): string | undefined {
  const hasTerminal = stdin.isTTY === true && stderr.isTTY === true
  return hasTerminal && runsInCi(environment) ? `CI=${environment['CI']} says that this is a build` : undefined
}

/** Build machines set `CI`; some give a pseudo-terminal although nobody watches. */
function runsInCi(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { CI: value } = environment
  return value !== undefined && value !== '' && value !== 'false' && value !== '0'
}

/** Says something to the person, on stderr. What it holds of manifests and other programs cannot order the terminal about. */
export function tell(terminal: { readonly stderr: Output }, words: string): void {
  terminal.stderr.write(`gpufare: ${plainLines(words)}\n`)
}

function untilClosed(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return stream.listeners('error').includes(onWriteError) ? stream : stream.on('error', onWriteError)
}

/** A reader that has seen enough (`| head`) is no failure; a full disk is, and what was written is of no use then. */
function onWriteError(error: Error): void {
  if (isSystemError(error) && error.code === 'EPIPE') return
  tell(process, cannotWrite(error).message)
  process.exit(1)
}

function cannotWrite(error: unknown): GpufareError {
  return new GpufareError(`the output can't be written: ${error instanceof Error ? error.message : String(error)}`, 1)
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
