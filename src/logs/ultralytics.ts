import { parseClock, parseLength } from './clock.ts'
import { commonFigures } from './common-figures.ts'
import { findFigures } from './figures.ts'
import type { LogReader, Pause, ProgressPoint } from './log-reader.ts'
import type { LogRecord } from './records.ts'

/** `  1/100   2.1G   1.2 …  640: 100%|███| 16/16 [00:05<00:00, 2.83it/s]`, or the program's own bar `… 16/16 2.8it/s 5.7s`. */
const row = /^\s*(\d+)\/(\d+)\s+([\d.]+)([GM])\s+(?:[\d.naninf]+\s+)+\d+:\s*\d+%.*?(\d+)\/(\d+)(.*)$/

/** Ultralytics YOLO, and YOLOv5 and v7 before it, which count epochs from 0. */
export const ultralytics: LogReader = {
  name: 'ultralytics',
  read: records => {
    const points = records.flatMap(record => pointOf(record) ?? [])
    if (points.length === 0) return undefined
    const isZeroBased = points.some(point => point.epoch === 0)
    const figures = findFigures(records, [
      ...commonFigures,
      { figure: 'globalBatch', pattern: /engine\/trainer: .*?\bbatch=(\d+)/ },
      { figure: 'globalBatch', pattern: /\btrain: .*?\bbatch_size=(\d+)/ },
      { figure: 'elapsedSeconds', pattern: /epochs completed in ([\d.]+) hours/, scale: 3600 },
    ])
    const end = records.findLast(({ text }) => /\d+ epochs completed in [\d.]+ hours/.test(text))
    const early = records.find(({ text }) => /Training stopped early/.test(text))
    return {
      framework: 'ultralytics',
      unit: 'micro-step',
      points: points.map(point => ({ ...point, epochs: (point.epochs ?? 0) + (isZeroBased ? 1 : 0) })),
      perEpoch: true,
      firstEpoch: isZeroBased ? 0 : 1,
      bars: true,
      figures,
      pauses: records.flatMap(record => validationOf(record) ?? []),
      finishedAtLine: end?.line,
      evaluatedAtLine: records.filter(({ text }) => /Box\(P\b|mAP@?\.?50/.test(text)).map(({ line }) => line),
      warnings: early === undefined ? [] : [{ code: 'stopped-early', line: early.line }],
    }
  },
}

/** The bar of a validation that is over. */
function validationOf({ text, line }: LogRecord): Pause | undefined {
  const match = /Box\(P\b.* (\d+)\/\1 (?:\[([\d:]+)<|[\d.]+(?:it\/s|s\/it) ([\d:.]+s?))/.exec(text)
  const took = match?.[2] ?? match?.[3]
  const seconds = took === undefined ? undefined : (parseClock(took) ?? parseLength(took))
  return seconds === undefined ? undefined : { line, seconds }
}

function pointOf({ text, line }: LogRecord): ProgressPoint | undefined {
  const match = row.exec(text)
  if (match === null) return undefined
  const [, epoch, epochs, memory, unit, step, total, rest = ''] = match
  const clock = /\[([\d:]+)</.exec(rest)?.[1]
  const own = /(?:\d+(?:\.\d+)?(?:it\/s|s\/it)\s+)?((?:\d+:)*\d+(?:\.\d+)?s?)(?:<|\s*$)/.exec(rest)?.[1]
  const rate = /([\d.]+)(it\/s|s\/it)/.exec(rest)
  const elapsed = clock ?? own ?? ''
  return {
    line,
    epoch: Number(epoch),
    epochs: Number(epochs),
    step: Number(step),
    total: Number(total),
    memoryBytes: Number(memory) * (unit === 'G' ? 2 ** 30 : 2 ** 20),
    elapsedSeconds: parseClock(elapsed) ?? parseLength(elapsed),
    secondsPerStep: rate === null ? undefined : rate[2] === 'it/s' ? 1 / Number(rate[1]) : Number(rate[1]),
  }
}
