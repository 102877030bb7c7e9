import { type Bar, barsOf } from './bars.ts'
import { parseLength } from './clock.ts'
import { commonFigures } from './common-figures.ts'
import { derived, type FigurePattern, findFigures, parseNumber } from './figures.ts'
import { groupedBy } from './grouped.ts'
import { linesOf } from './line-format.ts'
import type { Figure, LogReader, LogReading, Pause, ProgressPoint, RunFigures } from './log-reader.ts'
import type { LogRecord } from './records.ts'

/** A dictionary that the Trainer prints: numbers, since version 5 as quoted strings. */
interface Printed {
  readonly record: LogRecord
  readonly values: ReadonlyMap<string, number>
}

/** Programs that are built on the Trainer, by what only they print; the first that fits names the log. */
const relatives: readonly { readonly framework: string; readonly sign: RegExp }[] = [
  { framework: 'unsloth', sign: /🦥|\bUnsloth\b/ },
  { framework: 'axolotl', sign: /\baxolotl\b/ },
  { framework: 'llama-factory', sign: /\bllamafactory\b|LLaMA[- ]?Factory/i },
  { framework: 'ms-swift', sign: /\[INFO:swift\]|\bswift\.(?:llm|trainers|cli)\b|'global_step\/max_steps'/ },
  { framework: 'open-instruct', sign: /\bopen_instruct\b/ },
  {
    framework: 'trl',
    sign: /mean_token_accuracy|'rewards\/|'completions\/|\btrl\b|Building labels for train dataset|Adding EOS to train dataset/,
  },
]

const figurePatterns: readonly FigurePattern[] = [
  ...commonFigures,
  { figure: 'globalBatch', pattern: /\bTotal batch size(?: \([^)]*\))? = ([\d,]+)/ },
  { figure: 'worldSize', pattern: /\bNum GPUs(?: used)? = (\d+)/ },
  { figure: 'stepsTotal', pattern: /\bTotal steps = ([\d,]+)/ },
  { figure: 'peakMemoryBytes', pattern: /Peak reserved memory = ([\d.]+) GB/, scale: 2 ** 30 },
  {
    figure: 'peakMemoryBytes',
    pattern: /GPU memory usage while training:\s*([\d.]+)\s?GB/,
    scale: 2 ** 30,
    largest: true,
  },
  { figure: 'microBatch', pattern: /(?:Instantaneous batch size per device|Batch size per device) = ([\d,]+)/ },
  { figure: 'accumulation', pattern: /Gradient Accumulation steps = ([\d,]+)/i },
]

/** A bar and nothing behind it. */
const isBar = /\d\/\d+ \[[^\]]*\]\s*$/

/** The Trainer of transformers, and what is built on it. */
export const huggingface: LogReader = {
  name: 'hf-trainer',
  read: records => {
    const dictionaries = records.flatMap(record => printedOf(record) ?? [])
    const isTrainer = dictionaries.some(
      ({ values }) =>
        values.has('train_runtime') || (values.has('loss') && values.has('learning_rate') && values.has('epoch')),
    )
    if (!isTrainer) return undefined
    const bars = mainBars(records)
    const summary = dictionaries.findLast(
      ({ values }) => values.has('train_runtime') && (values.has('train_loss') || values.has('train_steps_per_second')),
    )
    const evaluations = dictionaries.filter(({ values }) => values.has('eval_runtime'))
    const stated = withDevices(
      findFigures(
        records.filter(({ text }) => !isBar.test(text)),
        figurePatterns,
      ),
    )
    const points = bars.length > 0 ? bars.map(pointOfBar) : pointsOfDictionaries(dictionaries, summary)
    const figures = { ...stated, ...(summary !== undefined && summaryFigures(summary, points, stated)) }
    const pauses: readonly Pause[] = evaluations.map(({ record, values }) => ({
      line: record.line,
      seconds: values.get('eval_runtime') ?? 0,
    }))
    const evaluatedAtLine =
      evaluations.length > 0 ? evaluations.map(({ record }) => record.line) : linesOf(records, /'eval_loss'/)
    const reading: LogReading = {
      framework: relatives.find(({ sign }) => records.some(({ text }) => sign.test(text)))?.framework ?? 'hf-trainer',
      unit: 'optimizer-step',
      points,
      bars: bars.length > 0,
      figures: { ...figures, ...epochsOf(dictionaries, figures, summary !== undefined) },
      pauses,
      evaluatedAtLine,
      finishedAtLine: summary?.record.line,
      warnings: stoppedEarly(dictionaries, stated.epochsTotal, summary),
    }
    return reading
  },
}

