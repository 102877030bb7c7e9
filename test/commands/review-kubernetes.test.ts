import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ReviewOptions, review } from '../../src/commands/review.ts'
import { submit } from '../../src/commands/submit.ts'
import { ReviewDocument } from '../../src/review/schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { describeKubernetes } from '../servers/state.ts'

const configuration = `team: vision
clusters:
  - name: kube-up
    scheduler: kubernetes
    node-pools:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 2, rate: 2, node-selector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}}
`

/** Two A100 at $2 are $4 an hour. */
const pod = `
          restartPolicy: Never
          nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
          containers: [{name: pytorch, image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 2}}}]`

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 1, 10, minutes)).toISOString().replace('.000', '')

/** The cluster's controllers leave it alone, so that its status stays as the test sets it. */
function job(name: string, more = ''): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
      managedBy: example.org/nobody
      ${more}
      template:
        spec:${pod}
`
}

function ofKubeflow(name: string): string {
  return `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec:${pod}
`
}

function jobSet(name: string): string {
  return `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
  replicatedJobs:
    - name: workers
      template:
       spec:
        template:
         spec:${pod}
`
}

function rayJob(name: string): string {
  return `apiVersion: ray.io/v1
kind: RayJob
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
  entrypoint: python train.py
  rayClusterSpec:
    headGroupSpec:
      rayStartParams: {}
      template:
        spec:${pod}
`
}

function volcano(name: string): string {
  return `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
  tasks:
    - name: worker
      replicas: 1
      template:
        spec:${pod}
`
}

function workflow(name: string): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
  entrypoint: train
  templates:
    - name: train
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      container: {image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 2}}}
`
}

function trainJob(name: string): string {
  return `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: ${name}, annotations: {gpufare.dev/runtime: 2h}}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 1, command: [./train], resourcesPerNode: {limits: {nvidia.com/gpu: 2}}}
  podTemplateOverrides:
    - targetJobs: [{name: node}]
      spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}}
`
}

const condition = (type: string, minutes: number, more: object = {}) => ({
  type,
  status: 'True',
  lastTransitionTime: at(minutes),
  reason: 'Told',
  message: '',
  ...more,
})
const deadline = { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }

interface Case {
  readonly text: string
  /** As the controller of its kind would leave it; there is none here. */
  readonly status?: object
  /** What `review` shall say: ending, minutes of runtime, minutes paid. */
  readonly ending: string
  readonly runtimeMinutes?: number
  readonly paidMinutes?: number
}

