import type { Allocation } from '../history/allocation.ts'
import { gpusOfTres, stateOf, timeSeconds } from './fields.ts'
import { type Asked, ask, delimiter, offeredFields, slurmTime } from './query.ts'

/** Whose allocations are asked for. */
export interface AllocationQuery extends Asked {
  /** Seconds since 1970. */
  readonly sinceSeconds: number
  readonly allUsers: boolean
}

/** Free text stands in the middle: a row with a line break in it goes on until it has all its cells. */
const wantedFields = [
  ...['JobID', 'State', 'ElapsedRaw', 'Submit', 'Start', 'User', 'Account', 'JobName', 'Comment'],
  ...['AllocTRES', 'ReqTRES', 'TRESUsageInAve', 'Cluster'],
]

/**
 * What jobs held since a time, from Slurm's accounting in one call: also what still runs, every start of what was started again, and steps
 * for how busy their GPUs were. Throws GpufareError where sacct is not there, fails or takes too long.
 */
export async function askForAllocations(query: AllocationQuery): Promise<readonly Allocation[]> {
  const fields = await offeredFields(wantedFields, query)
  const text = await ask(
    [
      '--parsable2',
      '--noheader',
      '--duplicates',
      '--noconvert',
      `--delimiter=${delimiter}`,
      `--starttime=${slurmTime(query.sinceSeconds)}`,
      '--endtime=now',
      `--format=${fields.join(',')}`,
      ...(query.allUsers ? ['--allusers'] : []),
    ],
    query,
  )
  return readAllocations(text, fields)
}

/** Reads rows of sacct without a head line, by the names of their columns; a job's steps follow it. */
export function readAllocations(text: string, fields: readonly string[]): readonly Allocation[] {
  const jobs: { readonly allocation: Allocation; busySeconds: number }[] = []
  for (const cells of rowsOf(text, fields.length)) {
    const row = new Map(fields.map((field, index) => [field, cells[index] ?? '']))
    const id = row.get('JobID') ?? ''
    const last = jobs.at(-1)
    if (id.includes('.')) {
      if (last !== undefined) last.busySeconds += busySecondsOf(row)
    } else {
      const allocation = allocationOf(row)
      if (allocation !== undefined) jobs.push({ allocation, busySeconds: 0 })
    }
  }
  return jobs.map(({ allocation, busySeconds }) => {
    // Many sites count nothing and print 0: that is no idleness.
    if (busySeconds === 0 || allocation.elapsedSeconds === 0) return allocation
    return { ...allocation, gpuBusyShare: Math.min(1, busySeconds / allocation.elapsedSeconds) }
  })
}

function* rowsOf(text: string, width: number): Generator<readonly string[]> {
  let begun = ''
  for (const line of text.split('\n')) {
    const whole = begun === '' ? line : `${begun}\n${line}`
    const cells = whole.split(delimiter)
    if (cells.length < width) begun = whole
    else {
      begun = ''
      yield cells
    }
  }
}

type Row = ReadonlyMap<string, string>

function allocationOf(row: Row): Allocation | undefined {
  const cell = (field: string) => row.get(field) ?? ''
  const [, jobId = '', task = '', component = ''] = /^(\d+)(?:_(\d+))?(?:\+(\d+))?$/.exec(cell('JobID')) ?? []
  const state = stateIn(cell('State'))
  const submitSeconds = timeSeconds(cell('Submit'))
  const elapsedSeconds = Number(cell('ElapsedRaw'))
  if (jobId === '' || state === undefined || submitSeconds === undefined || !Number.isFinite(elapsedSeconds)) {
    return undefined // tasks of an array that wait together (`5_[2-4]`) hold nothing
  }
  const startSeconds = timeSeconds(cell('Start'))
  const tres = cell('AllocTRES').includes('gres/gpu') ? cell('AllocTRES') : cell('ReqTRES')
  return {
    cluster: cell('Cluster'),
    jobId,
    task,
    component,
    state,
    submitSeconds,
    ...(startSeconds !== undefined && { startSeconds }),
    elapsedSeconds,
    ...gpusOfTres(tres),
    user: cell('User'),
    account: cell('Account'),
    name: cell('JobName'),
    comment: cell('Comment'),
  }
}

function stateIn(text: string): Allocation['state'] | undefined {
  if (/^(PENDING|CONFIGURING)/.test(text)) return 'waiting'
  if (/^(RUNNING|SUSPENDED|COMPLETING|RESIZING|STOPPED)/.test(text)) return 'running'
  return stateOf(text)
}

/** Seconds in which the GPUs of a step had work, by its average `gres/gpuutil` in per cent. */
function busySecondsOf(row: Row): number {
  const percent = /(?:^|,)gres\/gpuutil=(\d+(?:\.\d+)?)/.exec(row.get('TRESUsageInAve') ?? '')?.[1]
  return percent === undefined ? 0 : (Number(percent) / 100) * Number(row.get('ElapsedRaw'))
}
