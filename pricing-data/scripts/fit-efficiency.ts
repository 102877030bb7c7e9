/**
 * Fits the constants of the runtime model on published-runs.csv, and writes efficiency.csv (the constants) and measured-runs.csv (by how
 * much the formulas missed each published run). Run it after a change of either the formulas or the table: `npm run fit`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Constants, calibrationOf, measuredRunColumns } from '../../src/calibration.ts'
import { openTable } from '../../src/csv.ts'
import { type MeasuredRun, sizeNames } from '../../src/nearest-runs.ts'
import { readTables } from '../../src/pricing-data.ts'
import { measuredRun } from '../../src/throughput.ts'
import { groupBy, leaveOut } from './held-out.ts'
import { familyOf, type Observation, observationOf } from './published-runs.ts'

const folder = new URL('../', import.meta.url)
const read = (name: string) => openTable(readFileSync(new URL(name, folder), 'utf8')).rows()

/** A constant before it is fitted, the bounds that physics sets, and what it is. */
interface Parameter {
  readonly start: number
  readonly least: number
  readonly most: number
  readonly unit: string
}

const share = (start: number, most: number): Parameter => ({ start, least: 0.05, most, unit: 'share' })

/** Constants of the step model that transformers fix; bounds keep a wire from reaching more than its rate, a launch within what hosts do. */
const transformerParameters: Readonly<Record<string, Parameter>> = {
  matrixShare: share(0.7, 0.85),
  fp8MatrixShare: share(0.55, 0.85),
  attentionShare: share(0.4, 0.75),
  halfEfficiencyTokens: { start: 300, least: 20, most: 2000, unit: 'tokens' },
  halfEfficiencyWidth: { start: 200, least: 10, most: 1000, unit: 'units of width' },
  elementwiseBytes: { start: 150, least: 50, most: 600, unit: 'bytes / (token x layer x width)' },
  launchSecondsPerLayer: { start: 5e-4, least: 1e-4, most: 1e-3, unit: 's / layer' },
  overlapShare: share(0.6, 0.9),
  optimizerBytes: { start: 24, least: 12, most: 48, unit: 'bytes / parameter' },
  linkShare: share(0.7, 0.8),
  networkShare: share(0.7, 0.9),
}

/** Constants that networks of known FLOPs without a shape fix. */
const convolutionParameters: Readonly<Record<string, Parameter>> = {
  convolutionShare: share(0.5, 0.85),
  convolutionBytesPerFlop: { start: 0.012, least: 1e-3, most: 0.1, unit: 'bytes / FLOP' },
}

/** Constants of the likeness of runs: spreads are standard deviations of ln(time), distances are in ln(size). */
const likenessParameters: Readonly<Record<string, Parameter>> = {
  ...Object.fromEntries(
    Object.entries({
      everything: 0.05,
      kind: 0.1,
      architecture: 0.15,
      gpu: 0.1,
      precision: 0.15,
      model: 0.15,
      guessedModel: 2,
      modelOnGpu: 0.1,
      stack: 0.15,
      stackOnKind: 0.15,
      near: 0.15,
      elapsed: 0.15,
      noise: 0.05,
    }).map(([name, start]) => [`likeness.${name}`, { start, least: 0.01, most: 4, unit: 'sigma of ln(time)' }]),
  ),
  ...Object.fromEntries(
    sizeNames.map(name => [`distance.${name}`, { start: 1.5, least: 0.2, most: 20, unit: 'ln(size)' }]),
  ),
}

/** Constants that no published run fixes. */
const statedConstants = {
  startSeconds: { value: 60, unit: 's', note: 'stated: launcher and imports and NCCL and first batch' },
  assumptionSpread: {
    value: 0.05,
    unit: 'sigma of ln(time)',
    note: 'stated: for each assumption beside what published runs leave open',
  },
}

const tables = readTables(fileURLToPath(folder))
const observations = read('published-runs.csv')
  .map(row => observationOf(row, tables))
  .filter(observation => observation !== undefined)
  .filter(observation => observation.secondsPerSample !== undefined && observation.group !== 'serving')
const steady = observations.filter(({ group }) => group === 'steady')
const isShaped = ({ workload }: Observation): boolean => workload.model?.value.shape !== undefined

let constants: Constants = {
  ...Object.fromEntries(
    Object.entries({ ...transformerParameters, ...convolutionParameters, ...likenessParameters }).map(
      ([name, { start }]) => [name, start],
    ),
  ),
  ...Object.fromEntries(Object.entries(statedConstants).map(([name, { value }]) => [name, value])),
  elapsedFactor: 1,
  rangeFactor: 1,
}

constants = descend(constants, transformerParameters, 14, trial => missOf(steady.filter(isShaped), trial))
constants = descend(constants, convolutionParameters, 10, trial =>
  missOf(
    steady.filter(each => !isShaped(each)),
    trial,
  ),
)
constants = { ...constants, elapsedFactor: elapsedFactorOf(constants) }
const runs = runsOf(observations, constants)
constants = descend(constants, likenessParameters, Number(process.env['FIT_SWEEPS'] ?? 5), trial =>
  surpriseOf(runs, trial),
)
constants = { ...constants, rangeFactor: rangeFactorOf(runs, constants) }
writeTables()

