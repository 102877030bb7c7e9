import { Readable } from 'node:stream'
import { GpufareError } from '../errors.ts'
import { askProgram } from '../programs.ts'
import type { Input, Terminal } from '../terminal.ts'
import type { PushSettings } from './settings.ts'

/** A check that is told to end has to end the git that it started. */
const graceMilliseconds = 500

/** What a check answers where it has judged; any other code is a failure of its own, which stops nobody's push. */
const judgements: readonly number[] = [0, 2, 3, 5, 130]

/**
 * Runs the check of a push in a process of its own, which is ended when its time is over, whatever it is busy with. A push
 * that could not be checked goes on with a line that says so, or stops where `strict` (exit code 5).
 */
export async function watchPush(
  check: readonly [program: string, ...words: string[]],
  input: string,
  { timeoutSeconds, strict }: PushSettings,
  terminal: Terminal,
): Promise<number> {
  const [program, ...words] = check
  const answer = await askProgram(program, words, {
    environment: terminal.environment,
    timeoutMilliseconds: timeoutSeconds * 1000,
    graceMilliseconds,
    input: new TextEncoder().encode(input),
  })
  if (answer.timedOut) return unchecked(`not checked within ${timeoutSeconds} s`, strict, terminal)
  if (judgements.includes(answer.exitCode)) {
    // stdout is git's: what `git push --porcelain` prints is read by programs
    terminal.stderr.write(answer.stdout + answer.stderr)
    return answer.exitCode
  }
  const [reason = '', ...more] = answer.stderr.trim().split('\n')
  if (more.length > 0) terminal.stderr.write(answer.stderr)
  return unchecked(
    more.length > 0 ? 'not checked' : `not checked (${reason.replace(/^gpufare: /, '')})`,
    strict,
    terminal,
  )
}

/** Says what becomes of a push that was not checked. */
export function unchecked(what: string, strict: boolean, terminal: Terminal): number {
  const outcome = strict ? 'stopped, as --strict or gpufare.strict asks (git push --no-verify goes on)' : 'it goes on'
  terminal.stderr.write(`gpufare: this push was ${what}; ${outcome}\n`)
  return strict ? 5 : 0
}

/**
 * All of standard input, which git ends at once; undefined where that takes longer than it may (0 = as long as it takes).
 * A terminal is never read.
 */
export function readRefLines(stdin: Input, timeoutSeconds: number): Promise<string | undefined> {
  if (stdin.isTTY === true) {
    throw new GpufareError(
      'git runs this before a push and tells it the refs on standard input, where a terminal is now',
      2,
      'to check your branch by hand: gpufare check --base origin/main',
    )
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const end = (text: string | undefined) => {
      clearTimeout(timer)
      resolve(text)
    }
    const giveUp = () => {
      if (stdin instanceof Readable) stdin.destroy() // an open one would keep the process alive
      end(undefined)
    }
    const timer = timeoutSeconds > 0 ? setTimeout(giveUp, timeoutSeconds * 1000) : undefined
    stdin.on('data', chunk => chunks.push(Buffer.from(chunk)))
    stdin.on('end', () => end(Buffer.concat(chunks).toString()))
    stdin.on('error', reject)
  })
}
