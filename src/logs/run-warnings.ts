import { findStamp } from './clock.ts'
import type { Ending } from './outcome.ts'
import { type ProgressWarning, type ProgressWarningCode, usualTexts } from './progress-warning.ts'
import { endsOf } from './records.ts'
import type { Figures, Run } from './run.ts'

/** Fewer steps than this are a thin basis for a rate. */
const fewSteps = 10

/** What the user has to learn of a run beside its figures. */
export function warningsOf(run: Run, ending: Ending, figures: Figures): readonly ProgressWarning[] {
  const { reading, records, counted, pace } = run
  const found = new Map<ProgressWarningCode, ProgressWarning>()
  const warn = (code: ProgressWarningCode, is: boolean, line?: number, text: string = usualTexts[code]) => {
    if (is && !found.has(code)) found.set(code, { code, text, ...(line !== undefined && { line }) })
  }
  if (ending.code !== undefined) warn(ending.code, true, ending.line)
  for (const { code, text, line } of reading.warnings ?? []) warn(code, true, line, text)
  const { points } = counted
  const [first] = points
  const last = points.at(-1)
  warn('several-runs-in-one-file', counted.runs > 1, counted.lastLineBefore)
  const start = pace.firstDone ?? 0
  warn(
    'resumed',
    first !== undefined && start > 1.5 * (pace.stride ?? Number.POSITIVE_INFINITY) && start > 1,
    first?.line,
  )
  warn(
    'work-lost',
    counted.doneBefore !== undefined && first !== undefined && start < counted.doneBefore && start > 0,
    first?.line,
  )
  warn('rank-interleaved', counted.processes > 1, first?.line)
  warn('rate-not-steady', pace.unsteady)
  warn('first-steps-slow', pace.slowStart, first?.line)
  warn('loader-bound', (figures.dataShare?.value ?? 0) >= 0.25)
  warn('batch-size-varies', pace.batchVaries)
  warn('stated-rate-contradicts-timestamps', pace.contradicted)
  warn('rate-is-per-gpu', reading.ratesPerDevice === true && pace.multiplied)
  warn('per-gpu-or-global-unknown', pace.scopeUnknown)
  warn('zero-based-counter', reading.zeroBased === true, first?.line)
  warn('one-bar-per-epoch', reading.perEpoch === true && new Set(points.map(point => point.stretch)).size > 1)
  const isEnded = ending.outcome === 'finished'
  warn(
    'total-unknown',
    last !== undefined &&
      figures.stepsTotal === undefined &&
      figures.remainingSeconds === undefined &&
      (!isEnded || reading.endsWithoutPlan === true) &&
      !found.has('serving-no-end') &&
      !found.has('batch-size-varies'),
  )
  const { microBatch } = reading.figures
  warn('global-batch-unknown', microBatch !== undefined && figures.globalBatch === undefined, microBatch?.line)
  const evaluated = (reading.evaluatedAtLine ?? []).find(line => first !== undefined && line >= first.line)
  warn('eval-included', evaluated !== undefined, evaluated)
  const saved = pace.pauseLines
    .map(
      line =>
        records.findLast(
          record => record.line <= line && record.line > line - 8 && /checkpoint|sav(?:ing|ed) /i.test(record.text),
        )?.line,
    )
    .find(line => line !== undefined)
  warn('checkpoint-pauses', evaluated === undefined && saved !== undefined, saved)
  const total = figures.stepsTotal?.value
  warn('stopped-early', isEnded && total !== undefined && last !== undefined && last.done < total * 0.99, ending.line)
  warn(
    'short-sample',
    last !== undefined &&
      pace.steps !== undefined &&
      pace.steps < fewSteps &&
      reading.unit !== 'epoch' &&
      reading.unit !== 'other',
  )
  const hasClock = endsOf(records).some(
    ({ timeSeconds, text }) => timeSeconds !== undefined || (text.length < 200 && findStamp(text) !== undefined),
  )
  warn(
    'no-timestamps',
    last !== undefined &&
      !hasClock &&
      points.every(point => point.elapsedSeconds === undefined) &&
      figures.elapsedSeconds?.line === undefined,
  )
  const stamped = records.filter(record => record.timeSeconds !== undefined)
  warn('no-year-in-timestamps', stamped.length > 0 && stamped.every(record => record.hasYear === false))
  const knows = last !== undefined || Object.values(figures).some(figure => figure !== undefined)
  warn('nothing-known', !knows)
  return [...found.values()]
}
