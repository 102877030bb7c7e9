import type { Counted, CountedPoint } from './counted.ts'
import { derived } from './figures.ts'
import type { Figure, LogReading, Pause } from './log-reader.ts'
import { type Interval, median, type SteadyRate, steadyRate } from './steady-rate.ts'

/** How fast a run goes. */
export interface Pace {
  readonly secondsPerStep?: Figure | undefined
  readonly samplesPerSecond?: Figure | undefined
  readonly tokensPerSecond?: Figure | undefined
  readonly globalBatch?: Figure | undefined
  readonly dataShare?: Figure | undefined
  /** By the program's own clock, epochs added up. */
  readonly elapsedOfCounter?: number | undefined
  /** Time of pauses over the time of the steps between them. */
  readonly pauseShare: number
  readonly pauseLines: readonly number[]
  readonly unsteady: boolean
  readonly slowStart: boolean
  readonly batchVaries: boolean
  /** The stated time of a step is far from what the clock says. */
  readonly contradicted: boolean
  /** A rate of one device was multiplied by their number. */
  readonly multiplied: boolean
  readonly scopeUnknown: boolean
  /** Counts between two reports. */
  readonly stride?: number | undefined
  /** Counts done when the first report's stretch began. */
  readonly firstDone?: number | undefined
  /** Counts that the rate was taken from. */
  readonly steps?: number | undefined
}

/** Disagreement of a stated rate with the clock from which the clock is right. */
const contradiction = 0.25

/** The pace of a counted run: time of a step by the best source there is, and the rates that follow. */
export function paceOf(reading: LogReading, counted: Counted): Pace {
  const { points } = counted
  const { figures } = reading
  const stride = strideOf(points)
  const pauses = reading.pauses ?? []
  const stated = steadyRate(statedIntervals(points))
  const clock = steadyRate(clockIntervals(points, pauses))
  const own = steadyRate(elapsedIntervals(points, pauses))
  const byClock =
    clock ?? (reading.bars === true && stated !== undefined && own !== undefined && own.steps < 3 ? undefined : own)
  const contradicted =
    stated !== undefined && byClock !== undefined && apart(stated, byClock) > contradiction && reading.bars !== true
  const rate = reading.bars === true ? (byClock ?? stated) : contradicted ? byClock : (stated ?? byClock)
  const paused = clock ?? own ?? stated
  const secondsPerStep =
    figures.secondsPerStep ??
    (rate === undefined ? rateOfMeans(points) : derived('steady state of the reports', rate.secondsPerStep))
  const level = points.filter(point => point.line >= (rate?.fromLine ?? 0))
  const rates = ratesOf(reading, counted, level, secondsPerStep)
  const [first] = points
  return {
    secondsPerStep,
    ...rates,
    dataShare: dataShareOf(level),
    elapsedOfCounter: elapsedOfCounter(points),
    pauseShare: pauseShareOf(
      rate === stated && stated !== undefined && stated.pauses.length > 0 ? stated : paused,
      pauses,
      points,
      secondsPerStep?.value,
    ),
    pauseLines: [...(rate?.pauses ?? []), ...(paused?.pauses ?? [])].map(pause => pause.line),
    unsteady: (rate?.unsteady ?? false) || rates.batchVaries || epochsDiffer(points),
    slowStart: figures.secondsPerStep === undefined && (rate?.slowStart ?? false),
    contradicted,
    scopeUnknown: rates.scopeUnknown,
    stride,
    firstDone: first === undefined ? undefined : Math.max(0, first.done - (stride ?? first.done)),
    steps: points.length < 2 ? rate?.steps : (points.at(-1)?.done ?? 0) - (first?.done ?? 0),
  }
}

function apart(one: SteadyRate, other: SteadyRate): number {
  return Math.abs(one.secondsPerStep / other.secondsPerStep - 1)
}

