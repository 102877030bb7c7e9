import type { EarlierRun } from '../history/earlier-run.ts'

/** Time zones lie so many seconds apart, or a multiple of it, and at most 26 hours (-12 to +14). */
const zoneStepSeconds = 900
const widestSeconds = 93_600

/** A job that is requeued counts as submitted then; Slurm may take a moment to write either. */
const requeueSeconds = 60

/**
 * The runs of both, each once, in the order of submission; what was read last is believed. A run that was begun again says nothing of how
 * long the work takes, whether it went on from where it was or not.
 */
export function mergeRuns(known: readonly EarlierRun[], added: readonly EarlierRun[]): readonly EarlierRun[] {
  const byKey = new Map([...known, ...added].map(run => [`${run.submitSeconds} ${run.id}`, run]))
  return withoutBegunAgain(withoutTwins([...byKey.values()])).toSorted(inOrder)
}

/** The order that runs are written in: two branches that add some seldom touch the same line. */
export function inOrder(a: EarlierRun, b: EarlierRun): number {
  return a.submitSeconds - b.submitSeconds || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

/** Without runs that were read once more in another time zone (`sacct` prints local times), or without when they were submitted. */
function withoutTwins(runs: readonly EarlierRun[]): readonly EarlierRun[] {
  const kinds = new Map<string, EarlierRun[]>()
  for (const run of runs) {
    const { id, elapsedSeconds, gpus, startSeconds } = run
    const key = [id, elapsedSeconds, gpus, startSeconds % zoneStepSeconds].join(' ')
    const alike = kinds.get(key)
    const twin = alike?.findIndex(each => Math.abs(each.startSeconds - startSeconds) <= widestSeconds) ?? -1
    if (alike === undefined) kinds.set(key, [run])
    else if (twin >= 0) alike[twin] = run
    else alike.push(run)
  }
  return [...kinds.values()].flat()
}

/** Completed runs whose job had been interrupted just before are told as interrupted, too. */
function withoutBegunAgain(runs: readonly EarlierRun[]): readonly EarlierRun[] {
  const last = new Map<string, EarlierRun>()
  return runs.toSorted(inOrder).map(run => {
    const before = last.get(run.id)
    last.set(run.id, run)
    const isAgain = before?.state === 'interrupted' && Math.abs(run.submitSeconds - before.endSeconds) <= requeueSeconds
    return isAgain && run.state === 'completed' ? { ...run, state: 'interrupted' } : run
  })
}
