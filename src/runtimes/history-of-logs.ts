import type { Candidate } from '../candidates.ts'
import { coursesOf, hardwareOf } from '../courses.ts'
import type { Job } from '../job.ts'
import { type Scale, scaleBetween } from '../throughput/pace.ts'
import { formatCount, formatDuration } from '../units.ts'
import type { Workload } from '../workload.ts'
import { type EarlierLog, gpusOf, type RanOn } from './earlier-log.ts'
import { elapsedSpread, hardwareNamed, repeatSpread, unplannedSpread } from './known-run.ts'
import { workToday } from './log-work.ts'
import { type RuntimeModel, type RuntimeTables, rangeAround, type Working } from './runtime-model.ts'
import { type Sighting, spreadOf } from './sightings.ts'

/** Logs of earlier runs of the same script: what they took, made today's work, and carried to other GPUs where the model can. */
export const historyOfLogs: RuntimeModel = {
  basis: 'history',
  predict(job, workloads, candidate, { logs = [] }, tables) {
    const run = logs.length === 0 || job.endless ? undefined : onlyRun(job, workloads, candidate)
    if (run === undefined) return undefined
    const newestFirst = logs.toSorted((a, b) => b.writtenSeconds - a.writtenSeconds)
    const plan = newestFirst.find(({ progress }) => progress.stepsTotal !== undefined)?.progress
    const told = newestFirst.flatMap(log => {
      const own = toldBy(log, run, plan, tables)
      return own === undefined ? [] : (movedTo(candidate, own, run, tables) ?? [])
    })
    const used = weightiest(told)
    const next = spreadOf(used.map(({ sighting }) => sighting))
    if (next === undefined) return undefined
    const range: Working = {
      what: 'range by earlier logs',
      figure: `of ${used.length}, spread ${next.sigma.toFixed(2)}`,
      origin: { kind: 'computed', formula: 'log-normal, by how they differ and by what one run alone leaves open' },
    }
    return {
      basis: used.every(({ isHere, log }) => isHere && log.isProbe !== true) ? 'history' : 'measured',
      seconds: rangeAround(next.p50, next.sigma),
      working: [...used.flatMap(({ working }) => working), range],
      seen: used.map(({ log: { runId, writtenSeconds } }) => ({
        ...(runId !== undefined && { id: runId }),
        endSeconds: writtenSeconds,
      })),
      logs: used.map(({ log: { file, progress }, sighting: { seconds, atLeast } }) => ({
        kind: 'log',
        file,
        outcome: progress.outcome,
        ...(!atLeast && { seconds }),
      })),
    }
  },
}

/** What one log says of today's run. */
interface Told {
  readonly log: EarlierLog
  readonly sighting: Sighting
  /** Seen to its end, and not worked out from its rate. */
  readonly isEnded: boolean
  /** On the candidate's GPUs, and not scaled to them. */
  readonly isHere: boolean
  readonly keepsSamples: boolean
  readonly working: readonly Working[]
}

/** Runs seen to their end say more than what a rate promises; one that was stopped on its way bounds both. */
function weightiest(told: readonly Told[]): readonly Told[] {
  const here = told.filter(each => each.isHere)
  const nearest = here.some(({ sighting }) => !sighting.atLeast) ? here : told
  const known = nearest.filter(({ sighting }) => !sighting.atLeast)
  const ended = known.filter(each => each.isEnded)
  const counted = ended.length > 0 ? ended : known
  return nearest.filter(each => counted.includes(each) || each.sighting.atLeast)
}

/**
 * The one run a job makes; undefined where it makes several, or serves: a log does not tell them apart. Of a script that nothing is known
 * of, one run of which nothing is known.
 */
function onlyRun(job: Job, workloads: readonly Workload[], candidate: Candidate): Partial<Workload> | undefined {
  const runs = coursesOf(job, workloads, candidate)?.flatMap(course => course.runs.map(run => run.workload)) ?? []
  const [run = {}, ...others] = runs.length > 0 ? runs : workloads.filter(({ purpose }) => purpose !== 'other')
  const { purpose, repetitions = 1 }: Partial<Workload> = run
  return others.length > 0 || purpose === 'serve' || repetitions > 1 ? undefined : run
}

