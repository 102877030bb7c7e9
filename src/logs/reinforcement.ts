import { commonFigures } from './common-figures.ts'
import { derived, findFigures, parseNumber } from './figures.ts'
import { type LineFormat, lineReader, linesOf, readLines } from './line-format.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'

/** Stable-Baselines3: an ASCII table for each rollout. */
export const stableBaselines: LogReader = {
  name: 'stable-baselines3',
  read: records => {
    const points: ProgressPoint[] = []
    let table = new Map<string, number>()
    for (const { text, line } of records) {
      if (/^-{8,}\s*$/.test(text)) {
        const steps = table.get('total_timesteps') ?? table.get('total timesteps')
        if (steps !== undefined)
          points.push({
            line,
            step: steps,
            elapsedSeconds: table.get('time_elapsed'),
            samplesPerSecond: table.get('fps'),
          })
        table = new Map()
        continue
      }
      const row = /^\|\s+([\w/ ]+?)\s+\|\s+(-?[\d.e+-]+)\s+\|$/.exec(text)
      const value = parseNumber(row?.[2])
      if (row !== null && value !== undefined) table.set((row[1] ?? '').replace(/^time\//, ''), value)
    }
    if (points.length === 0 || !points.some(point => point.elapsedSeconds !== undefined)) return undefined
    const last = points.at(-1)
    const rate = last?.samplesPerSecond
    return {
      framework: 'stable-baselines3',
      unit: 'other',
      points: points.map(point => ({ ...point, samplesPerSecond: undefined })),
      figures: {
        ...findFigures(records, commonFigures),
        // whole seconds since the start of learning, and the mean since then: nothing finer is printed
        ...(rate !== undefined && {
          secondsPerStep: derived('1 over the frames per second', 1 / rate),
          samplesPerSecond: { value: rate, line: last?.line },
        }),
        globalBatch: undefined,
      },
      evaluatedAtLine: linesOf(records, /^Eval num_timesteps=/),
    }
  },
}

const rlGames: LineFormat = {
  framework: 'rl_games',
  unit: 'epoch',
  report:
    /fps step: [\d.]+ fps step and policy inference: [\d.]+ fps total: (?<samplesPerSecond>[\d.]+) epoch: (?<step>\d+)(?:\/(?<total>\d+))?(?: frames: (?<samples>\d+))?/,
  warnings: ['several-rates'],
  finished: /MAX EPOCHS NUM!|maximum reward achieved/i,
  refine: reading => {
    const frames = reading.points.flatMap(({ samplesSeen, step }) =>
      samplesSeen === undefined ? [] : [{ samplesSeen, step }],
    )
    const [first] = frames
    const last = frames.at(-1)
    if (first === undefined || last === undefined || last.step === first.step) return reading
    const batch = (last.samplesSeen - first.samplesSeen) / (last.step - first.step)
    const points = reading.points.map(point => ({
      ...point,
      secondsPerStep:
        point.samplesPerSecond === undefined || point.samplesPerSecond <= 0
          ? undefined
          : batch / point.samplesPerSecond,
    }))
    const total = points.findLast(point => point.total !== undefined)
    return {
      ...reading,
      points,
      figures: {
        ...reading.figures,
        globalBatch: derived('frames of an epoch', batch),
        ...(total?.total !== undefined && { epochsTotal: { value: total.total, line: total.line } }),
      },
    }
  },
}

const rslRl: LineFormat = {
  framework: 'rsl_rl',
  unit: 'other',
  report: /\bLearning iteration (?<step>\d+)\/(?<total>\d+)/,
  additions: [
    /^\s*(?:Computation|Steps per second): (?<samplesPerSecond>[\d.]+)/,
    /^\s*Iteration time:\s+(?<length>[\d.]+s)/,
    /^\s*Total timesteps:\s+(?<samples>\d+)/,
    /^\s*(?:Total time|Time elapsed):\s+(?<elapsed>[\d.:]+)/,
    /^\s*ETA:\s+(?<left>[\d.:]+)/,
  ],
  zeroBased: true,
}

const rllibResult: LineFormat = {
  framework: 'rllib',
  unit: 'other',
  report: /^\s*iterations_since_restore: (?<step>\d+)/,
  additions: [
    /^\s*time_this_iter_s: (?<seconds>[\d.]+)/,
    /^\s*time_total_s: (?<elapsed>[\d.]+)/,
    /^\s*timesteps_total: (?<samples>\d+)/,
    /^\s*training_iteration: (?<step>\d+)/,
  ],
  evaluation: /^\s*evaluation:\s*$/,
}

/** RLlib: the result of each iteration as YAML, its keys in the order of the alphabet. Trials of a search are no run. */
const rllib: LogReader = {
  name: 'rllib',
  read: records => {
    const trials = new Set(records.flatMap(({ text }) => /^Result for ([^:]+):/.exec(text)?.[1] ?? []))
    return trials.size === 1 ? readLines(rllibResult, records) : undefined
  },
}

/** Reinforcement learning. */
export const reinforcement: readonly LogReader[] = [...[rlGames, rslRl].map(lineReader), rllib]
