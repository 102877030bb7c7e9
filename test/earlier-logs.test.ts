import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { learn } from '../src/commands/learn.ts'
import type { Fare } from '../src/fare.ts'
import { readKeptLogs } from '../src/kept-logs.ts'
import { quoteManifests } from '../src/quoted-manifests.ts'
import type { Runtime } from '../src/runtimes/runtime-model.ts'
import { describeTerminal, processTerminal } from '../src/terminal.ts'
import { makeFolder } from './folders.ts'

/** A log of a loop that reports every hundredth step, at 2 s a step, from 10:00 on. */
function logOf(steps: number, total: number, ...ending: readonly string[]): string {
  const stamp = (seconds: number) => new Date(Date.UTC(2026, 0, 5, 10) + seconds * 1_000).toISOString().slice(0, 19)
  const lines = [`${stamp(0)} INFO start of training`]
  for (let step = 100; step <= steps; step += 100) lines.push(`${stamp(step * 2)} INFO step ${step}/${total} loss 2.5`)
  return `${[...lines, ...ending].join('\n')}\n`
}

/** Writes files, each a minute older than the one before. */
function write(folder: string, files: Readonly<Record<string, string>>): void {
  Object.entries(files).forEach(([name, text], index) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
    const time = 1_780_000_000 - 60 * index
    utimesSync(join(folder, name), time, time)
  })
}

const head = '#!/bin/bash\n#SBATCH --gres=gpu:v100-32gb:1\n#SBATCH --time=2:00:00\n'
const script = `${head}python train.py\n`

async function fareOf(
  folder: string,
  options: { log?: string[]; history?: boolean } = {},
  environment = {},
  manifest = 'train.sbatch',
): Promise<Fare> {
  // No PATH: Slurm's accounting is not asked.
  const terminal = { ...processTerminal(false), environment }
  const nothing = { schedulerArguments: [], scriptArguments: [] }
  const [quoted] = await quoteManifests([join(folder, manifest)], options, nothing, terminal)
  const fare = quoted?.fares[0]
  if (fare === undefined) throw new Error('no job')
  return fare
}

async function runtimeIn(files: Readonly<Record<string, string>>, options = {}): Promise<Runtime | undefined> {
  const folder = makeFolder()
  write(folder, files)
  return (await fareOf(folder, options)).quotes[0]?.runtime
}

