import type { EarlierRun, RunState } from '../history/earlier-run.ts'
import { ownEntry } from '../own-entry.ts'
import { digestOf } from './digest.ts'
import { clockSeconds, limitOf, positive, stateOf, timeSeconds } from './fields.ts'

/** Cells of one run by the names of their columns or keys, whatever tool wrote them. */
export type NamedCells = ReadonlyMap<string, string>

/** A column's name without what spelling adds: `Elapsed (s)`, `elapsed_seconds` and `ElapsedSeconds` are one. */
export function columnKey(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** How a run ended in the words of other tools; Slurm's come first. */
const otherStates: Readonly<Record<string, RunState>> = {
  finished: 'completed',
  success: 'completed',
  succeeded: 'completed',
  complete: 'completed',
  done: 'completed',
  ok: 'completed',
  error: 'failed',
  crashed: 'failed',
  fail: 'failed',
  killed: 'cancelled',
  canceled: 'cancelled',
  oom: 'out-of-memory',
}

/** Columns of each field, by `columnKey`; the first that has a cell counts. */
const columns = {
  id: ['id', 'jobid', 'runid', 'jobidraw'],
  name: ['name', 'jobname', 'displayname', 'runname'],
  user: ['user', 'username', 'owner', 'userid'],
  account: ['account', 'project', 'team'],
  partition: ['partition', 'queue', 'nodepool'],
  qos: ['qos'],
  state: ['state', 'status'],
  submit: ['submit', 'submitseconds', 'submitted', 'submittime', 'submitat', 'submittedat', 'created', 'createdat'],
  start: ['start', 'startseconds', 'starttime', 'started', 'startedat'],
  end: ['end', 'endseconds', 'endtime', 'ended', 'endedat', 'finished', 'finishedat'],
  elapsed: [
    'elapsedraw',
    'elapsed',
    'elapsedseconds',
    'elapseds',
    'runtime',
    'runtimeseconds',
    'runtimes',
    'duration',
    'durationseconds',
    'durations',
    'seconds',
  ],
  limit: ['limitseconds', 'timelimitseconds'],
  clockLimit: ['timelimit', 'limit', 'timelimitraw'],
  nodes: ['nodes', 'nnodes'],
  cpus: ['cpus', 'ncpus'],
  gpus: ['gpus', 'ngpus', 'gpucount', 'numgpus'],
  gpuType: ['gputype', 'gpu', 'gpuname'],
  submitLine: ['submitlinedigest'],
  workDir: ['workdirdigest'],
} as const

/** Whether columns are enough to know runs by: how long they took, or from when until when. */
export function nameRuns(names: readonly string[]): boolean {
  const keys = new Set(names.map(columnKey))
  const has = (field: keyof typeof columns) => columns[field].some(key => keys.has(key))
  return has('elapsed') || (has('start') && has('end'))
}

/** Whether a column says how runs ended. */
export function tellStates(names: readonly string[]): boolean {
  const keys: readonly string[] = columns.state
  return names.some(name => keys.includes(columnKey(name)))
}

/** The run of a row; undefined where it has not ended, lacks when and how long, or says nothing in a column that tells how runs ended. */
export function runOfCells(cells: NamedCells): EarlierRun | undefined {
  const cell = (field: keyof typeof columns) =>
    columns[field].map(key => cells.get(key)?.trim() ?? '').find(text => text !== '') ?? ''
  const state = !columns.state.some(key => cells.has(key))
    ? 'completed'
    : (stateOf(cell('state')) ?? ownEntry(otherStates, cell('state').toLowerCase()) ?? ownState(cell('state')))
  const start = timeSeconds(cell('start'))
  const end = timeSeconds(cell('end'))
  const submit = timeSeconds(cell('submit'))
  const between = start !== undefined && end !== undefined ? end - start : undefined
  const elapsed = positive(cell('elapsed')) ?? clockSeconds(cell('elapsed')) ?? between
  const startSeconds = start ?? submit ?? (end === undefined ? undefined : end - (elapsed ?? 0))
  if (state === undefined || elapsed === undefined || elapsed < 0 || startSeconds === undefined) return undefined
  const seconds = positive(cell('limit'))
  const limitSeconds = seconds ?? limitOf(cell('limit')) ?? limitOf(cell('clockLimit'))
  const nodes = positive(cell('nodes'))
  const cpus = positive(cell('cpus'))
  const submitLineDigest = cell('submitLine')
  const workDirDigest = cell('workDir')
  return {
    id: cell('id') || (digestOf([...cells.values()].join('\n')) ?? ''),
    name: cell('name'),
    user: cell('user').toLowerCase(),
    account: cell('account').toLowerCase(),
    partition: cell('partition'),
    qos: cell('qos'),
    state,
    submitSeconds: submit ?? startSeconds,
    startSeconds,
    endSeconds: end ?? startSeconds + elapsed,
    elapsedSeconds: Math.round(elapsed),
    ...(limitSeconds !== undefined && { limitSeconds }),
    ...(nodes !== undefined && { nodes }),
    ...(cpus !== undefined && { cpus }),
    gpus: positive(cell('gpus')) ?? 0,
    ...(cell('gpuType') !== '' && { gpuType: cell('gpuType').toLowerCase() }),
    ...(submitLineDigest !== '' && { submitLineDigest }),
    ...(workDirDigest !== '' && { workDirDigest }),
  }
}

/** The words of EarlierRun itself. */
function ownState(text: string): RunState | undefined {
  const words: readonly RunState[] = ['out-of-memory', 'interrupted', 'cancelled']
  return words.find(word => word === text)
}
