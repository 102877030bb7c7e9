import { emitKeypressEvents } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { Input } from './terminal.ts'

/** The keys that a question listens to, as a terminal sends them. No letter and no digit is among them: text that is pasted has those. */
const heard: Readonly<Record<string, string>> = {
  up: '\u001b[A',
  down: '\u001b[B',
  return: '\r',
  enter: '\r',
}
const interrupt = '\u0003'

/**
 * A question that has just appeared is not read yet: keys count only after so long a silence, so that whoever types ahead
 * across the moment goes on unheard. People take a quarter of a second to react to what they see.
 */
const silenceMilliseconds = 250

/** Two keys of a person are further apart; an Enter that follows closer was pasted, or waited in a queue with the rest. */
const pasteMilliseconds = 50

/** What a person pressed, beside what moves and chooses. */
export interface KeyboardEvents {
  /** Ctrl-D, or the terminal went away. */
  closed(): void
  /** Ctrl-Z. */
  suspended(): void
}

/** The keys pressed by somebody who sees the question. */
export interface Keyboard {
  /** For the question to read. */
  readonly keys: NodeJS.ReadableStream
  /** Tells that the question stands on the screen: what was typed before does not count. */
  questionIsDrawn(): void
  /** Gives the terminal back as it was. */
  release(): void
}

/** Takes a terminal's input over for a question. What came before the question is drawn, or too quickly after it, is thrown away. */
export function listenToKeys(input: Input, events: KeyboardEvents): Keyboard {
  const keys = new PassThrough()
  let drawnAt: number | undefined
  let lastKeyAt = Number.NEGATIVE_INFINITY
  let isHeard = false

  const listen = (_: unknown, key: PressedKey) => {
    const pauseMilliseconds = performance.now() - Math.max(lastKeyAt, drawnAt ?? Number.POSITIVE_INFINITY)
    lastKeyAt = performance.now()
    // These end the question unanswered, so they count at all times.
    if (key.ctrl === true && key.name === 'c') keys.write(interrupt)
    if (key.ctrl === true && key.name === 'd') events.closed()
    if (key.ctrl === true && key.name === 'z') events.suspended()
    isHeard ||= pauseMilliseconds >= silenceMilliseconds
    const sequence = key.ctrl === true || key.meta === true ? undefined : heard[key.name ?? '']
    if (!isHeard || sequence === undefined) return
    if (sequence === heard['return'] && pauseMilliseconds < pasteMilliseconds) return
    keys.write(sequence)
  }

  emitKeypressEvents(input)
  input.setRawMode?.(true)
  input.on('keypress', listen).once('end', events.closed).once('close', events.closed)
  input.resume()
  if (!input.readable) events.closed()
  return {
    keys,
    questionIsDrawn: () => {
      drawnAt ??= performance.now()
    },
    release: () => {
      input.off('keypress', listen).off('end', events.closed).off('close', events.closed)
      input.setRawMode?.(false)
      input.pause()
    },
  }
}

interface PressedKey {
  readonly name?: string
  readonly ctrl?: boolean
  readonly meta?: boolean
}
