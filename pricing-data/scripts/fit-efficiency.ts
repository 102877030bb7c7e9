/**
 * Fits the constants of the runtime model on published-runs.csv, and writes efficiency.csv (the constants) and measured-runs.csv (by how
 * much the formulas missed each published run). Run it after a change of either the formulas or the table: `npm run fit`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openTable } from '../../src/csv.ts'
import { readTables } from '../../src/pricing-data.ts'
import { type Constants, calibrationOf, measuredRunColumns } from '../../src/throughput/calibration.ts'
import { type Counted, estimateLogError, type MeasuredRun, sizeNames } from '../../src/throughput/nearest-runs.ts'
import { type Judged, judgedAs, measuredRun } from '../../src/throughput/pace.ts'
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
  vectorShare: share(0.7, 0.95),
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

/** The constant that generated answers fix. */
const generationParameters: Readonly<Record<string, Parameter>> = { decodeShare: share(0.65, 0.85) }

/** Constants of the likeness of runs: spreads are standard deviations of ln(time), distances are in ln(size). */
const spreads: Readonly<Record<string, Readonly<Record<Counted, number>>>> = {
  kind: { shape: 0.12, table: 0.2, guess: 0.3 },
  architecture: { shape: 0.05, table: 0.1, guess: 0.1 },
  gpu: { shape: 0.12, table: 0.17, guess: 0.2 },
  precision: { shape: 0.15, table: 0.2, guess: 0.25 },
  model: { shape: 0.05, table: 0.6, guess: 1.9 },
  modelOnGpu: { shape: 0.06, table: 0.1, guess: 0.15 },
  stack: { shape: 0.3, table: 0.3, guess: 0.3 },
  stackOnKind: { shape: 0.12, table: 0.12, guess: 0.15 },
  near: { shape: 0.3, table: 0.3, guess: 0.7 },
  elapsed: { shape: 0.15, table: 0.15, guess: 0.2 },
  noise: { shape: 0.06, table: 0.12, guess: 0.07 },
  elapsedNoise: { shape: 0.15, table: 0.1, guess: 0.1 },
}

/**
 * A kind of network, or whole runs, may be off by tens of percent in common, a network whose FLOPs the table knows by a factor of two:
 * more, learned from a few odd publications, would make all that is unseen unknown.
 */
const mostOf: Readonly<Record<string, Readonly<Partial<Record<Counted, number>>>>> = {
  elapsed: { shape: 0.35, table: 0.35, guess: 0.35 },
  kind: { shape: 0.35, table: 0.35, guess: 0.35 },
  model: { table: 0.6 },
}

/** The two kinds of transformers that were measured say little of how far a third may be off. */
const leastOfKind = 0.15

function likenessParameters(counted: Counted): Readonly<Record<string, Parameter>> {
  const unit = 'sigma of ln(time)'
  return {
    ...Object.fromEntries(
      Object.entries(spreads).map(([name, start]) => [
        `likeness.${counted}.${name}`,
        {
          start: start[counted],
          least: name === 'kind' ? leastOfKind : 0.02,
          most: mostOf[name]?.[counted] ?? 4,
          unit,
        },
      ]),
    ),
    ...Object.fromEntries(
      sizeNames.map(name => [`distance.${counted}.${name}`, { start: 4, least: 0.2, most: 20, unit: 'ln(size)' }]),
    ),
  }
}

const counts = ['shape', 'table', 'guess'] as const

const parameters: Readonly<Record<string, Parameter>> = {
  ...transformerParameters,
  ...convolutionParameters,
  ...generationParameters,
  ...Object.fromEntries(counts.flatMap(counted => Object.entries(likenessParameters(counted)))),
}

/** Runs of one family from which the likeness is learned. */
const mostOfFamily = 20

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
  .filter(observation => observation.secondsPerSample !== undefined)
const steady = observations.filter(({ group }) => group === 'steady')
const isTabled = ({ workload }: Observation): boolean => workload.model?.value.forwardFlopsPerSample !== undefined
const isShaped = ({ workload }: Observation): boolean => workload.model?.value.shape !== undefined

let constants: Constants = {
  ...Object.fromEntries(Object.entries(parameters).map(([name, { start }]) => [name, start])),
  ...Object.fromEntries(Object.entries(statedConstants).map(([name, { value }]) => [name, value])),
  elapsedFactor: 1,
  ...rangeFactors(() => 1),
}

constants = descend(constants, transformerParameters, 14, trial => missOf(steady.filter(isShaped), trial))
constants = descend(constants, convolutionParameters, 10, trial => missOf(steady.filter(isTabled), trial))
const generated = observations.filter(({ workload }) => workload.outputTokens !== undefined)
constants = descend(constants, generationParameters, 10, trial => missOf(generated, trial))
constants = { ...constants, elapsedFactor: elapsedFactorOf(constants) }
const runs = runsOf(observations, constants)
for (const counted of counts) {
  const few = fewOf(runs.filter(run => run.traits.counted === counted && !isReinforced(run)))
  constants = descend(constants, likenessParameters(counted), 7, trial => surpriseOf(few, counted, trial))
}
const likenessFitted = constants
constants = {
  ...constants,
  ...rangeFactors((judged, counted) => rangeFactorOf(runs, likenessFitted, judged, counted)),
}
writeTables()

