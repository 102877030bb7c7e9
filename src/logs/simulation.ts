import { secondsPerDay } from '../units.ts'
import { findStamp, parseClock } from './clock.ts'
import { derived, parseNumber } from './figures.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'
import { endedAtSeconds } from './outcome.ts'
import type { LogRecord } from './records.ts'

/** First group of the first record that a pattern finds, as a number, with its line. */
function first(records: readonly LogRecord[], pattern: RegExp): { value: number; line: number } | undefined {
  for (const { text, line } of records) {
    const value = parseNumber(pattern.exec(text)?.[1])
    if (value !== undefined) return { value, line }
  }
  return undefined
}

/** GROMACS: mdrun -v and md.log. */
const gromacs: LogReader = {
  name: 'gromacs',
  read: records => {
    if (!records.some(({ text }) => /GROMACS|gmx mdrun|starting mdrun/.test(text))) return undefined
    const plan = first(records, /^\s*(\d+) steps,\s+[\d.]+ ps/) ?? first(records, /^\s*nsteps\s*=\s*(\d+)/)
    const length = first(records, /^\s*\d+ steps,\s+([\d.]+) ps/)
    const step =
      first(records, /^\s*dt\s*=\s*([\d.]+)/)?.value ??
      (plan !== undefined && length !== undefined ? length.value / plan.value : undefined)
    const performance = records.findLast(({ text }) => /^Performance:\s+[\d.]+/.test(text))
    const speed = parseNumber(/^Performance:\s+([\d.]+)/.exec(performance?.text ?? '')?.[1])
    const wall = parseNumber(
      /^\s*Time:\s+[\d.]+\s+([\d.]+)\s+[\d.]+/.exec(
        records.findLast(({ text }) => /^\s*Time:\s+[\d.]+\s+[\d.]+\s+[\d.]+/.test(text))?.text ?? '',
      )?.[1],
    )
    const reports = records.flatMap(record => pointOfMdrun(record, plan?.value) ?? [])
    const done =
      performance !== undefined && !records.some(({ text }) => /Run time exceeded|Received the TERM signal/.test(text))
    const points =
      reports.length > 0
        ? reports
        : done && plan !== undefined
          ? [{ line: performance.line, step: plan.value, total: plan.value }]
          : []
    if (points.length === 0 && performance === undefined) return undefined
    const seconds =
      speed === undefined || step === undefined
        ? undefined
        : derived('86,400 s x time step over ns per day', (secondsPerDay * step) / 1000 / speed)
    const ranks = first(records, /Using (\d+) MPI (?:thread|process)/)
    return {
      framework: 'gromacs',
      unit: 'other',
      points,
      figures: {
        ...(plan !== undefined && { stepsTotal: plan }),
        ...(seconds !== undefined && { secondsPerStep: seconds }),
        ...(seconds === undefined && { secondsPerStep: rateOfTimeLeft(points) ?? rateOfFinish(points, records) }),
        ...(wall !== undefined && { elapsedSeconds: { value: wall, line: performance?.line } }),
        ...(ranks !== undefined && { worldSize: ranks }),
      },
      finishedAtLine: done ? performance.line : undefined,
    }
  },
}

function pointOfMdrun({ text, line, timeSeconds }: LogRecord, total: number | undefined): ProgressPoint | undefined {
  const match = /^\s*step (\d+)(?:, remaining wall clock time:\s+(\d+) s|,? will finish)/.exec(text)
  if (match === null) return undefined
  return { line, timeSeconds, step: Number(match[1]), total, remainingSeconds: parseNumber(match[2]) }
}

/** mdrun prints the time left alone: from one report to the next it falls by the time of the steps between. */
function rateOfTimeLeft(points: readonly ProgressPoint[]) {
  const timed = points.flatMap(({ step, total, remainingSeconds }) =>
    remainingSeconds === undefined || total === undefined || total <= step
      ? []
      : [{ left: total - step, seconds: remainingSeconds }],
  )
  const late = timed.slice(Math.floor(timed.length / 2)).filter(({ seconds }) => seconds >= 10)
  const last = late.at(-1)
  return last === undefined ? undefined : derived('time left over steps left', last.seconds / last.left)
}

