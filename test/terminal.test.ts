import { clearLine, cursorTo, moveCursor } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { atKeyboard, describeTerminal, loadPaint, plainPaint, whyNobodyIsAsked, withSpinner } from '../src/terminal.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Streams that say they are terminals, or not. */
function pretend(isTerminal: { stdin?: boolean; stdout?: boolean; stderr?: boolean }, columns = 100) {
  const stream = (isTTY = false) => {
    const pipe = new PassThrough()
    if (!isTTY) return Object.assign(pipe, { isTTY })
    return Object.assign(pipe, {
      isTTY,
      columns,
      clearLine: (direction: -1 | 0 | 1) => clearLine(pipe, direction),
      cursorTo: (x: number) => cursorTo(pipe, x),
      moveCursor: (dx: number, dy: number) => moveCursor(pipe, dx, dy),
    })
  }
  return { stdin: stream(isTerminal.stdin), stdout: stream(isTerminal.stdout), stderr: stream(isTerminal.stderr) }
}

const person = { stdin: true, stdout: true, stderr: true }

test.each<[string, Parameters<typeof pretend>[0], Environment, boolean]>([
  ['a person at a terminal can be asked', person, {}, true],
  ['a person whose stdout is captured can be asked', { stdin: true, stderr: true }, {}, true],
  ['a pipe into stdin cannot be asked', { stdout: true, stderr: true }, {}, false],
  ['nobody sees a question when stderr is a file', { stdin: true, stdout: true }, {}, false],
  ['a build machine has nobody to ask', person, { CI: 'true' }, false],
  ['CI=false is no build machine', person, { CI: 'false' }, true],
])('%s', (_, streams, environment, interactive) => {
  expect(describeTerminal(pretend(streams), environment).interactive).toBe(interactive)
})

test.each<[string, Environment, boolean | undefined, { stdout: boolean; stderr: boolean }]>([
  ['a terminal shows colour, a pipe does not', {}, undefined, { stdout: false, stderr: true }],
  ['NO_COLOR takes it away', { NO_COLOR: '1' }, undefined, { stdout: false, stderr: false }],
  ['an empty NO_COLOR says nothing', { NO_COLOR: '' }, undefined, { stdout: false, stderr: true }],
  ['FORCE_COLOR colours a pipe', { FORCE_COLOR: '1' }, undefined, { stdout: true, stderr: true }],
  ['FORCE_COLOR=0 takes it away', { FORCE_COLOR: '0' }, undefined, { stdout: false, stderr: false }],
  ['NO_COLOR wins over FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, undefined, { stdout: false, stderr: false }],
  ['a dumb terminal shows none', { TERM: 'dumb' }, undefined, { stdout: false, stderr: false }],
  ['--no-color wins over the environment', { FORCE_COLOR: '1' }, false, { stdout: false, stderr: false }],
])('%s', (_, environment, wantsColour, colour) => {
  const streams = pretend({ stdin: true, stderr: true })
  expect(describeTerminal(streams, environment, wantsColour).colour).toEqual(colour)
})

test('the width is the terminal’s, stderr’s where stdout is none, then COLUMNS, then 80', () => {
  expect(describeTerminal(pretend(person, 60), { COLUMNS: '200' }).columns).toBe(60)
  expect(describeTerminal(pretend({ stderr: true }, 60), {}).columns).toBe(60)
  expect(describeTerminal(pretend({}), { COLUMNS: '132' }).columns).toBe(132)
  expect(describeTerminal(pretend({}), { COLUMNS: 'wide' }).columns).toBe(80)
})

test('text is painted only where colour is shown', async () => {
  const terminal = describeTerminal(pretend({ stdin: true, stderr: true }), {})
  expect(await loadPaint(terminal, 'stdout')).toBe(plainPaint)
  expect((await loadPaint(terminal, 'stderr')).red('over')).toBe('\u001b[31mover\u001b[39m')
  expect(['a', 'b'].map((await loadPaint(terminal, 'stderr')).red)).toEqual([
    '\u001b[31ma\u001b[39m',
    '\u001b[31mb\u001b[39m',
  ])
  expect(plainPaint.red('over')).toBe('over')
})

test.each<[string, Parameters<typeof pretend>[0], Environment]>([
  ['where nobody would see the question', { stdout: true }, {}],
  ['on a build machine', { stdout: true, stderr: true }, { CI: '1' }],
  ['where stdin is one', person, {}],
])('no keyboard is looked for %s', async (_, isTerminal, environment) => {
  const terminal = describeTerminal(pretend(isTerminal), environment)
  expect(await atKeyboard(terminal, async seat => seat)).toBe(terminal)
})

test('a terminal that a build machine gives is not said to be missing', () => {
  expect(whyNobodyIsAsked(describeTerminal(pretend(person), { CI: 'true' }))).toContain('CI=true')
  expect(whyNobodyIsAsked(describeTerminal(pretend({}), { CI: 'true' }))).toBeUndefined()
})

test('a spinner shows on a long wait, and the cursor is back after it', async () => {
  const streams = pretend(person)
  const work = new Promise<number>(resolve => setTimeout(resolve, 700, 42))
  expect(await withSpinner(describeTerminal(streams, {}), 'asking the cluster', work)).toBe(42)
  streams.stderr.end()
  const shown = await text(streams.stderr)
  expect(shown).toContain('asking the cluster')
  expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.lastIndexOf('\u001b[?25l'))
})

test.each([
  ['a short wait', person, 10],
  ['a wait without a terminal', {}, 500],
])('%s shows no spinner', async (_, isTerminal, milliseconds) => {
  const streams = pretend(isTerminal)
  await withSpinner(describeTerminal(streams, {}), 'asking', new Promise(resolve => setTimeout(resolve, milliseconds)))
  streams.stderr.end()
  expect(await text(streams.stderr)).toBe('')
})

test('a terminal without a width gets no spinner', async () => {
  const streams = pretend(person)
  const stderr = Object.assign(streams.stderr, { columns: 0 })
  const wait = new Promise(resolve => setTimeout(resolve, 500))
  await withSpinner(describeTerminal({ ...streams, stderr }, {}), 'asking', wait)
  stderr.end()
  expect(await text(stderr)).toBe('')
})

test('work that fails fails with a spinner too', async () => {
  const work = new Promise((_, reject) => setTimeout(reject, 500, new Error('no cluster')))
  await expect(withSpinner(describeTerminal(pretend(person), {}), 'asking', work)).rejects.toThrow('no cluster')
})
