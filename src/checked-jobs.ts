import { describeGpus } from './candidates.ts'
import { type CandidateLine, type CheckedJob, comparedUsd, type JobChange, moneyOf, timeOf } from './check-report.ts'
import type { Config } from './config.ts'
import { describePlace } from './errors.ts'
import { canRun, type Fare, requestedQuotes } from './fare.ts'
import { gpusAtOnce } from './gpus-in-use.ts'
import { isSpot } from './prices/price-source.ts'
import { isStoppedShort, type Quote } from './quote.ts'
import { describeOffer } from './reporters/words.ts'
import { tagOf } from './tags.ts'
import type { Currency } from './units.ts'

/** Candidates kept beside the job as written. */
const mostOthers = 3

/** What a gate keeps of a job. */
export function checkedJobOf(fare: Fare, config: Config): CheckedJob {
  const { job, quotes, warnings } = fare
  const asWritten = dearest(requestedQuotes(fare))
  const runtime = asWritten?.runtime
  return {
    name: job.name,
    kind: job.kind,
    place: job.place,
    team: tagOf('team', job, config),
    gpuCount: gpusAtOnce(job),
    gpus: asWritten === undefined ? '' : describeGpus(asWritten.candidate),
    basis: runtime?.basis,
    ...timeOf(runtime),
    gpuHours: asWritten?.gpuHours,
    ...moneyOf(asWritten),
    candidates: linesOf(quotes, asWritten, config.currency),
    warnings: warnings.map(({ text, place }) =>
      place?.line === undefined ? text : `${describePlace({ file: place.file, line: place.line })}: ${text}`,
    ),
  }
}

/** Jobs that share their quotes share what is kept of them, too. */
const madeLines = new WeakMap<readonly Quote[], readonly CandidateLine[]>()

function linesOf(quotes: readonly Quote[], asWritten: Quote | undefined, currency: Currency): readonly CandidateLine[] {
  const known = madeLines.get(quotes)
  if (known !== undefined) return known
  const onSpot = asWritten !== undefined && isSpot(asWritten.tier)
  const others = quotes
    .filter(quote => !quote.candidate.asRequested && isSpot(quote.tier) === onSpot && canRun(quote.candidate))
    .filter(quote => !isStoppedShort(quote, asWritten))
    .sort((a, b) => orderOf(a) - orderOf(b))
    .slice(0, mostOthers)
  const lines = [...(asWritten === undefined ? [] : [asWritten]), ...others].map(quote => lineOf(quote, currency))
  madeLines.set(quotes, lines)
  return lines
}

/** Whether a job takes GPUs or other accelerators: what takes none costs nothing that is counted here. */
export function takesAccelerators({ job }: Pick<Fare, 'job'>): boolean {
  return job.roles.some(role => role.gpusPerReplica.value > 0 || role.otherAccelerators !== undefined)
}

/** The job of a file's earlier state that a job is: of its kind and name, or the only one where there is only one of each. */
export function counterpartOf<T extends Named>(job: Named, jobCount: number, earlier: readonly T[]): T | undefined {
  const same = earlier.find(each => each.kind === job.kind && each.name === job.name)
  return same ?? (earlier.length === 1 && jobCount === 1 ? earlier[0] : undefined)
}

interface Named {
  readonly kind: string
  readonly name: string
}

/** The jobs of one file before and after, each with its counterpart. */
export function compareJobs(
  file: string,
  before: readonly CheckedJob[],
  after: readonly CheckedJob[],
  renamedFrom?: string,
): readonly JobChange[] {
  const changeOf = (old: CheckedJob | undefined, now: CheckedJob | undefined): JobChange => ({
    file,
    ...(renamedFrom !== undefined && { renamedFrom }),
    before: old,
    after: now,
    differenceUsd: differenceOf(old, now),
  })
  const left = new Set(before)
  const matched = after.map(now => {
    const old = counterpartOf(now, after.length, [...left])
    if (old !== undefined) left.delete(old)
    return changeOf(old, now)
  })
  return [...matched, ...[...left].map(old => changeOf(old, undefined))]
}

/** Two figures are compared only where they are of one kind; a job that is new or gone is compared with nothing. */
function differenceOf(before: CheckedJob | undefined, after: CheckedJob | undefined): number | undefined {
  if (before !== undefined && after !== undefined) {
    if (before.totalUsd !== undefined && after.totalUsd !== undefined) return after.totalUsd.p50 - before.totalUsd.p50
    const isBounded = before.totalUsd === undefined && after.totalUsd === undefined
    if (!isBounded || before.upperBoundUsd === undefined || after.upperBoundUsd === undefined) return undefined
    return after.upperBoundUsd - before.upperBoundUsd
  }
  const figure = comparedUsd(after ?? before)
  return figure === undefined || after !== undefined ? figure : -figure
}

/** Lines that two texts must share to be one file under two names; git's own default (git-diff(1), `-M`). */
const sameShare = 0.5
/** Above so many pairs only equal texts are recognised, as git does (`-l`). */
const mostPairs = 250_000

/** For files that are new, the one among those gone that each was before. */
export function pairRenames(
  gone: ReadonlyMap<string, string>,
  added: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>()
  const left = new Map(gone)
  const take = (path: string, from: string) => {
    pairs.set(path, from)
    left.delete(from)
  }
  const byText = new Map([...gone].map(([path, text]) => [text, path]))
  for (const [path, text] of added) {
    const from = byText.get(text)
    if (from !== undefined && left.has(from)) take(path, from)
  }
  if (left.size * added.size > mostPairs) return pairs
  const alike = [...added].flatMap(([path, text]) =>
    [...left].map(([from, old]) => ({ path, from, share: sharedLines(old, text) })),
  )
  for (const { path, from, share } of alike.sort((a, b) => b.share - a.share)) {
    if (share >= sameShare && !pairs.has(path) && left.has(from)) take(path, from)
  }
  return pairs
}

function sharedLines(a: string, b: string): number {
  const [ours, theirs] = [a.split('\n'), b.split('\n')]
  const known = new Set(ours)
  const shared = theirs.filter(line => known.has(line)).length
  return shared / Math.max(ours.length, theirs.length)
}

function dearest(quotes: readonly Quote[]): Quote | undefined {
  return quotes.toSorted((a, b) => (comparedUsd(moneyOf(b)) ?? -1) - (comparedUsd(moneyOf(a)) ?? -1))[0]
}

function orderOf(quote: Quote): number {
  return comparedUsd(moneyOf(quote)) ?? quote.usdPerHour ?? Number.POSITIVE_INFINITY
}

function lineOf(quote: Quote, currency: Currency): CandidateLine {
  const { candidate, runtime } = quote
  return {
    asRequested: candidate.asRequested,
    gpus: describeGpus(candidate),
    offer: describeOffer(quote, currency),
    ...timeOf(runtime),
    canRun: canRun(candidate),
    ...moneyOf(quote),
  }
}
