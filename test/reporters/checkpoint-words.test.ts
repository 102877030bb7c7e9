import { expect, test } from 'vitest'
import { describeCheckpoints } from '../../src/reporters/checkpoint-words.ts'
import { sourced } from '../../src/sourced.ts'
import type { Checkpointing, Workload } from '../../src/workload.ts'
import { fareWith, jobOf } from '../builders.ts'

const said = { kind: 'manifest', place: { file: 'job.sbatch', line: 3 } } as const
const job = jobOf()
const restarted = jobOf({ warnings: [{ code: 'retries-multiply-cost', text: 'it is started again' }] })

function line(checkpoint: Checkpointing | undefined, of = job, purpose: Workload['purpose'] = 'train') {
  const workload: Workload = {
    purpose,
    place: { file: 'job.sbatch', line: 2 },
    role: 'job',
    repetitions: 1,
    conditional: false,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  }
  return describeCheckpoints(workload, fareWith([], { job: of, workloads: [workload] }))
}

const steps: Checkpointing = { intervalSteps: sourced(500, said), destination: sourced('/tmp/out', said) }

test('what is said, and whether it goes with the node', () => {
  expect(line(steps)).toBe('checkpoints: every 500 steps, to /tmp/out, lost with the node')
  const more: Checkpointing = {
    intervalEpochs: sourced(1, { kind: 'assumed', reason: 'a habit' }),
    content: sourced('weights', said),
    resumes: sourced(true, said),
  }
  expect(line(more)).toBe('checkpoints: every 1 epoch by default, weights alone, a restart goes on from the last')
})

test('what is not said matters where the job may be started again', () => {
  expect(line(undefined)).toBeUndefined()
  expect(line(undefined, restarted)).toBe('checkpoints: nothing says that any are saved')
  expect(line({ intervalSeconds: sourced(1800, said) }, restarted)).toBe(
    'checkpoints: every 30m, where to is not said, nothing says that a restart goes on from them',
  )
})

test('a run that trains nothing keeps nothing', () => {
  expect(line(steps, restarted, 'serve')).toBeUndefined()
})
