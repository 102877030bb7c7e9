import { type Bar, isEvaluation, parseBar } from './bars.ts'
import { derived } from './figures.ts'
import { groupedBy } from './grouped.ts'
import { pointOfBar } from './huggingface.ts'
import type { CounterUnit, LogReading, ProgressPoint } from './log-reader.ts'
import { successBehind } from './outcome.ts'
import type { LogRecord } from './records.ts'
import { sampled } from './sample.ts'

/** Bars of programs that nobody knows: the one that runs longest counts, epochs added up where it restarts. */
export function genericBars(bars: readonly Bar[], records: readonly LogRecord[]): LogReading | undefined {
  const groups = [
    ...groupedBy(
      bars,
      bar => `${bar.label.replace(/\d+/g, '#')} ${bar.unit} ${bar.label === '' ? bar.total : bar.total === undefined}`,
    ).values(),
  ]
  const main = groups.sort((a, b) => spanOf(b) - spanOf(a) || b.length - a.length)[0]
  const [first] = main ?? []
  const last = main?.at(-1)
  if (main === undefined || first === undefined || last === undefined) return undefined
  if (new Set(main.map(bar => bar.done)).size < 2 && (last.elapsedSeconds ?? 0) === 0) return undefined
  const points = sampled(main, (bar, next) => next.done < bar.done).map(pointOf)
  const restarts = points.filter((point, index) => index > 0 && point.step < (points[index - 1]?.step ?? 0)).length
  const epochs = new Set(points.flatMap(point => point.epoch ?? []))
  const perEpoch = epochs.size > 0 || (restarts > 0 && new Set(points.map(point => point.rank)).size <= 1)
  const firstEpoch = epochs.size === 0 ? undefined : epochs.has(0) ? 0 : 1
  const isWhole = last.total !== undefined && last.done >= last.total
  const success = successBehind(last.record.line, records)
  // a bar writes its line feed when it is closed, and none before
  const isClosed = last.total === undefined && last.record.closed
  const ended = isClosed || (perEpoch && isWhole && success !== undefined)
  const stretches = epochs.size > 0 ? Math.max(...epochs) + (firstEpoch === 0 ? 1 : 0) : restarts + 1
  const unit = unitOf(last)
  const outer = unit === 'epoch' ? undefined : bars.findLast(bar => /^epochs?$/i.test(bar.label))
  return {
    framework: undefined,
    unit,
    points,
    perEpoch,
    firstEpoch,
    bars: true,
    remainingOfEpoch: perEpoch,
    figures: {
      ...(perEpoch && ended && { epochsTotal: derived('epochs of a run that ended well', stretches) }),
      ...(perEpoch && outer?.total !== undefined && { epochsTotal: { value: outer.total, line: outer.record.line } }),
    },
    endsWithoutPlan: isClosed && success === undefined,
    finishedAtLine: ended ? (success ?? last.record.line) : undefined,
    evaluatedAtLine: records.flatMap(record =>
      isEvaluation(record.text) && isEvaluation(parseBar(record)?.label ?? '') ? [record.line] : [],
    ),
  }
}

function spanOf(bars: readonly Bar[]): number {
  let span = 0
  let last = 0
  for (const { elapsedSeconds = 0 } of bars) {
    if (elapsedSeconds < last) span += last
    last = elapsedSeconds
  }
  return span + last
}

/** `Epoch 3 rank 1`, `Epoch 3/10`: the label names what is around the counter. */
function pointOf(bar: Bar): ProgressPoint {
  const epoch = /\b(?:epoch|episode)\s*[:#[]?\s*(\d+)(?:\s*(?:\/|of)\s*(\d+))?/i.exec(bar.label)
  const rank = /\brank\s*[:#]?\s*(\d+)/i.exec(bar.label)?.[1]
  return {
    ...pointOfBar(bar),
    ...(epoch !== null && { epoch: Number(epoch[1]), ...(epoch[2] !== undefined && { epochs: Number(epoch[2]) }) }),
    ...(rank !== undefined && { rank }),
  }
}

function unitOf({ unit, label }: Bar): CounterUnit {
  if (/^epochs?$/i.test(unit) || /^epochs?$|\bepochs$/i.test(label)) return 'epoch'
  if (/^(?:samples?|examples?|images?|imgs?|ex|seqs?|sequences?|files?|docs?|videos?|items?)$/i.test(unit))
    return 'sample'
  return /^(?:tok|tokens?)$/i.test(unit) ? 'token' : 'other'
}
