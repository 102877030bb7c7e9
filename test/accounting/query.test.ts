import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askForRuns, keptRuns } from '../../src/accounting/query.ts'

const now = 1_780_000_000

/** A sacct that keeps what it was asked, and answers with this text. It has no field QOS. */
function withSacct(answer: string, before = '') {
  const folder = mkdtempSync(join(tmpdir(), 'gpufare-query-'))
  const asked = join(folder, 'asked')
  writeFileSync(join(folder, 'answer'), answer)
  const script = `#!/bin/sh
${before}
if [ "$1" = --helpformat ]; then echo "Account AllocTRES Cluster ElapsedRaw End JobID JobName NNodes Start State Submit User"; exit; fi
echo "$@ $SLURM_TIME_FORMAT" >> ${asked}
cat ${join(folder, 'answer')}
`
  writeFileSync(join(folder, 'sacct'), script)
  chmodSync(join(folder, 'sacct'), 0o755)
  const environment = { PATH: `${folder}:${process.env['PATH']}`, XDG_CACHE_HOME: join(folder, 'cache') }
  return { folder, environment, asked: () => readFileSync(asked, 'utf8').trim().split('\n') }
}

const row = (id: string, end: number) =>
  `${id}\u001fCOMPLETED\u001f60\u001f${end - 60}\u001f${end - 60}\u001f${end}\u001fada\u001ftrain|3\n`
const head = 'JobID State ElapsedRaw Submit Start End User JobName\n'.replaceAll(' ', '\u001f')
const query = { nowSeconds: now, days: 90, timeoutMilliseconds: 5_000 }

describe('one call of sacct', () => {
  test('asks for fields that it has, of allocations that ended, in seconds since 1970', async () => {
    const { environment, asked } = withSacct(head + row('1', now - 1_000))
    expect(await askForRuns({ ...query, environment })).toMatchObject([
      { id: '1', name: 'train|3', elapsedSeconds: 60 },
    ])
    expect(asked()).toHaveLength(1)
    expect(asked()[0]).toMatch(/--allocations .*--starttime=now-\d+seconds --endtime=now .*%s$/)
    expect(asked()[0]).not.toContain('QOS')
    expect(asked()[0]).not.toContain('--user')
  })

  test('keeps the answer, and adds to it what ended since', async () => {
    const { folder, environment } = withSacct(head + row('1', now - 1_000))
    await askForRuns({ ...query, environment })
    writeFileSync(join(folder, 'answer'), head + row('2', now - 10))
    expect((await askForRuns({ ...query, environment })).map(({ id }) => id)).toEqual(['1', '2'])
    expect((await keptRuns({ ...query, environment })).map(({ id }) => id)).toEqual(['1', '2'])
    expect(readdirSync(join(folder, 'cache', 'gpufare'))).toHaveLength(1)
  })

  test('for fewer days takes nothing from what is kept for more', async () => {
    const { folder, environment } = withSacct(head + row('1', now - 30 * 86_400))
    await askForRuns({ ...query, environment })
    writeFileSync(join(folder, 'answer'), head + row('2', now - 1_000))
    expect((await askForRuns({ ...query, days: 7, environment })).map(({ id }) => id)).toEqual(['2'])
    expect((await keptRuns({ ...query, days: 7, environment })).map(({ id }) => id)).toEqual(['2'])
    expect((await askForRuns({ ...query, environment })).map(({ id }) => id)).toEqual(['1', '2'])
  })

  test('a job that was requeued is no run that tells how long its work takes', async () => {
    const start = (state: string, from: number, to: number) =>
      `5\u001f${state}\u001f${to - from}\u001f${from}\u001f${from}\u001f${to}\u001fada\u001ftrain\n`
    const { environment, asked } = withSacct(
      head + start('REQUEUED', now - 9_000, now - 5_000) + start('COMPLETED', now - 4_999, now - 4_000),
    )
    expect((await askForRuns({ ...query, environment })).map(({ state }) => state)).toEqual([
      'interrupted',
      'interrupted',
    ])
    expect(asked()[0]).toMatch(/--duplicates .*--state=\S*\bRQ\b/)
  })

  test('gives up on a sacct that does not answer', async () => {
    const { environment } = withSacct(head, 'sleep 20')
    await expect(askForRuns({ ...query, environment, timeoutMilliseconds: 300 })).rejects.toThrow(
      'did not answer in 0.3 s',
    )
  })

  test('says what sacct said where it fails', async () => {
    const { environment } = withSacct(head, 'echo "sacct: error: no such cluster" >&2; exit 1')
    await expect(askForRuns({ ...query, environment })).rejects.toThrow('no such cluster')
  })
})
