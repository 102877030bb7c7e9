import { spawn as spawnPlain } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { makeFolder } from '../folders.ts'

const program = fileURLToPath(new URL('../../bin/gpufare.js', import.meta.url))

type Environment = Readonly<Record<string, string | undefined>>

/** An empty home, so that no configuration of the user's counts. */
export const home = makeFolder()

interface Surroundings {
  /** Variables besides those of whoever runs the tests. */
  readonly environment?: Environment
  /** Variables that count even where a machine that runs tests has them by itself: CI, NO_COLOR. */
  readonly besides?: Environment
  readonly folder?: string
}

function environmentFor({ environment = {}, besides = {} }: Surroundings): Record<string, string> {
  const own = { HOME: home, XDG_CONFIG_HOME: undefined, CI: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined }
  const all = { ...process.env, ...environment, ...own, ...besides }
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** Runs the built program without a terminal, in a session of its own, so that none is to be found either. */
export async function runProgram(
  words: readonly string[],
  { input = '', folder = home, ...surroundings }: Surroundings & { readonly input?: string } = {},
) {
  const child = spawnPlain(process.execPath, [program, ...words], {
    cwd: folder,
    env: environmentFor(surroundings),
    detached: true,
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exitCode: await ended, stdout, stderr }
}

/** A command line in a real pseudo-terminal. */
export function openTerminal(
  command: readonly [string, ...string[]],
  { columns = 100, folder = home, ...surroundings }: Surroundings & { readonly columns?: number } = {},
) {
  const [file, ...words] = command
  const terminal = spawn(file, words, {
    cols: columns,
    rows: 40,
    cwd: folder,
    env: { ...environmentFor(surroundings), TERM: 'xterm-256color' },
  })
  let raw = ''
  let seen = 0
  const listeners = new Set<() => void>()
  terminal.onData(data => {
    raw += data
    for (const listener of listeners) listener()
  })
  const ended = new Promise<number>(resolve => {
    terminal.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode))
  })
  return {
    /** All that was written, control sequences included. */
    raw: () => raw,
    text: () => stripVTControlCharacters(raw),
    /** Waits until `words` stand on the screen, after what was waited for before. */
    waitFor: (words: string, milliseconds = 15_000) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          const at = stripVTControlCharacters(raw).indexOf(words, seen)
          if (at === -1) return
          seen = at + words.length
          finish(resolve)
        }
        const finish = (then: () => void) => {
          clearTimeout(timer)
          listeners.delete(look)
          then()
        }
        const giveUp = () => {
          finish(() => reject(new Error(`"${words}" did not appear in:\n${stripVTControlCharacters(raw)}`)))
        }
        const timer = setTimeout(giveUp, milliseconds)
        listeners.add(look)
        look()
        ended.then(look).then(giveUp)
      }),
    /** Types keys as a person does who has read what stands there: after a moment, one after the other. */
    type: async (...keys: readonly string[]) => {
      await new Promise(resolve => setTimeout(resolve, 400))
      for (const key of keys) {
        terminal.write(key)
        await new Promise(resolve => setTimeout(resolve, 120))
      }
    },
    /** Types at once, whatever stands there. */
    write: (keys: string) => terminal.write(keys),
    /** The exit code, 128 and more for a signal. */
    ended,
    processId: terminal.pid,
    close: () => terminal.kill('SIGKILL'),
  }
}

/** `gpufare …` in a pseudo-terminal. */
export function openProgram(words: readonly string[], options: Parameters<typeof openTerminal>[1] = {}) {
  return openTerminal([process.execPath, program, ...words], options)
}

/** The program as words of a shell's command line. */
export const programWords = `'${process.execPath}' '${program}'`

export const keys = {
  up: '\u001b[A',
  down: '\u001b[B',
  enter: '\r',
  controlC: '\u0003',
  controlD: '\u0004',
  controlZ: '\u001a',
}

/** Moves to the first answer of a question, from wherever it points. */
export const toTop: readonly string[] = Array(9).fill(keys.up)
