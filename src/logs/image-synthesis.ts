import { derived } from './figures.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'

const imagesPerKimg = 1000

/** StyleGAN 2 and 3: a tick is some thousand images, counted in kimg. */
const stylegan: LineFormat = {
  framework: 'stylegan',
  unit: 'sample',
  report:
    /^tick \d+\s+kimg (?<step>[\d.]+)\s+(?:lod [\d.]+\s+minibatch \d+\s+)?time (?<elapsed>.+?)\s+sec\/tick [\d.]+\s+sec\/kimg (?<seconds>[\d.]+)\s+maintenance [\d.]+(?:.*?\b(?:reserved|gpumem) +(?<gib>[\d.]+))?/,
  figures: [
    { figure: 'stepsTotal', pattern: /^Training for (\d+) kimg/, scale: imagesPerKimg },
    { figure: 'worldSize', pattern: /^Distributing across (\d+) GPUs/ },
    { figure: 'worldSize', pattern: /^Number of GPUs:\s+(\d+)/ },
    { figure: 'globalBatch', pattern: /^\s*"batch_size": (\d+)/ },
    { figure: 'globalBatch', pattern: /^Batch size:\s+(\d+)/ },
  ],
  evaluation: /^Evaluating metrics/,
  finished: /^Exiting\.\.\./,
  refine: (reading, records) => inImages(reading, records),
}

/** Counts images; what it took to save pictures and networks and to evaluate is stated beside the tick behind it. */
function inImages(reading: LogReading, records: readonly LogRecord[]): LogReading {
  return {
    ...reading,
    points: reading.points.map(point => ({
      ...point,
      step: Math.round(point.step * imagesPerKimg),
      secondsPerStep: point.secondsPerStep === undefined ? undefined : point.secondsPerStep / imagesPerKimg,
    })),
    pauses: records.flatMap(({ text, line }) => {
      const seconds = /^tick .*\bmaintenance ([\d.]+)/.exec(text)?.[1]
      return seconds === undefined ? [] : [{ line, seconds: Number(seconds) }]
    }),
  }
}

/** BasicSR, which trains by iterations, and its forerunners, whose brackets are angles. */
const basicsr: LineFormat = {
  framework: 'basicsr',
  unit: 'optimizer-step',
  report:
    /[[<]epoch:\s*\d+, iter:\s*(?<step>[\d,]+), lr:[^\]>]*[\]>](?: \[eta: (?<left>(?:\d+ days?, )?[\d:]+), time \(data\): (?<seconds>[\d.]+) \((?<data>[\d.]+)\)\])?/,
  figures: [
    { figure: 'stepsTotal', pattern: /\bTotal epochs: \d+; iters: ([\d,]+)/ },
    { figure: 'microBatch', pattern: /\bBatch size per gpu: (\d+)/ },
    { figure: 'worldSize', pattern: /\bWorld size \(gpu number\): (\d+)/ },
  ],
  started: /\bStart training from epoch: /,
  finished: /\bEnd of training\b/,
  evaluation: /\bValidation \S+\s*$|^\s*# (?:psnr|ssim): |> psnr: /,
}

/** Nerfstudio: rows under a header; a row says which share of the run is done. */
const nerfstudio: LineFormat = {
  framework: 'nerfstudio',
  unit: 'optimizer-step',
  sign: /Step \(% Done\)/,
  report: /^(?<step>\d+) \((?<total>[\d.]+)%\)\s+(?<length>(?:\d+ s, )?[\d.]+ m?s)\s+(?<left>\d[\w, .]*?s)\s/,
  figures: [{ figure: 'stepsTotal', pattern: /\bmax_num_iterations=(\d+)/ }],
  refine: reading => {
    const last = reading.points.at(-1)
    const share = (last?.total ?? Number.NaN) / 100
    const total =
      reading.figures.stepsTotal ?? derived('step over the share done', Math.round((last?.step ?? Number.NaN) / share))
    return {
      ...reading,
      points: reading.points.map(point => ({ ...point, total: undefined })),
      figures: { ...reading.figures, stepsTotal: total },
    }
  },
}

/** Programs that learn to make images. */
export const imageSynthesis: readonly LogReader[] = [stylegan, basicsr, nerfstudio].map(lineReader)