/** The header's total batch is that of a device, times accumulation, times devices. */
function withDevices(stated: RunFigures): RunFigures {
  const { worldSize, globalBatch, microBatch, accumulation } = stated
  if (worldSize !== undefined || globalBatch === undefined || microBatch === undefined || accumulation === undefined)
    return stated
  const devices = globalBatch.value / (microBatch.value * accumulation.value)
  if (!Number.isInteger(devices)) return stated
  return { ...stated, worldSize: derived('total batch over the batch of a device x accumulation', devices) }
}

function printedOf(record: LogRecord): Printed | undefined {
  const match = /\{\s*'[\w/ .-]+':.*\}/.exec(record.text)
  if (match === null) return undefined
  const pairs = [...match[0].matchAll(/'([^']+)':\s*'?(-?[\d.]+(?:e[+-]?\d+)?)'?/g)].flatMap(([, name = '', text]) => {
    const value = parseNumber(text)
    return value === undefined ? [] : [[name, value] as const]
  })
  return pairs.length < 2 ? undefined : { record, values: new Map(pairs) }
}

/** Of the bars without a name, those that ran longest: evaluations have bars without a name as well. */
function mainBars(records: readonly LogRecord[]): readonly Bar[] {
  const nameless = barsOf(records).filter(bar => bar.label === '' || /^(?:train|training|steps?)$/i.test(bar.label))
  const byTotal = groupedBy(nameless, bar => bar.total)
  const longest = [...byTotal.values()].sort((a, b) => longestOf(b) - longestOf(a) || b.length - a.length)[0] ?? []
  return longest
}

function longestOf(bars: readonly Bar[]): number {
  return Math.max(...bars.map(bar => bar.elapsedSeconds ?? 0))
}

/** A bar of optimizer steps as a point. */
export function pointOfBar({ record, done, total, elapsedSeconds, secondsPerCount }: Bar): ProgressPoint {
  const { line, closed, rank, text } = record
  return { line, closed, rank, text, step: done, total, elapsedSeconds, secondsPerStep: secondsPerCount }
}

/** Without bars there is no counter: steps follow from the summary, time from dictionaries that carry the seconds so far. */
function pointsOfDictionaries(
  dictionaries: readonly Printed[],
  summary: Printed | undefined,
): readonly ProgressPoint[] {
  const runtime = summary?.values.get('train_runtime')
  const perSecond = summary?.values.get('train_steps_per_second')
  const steps = runtime === undefined || perSecond === undefined ? undefined : Math.round(runtime * perSecond)
  const reports = dictionaries.filter(({ values }) => values.has('loss'))
  if (steps === undefined || reports.length === 0) return reports.flatMap(pointOfSwift)
  const stepAt = stepsByEpoch(reports, steps, summary?.values.get('epoch'))
  return reports.map(({ record, values }, index) => ({
    line: record.line,
    timeSeconds: record.timeSeconds,
    step: index === reports.length - 1 ? steps : stepAt(index),
    total: steps,
    elapsedSeconds: values.get('train_runtime'),
    tokensSeen: values.get('num_input_tokens_seen'),
  }))
}

/** Reports come every so many steps: their epochs tell how many, as the first of them need not be the run's first. */
function stepsByEpoch(
  reports: readonly Printed[],
  steps: number,
  epochs: number | undefined,
): (index: number) => number {
  const epochOf = (printed: Printed | undefined) => printed?.values.get('epoch') ?? Number.NaN
  const perReport = (epochOf(reports.at(-1)) - epochOf(reports[0])) / (reports.length - 1)
  const byEpoch = Math.round((perReport * steps) / (epochs ?? Number.NaN))
  const stride = byEpoch >= 1 ? byEpoch : Math.max(1, Math.floor(steps / reports.length))
  const first = (epochOf(reports[0]) * steps) / ((epochs ?? Number.NaN) * stride)
  const before = first >= 1 ? Math.round(first) : 1
  return index => (before + index) * stride
}

