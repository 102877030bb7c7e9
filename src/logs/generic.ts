import { barsOf } from './bars.ts'
import { findStamp } from './clock.ts'
import { genericBars } from './generic-bars.ts'
import { type Fields, fieldsOf, pointFields } from './generic-fields.ts'
import { withFigures } from './generic-figures.ts'
import { namedColumns } from './generic-tables.ts'
import { groupedBy } from './grouped.ts'
import type { CounterUnit, Figure, LogReader, LogReading, ProgressPoint } from './log-reader.ts'
import type { LogRecord } from './records.ts'
import { sampled } from './sample.ts'
import { otherCounts, type Sighting, sightingsOf } from './sightings.ts'
import { median } from './steady-rate.ts'

/** Any program that prints a rising counter, with or without a time or a rate beside it. */
export const generic: LogReader = {
  name: 'generic',
  read: records => {
    const bars = barsOf(records)
    const lines = fromLines(namedColumns(records))
    const barred = genericBars(bars, records)
    const chosen = better(lines, barred)
    if (chosen === undefined) return undefined
    return withFigures(chosen, records, bars)
  },
}

function better(lines: LogReading | undefined, bars: LogReading | undefined): LogReading | undefined {
  if (lines === undefined || bars === undefined) return lines ?? bars
  const isTimed = lines.points.some(point => point.timeSeconds !== undefined || point.secondsPerStep !== undefined)
  return isTimed && lines.unit !== 'epoch' && lines.points.length * 4 > bars.points.length ? lines : bars
}

function fromLines(records: readonly LogRecord[]): LogReading | undefined {
  const sightings = sightingsOf(records)
  const groups = [...groupedBy(sightings, one => one.label).entries()].map(([label, all]) => ({
    label,
    all: mainTotal(all),
  }))
  const candidates = groups.filter(({ all }) => isCounter(all))
  const epochs = candidates.find(({ label }) => isEpoch(label)) ?? groups.find(({ label }) => isEpoch(label))
  // What is counted within epochs is reported about as often as they are, or more; folds, each of which holds many epochs, are not.
  const isWithin = ({ all }: { readonly all: readonly Sighting[] }) => all.length >= (epochs?.all.length ?? 0) / 4
  const inner = candidates
    .filter(group => !isEpoch(group.label) && isWithin(group))
    .sort((a, b) => scoreOf(b) - scoreOf(a))[0]
  const outer = epochs ?? (inner === undefined ? undefined : outerOf(inner.all, groups))
  const main = inner ?? (epochs !== undefined && isCounter(epochs.all) ? epochs : undefined)
  if (main === undefined) return undefined
  const reading = readingOf(main.label, main.all, main === epochs ? [] : (outer?.all ?? []), records)
  const epochsTotal = epochsNamed(sightings)
  return epochsTotal === undefined || main === epochs ? reading : { ...reading, figures: { epochsTotal } }
}

/** The epochs that are planned, where every line that names their number names the same. */
function epochsNamed(sightings: readonly Sighting[]): Figure | undefined {
  const epochs = sightings.filter(({ label, total }) => isEpoch(label) && total !== undefined)
  const last = epochs.at(-1)
  if (last?.total === undefined || epochs.some(({ total }) => total !== last.total)) return undefined
  return { value: last.total, line: last.record.line }
}

/** A counter in the same records that rises just where the main one restarts: its epochs, though nobody calls them so. */
function outerOf<G extends { readonly all: readonly Sighting[] }>(
  inner: readonly Sighting[],
  groups: readonly G[],
): G | undefined {
  const restarts = inner
    .filter((one, index) => index > 0 && one.at < (inner[index - 1]?.at ?? 0))
    .map(one => one.record)
  return groups.find(({ all }) => {
    const rises = all.filter((one, index) => index > 0 && one.at !== all[index - 1]?.at).map(one => one.record)
    return (
      restarts.length > 0 &&
      rises.length === restarts.length &&
      rises.every((record, index) => record === restarts[index])
    )
  })
}

function isEpoch(label: string): boolean {
  return /^ep/.test(label)
}

