import { commonFigures } from './common-figures.ts'
import { derived, findFigures, parseNumber } from './figures.ts'
import { linesOf, usualEvaluation } from './line-format.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'

const optimizerStep = /\[Rank 0\] step=(\d+), skipped=\d+|\bglobal_step=(\d+),.*RunningAvgSamplesPerSec/
const timer = /(?:\b\d+\/(\d+), |micro_step=(\d+)\/.*?)(?:RunningAvgSamplesPerSec|SamplesPerSec)=/
const pipeline = /steps: (\d+) loss: \S+ iter time \(s\): ([\d.]+) samples\/sec: ([\d.]+)/

/** DeepSpeed's engine: its own lines, beside what the program prints. */
export const deepspeed: LogReader = {
  name: 'deepspeed',
  read: records => {
    const points: ProgressPoint[] = []
    let micro = 0
    for (const record of records) {
      const { text, line, timeSeconds } = record
      const staged = pipeline.exec(text)
      const step = optimizerStep.exec(text)
      micro = Number(timer.exec(text)?.[1] ?? timer.exec(text)?.[2] ?? micro)
      if (staged !== null) {
        points.push({
          line,
          timeSeconds,
          step: Number(staged[1]),
          secondsPerStep: parseNumber(staged[2]),
          samplesPerSecond: parseNumber(staged[3]),
        })
      } else if (step !== null) {
        const count = Number(step[1] ?? step[2])
        if (points.at(-1)?.step !== count) points.push({ line, timeSeconds, step: count })
      }
    }
    if (points.length === 0) return undefined
    const figures = findFigures(records, [
      { figure: 'worldSize', pattern: /dist_world_size=(\d+)/ },
      { figure: 'worldSize', pattern: /^\s*world_size \.+ (\d+)/ },
      ...commonFigures,
      { figure: 'globalBatch', pattern: /\btrain_batch_size \.+ (\d+)/ },
      { figure: 'microBatch', pattern: /\btrain_micro_batch_size_per_gpu \.*\s*(\d+)/ },
      { figure: 'accumulation', pattern: /\bgradient_accumulation_steps \.+ (\d+)/ },
      { figure: 'peakMemoryBytes', pattern: /MaxMemAllocated=([\d.]+)GB/, scale: 2 ** 30, largest: true },
    ])
    const last = points.at(-1)?.step ?? 0
    const isAccumulating = micro > last
    const { microBatch, accumulation, worldSize } = figures
    const globalBatch =
      figures.globalBatch ??
      derived(
        'batch of a device x accumulation x devices',
        (microBatch?.value ?? Number.NaN) * (accumulation?.value ?? 1) * (worldSize?.value ?? Number.NaN),
      )
    return {
      framework: 'deepspeed',
      unit: 'optimizer-step',
      points,
      figures: { ...figures, globalBatch },
      evaluatedAtLine: linesOf(records, usualEvaluation),
      warnings: isAccumulating
        ? [{ code: 'two-counters', text: "DeepSpeed's timer counts micro-batches; steps here are optimizer steps" }]
        : [],
    }
  },
}
