import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ReviewOptions, review } from '../../src/commands/review.ts'
import { type SubmitOptions, submit } from '../../src/commands/submit.ts'
import { ReviewDocument } from '../../src/review/schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { describeSlurm } from '../servers/state.ts'

const configuration = `team: vision
clusters:
  - name: gpushop
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 4, gres: a100, rate: 1800}
      - {name: t4, gpu: t4, gpus-per-node: 8, nodes: 2, gres: t4, rate: 180}
`

describeSlurm('gpufare review', slurmEnvironment => {
  const begunMilliseconds = Date.now()
  const folder = makeFolder()
  const environment = {
    ...slurmEnvironment,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
  }
  const ids = new Map<string, string>()
  const slurm = (program: string, ...words: string[]) =>
    execFileSync(program, words, { env: slurmEnvironment, encoding: 'utf8' })

  async function withTerminal(run: (terminal: ReturnType<typeof describeTerminal>) => Promise<number>) {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const exitCode = await run(describeTerminal(streams, environment))
    streams.stdout.end()
    streams.stderr.end()
    return { exitCode, stdout: await text(streams.stdout), stderr: await text(streams.stderr) }
  }

  async function submitScript(name: string, body: string, more: Partial<SubmitOptions> = {}) {
    const path = join(folder, `${name}.sbatch`)
    const head = ['#!/bin/bash', '#SBATCH -p a100', '#SBATCH --gres=gpu:a100:2', '#SBATCH -t 1', '#SBATCH -o /dev/null']
    writeFileSync(path, `${name === 'het' ? '#!/bin/bash' : head.join('\n')}\n${body}\n`)
    const options: SubmitOptions = { color: false, quiet: true, yes: true, ...more }
    const passedOn = { schedulerArguments: [], scriptArguments: [] }
    const answer = await withTerminal(terminal => submit([path], options, passedOn, terminal))
    expect(answer).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Submitted batch job \d+\n$/) })
    const id = /\d+/.exec(answer.stdout)?.[0] ?? ''
    ids.set(name, id)
    return id
  }

  async function reviewed(format: ReviewOptions['format'] = 'json') {
    // Only since these tests began: the table has the dearest jobs, and the server may have run the same tests before.
    const since = (Date.now() - begunMilliseconds + 30_000) / 86_400_000
    const options: ReviewOptions = { format, since, by: 'team', color: false }
    const { stdout } = await withTerminal(terminal => review(options, terminal, folder))
    return stdout
  }

  async function jobs() {
    const document = ReviewDocument.parse(JSON.parse(await reviewed()))
    return new Map(document.jobs.filter(({ id }) => [...ids.values()].includes(id)).map(job => [job.name, job]))
  }

  beforeAll(async () => {
    writeFileSync(join(folder, 'gpufare.yaml'), configuration)
    await submitScript('done', '#GPUFARE runtime=5s\nsleep 4')
    await submitScript('failed', 'sleep 2; exit 3')
    const cancelled = await submitScript('cancelled', 'sleep 50')
    await submitScript('array', '#SBATCH --array=0-2\nsleep 3')
    await submitScript(
      'requeued',
      'if [ -z "$SLURM_RESTART_COUNT" ]; then sleep 3; scontrol requeue $SLURM_JOB_ID; sleep 30; fi; sleep 2',
    )
    await submitScript(
      'het',
      '#SBATCH -p a100 --gres=gpu:a100:1 -t 1 -o /dev/null\n#SBATCH hetjob\n#SBATCH -p t4 --gres=gpu:t4:2 -t 1\nsleep 3',
    )
    await submitScript('unstamped', 'sleep 1', { stamp: false })
    slurm('scancel', cancelled)
    // Accounting lags behind, and Slurm lets what is requeued wait for two minutes unless it is told otherwise.
    const requeued = ids.get('requeued') ?? ''
    const recordsOf = (id: string) => slurm('sacct', '-XDPn', '-o', 'State', '-j', id)
    for (const until = Date.now() + 120_000; Date.now() < until; ) {
      await new Promise(resolve => setTimeout(resolve, 1_000))
      if (/BeginTime/.test(slurm('squeue', '-h', '-o', '%r', '-j', requeued).trim())) {
        slurm('scontrol', 'update', `JobId=${requeued}`, 'StartTime=now')
      }
      const states = recordsOf([...ids.values()].join(','))
      const isEnded = !/PENDING|RUNNING|COMPLETING/.test(states) && /REQUEUED\s+COMPLETED/.test(recordsOf(requeued))
      // A job that has just ended may not be there yet.
      if (isEnded && [...ids.values()].every(id => recordsOf(id).trim() !== '')) break
    }
  }, 150_000)
  afterAll(() => {
    slurm('scancel', '--quiet', ...ids.values())
  })

  test('each way to end is told, with what it took', async () => {
    const found = await jobs()
    const endings = Object.fromEntries(Array.from(found, ([name, { ending }]) => [name, ending]))
    expect(endings).toEqual({
      'done.sbatch': 'done',
      'failed.sbatch': 'failed',
      'cancelled.sbatch': 'cancelled',
      'array.sbatch': 'done',
      'requeued.sbatch': 'done',
      'het.sbatch': 'done',
      'unstamped.sbatch': 'done',
    })
    const done = found.get('done.sbatch')
    expect(done?.quoted).toMatchObject({ basis: 'declared', runtimeSeconds: { p50: 5 } })
    expect(done?.runtimeSeconds).toBeGreaterThanOrEqual(4)
    // Two GPUs at $1800 an hour are a dollar a second.
    expect(done?.usd).toBeCloseTo(done?.runtimeSeconds ?? 0, 6)
    expect(done?.team).toBe('vision')
    const array = found.get('array.sbatch')
    expect(array?.endings).toEqual({ done: 3 })
    expect(array?.usd).toBeGreaterThanOrEqual(9)
    expect(array?.runtimeSeconds).toBeLessThan(9)
    const requeued = found.get('requeued.sbatch')
    expect(requeued?.restarts).toBe(1)
    expect(requeued?.usd).toBeCloseTo((requeued?.runtimeSeconds ?? 0) + (requeued?.waste.interruptedUsd ?? 0), 6)
    expect(requeued?.waste.interruptedUsd).toBeGreaterThanOrEqual(3)
    const het = found.get('het.sbatch')
    expect(het?.gpuHours).toBeCloseTo(((het?.runtimeSeconds ?? 0) * 3) / 3_600, 6)
    // One A100 and two T4: $2160 an hour.
    expect(het?.usd).toBeCloseTo((het?.runtimeSeconds ?? 0) * 0.6, 6)
    expect(found.get('failed.sbatch')?.waste.failedUsd).toBe(found.get('failed.sbatch')?.usd)
    expect(found.get('cancelled.sbatch')?.waste.cancelledUsd).toBe(found.get('cancelled.sbatch')?.usd)
  })

  test('tables, Markdown and CSV tell the same jobs', async () => {
    expect(await reviewed('table')).toMatch(/^\d+ +cancelled\.sbatch +cancelled /m)
    expect(await reviewed('markdown')).toMatch(/^\| \d+ \| failed\.sbatch \| failed \|/m)
    const rows = (await reviewed('csv')).trimEnd().split('\n')
    expect(rows[0]).toMatch(/^id,cluster,name,user,team,/)
    expect(rows.find(row => row.startsWith(`${ids.get('requeued')},`))).toContain(',requeued.sbatch,')
  })

  // The last test: it takes the ledger away.
  test('without the ledger the stamps in the accounting tell the same of all that have one', async () => {
    const before = await jobs()
    rmSync(join(folder, 'state'), { recursive: true })
    const after = await jobs()
    before.delete('unstamped.sbatch')
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
    for (const [name, job] of after) {
      const same = before.get(name)
      const factsOf = (each: typeof job | undefined) => [each?.ending, each?.restarts, each?.runtimeSeconds]
      expect(factsOf(job)).toEqual(factsOf(same))
      expect(job.usd).toBeCloseTo(same?.usd ?? Number.NaN, 3)
      expect(job.quoted.basis).toBe(same?.quoted.basis)
      expect(job.team).toBe('research')
    }
  })
})
