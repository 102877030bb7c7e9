import { type Config, emptyConfig } from '../../src/config.ts'
import type { Fare } from '../../src/fare.ts'
import { exemptionOf, policyOf } from '../../src/rulebook.ts'
import type { ExemptionRow, PolicyRow } from '../../src/rulebook-schema.ts'
import { checkRules } from '../../src/rules/index.ts'
import type { RuleContext } from '../../src/rules/subject.ts'
import { usDollars } from '../../src/units.ts'

/** A configuration with these policies, of a repository's own file unless it is trusted. */
export function configWith(policies: readonly PolicyRow[], more: Partial<Config> = {}, trusted = false): Config {
  const context = { currency: more.currency ?? usDollars, place: { file: 'gpufare.yaml', line: 1 }, trusted }
  return { ...emptyConfig, ...more, policies: policies.map(row => policyOf(row, context)) }
}

export function exemptionsOf(rows: readonly ExemptionRow[], trusted = false): Config['exemptions'] {
  const context = { currency: usDollars, place: { file: 'gpufare.yaml', line: 9 }, trusted }
  return rows.map(row => exemptionOf(row, context))
}

/** What one policy finds in a job. */
export function findingsOf(
  policy: PolicyRow,
  fare: Fare,
  more: Partial<Config> = {},
  context: Partial<RuleContext> = {},
) {
  return checkRules(fare, configWith([policy], more), { today: '2026-11-30', ...context })
}