/** Coordinate descent in the logarithm of each constant: slow, deterministic, and content with a rough function. */
function descend(
  from: Constants,
  parameters: Readonly<Record<string, Parameter>>,
  sweeps: number,
  costOf: (trial: Constants) => number,
): Constants {
  let best = from
  let bestCost = costOf(from)
  let step = 0.4
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const before = bestCost
    for (const [name, { least, most }] of Object.entries(parameters)) {
      for (const direction of [1, -1]) {
        const value = Math.min(most, Math.max(least, (best[name] ?? 1) * Math.exp(direction * step)))
        const trial = { ...best, [name]: value }
        const cost = costOf(trial)
        if (cost >= bestCost) continue
        best = trial
        bestCost = cost
        break
      }
    }
    console.log(`sweep ${sweep + 1}: ${bestCost.toFixed(3)}`)
    if (before - bestCost < 0.002 * Math.abs(before)) step /= 2
  }
  return best
}

function runsOf(from: readonly Observation[], trial: Constants): MeasuredRun[] {
  const calibration = calibrationOf(trial, [])
  return from.flatMap(({ id, workload, hardware, group, secondsPerSample }) => {
    const measured = group === 'steady' ? 'rate' : 'elapsed'
    return measuredRun(id, workload, hardware, calibration, measured, secondsPerSample ?? Number.NaN) ?? []
  })
}

/**
 * How badly the formulas do: families weigh by the root of their size, and a family's common offset (its software stack) counts less
 * than what varies inside it. Robust: beyond 10 % a miss counts by its size, not its square.
 */
function missOf(from: readonly Observation[], trial: Constants): number {
  let cost = 0
  for (const family of groupBy(runsOf(from, trial), run => familyOf(run.id)).values()) {
    const errors = family.map(run => run.logError)
    const offset = median(errors)
    const inside = errors.reduce((sum, error) => sum + robust(error - offset) + 0.3 * robust(error), 0) / errors.length
    cost += Math.sqrt(Math.min(errors.length, 20)) * (inside + 0.5 * robust(offset))
  }
  return cost
}

function robust(error: number): number {
  const size = Math.abs(error)
  return size < 0.1 ? (size * size) / 0.2 : size - 0.05
}

/** Median of the families' medians: whole runs against what the steady rate promises. */
function elapsedFactorOf(trial: Constants): number {
  const whole = observations.filter(each => each.group === 'end-to-end' && isShaped(each))
  const families = groupBy(runsOf(whole, trial), run => familyOf(run.id))
  return Math.max(1, Math.exp(median([...families.values()].map(family => median(family.map(run => run.logError))))))
}

/** Negative log density of every run under what the others say of it: without its family, and without itself only. */
function surpriseOf(from: readonly MeasuredRun[], trial: Constants): number {
  const { likeness } = calibrationOf(trial, [])
  let cost = 0
  for (const groupOf of [(run: MeasuredRun) => familyOf(run.id), (run: MeasuredRun) => run.id]) {
    const held = leaveOut(from, likeness, groupOf)
    for (const family of groupBy(held, each => familyOf(each.run.id)).values()) {
      // A Laplace-like tail keeps single odd publications from widening everything.
      const surprises = family.map(
        ({ miss, sigma }) => Math.min((miss / sigma) ** 2 / 2, Math.abs(miss / sigma) + 1) + Math.log(sigma),
      )
      cost += Math.sqrt(Math.min(family.length, 20)) * (surprises.reduce((sum, each) => sum + each, 0) / family.length)
    }
  }
  return cost
}

/** Split conformal: the factor on sigma that puts 80 % of the runs, each without its family, inside P10 to P90. */
function rangeFactorOf(from: readonly MeasuredRun[], trial: Constants): number {
  const held = leaveOut(from, calibrationOf(trial, []).likeness, run => familyOf(run.id))
  const useful = held.filter(({ sigma }) => sigma < 0.9).map(({ miss, sigma }) => Math.abs(miss / sigma) / 1.2816)
  return useful.sort((a, b) => a - b)[Math.floor(0.8 * useful.length)] ?? 1
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}

function writeTables(): void {
  const fitted = { ...transformerParameters, ...convolutionParameters, ...likenessParameters }
  const families = new Set(observations.map(each => each.family)).size
  const on = `${observations.length} runs of ${families} families in published-runs.csv`
  const date = new Date().toISOString().slice(0, 7)
  const rows = Object.entries(constants).map(([name, value]) => {
    const stated = Object.entries(statedConstants).find(([each]) => each === name)?.[1]
    const unit = fitted[name]?.unit ?? stated?.unit ?? 'factor'
    return [name, value.toPrecision(4), unit, stated?.note ?? on, date].join(',')
  })
  writeFileSync(new URL('efficiency.csv', folder), `constant,value,unit,fitted_on,date\n${rows.join('\n')}\n`)
  const lines = runs.map(({ id, logError, traits }) => {
    const { guessed, stack = '', sizes, ...words } = traits
    const { model, kind, gpu, architecture, precision, method, measured } = words
    const texts = [id, model, kind, guessed ? 'yes' : 'no', stack, gpu, architecture, precision, method, measured]
    return [
      ...texts.map(text => text.replaceAll(',', ' ')),
      ...sizes.map(size => size.toFixed(2)),
      logError.toFixed(3),
    ].join(',')
  })
  writeFileSync(new URL('measured-runs.csv', folder), `${measuredRunColumns.join(',')}\n${lines.join('\n')}\n`)
}