/** Of a long run it prints when it will be over; the scheduler's stamp tells the time at which it said so last. */
function rateOfFinish(points: readonly ProgressPoint[], records: readonly LogRecord[]) {
  const last = points.at(-1)
  const finish = findStamp(
    records.find(({ line, text }) => line === last?.line && /will finish/.test(text))?.text ?? '',
  )
  const ended = endedAtSeconds(records)
  if (last?.total === undefined || finish === undefined || ended === undefined) return undefined
  return derived(
    'from the end of the job to the finish it foresaw, over steps left',
    (finish.seconds - ended) / (last.total - last.step),
  )
}

/** LAMMPS: a table of what the user chose, and a line after each run. */
const lammps: LogReader = {
  name: 'lammps',
  read: records => {
    if (!records.some(({ text }) => /^LAMMPS \(|^Loop time of [\d.]+ on/.test(text))) return undefined
    const points: ProgressPoint[] = []
    let columns: readonly string[] = []
    for (const { text, line } of records) {
      const words = text.trim().split(/\s+/)
      if (words[0] === 'Step') columns = words
      else if (
        columns.length > 1 &&
        words.length === columns.length &&
        words.every(word => parseNumber(word) !== undefined)
      ) {
        const at = (name: string) => parseNumber(words[columns.findIndex(column => column.toLowerCase() === name)])
        points.push({
          line,
          step: Number(words[0]),
          elapsedSeconds: at('cpu'),
          remainingSeconds: at('cpuleft') ?? at('cpuremain') ?? at('v_cpuleft'),
        })
      } else if (words[0] === 'Loop') columns = []
    }
    const loops = records.flatMap(({ text, line }) => {
      const match = /^Loop time of ([\d.]+) on (\d+) procs for (\d+) steps/.exec(text)
      return match === null
        ? []
        : [{ line, seconds: Number(match[1]), processes: Number(match[2]), steps: Number(match[3]) }]
    })
    const last = loops.at(-1)
    const wall = records.findLast(({ text }) => /^Total wall time: [\d:]+/.test(text))
    const elapsed = parseClock(/^Total wall time: ([\d:]+)/.exec(wall?.text ?? '')?.[1] ?? '')
    const longest = loops.reduce<typeof last>(
      (most, loop) => (most === undefined || loop.seconds > most.seconds ? loop : most),
      undefined,
    )
    const current = monotonous(points.filter(point => point.line > (last?.line ?? 0)))
    const begun = current[0]
    const reached = current.at(-1)
    // a later run has other settings, and is what will go on
    const underway =
      last !== undefined && begun !== undefined && reached !== undefined && reached.step - begun.step > last.steps
        ? derived(
            'CPU time of the run that goes on over its steps',
            ((reached.elapsedSeconds ?? Number.NaN) - (begun.elapsedSeconds ?? Number.NaN)) /
              (reached.step - begun.step),
          )
        : undefined
    const planned = records
      .flatMap(({ text }) => /^run\s+(\d+)/.exec(text.trim())?.[1] ?? [])
      .reduce((sum, steps) => sum + Number(steps), 0)
    const end = points.at(-1)?.step
    const total =
      planned > 0
        ? derived('steps of the run commands', planned)
        : wall !== undefined && end !== undefined
          ? { value: end, line: wall.line }
          : undefined
    const processes = first(records, /^\s*(\d+) by \d+ by \d+ MPI processor grid/)
    const grid = records.flatMap(({ text, line }) => {
      const match = /^\s*(\d+) by (\d+) by (\d+) MPI processor grid/.exec(text)
      return match === null ? [] : [{ value: Number(match[1]) * Number(match[2]) * Number(match[3]), line }]
    })[0]
    if (points.length === 0 && last === undefined) return undefined
    return {
      framework: 'lammps',
      unit: 'other',
      points: monotonous(points),
      figures: {
        ...(longest !== undefined && {
          secondsPerStep: underway ?? derived('loop time over its steps', longest.seconds / longest.steps),
        }),
        ...(elapsed !== undefined && { elapsedSeconds: { value: elapsed, line: wall?.line } }),
        ...(total !== undefined && { stepsTotal: total }),
        ...(last !== undefined
          ? { worldSize: { value: last.processes, line: last.line } }
          : processes !== undefined && grid !== undefined
            ? { worldSize: grid }
            : {}),
      },
      finishedAtLine: wall?.line,
    }
  },
}

function monotonous(points: readonly ProgressPoint[]): readonly ProgressPoint[] {
  return points.filter((point, index) => point.step > (points[index - 1]?.step ?? -1))
}

const namd: LineFormat = {
  framework: 'namd',
  unit: 'other',
  report:
    /^TIMING: (?<step>\d+)\s+CPU: [\d.e+]+, [\d.e+-]+\/step\s+Wall: (?<elapsed>[\d.e+]+), (?<seconds>[\d.e+-]+)\/step(?:.*?, (?<left>[\d.e+-]+ hours) remaining)?/,
  figures: [
    { figure: 'stepsTotal', pattern: /^TCL: (?:Running|Minimizing) for (\d+) steps/, largest: true },
    { figure: 'elapsedSeconds', pattern: /^WallClock:\s+([\d.]+)/ },
  ],
  finished: /^WallClock:|End of program/,
}

/** Amber's mdinfo, rewritten during the run. */
const amber: LogReader = {
  name: 'amber',
  read: records => {
    const steps = records.flatMap(({ text, line }) => {
      const match = /Total steps\s*:\s*(\d+) \| Completed\s*:\s*(\d+)/.exec(text)
      return match === null ? [] : [{ line, total: Number(match[1]), step: Number(match[2]) }]
    })
    const nstlim = first(records, /\bnstlim\s*=\s*(\d+)/)
    const printed = records.flatMap(({ text, line }) => {
      const step = /^\s*NSTEP =\s*(\d+)/.exec(text)?.[1]
      return step === undefined ? [] : [{ line, step: Number(step), total: nstlim?.value }]
    })
    const perStep = records.findLast(({ text }) => /Per Step\(ms\)\s*=\s*[\d.]+/.test(text))
    const ms = parseNumber(/Per Step\(ms\)\s*=\s*([\d.]+)/.exec(perStep?.text ?? '')?.[1])
    const isAmber = records.some(({ text }) => /\bAmber \d\d|\bPMEMD\b|\bSANDER\b|Per Step\(ms\)/.test(text))
    const points = steps.length > 0 ? steps : printed
    if (!isAmber || points.length === 0) return undefined
    const left = records.findLast(({ text }) => /Estimated time remaining:/.test(text))
    const match = /Estimated time remaining:\s*([\d.]+) (seconds|minutes|hours|days)/.exec(left?.text ?? '')
    const unit = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 }[match?.[2] ?? ''] ?? Number.NaN
    const rising: ProgressPoint[] = []
    for (const point of points) if (point.step > (rising.at(-1)?.step ?? 0)) rising.push(point)
    return {
      framework: 'amber',
      unit: 'other',
      points: rising,
      figures: {
        ...(ms !== undefined && { secondsPerStep: { value: ms / 1000, line: perStep?.line } }),
        ...(match !== null && { remainingSeconds: { value: Number(match[1]) * unit, line: left?.line } }),
      },
      finishedAtLine: records.findLast(({ text }) => /Final Performance Info|Total wall time:/.test(text))?.line,
    }
  },
}

/** Molecular dynamics. */
export const simulation: readonly LogReader[] = [gromacs, lammps, lineReader(namd), amber]
