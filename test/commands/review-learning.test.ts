import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { estimate } from '../../src/commands/estimate.ts'
import { review } from '../../src/commands/review.ts'
import { submit } from '../../src/commands/submit.ts'
import { ReportDocument } from '../../src/reporters/schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { describeSlurm } from '../servers/state.ts'

describeSlurm('what gpufare review learns', slurmEnvironment => {
  const folder = makeFolder()
  // Letters alone tell names apart: an earlier run of this test shall not be learnt from.
  const name = `learn-${String(Date.now()).replace(/\d/g, digit => String.fromCharCode(103 + Number(digit)))}.sbatch`
  const script = join(folder, name)
  const state = join(folder, 'state')
  const environment = { ...slurmEnvironment, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: state }
  const nothingPassedOn = { schedulerArguments: [], scriptArguments: [] }
  const ids: string[] = []
  const slurm = (program: string, ...words: string[]) =>
    execFileSync(program, words, { env: slurmEnvironment, encoding: 'utf8' })

  async function withTerminal(run: (terminal: ReturnType<typeof describeTerminal>) => Promise<number>) {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const exitCode = await run(describeTerminal(streams, environment))
    streams.stdout.end()
    streams.stderr.end()
    return { exitCode, stdout: await text(streams.stdout), stderr: await text(streams.stderr) }
  }

  async function estimated() {
    const options = { format: [{ format: 'json' as const }], color: false }
    const { stdout } = await withTerminal(terminal => estimate([script], options, nothingPassedOn, terminal))
    return ReportDocument.parse(JSON.parse(stdout)).jobs[0]?.quotes[0]
  }

  const reviewed = (forget?: string | true) =>
    withTerminal(terminal =>
      review(
        { format: 'json', since: 1, by: 'team', color: false, ...(forget !== undefined && { forget }) },
        terminal,
        folder,
      ),
    )

  beforeAll(async () => {
    // It is said to take 50 seconds, and takes 12.
    const head = ['-p a100', '--gres=gpu:a100:1', '-t 2', '-o /dev/null'].map(option => `#SBATCH ${option}`)
    writeFileSync(script, ['#!/bin/bash', ...head, '#GPUFARE runtime=50s', 'sleep 12', ''].join('\n'))
    for (let count = 0; count < 3; count++) {
      const options = { color: false, quiet: true, yes: true } as const
      const { stdout } = await withTerminal(terminal => submit([script], options, nothingPassedOn, terminal))
      ids.push(/\d+/.exec(stdout)?.[0] ?? '')
    }
    const isEnded = () => /^(COMPLETED\n){3}$/.test(slurm('sacct', '-Xnj', ids.join(','), '-Po', 'State'))
    for (const until = Date.now() + 60_000; Date.now() < until && !isEnded(); ) {
      await new Promise(resolve => setTimeout(resolve, 1_000))
    }
  }, 90_000)
  afterAll(() => {
    slurm('scancel', '--quiet', ...ids)
  })

  test('makes the next quote better, which names the runs it goes by, until it is forgotten', async () => {
    const before = await estimated()
    expect(before).toMatchObject({ basis: 'declared', runtimeSeconds: { p50: 50 } })
    expect(before?.correction).toBeUndefined()
    expect((await reviewed()).stderr).toMatch(/ runs learnt from: /)

    const after = await estimated()
    const taken = slurm('sacct', '-Xnj', ids.join(','), '-Po', 'ElapsedRaw').trim().split('\n').map(Number)
    const [, middle = Number.NaN] = taken.toSorted((a, b) => a - b)
    expect(after?.runtimeSeconds?.p50).toBeLessThan(middle * 1.25)
    expect(after?.runtimeSeconds?.p50).toBeGreaterThan(middle * 0.8)
    expect(after?.runtimeSeconds?.p10).toBeLessThan(middle)
    expect(after?.runtimeSeconds?.p90).toBeGreaterThan(middle)
    expect(after?.correction).toMatchObject({ estimatedSeconds: { p50: 50 } })
    expect(after?.correction?.runs.map(({ id }) => id).sort()).toEqual([...ids].sort())
    const explained = after?.working.map(({ figure }) => figure).join('\n') ?? ''
    for (const id of ids) expect(explained).toContain(`${id} of 20`)

    // What was learnt once is not learnt again, and what is forgotten neither.
    await reviewed()
    expect((await reviewed(name)).stdout).toBe(`3 runs of ${name} forgotten\n`)
    expect((await estimated())?.runtimeSeconds).toEqual(before?.runtimeSeconds)
    await reviewed()
    expect((await estimated())?.correction).toBeUndefined()
    expect((await reviewed(name)).stdout).toBe(`0 runs of ${name} forgotten\n`)
  })

  test('is learnt from the stamps alone as well', async () => {
    rmSync(state, { recursive: true })
    expect((await reviewed()).stderr).toMatch(/ runs learnt from: /)
    const runs = (await estimated())?.correction?.runs ?? []
    expect(runs.map(({ id, estimatedSeconds }) => [id, estimatedSeconds]).sort()).toEqual(
      ids.map(id => [id, 50]).sort(),
    )
  })
})
