import { parseClock, parseLength } from './clock.ts'
import { commonFigures } from './common-figures.ts'
import { derived, findFigures } from './figures.ts'
import { lineReader } from './line-format.ts'
import type { LogReader, LogReading, Pause, ProgressPoint } from './log-reader.ts'
import type { LogRecord } from './records.ts'

const bar = /^\s*(\d+)\/(\d+|Unknown) (?:\[[=>.]*\]|[━─╺╸╶╴-]+|-)(?: ?- ?|\s)(.*)$/
const epochLine = /^\s*Epoch (\d+)\/(\d+)\s*$/

interface Epoch {
  readonly line: number
  readonly epoch: number
  readonly epochs: number
  readonly length?: number
  readonly done: number
  /** At its end: seconds it took, validation included. */
  readonly seconds?: number
  readonly secondsPerStep?: number
  /** Seconds of a step as they stood before validation. */
  readonly running?: number
  readonly isSamples: boolean
  readonly isClosed: boolean
  readonly isValidated: boolean
}

/** model.fit of Keras: an epoch's line, then a bar that is rewritten. */
export const keras: LogReader = {
  name: 'keras',
  read: records => {
    const epochs = epochsOf(records)
    if (epochs.length === 0) return undefined
    const isSamples = epochs.some(epoch => epoch.isSamples)
    const points = epochs.map(pointOf)
    const closed = epochs.filter(epoch => epoch.isClosed)
    const elapsed = closed.reduce((sum, epoch) => sum + (epoch.seconds ?? 0), 0)
    const last = epochs.at(-1)
    const validated = closed.filter(epoch => epoch.isValidated).map(epoch => epoch.line)
    const isEarly = records.find(({ text }) => /\bearly stopping\b/i.test(text) && /^Epoch \d+: early/.test(text))
    const reading: LogReading = {
      framework: 'keras',
      unit: isSamples ? 'sample' : 'optimizer-step',
      points,
      perEpoch: true,
      firstEpoch: 1,
      bars: true,
      figures: {
        ...findFigures(records, commonFigures),
        ...(closed.length === epochs.length &&
          elapsed > 0 && { elapsedSeconds: derived('sum of the epochs', elapsed) }),
        ...(last !== undefined && {
          epochsTotal: { value: last.epochs, line: last.line },
          epochsDone: { value: last.epoch - (last.isClosed ? 0 : 1), line: last.line },
        }),
      },
      pauses: epochs.flatMap(validationOf),
      evaluatedAtLine: validated,
      finishedAtLine: isEarly?.line,
    }
    return reading
  },
}

function epochsOf(records: readonly LogRecord[]): readonly Epoch[] {
  const epochs: Epoch[] = []
  let head: { epoch: number; epochs: number } | undefined
  for (const { text, line } of records) {
    const named = epochLine.exec(text)
    if (named !== null) head = { epoch: Number(named[1]), epochs: Number(named[2]) }
    const match = bar.exec(text)
    if (match === null || head === undefined) continue
    const [, done = '0', total = '', rest = ''] = match
    const speed = /([\d.]+)\s?(s|ms|us|µs|μs)\/(step|sample)/.exec(rest)
    const isSamples = speed?.[3] === 'sample' || (speed === null && /ETA/.test(rest) && Number(total) > 20_000)
    // while it runs Keras 3 writes the time left where the time taken stands at the end
    const isClosed = done === total && !/ETA/.test(rest)
    const took = /^(\d+:\d{2}(?::\d{2})?|\d+(?:us|ms|s)?)\b/.exec(rest)?.[1]
    const seconds = took === undefined ? undefined : (parseClock(took) ?? parseLength(took))
    const secondsPerStep = speed === null ? undefined : Number(speed[1]) * ({ s: 1, ms: 1e-3 }[speed[2] ?? ''] ?? 1e-6)
    const previous = epochs.at(-1)
    const isValidated = /\bval_\w+: /.test(rest)
    const epoch: Epoch = {
      ...head,
      line,
      done: Number(done),
      isSamples: isSamples || previous?.isSamples === true,
      isClosed,
      isValidated,
      ...(total !== 'Unknown' && { length: Number(total) }),
      ...(isClosed && seconds !== undefined && { seconds }),
      ...(secondsPerStep !== undefined && { secondsPerStep }),
      ...(secondsPerStep !== undefined && !isValidated && { running: secondsPerStep }),
    }
    if (previous?.epoch === head.epoch)
      epochs[epochs.length - 1] = {
        ...epoch,
        isValidated: isValidated || previous.isValidated,
        ...(isValidated && previous.running !== undefined && { running: previous.running }),
      }
    else epochs.push(epoch)
  }
  return epochs
}