describe('a script that says nothing of its training', () => {
  it('takes about what its earlier run took', async () => {
    const runtime = await runtimeIn({ 'train.sbatch': script, 'slurm-4711.out': logOf(1_000, 1_000) })
    expect(runtime).toMatchObject({ basis: 'history', logs: [{ kind: 'log', outcome: 'finished' }] })
    if (runtime?.basis !== 'history') return
    expect(runtime.seconds.p50).toBeCloseTo(2_000, -1)
    expect(runtime.seconds.p90 / runtime.seconds.p50).toBeCloseTo(1.47, 1)
  })

  it('says of other GPUs only what a program that trains would take there', async () => {
    const onOthers = async (command: string) => {
      const folder = makeFolder()
      write(folder, { 'train.sbatch': `${head}${command}\n`, 'slurm-4711.out': logOf(1_000, 1_000) })
      const { quotes } = await fareOf(folder)
      expect(quotes[0]?.runtime).toMatchObject({ basis: 'history' })
      return quotes.filter(({ candidate }) => !candidate.asRequested).map(({ runtime }) => runtime?.basis)
    }
    expect(await onOthers('python train.py')).toContain('measured')
    expect(await onOthers('./simulate input.txt')).not.toContain('measured')
  })

  it('takes at least what one of several runs in its log took', async () => {
    const run = Array.from({ length: 20 }, (_, epoch) => `Epoch ${epoch + 1}/20 - loss: 0.5 - time: 30.0s\n`).join('')
    const once = await runtimeIn({ 'train.sbatch': script, 'slurm-4711.out': run })
    expect(once).toMatchObject({ basis: 'history' })
    expect(await runtimeIn({ 'train.sbatch': script, 'slurm-4711.out': run.repeat(3) })).toMatchObject({
      basis: 'limit',
    })
  })

  it('is told of a log that was named and says nothing of its length', async () => {
    const folder = makeFolder()
    write(folder, { 'train.sbatch': script, 'old.txt': 'loading data\nstep 3 loss 2.1\nstep 4 loss 2.0\n' })
    const { warnings } = await fareOf(folder, { log: [join(folder, 'old.txt')] })
    expect(warnings.map(({ text }) => text)).toContainEqual(expect.stringMatching(/old\.txt does not tell how long/))
  })

  it('lies nowhere where the path is longer than any can be', async () => {
    const long = `${head}#SBATCH --output=${'a/'.repeat(3_000)}run.log\npython train.py\n`
    expect(await runtimeIn({ 'train.sbatch': long })).toMatchObject({ basis: 'limit' })
  })

  it('takes what the rate of a stopped run comes to', async () => {
    const stopped = 'slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-01-05T10:14:00 DUE TO TIME LIMIT ***'
    const runtime = await runtimeIn({ 'train.sbatch': script, 'slurm-4711.out': logOf(400, 1_000, stopped) })
    expect(runtime).toMatchObject({ basis: 'history', logs: [{ outcome: 'time-limit' }] })
    if (runtime?.basis !== 'history') return
    expect(runtime.seconds.p50).toBeGreaterThan(2_000)
    expect(runtime.seconds.p50).toBeLessThan(2_400)
  })

  it('is known more narrowly by several runs', async () => {
    const runtime = await runtimeIn({
      'train.sbatch': script,
      'slurm-3.out': logOf(1_000, 1_000),
      'slurm-2.out': logOf(1_000, 1_000),
      'slurm-1.out': logOf(1_000, 1_000),
    })
    expect(runtime).toMatchObject({ basis: 'history', logs: [{}, {}, {}] })
    if (runtime?.basis !== 'history') return
    expect(runtime.seconds.p90 / runtime.seconds.p50).toBeLessThan(1.25)
  })

  it.each([
    ['no log', {}, {}],
    ['logs that are of no use', { 'slurm-4711.out': 'hello\n' }, {}],
    ['logs turned off', { 'slurm-4711.out': logOf(1_000, 1_000) }, { history: false }],
    ['logs of other names', { 'other-4711.out': logOf(1_000, 1_000) }, {}],
    [
      'logs that two scripts write',
      { 'slurm-4711.out': logOf(1_000, 1_000), 'other.sbatch': `${head}python train.py --small\n` },
      {},
    ],
  ])('has only its limit with %s', async (_, files, options) => {
    expect(await runtimeIn({ 'train.sbatch': script, ...files }, options)).toMatchObject({ basis: 'limit' })
  })

  it('finds logs that name what only this of two scripts starts', async () => {
    const runtime = await runtimeIn({
      'train.sbatch': script,
      'slurm-4711.out': `+ python train.py\n${logOf(1_000, 1_000)}`,
      'other.sbatch': `${head}python evaluate.py\n`,
    })
    expect(runtime).toMatchObject({ basis: 'history' })
  })

  it('takes progress from one of two files and the ending from the other', async () => {
    const folder = makeFolder()
    const directives = '#SBATCH -o logs/%j.out\n#SBATCH -e logs/%j.err\n'
    write(folder, {
      'train.sbatch': `${head}${directives}python train.py\n`,
      'logs/7.out': logOf(400, 1_000),
      'logs/7.err': 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n',
    })
    const fare = await fareOf(folder)
    expect(fare.quotes[0]?.runtime).toMatchObject({
      logs: [{ file: expect.stringContaining('7.out'), outcome: 'oom' }],
    })
    const warning = fare.warnings.find(({ code }) => code === 'earlier-run-stopped')
    expect(warning?.text).toMatch(/^the last run ended out of memory after 13m/)
  })

  it('reads no log that a link leads to outside the folder, unless it is named', async () => {
    const outside = makeFolder()
    write(outside, { 'far.out': logOf(1_000, 1_000) })
    const folder = makeFolder()
    write(folder, { 'train.sbatch': script })
    symlinkSync(join(outside, 'far.out'), join(folder, 'slurm-1.out'))
    expect((await fareOf(folder)).quotes[0]?.runtime).toMatchObject({ basis: 'limit' })
    const named = await fareOf(folder, { log: [join(outside, 'far.out')] })
    expect(named.quotes[0]?.runtime).toMatchObject({ basis: 'history' })
  })
})

