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

const asked = () =>
  render<string, Question<string>>((config, { input, output } = {}) => {
    if (input === undefined || output === undefined) throw new Error('no streams to ask on')
    return Object.assign(ask(config, { input, output, paint: plainPaint }), { cancel: () => {} })
  }, question)

test('the question shows every answer and points at the harmless one', async () => {
  const { answer, events, getScreen } = await asked()
  expect(getScreen()).toBe(`? Submit to Slurm?
  as written, 8x A100-80GB, about $86
  on 8x L40S instead
  show every candidate
❯ stop

arrows move, Enter chooses`)
  events.keypress('enter')
  expect(await answer).toBe('stop')
  expect(getScreen()).toContain('? Submit to Slurm? stop')
})

test.each<[string, readonly string[], string]>([
  ['Enter alone stops', ['enter'], 'stop'],
  ['arrows choose', ['up', 'up', 'up', 'enter'], 'as written'],
  ['the list does not run in a circle past the harmless answer', ['down', 'enter'], 'stop'],
  ['up and down again is back', ['up', 'down', 'enter'], 'stop'],
  ['j and k choose too', ['k', 'k', 'enter'], 'l40s'],
  ['Escape is no choice', ['escape', 'enter'], 'stop'],
  ['a letter is no choice, not even y', ['y', 'a', 'o', 'enter'], 'stop'],
  ['Tab and right are no choice', ['tab', 'right', 'enter'], 'stop'],
])('%s', async (_, keys, chosen) => {
  const { answer, events } = await asked()
  for (const key of keys) events.keypress(key)
  expect(await answer).toBe(chosen)
})

test('Ctrl-D declines: exit 4', async () => {
  const { answer, events } = await asked()
  events.keypress({ name: 'd', ctrl: true })
  await expect(answer).rejects.toEqual(new GpufareError('declined: nothing was submitted', 4))
})

test('a terminal that goes away declines: exit 4', async () => {
  const { answer, input } = await asked()
  input.emit('close')
  await expect(answer).rejects.toMatchObject({ exitCode: 4 })
})
