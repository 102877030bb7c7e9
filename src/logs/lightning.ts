import { barsOf } from './bars.ts'
import { parseClock } from './clock.ts'
import { commonFigures } from './common-figures.ts'
import { findFigures } from './figures.ts'
import { pointOfBar } from './huggingface.ts'
import { linesOf } from './line-format.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'
import type { LogRecord } from './records.ts'

/** rich's bar: `Epoch 1/2  ━━━━ 80/100 0:00:04 • 0:00:01 21.3it/s`. */
const rich = /\bEpoch (\d+)\/(-?\d+)\s+[━╸╺ ]*\s*(\d+)\/(\d+) (\d+:\d{2}:\d{2}) • \S+ ([\d.]+)it\/s/
const stopped = /`?Trainer\.fit`? stopped: `?max_(epochs|steps)=(\d+)`? reached/
const signs =
  /\bGPU available: |\bTPU available: |`?Trainer\.fit`? stopped|\bLOCAL_RANK: \d+ - CUDA_VISIBLE_DEVICES|Sanity Checking|Validation DataLoader|\blightning|Trainable params/i

/** Lightning: a bar for each epoch; no line tells how many. */
export const lightning: LogReader = {
  name: 'lightning',
  read: records => {
    if (!records.some(({ text }) => signs.test(text))) return undefined
    const bars = barsOf(records).filter(bar => /^Epoch \d+/.test(bar.label))
    const richPoints = records.flatMap(record => pointOfRich(record) ?? [])
    if (bars.length === 0 && richPoints.length === 0) return undefined
    const points =
      richPoints.length > bars.length
        ? richPoints
        : bars.map(bar => ({ ...pointOfBar(bar), epoch: Number(/\d+/.exec(bar.label)?.[0]) }))
    const end = records
      .flatMap(({ text, line }) => {
        const match = stopped.exec(text)
        return match === null ? [] : [{ line, of: match[1], value: Number(match[2]) }]
      })
      .at(-1)
    const isEarly = records.find(({ text }) => /Signaling Trainer to stop|EarlyStopping.*stop/i.test(text))
    const isRich = richPoints.length > bars.length
    return {
      framework: 'lightning',
      unit: 'micro-step',
      points,
      perEpoch: true,
      firstEpoch: 0,
      bars: true,
      figures: {
        ...findFigures(records, commonFigures),
        ...(end?.of === 'epochs' && { epochsTotal: { value: end.value, line: end.line } }),
        // off a terminal the bar is written once: its own rate is that of the epoch
        ...(isRich && points.length === 1 && { elapsedSeconds: { value: Number.NaN } }),
      },
      finishedAtLine: end?.line ?? (isEarly === undefined ? undefined : undefined),
      evaluatedAtLine: linesOf(records, /^Validation(?: DataLoader \d+)?:.*[1-9]\d*\/\d+ \[|\bValidating:/),
      warnings: isRich ? [{ code: 'zero-based-counter', text: 'epochs are counted from 0' }] : [],
    }
  },
}

function pointOfRich({ text, line, closed }: LogRecord): ProgressPoint | undefined {
  const match = rich.exec(text)
  if (match === null) return undefined
  const [, epoch, last, step, total, elapsed = '', rate] = match
  const epochs = Number(last) + 1
  return {
    line,
    closed,
    epoch: Number(epoch),
    ...(epochs > 0 && { epochs }),
    step: Number(step),
    total: Number(total),
    elapsedSeconds: parseClock(elapsed),
    secondsPerStep: rate === undefined ? undefined : 1 / Number(rate),
  }
}
