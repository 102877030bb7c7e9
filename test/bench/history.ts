import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readSacct } from '../../src/accounting/sacct-text.ts'
import { chosenLimit, type EarlierRun, reachedLimit } from '../../src/history/earlier-run.ts'
import { shortestSeconds } from '../../src/history/log-histogram.ts'
import { RunHistory } from '../../src/history/predict.ts'

/*
 * How well runtimes are foreseen from earlier runs: npm run bench:history -- FILE.psv [--warm EARLIER.psv] [--json]
 *
 * Jobs come in the order of submission, and only runs that had ended by then are known. Rows of --warm are known but not scored.
 * Scored are completed runs of a minute and more; for the chance to hit the limit all that have a limit and were not cancelled.
 */

interface Estimate {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

interface Scored {
  readonly run: EarlierRun
  readonly estimate: Estimate
}

interface Rates {
  hit: number
  seen: number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { warm: { type: 'string', multiple: true }, json: { type: 'boolean' } },
})
if (positionals.length === 0) throw new Error('name a file of sacct -P')

const scoredRuns = positionals.flatMap(read)
const warmRuns = (values.warm ?? []).flatMap(read)
const scores = walk(warmRuns, scoredRuns)
process.stdout.write(values.json === true ? `${JSON.stringify(scores.own)}\n` : describe(scores))

function read(file: string): readonly EarlierRun[] {
  return readSacct(readFileSync(file, 'utf8')).runs
}

function walk(warm: readonly EarlierRun[], asked: readonly EarlierRun[]) {
  // Two files may number their jobs alike.
  const runs = [...warm.map(run => ({ ...run, id: `warm ${run.id}` })), ...asked]
  const isAsked = new Set(asked.map(run => run.id))
  const submitted = runs.toSorted((a, b) => a.submitSeconds - b.submitSeconds)
  const ended = runs.toSorted((a, b) => a.endSeconds - b.endSeconds)
  const history = new RunHistory()
  const lastTwo = new Map<string, readonly number[]>()
  const own: Scored[] = []
  const tsafrir: Scored[] = []
  const byLimit: Scored[] = []
  let jobs = 0
  const limit = { count: 0, brier: 0, brierUser: 0, brierSite: 0 }
  const site: Rates = { hit: 0, seen: 0 }
  const users = new Map<string, Rates>()
  let next = 0
  for (const run of submitted) {
    for (; (ended[next]?.endSeconds ?? Infinity) <= run.submitSeconds; next++) {
      const known = ended[next]
      if (known !== undefined) end(known)
    }
    const forecast = history.open(run.id, run)
    if (!isAsked.has(run.id)) continue
    if (run.state === 'completed' && run.elapsedSeconds >= shortestSeconds) {
      jobs++
      if (forecast !== undefined) own.push({ run, estimate: forecast.seconds })
      const two = lastTwo.get(run.user)
      if (two !== undefined) tsafrir.push({ run, estimate: only(two.reduce((a, b) => a + b) / two.length) })
      const chosen = chosenLimit(run)
      if (chosen !== undefined) byLimit.push({ run, estimate: only(chosen) })
    }
    if (chosenLimit(run) !== undefined && run.state !== 'cancelled' && run.state !== 'interrupted') {
      const rates = users.get(run.user) ?? { hit: 0, seen: 0 }
      const siteRate = (site.hit + 0.5) / (site.seen + 1)
      const userRate = rates.seen === 0 ? siteRate : rates.hit / rates.seen
      const hit = reachedLimit(run) ? 1 : 0
      limit.count++
      limit.brier += ((forecast?.limitChance ?? history.limitChance(run) ?? siteRate) - hit) ** 2
      limit.brierUser += (userRate - hit) ** 2
      limit.brierSite += (siteRate - hit) ** 2
    }
  }

  function end(run: EarlierRun): void {
    history.add(run)
    if (run.state === 'completed')
      lastTwo.set(run.user, [...(lastTwo.get(run.user) ?? []), run.elapsedSeconds].slice(-2))
    if (chosenLimit(run) === undefined || run.state === 'cancelled' || run.state === 'interrupted') return
    const rates = users.get(run.user) ?? { hit: 0, seen: 0 }
    users.set(run.user, rates)
    for (const each of [site, rates]) {
      each.hit += reachedLimit(run) ? 1 : 0
      each.seen++
    }
  }

  const narrow = own.filter(({ estimate }) => estimate.p90 <= 2 * estimate.p10 * (1 + 1e-9))
  const { pinball: _, ...narrowScores } = scoresOf(narrow)
  return {
    own: {
      jobs,
      predicted: own.length,
      ...scoresOf(own),
      narrow: { share: narrow.length / own.length, ...narrowScores },
      limit: {
        brier: limit.brier / limit.count,
        brierUser: limit.brierUser / limit.count,
        brierSite: limit.brierSite / limit.count,
      },
    },
    tsafrir: scoresOf(tsafrir),
    byLimit: scoresOf(byLimit),
  }
}

