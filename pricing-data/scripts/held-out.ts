import { covarianceOf, type Likeness, type MeasuredRun, noiseVariance } from '../../src/throughput/nearest-runs.ts'

/** What would have been expected of a run by the others, its own group left out. */
export interface HeldOut {
  readonly run: MeasuredRun
  readonly group: string
  /** Error beyond what was expected. */
  readonly miss: number
  readonly sigma: number
}

/**
 * Leaves out each group of runs in turn without solving anew, for several ways of grouping: with P the inverse covariance of all, the
 * misses of a group are P_gg^-1 (P·y)_g and their covariance is P_gg^-1 (Rasmussen and Williams, chapter 5.4.2, for groups instead of
 * single runs).
 */
export function leaveOut(
  runs: readonly MeasuredRun[],
  likeness: Likeness,
  groupings: readonly ((run: MeasuredRun) => string)[],
): HeldOut[] {
  const count = runs.length
  const precision = inverse(covariances(runs, likeness), count)
  const weighed = runs.map((_, row) =>
    runs.reduce((sum, run, column) => sum + at(precision, row * count + column) * run.logError, 0),
  )
  return groupings.flatMap(groupOf =>
    [...groupBy([...runs.keys()], index => groupOf(runAt(runs, index)))].flatMap(([group, members]) => {
      const block = new Float64Array(members.length ** 2)
      for (const [a, row] of members.entries()) {
        for (const [b, column] of members.entries()) block[a * members.length + b] = at(precision, row * count + column)
      }
      const covariance = inverse(block, members.length)
      return members.map((index, a) => ({
        run: runAt(runs, index),
        group,
        miss: members.reduce(
          (sum, other, b) => sum + at(covariance, a * members.length + b) * (weighed[other] ?? 0),
          0,
        ),
        sigma: Math.sqrt(at(covariance, a * members.length + a)),
      }))
    }),
  )
}

/** Members by group, in the order they come. */
export function groupBy<T>(members: readonly T[], groupOf: (member: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const member of members) {
    const group = groups.get(groupOf(member))
    if (group === undefined) groups.set(groupOf(member), [member])
    else group.push(member)
  }
  return groups
}

function covariances(runs: readonly MeasuredRun[], likeness: Likeness): Float64Array {
  const matrix = new Float64Array(runs.length ** 2)
  for (const [row, a] of runs.entries()) {
    for (let column = 0; column <= row; column++) {
      const covariance = covarianceOf(a.traits, runAt(runs, column).traits, likeness)
      matrix[row * runs.length + column] = covariance + (row === column ? noiseVariance(a.traits, likeness) : 0)
      matrix[column * runs.length + row] = matrix[row * runs.length + column] ?? 0
    }
  }
  return matrix
}

/** Inverse of a symmetric positive matrix by its Cholesky factor: inv(L), then inv(L)ᵀ·inv(L). */
function inverse(matrix: Float64Array, size: number): Float64Array {
  const lower = Float64Array.from(matrix)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = at(lower, row * size + column)
      for (let k = 0; k < column; k++) sum -= at(lower, row * size + k) * at(lower, column * size + k)
      lower[row * size + column] =
        row === column ? Math.sqrt(Math.max(sum, 1e-10)) : sum / at(lower, column * size + column)
    }
  }
  const inverted = new Float64Array(size * size)
  for (let column = 0; column < size; column++) {
    inverted[column * size + column] = 1 / at(lower, column * size + column)
    for (let row = column + 1; row < size; row++) {
      let sum = 0
      for (let k = column; k < row; k++) sum -= at(lower, row * size + k) * at(inverted, column * size + k)
      inverted[column * size + row] = sum / at(lower, row * size + row)
    }
  }
  // `inverted` holds inv(L) by columns, so that the sums below run along memory.
  const result = new Float64Array(size * size)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = 0
      for (let k = row; k < size; k++) sum += at(inverted, row * size + k) * at(inverted, column * size + k)
      result[row * size + column] = sum
      result[column * size + row] = sum
    }
  }
  return result
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0
}

function runAt(runs: readonly MeasuredRun[], index: number): MeasuredRun {
  const run = runs[index]
  if (run === undefined) throw new RangeError(`no run ${index} of ${runs.length}`)
  return run
}
