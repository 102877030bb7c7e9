import type { Line, Table } from '../csv.ts'
import type { ModelKind } from '../model.ts'
import { once } from '../once.ts'
import { type Counted, type Likeness, type MeasuredRun, type RunTraits, sizeNames } from './nearest-runs.ts'
import type { Calibration, Judged } from './pace.ts'

/** Constants of efficiency.csv by name; a missing one is a fault of the table, which a test looks for. */
export type Constants = Readonly<Record<string, number>>

/** Makes a calibration of the tables efficiency.csv (a constant a row) and measured-runs.csv (a run a row). */
export function readCalibration(efficiency: Table, measuredRuns: Table): Calibration {
  const constants = Object.fromEntries(
    efficiency.lines().map(line => [line.cell('constant'), Number(line.cell('value'))]),
  )
  const known = new Map<ModelKind, readonly MeasuredRun[]>()
  return calibrationOf(constants, kind => {
    const runs = known.get(kind) ?? measuredRuns.linesWith('kind', kind).map(measuredRunOf)
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
      rangeFactor: {
        rate: factorsOf('rate', value),
        elapsed: factorsOf('elapsed', value),
        serving: factorsOf('serving', value),
      },
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

function factorsOf(judged: Judged, value: (name: string) => number): Record<Counted, number> {
  const factor = (counted: Counted): number => value(`rangeFactor.${judged}.${counted}`)
  return { shape: factor('shape'), table: factor('table'), guess: factor('guess') }
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
  'kind',
  'id',
  'model',
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

/** A line of measured-runs.csv; words that are none of ours make the nearest harmless reading. */
function measuredRunOf(line: Line): MeasuredRun {
  const cells = line.cells()
  return { id: cells[1] ?? '', traits: new TableTraits(cells), logError: Number(cells[11]) }
}

/** Traits by their place in `measuredRunColumns`; a class, so that sizes, which few runs are asked for, are read when they are. */
class TableTraits implements RunTraits {
  readonly kind: ModelKind
  readonly model: string
  readonly counted: Counted
  readonly stack: string | undefined
  readonly gpu: string
  readonly architecture: string
  readonly precision: RunTraits['precision']
  readonly method: RunTraits['method']
  readonly measured: RunTraits['measured']
  private readonly sizesText: string
  private readSizes: readonly number[] | undefined

  constructor(cells: readonly string[]) {
    this.kind = kinds.get(cells[0] ?? '') ?? 'other'
    this.model = sameText(cells[2] ?? '')
    this.counted = counts.get(cells[3] ?? '') ?? 'guess'
    this.stack = sameText(cells[4] ?? '') || undefined
    this.gpu = sameText(cells[5] ?? '')
    this.architecture = sameText(cells[6] ?? '')
    this.precision = precisions.get(cells[7] ?? '') ?? 'fp32'
    this.method = methods.get(cells[8] ?? '') ?? 'full'
    this.measured = cells[9] === 'elapsed' ? 'elapsed' : 'rate'
    this.sizesText = cells[10] ?? ''
  }

  get sizes(): readonly number[] {
    this.readSizes ??= this.sizesText.split(' ').map(Number)
    return this.readSizes
  }
}

/** Equal texts as one: runs are compared a thousand times, and comparing what is the same is quickest. */
const sameText = once((text: string) => text)

const kinds = wordsOf([
  'decoder',
  'encoder',
  'encoder-decoder',
  'vision-transformer',
  'convolutional',
  'diffusion',
  'audio',
  'multimodal',
  'other',
])
const counts = wordsOf(['shape', 'table', 'guess'])
const precisions = wordsOf(['fp32', 'tf32', 'fp16', 'bf16', 'fp8'])
const methods = wordsOf(['full', 'lora', 'qlora', 'inference'])

function wordsOf<const T extends string>(words: readonly T[]): ReadonlyMap<string, T> {
  return new Map(words.map(word => [word, word]))
}