/** Counts between reports: the most frequent difference. */
function strideOf(points: readonly CountedPoint[]): number | undefined {
  const differences = points.flatMap((point, index) => {
    const before = points[index - 1]
    return before === undefined || point.done <= before.done ? [] : [point.done - before.done]
  })
  return differences.length === 0 ? undefined : median(differences)
}

function statedIntervals(points: readonly CountedPoint[]): readonly Interval[] {
  return points.flatMap(({ line, secondsPerStep }) =>
    secondsPerStep === undefined ? [] : [{ line, steps: 1, seconds: secondsPerStep }],
  )
}

/** Between stamps; joined while a stamp's resolution would blur them. */
function clockIntervals(points: readonly CountedPoint[], pauses: LogReading['pauses'] = []): readonly Interval[] {
  return intervalsBy(
    points,
    point => point.timeSeconds,
    pauses,
    () => true,
  )
}

/** By the program's own clock, within an epoch where it restarts with each. */
function elapsedIntervals(points: readonly CountedPoint[], pauses: LogReading['pauses'] = []): readonly Interval[] {
  return intervalsBy(
    points,
    point => point.elapsedSeconds,
    pauses,
    (one, other) => one.stretch === other.stretch,
  )
}

/** Spans that whole seconds measure well enough: to a tenth. */
const goodSpanSeconds = 10
/** Of a short run, this many spans. */
const fewestSpans = 32

function intervalsBy(
  points: readonly CountedPoint[],
  clockOf: (point: CountedPoint) => number | undefined,
  pauses: NonNullable<LogReading['pauses']>,
  joins: (one: CountedPoint, other: CountedPoint) => boolean,
): readonly Interval[] {
  const timed = points.flatMap(point => {
    const at = clockOf(point)
    return at === undefined ? [] : [{ point, at }]
  })
  const isWhole = timed.every(({ at }) => Number.isInteger(at))
  // of whole seconds, the record at which the second changes tells the time best
  const ticks = isWhole
    ? timed.filter(
        ({ at, point }, index) => at !== timed[index - 1]?.at || timed[index - 1]?.point.stretch !== point.stretch,
      )
    : timed
  const whole = (timed.at(-1)?.at ?? 0) - (timed[0]?.at ?? 0)
  const least = isWhole ? Math.min(goodSpanSeconds, whole / fewestSpans) : 0
  const intervals: Interval[] = []
  let from = ticks[0]
  for (const to of ticks.slice(1)) {
    if (from === undefined || !joins(from.point, to.point) || to.at < from.at) {
      from = to
      continue
    }
    const steps = to.point.done - from.point.done
    const span = to.at - from.at
    const isLast = to === ticks.at(-1)
    if (steps <= 0 || (span < least && !isLast)) continue
    const { line } = to.point
    const start = from.point.line
    const paused = pauses.reduce(
      (sum, pause) => (pause.line > start && pause.line <= line ? sum + pause.seconds : sum),
      0,
    )
    if (!(isLast && span < least && intervals.length > 0))
      intervals.push({
        line,
        steps,
        seconds: Math.max(0, span - paused),
        errorSeconds: isWhole ? Math.min(1, span / steps) : 0,
      })
    from = to
  }
  return intervals
}

/** Whole epochs whose times differ by more than noise, as a bar's own clock tells them. */
function epochsDiffer(points: readonly CountedPoint[]): boolean {
  const whole = points.filter(
    ({ step, total, elapsedSeconds = 0 }) => step === total && elapsedSeconds >= goodSpanSeconds,
  )
  const times = [...new Map(whole.map(point => [point.stretch, point.elapsedSeconds ?? 0])).values()]
  return times.length > 1 && Math.max(...times) > 1.25 * Math.min(...times)
}

/** Last resort: the mean since the epoch began. */
function rateOfMeans(points: readonly CountedPoint[]): Figure | undefined {
  const last = points.findLast(point => point.meanSecondsPerStep !== undefined)
  return last?.meanSecondsPerStep === undefined ? undefined : { value: last.meanSecondsPerStep, line: last.line }
}

