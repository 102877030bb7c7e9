import { derived, findFigures } from './figures.ts'
import { type LineFormat, lineReader, readLines } from './line-format.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'

const report =
  /\biteration\s+(?<step>\d+)\/\s*(?<total>\d+) \|(?:.*?consumed samples:\s*(?<samples>\d+) \|)?(?:.*?consumed tokens:\s*(?<tokens>\d+) \|)?.*?elapsed time per iteration \((?:ms\): (?<ms>[\d.]+)|s\): (?<seconds>[\d.]+))(?:.*?global batch size:\s*(?<batch>\d+))?/

const megatron: Omit<LineFormat, 'framework'> = {
  unit: 'optimizer-step',
  report,
  additions: [/^time \(ms\).*?batch[- ]generator: (?<dataMs>[\d.]+)/],
  evaluation: /validation loss at|evaluat(?:e|ing) \.|\bevaluate \.\./,
  started: /^\s*training \.\.\./,
  finished:
    /\[after training is done\]|\[exiting program at iteration \d+\] datetime.*(?:train_iters|exit)|^\[after training/,
  figures: [
    { figure: 'stepsTotal', pattern: /^\s*train_iters \.+ (\d+)/ },
    { figure: 'globalBatch', pattern: /^\s*global_batch_size \.+ (\d+)/ },
    { figure: 'globalBatch', pattern: /^\s*train_batch_size \.+ (\d+)/ },
    { figure: 'sequenceLength', pattern: /^\s*seq_length \.+ (\d+)/ },
    { figure: 'worldSize', pattern: /^\s*world_size \.+ (\d+)/ },
    { figure: 'worldSize', pattern: /^\s*global_num_gpus \.+ (\d+)/ },
    {
      figure: 'peakMemoryBytes',
      pattern: /memory \(MB\) \|.*\bmax allocated: ([\d.]+)/,
      scale: 2 ** 20,
      largest: true,
    },
  ],
}

/** Megatron-LM and what is built on it. */
export const megatronFamily: LogReader = {
  name: 'megatron-lm',
  read: records => {
    const isNeox = records.some(({ text }) =>
      /samples\/sec: [\d.]+ \| iteration|approx flops per GPU|\.\.updated\s*$/.test(text),
    )
    const isDeepspeed = records.some(({ text }) =>
      /\bconsumed tokens:|\bDeepSpeedEngine configuration|^\s*deepspeed \.+ True/.test(text),
    )
    const isBridge = records.some(({ text }) => /Step Time : [\d.]+s GPU utilization/.test(text))
    const framework = isNeox
      ? 'gpt-neox'
      : isDeepspeed
        ? 'megatron-deepspeed'
        : isBridge
          ? 'megatron-bridge'
          : 'megatron-lm'
    const reading = readLines({ ...megatron, framework }, records)
    return reading === undefined ? undefined : withBatches(reading, records)
  },
}

function withBatches(reading: LogReading, records: readonly LogRecord[]): LogReading {
  const { figures } = reading
  const isRampedUp = records.some(
    ({ text }) => /^\s*rampup_batch_size \.+ \[/.test(text) || /will use batch size rampup/.test(text),
  )
  const batches = new Set(reading.points.flatMap(point => point.globalBatch ?? []))
  if (isRampedUp && batches.size > 1) {
    const points = reading.points.map(point => ({ ...point, total: undefined }))
    const text =
      'the batch is being ramped up: steps get longer, and the total printed (samples over the final batch) is too small'
    return {
      ...reading,
      points,
      figures: { ...figures, globalBatch: undefined, stepsTotal: undefined },
      warnings: [{ code: 'batch-size-varies', text }],
    }
  }
  if (figures.globalBatch !== undefined || batches.size > 0) return reading
  // until 2020 the batch of the arguments was that of a data-parallel replica, and steps did not accumulate
  const replica = findFigures(records, [{ figure: 'microBatch', pattern: /^\s*batch_size \.+ (\d+)/ }]).microBatch
  const modelParallel = records.flatMap(({ text }) => /model-parallel size: (\d+)/.exec(text)?.[1] ?? [])[0]
  const world = figures.worldSize?.value
  if (replica === undefined || world === undefined || modelParallel === undefined) return reading
  const batch = derived('batch of a replica times their number', (replica.value * world) / Number(modelParallel))
  return { ...reading, figures: { ...figures, globalBatch: batch } }
}

/** NeMo 2 and Megatron in its console: `Training epoch 0, iteration 120/149 | …`. */
export const nemo: LogReader = lineReader({
  framework: 'nemo',
  unit: 'optimizer-step',
  report:
    /Training epoch \d+, iteration (?<step>\d+)\/(?<total>\d+) \|(?:.*?global_batch_size: (?<batch>\d+))?(?:.*?peak_memory_usage: (?<bytes>\d+))?(?:.*?train_step_timing in s: (?<seconds>[\d.]+))?(?:.*?consumed_samples: (?<samples>\d+))?/,
  zeroBased: true,
  totalIsLast: true,
  finished: /`Trainer\.fit` stopped: `max_(?:steps|epochs)=/,
  evaluation: /Validation(?: epoch \d+|:| DataLoader)|\bval_loss\b/,
})

/** NeMo 1: Lightning's bar with the optimizer step and what it took behind it. */
export const nemoBar: LogReader = lineReader({
  framework: 'nemo',
  unit: 'optimizer-step',
  report:
    /Epoch \d+:.*\|.*?(?:(?<total>\d+) \[|\[).*?\bglobal_step=(?<step>[\d.e+]+)(?:.*?consumed_samples=(?<samples>[\d.e+]+))?(?:.*?train_step_timing in s=(?<seconds>[\d.]+))?/,
  figures: [
    { figure: 'globalBatch', pattern: /^\s*global_batch_size: (\d+)/ },
    { figure: 'stepsTotal', pattern: /^\s*max_steps: (\d+)/ },
  ],
  finished: /`Trainer\.fit` stopped: `max_(?:steps|epochs)=/,
  evaluation: /Validation DataLoader|Validating/,
  refine: reading => ({
    ...reading,
    bars: true,
    points: reading.points.map(point => ({ ...point, total: undefined, step: point.step, samplesSeen: undefined })),
    zeroBased: false,
  }),
})
