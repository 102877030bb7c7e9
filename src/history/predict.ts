import { chosenLimit, type EarlierRun, type RunRequest } from './earlier-run.ts'
import { HonestRange, type Promised } from './honest-range.ts'
import { likenessOf, type Masked, masked, nameIsAlike } from './likeness.ts'
import { LimitChances } from './limit-chance.ts'
import {
  binOf,
  Cumulative,
  emptyHistogram,
  evenHistogram,
  type LogHistogram,
  shortestSeconds,
} from './log-histogram.ts'
import { type Circumstances, Mixture } from './mixture.ts'
import { RecentMap } from './recent-map.ts'
import { type Alike, batchesBefore, viewCount, viewsOf } from './views.ts'

/** What earlier runs say of a request. */
export interface Forecast {
  /** Of a run that comes to its end by itself and takes a minute at least; eight of ten should lie between p10 and p90. */
  readonly seconds: { readonly p10: number; readonly p50: number; readonly p90: number }
  /** P90/P10 is 2 at most: worth a single figure. */
  readonly narrow: boolean
  /** How likely the time limit ends it, 0 to 1; absent without a limit that somebody chose. */
  readonly limitChance?: number
  /** Shares of this user's latest runs, the most alike ones where there are any. */
  readonly failedShare: number
  readonly cancelledShare: number
  /** Completed runs of this user that it goes by, and how many of them have the name in common. */
  readonly runs: number
  readonly runsOfName: number
}

/** Runs of one user that are kept; a user's older ones no longer change a forecast. */
const mostRunsOfUser = 500
/** Users whose runs are kept; those without a run for longest are forgotten. */
const mostUsers = 2_000
/** Kinds of requests (partition, GPUs, limit) whose runtimes are kept for users without runs. */
const mostSiteKinds = 500
/** Half of what a site is known by is of the last 34 runs of a kind: users come in waves. */
const siteFading = 0.98
/** A kind of request with this many runs is believed as much as everything more general. */
const siteBackOffRuns = 2
/** Forecasts that wait for their run to end. */
const mostOpen = 20_000

interface UserRuns {
  readonly completed: Masked<EarlierRun>[]
  /** Every run that was not interrupted: for the chances to fail, to be cancelled and to reach the limit. */
  readonly all: Masked<EarlierRun>[]
}

interface SiteKind {
  readonly shares: LogHistogram
  total: number
}

/** What is remembered of a forecast until its run has ended. */
interface Open {
  /** Absent without a limit that somebody chose. */
  readonly opinions?: readonly number[]
  /** Absent where nothing was known of the runtime. */
  readonly runtime?: {
    readonly densities: (bin: number) => readonly number[]
    readonly circumstances: Circumstances
    readonly promised: Promised
  }
}

/**
 * What is known of earlier runs. Runs are added in the order they ended; `open` before a run and `add` after it let it
 * learn which ways of looking are right here, and how wide ranges have to be. Memory is bounded whatever is added.
 */
export class RunHistory {
  private readonly users = new RecentMap<UserRuns>(mostUsers)
  private readonly site = new RecentMap<SiteKind>(mostSiteKinds)
  private readonly mixture = new Mixture(viewCount)
  private readonly ranges = new HonestRange()
  private readonly limits = new LimitChances()
  private readonly opened = new RecentMap<Open>(mostOpen)

  /** What the runs added so far say of a request; undefined where none of them says anything. */
  forecast(request: RunRequest): Forecast | undefined {
    return this.look(request).forecast
  }

  /** Forecasts a run and remembers it under `id` until `add` tells how it ended. */
  open(id: string, request: RunRequest): Forecast | undefined {
    const { forecast, open } = this.look(request)
    this.opened.set(id, open)
    return forecast
  }

  /** How likely the time limit ends a run, 0 to 1, where nothing is known of its runtime, too; undefined without a limit that somebody chose. */
  limitChance(request: RunRequest): number | undefined {
    const opinions = this.limits.opinions(request, this.alikeOf(request).ended)
    return opinions && this.limits.chance(opinions)
  }

  /** A run has ended. */
  add(run: EarlierRun): void {
    const open = this.opened.get(run.id)
    this.opened.delete(run.id)
    if (run.state === 'interrupted') return
    const { completed, all } = this.runsOf(run.user)
    const known = masked(run)
    keep(all, known)
    if (run.state !== 'cancelled') this.limits.learn(run, open?.opinions)
    if (run.state !== 'completed' || run.elapsedSeconds < shortestSeconds) return
    const logSeconds = Math.log(run.elapsedSeconds)
    const bin = binOf(logSeconds)
    if (open?.runtime !== undefined) {
      const { densities, circumstances, promised } = open.runtime
      this.mixture.learn(densities(bin), circumstances)
      this.ranges.learn(promised, logSeconds)
    }
    keep(completed, known)
    for (const kind of siteKinds(run)) this.addToSite(kind, bin)
  }

  private look(request: RunRequest): { readonly forecast: Forecast | undefined; readonly open: Open } {
    const { completed, all, ended } = this.alikeOf(request)
    const opinions = this.limits.opinions(request, ended)
    const limit = opinions !== undefined && { opinions }
    if (completed.length === 0 && !this.site.has(everywhere)) return { forecast: undefined, open: { ...limit } }
    const views = viewsOf(request, completed, this.siteExpects(request))
    const circumstances = circumstancesOf(request, completed)
    const promised = this.ranges.promise(new Cumulative(this.mixture.blend(views, circumstances)), {
      user: request.user,
      batchesBefore: seconds => batchesBefore(completed, request.submitSeconds - seconds),
    })
    const longest = chosenLimit(request) ?? Infinity
    const secondsOf = (log: number) => Math.min(longest, Math.exp(log))
    const seconds = { p10: secondsOf(promised.p10), p50: secondsOf(promised.p50), p90: secondsOf(promised.p90) }
    const asked = masked(request)
    const forecast: Forecast = {
      seconds,
      narrow: seconds.p90 <= 2 * seconds.p10 * (1 + 1e-9),
      ...(opinions !== undefined && { limitChance: this.limits.chance(opinions) }),
      ...endings(all),
      runs: completed.length,
      runsOfName: completed.filter(({ known }) => nameIsAlike(asked, known)).length,
    }
    const densities = (bin: number) => views.map(view => view[bin] ?? 0)
    return { forecast, open: { ...limit, runtime: { densities, circumstances, promised } } }
  }

