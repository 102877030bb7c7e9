import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type RunsImportOptions, runsImport } from '../../src/commands/runs.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'

const columns = ['JobID', 'State', 'ElapsedRaw', 'Submit', 'Start', 'End', 'AllocTRES', 'User', 'JobName']

/** What sacct prints of two runs, with these times of the first one. */
function sacct(submit: string, start: string, end: string): string {
  const row = (id: string, state: string) =>
    [id, state, '3600', submit, start, end, 'gres/gpu:a100=8,gres/gpu=8', 'ada', `train_${id}`].join('|')
  return `${[columns.join('|'), row('11', 'COMPLETED'), row('12_3', 'FAILED')].join('\n')}\n`
}

/** Two runs in seconds since 1970, and as sacct prints them two hours east of Greenwich. */
const inSeconds = sacct('1780000000', '1780000060', '1780003660')
const inLocalTime = sacct('2026-05-28T22:26:40', '2026-05-28T22:27:40', '2026-05-28T23:27:40')

const plain = 'name,user,start,end\ntrain 1,ada,2026-05-28T20:26:40Z,2026-05-28T21:26:40Z\n'

/** Imports one after the other into one file; the rows that it has then, and what was said. */
async function imported(...calls: readonly (readonly [text: string, options?: Partial<RunsImportOptions>])[]) {
  const folder = makeFolder()
  const output = join(folder, 'kept/runs.csv')
  let said = ''
  const stderr = new PassThrough().on('data', chunk => {
    said += chunk
  })
  const terminal = describeTerminal({ stdin: new PassThrough(), stdout: new PassThrough(), stderr }, {})
  for (const [index, [text, options]] of calls.entries()) {
    const path = join(folder, `${index}.txt`)
    writeFileSync(path, text)
    await runsImport([path], { output, ...options }, terminal)
  }
  const [, ...rows] = readFileSync(output, 'utf8').trimEnd().split('\n')
  return { rows, said }
}

test.each([
  ['of sacct', inSeconds],
  ['of a CSV whose runs have no numbers', plain],
])('runs %s are imported once, with and without names', async (_, text) => {
  const once = await imported([text])
  expect(once.rows).toHaveLength(text.trimEnd().split('\n').length - 1)
  expect((await imported([text], [text])).rows).toEqual(once.rows)
  expect((await imported([text, { names: true }], [text])).rows).toEqual(once.rows)
  const named = await imported([text, { names: true }])
  expect(named.rows.join()).toContain('ada')
  expect((await imported([text], [text, { names: true }], [text, { names: true }])).rows).toEqual(named.rows)
})

test('runs that sacct printed in local time are those that it told in seconds', async () => {
  const { rows, said } = await imported([inLocalTime], [inSeconds])
  expect(rows).toEqual((await imported([inSeconds])).rows)
  expect(said).toMatch(/2 runs, 0 of them new\n$/)
  expect((await imported([inSeconds], [inLocalTime])).rows).toHaveLength(2)
})

test('a job of the same number that took as long at another time is another run', async () => {
  const later = sacct('1780100000', '1780100060', '1780103660')
  expect((await imported([inSeconds], [later])).rows).toHaveLength(4)
})

test('what is left out or taken for granted is said', async () => {
  expect((await imported([plain])).said).toContain(
    '1 run (CSV); no column says how they ended: all are taken for completed\n',
  )
  const states = `name,state,start,elapsed\na,,2026-05-28,60\nb,LAUNCHING,2026-05-28,60\nc,done,2026-05-28,60\n`
  const { rows, said } = await imported([states])
  expect(rows).toHaveLength(1)
  expect(said).toContain('1 run (CSV); 2 rows had not ended or said too little, and are left out\n')
})