/** A prediction without a range. */
function only(seconds: number): Estimate {
  const p50 = Math.max(1, seconds)
  return { p10: p50, p50, p90: p50 }
}

function scoresOf(scored: readonly Scored[]) {
  const share = (holds: (each: Scored) => boolean) => scored.filter(holds).length / scored.length
  const errors = scored
    .map(({ run, estimate }) => Math.abs(estimate.p50 / run.elapsedSeconds - 1))
    .sort((a, b) => a - b)
  const middle = errors.length / 2
  return {
    medianApe: ((errors[Math.ceil(middle) - 1] ?? Number.NaN) + (errors[Math.floor(middle)] ?? Number.NaN)) / 2,
    withinTwo: share(({ run, estimate }) => {
      const ratio = estimate.p50 / run.elapsedSeconds
      return ratio <= 2 && ratio >= 0.5
    }),
    insideRange: share(({ run, estimate }) => run.elapsedSeconds >= estimate.p10 && run.elapsedSeconds <= estimate.p90),
    pinball: scored.reduce((sum, each) => sum + pinballOf(each), 0) / scored.length,
  }
}

/** Mean over P10, P50 and P90 of the pinball loss on ln(seconds). */
function pinballOf({ run, estimate }: Scored): number {
  const losses = [[0.1, estimate.p10] as const, [0.5, estimate.p50] as const, [0.9, estimate.p90] as const].map(
    ([share, seconds]) => {
      const miss = Math.log(run.elapsedSeconds / seconds)
      return Math.max(share * miss, (share - 1) * miss)
    },
  )
  return losses.reduce((a, b) => a + b) / losses.length
}

function describe({ own, tsafrir, byLimit }: ReturnType<typeof walk>): string {
  const percent = (share: number) => (Number.isNaN(share) ? '-' : `${(100 * share).toFixed(1)} %`)
  const row = (name: string, { medianApe, withinTwo, insideRange, pinball }: ReturnType<typeof scoresOf>) =>
    `${name.padEnd(28)}${[percent(medianApe), percent(withinTwo), percent(insideRange), pinball.toFixed(3)].map(cell => cell.padStart(12)).join('')}\n`
  const { narrow, limit } = own
  return [
    `${own.jobs} completed runs of a minute and more, ${own.predicted} predicted\n`,
    `${''.padEnd(28)}${['median APE', 'within 2x', 'P10-P90', 'pinball'].map(cell => cell.padStart(12)).join('')}\n`,
    row('gpufare', own),
    row('the limit', byLimit),
    row('mean of the last two', tsafrir),
    `narrow (P90/P10 <= 2): ${percent(narrow.share)} of runs, median APE ${percent(narrow.medianApe)}, within 2x ${percent(narrow.withinTwo)}, held ${percent(narrow.insideRange)}\n`,
    `limit reached, Brier score: ${limit.brier.toFixed(4)}; the user's own rate ${limit.brierUser.toFixed(4)}, the site's ${limit.brierSite.toFixed(4)}\n`,
  ].join('')
}
