import { derived, parseNumber } from './figures.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'

/** RELION: a bar of time spent and time in all, in seconds, minutes or hours, for each half of an iteration. */
const relion: LogReader = {
  name: 'relion',
  read: records => {
    const bars = { sec: 1, min: 60, hrs: 3600 }
    const points: ProgressPoint[] = []
    let current:
      | { step: number; total: number | undefined; line: number; maximized: boolean; seconds: number }
      | undefined
    let part = 0
    let elapsed = 0
    let isMaximizing = false
    for (const { text, line } of records) {
      const head = /^\s*Expectation iteration (\d+)(?: of (\d+))?/.exec(text)
      const bar = /^\s*([\d.]+)\/\s*([\d.]+) (sec|min|hrs) .*~~\(,_,"?>?/.exec(text)
      if (head !== null) {
        if (current !== undefined) points.push(closed(current, elapsed + part))
        elapsed += part
        part = 0
        current = {
          step: Number(head[1]),
          total: head[2] === undefined ? undefined : Number(head[2]),
          line,
          maximized: false,
          seconds: 0,
        }
        isMaximizing = false
      } else if (/^\s*Maximization/.test(text)) {
        elapsed += part
        part = 0
        isMaximizing = true
      } else if (bar !== null) {
        const unit = bars[bar[3] === 'min' ? 'min' : bar[3] === 'hrs' ? 'hrs' : 'sec']
        const spent = Number(bar[1]) * unit
        if (spent < part) elapsed += part
        part = spent
        if (isMaximizing && current !== undefined) current = { ...current, maximized: bar[1] === bar[2] }
      }
    }
    if (current === undefined) return undefined
    if (current.maximized) points.push(closed(current, elapsed + part))
    const devices = new Set(records.flatMap(({ text }) => /mapped to device (\d+)/.exec(text)?.[1] ?? []))
    const [begin] = points
    const seconds = begin === undefined ? undefined : perIteration(points)
    return {
      framework: 'relion',
      unit: 'other',
      points: points.map(point => ({ ...point, elapsedSeconds: undefined })),
      figures: {
        ...(devices.size > 0 && { worldSize: derived('devices that threads are mapped to', devices.size) }),
        ...(seconds !== undefined && { secondsPerStep: seconds }),
        elapsedSeconds: derived('sum of the bars', elapsed + part),
      },
      evaluatedAtLine: [],
    }
  },
}

function closed(
  { step, total, line }: { step: number; total: number | undefined; line: number },
  elapsedSeconds: number,
): ProgressPoint {
  return { line, step, total, elapsedSeconds }
}

function perIteration(points: readonly ProgressPoint[]) {
  const [begin] = points
  const end = points.at(-1)
  if (begin === undefined || end === undefined) return undefined
  if (end.step === begin.step) return derived('time of the iteration', end.elapsedSeconds)
  const span = (end.elapsedSeconds ?? Number.NaN) - (begin.elapsedSeconds ?? Number.NaN)
  return derived('bars of expectation and maximization over iterations', span / (end.step - begin.step))
}

/** AlphaFold: a model is a step; the search for sequences comes first and runs on the CPU. */
const alphafold: LogReader = {
  name: 'alphafold',
  read: records => {
    const predicted = records.flatMap(({ text, line, timeSeconds }) => {
      const seconds = parseNumber(
        /Total JAX model \S+ on \S+ predict time \(includes compilation time, see --benchmark\): ([\d.]+)s/.exec(
          text,
        )?.[1],
      )
      return seconds === undefined ? [] : [{ line, timeSeconds, seconds }]
    })
    const models = records.flatMap(({ text, line }) => {
      const count = parseNumber(/Have (\d+) models:/.exec(text)?.[1])
      return count === undefined ? [] : [{ value: count, line }]
    })[0]
    if (models === undefined && predicted.length === 0) return undefined
    const targets = new Set(records.flatMap(({ text }) => /\bPredicting (\S+)/.exec(text)?.[1] ?? [])).size || 1
    const total = models === undefined ? undefined : { value: models.value * targets, line: models.line }
    const started = records.find(({ text }) => /\bRunning model \S+ on/.test(text))
    const begin = records.find(record => record.timeSeconds !== undefined)
    const startUp =
      started?.timeSeconds === undefined || begin?.timeSeconds === undefined
        ? undefined
        : derived('first time stamp to the first model', started.timeSeconds - begin.timeSeconds)
    return {
      framework: 'alphafold',
      unit: 'other',
      points: predicted.map(({ line, seconds }, index) => ({ line, step: index + 1, secondsPerStep: seconds })),
      figures: {
        ...(total !== undefined && { stepsTotal: total }),
        ...(startUp !== undefined && { startedToFirstStepSeconds: startUp }),
      },
      warnings:
        predicted.length > 0
          ? [{ code: 'first-steps-slow', text: 'the first model holds the compilation', line: predicted[0]?.line ?? 0 }]
          : [],
    }
  },
}

/** Structures from images and from sequences. */
export const structuralBiology: readonly LogReader[] = [relion, alphafold]
