import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { EarlierRun } from '../src/history/earlier-run.ts'
import { maskedName } from '../src/history/names.ts'
import type { Job } from '../src/job.ts'
import { pastRunsOf } from '../src/past-runs.ts'
import { readTables } from '../src/pricing-data.ts'
import { quoteCandidate } from '../src/quote.ts'
import { predictRuntime } from '../src/runtimes/index.ts'
import type { Past, Runtime } from '../src/runtimes/runtime-model.ts'
import { type Sourced, sourced } from '../src/sourced.ts'
import type { Workload } from '../src/workload.ts'
import { candidateOf, jobOf, machineOf, placementOf, roleOf } from './builders.ts'
import { llama2 } from './published-models.ts'

const tables = readTables(fileURLToPath(new URL('../pricing-data/', import.meta.url)))
const hour = 3_600
const day = 86_400

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'manifest', place: { file: 'job.sbatch', line: 7 } })
}

let count = 0

/** A run of a day of its own, the next of those made before. */
function run(facts: Partial<EarlierRun> & { readonly hours?: number }): EarlierRun {
  const { hours = 3, ...rest } = facts
  const start = ++count * day
  return {
    id: String(count),
    name: 'train',
    user: 'ada',
    account: '',
    partition: 'gpu',
    qos: '',
    state: 'completed',
    submitSeconds: start,
    startSeconds: start,
    elapsedSeconds: hours * hour,
    endSeconds: start + hours * hour,
    gpus: 8,
    gpuType: 'a100',
    limitSeconds: 24 * hour,
    ...rest,
  }
}

function pastOf(runs: readonly EarlierRun[], user = 'ada'): Past {
  const kept = {
    alike: (name: string) => runs.filter(each => maskedName(each.name) === maskedName(name)),
    latest: runs,
    source: 'sacct',
  }
  const asker = { user, nowSeconds: (count + 1) * day, nameOf: (name: string) => name }
  return { runs: pastRunsOf(kept, tables.gpus, asker) }
}

function on(gpuName: string, gpuCount = 8, asRequested = true) {
  const gpu = tables.gpus.find(each => each.name === gpuName)
  if (gpu === undefined) throw new Error(`no ${gpuName} in the table`)
  return candidateOf(placementOf(machineOf(gpu, Math.min(8, gpuCount)), gpuCount), { asRequested })
}

function jobCalled(name: string, limitHours?: number): Job {
  const limit = limitHours === undefined ? {} : { timeLimitSeconds: said(limitHours * hour) }
  return { ...jobOf({ roles: [roleOf({ gpuCount: said(8), ...limit })] }), name }
}

const training: Workload = {
  purpose: 'train',
  place: { file: 'job.sbatch', line: 7 },
  role: 'job',
  repetitions: 1,
  conditional: false,
  model: said(llama2),
  steps: said(1_000),
  globalBatch: said(128),
  microBatch: said(2),
  sequenceLength: said(2_048),
  precision: said('fp16'),
  method: said('full'),
  activationRecompute: said('full'),
  parallelism: said({ tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'weights' }),
}

function predict(past: Past, candidate = on('a100-80gb'), job = jobCalled('train'), workloads: Workload[] = []) {
  return predictRuntime(job, workloads, candidate, past, tables)
}

function secondsOf(runtime: Runtime | undefined) {
  if (runtime === undefined || runtime.basis === 'limit') throw new Error('no range is known')
  return runtime.seconds
}

const times = <T>(number: number, make: (index: number) => T): T[] =>
  Array.from({ length: number }, (_, at) => make(at))

