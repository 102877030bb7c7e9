import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type EstimateOptions, estimate } from '../../src/commands/estimate.ts'
import { FaultsDocument } from '../../src/reporters/schema.ts'
import { describeTerminal } from '../../src/terminal.ts'

const options: EstimateOptions = { format: [{ format: 'json' }], color: false }
const nothing = { schedulerArguments: [], scriptArguments: [] }

let exitCode: number

/** What it prints for these paths and options of sbatch. */
async function printed(paths: readonly string[], schedulerArguments: readonly string[] = []): Promise<string> {
  const stdout = new PassThrough()
  const terminal = describeTerminal(
    { stdin: new PassThrough(), stdout, stderr: new PassThrough() },
    { HOME: '/nowhere' },
  )
  exitCode = await estimate(paths, options, { ...nothing, schedulerArguments }, terminal)
  return String(stdout.read())
}

describe('estimate', () => {
  test('prices the command of --wrap without a file', async () => {
    const report = JSON.parse(await printed([], ['--wrap=python train.py', '--gres=gpu:t4:2', '-t', '2:00:00']))
    expect(report.jobs[0]).toMatchObject({ name: 'wrap', totals: { gpus: 2, gpuHoursAtLimit: 4 } })
  })

  test('ends with 5 where nothing says what machine the script would get', async () => {
    const run = 'test/cases/bad-08-shell-without-sbatch/run.sh'
    await printed([run])
    expect(exitCode).toBe(5)
    await printed([run], ['--gres=gpu:8'])
    expect(exitCode).toBe(0)
  })

  test('refuses a file beside --wrap, as sbatch does, and no file at all', async () => {
    await expect(printed(['a.sbatch'], ['--wrap=true'])).rejects.toMatchObject({ exitCode: 2 })
    await expect(printed([])).rejects.toMatchObject({ exitCode: 2, message: 'no manifest is named' })
  })

  test('--format json says for programs what is wrong, too: every fault with its place', async () => {
    const stdout = new PassThrough()
    const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() }
    const terminal = describeTerminal(streams, { HOME: '/nowhere' })
    const bad = 'test/cases/bad-09-time-banana/a.sbatch'
    await expect(estimate([bad, 'nowhere.yaml'], options, nothing, terminal)).rejects.toMatchObject({ exitCode: 2 })
    const document = FaultsDocument.parse(JSON.parse(String(stdout.read())))
    expect(document.errors).toMatchObject([
      { file: bad, line: 3, column: 16, message: expect.stringContaining('--time=banana') },
      { file: 'nowhere.yaml', message: expect.stringContaining('no such file') },
    ])
    await expect(estimate([bad], { color: false }, nothing, terminal)).rejects.toMatchObject({ exitCode: 2 })
    expect(stdout.read()).toBeNull()
  })

  test('names the faults of every manifest', async () => {
    const bad = 'test/cases/bad-09-time-banana/a.sbatch'
    const failure = printed([bad, 'test/cases/bad-07-empty-file/job.sbatch', 'nowhere.yaml'])
    await expect(failure).rejects.toThrow(`${bad}:3:16  --time=banana`)
    await expect(failure).rejects.toThrow('the file is empty')
    await expect(failure).rejects.toThrow('nowhere.yaml')
  })
})
