import { GpufareError } from './errors.ts'
import type { Paint } from './terminal.ts'

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
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly paint: Paint
}

/** Longer lists scroll. */
const optionsShown = 12
const showCursor = '\u001b[?25h'

/**
 * Lets the person choose with arrows, digits and Enter. Throws a GpufareError with 130 on Ctrl-C and with 4 on Ctrl-D or
 * when the terminal goes away.
 */
export async function ask<Value>(question: Question<Value>, dialogue: Dialogue): Promise<Value> {
  const { default: inquirer } = await import('inquirer')
  const { options } = question
  const closed = new AbortController()
  const close = () => closed.abort()
  // inquirer notices the end of its input only when the process ends.
  const closeOnControlD = (_: unknown, key: { readonly ctrl?: boolean; readonly name?: string }) => {
    if (key.ctrl === true && key.name === 'd') close()
  }
  const { input, output, paint } = dialogue
  input.on('keypress', closeOnControlD).once('end', close).once('close', close)
  // inquirer cleans up later than a process that is told to end.
  const restoreCursor = () => output.write(`\n${showCursor}`)
  process.once('exit', restoreCursor)
  const askOne = inquirer.createPromptModule({ input, output, signal: closed.signal })
  try {
    const { chosen } = await askOne<{ chosen: number }>({
      type: 'select',
      name: 'chosen',
      message: question.message,
      choices: options.map(({ label }, index) => ({ name: label, value: index })),
      default: options.length - 1,
      pageSize: optionsShown,
      loop: false,
      theme: themeIn(paint),
    })
    const option = options[chosen]
    if (option === undefined) throw new RangeError(`inquirer chose option ${chosen} of ${options.length}`)
    return option.value
  } catch (error) {
    if (closed.signal.aborted) throw new GpufareError('declined: nothing was submitted', 4)
    if (error instanceof Error && error.name === 'ExitPromptError') {
      throw new GpufareError('interrupted: nothing was submitted', 130)
    }
    throw error
  } finally {
    process.off('exit', restoreCursor)
    input.off('keypress', closeOnControlD).off('end', close).off('close', close)
  }
}

/** inquirer's own colours know nothing of --no-color. */
function themeIn(paint: Paint) {
  return {
    prefix: paint.cyan('?'),
    style: {
      message: paint.bold,
      highlight: paint.cyan,
      answer: paint.cyan,
      keysHelpTip: () => paint.dim('arrows move, Enter chooses'),
    },
    // Without these bindings a letter, and even Escape, moves to the first option that begins with it.
    keybindings: ['vim'] as const,
  }
}
