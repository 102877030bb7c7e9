import { numberIn, type Row, type Table } from './csv.ts'
import type { ModelKind } from './model.ts'
import { type Counted, type Likeness, type MeasuredRun, type RunTraits, sizeNames } from './nearest-runs.ts'
import type { Calibration } from './throughput.ts'

/** Constants of efficiency.csv by name; a missing one is a fault of the table, which a test looks for. */
export type Constants = Readonly<Record<string, number>>

/** Makes a calibration of the tables efficiency.csv (a constant a row) and measured-runs.csv (a run a row). */
export function readCalibration(efficiency: Table, measuredRuns: Table): Calibration {
  const constants = Object.fromEntries(
    efficiency.rows().map(row => [row['constant'] ?? '', numberIn(row, 'value') ?? Number.NaN]),
  )
  const known = new Map<ModelKind, readonly MeasuredRun[]>()
  return calibrationOf(constants, kind => {
    const runs = known.get(kind) ?? measuredRuns.rowsWith('kind', kind).map(measuredRunOf)
    known.set(kind, runs)
    return runs
  })
}

/** A calibration from constants by name: those of the likeness are called `likeness.shape.gpu`, `distance.table.tensor`. */
export function calibrationOf(constants: Constants, runsOf: Calibration['runsOf']): Calibration {
  const value = (name: string): number => constants[name] ?? Number.NaN
  return {
    efficiency: {
      matrixShare: value('matrixShare'),
      fp8MatrixShare: value('fp8MatrixShare'),
      vectorShare: value('vectorShare'),
      attentionShare: value('attentionShare'),
      convolutionShare: value('convolutionShare'),
      convolutionBytesPerFlop: value('convolutionBytesPerFlop'),
      halfEfficiencyTokens: value('halfEfficiencyTokens'),
      halfEfficiencyWidth: value('halfEfficiencyWidth'),
      elementwiseBytes: value('elementwiseBytes'),
      launchSecondsPerLayer: value('launchSecondsPerLayer'),
      overlapShare: value('overlapShare'),
      optimizerBytes: value('optimizerBytes'),
      linkShare: value('linkShare'),
      networkShare: value('networkShare'),
      decodeShare: value('decodeShare'),
      elapsedFactor: value('elapsedFactor'),
      startSeconds: value('startSeconds'),
      rangeFactor: { rate: value('rangeFactor'), elapsed: value('elapsedRangeFactor') },
      assumptionSpread: value('assumptionSpread'),
    },
    likeness: {
      shape: likenessOf('shape', value),
      table: likenessOf('table', value),
      guess: likenessOf('guess', value),
    },
    runsOf,
  }
}

function likenessOf(counted: Counted, value: (name: string) => number): Likeness {
  const variance = (name: string): number => value(`likeness.${counted}.${name}`) ** 2
  return {
    kind: variance('kind'),
    architecture: variance('architecture'),
    gpu: variance('gpu'),
    precision: variance('precision'),
    model: variance('model'),
    modelOnGpu: variance('modelOnGpu'),
    stack: variance('stack'),
    stackOnKind: variance('stackOnKind'),
    near: variance('near'),
    elapsed: variance('elapsed'),
    noise: variance('noise'),
    elapsedNoise: variance('elapsedNoise'),
    distances: sizeNames.map(name => value(`distance.${counted}.${name}`)),
  }
}

/** Columns of measured-runs.csv; `sizes` are natural logarithms in the order of `sizeNames`, in one cell since a quote reads hundreds. */
export const measuredRunColumns = [
  'id',
  'model',
  'kind',
  'counted',
  'stack',
  'gpu',
  'architecture',
  'precision',
  'method',
  'measured',
  'sizes',
  'logError',
] as const

/** A row of measured-runs.csv; words that are none of ours make the nearest harmless reading. */
export function measuredRunOf(row: Row): MeasuredRun {
  const text = (column: string): string => row[column] ?? ''
  const stack = text('stack')
  const traits: RunTraits = {
    model: text('model'),
    kind: oneOf(kinds, text('kind'), 'other'),
    counted: oneOf(['shape', 'table', 'guess'] as const, text('counted'), 'guess'),
    ...(stack === '' ? {} : { stack }),
    gpu: text('gpu'),
    architecture: text('architecture'),
    precision: oneOf(precisions, text('precision'), 'fp32'),
    method: oneOf(methods, text('method'), 'full'),
    measured: oneOf(['rate', 'elapsed'] as const, text('measured'), 'rate'),
    sizes: text('sizes').split(' ').map(Number),
  }
  return { id: text('id'), traits, logError: numberIn(row, 'logError') ?? 0 }
}

const kinds = [
  'decoder',
  'encoder',
  'encoder-decoder',
  'vision-transformer',
  'convolutional',
  'diffusion',
  'audio',
  'multimodal',
  'other',
] as const
const precisions = ['fp32', 'tf32', 'fp16', 'bf16', 'fp8'] as const
const methods = ['full', 'lora', 'qlora', 'inference'] as const

function oneOf<T extends string>(words: readonly T[], word: string, otherwise: T): T {
  return words.find(each => each === word) ?? otherwise
}