/** ms-swift writes `'global_step/max_steps': '10/100'` and how long it took so far. */
function pointOfSwift({ record }: Printed): readonly ProgressPoint[] {
  const match = /'global_step\/max_steps': '(\d+)\/(\d+)'.*?(?:'elapsed_time': '([^']*)')?/.exec(record.text)
  if (match === null) return []
  const elapsed = /'elapsed_time': '([^']*)'/.exec(record.text)?.[1]
  const memory = /'memory\(GiB\)': '?([\d.]+)/.exec(record.text)?.[1]
  return [
    {
      line: record.line,
      timeSeconds: record.timeSeconds,
      step: Number(match[1]),
      total: Number(match[2]),
      elapsedSeconds: elapsed === undefined ? undefined : parseLength(elapsed),
      memoryBytes: memory === undefined ? undefined : Number(memory) * 2 ** 30,
    },
  ]
}

function summaryFigures({ record, values }: Printed, points: readonly ProgressPoint[], stated: RunFigures): RunFigures {
  const { line } = record
  const runtime = values.get('train_runtime')
  const samples = values.get('train_samples_per_second')
  const steps = values.get('train_steps_per_second')
  const tokens = values.get('num_input_tokens_seen')
  const first = points[0]?.step ?? 0
  const last = points.at(-1)?.step
  const batch = samples !== undefined && steps !== undefined && steps > 0 ? samples / steps : undefined
  // rates have three figures: of slow steps their quotient is no whole number
  const whole = batch !== undefined && Math.abs(batch / Math.round(batch) - 1) < 0.01 ? Math.round(batch) : batch
  const isPrecise = steps !== undefined && steps >= 0.5
  return {
    ...(runtime !== undefined && { elapsedSeconds: { value: runtime, line } }),
    globalBatch:
      stated.globalBatch ??
      (isPrecise
        ? derived('samples per second over steps per second', whole)
        : batchOfWholeRun(samples, runtime, last)),
    ...(tokens !== undefined &&
      runtime !== undefined &&
      first <= 1000 && { tokensPerSecond: derived('tokens over the run', tokens / runtime) }),
  }
}

function batchOfWholeRun(
  samples: number | undefined,
  runtime: number | undefined,
  steps: number | undefined,
): Figure | undefined {
  if (samples === undefined || runtime === undefined || steps === undefined || steps === 0) return undefined
  return derived('samples per second times run time over steps', Math.round((samples * runtime) / steps))
}

function epochsOf(dictionaries: readonly Printed[], figures: RunFigures, isFinished: boolean): RunFigures {
  const last = dictionaries.findLast(({ values }) => values.has('epoch'))
  const epoch = last?.values.get('epoch')
  if (last === undefined || epoch === undefined) return {}
  const line = last.record.line
  const whole = Math.abs(epoch - Math.round(epoch)) < 0.01 ? Math.round(epoch) : Math.floor(epoch)
  const total =
    isFinished && epoch >= 1 && Math.abs(epoch - Math.round(epoch)) < 0.01
      ? { value: Math.round(epoch), line }
      : undefined
  return { epochsDone: { value: whole, line }, epochsTotal: figures.epochsTotal ?? total }
}

function stoppedEarly(
  dictionaries: readonly Printed[],
  epochs: Figure | undefined,
  summary: Printed | undefined,
): NonNullable<LogReading['warnings']> {
  const reached = dictionaries.findLast(({ values }) => values.has('epoch'))?.values.get('epoch')
  if (summary === undefined || epochs === undefined || reached === undefined || reached > epochs.value * 0.97) return []
  return [
    {
      code: 'stopped-early',
      text: `it ended at epoch ${reached} of ${epochs.value}: a number of steps, or a patience, ruled`,
      line: summary.record.line,
    },
  ]
}

