import type { ModelKind } from '../model.ts'
import type { Precision, TrainingMethod } from '../workload.ts'

/** Where the FLOPs of a network come from: its shape, the model table, or a guess from its size. */
export type Counted = 'shape' | 'table' | 'guess'

/** What two runs may have in common: by it the error of one says something about the error of the other. */
export interface RunTraits {
  /** Name, or layers and width of a transformer: many names have the same shape. */
  readonly model: string
  readonly kind: ModelKind
  readonly counted: Counted
  /** Framework; absent where nobody said. */
  readonly stack?: string | undefined
  readonly gpu: string
  readonly architecture: string
  readonly precision: Precision
  readonly method: TrainingMethod | 'inference'
  /** A rate in steady state, or the time from start to end with everything between. */
  readonly measured: 'rate' | 'elapsed'
  /** Natural logarithms of sizes, in the order of `sizeNames`. */
  readonly sizes: readonly number[]
}

/** Names of the sizes by which runs are near or far. */
export const sizeNames = [
  'parameters',
  'tokensPerSample',
  'microBatchTokens',
  'microBatches',
  'gpus',
  'tensor',
  'pipeline',
  'recompute',
  'sharding',
  'outputTokens',
] as const

/** A run whose time is known, and by how much the step model missed it: ln(actual / modelled). */
export interface MeasuredRun {
  readonly id: string
  readonly traits: RunTraits
  readonly logError: number
}

/**
 * Variances of what a shared trait explains and of noise, and the distances over which sizes matter. Runs whose FLOPs are known by
 * their shape are alike in other ways than those whose FLOPs are a guess, so each kind of count has its own.
 */
export interface Likeness {
  readonly kind: number
  readonly architecture: number
  readonly gpu: number
  readonly precision: number
  readonly model: number
  readonly modelOnGpu: number
  readonly stack: number
  readonly stackOnKind: number
  readonly near: number
  readonly elapsed: number
  readonly noise: number
  /** Beside `noise` for whole runs, whose evaluation, restarts and waiting nobody publishes. */
  readonly elapsedNoise: number
  readonly distances: readonly number[]
}

/** What the measured runs say of another: the expected log error, and how far it may be off. */
export interface LogError {
  readonly mean: number
  readonly sigma: number
  /** The run that says most. */
  readonly nearest: MeasuredRun | undefined
}

/** Measured runs that a run is judged by on every GPU type. */
interface Neighbours {
  readonly runs: readonly MeasuredRun[]
  /** Lower Cholesky factor of their covariance, row after row. */
  readonly factor: Float64Array
  /** Their errors, solved by the factor. */
  readonly errors: Float64Array
}

/** Runs that are asked: with more the errors of `npm run bench:accuracy` are no smaller. */
const askedRuns = 24

/**
 * Error of the step model for a run, from the errors of measured runs like it: kriging with a sum of likenesses (Rasmussen and
 * Williams, Gaussian Processes for Machine Learning, chapter 2). A trait that no measured run shares leaves its whole spread.
 */
export function estimateLogError(traits: RunTraits, runs: readonly MeasuredRun[], likeness: Likeness): LogError {
  const { runs: asked, factor, errors } = neighboursOf(traits, runs, likeness)
  const covariances = Float64Array.from(asked, run => covarianceOf(traits, run.traits, likeness))
  const noise = noiseVariance(traits, likeness)
  const variance = varianceOf(traits, likeness) + noise
  let mean = 0
  let explained = 0
  solveLower(factor, covariances).forEach((value, index) => {
    mean += value * (errors[index] ?? 0)
    explained += value * value
  })
  const nearest = asked[covariances.indexOf(Math.max(...covariances))]
  // Of a kind that nobody measured nothing is known, not even how far it may be off.
  if (nearest === undefined) return { mean: 0, sigma: Number.POSITIVE_INFINITY, nearest }
  return { mean, sigma: Math.sqrt(Math.max(noise, variance - explained)), nearest }
}

const found = new WeakMap<readonly MeasuredRun[], Map<string, Neighbours>>()

/** Found once for all GPU types that a quote weighs: the GPU does not count in the choice, the likeness follows from the traits. */
function neighboursOf(traits: RunTraits, runs: readonly MeasuredRun[], likeness: Likeness): Neighbours {
  const known = found.get(runs) ?? new Map<string, Neighbours>()
  const key = JSON.stringify({ ...traits, gpu: '', architecture: '' })
  const neighbours = known.get(key) ?? findNeighbours(traits, runs, likeness)
  found.set(runs, known.set(key, neighbours))
  return neighbours
}

