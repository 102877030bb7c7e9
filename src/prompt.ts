import { setTimeout as sleep } from 'node:timers/promises'
import { GpufareError } from './errors.ts'
import { plainText } from './escaping.ts'
import { listenToKeys } from './keyboard.ts'
import type { Input, Paint } from './terminal.ts'

/** One answer to choose. */
export interface Option<Value> {
  readonly label: string
  readonly value: Value
}

/** A question and its answers. The last one is what Enter alone gives, so it must be the harmless one. */
export interface Question<Value> {
  readonly message: string
  readonly options: readonly [...Option<Value>[], Option<Value>]
}

/** Where a question is shown and answered. */
export interface Dialogue {
  readonly input: Input
  readonly output: NodeJS.WritableStream
  readonly paint: Paint
}

/** Longer lists scroll. */
const optionsShown = 12
const showCursor = '\u001b[?25h'
/** A process that stops itself still runs until the signal has reached it. */
const stopMilliseconds = 50

/**
 * Lets the person choose with arrows and Enter; what was typed ahead or pasted chooses nothing. Throws a GpufareError with
 * 130 on Ctrl-C and with 4 on Ctrl-D or when the terminal goes away. After Ctrl-Z and `fg` the question is asked anew.
 */
export async function ask<Value>(question: Question<Value>, dialogue: Dialogue): Promise<Value> {
  for (;;) {
    const answer = await askOnce(question, dialogue)
    if (answer !== 'suspended') return answer.value
    await sleep(stopMilliseconds)
  }
}

/** The option chosen, or that the process was stopped while the question stood. */
async function askOnce<Value>(
  { message, options }: Question<Value>,
  { input, output, paint }: Dialogue,
): Promise<Option<Value> | 'suspended'> {
  const closing = new AbortController()
  let isSuspended = false
  let stops = false
  const keyboard = listenToKeys(input, {
    closed: () => closing.abort(),
    suspended: () => {
      stops = true
      suspend()
    },
  })
  // Whoever stopped the process may have changed the terminal's mode meanwhile.
  const suspend = () => {
    isSuspended = true
    closing.abort()
  }
  process.once('SIGCONT', suspend)
  // inquirer cleans up later than a process that is told to end.
  const restoreCursor = () => output.write(`\n${showCursor}`)
  process.once('exit', restoreCursor)
  try {
    const { default: inquirer } = await import('inquirer')
    const askOne = inquirer.createPromptModule({ input: keyboard.keys, output, signal: closing.signal })
    const { chosen } = await askOne<{ chosen: number }>({
      type: 'select',
      name: 'chosen',
      message: plainText(message),
      choices: options.map(({ label }, index) => ({ name: plainText(label), value: index })),
      default: options.length - 1,
      pageSize: optionsShown,
      loop: false,
      theme: themeIn(paint, keyboard.questionIsDrawn),
    })
    const option = options[chosen]
    if (option === undefined) throw new RangeError(`inquirer chose option ${chosen} of ${options.length}`)
    return option
  } catch (error) {
    if (isSuspended) return 'suspended'
    if (closing.signal.aborted) throw new GpufareError('declined: nothing was submitted', 4)
    if (error instanceof Error && error.name === 'ExitPromptError') {
      throw new GpufareError('interrupted: nothing was submitted', 130)
    }
    throw error
  } finally {
    process.off('exit', restoreCursor)
    process.off('SIGCONT', suspend)
    keyboard.release()
    // Programs started together (a pipe, npm) stop together, as they do where no question stands.
    if (stops) process.kill(0, 'SIGTSTP')
  }
}

/** inquirer's own colours know nothing of --no-color; it styles the message whenever it draws. */
function themeIn(paint: Paint, isDrawn: () => void) {
  return {
    prefix: paint.cyan('?'),
    style: {
      message: (text: string) => {
        isDrawn()
        return paint.bold(text)
      },
      highlight: paint.cyan,
      answer: paint.cyan,
      keysHelpTip: () => paint.dim('arrows move, Enter chooses'),
    },
  }
}
