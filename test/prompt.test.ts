import { setTimeout as sleep } from 'node:timers/promises'
import { render } from '@inquirer/testing'
import { expect, test } from 'vitest'
import { GpufareError } from '../src/errors.ts'
import { ask, type Question } from '../src/prompt.ts'
import { plainPaint } from '../src/terminal.ts'

const question: Question<string> = {
  message: 'Submit to Slurm?',
  options: [
    { label: 'as written, 8x A100-80GB, about $86', value: 'as written' },
    { label: 'on 8x L40S instead', value: 'l40s' },
    { label: 'show every candidate', value: 'all' },
    { label: 'stop', value: 'stop' },
  ],
}

const asked = (about = question) =>
  render<string, Question<string>>((config, { input, output } = {}) => {
    if (input === undefined || output === undefined) throw new Error('no streams to ask on')
    return Object.assign(ask(config, { input, output, paint: plainPaint }), { cancel: () => {} })
  }, about)

/** Types keys as a person does who has read the question: after a moment, one after the other. */
async function press(events: Awaited<ReturnType<typeof asked>>['events'], keys: readonly string[]): Promise<void> {
  await sleep(300)
  for (const key of keys) {
    events.keypress(key)
    await sleep(60)
  }
}

test('the question shows every answer and points at the harmless one', async () => {
  const { answer, events, getScreen } = await asked()
  expect(getScreen()).toBe(`? Submit to Slurm?
  as written, 8x A100-80GB, about $86
  on 8x L40S instead
  show every candidate
❯ stop

arrows move, Enter chooses`)
  await press(events, ['enter'])
  expect(await answer).toBe('stop')
  expect(getScreen()).toContain('? Submit to Slurm? stop')
})

test.concurrent.each<[string, readonly string[], string]>([
  ['Enter alone stops', ['enter'], 'stop'],
  ['arrows choose', ['up', 'up', 'up', 'enter'], 'as written'],
  ['the list does not run in a circle past the harmless answer', ['down', 'enter'], 'stop'],
  ['up and down again is back', ['up', 'down', 'enter'], 'stop'],
  ['j and k, which move in some programs, are no choice', ['k', 'k', 'enter'], 'stop'],
  ['a digit is no choice', ['1', 'enter'], 'stop'],
  ['Escape is no choice', ['escape', 'enter'], 'stop'],
  ['a letter is no choice, not even y', ['y', 'a', 'o', 'enter'], 'stop'],
  ['Tab and right are no choice', ['tab', 'right', 'enter'], 'stop'],
])('%s', async (_, keys, chosen) => {
  const { answer, events } = await asked()
  await press(events, keys)
  expect(await answer).toBe(chosen)
})

test('keys that come as soon as the question is drawn count for nothing', async () => {
  const { answer, events } = await asked()
  for (const key of ['enter', 'up', 'up', 'up', 'enter']) events.keypress(key)
  await press(events, ['enter'])
  expect(await answer).toBe('stop')
})

test('who types on across the moment stays unheard until a pause', async () => {
  const { answer, events } = await asked()
  for (let count = 0; count < 8; count += 1) {
    events.keypress('up')
    await sleep(100)
  }
  events.keypress('enter')
  await press(events, ['up', 'enter'])
  expect(await answer).toBe('all')
})

test('an Enter that arrives together with other keys was pasted and chooses nothing', async () => {
  const { answer, events, getScreen } = await asked()
  await sleep(300)
  for (const key of ['up', 'up', 'up', 'enter']) events.keypress(key)
  await sleep(100)
  expect(getScreen()).toContain('❯ as written')
  await press(events, ['down', 'enter'])
  expect(await answer).toBe('l40s')
})

test('what a manifest calls its partition cannot give orders to the terminal', async () => {
  const { answer, events, getScreen } = await asked({ ...question, message: 'Submit to \u001b[2Ja100?' })
  expect(getScreen({ raw: true })).toContain('Submit to \\u001b[2Ja100?')
  await press(events, ['enter'])
  await answer
})

test('Ctrl-D declines at once: exit 4', async () => {
  const { answer, events } = await asked()
  events.keypress({ name: 'd', ctrl: true })
  await expect(answer).rejects.toEqual(new GpufareError('declined: nothing was submitted', 4))
})

test('Ctrl-C interrupts at once: exit 130', async () => {
  const { answer, events } = await asked()
  events.keypress({ name: 'c', ctrl: true })
  await expect(answer).rejects.toMatchObject({ exitCode: 130 })
})

test('a terminal that goes away declines: exit 4', async () => {
  const { answer, input } = await asked()
  input.emit('close')
  await expect(answer).rejects.toMatchObject({ exitCode: 4 })
})