/** The runs most like a run, each taken as if it had been on the same GPU type. */
function findNeighbours(traits: RunTraits, runs: readonly MeasuredRun[], likeness: Likeness): Neighbours {
  const asked = runs
    .map(run => ({ run, covariance: covarianceOf(traits, run.traits, likeness, true, true) }))
    .filter(({ covariance }) => covariance > 0)
    .sort((a, b) => b.covariance - a.covariance)
    .slice(0, askedRuns)
    .map(({ run }) => run)
  const factor = choleskyFactor(asked, likeness)
  return {
    runs: asked,
    factor,
    errors: solveLower(
      factor,
      Float64Array.from(asked, run => run.logError),
    ),
  }
}

/** Spread of a run of which nothing is known but its traits; a stack nobody named may be any. */
function varianceOf(traits: RunTraits, likeness: Likeness): number {
  const named = { ...traits, stack: traits.stack ?? 'any' }
  return covarianceOf(named, named, likeness)
}

/** What a run's error has that no other run shares, as a variance. */
export function noiseVariance(traits: RunTraits, likeness: Likeness): number {
  return traits.measured === 'elapsed' ? likeness.noise + likeness.elapsedNoise : likeness.noise
}

/** How much of their error two runs share, as a covariance of log errors. */
export function covarianceOf(
  a: RunTraits,
  b: RunTraits,
  likeness: Likeness,
  sameGpu = a.gpu === b.gpu,
  sameArchitecture = a.architecture === b.architecture,
): number {
  const sameKind = a.kind === b.kind && a.counted === b.counted && isInference(a) === isInference(b)
  if (!sameKind) return 0
  let covariance = likeness.kind
  if (a.measured === 'elapsed' && b.measured === 'elapsed') covariance += likeness.elapsed
  const samePrecision = a.precision === b.precision
  if (sameArchitecture) covariance += likeness.architecture
  if (sameGpu) covariance += likeness.gpu
  if (sameArchitecture && samePrecision && a.method === b.method) covariance += likeness.precision
  if (a.model === b.model) {
    covariance += likeness.model
    if (sameGpu && samePrecision) covariance += likeness.modelOnGpu
  }
  if (a.stack === undefined || a.stack !== b.stack) return covariance

  covariance += likeness.stack
  if (!samePrecision) return covariance
  const distance = squaredDistance(a.sizes, b.sizes, likeness.distances)
  covariance += likeness.near * Math.exp(-distance / 2)
  if (sameArchitecture) covariance += likeness.stackOnKind * Math.exp(-distance / 20)
  return covariance
}

function isInference(traits: RunTraits): boolean {
  return traits.method === 'inference'
}

function squaredDistance(a: readonly number[], b: readonly number[], distances: readonly number[]): number {
  let sum = 0
  for (let index = 0; index < distances.length; index++) {
    const difference = ((a[index] ?? 0) - (b[index] ?? 0)) / (distances[index] ?? 1)
    sum += difference * difference
  }
  return sum
}

/** Lower factor of the covariance of runs with their noise, row after row in one array. */
function choleskyFactor(runs: readonly MeasuredRun[], likeness: Likeness): Float64Array {
  const factor = new Float64Array(rowStart(runs.length))
  runs.forEach((a, row) => {
    const start = rowStart(row)
    runs.slice(0, row + 1).forEach((b, column) => {
      const other = rowStart(column)
      let sum = covarianceOf(a.traits, b.traits, likeness) + (row === column ? noiseVariance(a.traits, likeness) : 0)
      for (let k = 0; k < column; k++) sum -= (factor[start + k] ?? 0) * (factor[other + k] ?? 0)
      factor[start + column] = row === column ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (factor[other + column] ?? 1)
    })
  })
  return factor
}

/** Solves L·x = b for a lower factor. */
function solveLower(factor: Float64Array, right: Float64Array): Float64Array {
  const solution = new Float64Array(right.length)
  for (let row = 0; row < right.length; row++) {
    const start = rowStart(row)
    let sum = right[row] ?? 0
    for (let k = 0; k < row; k++) sum -= (factor[start + k] ?? 0) * (solution[k] ?? 0)
    solution[row] = sum / (factor[start + row] ?? 1)
  }
  return solution
}

/** Where a row of a lower factor begins. */
function rowStart(row: number): number {
  return (row * (row + 1)) / 2
}