function pointOf(one: Epoch): ProgressPoint {
  const { line, epoch, epochs, length, done, seconds, secondsPerStep, running, isClosed } = one
  const ofWhole = isClosed && seconds !== undefined && length !== undefined ? seconds / length : undefined
  return { line, epoch, epochs, step: done, total: length, secondsPerStep: running ?? secondsPerStep ?? ofWhole }
}

/** What an epoch took beyond its steps. */
function validationOf({ line, done, seconds, running, isValidated }: Epoch): readonly Pause[] {
  if (!isValidated || seconds === undefined || running === undefined) return []
  return [{ line, seconds: Math.max(0, seconds - done * running) }]
}

/** Estimator of TensorFlow 1, and what is built on it: tensor2tensor, BERT, the object detection API. */
export const estimator: LogReader = lineReader({
  framework: 'tf-estimator',
  unit: 'optimizer-step',
  report: /\bloss = \S+, step = (?<step>\d+)(?: \((?<seconds>[\d.]+) sec\))?/,
  additions: [/^.*\bexamples\/sec: (?<samplesPerSecond>[\d.]+)/],
  finished: /Loss for final step/,
  evaluation: /Starting evaluation|Saving dict for global step/,
  figures: [{ figure: 'stepsTotal', pattern: /\b(?:max_steps|num_train_steps|train_steps)['"]?[=:] ?(\d+)/ }],
  refine: (reading, records) => {
    // seconds are those since the report before
    const points = reading.points.map((point, index, all) => {
      const before = all[index - 1]
      const steps = before === undefined ? 0 : point.step - before.step
      const took = point.secondsPerStep
      return { ...point, secondsPerStep: took === undefined || steps <= 0 ? undefined : took / steps }
    })
    const saved = records.flatMap(({ text, line }) => {
      const step = /Saving checkpoints for (\d+) into/.exec(text)?.[1]
      return step === undefined ? [] : [{ line, step: Number(step) }]
    })
    const last = saved.at(-1)
    const known = points.at(-1)?.step ?? 0
    const more = last !== undefined && last.step > known ? [{ line: last.line, step: last.step }] : []
    const all = [...points, ...more]
    const isFinished = reading.finishedAtLine !== undefined
    const end = all.at(-1)
    const listed = reading.points.reduce((sum, point) => sum + (point.secondsPerStep ?? 0), 0)
    const total =
      end === undefined || !isFinished
        ? undefined
        : derived('the step of the last checkpoint, before the final step', end.step)
    const rest =
      more.length > 0 && points.length > 1
        ? ((last?.step ?? 0) - known) * (listed / Math.max(1, known - (points[0]?.step ?? 0)))
        : 0
    return {
      ...reading,
      points: all,
      figures: {
        ...reading.figures,
        ...(total !== undefined && reading.figures.stepsTotal === undefined && { stepsTotal: total }),
        ...(listed > 0 &&
          !records.some(record => record.timeSeconds !== undefined) && {
            elapsedSeconds: derived('sum of the reports', listed + rest),
          }),
      },
    }
  },
})