describe('a job that ran before', () => {
  it('takes as long as it took when it always took the same', () => {
    const runtime = predict(pastOf(times(8, () => run({ hours: 3 }))))
    expect(runtime).toMatchObject({ basis: 'history', narrow: true })
    expect(secondsOf(runtime).p50 / hour).toBeCloseTo(3, 0)
  })

  it('has no single figure when its runs scatter', () => {
    const hours = [0.5, 9, 2, 20, 1, 12, 4, 0.7, 15, 3]
    const runtime = predict(pastOf(hours.map(each => run({ hours: each }))))
    expect(runtime).toMatchObject({ basis: 'history', narrow: false })
    const { p10, p90 } = secondsOf(runtime)
    expect(p90 / p10).toBeGreaterThan(2)
  })

  it.each([
    ['another name', { name: 'evaluate' }],
    ['another number of GPUs', { gpus: 4 }],
    ['another GPU type', { gpuType: 'h100' }],
    ['a slice of the GPU', { gpuType: 'a100_3g.40gb' }],
    ['runs that failed', { state: 'failed' as const }],
    ['runs within the first minute', { elapsedSeconds: 20 }],
  ])('%s says nothing', (_, facts) => {
    expect(predict(pastOf(times(5, () => run(facts))))).toBeUndefined()
  })

  it.each(['a100', 'NVIDIA A100-SXM4-80GB', 'A100-80GB', undefined])('%s is the GPU that is asked for', gpuType => {
    const runs = times(5, () => run({}))
    const spelled = runs.map(({ gpuType: _, ...rest }) => (gpuType === undefined ? rest : { ...rest, gpuType }))
    expect(predict(pastOf(spelled))?.basis).toBe('history')
  })

  it('runs of a type that nobody recorded say nothing of a GPU that is only offered', () => {
    const runs = times(5, () => run({})).map(({ gpuType: _, ...rest }) => rest)
    expect(predict(pastOf(runs), on('t4', 8, false), jobCalled('train'), [training])?.basis).not.toBe('history')
  })

  it('digits in its name may differ', () => {
    const runs = times(5, at => run({ name: `train-${at}` }))
    expect(predict(pastOf(runs), on('a100-80gb'), jobCalled('train-17'))?.basis).toBe('history')
  })

  it('goes by runs of colleagues where nobody ran it oneself', () => {
    expect(predict(pastOf(times(5, () => run({ user: 'grace' }))))?.basis).toBe('history')
  })

  it('is no longer than its time limit', () => {
    const runtime = predict(pastOf(times(6, () => run({ hours: 3 }))), on('a100-80gb'), jobCalled('train', 2))
    expect(secondsOf(runtime).p90).toBeLessThanOrEqual(2 * hour)
  })

  it('failures and cancellations are counted, and change no runtime', () => {
    const whole = times(6, () => run({ hours: 3 }))
    const broken = [run({ state: 'failed', hours: 0.1 }), run({ state: 'cancelled', hours: 0.2 })]
    const runtime = predict(pastOf([...whole, ...broken]))
    expect(runtime).toMatchObject({ endings: { runs: 8, failed: 1, cancelled: 1, timedOut: 0 } })
    expect(secondsOf(runtime).p50 / hour).toBeCloseTo(3, 0)
  })
})

describe('a time limit that is too short', () => {
  const quoteOf = (past: Past, limitHours: number) => {
    const job = jobCalled('train', limitHours)
    const candidate = on('a100-80gb')
    const runtime = predict(past, candidate, job)
    return quoteCandidate(job, candidate, runtime, 'on-demand', () => undefined)
  }

  it('makes no runtime narrow that scatters beyond it', () => {
    const past = pastOf([2, 9, 3, 20, 4, 12, 2.5, 15].map(hours => run({ hours })))
    const runtime = predict(past, on('a100-80gb'), jobCalled('train', 2))
    expect(runtime).toMatchObject({ basis: 'history', narrow: false })
  })

  it('makes no earlier run surer where it is weighed with the model', () => {
    const past = pastOf(times(12, () => run({ hours: 3 })))
    const weightsOf = (limitHours?: number) => {
      const runtime = predict(past, on('a100-80gb'), jobCalled('train', limitHours), [training])
      return runtime !== undefined && runtime.basis !== 'limit' ? (runtime.evidence ?? []) : []
    }
    expect(weightsOf(1).find(({ basis }) => basis === 'history')?.seconds.p50).toBeGreaterThan(2 * hour)
  })

  it('is told with the limit to ask for', () => {
    const { stop } = quoteOf(pastOf(times(10, () => run({ hours: 3 }))), 2)
    expect(stop?.chance).toBeGreaterThan(0.5)
    expect(stop?.neededLimitSeconds).toBeGreaterThan(3 * hour)
    expect(stop?.neededLimitSeconds).toBeLessThan(9 * hour)
  })

  it('is no matter where there is time enough', () => {
    expect(quoteOf(pastOf(times(10, () => run({ hours: 3 }))), 24).stop).toBeUndefined()
  })
})

