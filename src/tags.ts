import type { Config } from './config.ts'
import type { Job } from './job.ts'
import { ownEntry } from './own-entry.ts'

/**
 * A tag of a job, as costs are told apart by (FinOps FOCUS, "Tags"): what a manifest declares, then its scheduler's labels, then the
 * configuration. `team` and `cost-center` have keys of their own, and may be labels like all others.
 */
export function tagOf(name: string, { declarations, labels }: Job, config: Config): string | undefined {
  const declared = { team: declarations.team, 'cost-center': declarations.costCenter }
  const configured = { team: config.team, 'cost-center': config.costCenter }
  return (
    entryOf(declared, name)?.value ??
    entryOf(declarations.tags, name) ??
    entryOf(labels, name) ??
    entryOf(configured, name)?.value ??
    entryOf(config.tags, name)
  )
}

function entryOf<T>(entries: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return entries && ownEntry(entries, name)
}
