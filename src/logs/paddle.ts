import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader } from './log-reader.ts'

/** `ips` is that of a process, and in some programs of all; nobody can tell from the file. */
const paddleDetection: LineFormat = {
  framework: 'paddledetection',
  unit: 'optimizer-step',
  report:
    /\bEpoch: \[(?<epoch>\d+)\] \[\s*(?<step>\d+)\/(?<total>\d+)\] .*?\beta: (?<left>(?:\d+ days?, )?[\d:]+) batch_cost: (?<seconds>[\d.]+) data_cost: (?<data>[\d.]+) ips: (?<samplesPerSecond>[\d.]+) images\/s(?:.*?max_mem_reserved: (?<mib>\d+) MB)?/,
  perEpoch: true,
  firstEpoch: 0,
  zeroBased: true,
  evaluation: /\bEval iter: /,
}

const paddleClas: LineFormat = {
  framework: 'paddleclas',
  unit: 'optimizer-step',
  report:
    /\[Train\]\[Epoch (?<epoch>\d+)\/(?<epochs>\d+)\]\[Iter: ?(?<step>\d+)\/(?<total>\d+)\].*?batch_cost: (?<seconds>[\d.]+)s, reader_cost: (?<data>[\d.]+)(?:s)?, ips: (?<samplesPerSecond>[\d.]+) samples\/s(?:, eta: (?<left>[\d:days, ]+))?/,
  perEpoch: true,
  firstEpoch: 1,
  zeroBased: true,
  evaluation: /\[Eval\]/,
}

const paddleOcr: LineFormat = {
  framework: 'paddleocr',
  unit: 'optimizer-step',
  report:
    /\bepoch: \[(?<epoch>\d+)\/(?<epochs>\d+)\], (?:global_step|iter): (?<step>\d+), .*?avg_reader_cost: (?<data>[\d.]+) s, avg_batch_cost: (?<seconds>[\d.]+) s, avg_samples: [\d.]+, ips: (?<samplesPerSecond>[\d.]+) samples\/s(?:, eta: (?<left>[\d:days, ]+))?/,
  evaluation: /\bcur metric, |\beval model::/,
}

const paddleSeg: LineFormat = {
  framework: 'paddleseg',
  unit: 'optimizer-step',
  report:
    /\[TRAIN\] epoch: \d+, iter: (?<step>\d+)\/(?<total>\d+), .*?batch_cost: (?<seconds>[\d.]+), reader_cost: (?<data>[\d.]+), ips: (?<samplesPerSecond>[\d.]+) samples\/sec \| ETA (?<left>[\d:]+)/,
  evaluation: /\[EVAL\]|Start evaluating/,
}

const paddleNlp: LineFormat = {
  framework: 'paddlenlp',
  unit: 'optimizer-step',
  report:
    /\bloss: [\d.e+-]+, learning_rate: [\d.e+-]+, global_step: (?<step>\d+), .*?interval_runtime: (?<length>[\d.]+)(?:, interval_samples_per_second: (?<samplesPerSecond>[\d.]+))?(?:, interval_tokens_per_second_per_device: [\d.]+)?(?:, interval_steps_per_second: (?<stepsPerSecond>[\d.]+))?/,
  figures: [
    { figure: 'stepsTotal', pattern: /Total optimization steps = ([\d,]+)/ },
    {
      figure: 'globalBatch',
      pattern: /Total train batch size \(w\. parallel, distributed & accumulation\) = ([\d,]+)/,
    },
  ],
  finished: /train_runtime: /,
}

/** Programs on PaddlePaddle. */
export const paddle: readonly LogReader[] = [paddleDetection, paddleClas, paddleOcr, paddleSeg, paddleNlp].map(format =>
  lineReader(format),
)
