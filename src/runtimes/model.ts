import { type Course, coursesOf } from '../courses.ts'
import { type StepTime, stepTime } from '../step-time.ts'
import { type Calibration, type Pace, predictPace } from '../throughput.ts'
import { type TrainingWork, trainingWork } from '../training-work.ts'
import { formatCount, formatDuration } from '../units.ts'
import { type Range, type RuntimeModel, type RuntimeTables, rangeAround, type Working } from './runtime-model.ts'

/** Formulas of the network's shape, with constants and corrections from published runs. */
export const model: RuntimeModel = {
  basis: 'model',
  predict(_job, workloads, candidate, _past, tables) {
    const courses = coursesOf(workloads, candidate)
    if (courses === undefined || courses.length === 0) return undefined
    const times = courses.map(course => timeOfCourse(course, tables))
    const longest = times.reduce((a, b) =>
      a === undefined || b === undefined || a.seconds.p50 > b.seconds.p50 ? a : b,
    )
    if (longest === undefined || times.includes(undefined)) return undefined
    return { basis: 'model', ...longest }
  },
}

interface Time {
  readonly seconds: Range
  readonly working: readonly Working[]
}

function timeOfCourse({ workloads, hardware }: Course, tables: RuntimeTables): Time | undefined {
  const working: Working[] = []
  const seconds = { p10: 0, p50: 0, p90: 0 }
  for (const workload of workloads) {
    // The table of runs is not read for a job of which it could say nothing.
    if (workload.purpose !== 'train' || workload.model === undefined) return undefined
    const { calibration } = tables
    const pace = predictPace(workload, hardware, calibration, 'elapsed')
    const work = pace === undefined ? undefined : trainingWork(workload, pace.plan.tokensPerSample)
    if (pace === undefined || work === undefined) return undefined
    const range = rangeAround(work.samples * pace.secondsPerSample, pace.sigma)
    const { startSeconds } = calibration.efficiency
    seconds.p10 += workload.repetitions * (range.p10 + startSeconds)
    seconds.p50 += workload.repetitions * (range.p50 + startSeconds)
    seconds.p90 += workload.repetitions * (range.p90 + startSeconds)
    const step = stepTime(pace.plan, hardware, calibration.efficiency)
    working.push(...workingOf(work, pace, step, calibration))
  }
  return { seconds, working }
}

function workingOf(work: TrainingWork, pace: Pace, step: StepTime, calibration: Calibration): Working[] {
  const { plan, nearest } = pace
  const computed = (formula: string): Working['origin'] => ({ kind: 'computed', formula })
  const flopsPerSample = plan.forwardPerSample.matrix + plan.forwardPerSample.attention
  return [
    ...plan.assumed.map(what => ({
      what: 'assumed',
      figure: what,
      origin: { kind: 'assumed' as const, reason: 'not said in the manifest' },
    })),
    { what: 'work', figure: `${formatCount(work.samples)} samples`, origin: computed(work.formula) },
    {
      what: 'forward pass of a sample',
      figure: `${Number((flopsPerSample / 1e9).toPrecision(3))} GFLOP`,
      origin: computed(
        plan.model.shape === undefined
          ? 'FLOPs of one sample in models.csv, or from its size'
          : '2 x weights met + 4 x layers x width x sequence, per token',
      ),
    },
    {
      what: 'one step by the formulas',
      figure: `${step.seconds.toPrecision(3)} s (compute ${step.computeSeconds.toPrecision(3)}, exposed communication ${step.communicationSeconds.toPrecision(3)}, pipeline bubble ${step.bubbleSeconds.toPrecision(3)}, optimizer ${step.optimizerSeconds.toPrecision(3)})`,
      origin: computed('micro-batch time x (micro-batches + bubble) + gradient exchange + optimizer'),
    },
    {
      what: 'correction by measured runs',
      figure: `x${Math.exp(pace.correction).toFixed(2)}`,
      origin: {
        kind: 'table',
        table: 'measured-runs.csv',
        row: nearest?.id ?? 'none like it',
        source: 'published runs, the nearest named',
      },
    },
    {
      what: 'evaluation, checkpoints, restarts',
      figure: `x${calibration.efficiency.elapsedFactor.toFixed(2)}, and ${formatDuration(calibration.efficiency.startSeconds)} to start`,
      origin: {
        kind: 'table',
        table: 'efficiency.csv',
        row: 'elapsedFactor',
        source: 'elapsed time of published runs over their steady rate',
      },
    },
  ]
}
