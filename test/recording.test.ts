import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { submit } from '../src/commands/submit.ts'
import { readLedger } from '../src/ledger.ts'
import type { Manifest } from '../src/manifest.ts'
import { schedulerFor } from '../src/schedulers/index.ts'
import { readStamp } from '../src/stamp.ts'
import { describeTerminal } from '../src/terminal.ts'
import { makeFolder } from './folders.ts'
import { describeKubernetes } from './servers/state.ts'

function manifestOf(script: string, more: Partial<Manifest> = {}): Manifest {
  return {
    path: 'a.sbatch',
    name: 'a.sbatch',
    text: script,
    bytes: Buffer.from(script),
    schedulerArguments: [],
    scriptArguments: [],
    environment: {},
    ...more,
  }
}

test('sbatch is given the stamp before the options typed', () => {
  const stamped = schedulerFor('slurm').withStamp?.(manifestOf('#!/bin/bash\n', { schedulerArguments: ['-N2'] }), 's')
  expect(stamped?.schedulerArguments).toEqual(['--comment=s', '-N2'])
})

test.each([
  ['a directive', manifestOf('#!/bin/bash\n#SBATCH --comment="ticket 7"\n')],
  ['an option', manifestOf('#!/bin/bash\n', { schedulerArguments: ['--comment', 'mine'] })],
  ['a shortened option', manifestOf('#!/bin/bash\n', { schedulerArguments: ['--comm=mine'] })],
  ['a variable', manifestOf('#!/bin/bash\n', { environment: { SBATCH_COMMENT: 'mine' } })],
])('a comment of the user’s own stays: %s', (_, manifest) => {
  expect(schedulerFor('slurm').withStamp?.(manifest, 's')).toBeUndefined()
})

describeKubernetes('a created job', environment => {
  test.each([[], ['-o', 'name'], ['-o', 'yaml'], ['-o', 'json']])(
    'is found by its uid and annotated: %s %s',
    async (...words) => {
      const folder = makeFolder()
      const path = join(folder, 'job.yaml')
      writeFileSync(
        path,
        `apiVersion: batch/v1
kind: Job
metadata: {generateName: recorded-, annotations: {gpufare.dev/runtime: 1h}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: busybox, command: [train], resources: {limits: {nvidia.com/gpu: 2}}}]
`,
      )
      const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
      const own = { ...environment, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder }
      const options = { yes: true, quiet: true, color: false } satisfies {
        readonly yes: true
        readonly quiet: true
        readonly color: boolean
      }
      const passedOn = { schedulerArguments: words, scriptArguments: [] }
      expect(await submit([path], options, passedOn, describeTerminal(streams, own))).toBe(0)
      streams.stderr.end()
      const { records } = await readLedger(join(folder, 'gpufare/ledger.jsonl'))
      expect(records, await text(streams.stderr)).toHaveLength(1)
      const [record] = records
      const kubectl = (...more: string[]) => execFileSync('kubectl', more, { env: environment, encoding: 'utf8' })
      const name = record?.reference?.split('/')[1] ?? ''
      try {
        const job = JSON.parse(kubectl('get', 'job', name, '-o', 'json'))
        expect(record).toMatchObject({ id: job.metadata.uid, namespace: 'default', gpus: 2 })
        expect(readStamp(job.metadata.annotations['gpufare.dev/quote'])?.key).toBe(record?.key)
      } finally {
        kubectl('delete', 'job', name, '--wait=false')
      }
    },
  )
})
