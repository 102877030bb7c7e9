import type { Exemption, Finding } from './finding.ts'
import type { Policy, WrittenExemption } from './rulebook.ts'

/** A finding, and how far the policy behind it lets itself be lifted. */
export interface Broken {
  readonly policy: Pick<Policy, 'trusted' | 'selfExempt'>
  readonly finding: Finding
}

/** The exemptions that are about a job. */
export interface Exemptions {
  /** Of configuration files. */
  readonly written: readonly WrittenExemption[]
  /** Of the manifest itself. */
  readonly declared: readonly Exemption[]
}

/**
 * The findings, those that are exempt marked as such. An exemption that was good until yesterday is a finding of its own that
 * denies: somebody promised to be done by then.
 *
 * Who may exempt: a file may where it is trusted as far as the policy, so a repository lifts its own policies but not those of
 * the user, the site, `--policy` or the base revision. A manifest is written by whoever submits it, so it lifts only warnings,
 * unless the policy says `self-exempt: true`: otherwise every limit that denies could be passed by a comment, and a pull
 * request would approve itself.
 */
export function exempt(broken: readonly Broken[], exemptions: Exemptions, today: string): readonly Finding[] {
  return broken.flatMap(({ policy, finding }): readonly Finding[] => {
    const possible = [
      ...exemptions.written.filter(({ trusted }) => trusted || !policy.trusted),
      ...(finding.level === 'warn' || policy.selfExempt ? exemptions.declared : []),
    ].filter(({ rule }) => rule === finding.rule)
    if (possible.length > 0) return lift(finding, possible, today)
    const declared = exemptions.declared.find(({ rule }) => rule === finding.rule)
    return [declared === undefined ? finding : { ...finding, remedy: `${finding.remedy}; ${notAllowed(declared)}` }]
  })
}

/** A finding that these exemptions are about: marked while one holds, else with a finding of its own about the one that ended. */
export function lift(finding: Finding, exemptions: readonly Exemption[], today: string): readonly Finding[] {
  const valid = exemptions.find(({ until }) => until >= today)
  if (valid !== undefined) return [{ ...finding, exemption: plain(valid) }]
  const [expired] = exemptions
  return expired === undefined ? [finding] : [finding, expiredFinding(expired, finding)]
}

function plain({ rule, reason, until, place }: Exemption): Exemption {
  return { rule, reason, until, place }
}

function expiredFinding({ rule, reason, until, place }: Exemption, { jobName }: Finding): Finding {
  return {
    rule: 'expired-exemption',
    level: 'deny',
    jobName,
    place,
    message: `the exemption from ${rule} ended on ${until} (${reason}), and the job still breaks the rule`,
    remedy: 'change the job, or give the exemption a new last day or take it away',
  }
}

function notAllowed({ rule, place }: Exemption): string {
  return `the exemption in line ${place.line ?? '?'} does not count: a manifest can't exempt itself from ${rule} where it denies, gpufare.yaml can`
}
