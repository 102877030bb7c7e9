import { findStamp } from './clock.ts'
import { derived } from './figures.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'
import { median } from './steady-rate.ts'

const espnet: LineFormat = {
  framework: 'espnet',
  unit: 'micro-step',
  report: /\b(?<epoch>\d+)epoch:train:\d+-(?<step>\d+)batch: (?:.*?\btrain_time=(?<seconds>[\d.]+))?/,
  perEpoch: true,
  firstEpoch: 1,
  figures: [
    { figure: 'epochsTotal', pattern: /\b\d+\/(\d+)epoch started/ },
    { figure: 'worldSize', pattern: /^\[[\w.-]+:\d+\/(\d+)\]/ },
    { figure: 'worldSize', pattern: /--ngpu (\d+)/ },
    { figure: 'peakMemoryBytes', pattern: /gpu_max_cached_mem_GB=([\d.]+)/, scale: 2 ** 30, largest: true },
    { figure: 'elapsedSeconds', pattern: /^# Accounting: time=(\d+)/ },
  ],
  started: /\b1\/\d+epoch started/,
  finished: /The training was finished at \d+ epochs|# Ended \(code 0\)/,
  evaluation: /epoch results: .*\[valid\]/,
  refine: (reading, records) => espnetSteps(reading, records),
}

/** train_time is that of an optimizer step, the counter one of batches: stamps tell how many batches a step has. */
function espnetSteps(reading: LogReading, records: readonly LogRecord[]): LogReading {
  const length = Math.max(...reading.points.map(point => point.step))
  const epochs = new Set(reading.points.map(point => point.epoch))
  const stated = median(reading.points.flatMap(point => point.secondsPerStep ?? []))
  const byClock = median(
    reading.points.flatMap((point, index, all) => {
      const before = all[index - 1]
      const took = (point.timeSeconds ?? Number.NaN) - (before?.timeSeconds ?? Number.NaN)
      const steps = point.step - (before?.step ?? Number.NaN)
      return point.epoch === before?.epoch && steps > 0 && took > 0 ? [took / steps] : []
    }),
  )
  const isClocked = Number.isFinite(byClock)
  const ratio = Math.round(stated / byClock)
  const points = reading.points.map(point => ({
    ...point,
    ...(epochs.size > 1 && { total: length }),
    ...(isClocked && { secondsPerStep: undefined }),
  }))
  const begun = records.flatMap(({ text }) => (/^# Started at/.test(text) ? (findStamp(text)?.seconds ?? []) : []))[0]
  const trained = records.find(record => record.line === reading.startedAtLine)?.timeSeconds
  const startUp =
    begun === undefined || trained === undefined
      ? undefined
      : derived('start of the job to the first epoch', trained - begun)
  return {
    ...reading,
    points,
    figures: {
      ...reading.figures,
      ...(startUp !== undefined && { startedToFirstStepSeconds: startUp }),
      ...(ratio > 1 && { accumulation: derived('time of a step over that of a batch', ratio) }),
    },
    warnings:
      ratio > 1
        ? [
            {
              code: 'two-counters',
              text: `batches are counted, ${ratio} of them make an optimizer step; train_time is that of a step`,
            },
          ]
        : [],
  }
}

const kaldi: LineFormat = {
  framework: 'kaldi',
  unit: 'other',
  report: /\bIter: (?<step>\d+)\/(?<total>\d+)\s+(?:Jobs: \d+\s+)?Epoch: /,
  totalIsLast: true,
  figures: [{ figure: 'epochsTotal', pattern: /Epoch: [\d.]+\/([\d.]+)/ }],
  // an iteration is printed when it starts, so as many as its number are done
  refine: reading => ({ ...reading, warnings: [{ code: 'zero-based-counter' }] }),
}

const icefall: LineFormat = {
  framework: 'icefall',
  unit: 'optimizer-step',
  report: /\bEpoch (?<epoch>\d+), batch (?<step>\d+), (?!validation)(?:global_batch_idx: \d+, )?.*?\bloss\[/,
  perEpoch: true,
  firstEpoch: 1,
  zeroBased: true,
  figures: [
    { figure: 'epochsTotal', pattern: /'num_epochs': (\d+)/ },
    { figure: 'worldSize', pattern: /'world_size': (\d+)/ },
    { figure: 'peakMemoryBytes', pattern: /Maximum memory allocated so far is (\d+)MB/, scale: 2 ** 20, largest: true },
  ],
  finished: /\(train\.py:\d+\).*\bDone!/,
  evaluation: /Computing validation loss|validation: loss/,
}

const wenet: LineFormat = {
  framework: 'wenet',
  unit: 'micro-step',
  report: /\b(?:TRAIN|train)(?: Batch |\s*\|\s*)(?<epoch>\d+)\/(?<step>\d+)\s+loss/i,
  perEpoch: true,
  firstEpoch: 0,
  zeroBased: true,
  evaluation: /\bCV Batch|Epoch \d+ CV info/,
}

/** Speech toolkits. */
export const speech: readonly LogReader[] = [espnet, kaldi, icefall, wenet].map(lineReader)