function elapsedOfCounter(points: readonly CountedPoint[]): number | undefined {
  const lasts = new Map<number, number>()
  for (const { stretch, elapsedSeconds } of points) {
    if (elapsedSeconds !== undefined) lasts.set(stretch, Math.max(lasts.get(stretch) ?? 0, elapsedSeconds))
  }
  const [first] = points
  if (lasts.size > 0) return [...lasts.values()].reduce((sum, seconds) => sum + seconds, 0)
  const last = points.at(-1)
  const isOneEpoch = first !== undefined && last !== undefined && first.stretch === 0 && last.stretch === 0
  return isOneEpoch && last.meanSecondsPerStep !== undefined ? last.meanSecondsPerStep * last.done : undefined
}

/** Pauses that a log states are not in the time between its reports any more. */
function pauseShareOf(
  rate: SteadyRate | undefined,
  stated: readonly Pause[],
  points: readonly CountedPoint[],
  secondsPerStep: number | undefined,
): number {
  const [first] = points
  const done = (points.at(-1)?.done ?? 0) - (first?.done ?? 0)
  if (first === undefined || secondsPerStep === undefined || done <= 0) return 0
  const paused = [...(rate?.pauses ?? []), ...stated.filter(({ line }) => line > first.line)]
  return paused.reduce((sum, pause) => sum + pause.seconds, 0) / (done * secondsPerStep)
}

function dataShareOf(points: readonly CountedPoint[]): Figure | undefined {
  const both = points
    .slice(points.length > 3 ? 1 : 0)
    .flatMap(({ dataSeconds, secondsPerStep, meanSecondsPerStep }) => {
      const step = secondsPerStep ?? meanSecondsPerStep
      return dataSeconds === undefined || step === undefined ? [] : [{ data: dataSeconds, step }]
    })
  if (both.length === 0) return undefined
  const share = both.reduce((sum, one) => sum + one.data, 0) / both.reduce((sum, one) => sum + one.step, 0)
  return derived('time waiting for data over the time of a step', Math.min(1, share))
}

interface Rates {
  readonly samplesPerSecond?: Figure | undefined
  readonly tokensPerSecond?: Figure | undefined
  readonly globalBatch?: Figure | undefined
  readonly batchVaries: boolean
  readonly multiplied: boolean
  readonly scopeUnknown: boolean
}

function ratesOf(
  reading: LogReading,
  counted: Counted,
  level: readonly CountedPoint[],
  secondsPerStep: Figure | undefined,
): Rates {
  const { figures, unit, ratesPerDevice, rateScopeUnknown } = reading
  const world = figures.worldSize?.value
  const factor = ratesPerDevice === true ? world : rateScopeUnknown === true && (world ?? 1) > 1 ? undefined : 1
  const statedSamples = steadyOf(level, point => point.samplesPerSecond)
  const statedTokens = steadyOf(level, point => point.tokensPerSecond)
  const batches = level.flatMap(point => point.globalBatch ?? [])
  const batchVaries = new Set(counted.points.flatMap(point => point.globalBatch ?? [])).size > 1
  const seconds = secondsPerStep?.value
  const globalBatch =
    (batchVaries ? undefined : figures.globalBatch) ??
    (batches.length > 0 ? { value: batches.at(-1) ?? 0, line: level.at(-1)?.line } : undefined) ??
    batchOfDevices(reading) ??
    batchSeen(level) ??
    (factor === undefined || unit === 'sample' || unit === 'token' ? undefined : batchOfRates(level, factor))
  // a batch that is stated is that of an optimizer step, and a counter without a name may be one of micro-batches
  const updates =
    unit === 'micro-step'
      ? figures.accumulation?.value
      : unit === 'optimizer-step' || (unit === 'other' && globalBatch?.formula !== undefined)
        ? 1
        : undefined
  const fromBatch =
    globalBatch !== undefined && seconds !== undefined && updates !== undefined
      ? globalBatch.value / (seconds * updates)
      : undefined
  const samplesPerSecond =
    figures.samplesPerSecond ??
    (unit === 'sample' && seconds !== undefined ? derived('1 over the time of a sample', 1 / seconds) : undefined) ??
    derived('batch over the time of a step', fromBatch) ??
    derived('steady state of the rates stated', times(statedSamples, factor))
  const perStep = tokensPerStep(level)
  const length = figures.sequenceLength?.value
  const tokensPerSecond =
    figures.tokensPerSecond ??
    derived('steady state of the rates stated', times(statedTokens, factor)) ??
    derived(
      'tokens of a step over its time',
      perStep === undefined || seconds === undefined ? undefined : perStep / seconds,
    ) ??
    derived('samples per second times their length', times(fromBatch, length))
  return {
    samplesPerSecond,
    tokensPerSecond,
    globalBatch,
    batchVaries,
    multiplied: (statedTokens !== undefined || statedSamples !== undefined) && factor !== undefined && factor > 1,
    scopeUnknown:
      (statedTokens !== undefined || statedSamples !== undefined) && factor === undefined && rateScopeUnknown === true,
  }
}