/** Of sightings with several totals those with the most frequent. */
function mainTotal(all: readonly Sighting[]): readonly Sighting[] {
  const byTotal = [...groupedBy(all, one => one.total).values()].sort((a, b) => b.length - a.length)
  const main = hasEpochsOfOwnLength(all) ? all : (byTotal[0] ?? [])
  // a line of arguments that says steps as well is no report
  const byShape = [...groupedBy(main, one => one.before).values()].sort((a, b) => b.length - a.length)
  const alike = byShape[0] ?? []
  if (alike.length >= 0.6 * main.length) return alike
  // a program that names the same counts in lines of two kinds: those that tell the time
  return byShape.find(shape => isCounter(shape) && shape.length > 2 && shape.every(isStamped)) ?? main
}

/** The total changes only where the counter had reached it and begins anew, and for good: epochs are not equally long. */
function hasEpochsOfOwnLength(all: readonly Sighting[]): boolean {
  const changes = all.filter((one, index) => one.total !== all[index - 1]?.total)
  return (
    new Set(changes.map(one => one.total)).size === changes.length &&
    all.every((one, index) => {
      const before = all[index - 1]
      return before === undefined || one.total === before.total || (before.at === before.total && one.at < before.at)
    })
  )
}

function isStamped({ record }: Sighting): boolean {
  return timeOf(record) !== undefined
}

/** A stamp further behind counts in a report, unless it is one of the future. */
function timeOf({ timeSeconds, text }: LogRecord): number | undefined {
  return timeSeconds ?? (/\b(?:eta|finish|until|expected|end)/i.test(text) ? undefined : findStamp(text)?.seconds)
}

/** It rises from one report to the next, but for restarts. */
function isCounter(all: readonly Sighting[]): boolean {
  if (new Set(all.map(one => one.at)).size < 2) return false
  const rising = all.filter((one, index) => index > 0 && one.at > (all[index - 1]?.at ?? 0)).length
  const falling = all.filter((one, index) => index > 0 && one.at < (all[index - 1]?.at ?? 0)).length
  return rising > 0 && falling <= 0.25 * rising
}

/** Reports, a name that tells a step, a total and figures beside it speak for a counter. */
function scoreOf({ label, all }: { readonly label: string; readonly all: readonly Sighting[] }): number {
  const beside = all
    .slice(0, 20)
    .filter(({ record }) => record.timeSeconds !== undefined || Object.keys(fieldsOf(record.text)).length > 0)
  const named =
    label === 'i' || label.startsWith('of ') || /^(?:sample|it|frame|episode|timesteps?|total steps|trial)$/.test(label)
      ? 0
      : /step|iter|update/.test(label)
        ? 2
        : 1
  return (
    Math.log(all.filter((one, index) => one.at !== all[index - 1]?.at).length) +
    named +
    (all[0]?.total === undefined ? 0 : 1) +
    (all.every((one, index) => one.at >= (all[index - 1]?.at ?? 0)) ? 1 : 0) +
    (beside.length > all.slice(0, 20).length / 2 ? 1 : 0)
  )
}

/** A pace of iterations; beside a count of epochs it is not that of the epochs. */
const ofIterations = /\/\s?(?:it|iter|iteration|step|batch|update)\b|\b(?:it|iter|iteration|step|batche|update)s?\/s/i

