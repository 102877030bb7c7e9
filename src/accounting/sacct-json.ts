import { GpufareError } from '../errors.ts'
import type { EarlierRun } from '../history/earlier-run.ts'
import { digestOf } from './digest.ts'
import { countOfTres, gpusOfTres, stateOf } from './fields.ts'
import { joinRecords, type RunRecord } from './records.ts'
import type { ReadRuns, RunFormat } from './run-format.ts'
import type { SacctJob } from './schema.ts'

/** What `sacct --json` prints, from Slurm 21.08 on. Its shape changed with 23.02: states are lists, numbers say whether they are set. */
export const sacctJson: RunFormat = {
  name: 'sacct --json',
  accepts: ([file]) => file !== undefined && /^\s*\{/.test(file.text.slice(0, 200)) && /"jobs"\s*:/.test(file.text),
  async read([file]) {
    const schema = await import('./schema.ts')
    const answer = schema.SacctAnswer.safeParse(parseJson(file?.text ?? '', file?.path ?? ''))
    if (!answer.success) throw new GpufareError(`${file?.path}: this is no output of sacct --json`, 2)
    const records: RunRecord[] = []
    let skipped = 0
    for (const each of answer.data.jobs) {
      const job = schema.SacctJob.safeParse(each)
      if (job.success && hasNotEnded(job.data)) continue
      const record = job.success ? recordOf(job.data) : undefined
      if (record === undefined) skipped++
      else records.push(record)
    }
    return { runs: joinRecords(records), skipped } satisfies ReadRuns
  },
}

/** Parses JSON that a file holds. Throws GpufareError with the file's path. */
export function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new GpufareError(`${path}: not valid JSON: ${error instanceof Error ? error.message : String(error)}`, 2)
  }
}

function hasNotEnded({ state, time }: SacctJob): boolean {
  return /^(PENDING|RUNNING|SUSPENDED|RESIZING|COMPLETING)/.test(state.current) || (time.start ?? 0) === 0
}

function recordOf(job: SacctJob): RunRecord | undefined {
  const { time } = job
  const state = stateOf(job.state.current)
  const { elapsed, start } = time
  if (state === undefined || elapsed === undefined || start === undefined) return undefined
  const allocated = job.tres?.allocated ?? []
  const tres = (allocated.length > 0 ? allocated : (job.tres?.requested ?? []))
    .map(({ type, name, count }) => `${type}${name === '' ? '' : `/${name}`}=${count ?? 0}`)
    .join(',')
  const nodes = job.allocation_nodes ?? countOfTres(tres, 'node')
  const cpus = countOfTres(tres, 'cpu')
  const submitLineDigest = digestOf(job.submit_line)
  const workDirDigest = digestOf(job.working_directory)
  const limit = limitOf(time.limit)
  const run: EarlierRun = {
    id: idOf(job),
    name: job.name,
    user: job.user.toLowerCase(),
    account: job.account.toLowerCase(),
    partition: job.partition,
    qos: job.qos,
    state,
    submitSeconds: time.submission ?? start,
    startSeconds: start,
    endSeconds: time.end || start + elapsed,
    elapsedSeconds: elapsed,
    ...(limit !== undefined && { limitSeconds: limit }),
    ...(nodes !== undefined && nodes > 0 && { nodes }),
    ...(cpus !== undefined && { cpus }),
    ...gpusOfTres(tres),
    ...(submitLineDigest !== undefined && { submitLineDigest }),
    ...(workDirDigest !== undefined && { workDirDigest }),
  }
  return { run, cluster: job.cluster, isComponent: (job.het?.job_id ?? 0) > 0 }
}

/** Minutes; up to 22.05 null stands for UNLIMITED. */
function limitOf(minutes: number | undefined): EarlierRun['limitSeconds'] {
  if (minutes === undefined || minutes === Number.POSITIVE_INFINITY) return 'unlimited'
  return minutes * 60
}

function idOf({ job_id, array, het }: SacctJob): string {
  if ((het?.job_id ?? 0) > 0) return String(het?.job_id)
  const base = array?.job_id ?? 0
  return base > 0 && array?.task_id !== undefined ? `${base}_${array.task_id}` : String(job_id)
}
