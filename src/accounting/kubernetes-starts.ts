import { timeSeconds } from './fields.ts'
import type { Course } from './kubernetes-course.ts'
import type { Pod } from './kubernetes-schema.ts'

/** One time that a job was started: seconds since 1970, the earlier ones `interrupted`. */
export interface Start {
  readonly state: Course['state']
  readonly startSeconds?: number
  readonly elapsedSeconds: number
}

/** When the containers of a pod ran. */
interface Span {
  readonly beganSeconds: number
  /** When it was started last. */
  readonly startSeconds: number
  /** Absent while it runs. */
  readonly endSeconds?: number
  readonly failed: boolean
  readonly restarts: number
}

/**
 * The times that a job was started, the earliest first. Its own status tells when it was created, began and ended; only its pods tell how long
 * they waited for a node and which were started anew, as long as they are there. None where nothing tells when it ended.
 */
export function startsOf(course: Course, pods: readonly Pod[], nowSeconds: number): readonly Start[] {
  const spans = pods.flatMap(pod => spanOf(pod) ?? []).toSorted((a, b) => a.startSeconds - b.startSeconds)
  const isAtWork = spans.some(({ endSeconds }) => endSeconds === undefined)
  // Not every kind says of itself that it runs.
  const state = course.state === 'waiting' && isAtWork ? 'running' : course.state
  if (state === 'waiting') {
    // A queue may have taken its nodes away again.
    return [...attempts(spans).map(each => interrupted(each)), { state, elapsedSeconds: 0 }]
  }
  const isReplaced = ({ failed, endSeconds: end }: Span) =>
    failed && end !== undefined && spans.some(later => later.beganSeconds >= end)
  const lasting = spans.filter(span => !isReplaced(span))
  const startSeconds = lasting[0]?.startSeconds ?? course.startSeconds ?? course.submitSeconds
  const before = [...attempts(spans.filter(isReplaced)), ...restartsWithin(lasting)]
  // Beside pods that ran on it cost nothing of its own.
  const earlier = before.map(({ from, until }) => interrupted({ from, until: Math.min(until, startSeconds) }))
  const untold = Array.from({ length: Math.max(0, course.restarts - earlier.length) }, () =>
    interrupted({ from: startSeconds, until: startSeconds }),
  )
  // Between a pod that failed and the next one nothing is held.
  const soFar = state === 'running' && (isAtWork || spans.length === 0) ? nowSeconds : endOf(lasting)
  const until = course.endSeconds ?? soFar
  if (until === undefined) return []
  return [...earlier, ...untold, { state, startSeconds, elapsedSeconds: Math.max(0, until - startSeconds) }]
}

interface Attempt {
  readonly from: number
  readonly until: number
}

function interrupted({ from, until }: Attempt): Start {
  return { state: 'interrupted', startSeconds: from, elapsedSeconds: Math.max(0, until - from) }
}

function endOf(spans: readonly Span[]): number | undefined {
  const ends = spans.flatMap(({ endSeconds }) => endSeconds ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}

/** Pods that failed at the same time are one attempt of the job. */
function attempts(spans: readonly Span[]): readonly Attempt[] {
  const found: { from: number; until: number }[] = []
  for (const { beganSeconds: from, endSeconds: until = from } of spans) {
    const last = found.at(-1)
    if (last === undefined || from >= last.until) found.push({ from, until })
    else last.until = Math.max(last.until, until)
  }
  return found
}

/** Of containers that were started anew within their pod the cluster keeps how often, and not when: the first has all of the time before. */
function restartsWithin(spans: readonly Span[]): readonly Attempt[] {
  const most = spans.toSorted((a, b) => b.restarts - a.restarts)[0]
  if (most === undefined || most.restarts === 0) return []
  const { beganSeconds: from, startSeconds: until, restarts } = most
  return Array.from({ length: restarts }, (_, index) => (index === 0 ? { from, until } : { from: until, until }))
}

function spanOf({ status }: Pod): Span | undefined {
  const { containerStatuses, phase } = status
  const ran = containerStatuses.flatMap(({ state }) => state?.terminated ?? state?.running ?? [])
  const starts = ran.flatMap(({ startedAt }) => timeSeconds(startedAt ?? '') ?? [])
  const ends = ran.flatMap(({ finishedAt }) => timeSeconds(finishedAt ?? '') ?? [])
  if (starts.length === 0) return undefined
  const startSeconds = Math.min(...starts)
  const isOver = ends.length === containerStatuses.length
  return {
    beganSeconds: Math.min(timeSeconds(status.startTime ?? '') ?? startSeconds, startSeconds),
    startSeconds,
    ...(isOver && { endSeconds: Math.max(...ends) }),
    failed: phase === 'Failed',
    restarts: Math.max(...containerStatuses.map(({ restartCount }) => restartCount)),
  }
}