it('refuses to take a log for several manifests', async () => {
  const terminal = { ...processTerminal(false), environment: {} }
  const nothing = { schedulerArguments: [], scriptArguments: [] }
  await expect(quoteManifests(['a.sbatch', 'b.sbatch'], { log: ['a.log'] }, nothing, terminal)).rejects.toThrow(
    '--log is for a single manifest',
  )
})

describe('a log of other GPUs or other work', () => {
  it('is scaled to the GPUs that are asked for now, and said to be measured', async () => {
    const log = `NVIDIA A100-SXM4-80GB\n${logOf(1_000, 1_000)}`
    const runtime = await runtimeIn({ 'train.sbatch': script, 'slurm-4711.out': log })
    expect(runtime).toMatchObject({ basis: 'measured' })
    if (runtime?.basis !== 'measured') return
    expect(runtime.seconds.p50).toBeGreaterThan(2_200)
  })

  it('is made as long as the manifest says', async () => {
    const declared = `${head}#GPUFARE steps=3000\npython train.py\n`
    const runtime = await runtimeIn({ 'train.sbatch': declared, 'slurm-4711.out': logOf(1_000, 1_000) })
    expect(runtime).toMatchObject({ basis: 'history' })
    if (runtime?.basis !== 'history') return
    expect(runtime.seconds.p50).toBeCloseTo(6_000, -2)
  })
})

describe('beside what the accounting tells', () => {
  /** A file of one completed run of the script, of 2,000 seconds. */
  const runOf = (id: string) =>
    `id,name,state,start,elapsed_seconds,gpus,gpu_type\n${id},train.sbatch,COMPLETED,2026-01-05T10:00:00Z,2000,1,v100\n`
  const both = { 'train.sbatch': script, 'slurm-4711.out': logOf(1_000, 1_000) }

  it('a log of the same run is no second run', async () => {
    const same = await runtimeIn({ ...both, '.gpufare/runs.csv': runOf('4711') })
    const others = await runtimeIn({ ...both, '.gpufare/runs.csv': runOf('4700') })
    expect(same).toMatchObject({ basis: 'history', completed: { count: 1 }, logs: [{ outcome: 'finished' }] })
    if (same?.basis !== 'history' || others?.basis !== 'history') throw new Error('no history')
    const width = ({ seconds }: typeof same) => Math.log(seconds.p90 / seconds.p10)
    // Two runs that agree are known more narrowly by the root of two than one that is told twice.
    expect(width(same) / width(others)).toBeCloseTo(Math.SQRT2, 1)
  })

  it('a log is of this script, though another writes there, where its number is that of this job', async () => {
    const files = { ...both, 'other.sbatch': `${head}python train.py --small\n` }
    const own = await runtimeIn({ ...files, '.gpufare/runs.csv': runOf('4711') })
    expect(own).toMatchObject({ logs: [{ outcome: 'finished' }] })
    expect(await runtimeIn({ ...files, '.gpufare/runs.csv': runOf('4700') })).not.toHaveProperty('logs')
  })
})

