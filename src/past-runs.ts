import { findGpus, type Gpu, migProfileIn } from './gpu.ts'
import { chosenLimit, type EarlierRun, type RunRequest } from './history/earlier-run.ts'
import { shortestSeconds } from './history/log-histogram.ts'
import { isTelling } from './history/names.ts'
import { historyOf, type RunHistory } from './history/predict.ts'
import type { Job } from './job.ts'
import { once } from './once.ts'
import type { Endings, PastForecast, PastRuns } from './runtimes/runtime-model.ts'

/** Earlier runs as they are kept, names and users in one form whatever form they were read in. */
export interface KeptRuns {
  /** Runs of a job's name, but for its digits. */
  alike(jobName: string): readonly EarlierRun[]
  /** The latest runs of any name: how sure a forecast may be is learned from them, too. */
  readonly latest: readonly EarlierRun[]
  readonly source: string
}

/** Who asks, and when. */
export interface Asker {
  /** In the form of the kept runs. */
  readonly user: string
  /** Seconds since 1970. */
  readonly nowSeconds: number
  /** A job's name in the form of the kept runs. */
  nameOf(jobName: string): string
}

/** What kept runs say of jobs. */
export function pastRunsOf(kept: KeptRuns, gpus: readonly Gpu[], asker: Asker): PastRuns {
  const alike = once((name: string) => kept.alike(name))
  const isOn = (run: EarlierRun, gpuName: string) => run.gpuType !== undefined && isType(run.gpuType, gpuName, gpus)
  const fitting = once((key: string) => {
    const [name = '', gpuName = '', gpuCount, asRequested] = key.split('\0')
    const isSameType = (run: EarlierRun) =>
      isOn(run, gpuName) || (asRequested !== '' && (run.gpuType === undefined || gpuName === ''))
    return alike(name).filter(run => run.gpus === Number(gpuCount) && isSameType(run))
  })
  // Types that are spelled alike have the same runs.
  const groups = new Map<string, Group | undefined>()
  return {
    knows: job => alike(job.name).length > 0,
    isNumbered: (job, id) => isTelling(job.name) && alike(job.name).some(run => run.id === id),
    forecast(job, gpuName, gpuCount, asRequested) {
      const runs = fitting([job.name, gpuName, gpuCount, asRequested ? 'asked for' : ''].join('\0'))
      const key = runs.map(keyOf).join('\0')
      if (!groups.has(key)) groups.set(key, groupOf(runs, kept, asker.user))
      const group = groups.get(key)
      return group === undefined ? undefined : forecastOf(job, group, asker, kept.source)
    },
    gpusOf(job) {
      const counts = new Map<string, { gpuName: string; gpuCount: number; runs: number }>()
      for (const { gpuType, gpus: gpuCount, state } of alike(job.name)) {
        const [gpu, ...others] = gpuType === undefined ? [] : findGpus(gpuType, gpus)
        // Of a spelling that leaves the type open, or is a slice, no speed is known.
        if (gpu === undefined || gpuType === undefined || state !== 'completed' || migProfileIn(gpuType)) continue
        const gpuName = others.length === 0 ? gpu.name : gpuType
        const known = counts.get(`${gpuCount} ${gpuName}`) ?? { gpuName, gpuCount, runs: 0 }
        known.runs++
        counts.set(`${gpuCount} ${gpuName}`, known)
      }
      return [...counts.values()].sort((a, b) => b.runs - a.runs)
    },
    uncounted(job) {
      const runs = isTelling(job.name) ? alike(job.name) : []
      if (runs.some(isWhole)) return { short: 0, interrupted: 0 }
      return {
        short: runs.filter(({ state }) => state === 'completed').length,
        // Every start of a job that was requeued is a record.
        interrupted: new Set(runs.filter(isInterrupted).map(({ id }) => id)).size,
      }
    },
  }
}

/** Whether a type as Slurm or a node label spells it is the GPU, or the slice of it (`a100-80gb 3g.40gb`). */
function isType(spelling: string, gpuName: string, gpus: readonly Gpu[]): boolean {
  const [whole, slice] = gpuName.split(' ')
  return migProfileIn(spelling) === slice && findGpus(spelling, gpus).some(gpu => gpu.name === whole)
}

/** Runs of one name on the same GPUs. */
interface Group {
  readonly runs: readonly EarlierRun[]
  readonly completed: readonly EarlierRun[]
  readonly history: RunHistory
  /** Whose runs it goes by: the asker's own, or of whoever ran it last where he never did (a colleague's job, CI). */
  readonly latest: EarlierRun
}