function readingOf(
  label: string,
  every: readonly Sighting[],
  epochs: readonly Sighting[],
  records: readonly LogRecord[],
): LogReading {
  const all = sampled(every, (one, next) => next.at < one.at)
  const fields = fieldsAt(all, records)
  const epochAt = epochsAt(all, epochs)
  const raw = all.map((one, index): ProgressPoint & { fields: Fields } => ({
    line: one.record.line,
    timeSeconds: timeOf(one.record),
    rank: one.record.rank,
    text: one.record.text,
    step: one.at,
    total: one.total,
    ...epochAt[index],
    ...pointFields(fields[index] ?? {}),
    ...(isEpoch(label) && ofIterations.test(one.record.text) && { secondsPerStep: undefined, dataSeconds: undefined }),
    fields: fields[index] ?? {},
  }))
  const restarts = raw.filter((point, index) => index > 0 && point.step < (raw[index - 1]?.step ?? 0)).length
  const perEpoch =
    !isEpoch(label) && restarts > 0 && (new Set(raw.map(point => point.epoch)).size > 1 || restartsWhenFull(raw))
  const named = new Set(raw.map(point => point.epoch))
  // of one epoch nobody can tell whether its counter would restart: then its total is not taken for that of the run
  const isInner = !isEpoch(label) && raw.some(point => point.epoch !== undefined) && restarts + 1 >= named.size
  const points = withTotals(timed(raw, perEpoch), raw)
  const starts = perEpoch
    ? raw.filter((point, index) => index === 0 || point.step < (raw[index - 1]?.step ?? 0))
    : raw.slice(0, 1)
  const isBelowTotal = raw.every(point => point.total === undefined || point.step < point.total)
  const zeroBased = starts.length > 0 && (starts.every(point => point.step === 0) || isBehindByOne(raw)) && isBelowTotal
  const firstEpoch = firstEpochOf(raw)
  return {
    framework: undefined,
    unit: unitOf(label),
    points,
    zeroBased,
    perEpoch: perEpoch || (isInner && raw.some(point => point.epoch !== undefined && point.total !== undefined)),
    firstEpoch,
    ratesPerDevice: fields.some(one => one.perDevice === true),
    remainingOfEpoch: perEpoch || isInner,
    figures: {},
    evaluatedAtLine: [],
  }
}

/** Reported every k steps, and always one less than a multiple of k: the first step is called 0. */
function isBehindByOne(points: readonly ProgressPoint[]): boolean {
  const strides = points.flatMap((point, index) => {
    const stride = point.step - (points[index - 1]?.step ?? point.step)
    return stride > 0 ? [stride] : []
  })
  const stride = median(strides)
  return strides.length > 3 && stride > 1 && points.every(point => point.step % stride === stride - 1)
}

/** Every fall comes where the total was reached, to within a report: the next epoch begins, not another run. */
function restartsWhenFull(points: readonly ProgressPoint[]): boolean {
  return points.every((point, index) => {
    const before = points[index - 1]
    const stride = (before?.step ?? 0) - (points[index - 2]?.step ?? 0)
    return (
      before === undefined ||
      point.step >= before.step ||
      before.step + Math.max(1, stride) >= (before.total ?? Number.POSITIVE_INFINITY)
    )
  })
}

/** Fields of a report's record, and where it has no time of its own, of the lines up to the next report. */
function fieldsAt(all: readonly Sighting[], records: readonly LogRecord[]): readonly Fields[] {
  const indexOf = new Map(records.map((record, index) => [record, index]))
  return all.map((one, index) => {
    const own = fieldsOf(one.record.text)
    const from = (indexOf.get(one.record) ?? 0) + 1
    const next = all[index + 1]
    const to = next === undefined ? from + 12 : (indexOf.get(next.record) ?? from)
    const isTimed =
      own.secondsPerStep !== undefined ||
      own.seconds !== undefined ||
      own.samplesPerSecond !== undefined ||
      own.tokensPerSecond !== undefined
    if (isTimed || to - from > 40) return own
    const behind = records.slice(from, to).filter(({ text }) => !otherCounts.test(text))
    return Object.assign({}, ...behind.map(({ text }) => fieldsOf(text)).reverse(), own)
  })
}

/** The epoch that was named last, in the record or before it. */
function epochsAt(
  all: readonly Sighting[],
  epochs: readonly Sighting[],
): readonly { epoch?: number; epochs?: number }[] {
  let next = 0
  let current: Sighting | undefined
  return all.map(({ record }) => {
    for (let one = epochs[next]; one !== undefined && one.record.line <= record.line; one = epochs[next]) {
      current = one
      next += 1
    }
    return current === undefined
      ? {}
      : { epoch: current.at, ...(current.total !== undefined && { epochs: current.total }) }
  })
}

function firstEpochOf(points: readonly ProgressPoint[]): 0 | 1 | undefined {
  const named = points.flatMap(point => point.epoch ?? [])
  if (named.length === 0) return undefined
  return named.includes(0) ? 0 : 1
}

