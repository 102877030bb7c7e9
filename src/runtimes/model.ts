import { type Course, type CourseRun, coursesOf, secondsTogether } from '../courses.ts'
import { type Calibration, type Pace, predictPace } from '../throughput/pace.ts'
import { type StepTime, stepTime } from '../throughput/step-time.ts'
import { type TrainingWork, trainingWork } from '../training-work.ts'
import { formatCount, formatDuration } from '../units.ts'
import { type Range, type RuntimeModel, type RuntimeTables, rangeAround, type Working } from './runtime-model.ts'

/** Formulas of the network's shape, with constants and corrections from published runs. */
export const model: RuntimeModel = {
  basis: 'model',
  predict(job, workloads, candidate, _past, tables) {
    const courses = coursesOf(job, workloads, candidate)
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

function timeOfCourse(course: Course, tables: RuntimeTables): Time | undefined {
  const times: Time[] = []
  for (const run of course.runs) {
    const time = timeOfRun(run, tables)
    if (time === undefined) return undefined
    times.push(time)
  }
  const together = (part: keyof Range): number =>
    secondsTogether(
      course,
      times.map(time => time.seconds[part]),
    )
  return {
    seconds: { p10: together('p10'), p50: together('p50'), p90: together('p90') },
    working: [...idleGpus(course), ...times.flatMap(time => time.working)],
  }
}

function timeOfRun({ workload, hardware }: CourseRun, { calibration }: RuntimeTables): Time | undefined {
  // The table of runs is not read for a job of which it could say nothing.
  if (workload.purpose !== 'train' || workload.model === undefined || workload.generates) return undefined
  const pace = predictPace(workload, hardware, calibration, 'elapsed')
  const work = pace === undefined ? undefined : trainingWork(workload, pace.plan.tokensPerSample)
  if (pace === undefined || work === undefined) return undefined
  const range = rangeAround(work.samples * pace.secondsPerSample, pace.sigma, work.samples * pace.leastSecondsPerSample)
  const { startSeconds } = calibration.efficiency
  const inAll = (seconds: number): number => workload.repetitions * (seconds + startSeconds)
  const step = stepTime(pace.plan, hardware, calibration.efficiency)
  return {
    seconds: { p10: inAll(range.p10), p50: inAll(range.p50), p90: inAll(range.p90) },
    working: workingOf(work, pace, step, calibration),
  }
}

/** Runs with fewer processes than GPUs, for which the others wait and are paid all the same. */
function idleGpus({ gpuCount, runs }: Course): Working[] {
  return runs.flatMap(({ workload: { processes, background }, hardware }) => {
    if (processes === undefined || hardware.gpuCount === gpuCount || background === true) return []
    return [{ what: 'GPUs at work', figure: `${hardware.gpuCount} of ${gpuCount}`, origin: processes.origin }]
  })
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
