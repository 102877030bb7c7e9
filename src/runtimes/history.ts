import { hardwareOf } from '../courses.ts'
import { scaleBetween } from '../throughput/pace.ts'
import { countOf, dayOf, formatDuration } from '../units.ts'
import { hardwareNamed } from './known-run.ts'
import { type PastForecast, type RangedRuntime, type RuntimeModel, type Working, widened } from './runtime-model.ts'

/**
 * Earlier runs of the job: as they were where they had these GPUs, otherwise scaled from those they had by what the throughput model says
 * of both.
 */
export const history: RuntimeModel = {
  basis: 'history',
  predict(job, workloads, candidate, { runs }, tables) {
    if (runs === undefined || !runs.knows(job)) return undefined
    const { placements, asRequested } = candidate
    const [first] = placements
    if (first === undefined || placements.some(({ gpu }) => gpu.name !== first.gpu.name)) return undefined
    const gpuCount = placements.reduce((sum, placement) => sum + placement.gpuCount, 0)
    const here = runs.forecast(job, first.gpu.name, gpuCount, asRequested)
    if (here !== undefined) return runtimeOf(here, `${gpuCount}x ${first.gpu.name || 'GPU'}`)
    const hardware = hardwareOf(placements)
    const workload = workloads.find(each => each.purpose === 'train')
    // Without a program that trains, a ratio of two GPU types would be a guess.
    if (hardware === undefined || workload?.model === undefined) return undefined
    for (const earlier of runs.gpusOf(job)) {
      const on = hardwareNamed(earlier.gpuName, earlier.gpuCount, tables.gpus, candidate)
      const there = on && runs.forecast(job, on.gpu.name, on.gpuCount, false)
      if (on === undefined || there === undefined) continue
      const scale = scaleBetween(workload, on, hardware, tables.calibration)
      if (scale === undefined) continue
      const { working } = runtimeOf(there, `${on.gpuCount}x ${on.gpu.name}`)
      const scaling: Working = {
        what: `from ${on.gpuCount}x ${on.gpu.name} to ${hardware.gpuCount}x ${hardware.gpu.name}`,
        figure: `x${scale.factor.toFixed(2)}`,
        origin: { kind: 'computed', formula: 'step model on both, corrected by runs measured on both GPU types' },
      }
      return {
        basis: 'measured',
        seconds: widened(there.unlimitedSeconds, scale.factor, scale.sigma),
        completed: there.completed,
        seen: there.seen,
        working: [...working, scaling],
      }
    }
    return undefined
  },
}

function runtimeOf(forecast: PastForecast, hardware: string): RangedRuntime {
  const { seconds, unlimitedSeconds, narrow, limitChance, endings, completed, seen } = forecast
  const { p10, p90 } = seconds
  return {
    basis: 'history',
    seconds,
    unlimitedSeconds,
    narrow,
    ...(limitChance !== undefined && { limitChance }),
    endings,
    completed,
    seen,
    working: [
      {
        what: 'earlier runs of this name',
        figure: `${countOf(completed.count, 'completed run')} on ${hardware}, the last on ${dayOf(completed.lastEndSeconds)}: 8 of 10 should take ${formatDuration(p10)}-${formatDuration(p90)}`,
        origin: {
          kind: 'table',
          table: completed.source,
          row: 'this name',
          source: 'likeness-weighted, the latest count most',
        },
      },
    ],
  }
}