/** LLaMA-Factory's trainer_log.jsonl. */
export const llamaFactoryJson: LogReader = {
  name: 'llama-factory',
  read: records => {
    const lines = records.flatMap(record => {
      const step = /"current_steps": (\d+), "total_steps": (\d+)/.exec(record.text)
      return step === null ? [] : [{ record, step: Number(step[1]), total: Number(step[2]) }]
    })
    if (lines.length === 0) return undefined
    const field = (text: string, name: string) => new RegExp(`"${name}": "?([^",}]+(?:, [\\d:]+)?)"?`).exec(text)?.[1]
    const points = lines
      .filter(({ record }) => !/"eval_loss": [\d.]/.test(record.text))
      .map(({ record, step, total }) => ({
        line: record.line,
        step,
        total,
        elapsedSeconds: parseLength(field(record.text, 'elapsed_time') ?? ''),
        tokensPerSecond: parseNumber(field(record.text, 'throughput')),
        remainingSeconds: parseLength(field(record.text, 'remaining_time') ?? ''),
        tokensSeen: parseNumber(field(record.text, 'total_tokens')),
      }))
    const last = points.at(-1)
    const epoch = parseNumber(field(lines.at(-1)?.record.text ?? '', 'epoch'))
    // "epoch" has two decimals: only a far one tells the length of an epoch to within a step or two
    const epochs =
      epoch === undefined || epoch < 0.2 || last === undefined ? undefined : (last.total * epoch) / last.step
    const near = epochs !== undefined && Math.abs(epochs - Math.round(epochs)) < 0.05 ? Math.round(epochs) : undefined
    return {
      framework: 'llama-factory',
      unit: 'optimizer-step',
      points,
      figures: {
        epochsTotal: derived('total steps over steps of an epoch', near),
        epochsDone: derived('epoch', epoch === undefined ? undefined : Math.floor(epoch)),
      },
      evaluatedAtLine: linesOf(records, /"eval_loss": [\d.]/),
    }
  },
}

/** Scripts of diffusers and kohya: bars of optimizer steps with a name, under a header like the Trainer's. */
export const diffusion: LogReader = {
  name: 'diffusers',
  read: records => {
    const isKohya = records.some(({ text }) => /running training \/ 学習開始|学習ステップ数|avr_loss=/.test(text))
    const isDiffusers = records.some(({ text }) => /step_loss=|\*{5} Running training \*{5}/.test(text))
    const bars = barsOf(records).filter(bar => /^steps$/i.test(bar.label))
    if (bars.length === 0 || (!isKohya && !isDiffusers)) return undefined
    const perEpoch = /num batches per epoch[^:]*: (\d+)/
    const figures = findFigures(records, [
      ...commonFigures,
      { figure: 'epochsTotal', pattern: /num epochs[^:]*: (\d+)/ },
      { figure: 'microBatch', pattern: /batch size per device[^:]*: (\d+)/ },
      { figure: 'accumulation', pattern: /gradient accumulation steps[^=]*= (\d+)/i },
      { figure: 'microBatch', pattern: /Instantaneous batch size per device = (\d+)/ },
    ])
    const images = records.flatMap(({ text }) => /num train images \* repeats[^:]*: (\d+)/.exec(text)?.[1] ?? [])[0]
    const batches = records.flatMap(({ text }) => perEpoch.exec(text)?.[1] ?? [])[0]
    const batch = figures.microBatch?.value
    // batches are counted after they were split among the processes
    const processes =
      images === undefined || batches === undefined || batch === undefined
        ? undefined
        : Math.round(Number(images) / (Number(batches) * batch))
    const isOne = processes === 1 && (figures.accumulation?.value ?? 1) === 1
    const done = bars.at(-1)
    return {
      framework: isKohya ? 'kohya-sd-scripts' : 'diffusers',
      unit: 'optimizer-step',
      points: bars.map(pointOfBar),
      bars: true,
      figures: {
        ...figures,
        ...(isOne && { globalBatch: derived('images of an epoch over its batches', batch) }),
        ...(done?.total === done?.done &&
          isKohya &&
          figures.epochsTotal !== undefined && { epochsDone: figures.epochsTotal }),
      },
      evaluatedAtLine: linesOf(records, /Running validation/),
    }
  },
}
