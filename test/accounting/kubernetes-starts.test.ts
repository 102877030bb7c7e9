import { expect, test } from 'vitest'
import type { Course } from '../../src/accounting/kubernetes-course.ts'
import { Pod } from '../../src/accounting/kubernetes-schema.ts'
import { startsOf } from '../../src/accounting/kubernetes-starts.ts'

const midnight = Date.UTC(2026, 0, 1) / 1_000
const time = (minutes: number) => new Date((midnight + minutes * 60) * 1_000).toISOString()

/** A pod whose container ran from one minute to another, or still runs. */
function pod(from: number, until?: number, more: { failed?: true; began?: number; restarts?: number } = {}) {
  const startedAt = time(from)
  const state =
    until === undefined ? { running: { startedAt } } : { terminated: { startedAt, finishedAt: time(until) } }
  return Pod.parse({
    metadata: { name: 'a' },
    spec: {},
    status: {
      phase: more.failed ? 'Failed' : until === undefined ? 'Running' : 'Succeeded',
      startTime: time(more.began ?? from),
      containerStatuses: [{ restartCount: more.restarts ?? 0, state }],
    },
  })
}

const done: Course = {
  state: 'completed',
  submitSeconds: midnight,
  startSeconds: midnight,
  endSeconds: midnight + 60 * 60,
  restarts: 0,
}

/** Starts as `[state, minutes]`. */
function starts(course: Course, pods: readonly Pod[], nowMinutes = 90) {
  const found = startsOf(course, pods, midnight + nowMinutes * 60)
  return found.map(({ state, elapsedSeconds }) => [state, elapsedSeconds / 60])
}

test('without pods an object’s own times count, from its creation where it has none', () => {
  expect(starts(done, [])).toEqual([['completed', 60]])
  const { startSeconds: _, ...unstarted } = done
  expect(starts({ ...unstarted, submitSeconds: midnight + 600 }, [])).toEqual([['completed', 50]])
  expect(starts({ state: 'waiting', submitSeconds: midnight, restarts: 0 }, [])).toEqual([['waiting', 0]])
})

test('the wait for a node is not paid', () => {
  expect(starts(done, [pod(40, 60)])).toEqual([['completed', 20]])
  const running: Course = { state: 'running', submitSeconds: midnight, startSeconds: midnight, restarts: 0 }
  expect(starts(running, [pod(40)])).toEqual([['running', 50]])
})

test('pods that failed and were replaced are earlier starts, those of one moment are one', () => {
  const failed = { failed: true } as const
  expect(starts(done, [pod(30, 60), pod(0, 10, failed), pod(15, 25, failed)])).toEqual([
    ['interrupted', 10],
    ['interrupted', 10],
    ['completed', 30],
  ])
  const gang = [pod(0, 10, failed), pod(1, 11, failed), pod(12, 60), pod(13, 60)]
  expect(starts(done, gang)).toEqual([
    ['interrupted', 11],
    ['completed', 48],
  ])
  // Beside three pods that went on it is no time of its own.
  expect(starts(done, [pod(0, 60), pod(0, 60), pod(0, 10, failed), pod(12, 60)])).toEqual([
    ['interrupted', 0],
    ['completed', 60],
  ])
  expect(starts({ ...done, state: 'failed' }, [pod(0, 60, failed)])).toEqual([['failed', 60]])
})

test('of a container that was started anew in its pod the time before the last start is that of the first', () => {
  expect(starts(done, [pod(50, 60, { began: 5, restarts: 2 })])).toEqual([
    ['interrupted', 45],
    ['interrupted', 0],
    ['completed', 10],
  ])
})

test('what does not say that it runs does where a pod does; between two pods nothing is held', () => {
  const silent: Course = { state: 'waiting', submitSeconds: midnight, restarts: 0 }
  expect(starts(silent, [pod(30)])).toEqual([['running', 60]])
  expect(starts(silent, [pod(0, 20)])).toEqual([
    ['interrupted', 20],
    ['waiting', 0],
  ])
  const running: Course = { state: 'running', submitSeconds: midnight, startSeconds: midnight, restarts: 0 }
  expect(starts(running, [pod(10, 30, { failed: true })])).toEqual([['running', 20]])
})

test('the end of what does not say it is that of its pods; where none is left nothing is known', () => {
  const { endSeconds: _, ...endless } = done
  expect(starts(endless, [pod(0, 30), pod(5, 45)])).toEqual([['completed', 45]])
  expect(starts(endless, [])).toEqual([])
})

test('restarts that only the object counts are known without their times', () => {
  expect(starts({ ...done, restarts: 2 }, [])).toEqual([
    ['interrupted', 0],
    ['interrupted', 0],
    ['completed', 60],
  ])
})
