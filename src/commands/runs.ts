import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { withPseudonyms } from '../accounting/digest.ts'
import { readRuns } from '../accounting/index.ts'
import { mergeRuns } from '../accounting/merged-runs.ts'
import { askForRuns, usualDays } from '../accounting/query.ts'
import { readRunFiles } from '../accounting/run-files.ts'
import type { ReadRuns } from '../accounting/run-format.ts'
import { writeRunsCsv } from '../accounting/runs-csv.ts'
import { plainText } from '../escaping.ts'
import type { EarlierRun } from '../history/earlier-run.ts'
import { usualRunsFile } from '../kept-runs.ts'
import { writeFiles } from '../outputs.ts'
import { processTerminal, type Terminal } from '../terminal.ts'
import { countOf, dayOf, formatDuration } from '../units.ts'

/** What `gpufare runs import` can be told. */
export interface RunsImportOptions {
  readonly names?: true
  readonly output: string
  readonly sacct?: true
  readonly since?: number
  readonly user?: string
}

/** Whoever imports can wait for Slurm's accounting. */
const patienceMilliseconds = 30_000

/** Adds runs of files, and with `--sacct` of Slurm's accounting, to a file of runs. */
export async function runsImport(
  paths: readonly string[],
  options: RunsImportOptions,
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const added: EarlierRun[] = []
  const say = (text: string) => terminal.stderr.write(`gpufare: ${plainText(text)}\n`)
  for (const path of paths) {
    const { runs, skipped, lacksStates, format } = await readRuns(await readRunFiles(path), path)
    const assumed = lacksStates === true ? '; no column says how they ended: all are taken for completed' : ''
    say(`${path}: ${countOf(runs.length, 'run')} (${format.name})${tooLittle(skipped)}${assumed}`)
    added.push(...runs)
  }
  if (options.sacct === true || paths.length === 0) {
    const runs = await askForRuns({
      environment: terminal.environment,
      nowSeconds: Math.floor(Date.now() / 1_000),
      days: options.since ?? usualDays,
      ...(options.user !== undefined && { user: options.user }),
      timeoutMilliseconds: patienceMilliseconds,
    })
    say(`sacct: ${countOf(runs.length, 'run')} of the last ${countOf(options.since ?? usualDays, 'day')}`)
    added.push(...runs)
  }
  const { runs: known, skipped } = await readKnown(options.output)
  const merged = mergeRuns(known, options.names === true ? added : added.map(withPseudonyms))
  await mkdir(dirname(options.output), { recursive: true })
  await writeFiles([{ format: 'csv', file: options.output }], () => writeRunsCsv(merged))
  const fresh = Math.max(0, merged.length - known.length)
  say(`${options.output}: ${countOf(merged.length, 'run')}, ${fresh} of them new${tooLittle(skipped)}`)
  return 0
}

function tooLittle(rows: number): string {
  return rows === 0
    ? ''
    : `; ${countOf(rows, 'row')} had not ended or said too little, and ${rows === 1 ? 'is' : 'are'} left out`
}

/** Shows what is known of earlier runs: one line a user and name, the most frequent first. */
export async function runsList(
  file: string | undefined,
  options: { readonly all?: true },
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const { runs } = await readKnown(file ?? usualRunsFile)
  if (runs.length === 0) {
    terminal.stdout.write(
      `no earlier runs are known: ${plainText(file ?? usualRunsFile)} holds none (gpufare runs import)\n`,
    )
    return 0
  }
  const groups = groupsOf(runs)
  const shown = options.all === true ? groups : groups.slice(0, mostShown)
  const rows = [head, ...shown.map(rowOf)]
  const widths = head.map((_, index) => Math.max(...rows.map(row => row[index]?.length ?? 0)))
  for (const row of rows) {
    terminal.stdout.write(
      `${row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
  }
  if (shown.length < groups.length) terminal.stdout.write(`and ${groups.length - shown.length} more (--all)\n`)
  return 0
}

const mostShown = 20

const head = ['user', 'name', 'gpus', 'runs', 'completed', 'median', 'last']

function groupsOf(runs: readonly EarlierRun[]): readonly (readonly EarlierRun[])[] {
  const groups = new Map<string, EarlierRun[]>()
  for (const run of runs) {
    const key = JSON.stringify([run.user, run.name, run.gpus, run.gpuType])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [run])
    else group.push(run)
  }
  return [...groups.values()].sort((a, b) => b.length - a.length)
}

function rowOf(group: readonly EarlierRun[]): readonly string[] {
  const [first] = group
  const completed = group.filter(({ state }) => state === 'completed').map(({ elapsedSeconds }) => elapsedSeconds)
  const median = completed.sort((a, b) => a - b)[Math.floor(completed.length / 2)]
  const last = group.reduce((latest, { endSeconds }) => Math.max(latest, endSeconds), 0)
  return [
    first?.user ?? '',
    first?.name ?? '',
    first?.gpus === 0 ? '-' : `${first?.gpus}${first?.gpuType === undefined ? '' : `x ${first.gpuType}`}`,
    String(group.length),
    String(completed.length),
    median === undefined ? '-' : formatDuration(median),
    dayOf(last),
  ].map(cell => plainText(cell === '' ? '-' : cell))
}

/** A file that is not there holds no runs. */
async function readKnown(file: string): Promise<ReadRuns> {
  const files = await readRunFiles(file).catch(() => [])
  return files.length === 0 ? { runs: [], skipped: 0 } : readRuns(files, file)
}
