/**
 * How far the runtime model is from published runs it was not fitted on: `npm run bench:accuracy -- [FILE.csv] [--json] [--write]`.
 * Without a file every row of the shipped table is predicted without its whole family; a row of another file without the shipped row of
 * the same id. `--write` keeps the figures in pricing-data/accuracy.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { groupBy } from '../../pricing-data/scripts/held-out.ts'
import { familyOf, groupOf, type Observation, observationOf } from '../../pricing-data/scripts/published-runs.ts'
import { openTable, type Row } from '../../src/csv.ts'
import { readTables, type Tables } from '../../src/pricing-data.ts'
import { predictRuntime } from '../../src/runtimes/index.ts'
import { type Range, rangeAround } from '../../src/runtimes/runtime-model.ts'
import type { MeasuredRun } from '../../src/throughput/nearest-runs.ts'
import { type Calibration, measuredRun, predictPace, withRun } from '../../src/throughput/pace.ts'
import { candidateOf, jobOf, machineOf, placementOf } from '../builders.ts'

/** One prediction beside what was measured, in seconds; no prediction where none would have been given. */
interface Comparison {
  readonly id: string
  readonly actual: number | undefined
  readonly predicted: Range | undefined
}

/** How a group of comparisons came out; shares and errors in percent. */
interface GroupAccuracy {
  readonly name: string
  readonly rows: number
  readonly predicted: number
  readonly mape: number
  readonly median: number
  readonly insideRange: number
}

/** Errors of a group; of the rows without a prediction only the number is known. */
export function accuracyOf(name: string, comparisons: readonly Comparison[]): GroupAccuracy {
  const judged = comparisons.flatMap(({ actual, predicted }) =>
    actual === undefined || predicted === undefined ? [] : [{ actual, predicted }],
  )
  const errors = judged.map(({ actual, predicted }) => Math.abs(predicted.p50 / actual - 1) * 100).sort((a, b) => a - b)
  const inside = judged.filter(({ actual, predicted }) => predicted.p10 <= actual && actual <= predicted.p90).length
  const middle = (errors.length - 1) / 2
  return {
    name,
    rows: comparisons.length,
    predicted: judged.length,
    mape: round(errors.reduce((sum, error) => sum + error, 0) / errors.length),
    median: round(((errors[Math.floor(middle)] ?? Number.NaN) + (errors[Math.ceil(middle)] ?? Number.NaN)) / 2),
    insideRange: round((inside / judged.length) * 100),
  }
}

/** Which shipped runs may be used to predict a row. */
type Allowed = (row: { readonly id: string }, run: MeasuredRun) => boolean

/** Compares every row of a table of published runs, in its group and as pairs of GPUs. */
export function compareAll(rows: readonly Row[], tables: Tables, allowed: Allowed): Map<string, Comparison[]> {
  const groups = new Map<string, Comparison[]>([
    ['steady', []],
    ['end-to-end', []],
    ['cross-gpu', []],
    ['serving', []],
  ])
  const observations: Observation[] = []
  for (const row of rows) {
    const observation = observationOf(row, tables)
    const comparison =
      observation === undefined
        ? { id: row['id'] ?? '', actual: undefined, predicted: undefined }
        : compare(observation, tables, allowed)
    groups.get(groupOf(row))?.push(comparison)
    if (observation !== undefined) observations.push(observation)
  }
  groups.set('cross-gpu', comparePairs(observations, tables, allowed))
  return groups
}

function compare(observation: Observation, tables: Tables, allowed: Allowed): Comparison {
  const calibration = restricted(tables.calibration, run => allowed(observation, run))
  const { id, workload, hardware, secondsPerSample } = observation
  if (observation.group === 'end-to-end') {
    const { gpu, gpuCount, gpusPerMachine, ...wires } = hardware
    const candidate = candidateOf(placementOf(machineOf(gpu, gpusPerMachine, wires), gpuCount))
    const runtime = predictRuntime(jobOf(), [workload], candidate, {}, { gpus: tables.gpus, calibration })
    // Published times begin with the first step, not with the launcher.
    const { startSeconds } = calibration.efficiency
    const predicted =
      runtime === undefined || runtime.basis === 'limit' ? undefined : later(runtime.seconds, -startSeconds)
    return { id, actual: observation.elapsedSeconds, predicted }
  }
  const pace = predictPace(workload, hardware, calibration, 'rate')
  return {
    id,
    actual: secondsPerSample,
    predicted: pace && rangeAround(pace.secondsPerSample, pace.sigma, pace.leastSecondsPerSample),
  }
}

