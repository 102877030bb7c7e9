import type { ModelKind } from './model.ts'
import type { Precision, TrainingMethod } from './workload.ts'

/** Where the FLOPs of a network come from: its shape, the model table, or a guess from its size. */
export type Counted = 'shape' | 'table' | 'guess'

/** What two runs may have in common: by it the error of one says something about the error of the other. */
export interface RunTraits {
  /** Name, or layers and width of a transformer: many names have the same shape. */
  readonly model: string
  readonly kind: ModelKind
  readonly counted: Counted
  /** Framework; absent where nobody said. */
  readonly stack?: string
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
 * Standard deviations of what a shared trait explains, of noise, and the distances over which sizes matter. Runs whose FLOPs are known by
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

/** Runs that are asked: more change the answer in the third figure only. */
const askedRuns = 64

/**
 * Error of the step model for a run, from the errors of measured runs like it: kriging with a sum of likenesses (Rasmussen and
 * Williams, Gaussian Processes for Machine Learning, chapter 2). A trait that no measured run shares leaves its whole spread.
 */
export function estimateLogError(traits: RunTraits, runs: readonly MeasuredRun[], likeness: Likeness): LogError {
  const asked = runs
    .map(run => ({ run, covariance: covarianceOf(traits, run.traits, likeness) }))
    .sort((a, b) => b.covariance - a.covariance)
    .slice(0, askedRuns)
  const noise = noiseVariance(traits, likeness)
  const variance = varianceOf(traits, likeness) + noise
  if (asked.length === 0) return { mean: 0, sigma: Math.sqrt(variance), nearest: undefined }
  const matrix = asked.map((a, row) =>
    asked
      .slice(0, row + 1)
      .map(
        (b, column) =>
          covarianceOf(a.run.traits, b.run.traits, likeness) +
          (row === column ? noiseVariance(a.run.traits, likeness) : 0),
      ),
  )
  const factor = choleskyFactor(matrix)
  const half = solveLower(
    factor,
    asked.map(a => a.covariance),
  )
  const errors = solveLower(
    factor,
    asked.map(a => a.run.logError),
  )
  const mean = half.reduce((sum, value, index) => sum + value * (errors[index] ?? 0), 0)
  const explained = half.reduce((sum, value) => sum + value * value, 0)
  return { mean, sigma: Math.sqrt(Math.max(noise, variance - explained)), nearest: asked[0]?.run }
}

/** Spread of a run of which nothing is known but its traits; a stack nobody named may be any. */
function varianceOf(traits: RunTraits, likeness: Likeness): number {
  const named = { ...traits, stack: traits.stack ?? 'any' }
  return covarianceOf(named, named, likeness)
}

/** What a run's error has that no other run shares, as a variance. */
export function noiseVariance(traits: RunTraits, likeness: Likeness): number {
  return likeness.noise ** 2 + (traits.measured === 'elapsed' ? likeness.elapsedNoise ** 2 : 0)
}

/** How much of their error two runs share, as a covariance of log errors. */
export function covarianceOf(a: RunTraits, b: RunTraits, likeness: Likeness): number {
  const sameKind = a.kind === b.kind && a.counted === b.counted && isInference(a) === isInference(b)
  if (!sameKind) return 0
  let covariance = likeness.kind ** 2
  if (a.measured === 'elapsed' && b.measured === 'elapsed') covariance += likeness.elapsed ** 2
  const sameArchitecture = a.architecture === b.architecture
  const samePrecision = a.precision === b.precision
  if (sameArchitecture) covariance += likeness.architecture ** 2
  if (a.gpu === b.gpu) covariance += likeness.gpu ** 2
  if (sameArchitecture && samePrecision && a.method === b.method) covariance += likeness.precision ** 2
  if (a.model === b.model) {
    covariance += likeness.model ** 2
    if (a.gpu === b.gpu && samePrecision) covariance += likeness.modelOnGpu ** 2
  }
  if (a.stack === undefined || a.stack !== b.stack) return covariance

  covariance += likeness.stack ** 2
  if (!samePrecision) return covariance
  const distance = squaredDistance(a.sizes, b.sizes, likeness.distances)
  covariance += likeness.near ** 2 * Math.exp(-distance / 2)
  if (sameArchitecture) covariance += likeness.stackOnKind ** 2 * Math.exp(-distance / 20)
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

/** Lower factor of a symmetric positive matrix, given and returned by its lower rows. */
function choleskyFactor(matrix: readonly (readonly number[])[]): number[][] {
  const factor: number[][] = []
  for (const [row, entries] of matrix.entries()) {
    const current: number[] = []
    for (let column = 0; column <= row; column++) {
      const other = column === row ? current : (factor[column] ?? [])
      let sum = entries[column] ?? 0
      for (let k = 0; k < column; k++) sum -= (current[k] ?? 0) * (other[k] ?? 0)
      current.push(column === row ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (other[column] ?? 1))
    }
    factor.push(current)
  }
  return factor
}

/** Solves L·x = b for a lower factor. */
function solveLower(factor: readonly (readonly number[])[], right: readonly number[]): number[] {
  const solution: number[] = []
  for (const [row, entries] of factor.entries()) {
    let sum = right[row] ?? 0
    for (let k = 0; k < row; k++) sum -= (entries[k] ?? 0) * (solution[k] ?? 0)
    solution.push(sum / (entries[row] ?? 1))
  }
  return solution
}
