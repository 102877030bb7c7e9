import { type Bar, barsOf } from './bars.ts'
import { commonFigures } from './common-figures.ts'
import { derived, type FigurePattern, findFigures } from './figures.ts'
import { genericBars } from './generic-bars.ts'
import { type Fields, fieldsOf, pointFields } from './generic-fields.ts'
import { groupedBy } from './grouped.ts'
import { linesOf, usualEvaluation } from './line-format.ts'
import type { CounterUnit, LogReader, LogReading, ProgressPoint } from './log-reader.ts'
import { programOf } from './program-names.ts'
import type { LogRecord } from './records.ts'
import { otherCounts, type Sighting, sightingsOf } from './sightings.ts'
import { median } from './steady-rate.ts'

/** Any program that prints a rising counter, with or without a time or a rate beside it. */
export const generic: LogReader = {
  name: 'generic',
  read: records => {
    const bars = barsOf(records)
    const lines = fromLines(records)
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
  const sightings = records.flatMap(record => sightingsOf(record))
  const groups = [...groupedBy(sightings, one => one.label).entries()].map(([label, all]) => ({
    label,
    all: mainTotal(all),
  }))
  const candidates = groups.filter(({ all }) => isCounter(all))
  const epochs = candidates.find(({ label }) => isEpoch(label)) ?? groups.find(({ label }) => isEpoch(label))
  const inner = candidates.filter(({ label }) => !isEpoch(label)).sort((a, b) => scoreOf(b) - scoreOf(a))[0]
  const outer = epochs ?? (inner === undefined ? undefined : outerOf(inner.all, groups))
  const main = inner ?? (epochs !== undefined && isCounter(epochs.all) ? epochs : undefined)
  if (main === undefined) return undefined
  return readingOf(main.label, main.all, main === epochs ? [] : (outer?.all ?? []), records)
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
  const main = byTotal[0] ?? []
  // a line of arguments that says steps as well is no report
  const alike = [...groupedBy(main, one => one.before).values()].sort((a, b) => b.length - a.length)[0] ?? []
  return alike.length >= 0.6 * main.length ? alike : main
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

function readingOf(
  label: string,
  all: readonly Sighting[],
  epochs: readonly Sighting[],
  records: readonly LogRecord[],
): LogReading {
  const fields = fieldsAt(all, records)
  const epochAt = epochsAt(all, epochs)
  const raw = all.map((one, index): ProgressPoint & { fields: Fields } => ({
    line: one.record.line,
    timeSeconds: one.record.timeSeconds,
    rank: one.record.rank,
    text: one.record.text,
    step: one.at,
    total: one.total,
    ...epochAt[index],
    ...pointFields(fields[index] ?? {}),
    fields: fields[index] ?? {},
  }))
  const restarts = raw.filter((point, index) => index > 0 && point.step < (raw[index - 1]?.step ?? 0)).length
  const perEpoch =
    !isEpoch(label) && restarts > 0 && (new Set(raw.map(point => point.epoch)).size > 1 || restartsWhenFull(raw))
  const named = new Set(raw.map(point => point.epoch))
  // of one epoch nobody can tell whether its counter would restart: then its total is not taken for that of the run
  const isInner = !isEpoch(label) && raw.some(point => point.epoch !== undefined) && restarts + 1 >= named.size
  const points = timed(raw, perEpoch)
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
  return label === 'sample' ? 'sample' : 'other'
}

/** Decides what seconds without a name mean: they grow with the counter, or are of a report, or of a step. */
function timed(points: readonly (ProgressPoint & { fields: Fields })[], perEpoch: boolean): readonly ProgressPoint[] {
  const plain = points.map(({ fields, ...point }) => point)
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

const argument = (names: string) =>
  new RegExp(String.raw`(?<![\w])["']?(?:${names})["']?\s*[=:]\s*["']?(\d[\d,]*)(?![\w.%]|\s*[/|])`, 'i')

/** Arguments that own scripts print. */
const argumentsOf: readonly FigurePattern[] = [
  {
    figure: 'microBatch',
    pattern: argument(
      'micro_bsz|micro_batch_size|micro_batch|per_device_(?:train_)?batch_size|batch_size_per_(?:gpu|device)|device_batch_size|per_gpu_batch_size|local_batch_size',
    ),
  },
  {
    figure: 'accumulation',
    pattern: argument(
      'grad_accum(?:ulation)?(?:_steps)?|gradient_accumulation(?:_steps)?|accum(?:_steps|ulation_steps|_iter)?|accumulate_grad_batches',
    ),
  },
  {
    figure: 'sequenceLength',
    pattern: argument('seq|seq_len|seq_length|sequence_length|block_size|context_length|max_seq_len(?:gth)?'),
  },
  {
    figure: 'stepsTotal',
    pattern: argument(
      'max_steps|total_steps|num_steps|max_iters|num_iters|train_steps|num_train_steps|n_steps|total_iters|max_iterations|num_iterations|train_iters|max_iter|total_iter|num_iter|max_step|total_step|total_training_steps',
    ),
  },
  { figure: 'epochsTotal', pattern: argument('max_epochs|num_epochs|n_epochs|total_epochs|num_train_epochs|epochs') },
]

function withFigures(reading: LogReading, records: readonly LogRecord[], bars: readonly Bar[]): LogReading {
  const [first] = reading.points
  const before = records.filter(record => first === undefined || record.line <= first.line)
  const stated = findFigures(before, [...commonFigures, ...argumentsOf])
  const hasTotal = reading.points.some(point => point.total !== undefined)
  const counted = (reading.points.at(-1)?.step ?? 0) + 1
  const total =
    hasTotal || reading.unit === 'epoch' || (stated.stepsTotal?.value ?? 0) < counted - 1
      ? undefined
      : stated.stepsTotal
  const epochsTotal = stated.epochsTotal
  const stepsTotal = reading.unit === 'epoch' && !hasTotal ? epochsTotal : total
  const figures = {
    ...stated,
    ...reading.figures,
    stepsTotal: reading.figures.stepsTotal ?? stepsTotal,
    epochsTotal: reading.figures.epochsTotal ?? epochsTotal,
  }
  const { microBatch, accumulation, worldSize, sequenceLength } = figures
  const unit = provenUnit({ ...reading, figures })
  const isProven = unit !== undefined
  // arguments alone do not prove that they are those of the loop that is counted
  const product =
    isProven && microBatch !== undefined
      ? microBatch.value * (accumulation?.value ?? 1) * (worldSize?.value ?? 1)
      : undefined
  const isCounting = reading.unit === 'other'
  const named = unit ?? reading.unit
  return {
    ...reading,
    framework: programOf(records) ?? (reading.bars === true && isOnlyBars(records, bars) ? 'tqdm' : undefined),
    unit: named,
    rateScopeUnknown: !isProven && reading.ratesPerDevice !== true,
    figures: {
      ...figures,
      microBatch: isProven ? microBatch : undefined,
      accumulation: isProven ? accumulation : undefined,
      sequenceLength: isProven ? sequenceLength : undefined,
      ...(product !== undefined && { globalBatch: derived('batch of a device x accumulation x devices', product) }),
    },
    evaluatedAtLine: reading.evaluatedAtLine?.length ? reading.evaluatedAtLine : linesOf(records, usualEvaluation),
    warnings: [
      ...(reading.warnings ?? []),
      ...(isCounting && !isProven ? [{ code: 'counter-unit-unknown' as const }] : []),
    ],
  }
}

/** The rate stated, times the time of a step, is what a step holds: as many samples as a batch of all devices with or without accumulation. */
function provenUnit({ points, figures, unit }: LogReading): CounterUnit | undefined {
  const { microBatch, accumulation, worldSize, sequenceLength } = figures
  if (unit !== 'other' || microBatch === undefined || accumulation === undefined) return undefined
  const products = points.flatMap(({ samplesPerSecond, tokensPerSecond, secondsPerStep }) => {
    if (secondsPerStep === undefined) return []
    if (samplesPerSecond !== undefined) return [samplesPerSecond * secondsPerStep]
    return tokensPerSecond === undefined || sequenceLength === undefined
      ? []
      : [(tokensPerSecond * secondsPerStep) / sequenceLength.value]
  })
  const held = median(products)
  const micro = microBatch.value * (worldSize?.value ?? 1)
  const isNear = (batch: number) => Math.abs(held / batch - 1) < 0.03
  if (products.length < 3) return undefined
  if (isNear(micro * accumulation.value)) return 'optimizer-step'
  return isNear(micro) ? 'micro-step' : undefined
}

/** Nothing but bars and warnings: tqdm is all that is known of the program. */
function isOnlyBars(records: readonly LogRecord[], bars: readonly Bar[]): boolean {
  const barred = new Set(bars.map(bar => bar.record))
  return records.every(record => barred.has(record) || /\d+(?:\.\d+)?\w*\s?\[\d+:\d{2}/.test(record.text))
}
