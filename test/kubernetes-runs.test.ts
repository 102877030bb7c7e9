import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readObjects } from '../src/accounting/kubernetes.ts'
import { runsOfKubernetes } from '../src/kubernetes-runs.ts'
import { readJobs } from '../src/manifests/index.ts'
import { makeFolder } from './folders.ts'
import { describeKubernetes } from './servers/state.ts'

const metadata = { name: 'run-x7k2p', namespace: 'ml', uid: 'u1', creationTimestamp: '2026-05-01T10:00:00Z' }

async function read(...items: readonly object[]) {
  return (await readObjects(JSON.stringify({ items }))).map(({ run }) => run)
}

describe('what Kubernetes keeps of finished runs', () => {
  test.each([
    [
      'PyTorchJob',
      {
        conditions: [
          { type: 'Running', status: 'False' },
          { type: 'Succeeded', status: 'True' },
        ],
        startTime: '2026-05-01T10:10:00Z',
        completionTime: '2026-05-01T12:10:00Z',
      },
      'completed',
      7_200,
    ],
    [
      'JobSet',
      { conditions: [{ type: 'Completed', status: 'True', lastTransitionTime: '2026-05-01T11:00:00Z' }] },
      'completed',
      3_600,
    ],
    [
      'RayJob',
      { jobStatus: 'SUCCEEDED', startTime: '2026-05-01T10:10:00Z', endTime: '2026-05-01T10:40:00Z' },
      'completed',
      1_800,
    ],
    [
      'Workflow',
      { phase: 'Error', startedAt: '2026-05-01T10:00:30Z', finishedAt: '2026-05-01T10:01:00Z' },
      'failed',
      30,
    ],
    [
      'Job',
      {
        conditions: [
          {
            type: 'Failed',
            status: 'True',
            reason: 'DeadlineExceeded',
            lastTransitionTime: '2026-05-01T11:00:00Z',
          },
        ],
        startTime: '2026-05-01T10:00:00Z',
      },
      'timeout',
      3_600,
    ],
  ])('of a %s', async (kind, status, state, elapsedSeconds) => {
    expect(await read({ kind, metadata, status })).toMatchObject([{ state, elapsedSeconds }])
  })

  test('nothing of one that runs, waits or is not understood', async () => {
    const running = { phase: 'Running', startedAt: '2026-05-01T10:00:30Z' }
    expect(await read({ metadata, status: running }, { metadata }, { metadata: {} }, {})).toEqual([])
  })

  test('the name is that of the CronJob, or what random letters stand behind', async () => {
    const status = { phase: 'Succeeded', startedAt: '2026-05-01T10:00:00Z', finishedAt: '2026-05-01T11:00:00Z' }
    const owned = { ...metadata, ownerReferences: [{ kind: 'CronJob', name: 'nightly' }] }
    const runs = await read({ metadata: { ...metadata, generateName: 'run-' }, status }, { metadata: owned, status })
    expect(runs.map(({ name }) => name)).toEqual(['run-', 'nightly'])
  })
})

describeKubernetes('finished Jobs', environment => {
  const folder = makeFolder()
  const kubectl = (...words: readonly string[]) =>
    execFileSync('kubectl', words, { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const namespace = `gpufare-runs-${process.pid}`
  afterAll(() => {
    kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  const manifest = `apiVersion: batch/v1
kind: Job
metadata: {generateName: train-, namespace: ${namespace}}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      containers:
        - {name: main, image: busybox, resources: {limits: {nvidia.com/gpu: 4}}}
`

  test('are the earlier runs of their manifest', async () => {
    kubectl('create', 'namespace', namespace)
    const path = join(folder, 'job.yaml')
    writeFileSync(path, manifest)
    // What is managed by somebody else the cluster's own controller leaves as it is patched.
    const finished = join(folder, 'finished.yaml')
    writeFileSync(finished, manifest.replace('spec:\n', 'spec:\n  managedBy: example.org/nobody\n'))
    for (const hours of [2, 3]) {
      const name = kubectl('create', '-f', finished, '--output=name').trim()
      const begin = '2026-05-01T10:00:00Z'
      const end = `2026-05-01T1${hours}:00:00Z`
      const condition = (type: string) => ({ type, status: 'True', lastProbeTime: end, lastTransitionTime: end })
      const status = {
        startTime: begin,
        completionTime: end,
        succeeded: 1,
        conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
      }
      kubectl(
        'patch',
        name,
        `--namespace=${namespace}`,
        '--subresource=status',
        '--type=merge',
        `--patch=${JSON.stringify({ status })}`,
      )
    }
    kubectl('create', '-f', path) // still there, and not finished
    const text = manifest
    const bytes = new TextEncoder().encode(text)
    const jobs = readJobs({
      path,
      name: path,
      text,
      bytes,
      environment: {},
      schedulerArguments: [],
      scriptArguments: [],
    })
    const runs = await runsOfKubernetes(jobs, environment)
    expect(runs.map(run => run.elapsedSeconds)).toEqual([2 * 3_600, 3 * 3_600])
    expect(runs).toMatchObject([
      { name: 'train-', gpus: 4, gpuType: 'NVIDIA-A100-SXM4-80GB', state: 'completed' },
      { name: 'train-' },
    ])
  })
})