function times(value: number | undefined, factor: number | undefined): number | undefined {
  return value === undefined || factor === undefined ? undefined : value * factor
}

/** A stated rate in its steady state: as the time of a unit, where pauses and warm-up show. */
function steadyOf(
  points: readonly CountedPoint[],
  of: (point: CountedPoint) => number | undefined,
): number | undefined {
  const intervals = points.flatMap(point => {
    const rate = of(point)
    return rate === undefined || rate <= 0 ? [] : [{ line: point.line, steps: 1, seconds: 1 / rate }]
  })
  const steady = steadyRate(intervals)
  return steady === undefined ? undefined : 1 / steady.secondsPerStep
}

function batchOfDevices({ figures }: LogReading): Figure | undefined {
  const { microBatch, accumulation, worldSize } = figures
  if (microBatch === undefined || worldSize === undefined) return undefined
  return derived(
    'batch of a device x accumulation x devices',
    microBatch.value * (accumulation?.value ?? 1) * worldSize.value,
  )
}

/** From the samples seen so far, where each step has the same number. */
function batchSeen(points: readonly CountedPoint[]): Figure | undefined {
  const perStep = differencePerStep(points, point => point.samplesSeen)
  return perStep === undefined ? undefined : derived('samples seen over steps', Math.round(perStep))
}

function tokensPerStep(points: readonly CountedPoint[]): number | undefined {
  return differencePerStep(points, point => point.tokensSeen)
}

function differencePerStep(
  points: readonly CountedPoint[],
  of: (point: CountedPoint) => number | undefined,
): number | undefined {
  const counts = points.filter(point => of(point) !== undefined)
  const [first] = counts
  const last = counts.at(-1)
  if (first === undefined || last === undefined || last.done <= first.done) return undefined
  return ((of(last) ?? 0) - (of(first) ?? 0)) / (last.done - first.done)
}

/** A batch is a whole number: the rate times the time of a step has to come out as one, in report after report. */
function batchOfRates(points: readonly CountedPoint[], factor: number): Figure | undefined {
  const products = points.flatMap(({ samplesPerSecond, secondsPerStep }) =>
    samplesPerSecond === undefined || secondsPerStep === undefined ? [] : [samplesPerSecond * secondsPerStep * factor],
  )
  if (products.length < 3) return undefined
  const batch = Math.round(median(products))
  const fits = products.filter(product => Math.abs(product / batch - 1) < 0.02).length
  return batch >= 1 && fits >= 0.9 * products.length
    ? derived('samples per second x seconds per step', batch)
    : undefined
}
