import { derived } from './figures.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { Figure, LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'
import { median } from './steady-rate.ts'

const fairseq: LineFormat = {
  framework: 'fairseq',
  unit: 'optimizer-step',
  // values stand behind `=` in lines, behind `": "` in JSON
  report:
    /^(?!.*\bvalid).*\bwps"?[=:] ?"?(?<tokensPerSecond>[\d.]+)(?:.*?\bups"?[=:] ?"?(?<stepsPerSecond>[\d.]+))?(?:.*?\bbsz"?[=:] ?"?(?<samplesPerSecond>[\d.]+))?.*?\bnum_updates"?[=:] ?"?(?<step>\d+)(?:.*?\bwall"?[=:] ?"?(?<elapsed>[\d.]+))?/,
  figures: [
    { figure: 'stepsTotal', pattern: /['"]?max_update['"]?[=:] ?(\d{2,})/ },
    { figure: 'epochsTotal', pattern: /['"]?max_epoch['"]?[=:] ?([1-9]\d*)\b/ },
    { figure: 'worldSize', pattern: /training on (\d+) (?:devices|GPUs)/ },
    { figure: 'elapsedSeconds', pattern: /done training in ([\d.]+) seconds/ },
  ],
  started: /Start iterating over samples|begin training epoch 1\b/,
  finished: /done training in/,
  evaluation: /begin validation on|\| valid \|/,
  refine: (reading, records) => {
    // bsz is the batch: sentences of an update on all GPUs, which vary
    const batches = reading.points.flatMap(point => point.samplesPerSecond ?? [])
    const points = reading.points.map(point => ({ ...point, samplesPerSecond: undefined }))
    const ends = records.flatMap(({ text }) => /end of epoch (\d+)/.exec(text)?.[1] ?? [])
    const stop = records.flatMap(({ text, line }) => {
      const match = /num_updates: (\d+) >= max_update: (\d+)/.exec(text)
      return match === null ? [] : [{ line, total: Number(match[2]), done: Number(match[1]) }]
    })[0]
    const last = points.at(-1)
    const closing = records
      .flatMap(({ text, line }) => {
        const [, batch, updates] = /\| train \| .*?\bbsz ([\d.]+).*?num_updates (\d+)/.exec(text) ?? []
        return updates === undefined ? [] : [{ line, step: Number(updates), batch: Number(batch) }]
      })
      .at(-1)
    const end = stop ?? undefined
    const done =
      closing !== undefined && last !== undefined && closing.step > last.step
        ? [{ line: closing.line, step: closing.step }]
        : []
    const isFinished = reading.finishedAtLine !== undefined
    const total = end?.total ?? (isFinished ? (closing?.step ?? last?.step) : undefined)
    return {
      ...reading,
      points: [...points, ...done],
      figures: {
        ...reading.figures,
        ...(batches.length > 0 && {
          globalBatch: derived('mean sentences of an update', Math.round(closing?.batch ?? median(batches))),
        }),
        ...(ends.length > 0 && { epochsDone: derived('epochs that ended', Number(ends.at(-1))) }),
        ...(total !== undefined && { stepsTotal: { value: total, line: end?.line ?? reading.finishedAtLine } }),
      },
    }
  },
}

const opennmt: LineFormat = {
  framework: 'opennmt-py',
  unit: 'optimizer-step',
  report:
    /\bStep (?<step>\d+)\/\s*(?<total>\d+); acc:.*?(?:sents:\s*(?<samples>\d+);.*?)?(?<tokensPerSecond>\d+)\/\s*\d+ tok\/s;\s*(?<elapsed>\d+) sec/,
  figures: [{ figure: 'worldSize', pattern: /Starting training on GPU: \[([\d, ]+)\]/, list: true }],
  evaluation: /Validation (?:perplexity|accuracy)/,
  refine: reading => withSentences(reading),
}

/** `sents` counts since the last report. */
function withSentences(reading: LogReading): LogReading {
  let seen = 0
  const points = reading.points.map(point => {
    seen += point.samplesSeen ?? 0
    return { ...point, samplesSeen: point.samplesSeen === undefined ? undefined : seen }
  })
  const last = points.at(-1)
  const isWhole = last !== undefined && (points[0]?.step ?? 0) <= (points[1]?.step ?? 0) - (points[0]?.step ?? 0)
  const batch = isWhole && seen > 0 ? derived('sentences over steps', Math.round(seen / last.step)) : undefined
  return { ...reading, points, figures: { ...reading.figures, ...(batch !== undefined && { globalBatch: batch }) } }
}

const marian: LineFormat = {
  framework: 'marian',
  unit: 'optimizer-step',
  report:
    /\bEp\. (?<epoch>\d+) : Up\. (?<step>\d+) : Sen\. [\d,]+ : Cost .*? : Time (?<length>[\d.]+s) : (?<tokensPerSecond>[\d.]+) words\/s/,
  evaluation: /\[valid\]/,
  finished: /Training finished/,
  figures: [{ figure: 'stepsTotal', pattern: /\[config\] after-batches: ([1-9]\d*)/ }],
  // Time is that of all updates since the last report
  refine: (reading, records) => ({
    ...reading,
    figures: { ...reading.figures, worldSize: reading.figures.worldSize ?? devicesOf(records) },
    points: reading.points.map((point, index, all) => {
      const steps = point.step - (all[index - 1]?.step ?? 0)
      const took = point.secondsPerStep
      return { ...point, secondsPerStep: took === undefined || steps <= 0 ? undefined : took / steps }
    }),
  }),
}

/** A list in the configuration, which is printed at each start. */
function devicesOf(records: readonly LogRecord[]): Figure | undefined {
  const head = records.findIndex(({ text }) => /\[config\] devices:\s*$/.test(text))
  const behind = records.slice(head + 1).findIndex(({ text }) => !/\[config\]\s+- \d+\s*$/.test(text))
  return head < 0 || behind < 1 ? undefined : { value: behind, line: records[head]?.line }
}

/** Old OpenNMT: `Epoch  1, 12850/37527; …; 3438 src tok/s; 3517 tgt tok/s; 9823 s elapsed`. */
const opennmtOld: LineFormat = {
  framework: 'opennmt-py',
  unit: 'optimizer-step',
  report:
    /\bEpoch\s+(?<epoch>\d+),\s+(?<step>\d+)\/\s*(?<total>\d+); .*?(?<tokensPerSecond>\d+) src tok\/s;.*?(?<elapsed>\d+) s elapsed/,
  perEpoch: true,
  firstEpoch: 1,
  refine: reading => ({
    ...reading,
    points: reading.points.map(point => ({ ...point, elapsedSeconds: undefined, secondsPerStep: undefined })),
  }),
}

/** Translation toolkits. */
export const translation: readonly LogReader[] = [fairseq, opennmt, opennmtOld, marian].map(lineReader)