/** One measured rate on one GPU, and from it the rate of the same training run on another; both directions of every pair. */
function comparePairs(observations: readonly Observation[], tables: Tables, allowed: Allowed): Comparison[] {
  const steady = observations.filter(each => each.group === 'steady' && each.secondsPerSample !== undefined)
  return steady.flatMap(target =>
    steady
      .filter(source => isSameRunElsewhere(source, target))
      .map(source => {
        const shipped = restricted(tables.calibration, run => allowed(target, run) && allowed(source, run))
        const { workload, hardware, secondsPerSample } = source
        const anchor = measuredRun(source.id, workload, hardware, shipped, 'rate', secondsPerSample ?? Number.NaN)
        const anchored = anchor === undefined ? shipped : withRun(shipped, anchor)
        const pace = predictPace(target.workload, target.hardware, anchored, 'rate')
        const predicted = pace && rangeAround(pace.secondsPerSample, pace.sigma, pace.leastSecondsPerSample)
        return { id: `${source.id} to ${target.id}`, actual: target.secondsPerSample, predicted }
      }),
  )
}

/** The same publication, model, sequence length, precision, method and number of GPUs on another GPU type. */
function isSameRunElsewhere(a: Observation, b: Observation): boolean {
  return a.hardware.gpu.name !== b.hardware.gpu.name && sameness(a) === sameness(b)
}

function sameness({ id, workload, hardware }: Observation): string {
  const { model, sequenceLength, precision, method, activationRecompute, framework } = workload
  const traits = [model?.value.name, sequenceLength?.value, precision?.value, method?.value, activationRecompute?.value]
  return [id.split('-')[0], framework?.value, hardware.gpuCount, ...traits].join('|')
}

function later({ p10, p50, p90 }: Range, seconds: number): Range {
  return { p10: p10 + seconds, p50: p50 + seconds, p90: p90 + seconds }
}

function restricted(calibration: Calibration, allowed: (run: MeasuredRun) => boolean): Calibration {
  return { ...calibration, runsOf: kind => calibration.runsOf(kind).filter(allowed) }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function main(): void {
  const options = process.argv.slice(2)
  const file = options.find(option => !option.startsWith('--'))
  const folder = fileURLToPath(new URL('../../pricing-data/', import.meta.url))
  const tables = readTables(folder)
  const rows = openTable(readFileSync(file ?? `${folder}published-runs.csv`, 'utf8')).rows()
  const withoutFamily: Allowed = (row, run) => familyOf(run.id) !== familyOf(row.id)
  const withoutRow: Allowed = (row, run) => run.id !== row.id
  const comparisons = compareAll(rows, tables, file === undefined ? withoutFamily : withoutRow)
  const groups = [...comparisons].map(([name, each]) => accuracyOf(name, each))
  for (const line of [
    ['group', 'rows', 'predicted', 'MAPE %', 'median %', 'inside P10-P90 %'],
    ...groups.map(cellsOf),
  ]) {
    console.log(line.map((cell, index) => String(cell).padEnd(index === 0 ? 12 : 10)).join(' '))
  }
  if (options.includes('--rows')) printRows(comparisons)
  if (options.includes('--write')) writeFileSync(`${folder}accuracy.md`, reportOf(groups, kindsOf(rows, comparisons)))
  if (options.includes('--json')) console.log(JSON.stringify({ groups }))
}

function printRows(comparisons: ReadonlyMap<string, readonly Comparison[]>): void {
  for (const [name, each] of comparisons) {
    for (const { id, actual, predicted } of each) {
      console.log([name, id, actual, predicted?.p10, predicted?.p50, predicted?.p90].join(','))
    }
  }
}

/** Steady rates by the table's kinds of run: language models and recommenders are not equally well known. */
function kindsOf(rows: readonly Row[], comparisons: ReadonlyMap<string, readonly Comparison[]>): GroupAccuracy[] {
  const kinds = new Map(rows.map(row => [row['id'] ?? '', row['kind'] ?? '']))
  const byKind = groupBy(comparisons.get('steady') ?? [], ({ id }) => kinds.get(id) ?? '')
  return [...byKind].map(([kind, each]) => accuracyOf(`steady: ${kind}`, each)).sort((a, b) => b.rows - a.rows)
}

function cellsOf({ name, rows, predicted, mape, median, insideRange }: GroupAccuracy): (string | number)[] {
  return [name, rows, predicted, mape, median, insideRange].map(cell => (Number.isNaN(cell) ? '-' : cell))
}

function reportOf(...accuracies: readonly (readonly GroupAccuracy[])[]): string {
  const rows = accuracies.flat().map(each => `| ${cellsOf(each).join(' | ')} |`)
  return `# How far the runtime model is from runs it has not seen

Written by \`npm run bench:accuracy -- --write\`: every row of published-runs.csv, predicted without its whole family (the id up to the
second dash). Errors are those of the runtime, in percent; eight of ten should fall inside P10-P90. The constants of the formulas
(efficiency.csv) were fitted on all rows, so this is a little kind to us; corrections by measured runs never come from the row's family.
Rows without a prediction are those whose work is not published, or that are like no measured run: a quote says so, too.

- **steady**: rate of a training run. **end-to-end**: from start to end, with evaluation, checkpoints and restarts.
- **cross-gpu**: from the rate on one GPU to the rate of the same run on another. **serving**: inference.

| group | rows | predicted | MAPE % | median % | inside P10-P90 % |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
