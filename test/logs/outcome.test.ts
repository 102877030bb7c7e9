import { describe, expect, test } from 'vitest'
import { codesIn, figuresIn, linesOf, progressIn, stampAt } from './log-text.ts'

const steps = linesOf(10, 300, 10, step => `${stampAt(step * 0.5)} INFO step ${step}/1000 loss 2`)

describe('how a run ended', () => {
  test.each([
    [
      'slurmstepd: error: *** JOB 9 ON n2 CANCELLED AT 2024-05-03T10:02:35 DUE TO TIME LIMIT ***',
      'time-limit',
      'killed-by-time-limit',
    ],
    ['=>> PBS: job killed: walltime 3600 exceeded limit 3600', 'time-limit', 'killed-by-time-limit'],
    ['TERM_RUNLIMIT: job killed after reaching LSF run time limit.', 'time-limit', 'killed-by-time-limit'],
    [
      'slurmstepd: error: *** JOB 9 ON n2 CANCELLED AT 2024-05-03T10:02:35 DUE TO PREEMPTION ***',
      'cancelled',
      'cancelled',
    ],
    ['slurmstepd: error: *** JOB 9 ON n2 CANCELLED AT 2024-05-03T10:02:35 ***', 'cancelled', 'cancelled'],
    ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.', 'oom', 'out-of-memory'],
    ['slurmstepd: error: Detected 1 oom_kill event in StepId=77.batch.', 'oom', 'host-out-of-memory'],
    [
      'ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.',
      'oom',
      'host-out-of-memory',
    ],
    ['Traceback (most recent call last):\nValueError: nan', 'crashed', 'crashed'],
  ])('%s', (last, outcome, code) => {
    const progress = progressIn(`${steps}${last}\n`)
    expect(progress.outcome).toBe(outcome)
    expect(codesIn(progress)).toContain(code)
    // what a run that goes on still has to do: 700 steps of half a second
    expect(figuresIn(progress).remainingSeconds).toBeCloseTo(350)
  })

  test('what stands before further steps ended nothing', () => {
    expect(progressIn(`torch.OutOfMemoryError: CUDA out of memory.\n${steps}`).outcome).toBe('running')
  })

  test('the last step is the end, and so is a word of it', () => {
    const whole = linesOf(100, 1000, 100, step => `step ${step}/1000 loss 2 0.5 s/step`)
    expect(progressIn(whole)).toMatchObject({ outcome: 'finished', remainingSeconds: { value: 0 } })
    const early = progressIn(`${steps}Early stopping.\nTraining finished.\n`)
    expect(early.outcome).toBe('finished')
    expect(codesIn(early)).toContain('stopped-early')
  })

  test('a restart in the same file is a run of its own, and steps were lost', () => {
    const again = linesOf(210, 500, 10, step => `${stampAt(1000 + step * 0.5)} INFO step ${step}/1000 loss 2`)
    const progress = progressIn(`${steps}${again}`)
    expect(progress.runs).toBe(2)
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 500, elapsedSeconds: 145 })
    expect(codesIn(progress)).toEqual(expect.arrayContaining(['several-runs-in-one-file', 'resumed', 'work-lost']))
  })
})
