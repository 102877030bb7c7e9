import { derived } from './figures.ts'
import { type LineFormat, lineReader, linesOf } from './line-format.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'

/** Reinforcement learning of language models: a step is generation and training. `perf/throughput` is of a GPU. */
const verl: LineFormat = {
  framework: 'verl',
  unit: 'other',
  report:
    /\bstep:(?<step>\d+) - (?=.*\bactor\/|.*\bcritic\/|.*\btrain\/)(?:.*?perf\/max_memory_reserved_gb:(?<gib>[\d.]+))?(?:.*?timing_s\/step:(?<seconds>[\d.]+))?/,
  additions: [/Training Progress:.*?(?<![\d.])\d+\/(?<total>\d+) \[/],
  figures: [
    { figure: 'stepsTotal', pattern: /Total training steps: (\d+)/ },
    { figure: 'globalBatch', pattern: /\btrain_batch_size['"]?[:=] ?(\d+)/ },
  ],
  evaluation: /val-core\/|\bval\/test_score/,
}

const tensorflowSlim: LineFormat = {
  framework: 'tf-slim',
  unit: 'optimizer-step',
  report: /INFO:tensorflow:global[_ ]step (?<step>\d+): loss = \S+ \((?<seconds>[\d.]+) sec\/step\)/,
}

const coqui: LineFormat = {
  framework: 'coqui-tts',
  unit: 'optimizer-step',
  report: /--> STEP: \d+(?:\/\d+)? -- GLOBAL_STEP: (?<step>\d+)/,
  additions: [/^\s*\| > step_time: (?<seconds>[\d.]+)/, /^\s*\| > loader_time: (?<data>[\d.]+)/],
  evaluation: /^\s*(?:> |--> )EVALUATION|--> EVAL PERFORMANCE/,
  figures: [{ figure: 'worldSize', pattern: /Num\. of GPUs: (\d+)/ }],
}

/** What boosted trees print when they have trained long enough; the line behind it repeats the report of that iteration. */
const bestIteration = /\bbest iteration(?: is)?:\s*$/i

function withoutBest(reading: LogReading, records: readonly LogRecord[]): LogReading {
  const repeated = new Set(linesOf(records, bestIteration).map(line => line + 1))
  return { ...reading, points: reading.points.filter(({ line }) => !repeated.has(line)) }
}

const xgboost: LineFormat = {
  framework: 'xgboost',
  unit: 'other',
  report: /^\s*\[(?<step>\d+)\]\s+\w+-[\w@.-]+:\s*[-\d.]/,
  zeroBased: true,
  finished: bestIteration,
  refine: withoutBest,
}

const lightgbm: LineFormat = {
  framework: 'lightgbm',
  unit: 'other',
  report: /^\s*\[(?<step>\d+)\]\s+(?:training|valid_?\w*)'s \w+: /,
  finished: bestIteration,
  refine: withoutBest,
}

const lightgbmProgram: LineFormat = {
  framework: 'lightgbm',
  unit: 'other',
  report: /\[LightGBM\] \[Info\] (?<elapsed>[\d.]+) seconds elapsed, finished iteration (?<step>\d+)/,
  finished: /\[LightGBM\] \[Info\] Finished training/,
}

const catboost: LineFormat = {
  framework: 'catboost',
  unit: 'other',
  report: /^\s*(?<step>\d+):\s+learn: .*?\btotal: (?<elapsed>\S+(?: \d+\w+)?)\s+remaining: (?<left>\S+(?: \d+\w+)?)/,
  zeroBased: true,
}

/** NVIDIA's logger of JSON lines; a step is its epoch and the iteration in it. */
const dllogger: LineFormat = {
  framework: 'dllogger',
  unit: 'other',
  report: /^DLLL \{.*?"elapsedtime": "(?<elapsed>[\d.]+)".*?"step": \[(?<epoch>\d+), (?<step>\d+)(?:, \d+)?\]/,
  perEpoch: true,
  firstEpoch: 0,
  zeroBased: true,
}

/** ParlAI: the number of steps that are planned is not printed, the time left is. */
const parlai: LineFormat = {
  framework: 'parlai',
  unit: 'optimizer-step',
  report:
    /\btime:(?<elapsed>\d+)s total_exs:(?<samples>\d+) total_steps:(?<step>\d+)(?: epochs:[\d.]+)?(?: time_left:(?<left>\d+)s)?/,
  started: /\btraining\.\.\.\s*$/,
  evaluation: /\brunning eval: |^\s*valid:/,
}

/** PyTorch's MNIST example: the counter is one of samples. */
const mnist: LineFormat = {
  framework: 'pytorch-mnist-example',
  unit: 'sample',
  report: /^Train Epoch: (?<epoch>\d+) \[(?<step>\d+)\/(?<total>\d+) \(\d+%\)\]\s+Loss: /,
  perEpoch: true,
  evaluation: /^Test set: /,
  refine: reading => ({ ...reading, firstEpoch: reading.points.some(point => point.epoch === 0) ? 0 : 1 }),
}

const fastai: LineFormat = {
  framework: 'fastai',
  unit: 'epoch',
  sign: /^epoch\s+train_loss\s+valid_loss/,
  report: /^(?<epoch>\d+)\s+(?:[\d.naif]+\s+){2,}(?<length>(?:\d+:)?\d+:\d{2})\s*$/,
  zeroBased: true,
  evaluation: /^\d+\s+[\d.]+\s+[\d.]+\s.*\d+:\d{2}\s*$/,
}

/** OpenMM's reporter: columns that the user chose. */
const openmm: LogReader = {
  name: 'openmm',
  read: records => {
    const header = records.find(({ text }) => /^#"/.test(text) && text.includes('"Step"'))
    if (header === undefined) return undefined
    const columns = header.text
      .slice(1)
      .split(/[,\t]/)
      .map(column => column.replaceAll('"', '').trim())
    const at = (cells: readonly string[], name: RegExp) => cells[columns.findIndex(column => name.test(column))]
    const points = records.flatMap(({ text, line }) => {
      const cells = text.split(/[,\t]/)
      const step = Number(at(cells, /^Step$/))
      if (cells.length !== columns.length || !Number.isInteger(step) || line <= header.line) return []
      const elapsed = Number(at(cells, /^Elapsed Time \(s\)$/))
      return [
        {
          line,
          step,
          ...(Number.isFinite(elapsed) && { elapsedSeconds: elapsed }),
          left: at(cells, /^Time Remaining$/),
        },
      ]
    })
    const last = points.at(-1)
    if (last === undefined) return undefined
    const clock = /^(?:(\d+):)?(?:(\d+):)?(\d+):(\d{2})$/.exec(last.left ?? '')
    const [, first, second, minutes = '0', seconds = '0'] = clock ?? []
    const [days, hours] = second === undefined ? ['0', first ?? '0'] : [first ?? '0', second]
    const left =
      clock === null ? undefined : ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
    const begin = points[0]
    return {
      framework: 'openmm',
      unit: 'other',
      points: points.map(({ left: _, ...point }) => point),
      figures: {
        ...(left !== undefined && { remainingSeconds: { value: left, line: last.line } }),
        ...(left === 0 &&
          begin !== undefined && { stepsTotal: derived('the step at which no time is left', last.step) }),
      },
    }
  },
}

/** Programs of which a line or two are all there is to know. */
export const otherPrograms: readonly LogReader[] = [
  ...[verl, tensorflowSlim, coqui, xgboost, lightgbm, lightgbmProgram, catboost, dllogger, parlai, mnist, fastai].map(
    lineReader,
  ),
  openmm,
]
