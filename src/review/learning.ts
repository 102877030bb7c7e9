import { maskedName } from '../history/names.ts'
import type { LearntRun } from '../runtimes/corrections.ts'
import { isTellingRun } from '../runtimes/learnt-error.ts'
import type { Ending, Outcome } from './outcome.ts'

/** How a run ends that leaves work to whoever goes on from its checkpoint. */
const unfinished: readonly Ending[] = ['timed out', 'cancelled', 'interrupted', 'failed']

/**
 * What the quotes of a user's jobs were off by, as far as they were kept with a fingerprint; outcomes in the order of their submission.
 * Only runs that did all of their work in one go tell how long it takes, and those that the limit stopped that it takes longer.
 */
export function lessonsOf(outcomes: readonly Outcome[], user: string | undefined): readonly LearntRun[] {
  const endings = new Map<string, Ending>()
  return outcomes
    .filter(outcome => outcome.user === user)
    .flatMap((outcome): LearntRun[] => {
      const mask = maskedName(outcome.name)
      const before = endings.get(mask)
      endings.set(mask, outcome.ending)
      const mayGoOn = before !== undefined && unfinished.includes(before) && outcome.record?.resumes !== false
      const lesson = outcome.ending === 'done' && mayGoOn ? undefined : lessonOf(outcome)
      return lesson === undefined ? [] : [lesson]
    })
}

function lessonOf(outcome: Outcome): LearntRun | undefined {
  const { id, name, quoted, submitSeconds, ending, restarts, runtimeSeconds, stoppedAfterSeconds } = outcome
  const { key, fingerprint, gpuModel } = quoted
  const estimatedSeconds = quoted.estimatedSeconds ?? quoted.runtimeSeconds?.p50
  const isStopped = ending === 'timed out'
  const seconds = isStopped ? stoppedAfterSeconds : runtimeSeconds
  if (fingerprint === undefined || gpuModel === '') return undefined
  if (estimatedSeconds === undefined || seconds === undefined || restarts > 0) return undefined
  // What went wrong on its way tells nothing of the time.
  if ((!isStopped && ending !== 'done') || !isTellingRun({ seconds, estimatedSeconds })) return undefined
  return {
    key,
    fingerprint,
    gpus: gpuModel,
    name,
    id,
    at: new Date(submitSeconds * 1_000).toISOString(),
    estimatedSeconds,
    seconds,
    ...(isStopped && { isStopped }),
  }
}
