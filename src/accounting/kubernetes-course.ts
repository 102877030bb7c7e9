import type { RunState } from '../history/earlier-run.ts'
import { ownEntry } from '../own-entry.ts'
import { timeSeconds } from './fields.ts'
import type { KeptObject } from './kubernetes-schema.ts'

/** How far an object has come, by its own status; seconds since 1970. */
export interface Course {
  readonly state: RunState | 'waiting' | 'running'
  readonly submitSeconds: number
  /** Absent where it has not begun, or where its kind does not say. */
  readonly startSeconds?: number
  /** Of what has ended. */
  readonly endSeconds?: number
  /** Times that it was begun again as a whole, where its kind counts them. */
  readonly restarts: number
}

/**
 * How conditions, phases and states of jobs are called, by the API references of Kubernetes 1.37, training-operator 1.9, mpi-operator 0.6,
 * Trainer 2.1, JobSet 0.10, KubeRay 1.5, Volcano 1.14 and Argo Workflows 3.7.
 */
const states: Readonly<Record<string, RunState>> = {
  Complete: 'completed',
  Completed: 'completed',
  Succeeded: 'completed',
  SUCCEEDED: 'completed',
  Failed: 'failed',
  FAILED: 'failed',
  Error: 'failed',
  STOPPED: 'cancelled',
  Aborted: 'cancelled',
  Terminated: 'cancelled',
}

/** Words for what has begun and has not ended. */
const running: ReadonlySet<string> = new Set([
  ...['Running', 'RUNNING', 'Restarting', 'Completing', 'Terminating', 'Aborting'],
])

/**
 * What says that a time limit ended it: the reason of Jobs, pods and RayJobs, messages of training-operator (kubeflow/common) and of
 * Argo Workflows.
 */
const overTime =
  /DeadlineExceeded|active longer than specified deadline|exceeded its deadline|exceeded workflow deadline/i

/** Argo's message for `argo stop` and `argo terminate`. */
const stoppedByHand = /^Stopped with strategy/

/** How far an object has come; undefined where its times cannot be read. */
export function courseOf({ metadata, status }: KeptObject): Course | undefined {
  const submitSeconds = timeSeconds(metadata.creationTimestamp)
  if (submitSeconds === undefined) return undefined
  const { conditions = [], state, startTime, startedAt, restarts, retryCount } = status ?? {}
  const last = conditions.find(({ type, status }) => status === 'True' && ownEntry(states, type) !== undefined)
  // A RayJob's deadline fails its deployment whatever Ray last said of the program.
  const deployment = status?.jobDeploymentStatus === 'Failed' && status.jobStatus !== 'STOPPED' ? 'Failed' : undefined
  const word = last?.type ?? deployment ?? (status?.jobStatus || (status?.phase ?? state?.phase ?? ''))
  const because = [last?.reason, last?.message, status?.reason, status?.message].join('\n')
  const ended = endedAs(word, because)
  const begun = conditions.find(
    ({ type, status }) =>
      // Volcano's phase; JobSet and TrainJob that a queue let go
      (type === '' && status === 'Running') || (type === 'Suspended' && status === 'False'),
  )
  const start = timeSeconds(startTime ?? startedAt ?? begun?.lastTransitionTime ?? '')
  const end =
    ended &&
    timeSeconds(
      status?.completionTime ??
        status?.endTime ??
        status?.finishedAt ??
        last?.lastTransitionTime ??
        state?.lastTransitionTime ??
        '',
    )
  const isSuspended = conditions.some(({ type, status }) => type === 'Suspended' && status === 'True')
  const hasBegun =
    running.has(word) ||
    conditions.some(({ type, status }) => type === 'Running' && status === 'True') ||
    // A Job has begun when a pod of its is ready; clusters before 1.24 do not count those.
    (start !== undefined && word === '' && ((status?.ready ?? 1) > 0 || status?.active === undefined))
  return {
    state: ended ?? (hasBegun && !isSuspended ? 'running' : 'waiting'),
    submitSeconds,
    ...(start !== undefined && { startSeconds: start }),
    ...(end !== undefined && { endSeconds: end }),
    restarts: restarts ?? retryCount ?? 0,
  }
}

function endedAs(word: string, because: string): RunState | undefined {
  const state = ownEntry(states, word)
  if (state !== 'failed') return state
  if (overTime.test(because)) return 'timeout'
  return because.split('\n').some(each => stoppedByHand.test(each)) ? 'cancelled' : state
}
