import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type LearnOptions, learn } from '../../src/commands/learn.ts'
import { LearnedDocument } from '../../src/logs/schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { linesOf } from '../logs/log-text.ts'

const log = linesOf(1, 12, 1, epoch => `Epoch ${epoch}/20 - loss: 0.5 - time: 12.0s`)

async function learnFrom(names: readonly string[], options: Partial<LearnOptions> = {}, state?: string) {
  const shown = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') =>
    new PassThrough().on('data', chunk => {
      shown[name] += chunk
    })
  const streams = { stdin: new PassThrough(), stdout: stream('stdout'), stderr: stream('stderr') }
  const terminal = describeTerminal(streams, { NO_COLOR: '1', XDG_STATE_HOME: state ?? '' })
  const how = state === undefined ? { dryRun: true as const } : {}
  const exitCode = await learn(names, { format: 'table', color: false, ...how, ...options }, terminal)
  return { exitCode, ...shown }
}

describe('gpufare learn', () => {
  test('says in words what a log tells', async () => {
    const file = join(makeFolder(), 'train.log')
    writeFileSync(file, log)
    const { exitCode, stdout, stderr } = await learnFrom([file])
    expect(exitCode).toBe(0)
    expect(stderr).toBe('')
    expect(stdout).toBe(`${file}
  program         not known
  outcome         running, or ended without a word
  epochs          12 of 20  (line 12)
  each epoch      12 s  (steady state of the reports)
  time left       1m36s  (steps left times their time, with pauses as seen so far)
  ! there is no clock in the file, only rates
`)
  })

  test('json has the published form; of a folder it takes what is called like a log', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'runs'))
    writeFileSync(join(folder, 'runs', 'slurm-1.out'), log)
    writeFileSync(join(folder, 'model.bin'), 'x')
    const { stdout } = await learnFrom([folder], { format: 'json' })
    const { logs } = LearnedDocument.parse(JSON.parse(stdout))
    expect(logs.map(({ file }) => file)).toEqual([join(folder, 'runs', 'slurm-1.out')])
    expect(logs[0]?.secondsPerStep?.value).toBe(12)
  })

  test('a log of many megabytes is read at its ends, and lines keep their numbers', async () => {
    const file = join(makeFolder(), 'long.log')
    const lines = 100_000
    writeFileSync(
      file,
      linesOf(1, lines, 1, step => `step ${step}/200000 loss 2.5 and some more words to fill the line, 0.50 s/step`),
    )
    const { stdout } = await learnFrom([file], { format: 'json' })
    const [read] = LearnedDocument.parse(JSON.parse(stdout)).logs
    expect(read?.stepsDone).toMatchObject({ value: lines, origin: { kind: 'file', place: { line: lines } } })
    expect(read?.secondsPerStep?.value).toBe(0.5)
    expect(read?.warnings.map(({ code }) => code)).toContain('truncated')
  })

  test('where there is no home folder that is said once it was printed', async () => {
    const file = join(makeFolder(), 'train.log')
    writeFileSync(file, log)
    await expect(learnFrom([file], {}, '')).rejects.toThrow(/no home folder/)
  })

  test('a file that is not there is named', async () => {
    await expect(learnFrom(['/nowhere/train.log'])).rejects.toThrow('/nowhere/train.log is not there')
  })
})

describe('what is learnt', () => {
  const line = 'gpufare/logs.jsonl'

  test('is kept once, shown by --list, and dropped by --forget', async () => {
    const state = makeFolder()
    const file = join(makeFolder(), 'train.log')
    writeFileSync(file, log)
    const first = await learnFrom([file], {}, state)
    expect(first.stderr).toBe('gpufare: kept what 1 log tells: scripts that write to the same files are quoted by it\n')
    expect((await learnFrom([file], {}, state)).stderr).toBe('gpufare: 1 log was known\n')
    expect(readFileSync(join(state, line), 'utf8').split('\n')).toHaveLength(2)
    rmSync(file)
    const { stdout } = await learnFrom([], { list: true }, state)
    expect(stdout).toBe(first.stdout)
    expect((await learnFrom([], { list: true, format: 'json' }, state)).stdout).toContain('"secondsPerStep"')
    expect((await learnFrom([dirname(file)], { forget: true }, state)).stderr).toBe('gpufare: 1 log forgotten\n')
    expect((await learnFrom([], { list: true }, state)).stdout).toBe('')
  })

  test('is shown and dropped by the job that it is of', async () => {
    const state = makeFolder()
    const folder = makeFolder()
    for (const name of ['a', 'b']) writeFileSync(join(folder, `${name}.log`), `${name}\n${log}`)
    await learnFrom([join(folder, 'a.log')], { job: 'sft' }, state)
    await learnFrom([folder], {}, state)
    const { stdout } = await learnFrom([], { list: true, job: 'sft' }, state)
    expect(stdout).toMatch(/^.*a\.log {2}of job sft$/m)
    expect(stdout).not.toContain('b.log')
    const { logs } = LearnedDocument.parse(
      JSON.parse((await learnFrom([], { list: true, format: 'json' }, state)).stdout),
    )
    expect(logs.map(({ job }) => job)).toEqual(['sft', undefined])
    expect((await learnFrom([], { forget: true, job: 'sft' }, state)).stderr).toBe('gpufare: 1 log forgotten\n')
    expect((await learnFrom(['sft'], { list: true }, state)).stderr).toBe('gpufare: no such log is kept\n')
    expect((await learnFrom([], { list: true }, state)).stdout).toContain('b.log')
    await expect(learnFrom([], { list: true, forget: true }, state)).rejects.toMatchObject({ exitCode: 2 })
  })

  test('is nothing of a folder without logs', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'model.bin'), 'x')
    expect((await learnFrom([folder], {}, makeFolder())).stderr).toBe('gpufare: no log was found there\n')
  })

  test('is not what tells no time', async () => {
    const state = makeFolder()
    const file = join(makeFolder(), 'train.log')
    writeFileSync(file, 'loading data\nloss 2.5\n')
    expect((await learnFrom([file], {}, state)).stderr).toBe('gpufare: 1 log tells no time and is not kept\n')
    expect(existsSync(join(state, line))).toBe(false)
  })

  test('stays away where it is only printed', async () => {
    const state = makeFolder()
    const file = join(makeFolder(), 'train.log')
    writeFileSync(file, log)
    await learnFrom([file], { dryRun: true }, state)
    expect(existsSync(join(state, line))).toBe(false)
  })

  test('needs a log to be named', async () => {
    await expect(learnFrom([], {}, makeFolder())).rejects.toMatchObject({ exitCode: 2, message: 'no log is named' })
  })
})