const cases: Readonly<Record<string, Case>> = {
  done: {
    text: job('done'),
    status: {
      startTime: at(0),
      completionTime: at(90),
      succeeded: 1,
      conditions: [condition('SuccessCriteriaMet', 90), condition('Complete', 90)],
    },
    ending: 'done',
    runtimeMinutes: 90,
    paidMinutes: 90,
  },
  // Two of four runs at a time; how long one took is not told.
  turns: {
    text: job('turns', 'completions: 4\n      parallelism: 2'),
    status: {
      startTime: at(0),
      completionTime: at(60),
      succeeded: 4,
      conditions: [condition('SuccessCriteriaMet', 60), condition('Complete', 60)],
    },
    ending: 'done',
    paidMinutes: 120,
  },
  failed: {
    text: job('failed'),
    status: {
      startTime: at(0),
      failed: 1,
      conditions: [
        condition('FailureTarget', 30, { reason: 'BackoffLimitExceeded' }),
        condition('Failed', 30, { reason: 'BackoffLimitExceeded' }),
      ],
    },
    ending: 'failed',
    paidMinutes: 30,
  },
  overtime: {
    text: job('overtime', 'activeDeadlineSeconds: 3600'),
    status: {
      startTime: at(0),
      failed: 1,
      conditions: [condition('FailureTarget', 60, deadline), condition('Failed', 60, deadline)],
    },
    ending: 'timed out',
    paidMinutes: 60,
  },
  runs: { text: job('runs'), status: { startTime: at(0), active: 1, ready: 1 }, ending: 'running' },
  waits: { text: job('waits'), ending: 'waiting', paidMinutes: 0 },
  pytorch: {
    text: ofKubeflow('pytorch'),
    status: {
      startTime: at(0),
      completionTime: at(45),
      conditions: [condition('Running', 0, { status: 'False' }), condition('Succeeded', 45)],
      replicaStatuses: {},
    },
    ending: 'done',
    runtimeMinutes: 45,
    paidMinutes: 45,
  },
  'pytorch-late': {
    text: ofKubeflow('pytorch-late'),
    status: {
      startTime: at(0),
      completionTime: at(20),
      conditions: [
        condition('Failed', 20, {
          reason: 'PyTorchJobFailed',
          message: 'Job pytorch-late has failed because it was active longer than specified deadline',
        }),
      ],
      replicaStatuses: {},
    },
    ending: 'timed out',
    paidMinutes: 20,
  },
  jobset: {
    text: jobSet('jobset'),
    status: {
      terminalState: 'Completed',
      restarts: 2,
      conditions: [condition('Suspended', 10, { status: 'False' }), condition('Completed', 50)],
    },
    ending: 'done',
    runtimeMinutes: 40,
    paidMinutes: 40,
  },
  ray: {
    text: rayJob('ray'),
    status: {
      jobStatus: 'SUCCEEDED',
      jobDeploymentStatus: 'Complete',
      startTime: at(0),
      endTime: at(15),
      rayClusterStatus: { desiredCPU: '0', desiredGPU: '0', desiredMemory: '0', desiredTPU: '0' },
    },
    ending: 'done',
    runtimeMinutes: 15,
    paidMinutes: 15,
  },
  'ray-late': {
    text: rayJob('ray-late'),
    status: {
      jobStatus: 'RUNNING',
      jobDeploymentStatus: 'Failed',
      reason: 'DeadlineExceeded',
      startTime: at(0),
      endTime: at(25),
      rayClusterStatus: { desiredCPU: '0', desiredGPU: '0', desiredMemory: '0', desiredTPU: '0' },
    },
    ending: 'timed out',
    paidMinutes: 25,
  },
  volcano: {
    text: volcano('volcano'),
    status: {
      state: { phase: 'Completed', lastTransitionTime: at(35) },
      retryCount: 1,
      conditions: [
        { status: 'Pending', lastTransitionTime: at(0) },
        { status: 'Running', lastTransitionTime: at(5) },
        { status: 'Completed', lastTransitionTime: at(35) },
      ],
    },
    ending: 'done',
    runtimeMinutes: 30,
    paidMinutes: 30,
  },
  argo: {
    text: workflow('argo'),
    status: { phase: 'Succeeded', startedAt: at(0), finishedAt: at(10) },
    ending: 'done',
    runtimeMinutes: 10,
    paidMinutes: 10,
  },
  'argo-stopped': {
    text: workflow('argo-stopped'),
    status: { phase: 'Failed', startedAt: at(0), finishedAt: at(10), message: "Stopped with strategy 'Terminate'" },
    ending: 'cancelled',
    paidMinutes: 10,
  },
  trainjob: {
    text: trainJob('trainjob'),
    status: { conditions: [condition('Suspended', 5, { status: 'False' }), condition('Complete', 65)] },
    ending: 'done',
    runtimeMinutes: 60,
    paidMinutes: 60,
  },
  gone: { text: job('gone'), ending: 'gone' },
}

/** What the cluster's own controllers bring to an end, with the pods of a kubelet that only pretends to run them. */
function realJob(name: string, spec: string, steering: string): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}}
spec:
  ${spec}
  template:
    metadata: {annotations: {${steering}}}
    spec:
      restartPolicy: Never
      nodeSelector: {kubernetes.io/hostname: t4-1}
      containers: [{name: a, image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 1}}}]
`
}

const others = `apiVersion: v1
kind: Pod
metadata: {name: real-pod, annotations: {fake-kubelet/run-seconds: "2"}}
spec:
  restartPolicy: Never
  containers: [{name: a, image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: real-nightly}
spec:
  schedule: "0 0 30 2 *"
  jobTemplate:
    spec:
      template:
        metadata: {annotations: {fake-kubelet/run-seconds: "2"}}
        spec:
          restartPolicy: Never
          containers: [{name: a, image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 1}}}]
