import { chosenLimit, type RunRequest } from './earlier-run.ts'
import { isTelling, maskedName } from './names.ts'

/** A request with its masked name, which is worked out once. */
export interface Masked<T extends RunRequest> {
  readonly run: T
  readonly mask: string
}

/** Pairs a request with its masked name. */
export function masked<T extends RunRequest>(run: T): Masked<T> {
  return { run, mask: isTelling(run.name) ? maskedName(run.name) : '' }
}

/**
 * How alike two requests of one user are; 0 where they cannot be compared. Only the order of the values counts: a name
 * says more than a size and a time limit together (Menear et al., PEARC 2023: name and submit line carry the signal),
 * those two say equally much, and a place to run least.
 */
export function likenessOf(a: Masked<RunRequest>, b: Masked<RunRequest>): number {
  if (a.run.gpuType !== undefined && b.run.gpuType !== undefined && a.run.gpuType !== b.run.gpuType) return 0
  return (
    nameFactor(a, b) *
    (a.run.gpus === b.run.gpus && a.run.cpus === b.run.cpus && a.run.nodes === b.run.nodes ? 4 : 1) *
    (chosenLimit(a.run) === chosenLimit(b.run) ? 4 : 1) *
    (a.run.partition === b.run.partition && a.run.qos === b.run.qos ? 2 : 1)
  )
}

/** Likeness from which on two runs have the name in common, exactly or but for its digits. */
export function nameIsAlike(a: Masked<RunRequest>, b: Masked<RunRequest>): boolean {
  return nameFactor(a, b) > 1
}

function nameFactor(a: Masked<RunRequest>, b: Masked<RunRequest>): number {
  const { submitLineDigest } = a.run
  if (submitLineDigest !== undefined && submitLineDigest === b.run.submitLineDigest) return 16
  if (a.mask === '' || a.mask !== b.mask) return 1
  return a.run.name === b.run.name ? 16 : 6
}
