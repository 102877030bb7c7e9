import { setTimeout as sleep } from 'node:timers/promises'
import { readItems } from '../accounting/kubernetes.ts'
import { courseOf } from '../accounting/kubernetes-course.ts'
import { KeptObject, Pod } from '../accounting/kubernetes-schema.ts'
import { GpufareError } from '../errors.ts'
import type { Manifest } from '../manifest.ts'
import { type Answer, askProgram, ProgramNotFound } from '../programs.ts'
import { schedulerFor } from '../schedulers/index.ts'
import { connectionWords } from '../schedulers/kubernetes/options.ts'
import { answerMilliseconds, type Probe } from './follow.ts'

/** What is still on its way when a container ends is written by then. */
const drainMilliseconds = 5_000
/** The longest that a timer of Node.js waits: what follows a log ends with it. */
const longestTimer = 2 ** 31 - 1

/**
 * Creates a Job as a probe; `logOf` says where its output goes by its name. What ends it deletes only the Job of its uid. Throws GpufareError
 * where kubectl does not take it.
 */
export async function createProbe(
  manifest: Manifest,
  container: string | undefined,
  logOf: (name: string) => string,
): Promise<Probe & { readonly name: string }> {
  const { environment, schedulerArguments, bytes } = manifest
  const asking = { environment, timeoutMilliseconds: answerMilliseconds }
  const kubernetes = schedulerFor('kubernetes')
  const { program, arguments: words } = kubernetes.submission({ ...manifest, path: '-' })
  const fields = ['namespace', 'name', 'uid'].map(field => `{.metadata.${field}}`).join(' ')
  const answer = await askProgram(program, [...words, `--output=jsonpath=${fields}`], {
    ...asking,
    input: bytes,
  }).catch(error => {
    throw error instanceof ProgramNotFound ? error.withHint(kubernetes.whenMissing) : error
  })
  const [namespace = '', name = '', uid = ''] = answer.stdout.trim().split(' ')
  if (answer.exitCode !== 0 || uid === '')
    throw new GpufareError(`kubectl did not take the probe: ${answer.stderr.trim() || answer.stdout.trim()}`, 1)
  const where = [...connectionWords(schedulerArguments), `--namespace=${namespace}`]
  const ask = (...more: readonly string[]) => askProgram('kubectl', [...more, ...where], asking)
  const log = logOf(name)
  const ending = new AbortController()
  let following: Promise<unknown> | undefined
  let brokeAt: string | undefined

  /** From its beginning; where the connection breaks while the pod runs, on from there. */
  const follow = ({ metadata, status }: Pod) => {
    if (following !== undefined || (brokeAt !== undefined && status.phase !== 'Running')) return
    const options = [
      ...(container === undefined ? [] : [`--container=${container}`]),
      ...(brokeAt === undefined ? [] : [`--since-time=${brokeAt}`]),
    ]
    const logs = ['kubectl', 'logs', '--follow', metadata.name, ...options, ...where]
    following = askProgram('/bin/sh', ['-c', 'exec "$@" >> "$0"', log, ...logs], {
      environment,
      timeoutMilliseconds: longestTimer,
      signal: ending.signal,
    }).finally(() => {
      following = undefined
      brokeAt = new Date().toISOString()
    })
  }

  return {
    name,
    log,
    state: async () => {
      const [job, pods] = await Promise.all([
        ask('get', 'job.batch', name, '--output=json'),
        ask('get', 'pods', `--selector=job-name=${name}`, '--output=json'),
      ])
      const pod = await firstPod(pods)
      if (pod !== undefined) follow(pod)
      const state = stateOf(job, uid)
      if (state !== 'over') return pod === undefined ? 'waiting' : 'running'
      if (following !== undefined) await Promise.race([following, sleep(drainMilliseconds, undefined, { ref: false })])
      ending.abort()
      return 'over'
    },
    stop: async () => {
      ending.abort()
      const options = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid },
        propagationPolicy: 'Background',
      }
      const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`
      const words = ['delete', '--raw', path, '-f', '-', ...connectionWords(schedulerArguments)]
      const { exitCode, stderr } = await askProgram('kubectl', words, {
        ...asking,
        input: new TextEncoder().encode(JSON.stringify(options)),
      })
      if (exitCode === 0 || /NotFound/.test(stderr)) return
      throw new GpufareError(`job ${name} could not be deleted: ${stderr.trim()}; delete it yourself`, 1)
    },
  }
}

/** A pod whose container has begun: of several the first of its Job, which reports for all. */
async function firstPod({ exitCode, stdout }: Answer): Promise<Pod | undefined> {
  if (exitCode !== 0) return undefined
  const begun = (await readItems(stdout, Pod)).filter(({ status }) => status.phase !== 'Pending')
  const indexOf = ({ metadata }: Pod) => Number(metadata.labels['batch.kubernetes.io/job-completion-index'] ?? 0)
  return begun.toSorted((a, b) => indexOf(a) - indexOf(b))[0]
}

/** What is gone, or another's by now, is over; other failures to answer may pass. */
function stateOf({ exitCode, stdout, stderr }: Answer, uid: string): 'running' | 'over' {
  if (exitCode !== 0) return /NotFound/.test(stderr) ? 'over' : 'running'
  const { data: job } = KeptObject.safeParse(JSON.parse(stdout))
  if (job === undefined) return 'running'
  const state = courseOf(job)?.state
  return job.metadata.uid !== uid || (state !== 'running' && state !== 'waiting') ? 'over' : 'running'
}
