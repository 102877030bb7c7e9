import type { CheckReport } from '../check-report.ts'
import type { AskGit } from './ask-git.ts'
import { findPushedRepository } from './hook-repository.ts'
import { judgePush, type PushOutcome } from './outcome.ts'
import { findPushedRanges } from './pushed-ranges.ts'
import type { PushedRef, PushTarget } from './pushed-refs.ts'

/** What changed between two commits, or all of `head` where there is no base, priced and judged. */
export type CheckCommits = (folder: string, base: string | undefined, head: string) => Promise<CheckReport>

/** Checks the commits that a push brings to the remote; the work tree and the index count for nothing. */
export async function checkPush(
  refs: readonly PushedRef[],
  target: PushTarget,
  strict: boolean,
  git: AskGit,
  checkCommits: CheckCommits,
): Promise<PushOutcome> {
  const ranges = await findPushedRanges(refs, target, git)
  if (ranges.length === 0) return { exitCode: 0, text: '' }
  const folder = await findPushedRepository(git)
  const checked: CheckReport[][] = []
  for (const { head, bases } of ranges) {
    const reports: CheckReport[] = []
    for (const base of bases.length === 0 ? [undefined] : bases) reports.push(await checkCommits(folder, base, head))
    checked.push(reports)
  }
  return judgePush(checked, strict)
}
