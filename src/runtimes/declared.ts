import type { Candidate } from '../candidates.ts'
import { type Course, coursesOf, hardwareOf } from '../courses.ts'
import type { DeclaredThroughput } from '../declarations.ts'
import type { Gpu } from '../gpu.ts'
import type { Job } from '../job.ts'
import type { Sourced } from '../sourced.ts'
import type { Hardware } from '../throughput/communication.ts'
import { scaleBetween } from '../throughput/pace.ts'
import { trainingWork } from '../training-work.ts'
import { formatDuration } from '../units.ts'
import type { Workload } from '../workload.ts'
import { elapsedSpread, hardwareNamed, isSameHardware, repeatSpread } from './known-run.ts'
import { type Runtime, type RuntimeModel, type RuntimeTables, rangeAround, type Working } from './runtime-model.ts'

/** The user said how long it takes, or how fast it goes; on other GPUs than those named, scaled by what runs on both were measured at. */
export const declared: RuntimeModel = {
  basis: 'declared',
  predict(job, workloads, candidate, _past, tables) {
    const hardware = hardwareOf(candidate.placements)
    const known = fromRuntime(job, candidate, tables.gpus) ?? fromThroughput(job, workloads, candidate, tables)
    if (known === undefined) return undefined
    const { on } = known
    if (on === 'here') return runtimeOf(known.seconds, known.spread, [known.working])
    if (hardware === undefined) return undefined
    if (isSameHardware(on, hardware)) return runtimeOf(known.seconds, known.spread, [known.working])
    const workload = workloads.find(each => each.purpose === 'train')
    const scale = scaleBetween(workload, on, hardware, tables.calibration)
    if (scale === undefined) return undefined
    const working: Working = {
      what: `from ${on.gpuCount}x ${on.gpu.name} to ${hardware.gpuCount}x ${hardware.gpu.name}`,
      figure: `x${scale.factor.toFixed(2)}`,
      origin: { kind: 'computed', formula: 'step model on both, corrected by runs measured on both GPU types' },
    }
    return runtimeOf(known.seconds * scale.factor, Math.hypot(known.spread, scale.sigma), [known.working, working])
  },
}

/** What the user vouches for, and on which GPUs. */
interface Known {
  readonly seconds: number
  readonly spread: number
  readonly on: Hardware | 'here'
  readonly working: Working
}

function fromRuntime(job: Job, candidate: Candidate, gpus: readonly Gpu[]): Known | undefined {
  const runtime = job.declarations.runtime
  if (runtime === undefined) return undefined
  const { seconds, gpuName, gpuCount } = runtime.value
  const working = { what: 'declared runtime', figure: formatDuration(seconds), origin: runtime.origin }
  if (gpuName === undefined && candidate.asRequested) return { seconds, spread: repeatSpread, on: 'here', working }
  const asked = job.roles.flatMap(role => role.gpuType.names)
  const name = gpuName ?? (asked.length === 1 ? asked[0]?.value : undefined)
  const count = gpuCount ?? job.roles.reduce((sum, role) => sum + role.gpuCount.value, 0)
  const on = hardwareNamed(name, count, gpus, candidate)
  return on === undefined ? undefined : { seconds, spread: repeatSpread, on, working }
}

function fromThroughput(
  job: Job,
  workloads: readonly Workload[],
  candidate: Candidate,
  tables: RuntimeTables,
): Known | undefined {
  const throughput = job.declarations.throughput
  if (throughput === undefined) return undefined
  const { perSecond, unit, gpuName, gpuCount } = throughput.value
  const work = declaredWork(coursesOf(job, workloads, candidate) ?? [], throughput)
  const on = hardwareNamed(gpuName, gpuCount, tables.gpus, candidate)
  if (work === undefined || on === undefined) return undefined
  const { elapsedFactor, startSeconds } = tables.calibration.efficiency
  return {
    seconds: (work / perSecond) * elapsedFactor + startSeconds,
    spread: Math.hypot(repeatSpread, elapsedSpread),
    on,
    working: {
      what: 'declared throughput',
      figure: `${work.toPrecision(4)} ${unit} at ${perSecond} ${unit}/s`,
      origin: throughput.origin,
    },
  }
}

/** The run's work in the unit its speed was declared in; undefined where it is not known, or several runs share the job. */
function declaredWork(
  courses: readonly Course[],
  { value: { unit } }: Sourced<DeclaredThroughput>,
): number | undefined {
  const runs = courses.flatMap(course => course.runs.map(run => run.workload))
  const [run] = runs
  if (run === undefined || runs.length > 1) return undefined
  const sequence = run.sequenceLength?.value
  if (unit === 'tokens' && run.tokens !== undefined) return run.tokens.value * run.repetitions
  if (unit === 'steps' && run.steps !== undefined) return run.steps.value * run.repetitions
  const samples = trainingWork(run, sequence ?? Number.NaN)?.samples
  const perSample = {
    samples: 1,
    tokens: sequence,
    steps: run.globalBatch === undefined ? undefined : 1 / run.globalBatch.value,
  }[unit]
  if (samples === undefined || perSample === undefined || Number.isNaN(samples)) return undefined
  return samples * perSample * run.repetitions
}

function runtimeOf(seconds: number, spread: number, working: readonly Working[]): Runtime {
  return { basis: 'declared', seconds: rangeAround(seconds, spread), working }
}