describe('several ways of knowing', () => {
  const byModel = secondsOf(predict({}, on('a100-80gb'), jobCalled('train'), [training]))

  it('lie between each other, and nearer to the one that is surer', () => {
    const hours = (byModel.p50 / hour) * 1.3
    const past = pastOf(times(12, () => run({ hours })))
    const runtime = predict(past, on('a100-80gb'), jobCalled('train'), [training])
    const { p50 } = secondsOf(runtime)
    expect(runtime?.basis).toBe('history')
    expect(p50).toBeGreaterThan(byModel.p50)
    expect(Math.abs(p50 - hours * hour)).toBeLessThan(Math.abs(p50 - byModel.p50))
  })

  it('say what each counts, together one', () => {
    const past = pastOf(times(12, () => run({ hours: 3 })))
    const runtime = predict(past, on('a100-80gb'), jobCalled('train'), [training])
    const evidence = runtime !== undefined && runtime.basis !== 'limit' ? (runtime.evidence ?? []) : []
    expect(evidence.map(each => each.basis).sort()).toEqual(['history', 'model'])
    expect(evidence.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1)
  })

  it('are less sure together where they contradict each other', () => {
    const width = (hours: number) => {
      const past = pastOf(times(12, () => run({ hours })))
      const { p10, p90 } = secondsOf(predict(past, on('a100-80gb'), jobCalled('train'), [training]))
      return p90 / p10
    }
    expect(width((byModel.p50 / hour) * 20)).toBeGreaterThan(3 * width(byModel.p50 / hour))
  })

  it('other GPU types are scaled, by a wider range', () => {
    const past = pastOf(times(12, () => run({ hours: 30 })))
    // Steps that nobody says, so that only the runs tell how long it takes.
    const { steps: _, ...endless } = training
    const here = secondsOf(predict(past, on('a100-80gb'), jobCalled('train'), [endless]))
    const runtime = predict(past, on('h100-80gb', 8, false), jobCalled('train'), [endless])
    const there = secondsOf(runtime)
    expect(runtime?.basis).toBe('measured')
    expect(there.p50).toBeLessThan(here.p50)
    expect(there.p90 / there.p10).toBeGreaterThan(here.p90 / here.p10)
  })

  it('other GPU types have no figure where nothing is known of the program', () => {
    expect(predict(pastOf(times(12, () => run({}))), on('h100-80gb', 8, false))).toBeUndefined()
  })
})

it('runs that were over within a minute are counted where there are no others', () => {
  const soon = [run({ hours: 0.01 }), run({ hours: 0.005 }), run({ hours: 0.01, state: 'failed' })]
  const { runs } = pastOf(soon)
  const job = jobOf({ name: 'train' })
  expect(runs?.uncounted(job)).toEqual({ short: 2, interrupted: 0 })
  expect(pastOf([...soon, run({ hours: 1 })]).runs?.uncounted(job)).toEqual({ short: 0, interrupted: 0 })
})

it('starts of one job that was requeued are one run that tells nothing', () => {
  const starts = [run({ id: '7', state: 'interrupted' }), run({ id: '7', state: 'interrupted' })]
  const past = pastOf([...starts, run({ state: 'interrupted' })])
  expect(past.runs?.uncounted(jobOf({ name: 'train' }))).toEqual({ short: 0, interrupted: 2 })
  expect(predict(past)).toBeUndefined()
})
