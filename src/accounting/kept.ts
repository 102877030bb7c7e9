import { userInfo } from 'node:os'
import type { EarlierRun } from '../history/earlier-run.ts'
import { csvRuns } from './csv-runs.ts'
import { personOf, pseudonymMasker, pseudonymOf, withPseudonyms } from './digest.ts'
import { mergeRuns } from './merged-runs.ts'
import { askForRuns, keptRuns, quoteTimeoutMilliseconds, usualDays } from './query.ts'
import { type Tail, tailOf } from './tail.ts'

/** Where runs of a quote come from. */
export interface Sources {
  readonly file?: string
  /** The file as it is named to people. */
  readonly shown?: string
  readonly asksSlurm: boolean
  /** Runs that the cluster told of. */
  readonly others: readonly EarlierRun[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly nowSeconds: number
  readonly since?: number
  readonly user?: string
}

/** Bytes at the end of a file that are looked through, some 6,500 runs: as many as are read in the time of a quote. */
const tailBytes = 1_048_576

/** Runs of any name that are learned from: more take longer than somebody waits for, and change little. */
const latestRuns = 100

/** Runs of one name: beyond five times the longest half-life that forecasts know, weights are a thirtieth. */
const mostOfName = 150

/**
 * The runs of a repository's file and of Slurm's accounting under pseudonyms, which is how files have them. A file may be of any size: its
 * end is looked through, and only what has the name is read.
 */
export async function readKept(sources: Sources) {
  const { file, shown, asksSlurm, environment, nowSeconds } = sources
  const [tail, asked] = await Promise.all([
    file === undefined ? undefined : tailOf(file, tailBytes),
    asksSlurm ? runsOfSlurm(sources) : sources.others,
  ])
  const maskOf = pseudonymMasker()
  const byMask = groupedByMask(asked, run => maskOf(run.name))
  const linesByMask = groupedByMask(tail?.lines ?? [], line => maskOf(tail?.nameOf(line) ?? ''))
  const latest = [...runsOfLines(tail, tail?.lines.slice(-latestRuns) ?? []), ...asked.slice(-latestRuns)]
  return {
    alike(name: string): readonly EarlierRun[] {
      const mask = maskOf(name)
      const ofFile = runsOfLines(tail, linesByMask.get(mask)?.slice(-mostOfName) ?? [])
      const ofSlurm = byMask.get(mask)?.slice(-mostOfName) ?? []
      return mergeRuns(ofFile, ofSlurm.map(withPseudonyms))
    },
    latest: latest.map(withPseudonyms),
    source: [shown, asksSlurm ? 'sacct' : undefined, sources.others.length > 0 ? 'kubectl get' : undefined]
      .filter(each => each !== undefined)
      .join(' and '),
    asker: { user: personOf(sources.user ?? userOf(environment)), nowSeconds, nameOf: pseudonymOf },
  }
}

function groupedByMask<T>(all: readonly T[], maskOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const mask = maskOf(one)
    const group = groups.get(mask)
    if (group === undefined) groups.set(mask, [one])
    else group.push(one)
  }
  return groups
}

/** What is kept of earlier answers stands in for an answer that does not come. */
async function runsOfSlurm({ environment, nowSeconds, since, user }: Sources): Promise<readonly EarlierRun[]> {
  const whose = { environment, ...(user !== undefined && { user }) }
  const days = since ?? usualDays
  return askForRuns({ ...whose, nowSeconds, days, timeoutMilliseconds: quoteTimeoutMilliseconds }).catch(() =>
    keptRuns({ ...whose, nowSeconds, days }),
  )
}

function runsOfLines(tail: Tail | undefined, lines: readonly string[]): readonly EarlierRun[] {
  if (tail === undefined || lines.length === 0) return []
  const text = [tail.head, ...lines].join('\n')
  const read = csvRuns.read([{ path: '', bytes: new Uint8Array(), text }])
  return 'runs' in read ? read.runs.map(withPseudonyms) : []
}

/** Slurm knows users by the system's names, in lower case. */
function userOf(environment: Sources['environment']): string {
  try {
    return userInfo().username.toLowerCase()
  } catch {
    // an id without a name, as in containers
    return (environment['USER'] ?? '').toLowerCase()
  }
}
