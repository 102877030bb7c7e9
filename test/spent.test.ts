import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfigs } from '../src/config.ts'
import { listPrices } from '../src/prices/index.ts'
import { readTables } from '../src/pricing-data.ts'
import { tablesFolder } from '../src/quoted-manifests.ts'
import { readBudgets } from '../src/spent.ts'
import { makeFolder } from './folders.ts'
import { describeSlurm } from './servers/state.ts'

const tables = readTables(tablesFolder)

/** The budgets of a gpufare.yaml in a folder with these files, on a day. */
async function budgetsIn(
  config: string,
  files: Readonly<Record<string, string>> = {},
  {
    trusted = false,
    environment = {},
    today = '2026-11-30',
    patience = 5_000,
  }: {
    readonly trusted?: boolean
    readonly environment?: NodeJS.ProcessEnv
    readonly today?: string
    readonly patience?: number
  } = {},
) {
  const folder = makeFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const path = join(folder, 'gpufare.yaml')
  writeFileSync(path, config)
  const read = await readConfigs([{ path, trusted }])
  const prices = listPrices(tables, read)
  return readBudgets({ environment, today, prices, config: read, patienceMilliseconds: patience })
}

async function spentIn(...given: Parameters<typeof budgetsIn>) {
  const [state] = await budgetsIn(...given)
  return state?.spent
}

const filed = (file: string, more = '') =>
  `budgets: [{team: vision, amount: 100, period: month, spent: {from: file, file: ${file}}${more}}]\n`

describe('spending from a file', () => {
  const csv =
    'date,team,amount\n2026-11-01,vision,10\n2026-11-30,vision,5.5\n2026-10-31,vision,100\n2026-11-02,nlp,100\n'

  test('is the sum of the rows of its teams in its period', async () => {
    expect(await spentIn(filed('spent.csv'), { 'spent.csv': csv })).toMatchObject({ amount: 15.5 })
  })

  test('may be JSON', async () => {
    const rows = [
      { date: '2026-11-01', team: 'vision', amount: 7 },
      { date: '2026-11-01', team: 'nlp', amount: 1 },
    ]
    expect(await spentIn(filed('spent.json'), { 'spent.json': JSON.stringify(rows) })).toMatchObject({ amount: 7 })
  })

  test('is in the currency of the file that names it', async () => {
    const config = `currency: {code: EUR, per-usd: 0.5}\n${filed('spent.csv')}`
    expect(await spentIn(config, { 'spent.csv': csv })).toMatchObject({ amount: 31 })
  })

  test('may be GPU-hours', async () => {
    const config = 'budgets: [{gpu-hours: 9, period: year, spent: {from: file, file: s.csv}}]\n'
    expect(await spentIn(config, { 's.csv': 'date,gpu-hours\n2026-01-01,4\n2026-12-31,3\n' })).toMatchObject({
      amount: 7,
    })
  })

  test.each([
    ['no day', 'date,team,amount\nyesterday,vision,1\n', 'line 2: date'],
    ['no amount', 'date,team,amount\n2026-11-01,vision,\n', 'line 2: amount'],
    ['no such column', 'date,team\n2026-11-01,vision\n', 'line 2: amount'],
  ])('with %s is a fault that names its line', async (_, text, message) => {
    await expect(spentIn(filed('spent.csv'), { 'spent.csv': text })).rejects.toThrow(message)
  })

  test('that is not there is a fault', async () => {
    await expect(spentIn(filed('spent.csv'))).rejects.toThrow(/spent\.csv.*can't be read/)
  })

  test("of a repository's own configuration may not lie outside of its folder, behind a link either", async () => {
    const outside = makeFolder()
    writeFileSync(join(outside, 'spent.csv'), csv)
    await expect(spentIn(filed('../spent.csv'))).rejects.toThrow('outside')
    await expect(spentIn(filed(join(outside, 'spent.csv')))).rejects.toThrow('outside')
    expect(await spentIn(filed(join(outside, 'spent.csv')), {}, { trusted: true })).toMatchObject({ amount: 15.5 })

    const folder = makeFolder()
    mkdirSync(join(folder, 'repository'))
    symlinkSync(join(outside, 'spent.csv'), join(folder, 'repository/spent.csv'))
    const path = join(folder, 'repository/gpufare.yaml')
    writeFileSync(path, filed('spent.csv'))
    const config = await readConfigs([{ path, trusted: false }])
    const prices = listPrices(tables, config)
    const reading = readBudgets({ environment: {}, today: '2026-11-30', prices, config, patienceMilliseconds: 1 })
    await expect(reading).rejects.toThrow('outside')
  })
})

describe('a budget', () => {
  test('that is over, or not begun, is left out', async () => {
    const config = 'budgets: [{amount: 1, from: 2026-01-01, until: 2026-01-31}, {amount: 2, period: year}]\n'
    expect((await budgetsIn(config)).map(({ budget }) => budget.limit)).toEqual([2])
  })
})

/** A folder with a program of this name that does what the script says. */
function pretend(program: string, script: string): NodeJS.ProcessEnv {
  const bin = makeFolder()
  writeFileSync(join(bin, program), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, program), 0o755)
  return { PATH: `${bin}:${process.env['PATH']}` }
}