function toldBy(
  log: EarlierLog,
  run: Partial<Workload>,
  plan: EarlierLog['progress'] | undefined,
  tables: RuntimeTables,
): Told | undefined {
  const { progress } = log
  const { elapsedSeconds, secondsPerStep, startedToFirstStepSeconds, stepsTotal, stepsDone, outcome } = progress
  const warned = new Set(progress.warnings.map(({ code }) => code))
  if (warned.has('serving-no-end')) return undefined
  const isOneRun = progress.runs <= 1 && !warned.has('resumed')
  const work = workToday(progress, run, plan)
  const spread = work.isStated || log.isProbe === true ? repeatSpread : unplannedSpread
  const tell = (figure: string, sighting: Sighting, isEnded: boolean): Told => ({
    log,
    sighting,
    isEnded,
    isHere: true,
    keepsSamples: work.keepsSamples,
    working: [
      { what: 'earlier log', figure: `${figure}${work.words}`, origin: { kind: 'file', place: { file: log.file } } },
    ],
  })
  const elapsed = isOneRun ? elapsedSeconds?.value : undefined
  const start = startedToFirstStepSeconds?.value
  if (outcome === 'finished' && elapsed !== undefined) {
    const before = isWholeJob(progress) ? 0 : tables.calibration.efficiency.startSeconds
    const seconds = before + (start ?? 0) + Math.max(0, elapsed - (start ?? 0)) * work.ratio
    const sigma = work.ratio === 1 ? spread : Math.hypot(spread, elapsedSpread)
    return tell(`finished after ${formatDuration(elapsed)}`, { seconds, sigma, atLeast: false }, true)
  }
  const total = work.counts ?? stepsTotal?.value
  if (secondsPerStep !== undefined && total !== undefined) {
    const { efficiency } = tables.calibration
    const seen = (stepsDone?.value ?? 0) * secondsPerStep.value
    // A probe ends before the first evaluation or checkpoint.
    const hasPauses = elapsed !== undefined && seen > 0 && log.isProbe !== true
    const pauses = !hasPauses ? efficiency.elapsedFactor : Math.max(1, (elapsed - (start ?? 0)) / seen)
    const begin = start ?? efficiency.startSeconds
    const seconds = begin + total * secondsPerStep.value * work.stepRatio * pauses
    const figure = `${outcome}, ${formatCount(total)} counts of ${secondsPerStep.value.toPrecision(3)} s, with pauses x${pauses.toFixed(2)}, start ${formatDuration(begin)}`
    // A file of several runs is that of a job that makes as many, unless they went on from each other: one of them is a part of it.
    const isPart = progress.runs > 1 && !warned.has('resumed') && !warned.has('work-lost')
    return tell(figure, { seconds, sigma: Math.hypot(spread, elapsedSpread), atLeast: isPart }, false)
  }
  if (elapsed === undefined || !['time-limit', 'running', 'cancelled'].includes(outcome)) return undefined
  const figure = `${outcome} after ${formatDuration(elapsed)}: at least that`
  return tell(figure, { seconds: elapsed, sigma: spread, atLeast: true }, false)
}

/** Time stamps begin with the job or soon after; a program's own clock begins with its first step. */
function isWholeJob({ elapsedSeconds, startedToFirstStepSeconds }: EarlierLog['progress']): boolean {
  const origin = elapsedSeconds?.origin
  return startedToFirstStepSeconds !== undefined || (origin?.kind === 'computed' && origin.formula.includes('stamp'))
}

/** The same on a candidate; undefined where the model gives no ratio, or where nobody said how the work changes with the number of GPUs. */
function movedTo(candidate: Candidate, told: Told, run: Partial<Workload>, tables: RuntimeTables): Told | undefined {
  const { ranOn, progress } = told.log
  const [name, ...otherNames] = new Set(candidate.placements.map(({ gpu }) => gpu.name))
  if (ranOn === undefined || name === undefined || otherNames.length > 0) return undefined
  const gpuCount = gpusOf(candidate.placements)
  if (gpuCount !== ranOn.gpuCount && !told.keepsSamples) return undefined
  // A program of which nothing is known may not even compute on its GPU.
  if (!isWorkload(run) && !candidate.asRequested) return undefined
  const scale = scaleFrom(ranOn, candidate, isWorkload(run) ? run : undefined, tables)
  if (scale === undefined) return undefined
  // What waits for data takes as long whatever the GPU.
  const waiting = progress.dataShare?.value ?? 0
  const factor = waiting + (1 - waiting) * scale.factor
  const { seconds, sigma } = told.sighting
  const names = ranOn.gpuNames.map(each => (each === '' ? 'GPU of any type' : each)).join(' or ')
  const assumed: Working = {
    what: 'GPUs of that run',
    figure: `${ranOn.gpuCount}x ${names}`,
    origin: { kind: 'assumed', reason: 'its log names none; taken are those of the request' },
  }
  const scaling: Working = {
    what: `from ${ranOn.gpuCount}x ${names} to ${gpuCount}x ${name}`,
    figure: `x${factor.toFixed(2)}`,
    origin: { kind: 'computed', formula: 'step model on both, corrected by measured runs; waiting for data stays' },
  }
  return {
    ...told,
    isHere: ranOn.gpuNames.includes(name) && ranOn.gpuCount === gpuCount,
    sighting: { ...told.sighting, seconds: seconds * factor, sigma: Math.hypot(sigma, scale.sigma) },
    working: [...told.working, ...(ranOn.assumed ? [assumed] : []), ...(scale.sigma === 0 ? [] : [scaling])],
  }
}

/** Beyond this spread P90 is ten times P10: that is no estimate. */
const usefulSigma = 0.9

/** From where it ran; where that was one of several types, from their mean, as much wider as they differ. */
function scaleFrom(
  { gpuNames, gpuCount }: RanOn,
  candidate: Candidate,
  run: Workload | undefined,
  { gpus, calibration }: RuntimeTables,
): Scale | undefined {
  const here = candidate.placements[0]?.gpu.name
  const to = hardwareOf(candidate.placements)
  const scales: Scale[] = []
  for (const gpuName of gpuNames) {
    const from = hardwareNamed(gpuName, gpuCount, gpus, candidate)
    const isSame = gpuName === here && gpuCount === gpusOf(candidate.placements)
    const scale = isSame ? unscaled : from && to && scaleBetween(run, from, to, calibration)
    if (scale === undefined) return undefined
    scales.push(scale)
  }
  const logs = scales.map(({ factor }) => Math.log(factor))
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const squares = scales.reduce((sum, { factor, sigma }) => sum + (Math.log(factor) - mean) ** 2 + sigma ** 2, 0)
  const sigma = Math.sqrt(squares / scales.length)
  return sigma > usefulSigma ? undefined : { factor: Math.exp(mean), sigma }
}

const unscaled: Scale = { factor: 1, sigma: 0 }

function isWorkload(run: Partial<Workload>): run is Workload {
  return run.purpose !== undefined
}