  /** The user's runs that are alike, oldest first; `ended` are those that nobody cancelled. */
  private alikeOf(request: RunRequest) {
    const asked = masked(request)
    const runs = this.users.get(request.user) ?? { completed: [], all: [] }
    const all = alikeAmong(runs.all, asked)
    return {
      completed: alikeAmong(runs.completed, asked),
      all,
      ended: all.filter(({ known }) => known.run.state !== 'cancelled'),
    }
  }

  private runsOf(user: string): UserRuns {
    const runs = this.users.get(user) ?? { completed: [], all: [] }
    this.users.set(user, runs)
    return runs
  }

  private addToSite(name: string, bin: number): void {
    const kind = this.site.get(name) ?? { shares: emptyHistogram(), total: 0 }
    for (let each = 0; each < kind.shares.length; each++) kind.shares[each] = (kind.shares[each] ?? 0) * siteFading
    kind.shares[bin] = (kind.shares[bin] ?? 0) + 1
    kind.total = kind.total * siteFading + 1
    this.site.set(name, kind)
  }

  /** What runs of others let expect, the most general kind first. */
  private siteExpects(request: RunRequest): LogHistogram {
    const expected = evenHistogram()
    for (const name of siteKinds(request)) {
      const kind = this.site.get(name)
      if (kind === undefined) continue
      for (let bin = 0; bin < expected.length; bin++) {
        expected[bin] =
          ((kind.shares[bin] ?? 0) + siteBackOffRuns * (expected[bin] ?? 0)) / (kind.total + siteBackOffRuns)
      }
    }
    return expected
  }
}

/** Runs that a history is made of; what ended before them no longer changes a forecast that people wait for. */
const mostRuns = 50_000

/** A history of the runs given, in whatever order; the last `learned` of them are replayed to learn from. */
export function historyOf(runs: readonly EarlierRun[], learned = 2_000): RunHistory {
  const history = new RunHistory()
  const ended = runs.toSorted((a, b) => a.endSeconds - b.endSeconds || (a.id < b.id ? -1 : 1)).slice(-mostRuns)
  const replayed = ended.slice(-learned).toSorted((a, b) => a.submitSeconds - b.submitSeconds)
  let next = 0
  for (const run of replayed) {
    for (; (ended[next]?.endSeconds ?? Infinity) <= run.submitSeconds; next++) addAt(history, ended, next)
    history.open(run.id, run)
  }
  for (; next < ended.length; next++) addAt(history, ended, next)
  return history
}

function addAt(history: RunHistory, runs: readonly EarlierRun[], index: number): void {
  const run = runs[index]
  if (run !== undefined) history.add(run)
}

const everywhere = 'everywhere'

/** Kinds of requests of any user, the most general first. */
function siteKinds({ partition, qos, gpus, limitSeconds }: RunRequest): readonly string[] {
  return [everywhere, `${partition} ${gpus > 0}`, `${partition} ${qos} ${gpus} ${limitSeconds ?? ''}`]
}

function alikeAmong(runs: readonly Masked<EarlierRun>[], asked: Masked<RunRequest>): readonly Alike[] {
  return runs
    .slice(-mostRunsOfUser)
    .map(known => ({ known, likeness: likenessOf(asked, known) }))
    .filter(({ likeness }) => likeness > 0)
}

/** Somebody who submits right after a run ended repeats it; a new request or a first one is another matter. */
function circumstancesOf(request: RunRequest, alike: readonly Alike[]): Circumstances {
  const best = alike.reduce((most, { likeness }) => Math.max(most, likeness), 0)
  const last = alike.at(-1)?.known.run
  const pause = last === undefined ? Infinity : request.submitSeconds - last.endSeconds
  const runs = Math.min(6, Math.floor(Math.log2(1 + alike.length)))
  return {
    shared: [
      'always',
      `likeness ${best}`,
      `pause ${pause < 600 ? 'short' : pause < 86_400 ? 'of a day' : 'long'}`,
      `runs ${runs}`,
    ],
    own: [`user ${request.user}`, `user ${request.user}, likeness ${best}`],
  }
}

/** How the latest of the most alike runs ended. */
function endings(all: readonly Alike[]): Pick<Forecast, 'failedShare' | 'cancelledShare'> {
  const best = all.reduce((most, { likeness }) => Math.max(most, likeness), 0)
  const latest = all.filter(({ likeness }) => likeness === best).slice(-20)
  const share = (...states: readonly EarlierRun['state'][]) =>
    latest.filter(({ known }) => states.includes(known.run.state)).length / Math.max(1, latest.length)
  return { failedShare: share('failed', 'out-of-memory'), cancelledShare: share('cancelled') }
}

/** Cut back only now and then, since to cut takes as long as to copy. */
function keep(runs: Masked<EarlierRun>[], run: Masked<EarlierRun>): void {
  runs.push(run)
  if (runs.length > 2 * mostRunsOfUser) runs.splice(0, mostRunsOfUser)
}
