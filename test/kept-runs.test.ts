import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { withPseudonyms } from '../src/accounting/digest.ts'
import { writeRunsCsv } from '../src/accounting/runs-csv.ts'
import type { EarlierRun } from '../src/history/earlier-run.ts'
import { pastFinder, type RunsOptions } from '../src/kept-runs.ts'
import { readTables } from '../src/pricing-data.ts'
import { jobOf, roleOf } from './builders.ts'
import { makeFolder } from './folders.ts'

const folder = makeFolder()
const tables = readTables(fileURLToPath(new URL('../pricing-data/', import.meta.url)))
const job = { ...jobOf({ roles: [roleOf()] }), name: 'train' }

function run(index: number, name = 'train'): EarlierRun {
  const start = 1_700_000_000 + index * 100
  return {
    id: String(index),
    name,
    user: 'ada',
    account: 'lab',
    partition: 'gpu',
    qos: '',
    state: 'completed',
    submitSeconds: start,
    startSeconds: start,
    endSeconds: start + 7_200,
    elapsedSeconds: 7_200,
    gpus: 1,
  }
}

let count = 0

/** A repository whose manifests stand in `jobs/`, with this file of runs. */
function repositoryWith(csv: string, holder = '.'): string {
  const root = join(folder, String(count++))
  mkdirSync(join(root, 'project/.git'), { recursive: true })
  mkdirSync(join(root, 'project/jobs'))
  mkdirSync(join(root, 'project', holder, '.gpufare'))
  writeFileSync(join(root, 'project', holder, '.gpufare/runs.csv'), csv)
  return join(root, 'project/jobs')
}

function find(at: string, options: RunsOptions = {}) {
  return pastFinder({ PATH: '' }, tables, options)(at, [job])
}

const several = [1, 2, 3, 4].map(index => run(index))

describe('the runs that a repository keeps', () => {
  test.each([
    ['as they are', several],
    ['under pseudonyms', several.map(withPseudonyms)],
    ['with a comma in the name of another', [...several, run(5, 'a, "b"')]],
  ])('are found by the name, %s', async (_, runs) => {
    const { runs: past } = await find(repositoryWith(writeRunsCsv(runs)))
    expect(past?.forecast(job, '', 1, true)).toMatchObject({ completed: { count: 4 }, narrow: true })
    expect(past?.knows({ ...job, name: 'evaluate' })).toBe(false)
  })

  test('are not those above the repository, and none where none are wanted', async () => {
    expect(await find(repositoryWith(writeRunsCsv(several), '..'))).toEqual({})
    expect(await find(repositoryWith(writeRunsCsv(several)), { history: false })).toEqual({})
  })

  test('are the last of a file that is too long to be read', async () => {
    const others = Array.from({ length: 20_000 }, (_, index) => run(index, `other-${index}`))
    const csv = writeRunsCsv([...others, ...[1, 2, 3].map(index => run(30_000 + index))])
    expect(csv.length).toBeGreaterThan(1_048_576)
    const { runs: past } = await find(repositoryWith(csv))
    expect(past?.forecast(job, '', 1, true)?.completed.count).toBe(3)
  })

  test('a file that holds none stops no quote', async () => {
    const { runs: past } = await find(repositoryWith('not,a,table\nof,runs,'))
    expect(past?.knows(job) ?? false).toBe(false)
  })
})