function unitOf(label: string): CounterUnit {
  if (isEpoch(label)) return 'epoch'
  if (/update|optimi/.test(label)) return 'optimizer-step'
  return /^samples?\b/.test(label) ? 'sample' : 'other'
}

/** Decides what seconds without a name mean: they grow with the counter, or are of a report, or of a step. */
function timed(points: readonly (ProgressPoint & { fields: Fields })[], perEpoch: boolean): readonly ProgressPoint[] {
  const isFalling = points.some(
    (point, index) =>
      index > 0 &&
      point.step > (points[index - 1]?.step ?? point.step) &&
      (point.elapsedSeconds ?? 0) < (points[index - 1]?.elapsedSeconds ?? 0),
  )
  // what is called elapsed, and falls while the counter rises, is of a report
  const plain = points.map(({ fields, ...point }) => (isFalling ? { ...point, elapsedSeconds: undefined } : point))
  const seconds = points.map(point => point.fields.seconds)
  const known = seconds.flatMap(value => value ?? [])
  if (known.length < Math.max(2, points.length / 2) || points.some(point => point.secondsPerStep !== undefined))
    return plain
  const grows = known.filter((value, index) => index > 0 && value > (known[index - 1] ?? 0)).length
  const falls = known.filter((value, index) => index > 0 && value < (known[index - 1] ?? 0)).length
  const resets = points.filter((point, index) => index > 0 && point.step < (points[index - 1]?.step ?? 0)).length
  const isCumulative =
    known.length > 2 &&
    falls <= (perEpoch ? resets : 0) &&
    grows >= 0.8 * (known.length - 1 - falls) &&
    (known.at(-1) ?? 0) > 1.5 * (known[0] ?? 0)
  if (isCumulative)
    return plain.map((point, index) => ({ ...point, elapsedSeconds: point.elapsedSeconds ?? seconds[index] }))
  const strides = points.flatMap((point, index) => {
    const before = points[index - 1]
    return before === undefined || point.step <= before.step ? [] : [point.step - before.step]
  })
  const stride = median(strides)
  const divisor = stride === 1 ? 1 : divisorOf(points, stride, median(known))
  if (divisor === undefined) return plain
  return plain.map((point, index) => {
    const value = seconds[index]
    return value === undefined ? point : { ...point, secondsPerStep: value / divisor, elapsedSeconds: undefined }
  })
}

/** What was seen since the start rises as the counter does; what does not is of a report. */
function withTotals(
  points: readonly ProgressPoint[],
  raw: readonly { readonly step: number; readonly fields: Fields }[],
): readonly ProgressPoint[] {
  const risesWith = (key: 'tokensSeen' | 'samplesSeen'): boolean => {
    const perStep = raw.flatMap(({ step, fields }, index) => {
      const before = raw[index - 1]
      const steps = step - (before?.step ?? step)
      const more = (fields[key] ?? Number.NaN) - (before?.fields[key] ?? Number.NaN)
      return steps > 0 && Number.isFinite(more) ? [more / steps] : []
    })
    const usual = median(perStep)
    return perStep.length > 3 && usual > 0 && perStep.every(one => Math.abs(one / usual - 1) < 0.2)
  }
  const hasTokens = risesWith('tokensSeen')
  const hasSamples = risesWith('samplesSeen')
  if (!hasTokens && !hasSamples) return points
  return points.map((point, index) => ({
    ...point,
    ...(hasTokens && { tokensSeen: raw[index]?.fields.tokensSeen }),
    ...(hasSamples && { samplesSeen: raw[index]?.fields.samplesSeen }),
  }))
}

/** Of a step or of the report? The clock tells; without one nobody knows. */
function divisorOf(points: readonly ProgressPoint[], stride: number, usual: number): number | undefined {
  const spans = points.flatMap((point, index) => {
    const before = points[index - 1]
    const took = (point.timeSeconds ?? Number.NaN) - (before?.timeSeconds ?? Number.NaN)
    return Number.isFinite(took) && took > 0 ? [took] : []
  })
  if (spans.length < 2) return undefined
  const span = median(spans)
  if (Math.abs(usual / span - 1) < 0.25) return stride
  return Math.abs((usual * stride) / span - 1) < 0.25 ? 1 : undefined
}
