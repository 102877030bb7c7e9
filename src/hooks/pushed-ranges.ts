import { type AskGit, linesOf } from './ask-git.ts'
import type { PushedRef, PushTarget } from './pushed-refs.ts'

/** Commits that a push brings to the remote: those of `head` that are in none of `bases`. */
export interface PushedRange {
  readonly head: string
  /**
   * The newest commits of the remote's that they stand on: usually one, several where branches of the remote were merged,
   * none where the remote has nothing in common with them.
   */
  readonly bases: readonly string[]
  readonly remoteRefs: readonly string[]
}

/**
 * What of each pushed ref the remote does not have, by all that is known of the remote: its side of the pushed refs and its
 * branches as last fetched. A ref that is deleted, or that brings no commit, is not among them.
 */
export async function findPushedRanges(
  refs: readonly PushedRef[],
  target: PushTarget,
  git: AskGit,
): Promise<readonly PushedRange[]> {
  const heads = await commitsOf(
    refs.map(ref => ref.localObject),
    git,
  )
  const known = await commitsOf(
    refs.map(ref => ref.remoteObject),
    git,
  )
  const branches = heads.some(head => head !== undefined) ? await branchesOf(target, git) : ''
  const ranges: PushedRange[] = []
  for (const head of new Set(heads)) {
    if (head === undefined) continue
    const bases = await findBases(
      head,
      known.filter(commit => commit !== undefined),
      branches,
      git,
    )
    const remoteRefs = refs.filter((_, index) => heads[index] === head).map(ref => ref.remoteRef)
    if (bases !== undefined) ranges.push({ head, bases, remoteRefs })
  }
  return ranges
}

/** Each object as the commit it is or tags; undefined where it is none or is not here. */
async function commitsOf(
  objects: readonly (string | undefined)[],
  git: AskGit,
): Promise<readonly (string | undefined)[]> {
  const asked = objects.filter(object => object !== undefined)
  if (asked.length === 0) return objects.map(() => undefined)
  const answers = await linesOf(
    git,
    ['cat-file', '--batch-check=%(objectname)'],
    asked.map(object => `${object}^{commit}\n`).join(''),
  )
  const commits = answers.map(answer => (/^[0-9a-f]{40,64}$/.test(answer) ? answer : undefined))
  return objects.map(object => (object === undefined ? undefined : commits[asked.indexOf(object)]))
}

/** Pattern of the branches that are known to be the remote's; those of all remotes where it is known by a URL alone. */
async function branchesOf({ name, url }: PushTarget, git: AskGit): Promise<string> {
  const { stdout } = await git(['config', '-z', '--get-regexp', '^remote\\..*\\.(push)?url$'])
  const remotes = stdout.split('\0').flatMap(setting => {
    const [, remote, address] = /^remote\.(.*)\.(?:push)?url\n(.*)$/s.exec(setting) ?? []
    return remote === undefined ? [] : [{ remote, address }]
  })
  const named =
    remotes.find(({ remote }) => remote === name) ?? remotes.find(({ address }) => address === (url ?? name))
  return named === undefined ? '--remotes' : `--remotes=${named.remote}`
}

/** Undefined where the remote has every commit of `head` already. */
async function findBases(
  head: string,
  known: readonly string[],
  branches: string,
  git: AskGit,
): Promise<readonly string[] | undefined> {
  const revisions = [head, ...known.map(commit => `^${commit}`)].map(line => `${line}\n`).join('')
  const lines = await linesOf(git, ['rev-list', '--boundary', '--stdin', '--not', branches], revisions)
  if (lines.every(line => line.startsWith('-'))) return undefined
  const boundary = lines.filter(line => line.startsWith('-')).map(line => line.slice(1))
  // an older one that a newer one contains says nothing
  return boundary.length > 1 ? linesOf(git, ['merge-base', '--independent', ...boundary]) : boundary
}