const accounted = `clusters:
  - name: lab
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, gres: a100, rate: 2}
      - {name: t4, gpu: t4, gpus-per-node: 8, gres: t4, rate: 3600}
budgets: [{team: vision, amount: 100, period: month, spent: {from: sacct, account: [vision, budgetary]}}]
`

describe("Slurm's accounting", () => {
  test('that is not installed, fails or takes too long leaves the spending unknown', async () => {
    expect(await spentIn(accounted, {}, { environment: { PATH: makeFolder() } })).toEqual({
      missing: expect.stringContaining('sacct is not installed'),
    })
    const failing = pretend('sacct', 'echo "sacct: error: slurmdbd is away" >&2; exit 1')
    expect(await spentIn(accounted, {}, { environment: failing })).toEqual({
      missing: 'sacct failed: sacct: error: slurmdbd is away',
    })
    const slow = pretend('sacct', 'sleep 10')
    expect(await spentIn(accounted, {}, { environment: slow, patience: 100 })).toEqual({
      missing: 'sacct did not answer in 0.1 s',
    })
  })

  test('is asked for the accounts and days of the budget, and priced by partition', async () => {
    const folder = makeFolder()
    const environment = pretend(
      'sacct',
      `printf '%s\\n' "$@" > ${folder}/asked
       echo 'billing=8,gres/gpu:a100=8,gres/gpu=8,node=1|1800|a100'
       echo 'cpu=4,node=1|99999|cpu'
       echo 'gres/gpu:a100=1|3600|a100'
       echo '|0|a100'
       echo 'gres/gpu=2|5400|mystery'`,
    )
    // 8 GPUs for half an hour and one for an hour are 5 GPU-hours at $2; 3 GPU-hours have no rate.
    expect(await spentIn(accounted, {}, { environment })).toEqual({
      amount: 10,
      source: 'sacct of vision, budgetary',
      remarks: ['3 GPU-hours in partition mystery, which has no rate, are not in it'],
    })
    const asked = execFileSync('cat', [join(folder, 'asked')])
      .toString()
      .split('\n')
    expect(asked).toEqual(
      expect.arrayContaining([
        '--accounts=vision,budgetary',
        '--starttime=2026-11-01',
        '--endtime=2026-11-30T23:59:59',
      ]),
    )
  })
})

describeSlurm('spending', environment => {
  const account = 'budgetary'
  const administer = (...words: string[]) =>
    execFileSync('sacctmgr', ['-i', ...words], { env: environment, stdio: 'pipe' })
  const today = new Date().toISOString().slice(0, 10)

  beforeAll(() => {
    administer('add', 'account', account)
    administer('add', 'user', 'root', `account=${account}`)
    administer('modify', 'account', account, 'set', 'GrpTRESMins=gres/gpu=600')
  })
  afterAll(() => {
    administer('remove', 'user', 'root', `account=${account}`)
    administer('remove', 'account', account)
  })

  test('of an account is what its jobs took, as sacct has it', async () => {
    const seconds = async () => {
      const spent = await spentIn(accounted, {}, { environment, today })
      if (spent === undefined || 'missing' in spent) throw new Error(spent?.missing)
      return spent.amount // a GPU-second of a T4 costs $1 here
    }
    const before = await seconds()
    execFileSync('srun', [`--account=${account}`, '--partition=t4', '--gres=gpu:t4:2', '--time=1', 'sleep', '2'], {
      env: environment,
      stdio: 'pipe',
    })
    // slurmdbd hears of the end of a job a moment later
    await expect.poll(async () => (await seconds()) - before, { timeout: 10_000 }).toBeGreaterThanOrEqual(4)
    expect((await seconds()) - before).toBeLessThanOrEqual(20)
  }, 30_000)

  test("of an account that GrpTRESMins limits is held against Slurm's own limit", async () => {
    const config = `budgets: [{spent: {from: sshare, account: ${account}}}]\n`
    const [state] = await budgetsIn(config, {}, { environment, today })
    // 600 GPU-minutes
    expect(state).toMatchObject({ days: undefined, spent: { limit: 10, source: `sshare of ${account}` } })
    expect(
      await spentIn('budgets: [{spent: {from: sshare, account: teaching}}]\n', {}, { environment, today }),
    ).toEqual({
      missing: 'account teaching has no GrpTRESMins of gres/gpu',
    })
  })
})
