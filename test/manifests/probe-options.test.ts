import { expect, test } from 'vitest'
import { manifestOf } from '../../src/manifest.ts'
import { probeOptions } from '../../src/manifests/slurm/probe-options.ts'
import { readBatchJob } from '../../src/manifests/slurm/read-job.ts'

const script = (...directives: readonly string[]) => ['#!/bin/bash', ...directives, 'python train.py', ''].join('\n')

test.each([
  ['a job', script('#SBATCH --time=2-00:00:00'), []],
  ['the first task of an array', script('#SBATCH --array=5-9%2 --time=2-00:00:00'), ['--array=5']],
])('a probe of %s ends after its own limit, whatever the script says', (_, text, more) => {
  const manifest = manifestOf('train.sbatch', new TextEncoder().encode(text))
  const options = probeOptions(manifest, 600, '/tmp/p-%j.out')
  const own = ['--parsable', '--no-requeue', '--time=00:10:00', '--output=/tmp/p-%j.out', '--error=/tmp/p-%j.out']
  expect(options).toEqual([...own, ...more])
  const [role] = readBatchJob({ ...manifest, schedulerArguments: options }).roles
  expect(role).toMatchObject({ tasks: 1, timeLimitSeconds: { value: 600 } })
})
