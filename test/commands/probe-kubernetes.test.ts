import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ProbeOptions, probe } from '../../src/commands/probe.ts'
import { createProbe } from '../../src/probing/kubernetes.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { describeKubernetes } from '../servers/state.ts'

const start = process.cwd()
beforeEach(() => process.chdir(makeFolder()))
afterEach(() => process.chdir(start))

describeKubernetes('a probe of a Job', environment => {
  const namespace = `gpufare-probe-${process.pid}`
  const kubectl = (...words: readonly string[]) =>
    execFileSync('kubectl', words, { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const get = (...words: readonly string[]) => kubectl('get', 'jobs', `--namespace=${namespace}`, ...words)
  const names = () => get('--output=jsonpath={.items[*].metadata.name}').split(' ')
  beforeAll(() => {
    kubectl('create', 'namespace', namespace)
  })
  afterAll(() => {
    kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  /** The pods run for as long as they are let: the kubelet only pretends to run them. */
  function writeJob(): string {
    const text = `apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ${namespace}}
spec:
  template:
    metadata: {annotations: {fake-kubelet/run-seconds: forever}}
    spec:
      restartPolicy: Never
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      containers: [{name: a, image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 1}}}]
`
    writeFileSync('job.yaml', text)
    return 'job.yaml'
  }

  async function run(more: Partial<ProbeOptions> = {}, surroundings: NodeJS.ProcessEnv = {}) {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const terminal = describeTerminal(streams, { ...environment, ...surroundings })
    const passedOn = { schedulerArguments: [], scriptArguments: [] }
    const options = { for: 120, yes: true as const, color: false, ...more }
    const exitCode = await probe(writeJob(), options, passedOn, terminal)
    return { exitCode, stdout: String(streams.stdout.read() ?? ''), stderr: String(streams.stderr.read() ?? '') }
  }

  /** A fake kubectl: it tells a log that no kubelet here could tell, and passes everything else on to the real one. */
  function fakeKubectl(log: string): NodeJS.ProcessEnv {
    const folder = makeFolder()
    const real = execFileSync('sh', ['-c', 'command -v kubectl'], { env: environment, encoding: 'utf8' }).trim()
    const file = join(folder, 'kubectl')
    const text = `#!/bin/sh\nif [ "$1" = logs ]; then\n  echo "$*" >> ${folder}/asked\n  ${log}\nelse\n  exec ${real} "$@"\nfi\n`
    writeFileSync(file, text)
    chmodSync(file, 0o755)
    return { PATH: [folder, environment['PATH']].join(delimiter), asked: join(folder, 'asked') }
  }

  test('runs under a name of its own until its rate is steady, is deleted alone, and the whole Job is quoted by it', async () => {
    kubectl('create', '-f', writeJob())
    // Its connection breaks once.
    const loop =
      'i=$(cat steps 2>/dev/null || echo 0); while [ $i -lt 6000 ]; do sleep 0.2; i=$((i+1)); echo "$(date "+%F %T") step $i/6000 loss 2 data_time 0.05 step_time 0.2"; echo $i > steps; [ $i = 4 ] && exit 1; done'
    const fake = fakeKubectl(loop)
    const { exitCode, stdout, stderr } = await run({}, fake)
    expect(exitCode).toBe(0)
    const [, name = ''] = /job\.batch\/(train-probe-[0-9a-f]{6}) is the probe/.exec(stderr) ?? []
    expect(stderr).toContain(`runs the Job once more as ${name} for 2m at most, `)
    expect(stderr).toMatch(/each step takes 0\.2\d* s, 25 % of it waiting for data/)
    const asked = readFileSync(String(fake['asked']), 'utf8').split('\n')
    expect(asked[0]).toMatch(new RegExp(`^logs --follow ${name}-\\w+ --container=a --namespace=`))
    expect(asked[1]).toMatch(/ --since-time=20\S+Z --namespace=/)
    const log = readFileSync(`gpufare-probe-${name}.out`, 'utf8')
    const steps = Array.from(log.matchAll(/step (\d+)\//g), ([, step]) => Number(step))
    expect(steps.slice(0, 9)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(stdout).toMatch(/as written .* 2\dm \(\d\dm-\d\dm\)/)
    expect(stdout).toContain('runtime by measured')
    expect(names()).toEqual(['train'])
  }, 90_000)

  test('that waits or prints nothing ends by its own limits, and is kept for a while', async () => {
    const { exitCode, stderr } = await run({ for: 3 })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the probe reported no rate')
    const [, name = ''] = /job\.batch\/(train-probe-\w+) is/.exec(stderr) ?? []
    const found = JSON.parse(get(name, '--output=json'))
    expect(found.spec).toMatchObject({ activeDeadlineSeconds: 3, ttlSecondsAfterFinished: 600, backoffLimit: 0 })
    expect(found.status.conditions).toContainEqual(expect.objectContaining({ reason: 'DeadlineExceeded' }))
  }, 60_000)

  test('that somebody deletes and makes anew meanwhile is over, and the other one is left alone', async () => {
    const text = readFileSync(writeJob(), 'utf8').replace('name: train,', 'name: probe-again,')
    const manifest = { path: 'job.yaml', name: 'job.yaml', text, bytes: Buffer.from(text), environment }
    const asked = { ...manifest, schedulerArguments: [], scriptArguments: [] }
    const running = await createProbe(asked, 'a', name => `${name}.out`)
    expect(running).toMatchObject({ name: 'probe-again', log: 'probe-again.out' })
    kubectl('delete', 'job', 'probe-again', `--namespace=${namespace}`)
    execFileSync('kubectl', ['create', '-f', '-'], { env: environment, input: text })
    expect(await running.state()).toBe('over')
    await expect(running.stop()).rejects.toThrow(/job probe-again could not be deleted: .*UID in the precondition/)
    expect(names()).toContain('probe-again')
  }, 60_000)
})