describe('logs that were learnt from', () => {
  const object = `apiVersion: batch/v1
kind: Job
metadata: {name: sft-2}
spec:
  template:
    spec:
      containers: [{name: main, image: a, command: [python, train.py], resources: {limits: {nvidia.com/gpu: 1}}}]
      nodeSelector: {nvidia.com/gpu.product: Tesla-V100-SXM2-32GB}
      restartPolicy: Never
`

  /** Learns from a log, takes it away, and quotes. */
  async function quotedAfter(
    files: Readonly<Record<string, string>>,
    learnt: string,
    { job, manifest, ...options }: { job?: string; manifest?: string; history?: boolean } = {},
  ): Promise<Runtime | undefined> {
    const folder = makeFolder()
    write(folder, files)
    const environment = { XDG_STATE_HOME: makeFolder() }
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const told = { format: 'table', color: false, ...(job !== undefined && { job }) } as const
    await learn([join(folder, learnt)], told, describeTerminal(streams, environment))
    rmSync(join(folder, learnt))
    return (await fareOf(folder, options, environment, manifest)).quotes[0]?.runtime
  }

  it('are those of a script that wrote there, though they are gone', async () => {
    const runtime = await quotedAfter(
      { 'train.sbatch': script, 'slurm-4711.out': logOf(1_000, 1_000) },
      'slurm-4711.out',
    )
    expect(runtime).toMatchObject({
      basis: 'history',
      logs: [{ file: expect.stringMatching(/slurm-4711\.out \(kept\)$/) }],
    })
    if (runtime?.basis === 'history') expect(runtime.seconds.p50).toBeCloseTo(2_000, -1)
  })

  it('count for nothing where another script may have written them, or where history is turned off', async () => {
    const files = { 'train.sbatch': script, 'slurm-4711.out': logOf(1_000, 1_000) }
    expect(await quotedAfter({ ...files, 'other.sbatch': script }, 'slurm-4711.out')).toMatchObject({ basis: 'limit' })
    expect(await quotedAfter(files, 'slurm-4711.out', { history: false })).toMatchObject({ basis: 'limit' })
  })

  it('are those that the accounting knows as the job of this name, where another script writes there', async () => {
    const files = { 'train.sbatch': script, 'slurm-4711.out': logOf(1_000, 1_000), 'other.sbatch': script }
    const runs = (name: string) =>
      `id,name,state,start,elapsed_seconds,gpus\n4711,${name},TIMEOUT,2026-01-05T10:00:00Z,2000,1\n`
    const own = { ...files, '.gpufare/runs.csv': runs('train.sbatch') }
    expect(await quotedAfter(own, 'slurm-4711.out')).toMatchObject({ basis: 'history', logs: [{}] })
    const others = { ...files, '.gpufare/runs.csv': runs('other.sbatch') }
    expect(await quotedAfter(others, 'slurm-4711.out')).toMatchObject({ basis: 'limit' })
  })

  it('are one run where its output and its errors were learnt', async () => {
    const folder = makeFolder()
    const directives = '#SBATCH -o logs/%j.out\n#SBATCH -e logs/%j.err\n'
    write(folder, {
      'train.sbatch': `${head}${directives}python train.py\n`,
      'logs/7.out': logOf(1_000, 1_000),
      'logs/7.err': 'step 10/1000, 2.0 s/step\nstep 20/1000, 2.0 s/step\nstep 30/1000, 2.0 s/step\n',
    })
    const environment = { XDG_STATE_HOME: makeFolder() }
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    await learn([join(folder, 'logs')], { format: 'table', color: false }, describeTerminal(streams, environment))
    expect(readKeptLogs(join(environment.XDG_STATE_HOME, 'gpufare/logs.jsonl'))).toHaveLength(2)
    rmSync(join(folder, 'logs'), { recursive: true })
    expect((await fareOf(folder, {}, environment)).quotes[0]?.runtime).toMatchObject({
      logs: [{ file: expect.stringMatching(/7\.out \(kept\)$/), outcome: 'finished' }],
    })
  })

  it('are those of the job that they are said to be of, on Kubernetes as well', async () => {
    const files = { 'job.yaml': object, 'old.txt': logOf(1_000, 1_000) }
    const manifest = 'job.yaml'
    expect(await quotedAfter(files, 'old.txt', { job: 'sft-1', manifest })).toMatchObject({ basis: 'history' })
    expect(await quotedAfter(files, 'old.txt', { job: 'dpo-1', manifest })).toBeUndefined()
    expect(await quotedAfter(files, 'old.txt', { manifest })).toBeUndefined()
  })
})