/** Runs that are forecast one after the other to learn how wide ranges have to be: each takes a millisecond. */
const learnedRuns = 20

function groupOf(runs: readonly EarlierRun[], kept: KeptRuns, user: string): Group | undefined {
  const byEnd = runs.toSorted((a, b) => a.endSeconds - b.endSeconds)
  const completed = byEnd.filter(isWhole)
  const latest = completed.findLast(run => run.user === user) ?? completed.at(-1)
  if (latest === undefined) return undefined
  const known = new Set(runs.map(keyOf))
  const others = kept.latest.filter(run => !known.has(keyOf(run)))
  // All of one type, so that types are not compared by their spelling.
  const history = historyOf(
    [...byEnd, ...others].map(({ gpuType: _, ...run }) => run),
    learnedRuns,
  )
  return { runs: byEnd, completed, history, latest }
}

function isWhole({ state, elapsedSeconds }: EarlierRun): boolean {
  return state === 'completed' && elapsedSeconds >= shortestSeconds
}

function isInterrupted({ state }: EarlierRun): boolean {
  return state === 'interrupted'
}

function keyOf({ submitSeconds, id }: EarlierRun): string {
  return `${submitSeconds} ${id}`
}

function forecastOf(job: Job, group: Group, asker: Asker, source: string): PastForecast | undefined {
  const limitSeconds = limitOf(job)
  const request = requestOf(job, group.latest, asker, limitSeconds)
  const forecast = group.history.forecast(request)
  const { limitSeconds: _, ...unlimited } = request
  const unlimitedSeconds = group.history.forecast(unlimited)?.seconds
  // A name that says nothing (`wrap`) has no runs of its own.
  if (forecast === undefined || forecast.runsOfName === 0 || unlimitedSeconds === undefined) return undefined
  return {
    seconds: forecast.seconds,
    unlimitedSeconds,
    // Not of the range that the limit cuts.
    narrow: unlimitedSeconds.p90 <= 2 * unlimitedSeconds.p10,
    ...(limitSeconds !== undefined && forecast.limitChance !== undefined && { limitChance: forecast.limitChance }),
    endings: endingsOf(group.runs),
    completed: {
      count: group.completed.length,
      lastEndSeconds: group.runs.at(-1)?.endSeconds ?? group.latest.endSeconds,
      source,
    },
    seen: group.completed
      .slice(-latestRuns)
      .map(({ id, startSeconds, endSeconds }) => ({ id, startSeconds, endSeconds })),
  }
}

/** What the manifest leaves to the site's defaults is as it was in the latest run. */
function requestOf(job: Job, latest: EarlierRun, asker: Asker, limitSeconds: number | undefined): RunRequest {
  const { nodes, cpus } = latest
  const limit = limitSeconds ?? chosenLimit(latest)
  return {
    name: asker.nameOf(job.name),
    user: latest.user,
    account: latest.account,
    partition:
      job.destination['partition']?.includes(latest.partition) === false
        ? job.destination['partition']
        : latest.partition,
    qos: job.destination['qos'] ?? latest.qos,
    submitSeconds: asker.nowSeconds,
    gpus: latest.gpus,
    ...(nodes !== undefined && { nodes }),
    ...(cpus !== undefined && { cpus }),
    ...(limit !== undefined && { limitSeconds: limit }),
  }
}

/** Of one task, where every role that holds GPUs has one; the longest counts. */
function limitOf(job: Job): number | undefined {
  const limits = job.roles
    .filter(role => role.gpuCount.value > 0)
    .map(role => (role.limitSpansTasks === true ? undefined : role.timeLimitSeconds?.value))
  return limits.reduce((a, b) => (a === undefined || b === undefined ? undefined : Math.max(a, b)), limits[0])
}

/** How many of the latest runs tell a risk: what is older was perhaps another program. */
const latestRuns = 20

function endingsOf(runs: readonly EarlierRun[]): Endings {
  const latest = runs.filter(run => run.state !== 'interrupted').slice(-latestRuns)
  const count = (...states: readonly EarlierRun['state'][]) => latest.filter(run => states.includes(run.state)).length
  return {
    runs: latest.length,
    failed: count('failed', 'out-of-memory'),
    cancelled: count('cancelled'),
    timedOut: count('timeout'),
  }
}
