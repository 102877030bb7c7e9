import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addStepSummary, writeFiles } from '../src/outputs.ts'
import { longestComment, outputsOf, quoteFormats, readWantedFormat } from '../src/wanted-formats.ts'
import { makeFolder } from './folders.ts'

describe('--format', () => {
  test.each([
    ['csv', { format: 'csv' }],
    ['html=report.html', { format: 'html', file: 'report.html' }],
    ['html=a=b.html', { format: 'html', file: 'a=b.html' }],
    ['html=', undefined],
    ['=a.html', undefined],
    ['xml', undefined],
    ['HTML', undefined],
  ])('%s', (text, wanted) => {
    expect(readWantedFormat(text, quoteFormats)).toEqual(wanted)
  })
})

describe('where reports go', () => {
  const html = { format: 'html', file: 'a.html' } as const
  const csv = { format: 'csv' } as const

  test.each([
    ['the table to standard output, where nothing is said', {}, [{ format: 'table' }]],
    ['one format instead of it', { format: [csv] }, [csv]],
    ['files besides it', { format: [html] }, [html, { format: 'table' }]],
    ['files and one format', { format: [csv, html] }, [html, csv]],
    ['into --out', { out: 'q.txt' }, [{ format: 'table', file: 'q.txt' }]],
    ['one format into --out', { format: [csv, html], out: 'q.csv' }, [html, { format: 'csv', file: 'q.csv' }]],
  ])('%s', (_, options, outputs) => {
    expect(outputsOf(options, 'table')).toEqual(outputs)
  })

  test.each([
    ['two to standard output', { format: [csv, { format: 'json' }] }],
    ['two into one file', { format: [html, { format: 'csv', file: 'a.html' }] }],
    ['one into the file of --out', { format: [html], out: 'a.html' }],
  ])('%s is refused', (_, options) => {
    expect(() => outputsOf(options, 'table')).toThrow('two formats cannot both go to')
  })
})

describe('a file', () => {
  const write = (file: string, text = 'new') => writeFiles([{ format: 'csv', file }], () => text)

  test('is written whole, keeps its permissions, and nothing is left beside it', async () => {
    const folder = makeFolder()
    const file = join(folder, 'report.csv')
    writeFileSync(file, 'an old and longer text\n')
    chmodSync(file, 0o640)
    await write(file)
    expect(readFileSync(file, 'utf8')).toBe('new\n')
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder)).toEqual(['report.csv'])
  })

  test('that a link leads to is written there, and the link stays', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'real.csv'), 'old')
    symlinkSync('real.csv', join(folder, 'link.csv'))
    await write(join(folder, 'link.csv'))
    expect(lstatSync(join(folder, 'link.csv')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(folder, 'real.csv'), 'utf8')).toBe('new\n')
  })

  test('that is a pipe gets the text', async () => {
    const pipe = join(makeFolder(), 'pipe')
    spawnSync('mkfifo', [pipe])
    const [text] = await Promise.all([readFile(pipe, 'utf8'), write(pipe)])
    expect(text).toBe('new\n')
    expect(lstatSync(pipe).isFIFO()).toBe(true)
  })

  test('that cannot be written ends with 1 and its name', async () => {
    const file = join(makeFolder(), 'nowhere', 'report.csv')
    await expect(write(file)).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining(file) })
  })

  test('is not written where another report cannot be made', async () => {
    const file = join(makeFolder(), 'report.csv')
    const outputs = [
      { format: 'csv', file },
      { format: 'html', file: `${file}.html` },
    ] as const
    const render = (format: string) => {
      if (format === 'html') throw new Error('no')
      return 'text'
    }
    await expect(writeFiles(outputs, render)).rejects.toThrow('no')
    expect(existsSync(file)).toBe(false)
  })
})

test('the summary of a step is added to what others wrote there, and left alone elsewhere', async () => {
  const file = join(makeFolder(), 'summary')
  writeFileSync(file, '# tests\n')
  await addStepSummary('# cost', { GITHUB_STEP_SUMMARY: file })
  await addStepSummary('# cost', {})
  expect(readFileSync(file, 'utf8')).toBe('# tests\n# cost\n')
})

test.each([
  [{ GITHUB_ACTIONS: 'true' }, 65_536],
  [{ GITLAB_CI: 'true' }, 1_000_000],
  [{ BITBUCKET_BUILD_NUMBER: '7' }, 32_767],
  [{ TF_BUILD: 'True' }, 150_000],
  [{}, 32_767],
])('a comment has room where it goes: %j', (environment, characters) => {
  expect(longestComment(environment)).toBe(characters)
})