function rangeFactors(factorOf: (judged: Judged, counted: Counted) => number): Constants {
  const all = ['rate', 'elapsed', 'serving'] as const
  const kinds = all.flatMap(judged => counts.map(counted => [judged, counted] as const))
  return Object.fromEntries(
    kinds.map(([judged, counted]) => [`rangeFactor.${judged}.${counted}`, factorOf(judged, counted)]),
  )
}

/** Coordinate descent in the logarithm of each constant: slow, deterministic, and content with a rough function. */
function descend(
  from: Constants,
  varied: Readonly<Record<string, Parameter>>,
  sweeps: number,
  costOf: (trial: Constants) => number,
): Constants {
  let best = from
  let bestCost = costOf(from)
  let step = 0.4
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const before = bestCost
    for (const [name, { least, most }] of Object.entries(varied)) {
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
    if (before - bestCost < 0.01 * Math.abs(before)) step *= 0.6
  }
  return best
}

/** Steps of RLHF have a shape and are like no others: nothing is learned from them for those. */
function isReinforced({ traits }: MeasuredRun): boolean {
  return traits.counted === 'shape' && traits.kind === 'other'
}

function runsOf(from: readonly Observation[], trial: Constants): MeasuredRun[] {
  const calibration = calibrationOf(trial, () => [])
  return from.flatMap(({ id, workload, hardware, group, secondsPerSample }) => {
    const measured = group === 'end-to-end' ? 'elapsed' : 'rate'
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

/** Every so many-th run of the large families: the likeness is learned as well from 20 of 187 near-duplicates, in a tenth of the time. */
function fewOf(all: readonly MeasuredRun[]): MeasuredRun[] {
  return [...groupBy(all, run => familyOf(run.id)).values()].flatMap(family => {
    const stride = Math.ceil(family.length / mostOfFamily)
    return family.filter((_, index) => index % stride === 0)
  })
}

/** Negative log density of every run under what the others say of it: without its family, and without itself only. */
function surpriseOf(from: readonly MeasuredRun[], counted: Counted, trial: Constants): number {
  const { likeness } = calibrationOf(trial, () => [])
  const held = leaveOut(from, likeness[counted], [run => familyOf(run.id), run => run.id])
  let cost = 0
  for (const family of groupBy(held, each => familyOf(each.run.id)).values()) {
    // A Laplace-like tail keeps single odd publications from widening everything.
    const surprises = family.map(
      ({ miss, sigma }) => Math.min((miss / sigma) ** 2 / 2, Math.abs(miss / sigma) + 1) + Math.log(sigma),
    )
    cost += Math.sqrt(Math.min(family.length, 20)) * (surprises.reduce((sum, each) => sum + each, 0) / family.length)
  }
  return cost
}

/**
 * Split conformal: the factor on sigma that puts 80 % of the runs inside P10 to P90, each predicted as a quote does it, without its
 * family.
 */
function rangeFactorOf(from: readonly MeasuredRun[], trial: Constants, judged: Judged, counted: Counted): number {
  const { likeness } = calibrationOf(trial, () => [])
  const alike = from.filter(({ traits }) => traits.counted === counted)
  const others = new Map(
    [...new Set(alike.map(run => familyOf(run.id)))].map(family => [
      family,
      alike.filter(run => familyOf(run.id) !== family),
    ]),
  )
  const deviations = alike
    .filter(run => judgedAs(run.traits) === judged && !isReinforced(run))
    .map(run => ({ run, error: estimateLogError(run.traits, others.get(familyOf(run.id)) ?? [], likeness[counted]) }))
    .filter(({ error }) => error.sigma < 0.9)
    .map(({ run, error }) => Math.abs((run.logError - error.mean) / error.sigma) / 1.2816)
    .sort((a, b) => a - b)
  return deviations[Math.floor(0.8 * deviations.length)] ?? 1
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}

function writeTables(): void {
  const families = new Set(observations.map(each => each.family)).size
  const on = `${observations.length} runs of ${families} families in published-runs.csv`
  const date = new Date().toISOString().slice(0, 7)
  const rows = Object.entries(constants).map(([name, value]) => {
    const stated = Object.entries(statedConstants).find(([each]) => each === name)?.[1]
    const unit = parameters[name]?.unit ?? stated?.unit ?? 'factor'
    return [name, value.toPrecision(4), unit, stated?.note ?? on, date].join(',')
  })
  writeFileSync(new URL('efficiency.csv', folder), `constant,value,unit,fitted_on,date\n${rows.join('\n')}\n`)
  const lines = runs.map(({ id, logError, traits }) => {
    const { counted, stack = '', sizes, ...words } = traits
    const { model, kind, gpu, architecture, precision, method, measured } = words
    const texts = [kind, id, model, counted, stack, gpu, architecture, precision, method, measured]
    return [...texts, sizes.map(size => size.toFixed(2)).join(' '), logError.toFixed(3)].join(',')
  })
  writeFileSync(new URL('measured-runs.csv', folder), `${measuredRunColumns.join(',')}\n${lines.join('\n')}\n`)
}
