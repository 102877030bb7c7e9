import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { probe } from '../../src/commands/probe.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { describeSlurm } from '../servers/state.ts'

const start = process.cwd()
beforeEach(() => process.chdir(makeFolder()))
afterEach(() => process.chdir(start))

const options = { for: 60, yes: true, color: false } as const

/** Runs a probe; without another environment, in one that has no Slurm. */
async function runIn(environment: NodeJS.ProcessEnv, file: string | undefined, ...command: readonly string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const terminal = describeTerminal(streams, environment)
  const passedOn = { schedulerArguments: command, scriptArguments: [] }
  const exitCode = await probe(file, options, passedOn, terminal)
  return { exitCode, stdout: String(streams.stdout.read() ?? ''), stderr: String(streams.stderr.read() ?? '') }
}

const run = (file: string | undefined, ...command: readonly string[]) => runIn({ PATH: '/bin' }, file, ...command)

describe('a command on this machine', () => {
  test('is ended when its rate is steady, and what it takes in all is said', async () => {
    const loop =
      'for i in $(seq 1 2000); do sleep 0.1; echo "$(date "+%Y-%m-%d %H:%M:%S") step $i/2000 loss 2"; done; touch done'
    const { exitCode, stdout } = await run(undefined, 'sh', '-c', loop)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/of 2,000/)
    expect(stdout).toMatch(/whole run {7}about [3-9]m(?:\d\ds)? on this machine/)
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

  test('what runs on Kubernetes and is no Job, with what to do instead', async () => {
    const text = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Worker:
      template:
        spec:
          containers: [{name: pytorch, image: x, command: [python, train.py], resources: {limits: {nvidia.com/gpu: 1}}}]
`
    writeFileSync('job.yaml', text)
    await expect(run('job.yaml')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('not a PyTorchJob'),
      hint: expect.stringContaining('gpufare estimate --log probe.log job.yaml'),
    })
  })

  test('a script where there is no Slurm', async () => {
    const path = join(process.cwd(), 'train.sbatch')
    writeFileSync(path, '#!/bin/bash\n#SBATCH --gres=gpu:a100-80gb:1 -t 1:00:00\npython train.py\n')
    await expect(runIn({ PATH: '/nowhere' }, path)).rejects.toMatchObject({
      message: expect.stringContaining('sbatch'),
      hint: expect.stringContaining('login node'),
    })
  })
})

describeSlurm('a batch script', environment => {
  test('runs as one task with a short limit until its rate is steady, is ended, and the whole job is quoted by it', async () => {
    const loop =
      'for i in $(seq 1 6000); do sleep 0.2; echo "$(date "+%F %T") step $i/6000 loss 2 $SLURM_ARRAY_TASK_ID"; done'
    const head = '#!/bin/bash\n#SBATCH -p a100 --gres=gpu:a100:1 -t 2:00:00 --array=4-6 -o mine.out\n'
    writeFileSync('train.sbatch', `${head}${loop}\n`)
    writeFileSync('mine.out', 'an earlier run wrote this\n')
    const { exitCode, stdout, stderr } = await runIn(environment, 'train.sbatch')
    expect(exitCode).toBe(0)
    const [, id = ''] = /job (\d+) is the probe/.exec(stderr) ?? []
    const record = execFileSync('scontrol', ['show', 'job', id], { env: environment, encoding: 'utf8' })
    expect(record).toMatch(/JobState=CANCELLED/)
    expect(record).toMatch(/TimeLimit=00:01:00/)
    expect(record).toMatch(/ArrayTaskId=4/)
    expect(readFileSync(`gpufare-probe-${id}.out`, 'utf8')).toMatch(/step 9\/6000 loss 2 4$/m)
    expect(readFileSync('mine.out', 'utf8')).toBe('an earlier run wrote this\n')
    expect(stderr).toMatch(/each step takes 0\.2/)
    expect(stdout).toMatch(/as written .* 2\dm \(\d\dm-\d\dm\) each/)
    expect(stdout).toContain('runtime by measured')
  }, 90_000)
})
