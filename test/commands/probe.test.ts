import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { probe } from '../../src/commands/probe.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'

const start = process.cwd()
beforeEach(() => process.chdir(makeFolder()))
afterEach(() => process.chdir(start))

const options = { for: 60, yes: true, color: false } as const

/** Runs a probe whose environment has no Slurm. */
async function run(file: string | undefined, ...command: readonly string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const terminal = describeTerminal(streams, { PATH: '/usr/bin:/bin' })
  const passedOn = { schedulerArguments: command, scriptArguments: [] }
  const exitCode = await probe(file, options, passedOn, terminal)
  return { exitCode, stdout: String(streams.stdout.read() ?? ''), stderr: String(streams.stderr.read() ?? '') }
}

describe('a command on this machine', () => {
  test('is ended when its rate is steady, and what it takes in all is said', async () => {
    const loop =
      'for i in $(seq 1 2000); do sleep 0.1; echo "$(date "+%Y-%m-%d %H:%M:%S") step $i/2000 loss 2"; done; touch done'
    const { exitCode, stdout } = await run(undefined, 'sh', '-c', loop)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/of 2,000/)
    expect(stdout).toMatch(/whole run {7}about [3-9]m on this machine/)
  }, 50_000)

  test('of which nothing can be measured ends with 1', async () => {
    const { exitCode, stderr } = await run(undefined, 'echo', 'hello')
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('reported no rate') })
  })
})

describe('what is not probed', () => {
  test('nothing at all', async () => {
    await expect(run(undefined)).rejects.toThrow('nothing to probe is named')
  })

  test('a Kubernetes Job, with what to do instead', async () => {
    const text = `apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      containers: [{name: a, image: x, command: [python, train.py], resources: {limits: {nvidia.com/gpu: 1}}}]
`
    writeFileSync('job.yaml', text)
    await expect(run('job.yaml')).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('gpufare estimate --log probe.log job.yaml'),
    })
  })

  test('a script where there is no Slurm', async () => {
    const path = join(process.cwd(), 'train.sbatch')
    writeFileSync(path, '#!/bin/bash\n#SBATCH --gres=gpu:a100-80gb:1 -t 1:00:00\npython train.py\n')
    await expect(run(path)).rejects.toThrow(/sbatch/)
  })
})
