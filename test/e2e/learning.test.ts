import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepLearnt } from '../../src/learnt.ts'
import { manifestOf } from '../../src/manifest.ts'
import { readJobs } from '../../src/manifests/index.ts'
import { fingerprintOf } from '../../src/runtimes/fingerprint.ts'
import { makeFolder } from '../folders.ts'
import { runProgram } from './program.ts'

const script = '#!/bin/bash\n#SBATCH --gres=gpu:a100_80gb:8 -t 100:00:00\n#GPUFARE runtime=4h\n./work\n'

function stateWith(make: (path: string) => void) {
  const state = makeFolder()
  mkdirSync(join(state, 'gpufare'))
  make(join(state, 'gpufare/learnt.jsonl'))
  return { besides: { XDG_STATE_HOME: state, PATH: '' } }
}

function quoteIn(surroundings: ReturnType<typeof stateWith>) {
  const folder = makeFolder()
  writeFileSync(join(folder, 'train.sbatch'), script)
  return runProgram(['estimate', 'train.sbatch'], { ...surroundings, folder })
}

test('the built program corrects a quote by what was learnt of its job', async () => {
  const [job] = readJobs(manifestOf('train.sbatch', new TextEncoder().encode(script)))
  const fingerprint = (job && fingerprintOf(job, [], 'declared')) ?? ''
  const run = { fingerprint, gpus: '8x A100-80GB', name: 'train.sbatch', id: '7', at: '2026-11-30T12:00:00.000Z' }
  const runs = ['a', 'b', 'c'].map(key => ({ key, ...run, estimatedSeconds: 14_400, seconds: 28_800 }))
  const { stdout, exitCode } = await quoteIn(stateWith(path => keepLearnt(path, runs)))
  expect(stdout).toContain('3 earlier quotes of it were off: 4h00m became 8h00m (x2.00)')
  expect(exitCode).toBe(0)
})

test('what cannot be read stops no quote, and to forget it fails in one line', async () => {
  const surroundings = stateWith(path => mkdirSync(path))
  expect((await quoteIn(surroundings)).exitCode).toBe(0)
  const { stderr, exitCode } = await runProgram(['review', '--forget'], surroundings)
  expect(stderr).toMatch(/^gpufare: .*learnt\.jsonl: is a folder, a file is expected.*\n$/)
  expect(exitCode).toBe(1)
})
