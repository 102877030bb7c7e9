import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type BudgetOptions, budget } from '../../src/commands/budget.ts'
import { BudgetDocument } from '../../src/reporters/budget-schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'

const config = `budgets:
  - {team: vision, amount: 1000, period: month, spent: {from: file, file: spent.csv}}
  - {name: "all\\e[31m", gpu-hours: 500, period: year}
`
const csv = 'date,team,amount\n2026-11-02,vision,850\n'

/** Runs `gpufare budget` in a folder with these files, on the last day of November 2026. */
async function budgetIn(
  text: string,
  options: Partial<BudgetOptions> = {},
  environment: Readonly<Record<string, string>> = {},
) {
  const folder = makeFolder()
  writeFileSync(join(folder, 'gpufare.yaml'), text)
  writeFileSync(join(folder, 'spent.csv'), csv)
  const shown = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') =>
    new PassThrough().on('data', chunk => {
      shown[name] += chunk
    })
  const streams = { stdin: new PassThrough(), stdout: stream('stdout'), stderr: stream('stderr') }
  const terminal = describeTerminal(streams, { NO_COLOR: '1', HOME: folder, ...environment })
  const exitCode = await budget({ format: 'table', color: false, ...options }, terminal, folder, '2026-11-30')
  return { exitCode, folder, ...shown }
}

describe('gpufare budget', () => {
  test('shows every budget with what is spent and left', async () => {
    const { exitCode, stdout, folder } = await budgetIn(config)
    expect(exitCode).toBe(0)
    expect(stdout.replace(folder, 'FOLDER')).toBe(
      `budget         period                    spent        limit          used  left           from
vision         2026-11-01 to 2026-11-30  $850         $1,000         85 %  $150           FOLDER/spent.csv
all\\u001b[31m  2026-01-01 to 2026-12-31  0 GPU-hours  500 GPU-hours  0 %   500 GPU-hours  nothing is recorded
`,
    )
  })

  test('as JSON gives plain numbers with their unit in the key', async () => {
    const { stdout } = await budgetIn(config, { format: 'json' })
    expect(BudgetDocument.parse(JSON.parse(stdout))).toMatchObject({
      schemaVersion: 1,
      budgets: [
        { name: 'vision', from: '2026-11-01', until: '2026-11-30', limitUsd: 1_000, spentUsd: 850, usage: 'warn' },
        { limitGpuHours: 500, spentGpuHours: 0, usage: 'within' },
      ],
    })
  })

  test('says so where there is none', async () => {
    expect(await budgetIn('team: x\n')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('no budget') })
  })
})

describe('gpufare budget --notify', () => {
  /** A configuration home that has a program told, which keeps what it was given. */
  function home(script: string) {
    const folder = makeFolder()
    const program = join(folder, 'tell')
    writeFileSync(program, `#!/bin/sh\n${script.replaceAll('FOLDER', folder)}\n`)
    chmodSync(program, 0o755)
    writeFileSync(join(makeUnder(folder), 'gpufare.yaml'), `notify: [${program}, --to, "a; touch ${folder}/never"]\n`)
    return { environment: { XDG_CONFIG_HOME: join(folder, 'config') }, folder }
  }

  function makeUnder(folder: string): string {
    const made = join(folder, 'config/gpufare')
    mkdirSync(made, { recursive: true })
    return made
  }

  test('runs the program once for each budget over a threshold, from its argument array and no shell', async () => {
    const { environment, folder } = home(`printf '%s\\n' "$@" > FOLDER/words; cat > FOLDER/input`)
    expect((await budgetIn(config, { notify: true }, environment)).exitCode).toBe(0)
    expect(readFileSync(join(folder, 'words'), 'utf8')).toBe(`--to\na; touch ${folder}/never\n`)
    expect(existsSync(join(folder, 'never'))).toBe(false)
    expect(JSON.parse(readFileSync(join(folder, 'input'), 'utf8'))).toEqual({
      budget: 'vision',
      teams: ['vision'],
      unit: 'USD',
      from: '2026-11-01',
      until: '2026-11-30',
      spent: 850,
      added: 0,
      limit: 1_000,
      usage: 'warn',
      warnAtPercent: 80,
      denyAtPercent: 100,
    })
  })

  test('says when nobody could be told, and ends with 1', async () => {
    const { environment } = home('exit 7')
    expect(await budgetIn(config, { notify: true }, environment)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('ended with 7'),
    })
  })
})
