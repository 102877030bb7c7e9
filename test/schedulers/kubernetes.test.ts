import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Job } from '../../src/job.ts'
import type { Manifest } from '../../src/manifest.ts'
import { askProgram } from '../../src/programs.ts'
import { schedulerFor } from '../../src/schedulers/index.ts'
import { makeFolder } from '../folders.ts'
import { describeKubernetes } from '../servers/state.ts'

const kubernetes = schedulerFor('kubernetes')
const folder = makeFolder()
/** Names of this run, so that runs beside each other do not meet. */
const run = randomBytes(4).toString('hex')

describeKubernetes('before and after the hand-over', environment => {
  afterAll(async () => {
    for (const namespace of ['team-a', 'team-b']) {
      const words = ['delete', 'jobs,pods', '-n', namespace, '-l', `gpufare-test=${run}`, '--wait=false']
      await askProgram('kubectl', words, { environment, timeoutMilliseconds: 20_000 })
    }
  })

  function manifestOf(text: string, schedulerArguments: readonly string[] = [], own = environment): Manifest {
    const path = join(folder, `${randomBytes(4).toString('hex')}.yaml`)
    writeFileSync(path, text)
    const bytes = Buffer.from(text)
    return { path, name: path, bytes, text, schedulerArguments, scriptArguments: [], environment: own }
  }

  /** Creates it and looks after it, as `forward` does. */
  async function create(text: string, jobs: readonly Job[], schedulerArguments: readonly string[] = []) {
    const manifest = manifestOf(text, schedulerArguments)
    const { program, arguments: words } = kubernetes.submission(manifest)
    const answer = await askProgram(program, words, { environment, timeoutMilliseconds: 20_000 })
    return { answer, remarks: await kubernetes.lookAfter?.(manifest, jobs, answer.stdout) }
  }

  describe('the rehearsal', () => {
    test('lets a good manifest pass and creates nothing', async () => {
      expect(await kubernetes.rehearse?.(manifestOf(jobText('dry', 1)))).toEqual([])
      const words = ['get', 'job', '-n', 'team-a', named('dry')]
      const answer = await askProgram('kubectl', words, { environment, timeoutMilliseconds: 20_000 })
      expect(answer.stderr).toContain('NotFound')
    })

    test('refuses the whole file for one bad document, in kubectl’s own words', async () => {
      const bad = jobText('bad', 1).replace('containers:', 'gpus: 8\n      containers:')
      const manifest = manifestOf([jobText('one', 1), bad, jobText('three', 1)].join('---\n'))
      await expect(kubernetes.rehearse?.(manifest)).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringMatching(/nothing was created.*unknown field "spec.template.spec.gpus"/s),
      })
    })

    test('says that a pod over quota would be refused', async () => {
      const manifest = manifestOf(podText('pod', 17))
      await expect(kubernetes.rehearse?.(manifest)).rejects.toThrow('exceeded quota')
    })

    test('takes a file that brings its own namespace, and says what it could not check', async () => {
      const namespace = `gpufare-${run}`
      const own = jobText('own', 1).replace('team-a', namespace)
      const text = `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n---\n${own}`
      expect(await kubernetes.rehearse?.(manifestOf(text))).toEqual([
        expect.stringContaining(`what goes into ${namespace} cannot be checked beforehand`),
      ])
    })

    test('refuses what goes into a namespace that nobody brings', async () => {
      const manifest = manifestOf(jobText('lost', 1).replace('team-a', 'nowhere'))
      await expect(kubernetes.rehearse?.(manifest)).rejects.toThrow('namespaces "nowhere" not found')
    })

    test('refuses what the user may not create', async () => {
      const text = jobText('forbidden', 1).replace('team-a', 'team-b')
      await expect(kubernetes.rehearse?.(manifestOf(text, ['--context', 'dev']))).rejects.toThrow('Forbidden')
    })

    test('reads standard input when the manifest came from there', async () => {
      const manifest = { ...manifestOf(jobText('piped', 1)), path: '-' }
      expect(await kubernetes.rehearse?.(manifest)).toEqual([])
    })
  })

  describe('a cluster that is not there', () => {
    const kubeconfig = (port: number) => {
      const path = join(folder, `kubeconfig-${port}`)
      const cluster = `{name: c, cluster: {server: "https://127.0.0.1:${port}", insecure-skip-tls-verify: true}}`
      const context = '{name: far-away, context: {cluster: c, user: u}}'
      writeFileSync(
        path,
        `apiVersion: v1\nkind: Config\ncurrent-context: far-away\nclusters: [${cluster}]\nusers: [{name: u, user: {token: none}}]\ncontexts: [${context}]\n`,
      )
      return { ...environment, KUBECONFIG: path }
    }

    test('is told apart from a bad manifest', async () => {
      const manifest = manifestOf(jobText('alone', 1), [], kubeconfig(1))
      await expect(kubernetes.rehearse?.(manifest)).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringMatching(
          /^the cluster at https:\/\/127\.0\.0\.1:1 \(context far-away\) cannot be reached, .*connection refused/,
        ),
      })
    })

    test('with a kubeconfig that names none', async () => {
      const own = { ...environment, KUBECONFIG: join(folder, 'no-such-file') }
      await expect(kubernetes.rehearse?.(manifestOf(jobText('none', 1), [], own))).rejects.toThrow(
        /^the cluster cannot be reached/,
      )
    })
  })

  describe('the look afterwards', () => {
    test('says nothing of a Job that runs', async () => {
      const { answer, remarks } = await create(jobText('runs', 1), [job('runs')])
      expect(answer.stdout).toBe(`job.batch/${named('runs')} created\n`)
      expect(remarks).toEqual([])
    })

    test('tells of a Job over quota, which kubectl calls created', async () => {
      const { answer, remarks } = await create(jobText('quota', 17), [job('quota')])
      expect(answer.exitCode).toBe(0)
      expect(remarks).toEqual([
        expect.stringMatching(`^job.batch/${named('quota')} was created, but gets no pods: .*exceeded quota`),
      ])
    })

    test('tells of a pod that fits no node', async () => {
      // where no quota is, so that it waits and is not refused
      const text = podText('nine', 9).replace('team-a', 'team-b')
      const { remarks } = await create(text, [job('nine', 'Pod', { namespace: 'team-b' })])
      expect(remarks).toEqual([
        `pod/${named('nine')} was created, but no node can take its pods now: 0/12 nodes are available: 12 Insufficient nvidia.com/gpu.`,
      ])
    })

    test('finds the name that the server made up', async () => {
      const text = jobText('made-up-', 17).replace('name: gpufare', 'generateName: gpufare')
      const { remarks } = await create(text, [job('made-up-')])
      expect(remarks).toEqual([
        expect.stringMatching(`^job.batch/${named('made-up-')}\\w{5} was created, but gets no pods`),
      ])
    })

    test('uses the context and namespace of the options, and reads -o name', async () => {
      const text = jobText('dev', 17).replace(', namespace: team-a', '')
      const { answer, remarks } = await create(text, [job('dev', 'Job', {})], ['--context', 'dev', '-o', 'name'])
      expect(answer.stdout).toBe(`job.batch/${named('dev')}\n`)
      expect(remarks).toEqual([expect.stringContaining('exceeded quota')])
    })

    test('does not wait for what starts no pods', async () => {
      const manifest = manifestOf('')
      const printed = 'service/train created\nconfigmap/train created\ncronjob.batch/train created\n'
      expect(await kubernetes.lookAfter?.(manifest, [job('train', 'CronJob')], printed)).toEqual([])
    })

    test('does not blame a job for the events of an earlier one of its name', { timeout: 20_000 }, async () => {
      await create(jobText('again', 17), [job('again')])
      const words = ['delete', 'job', '-n', 'team-a', named('again')]
      await askProgram('kubectl', words, { environment, timeoutMilliseconds: 20_000 })
      await new Promise(resolve => setTimeout(resolve, 1100)) // the server's times are whole seconds
      const { remarks } = await create(jobText('again', 1), [job('again')])
      expect(remarks).toEqual([])
    })
  })

  test('the question can name context and namespace', async () => {
    const manifest = manifestOf(jobText('where', 1))
    expect(await kubernetes.findDestination(manifest)).toEqual({ context: 'admin', namespace: 'default' })
    const asDev = { ...manifest, schedulerArguments: ['--context=dev'] }
    expect(await kubernetes.findDestination(asDev)).toEqual({ context: 'dev', namespace: 'team-a' })
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
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: c, image: busybox, command: ["true"], resources: {limits: {nvidia.com/gpu: ${gpuCount}}}}
`
}

function podText(name: string, gpuCount: number): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${named(name)}, namespace: team-a, labels: {gpufare-test: "${run}"}}
spec:
  containers:
    - {name: c, image: busybox, command: ["true"], resources: {limits: {nvidia.com/gpu: ${gpuCount}}}}
`
}

/** As the manifest's reader gives it, as far as the look afterwards needs it. */
function job(name: string, kind = 'Job', destination: Readonly<Record<string, string>> = { namespace: 'team-a' }): Job {
  return {
    name: named(name),
    scheduler: 'kubernetes',
    kind,
    place: { file: 'job.yaml' },
    roles: [],
    endless: false,
    destination,
    declarations: {},
    warnings: [],
  }
}
