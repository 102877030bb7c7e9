import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GpufareError } from '../errors.ts'
import type { EarlierRun } from '../history/earlier-run.ts'
import { askProgram } from '../programs.ts'
import { csvRuns } from './csv-runs.ts'
import { digestOf } from './digest.ts'
import { mergeRuns } from './merged-runs.ts'
import { writeRunsCsv } from './runs-csv.ts'
import { readSacct } from './sacct-text.ts'

/** Whose runs are asked for, and how. */
export interface Query {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Seconds since 1970. */
  readonly nowSeconds: number
  /** Days that are looked back; sites with MaxQueryTimeRange refuse long windows. */
  readonly days: number
  /** One's own runs where left out. */
  readonly user?: string
  /** For both calls together. */
  readonly timeoutMilliseconds: number
}

/** What every call of sacct needs. */
export type Asked = Pick<Query, 'environment' | 'timeoutMilliseconds'>

/** How long sacct is waited for beside a quote. */
export const quoteTimeoutMilliseconds = 4_000

/** Days of runs that are asked for: users' work changes, and the cache keeps what is older. */
export const usualDays = 90

/**
 * Those that a site's sacct does not have are left out. The name does not stand last, so that one with a line break leaves a line that is
 * too short.
 */
const wantedFields = [
  'JobID',
  'State',
  'ElapsedRaw',
  'TimelimitRaw',
  'Submit',
  'Start',
  'End',
  'NNodes',
  'NCPUS',
  'AllocTRES',
  'ReqTRES',
  'User',
  'Account',
  'Partition',
  'QOS',
  'JobName',
  'Cluster',
]

/** States of runs that have ended; without any the window is of another kind (sacct(1), --starttime). */
const states = 'CD,F,TO,OOM,CA,NF,PR,RQ'

/** ASCII unit separator, which no name has in it. */
export const delimiter = '\u001f'

/** A run that ended just before may have been written late: a day is asked for again. */
const overlapSeconds = 86_400

/**
 * Earlier runs from Slurm's accounting: one call of sacct (every one is a request to slurmdbd) for what ended since the last answer,
 * which is kept in `$XDG_CACHE_HOME/gpufare`. Throws GpufareError where sacct is not there, fails or takes too long.
 */
export async function askForRuns(query: Query): Promise<readonly EarlierRun[]> {
  const cache = cachePath(query)
  const oldest = query.nowSeconds - query.days * 86_400
  const { runs: kept, coveredSince } = await readCache(cache)
  // A cache of fewer days than are wanted now is asked for anew.
  const isCovered = coveredSince !== undefined && coveredSince <= oldest + overlapSeconds
  // A question for fewer days takes nothing from the cache.
  const keptSince = isCovered
    ? Math.max(coveredSince, query.nowSeconds - Math.max(query.days, usualDays) * 86_400)
    : oldest
  const lastEnd = isCovered ? kept.reduce((last, run) => Math.max(last, run.endSeconds), 0) : 0
  const since = Math.max(oldest, lastEnd - overlapSeconds)
  const deadline = Date.now() + query.timeoutMilliseconds
  const fields = await offeredFields(wantedFields, query)
  const text = await ask(
    [
      '--allocations',
      // What was requeued: without it only its last start is told.
      '--duplicates',
      '--parsable2',
      `--delimiter=${delimiter}`,
      `--starttime=${slurmTime(since)}`,
      '--endtime=now',
      `--state=${states}`,
      '--noconvert',
      `--format=${fields.join(',')}`,
      ...(query.user === undefined ? [] : [`--user=${query.user}`]),
    ],
    { ...query, timeoutMilliseconds: Math.max(1, deadline - Date.now()) },
  )
  const runs = mergeRuns(kept, readSacct(text).runs)
  await writeCache(
    cache,
    runs.filter(run => run.endSeconds >= keptSince),
    keptSince,
  )
  return runs.filter(run => run.endSeconds >= oldest)
}

/** The runs that were kept of earlier answers, without asking anything. */
export async function keptRuns({
  nowSeconds,
  days,
  ...whose
}: Pick<Query, 'environment' | 'user' | 'nowSeconds' | 'days'>): Promise<readonly EarlierRun[]> {
  const { runs } = await readCache(cachePath(whose))
  return runs.filter(run => run.endSeconds >= nowSeconds - days * 86_400)
}

/** An unknown field makes sacct fail as a whole, so it is asked first which it has. */
export async function offeredFields(wanted: readonly string[], query: Asked): Promise<readonly string[]> {
  const offered = new Set((await ask(['--helpformat'], query)).toLowerCase().split(/\s+/))
  return wanted.filter(field => offered.has(field.toLowerCase()))
}

/** What sacct prints. Throws GpufareError where it is not there, fails or takes too long. */
export async function ask(words: readonly string[], { environment, timeoutMilliseconds }: Asked): Promise<string> {
  // Seconds since 1970, for local times without a zone are an hour off twice a year.
  const asking = { environment: { ...environment, SLURM_TIME_FORMAT: '%s' }, timeoutMilliseconds }
  const answer = await askProgram('sacct', words, asking)
  if (answer.timedOut) throw new GpufareError(`sacct did not answer in ${timeoutMilliseconds / 1_000} s`, 1)
  if (answer.exitCode === 0) return answer.stdout
  throw new GpufareError(`sacct failed: ${answer.stderr.trim().split('\n')[0] ?? ''}`, 1)
}

/** sacct takes no epoch seconds, but a count of seconds back from now. */
export function slurmTime(seconds: number): string {
  return `now-${Math.max(0, Math.ceil(Date.now() / 1_000 - seconds))}seconds`
}

function cachePath({ environment, user }: Pick<Query, 'environment' | 'user'>): string {
  const home = environment['XDG_CACHE_HOME'] || join(environment['HOME'] ?? '/', '.cache')
  // Another configuration is another cluster.
  const whose = digestOf(`${environment['SLURM_CONF'] ?? ''} ${user ?? ''}`)
  return join(home, 'gpufare', `runs-${whose}.csv`)
}

/** A cache that is not there or broken is an empty one. */
async function readCache(
  path: string,
): Promise<{ readonly runs: readonly EarlierRun[]; readonly coveredSince?: number }> {
  try {
    const text = await readFile(path, 'utf8')
    const [, since] = /^# since (\d+)\n/.exec(text) ?? []
    if (since === undefined) return { runs: [] }
    const bytes = new TextEncoder().encode(text)
    const { runs } = await csvRuns.read([{ path, bytes, text: text.slice(text.indexOf('\n') + 1) }])
    return { runs, coveredSince: Number(since) }
  } catch {
    return { runs: [] }
  }
}

/** To keep it is a help, not a need: a full disk stops no quote. */
async function writeCache(path: string, runs: readonly EarlierRun[], since: number): Promise<void> {
  try {
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
    const temporary = `${path}.${process.pid}`
    await writeFile(temporary, `# since ${Math.floor(since)}\n${writeRunsCsv(runs)}\n`, { mode: 0o600 })
    await rename(temporary, path)
  } catch {
    // asked for anew next time
  }
}
