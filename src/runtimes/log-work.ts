import type { RunProgress } from '../logs/run-progress.ts'
import type { Sourced } from '../sourced.ts'
import { formatCount } from '../units.ts'
import type { Workload } from '../workload.ts'

/** Today's work beside that of a log. */
export interface LogWork {
  /** Counts of the log's counter that today's run makes; absent where nothing tells. */
  readonly counts?: number
  /** Work of one count today, as a multiple of the log's. */
  readonly stepRatio: number
  /** Work of the whole run today, as a multiple of the log's. */
  readonly ratio: number
  /** The manifest says how long it runs. */
  readonly isStated: boolean
  /** The run's samples are the same on any number of GPUs. */
  readonly keepsSamples: boolean
  /** What differs, ready to read behind the log's own figures. */
  readonly words: string
}

/**
 * How much of a log's work today's run is: by the steps or epochs that the manifest states, else by those that `plan`, the newest log,
 * names. A batch that differs makes every step as much longer; epochs hold the same samples whatever the batch.
 */
export function workToday(log: RunProgress, run: Partial<Workload>, plan: RunProgress | undefined): LogWork {
  const own = log.stepsTotal?.value ?? log.stepsDone?.value
  const ratioOf = (counts: number) => (own === undefined || own === 0 ? 1 : counts / own)
  const steps = stated(run.steps)
  const accumulation = run.gradientAccumulation?.value
  if (steps !== undefined && log.unit === 'micro-step' && accumulation !== undefined) {
    const counts = steps * accumulation
    const words = `; today ${formatCount(steps)} steps of ${accumulation} micro-batches`
    return { counts, stepRatio: 1, ratio: ratioOf(counts), isStated: true, keepsSamples: false, words }
  }
  // A counter that does not say what it counts counts steps where every step is one batch.
  const countsSteps = log.unit === 'optimizer-step' || (log.unit === 'other' && (accumulation ?? 1) === 1)
  if (steps !== undefined && countsSteps) {
    const batch = stated(run.globalBatch)
    const logBatch = log.globalBatch?.value
    const hasBatches = batch !== undefined && logBatch !== undefined
    const stepRatio = hasBatches ? batch / logBatch : 1
    const larger = stepRatio === 1 ? '' : `, each x${stepRatio.toFixed(2)} by its batch`
    return {
      counts: steps,
      stepRatio,
      ratio: ratioOf(steps) * stepRatio,
      isStated: true,
      keepsSamples: hasBatches,
      words: `; today ${formatCount(steps)} steps${larger}`,
    }
  }
  const epochs = stated(run.epochs)
  const logEpochs = log.epochsTotal?.value ?? (log.unit === 'epoch' ? own : undefined)
  if (run.steps === undefined && epochs !== undefined && logEpochs !== undefined && logEpochs > 0) {
    const ratio = epochs / logEpochs
    const counts = own === undefined ? {} : { counts: own * ratio }
    const words = `; today ${formatCount(epochs)} epochs, then ${formatCount(logEpochs)}`
    return { ...counts, stepRatio: 1, ratio, isStated: true, keepsSamples: true, words }
  }
  const planned = plan?.unit === log.unit ? plan.stepsTotal?.value : undefined
  const isAnother = planned !== undefined && own !== undefined && planned !== own
  return {
    ...(planned !== undefined && { counts: planned }),
    stepRatio: 1,
    ratio: planned === undefined ? 1 : ratioOf(planned),
    isStated: false,
    keepsSamples: logEpochs !== undefined,
    words: isAnother ? `; the newest log plans ${formatCount(planned)} counts` : '',
  }
}

/** What the user wrote; a program's default or a derived figure says less than the log. */
function stated(figure: Sourced<number> | undefined): number | undefined {
  if (figure === undefined || ['assumed', 'table', 'computed'].includes(figure.origin.kind)) return undefined
  return figure.value
}
