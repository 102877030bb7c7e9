import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from '../folders.ts'
import { describeKubernetes } from '../servers/state.ts'
import { keys, openProgram, runProgram, toTop } from './program.ts'

const folder = makeFolder()
/** Names of this run, so that runs beside each other do not meet. */
const run = randomBytes(4).toString('hex')

const configuration = `clusters:
  - name: kube-up
    scheduler: kubernetes
    node-pools:
      - name: a100
        gpu: a100-80gb
        gpus-per-node: 8
        nodes: 2
        rate: 2.00
        node-selector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      - name: t4
        gpu: t4
        gpus-per-node: 8
        nodes: 2
        rate: 0.50
        node-selector: {nvidia.com/gpu.product: Tesla-T4}
`
writeFileSync(join(folder, 'gpufare.yaml'), configuration)

describeKubernetes('gpufare submit', environment => {
  const kubectl = (...words: string[]) => execFileSync('kubectl', words, { env: environment, encoding: 'utf8' })
  const exists = (name: string) =>
    spawnSync('kubectl', ['get', 'job', '-n', 'team-a', named(name)], { env: environment }).status === 0

  afterAll(() => {
    for (const namespace of ['team-a', 'team-b']) {
      kubectl('delete', 'jobs,services', '-n', namespace, '-l', `gpufare-test=${run}`, '--wait=false')
    }
  })

  function write(file: string, ...documents: readonly string[]): string {
    writeFileSync(join(folder, file), documents.join('---\n'))
    return file
  }

  const submit = (...words: readonly string[]) => runProgram(['submit', ...words], { environment, folder })

  test('a Job is created from the file, runs and completes', async () => {
    const { exitCode, stdout, stderr } = await submit('--yes', write('runs.yaml', jobText('runs', 2)))
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `job.batch/${named('runs')} created\n` })
    expect(stderr).toContain('A100-80GB')
    expect(stderr).not.toContain('was created, but')
    kubectl('wait', '--for=condition=Complete', '-n', 'team-a', `job/${named('runs')}`, '--timeout=20s')
    const limits = '-o=jsonpath={.spec.template.spec.containers[0].resources.limits}'
    expect(JSON.parse(kubectl('get', 'job', '-n', 'team-a', named('runs'), limits))).toEqual({ 'nvidia.com/gpu': '2' })
  })

  test('a name that the server makes up is kubectl’s to tell, and options go along', async () => {
    const text = jobText('made-up-', 1).replace('name: gpufare', 'generateName: gpufare')
    const words = ['--yes', write('made-up.yaml', text), '--', '--context', 'dev', '-o', 'name']
    const { exitCode, stdout } = await submit(...words)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`^job\\.batch/${named('made-up-')}\\w{5}\\n$`))
  })

  test('a Job over quota is created by kubectl, and gpufare says that it will not run', async () => {
    const { exitCode, stdout, stderr } = await submit('--yes', write('quota.yaml', jobText('quota', 17)))
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `job.batch/${named('quota')} created\n` })
    expect(stderr).toMatch(
      new RegExp(`gpufare: job.batch/${named('quota')} was created, but gets no pods: .*exceeded quota`),
    )
  })

  test('a Job that fits no node is created by kubectl, and gpufare says so', async () => {
    // where no quota is, so that it waits and is not refused
    const file = write('nine.yaml', jobText('nine', 9).replace('team-a', 'team-b'))
    const { exitCode, stderr } = await submit('--yes', file)
    expect(exitCode).toBe(0)
    expect(stderr).toContain('was created, but no node can take its pods now: 0/12 nodes are available')
  })

  test('a file with one bad document creates none of the others', async () => {
    const bad = jobText('second', 1).replace('restartPolicy: Never', 'restartPolicy: Always')
    const file = write('bad.yaml', jobText('first', 1), bad, jobText('third', 1))
    const { exitCode, stdout, stderr } = await submit('--yes', file)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('nothing was created')
    expect(stderr).toContain('spec.template.spec.restartPolicy')
    expect(['first', 'second', 'third'].filter(exists)).toEqual([])
  })

  test('of two files none is created where one would be refused', async () => {
    const good = write('good.yaml', jobText('good', 1))
    const lost = write('lost.yaml', jobText('lost', 1).replace('team-a', 'nowhere'))
    const { exitCode, stdout, stderr } = await submit('--yes', good, lost)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('namespaces "nowhere" not found')
    expect(exists('good')).toBe(false)
  })

  test('the service beside a Job is created with it', async () => {
    const service = `apiVersion: v1\nkind: Service\nmetadata: {name: ${named('beside')}, namespace: team-a, labels: {gpufare-test: "${run}"}}\nspec: {clusterIP: None, ports: [{port: 29500}]}\n`
    const { exitCode, stdout } = await submit('--yes', write('beside.yaml', service, jobText('beside', 1)))
    expect(exitCode).toBe(0)
    expect(stdout).toBe(`service/${named('beside')} created\njob.batch/${named('beside')} created\n`)
  })

  test('a file may bring its own namespace', async () => {
    const namespace = `gpufare-${run}`
    const own = `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`
    const file = write('own.yaml', own, jobText('own', 1).replace('team-a', namespace))
    const { exitCode, stdout, stderr } = await submit('--yes', file)
    kubectl('delete', 'namespace', namespace, '--wait=false')
    expect(exitCode).toBe(0)
    expect(stdout).toBe(`namespace/${namespace} created\njob.batch/${named('own')} created\n`)
    expect(stderr).toContain(`what goes into ${namespace} cannot be checked beforehand`)
  })

  test('a cluster that stays silent holds nobody for long', async () => {
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const file = write('silent.yaml', jobText('silent', 1))
    const words = ['--yes', file, '--', '--server', `https://127.0.0.1:${port}`, '--insecure-skip-tls-verify']
    const { exitCode, stderr } = await submit(...words)
    silent.close()
    expect(exitCode).toBe(1)
    expect(stderr).toContain('does not answer within 8 s; nothing was created')
  })

  test('a cluster that is not there is no fault of the manifest', async () => {
    const file = write('alone.yaml', jobText('alone', 1))
    const { exitCode, stderr } = await submit('--yes', file, '--', '--server', 'https://127.0.0.1:1')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('cannot be reached, so the manifest was not judged and nothing was created')
    expect(stderr).toContain('connection refused')
  })

  test('at a terminal it asks, names context and namespace, and a yes creates', async () => {
    const terminal = openProgram(['submit', write('asked.yaml', jobText('asked', 2))], { environment, folder })
    await terminal.waitFor('Submit to Kubernetes (context admin, namespace team-a)?')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor(`job.batch/${named('asked')} created`)
    expect(await terminal.ended).toBe(0)
  })

  test('another GPU type is shown as a change first, and is created so', async () => {
    const terminal = openProgram(['submit', write('other.yaml', jobText('other', 2))], { environment, folder })
    await terminal.waitFor('on 2x T4 instead')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.down, keys.enter)
    await terminal.waitFor('Tesla-T4')
    await terminal.waitFor('no, back to the question')
    await terminal.type(keys.up, keys.enter)
    await terminal.waitFor(`job.batch/${named('other')} created`)
    expect(await terminal.ended).toBe(0)
    const selector = '-o=jsonpath={.spec.template.spec.nodeSelector}'
    expect(kubectl('get', 'job', '-n', 'team-a', named('other'), selector)).toContain('Tesla-T4')
  })

  test('Ctrl-C while the cluster is asked creates nothing: 130', async () => {
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const words = ['--', '--server', `https://127.0.0.1:${port}`, '--insecure-skip-tls-verify']
    const file = write('interrupted.yaml', jobText('interrupted', 1))
    const terminal = openProgram(['submit', '--yes', file, ...words], { environment, folder })
    await terminal.waitFor('asking Kubernetes')
    await terminal.type(keys.controlC)
    expect(await terminal.ended).toBe(130)
    silent.close()
    expect(terminal.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw().lastIndexOf('\u001b[?25l'))
  })

  test('a file that changes while the question stands creates nothing', async () => {
    const file = write('changes.yaml', jobText('changes', 1))
    const terminal = openProgram(['submit', file], { environment, folder })
    await terminal.waitFor('stop')
    write('changes.yaml', jobText('changes', 8))
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('has changed since it was quoted; nothing was submitted')
    await terminal.waitFor('stop')
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(1)
    expect(exists('changes')).toBe(false)
  })
})

function named(name: string): string {
  return `gpufare-${run}-${name}`
}

function jobText(name: string, gpuCount: number): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: ${named(name)}, namespace: team-a, labels: {gpufare-test: "${run}"}}
spec:
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: Never
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
      containers:
        - name: train
          image: busybox
          command: ["true"]
          resources:
            limits:
              nvidia.com/gpu: ${gpuCount}
`
}