`

const realJobs = [
  others,
  realJob('real-done', 'backoffLimit: 0', 'fake-kubelet/run-seconds: "3"'),
  realJob('real-retried', 'backoffLimit: 1', 'fake-kubelet/run-seconds: "2", fake-kubelet/exit-code: "1"'),
  realJob('real-late', 'activeDeadlineSeconds: 2', 'fake-kubelet/run-seconds: forever'),
]

describeKubernetes('gpufare review', kubernetesEnvironment => {
  const folder = makeFolder()
  const state = join(folder, 'state')
  // A machine without Slurm.
  const environment = { ...kubernetesEnvironment, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: state }
  const namespace = `gpufare-review-${process.pid}`
  const kubectl = (...words: readonly string[]) =>
    execFileSync('kubectl', words, { env: kubernetesEnvironment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

  async function withTerminal(
    run: (terminal: ReturnType<typeof describeTerminal>) => Promise<number>,
    more: NodeJS.ProcessEnv = {},
  ) {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const exitCode = await run(describeTerminal(streams, { ...environment, ...more }))
    streams.stdout.end()
    streams.stderr.end()
    return { exitCode, stdout: await text(streams.stdout), stderr: await text(streams.stderr) }
  }

  async function reviewed(more: Partial<ReviewOptions> = {}, surroundings: NodeJS.ProcessEnv = {}) {
    const options: ReviewOptions = { format: 'json', since: 60, by: 'team', color: false, ...more }
    return withTerminal(terminal => review(options, terminal, folder), surroundings)
  }

  async function jobs(more: Partial<ReviewOptions> = {}) {
    const { stdout } = await reviewed(more)
    return new Map(ReviewDocument.parse(JSON.parse(stdout)).jobs.map(each => [each.name, each]))
  }

  beforeAll(async () => {
    kubectl('create', 'namespace', namespace)
    writeFileSync(join(folder, 'gpufare.yaml'), configuration)
    const path = join(folder, 'jobs.yaml')
    const texts = [...Object.values(cases).map(each => each.text), ...realJobs]
    writeFileSync(path, texts.join('---\n'))
    const passedOn = { schedulerArguments: ['--namespace', namespace], scriptArguments: [] }
    const answer = await withTerminal(terminal => submit([path], { color: false, yes: true }, passedOn, terminal))
    expect(answer.stdout.match(/ created$/gm)).toHaveLength(texts.length + 1)
    for (const [name, { text: manifest, status }] of Object.entries(cases)) {
      const [, kind = ''] = /^kind: (\w+)/m.exec(manifest) ?? []
      const resource = manifest.includes('volcano') ? 'jobs.batch.volcano.sh' : kind === 'Job' ? 'jobs.batch' : kind
      // Argo's status is no subresource.
      const part = kind === 'Workflow' ? [] : ['--subresource=status']
      const words = [
        resource,
        name,
        `--namespace=${namespace}`,
        '--type=merge',
        `--patch=${JSON.stringify({ status })}`,
      ]
      if (status !== undefined) kubectl('patch', ...words, ...part)
    }
    kubectl('delete', 'job', 'gone', `--namespace=${namespace}`)
    for (const name of ['real-first', 'real-second'])
      kubectl('create', 'job', name, '--from=cronjob/real-nightly', `--namespace=${namespace}`)
    const wait = (name: string, condition: string) =>
      kubectl('wait', `job/${name}`, `--for=condition=${condition}`, `--namespace=${namespace}`, '--timeout=60s')
    wait('real-done', 'Complete')
    wait('real-late', 'Failed')
    wait('real-first', 'Complete')
    wait('real-second', 'Complete')
    wait('real-retried', 'Failed')
  }, 120_000)
  afterAll(() => {
    kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  test('each way to end is told of each kind, with what it took', async () => {
    const found = await jobs()
    expect([...found.keys()].filter(name => !name.startsWith('real-')).sort()).toEqual(Object.keys(cases).sort())
    for (const [name, { ending, runtimeMinutes, paidMinutes }] of Object.entries(cases)) {
      const told = found.get(name)
      expect({ name, ending: told?.ending, runtimeSeconds: told?.runtimeSeconds }).toEqual({
        name,
        ending,
        runtimeSeconds: runtimeMinutes && runtimeMinutes * 60,
      })
      if (paidMinutes !== undefined) expect(told?.usd, name).toBeCloseTo((paidMinutes / 60) * 4, 6)
    }
    expect(found.get('gone')).toMatchObject({ gpuHours: 0 })
    expect(found.get('gone')?.usd).toBeUndefined()
    expect(found.get('done')).toMatchObject({ team: 'vision', gpuHours: 3, quoted: { basis: 'declared' } })
    expect(found.get('jobset')?.restarts).toBe(2)
  })

  test('pods tell how long containers ran, on what, and what was begun again', async () => {
    const found = await jobs()
    const done = found.get('real-done')
    expect(done?.ending).toBe('done')
    expect(done?.runtimeSeconds).toBeGreaterThanOrEqual(3)
    expect(done?.runtimeSeconds).toBeLessThan(10)
    expect(done?.gpuHours).toBeCloseTo((done?.runtimeSeconds ?? 0) / 3_600, 9)
    // The second pod came ten seconds after the first, which are paid to nobody.
    const retried = found.get('real-retried')
    expect(retried).toMatchObject({ ending: 'failed', restarts: 1 })
    expect((retried?.gpuHours ?? 0) * 3_600).toBeGreaterThanOrEqual(4)
    expect((retried?.gpuHours ?? 0) * 3_600).toBeLessThan(10)
    expect(found.get('real-late')?.ending).toBe('timed out')
    const seconds = (name: string) => (found.get(name)?.gpuHours ?? 0) * 3_600
    expect(found.get('real-pod')?.ending).toBe('done')
    expect(seconds('real-pod')).toBeGreaterThanOrEqual(2)
    expect(seconds('real-pod')).toBeLessThan(8)
    // Both runs of the CronJob are tasks of it.
    expect(found.get('real-nightly')).toMatchObject({ ending: 'done', endings: { done: 2 } })
    expect(seconds('real-nightly')).toBeGreaterThanOrEqual(4)
    expect(seconds('real-nightly')).toBeLessThan(16)
    const { stdout } = await reviewed()
    const types = ReviewDocument.parse(JSON.parse(stdout)).baselines.map(({ gpuType }) => gpuType)
    expect(types).toContain('Tesla-T4')
  })

  test('the table calls jobs as kubectl does', async () => {
    const { stdout } = await reviewed({ format: 'table' })
    expect(stdout).toMatch(/^job\.batch\/done +done +done +2h00m +1h30m +-25 % /m)
    expect(stdout).toMatch(/^jobset\.jobset\.x-k8s\.io\/jobset +jobset +done, begun again 2 times /m)
    expect(stdout).toContain('1 job is gone from the cluster, and what was taken with it')
    expect(stdout).not.toContain('Slurm')
  })

  test('a cluster that does not answer is a line, and what is known without it is shown', async () => {
    const nowhere = join(folder, 'nowhere')
    const text = `apiVersion: v1
