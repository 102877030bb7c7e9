import { derived } from './figures.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'

const imagenetExample: LineFormat = {
  framework: 'pytorch-imagenet-example',
  unit: 'optimizer-step',
  report:
    /Epoch: ?\[(?<epoch>\d+)\](?:\[|\[\s*)\s*(?<step>\d+)\/(?<total>\d+)\]\s+(?:Time|BT|batch_time):?\s*(?<seconds>[\d.]+) \(\s*(?<mean>[\d.]+)\)(?:\s+Data:?\s*(?<data>[\d.]+))?/i,
  perEpoch: true,
  firstEpoch: 0,
  evaluation: /^Test: ?\[|\* ?Acc@1|\* Prec@1/,
  // old versions count from 0
  refine: reading => ({ ...reading, zeroBased: reading.points.some(point => point.step === 0) }),
}

const timm: LineFormat = {
  framework: 'timm',
  unit: 'optimizer-step',
  report:
    /Train: (?<epoch>\d+) \[\s*(?<step>\d+)\/(?<total>\d+)\s*\([^)]*\)\]\s+Loss: .*?Time: (?<seconds>[\d.]+)s?,?\s*(?<samplesPerSecond>[\d.]+)\/s\s+\(\s*(?<mean>[\d.]+)s?,(?:.*?\bData: (?<data>[\d.]+))?/,
  perEpoch: true,
  firstEpoch: 0,
  zeroBased: true,
  figures: [
    { figure: 'epochsTotal', pattern: /Scheduled epochs: (\d+)/ },
    { figure: 'worldSize', pattern: /\bTotal (\d+)\.?\s*$|Process \d+, total (\d+)/ },
  ],
  finished: /\*\*\* Best metric/,
  evaluation: /^Test: \[/,
  refine: (reading, records) => timmSteps(reading, records),
}

/** A report is of one step, one of many: the mean of an epoch says more. The printed total is that of batches, of which the last has the index total - 1. */
function timmSteps(reading: LogReading, records: readonly LogRecord[]): LogReading {
  const last = new Map(reading.points.map(point => [point.epoch, point]))
  const ends = [...last.values()].filter(point => point.total !== undefined && point.step + 1 >= point.total)
  const means = ends.flatMap(point => point.meanSecondsPerStep ?? [])
  const batch = records.flatMap(({ text }) => /effective global batch size \((\d+)\)/.exec(text)?.[1] ?? [])[0]
  const isFew = reading.points.length < 60 && means.length > 0
  const mean = means.reduce((sum, one) => sum + one, 0) / means.length
  const points = reading.points.map(point => ({ ...point, meanSecondsPerStep: undefined }))
  const single = records.find(({ text }) => /Training with a single process/.test(text))
  return {
    ...reading,
    points,
    figures: {
      ...reading.figures,
      ...(batch !== undefined && { globalBatch: derived('effective global batch size', Number(batch)) }),
      ...(isFew && { secondsPerStep: derived('mean of the epochs', mean) }),
      ...(single !== undefined && { worldSize: { value: 1, line: single.line } }),
    },
  }
}

const metricLogger: LineFormat = {
  framework: 'torchvision-references',
  unit: 'optimizer-step',
  report:
    /(?:Epoch|Train(?:ing)? Epoch|Train): ?\[(?<epoch>\d+)\](?:\[|\s+\[)\s*(?<step>\d+)\/(?<total>\d+)\]\s+eta: ?(?<left>[\d:, day]+?)\s+.*?\btime: (?<seconds>[\d.]+)(?:.*?\bdata: (?<data>[\d.]+))?(?:.*?max mem: (?<mib>\d+))?/,
  perEpoch: true,
  firstEpoch: 0,
  zeroBased: true,
  remainingOfEpoch: true,
  figures: [
    { figure: 'epochsTotal', pattern: /\bNamespace\(.*?\bepochs=(\d+)/ },
    { figure: 'microBatch', pattern: /\bNamespace\(.*?\bbatch_size=(\d+)/ },
    { figure: 'accumulation', pattern: /\bNamespace\(.*?\b(?:accum_iter|update_freq)=(\d+)/ },
    { figure: 'worldSize', pattern: /\bNamespace\(.*?\bworld_size=(\d+)/ },
    { figure: 'elapsedSeconds', pattern: /^Training time ((?:\d+ days?, )?[\d:]+)/ },
    { figure: 'epochsTotal', pattern: /^epochs: (\d+)$/ },
  ],
  started: /^Start training/,
  finished: /^Training time /,
  evaluation: /^\s*Test:\s|Accumulating evaluation results|^IoU metric/,
  warnings: ['eta-is-for-epoch'],
  refine: reading => {
    const accumulation = reading.figures.accumulation
    return accumulation !== undefined && accumulation.value > 1 ? { ...reading, unit: 'micro-step' } : reading
  },
}

const mmengine: LineFormat = {
  framework: 'mmengine',
  unit: 'optimizer-step',
  report:
    /\bEpoch(?:\(train\))?\s+\[(?<epoch>\d+)\]\s*\[\s*(?<step>\d+)\/(?<total>\d+)\]\s+.*?\beta: (?<left>.+?),?\s+time: (?<seconds>[\d.]+),?\s+data_time: (?<data>[\d.]+)(?:,?\s+memory: (?<mib>\d+))?/,
  perEpoch: true,
  firstEpoch: 1,
  figures: [
    { figure: 'epochsTotal', pattern: /\bmax_epochs\s*=\s*(\d+)/ },
    { figure: 'epochsTotal', pattern: /\bmax: (\d+) epochs/ },
    { figure: 'epochsTotal', pattern: /\btotal_epochs\s*=\s*(\d+)/ },
    { figure: 'worldSize', pattern: /\bGPU number: (\d+)/ },
  ],
  evaluation: /\bEpoch\(val\)|Iter\(val\)|\btask\/s, elapsed/,
  refine: reading => {
    // the time left is that of the run: with the time of a step it tells the epochs, where they divide well
    const last = reading.points.at(-1)
    if (
      reading.figures.epochsTotal !== undefined ||
      last?.total === undefined ||
      last.remainingSeconds === undefined ||
      last.epoch === undefined
    )
      return reading
    if (last.remainingSeconds > 0 || last.step !== last.total) return reading
    return {
      ...reading,
      figures: {
        ...reading.figures,
        epochsTotal: { value: last.epoch, line: last.line, formula: 'no time left at the end of this epoch' },
      },
    }
  },
}

const mmengineIterations: LineFormat = {
  ...mmengine,
  report:
    /\bIter(?:\(train\))?\s+\[\s*(?<step>\d+)\/(?<total>\d+)\]\s+.*?\beta: (?<left>.+?),?\s+time: (?<seconds>[\d.]+),?\s+data_time: (?<data>[\d.]+)(?:,?\s+memory: (?<mib>\d+))?/,
  perEpoch: false,
}

const detectron2: LineFormat = {
  framework: 'detectron2',
  unit: 'optimizer-step',
  report:
    /(?:\beta: (?<left>(?:\d+ days?, )?[\d:]+)\s+)?iter: (?<step>\d+)\s+total_loss: .*?\b(?:time: (?<seconds>[\d.]+))(?:.*?\bdata_time: (?<data>[\d.]+))?(?:.*?max_mem: (?<mib>\d+)M)?/,
  zeroBased: true,
  figures: [
    { figure: 'globalBatch', pattern: /^\s*IMS_PER_BATCH: (\d+)/ },
    { figure: 'stepsTotal', pattern: /^\s*MAX_ITER: (\d+)/ },
    { figure: 'stepsTotal', pattern: /\bmax_iter=(\d+)/ },
    { figure: 'worldSize', pattern: /World size: (\d+)/ },
    { figure: 'elapsedSeconds', pattern: /Total training time: ((?:\d+ days?, )?[\d:]+)/ },
  ],
  started: /Starting training from iteration/,
  finished: /Overall training speed|Total training time:/,
  evaluation: /Start inference on|Evaluation results for/,
}

const maskrcnnBenchmark: LineFormat = {
  ...detectron2,
  framework: 'maskrcnn-benchmark',
  report:
    /\beta: (?<left>(?:\d+ days?, )?[\d:]+)\s+iter: (?<step>\d+)\s+loss: .*?\btime: (?<seconds>[\d.]+) \([\d.]+\)(?:\s+data: (?<data>[\d.]+) \([\d.]+\))?(?:.*?max mem: (?<mib>\d+))?/,
  zeroBased: false,
}

const nnunet: LineFormat = {
  framework: 'nnunet',
  unit: 'epoch',
  report: /^\s*(?:epoch:?\s+|Epoch )(?<epoch>\d+)\s*$/i,
  sign: /Pseudo dice|nnU-?Net|This epoch took/i,
  additions: [/^\s*Epoch time: (?<seconds>[\d.]+) s/, /^\s*This epoch took (?<seconds>[\d.]+) s/],
  zeroBased: true,
  started: /^\s*Epoch 0\s*$/i,
  finished: /Training done|Mean Validation Dice/,
  evaluation: /^\s*val_loss|validation loss:/,
  refine: reading => {
    const last = reading.points.at(-1)
    // an epoch is named when it begins, and timed when it is over
    const points =
      last !== undefined && last.secondsPerStep === undefined ? reading.points.slice(0, -1) : reading.points
    return { ...reading, points: points.map(point => ({ ...point, timeSeconds: undefined, closed: undefined })) }
  },
}

const darknet: LineFormat = {
  framework: 'darknet',
  unit: 'optimizer-step',
  report:
    /^\s*(?<step>\d+): [\d.naninf]+, [\d.naninf]+ avg(?: loss)?, [\d.e-]+ rate, (?<seconds>[\d.]+) seconds, (?<samples>\d+) images(?:, (?<left>[\d.]+ hours) left)?/,
  figures: [{ figure: 'stepsTotal', pattern: /\bmax_batches\s*=\s*(\d+)/ }],
  additions: [/^Loaded: (?<data>[\d.]+) seconds/],
  evaluation: /mean average precision/,
  // the seconds begin when the images were loaded
  refine: reading => ({
    ...reading,
    points: reading.points.map(point => ({
      ...point,
      ...(point.secondsPerStep !== undefined && { secondsPerStep: point.secondsPerStep + (point.dataSeconds ?? 0) }),
    })),
  }),
}

/** OpenCLIP: the counter is one of samples; the times are those of a batch of all processes. */
const openClip: LineFormat = {
  framework: 'open_clip',
  unit: 'sample',
  report:
    /\bTrain Epoch: (?<epoch>\d+) \[\s*(?<step>\d+)\/(?<total>\d+) \(\d+%\)\].*?\bData \(t\): (?<data>[\d.]+) Batch \(t\): (?<seconds>[\d.]+), (?<samplesPerSecond>[\d.]+)\/s/,
  perEpoch: true,
  firstEpoch: 0,
  figures: [
    { figure: 'epochsTotal', pattern: /\|\s+epochs: (\d+)/ },
    { figure: 'worldSize', pattern: /\btotal (\d+)\.\s*$/ },
    { figure: 'worldSize', pattern: /\|\s+world_size: (\d+)/ },
    { figure: 'microBatch', pattern: /\|\s+batch_size: (\d+)/ },
    { figure: 'accumulation', pattern: /\|\s+accum_freq: (\d+)/ },
  ],
  started: /\bStart epoch 0\b/,
  evaluation: /\bEval Epoch: |Starting zero-shot/,
  refine: reading => ofSamples(reading),
}

/** Times of a batch become those of a sample. */
function ofSamples(reading: LogReading): LogReading {
  const points = reading.points.map(point => {
    const { secondsPerStep = Number.NaN, samplesPerSecond = Number.NaN, dataSeconds = Number.NaN } = point
    const batch = Math.round(secondsPerStep * samplesPerSecond)
    return batch > 0
      ? {
          ...point,
          secondsPerStep: secondsPerStep / batch,
          dataSeconds: dataSeconds / batch,
          samplesPerSecond: undefined,
        }
      : { ...point, secondsPerStep: undefined, dataSeconds: undefined }
  })
  return { ...reading, points }
}

/** Programs that train on images and write a line for each report. */
export const vision: readonly LogReader[] = [
  timm,
  metricLogger,
  imagenetExample,
  mmengine,
  mmengineIterations,
  detectron2,
  maskrcnnBenchmark,
  nnunet,
  darknet,
  openClip,
].map(lineReader)
