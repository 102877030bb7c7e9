import type { Config } from './config.ts'
import type { Job } from './job.ts'

/**
 * A tag of a job, as costs are told apart by (FinOps FOCUS, "Tags"): what a manifest declares, then its scheduler's labels, then the
 * configuration. `team` and `cost-center` have keys of their own, and may be labels like all others.
 */
export function tagOf(name: string, { declarations, labels }: Job, config: Config): string | undefined {
  const declared = { team: declarations.team, 'cost-center': declarations.costCenter }
  const configured = { team: config.team, 'cost-center': config.costCenter }
  return (
    ownEntry(declared, name)?.value ??
    ownEntry(declarations.tags, name) ??
    ownEntry(labels, name) ??
    ownEntry(configured, name)?.value ??
    ownEntry(config.tags, name)
  )
}

function ownEntry<T>(entries: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined
}
