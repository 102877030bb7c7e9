import type { EarlierRun } from '../history/earlier-run.ts'
import { inOrder } from './merged-runs.ts'

/** Columns of runs.csv; csv-runs.ts reads them back. */
const head = [
  'submit',
  'id',
  'state',
  'name',
  'user',
  'account',
  'partition',
  'qos',
  'start',
  'end',
  'elapsed_seconds',
  'time_limit',
  'nodes',
  'cpus',
  'gpus',
  'gpu_type',
  'submit_line_digest',
  'work_dir_digest',
]

/** Runs as CSV, one a line in the order they were submitted: two branches that add runs seldom touch the same line. */
export function writeRunsCsv(runs: readonly EarlierRun[]): string {
  return [head.join(','), ...runs.toSorted(inOrder).map(run => cellsOf(run).map(quoteCell).join(','))].join('\n')
}

function cellsOf(run: EarlierRun): readonly string[] {
  return [
    timeOf(run.submitSeconds),
    run.id,
    run.state,
    run.name,
    run.user,
    run.account,
    run.partition,
    run.qos,
    timeOf(run.startSeconds),
    timeOf(run.endSeconds),
    String(run.elapsedSeconds),
    limitCell(run.limitSeconds),
    String(run.nodes ?? ''),
    String(run.cpus ?? ''),
    String(run.gpus),
    run.gpuType ?? '',
    run.submitLineDigest ?? '',
    run.workDirDigest ?? '',
  ]
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}

/** As sacct prints limits: `HH:MM:SS`, or a word. */
function limitCell(limit: EarlierRun['limitSeconds']): string {
  if (limit === undefined) return ''
  if (limit === 'unlimited') return 'UNLIMITED'
  if (limit === 'partition-default') return 'Partition_Limit'
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${two(limit / 3_600)}:${two((limit / 60) % 60)}:${two(limit % 60)}`
}

/** A line break in a name would make two lines of a run. */
function quoteCell(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ')
  return /[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line
}
