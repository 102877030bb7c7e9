import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { appendRecord, ledgerPath, readLedger } from '../src/ledger.ts'
import type { QuoteRecord } from '../src/quote-record.ts'
import { makeFolder } from './folders.ts'

const record: QuoteRecord = {
  key: '0a1b2c3d4e',
  at: '2026-11-30T12:00:00.000Z',
  scheduler: 'slurm',
  cluster: 'gpushop',
  id: '7',
  name: 'train',
  kind: 'batch script',
  digest: '00',
  basis: 'model',
  runtimeSeconds: { p10: 3_000, p50: 3_600, p90: 4_800 },
  usd: { p10: 15, p50: 18, p90: 24 },
  usdPerTaskHour: 18,
  gpus: 8,
  billedGpus: 8,
  tasks: 1,
  gpuModel: '8x A100-80GB',
  rates: [],
  gpufareVersion: '0.1.0',
}

test('the ledger lies in the folder for state, in the home folder where none is named, nowhere without one', () => {
  expect(ledgerPath({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/gpufare/ledger.jsonl')
  expect(ledgerPath({ XDG_STATE_HOME: '', HOME: '/h' })).toBe('/h/.local/state/gpufare/ledger.jsonl')
  expect(ledgerPath({})).toBeUndefined()
})

test('records are read as they were written, in their order', async () => {
  const path = join(makeFolder(), 'new', 'ledger.jsonl')
  appendRecord(path, record)
  appendRecord(path, { ...record, id: '8' })
  expect(await readLedger(path)).toEqual({ records: [record, { ...record, id: '8' }], skipped: 0 })
  expect(await readLedger(join(makeFolder(), 'none'))).toEqual({ records: [], skipped: 0 })
})

test('a line that broke off swallows no record, and is passed over', async () => {
  const path = join(makeFolder(), 'ledger.jsonl')
  writeFileSync(path, '{"schemaVersion":1,"key":"12')
  appendRecord(path, record)
  expect(await readLedger(path)).toEqual({ records: [record], skipped: 1 })
})

test('unknown keys of a later version are passed over, lines of a later schema are skipped', async () => {
  const path = join(makeFolder(), 'ledger.jsonl')
  appendFileSync(path, `${JSON.stringify({ schemaVersion: 1, ...record, carbonGrams: 3 })}\n`)
  appendFileSync(path, `${JSON.stringify({ schemaVersion: 2, ...record })}\n\nnonsense\n`)
  expect(await readLedger(path)).toEqual({ records: [record], skipped: 2 })
})

test('a record of many prices is kept without them, in one page', async () => {
  const path = join(makeFolder(), 'ledger.jsonl')
  const rate = {
    provider: 'p'.repeat(900),
    machine: 'm',
    region: 'r',
    tier: 'own',
    usdPerMachineHour: 1,
    machineGpus: 8,
    asOf: '',
  }
  appendRecord(path, { ...record, rates: Array(8).fill(rate) })
  expect(readFileSync(path).length).toBeLessThan(4_096)
  expect((await readLedger(path)).records).toEqual([record])
})

test('a full disk, and a file or a folder in the way, are said', () => {
  const full = join(makeFolder(), 'ledger.jsonl')
  symlinkSync('/dev/full', full)
  expect(() => appendRecord(full, record)).toThrow(/ledger\.jsonl: the disk is full/)
  const file = join(makeFolder(), 'gpufare')
  writeFileSync(file, '')
  expect(() => appendRecord(join(file, 'ledger.jsonl'), record)).toThrow(/is no folder|EEXIST/)
  const folder = join(makeFolder(), 'gpufare')
  mkdirSync(join(folder, 'ledger.jsonl'), { recursive: true })
  expect(() => appendRecord(join(folder, 'ledger.jsonl'), record)).toThrow(/is a folder/)
})

describe('many processes at once', () => {
  let worker = ''
  beforeAll(() => {
    const folder = makeFolder()
    worker = join(folder, 'worker.mjs')
    const entry = join(folder, 'entry.ts')
    const ledger = join(import.meta.dirname, '../src/ledger.ts')
    // Says each key once it is acknowledged.
    writeFileSync(
      entry,
      `import { writeSync } from 'node:fs'
import { appendRecord } from ${JSON.stringify(ledger)}
const [path, name, count] = process.argv.slice(2)
const record = ${JSON.stringify(record)}
for (let i = 0; i < Number(count); i++) {
  const key = name + '-' + i
  appendRecord(path, { ...record, key, name: 'n'.repeat((i * 37) % 1500) })
  writeSync(1, key + '\\n')
}`,
    )
    buildSync({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: worker })
  })

  function start(path: string, name: string, count: number): ChildProcess {
    return spawn(process.execPath, [worker, path, name, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
  }

  /** Keys that a process was told are kept, once it has ended; a last line that broke off is none. */
  async function acknowledged(child: ChildProcess): Promise<readonly string[]> {
    let said = ''
    child.stdout?.on('data', chunk => {
      said += chunk
    })
    await once(child, 'close')
    return said.split('\n').slice(0, -1)
  }

  test('fifty that write forty records each lose none and break no line', { timeout: 120_000 }, async () => {
    const path = join(makeFolder(), 'ledger.jsonl')
    const children = Array.from({ length: 50 }, (_, index) => start(path, String(index), 40))
    const keys = (await Promise.all(children.map(acknowledged))).flat()
    expect(keys).toHaveLength(2_000)
    const { records, skipped } = await readLedger(path)
    expect(skipped).toBe(0)
    expect(new Set(records.map(({ key }) => key))).toEqual(new Set(keys))
    expect(records).toHaveLength(2_000)
  })

  test('two hundred that are killed while they write lose no acknowledged record', { timeout: 180_000 }, async () => {
    const path = join(makeFolder(), 'ledger.jsonl')
    const keys: string[] = []
    let next = 0
    const killOneAfterTheOther = async () => {
      while (next < 200) {
        const child = start(path, String(next++), 100_000)
        const told = acknowledged(child)
        if (child.stdout !== null) await once(child.stdout, 'data')
        await new Promise(resolve => setTimeout(resolve, Math.random() * 25))
        child.kill('SIGKILL')
        keys.push(...(await told))
      }
    }
    await Promise.all([1, 2, 3, 4, 5, 6].map(killOneAfterTheOther))
    const { records, skipped } = await readLedger(path)
    const kept = new Set(records.map(({ key }) => key))
    expect(keys.length).toBeGreaterThan(200)
    expect(keys.filter(key => !kept.has(key))).toEqual([])
    // Linux breaks a write off between two pages where the writer is killed: at most the one that nobody was told of.
    expect(skipped).toBeLessThan(200)
  })
})