kind: Config
current-context: admin
contexts: [{name: admin, context: {cluster: a, user: b}}]
clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: b, user: {token: c}}]
`
    writeFileSync(nowhere, text)
    const { exitCode, stdout, stderr } = await reviewed({}, { KUBECONFIG: nowhere })
    expect(exitCode).toBe(0)
    expect(
      stderr.match(/^gpufare: what jobs of admin took is not known: The connection .* was refused/gm),
    ).toHaveLength(1)
    const { jobs: known } = ReviewDocument.parse(JSON.parse(stdout))
    expect(known.find(({ name }) => name === 'runs')).toMatchObject({ ending: 'unknown', gpuHours: 0 })
    // An earlier review has seen its end.
    expect(known.find(({ name }) => name === 'done')).toMatchObject({ ending: 'done', gpuHours: 3 })
    expect(stderr).not.toContain('Slurm')
  })

  test('what may not be seen is a line, and nothing is called gone for it', async () => {
    const { contexts, ...config } = JSON.parse(kubectl('config', 'view', '--raw', '--output=json'))
    // As `admin` in name, so that the records are its, with the rights of somebody who may see another namespace.
    const others = contexts.map((each: { name: string; context: object }) =>
      each.name === 'admin' ? { ...each, context: { ...each.context, user: 'dev' } } : each,
    )
    const file = join(folder, 'limited')
    writeFileSync(file, JSON.stringify({ ...config, contexts: others }))
    const { stdout, stderr } = await reviewed({}, { KUBECONFIG: file })
    expect(stderr).toMatch(/^gpufare: not every job of admin can be seen: .* forbidden: User "dev" cannot list/m)
    const { jobs: known } = ReviewDocument.parse(JSON.parse(stdout))
    expect(known.find(({ name }) => name === 'gone')?.ending).toBe('unknown')
  })

  test('what an earlier review saw end is told after the cluster has deleted it', async () => {
    const before = (await jobs()).get('ray')
    kubectl('delete', 'rayjob', 'ray', `--namespace=${namespace}`)
    const after = await jobs()
    expect(after.get('ray')).toEqual(before)
    expect(after.get('gone')?.ending).toBe('gone')
  })

  // The last test: it takes the ledger away.
  test('without the ledger the annotations tell the same of all that is there', async () => {
    const before = await jobs()
    rmSync(state, { recursive: true })
    const { stdout } = await reviewed({ allUsers: true })
    const own = ReviewDocument.parse(JSON.parse(stdout)).jobs.filter(({ team }) => team === namespace)
    const after = new Map(own.map(each => [each.name, each]))
    // Neither of the two is there any more.
    before.delete('gone')
    before.delete('ray')
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
    for (const [name, each] of after) {
      const same = before.get(name)
      expect(each).toMatchObject({ ending: same?.ending, restarts: same?.restarts, id: same?.id })
      if (each.ending !== 'running') expect(each.usd).toBeCloseTo(same?.usd ?? Number.NaN, 3)
    }
  })
})
