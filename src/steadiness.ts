import type { RunProgress } from './logs/run-progress.ts'
import { repeatSpread } from './runtimes/known-run.ts'

/** Looks at a growing log that have to agree. */
const looksThatAgree = 3

/** Watches the rate of a run through looks at its log, until it no longer changes by more than a repeated run differs from the first. */
export class Steadiness {
  private readonly rates: number[] = []
  private lastDone = 0

  /** Takes one more look; true once the latest that saw further steps agree. */
  look({ stepsDone, secondsPerStep, warnings }: RunProgress): boolean {
    const done = stepsDone?.value ?? 0
    if (secondsPerStep === undefined || done <= this.lastDone || warnings.some(({ code }) => code === 'short-sample'))
      return false
    this.lastDone = done
    this.rates.push(secondsPerStep.value)
    const latest = this.rates.slice(-looksThatAgree)
    return latest.length === looksThatAgree && Math.max(...latest) <= Math.min(...latest) * (1 + repeatSpread)
  }
}
