import type { LearntRun } from '../runtimes/corrections.ts'
import { isTellingRun } from '../runtimes/learnt-error.ts'
import type { Outcome } from './outcome.ts'

/**
 * What the quotes of a user's jobs were off by, as far as they were kept with a fingerprint. Only runs that came to their end in one go
 * tell how long the work takes, and those that the limit stopped that it takes longer.
 */
export function lessonsOf(outcomes: readonly Outcome[], user: string | undefined): readonly LearntRun[] {
  return outcomes.flatMap((outcome): LearntRun[] => {
    const { id, name, quoted, submitSeconds, ending, restarts, runtimeSeconds, stoppedAfterSeconds } = outcome
    const { key, fingerprint, gpuModel } = quoted
    const estimatedSeconds = quoted.estimatedSeconds ?? quoted.runtimeSeconds?.p50
    const isStopped = ending === 'timed out'
    const seconds = isStopped ? stoppedAfterSeconds : runtimeSeconds
    if (fingerprint === undefined || gpuModel === '' || outcome.user !== user) return []
    if (estimatedSeconds === undefined || seconds === undefined || restarts > 0) return []
    // What went wrong on its way tells nothing of the time.
    if ((!isStopped && ending !== 'done') || !isTellingRun({ seconds, estimatedSeconds })) return []
    return [
      {
        key,
        fingerprint,
        gpus: gpuModel,
        name,
        id,
        at: new Date(submitSeconds * 1_000).toISOString(),
        estimatedSeconds,
        seconds,
        ...(isStopped && { isStopped }),
      },
    ]
  })
}
