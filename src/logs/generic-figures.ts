import type { Bar } from './bars.ts'
import { commonFigures } from './common-figures.ts'
import { derived, type FigurePattern, findFigures } from './figures.ts'
import { linesOf, usualEvaluation } from './line-format.ts'
import type { CounterUnit, LogReading, RunFigures } from './log-reader.ts'
import { programOf } from './program-names.ts'
import type { LogRecord } from './records.ts'
import { median } from './steady-rate.ts'

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
  {
    figure: 'epochsTotal',
    pattern: argument('max_(?:num_)?epochs?|n(?:um)?_?epochs?|total_epochs?|(?:num_)?train_epochs|epoch_num|epochs'),
  },
]

/** A reading with what the log states beside its counter: arguments, the program's name, evaluations. */
export function withFigures(reading: LogReading, records: readonly LogRecord[], bars: readonly Bar[]): LogReading {
  const [first] = reading.points
  const reportAt = records.findIndex(({ line, text }) => line === first?.line && text === first.text)
  const before = records.filter((record, index) =>
    reportAt < 0 ? first === undefined || record.line <= first.line : index <= reportAt,
  )
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
  const unit = isOfUpdates(reading, before) ? 'optimizer-step' : provenUnit({ ...reading, figures })
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

/** The counter ends where a header, as trainers print it, says that the optimizer's steps do. */
function isOfUpdates({ points, unit }: LogReading, before: readonly LogRecord[]): boolean {
  const stated: RunFigures = findFigures(before, [
    { figure: 'stepsTotal', pattern: /Total optimization steps\s*(?:\/[^=:]*)?[=:] ([\d,]+)/i },
  ])
  return unit === 'other' && stated.stepsTotal !== undefined && points.at(-1)?.total === stated.stepsTotal.value
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
