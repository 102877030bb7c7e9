import type { Config } from '../config.ts'
import { type Broken, exempt } from '../exemptions.ts'
import type { Fare } from '../fare.ts'
import type { Finding } from '../finding.ts'
import type { Policy } from '../rulebook.ts'
import { endlessSession } from './endings.ts'
import { doesNotFit, forbiddenGpu, gpuCount, idleGpus } from './gpus.ts'
import { noGang, spotWithoutCheckpoint } from './interruptions.ts'
import { costIncrease, costIncreasePercent, describeUnknown, hourlyCost, jobCost, unknownCost } from './money.ts'
import type { Breach, Rule } from './rule.ts'
import { type RuleContext, type Subject, subjectOf, timeLine } from './subject.ts'
import { requiredTags } from './tags.ts'
import { requiredTimeLimit, runtime, timeLimitSlack } from './time.ts'
import { isAbout } from './where.ts'

/** Every rule that a policy can name, in the order in which `gpufare policy explain` lists them. */
export const rules: readonly Rule[] = [
  jobCost,
  hourlyCost,
  costIncrease,
  costIncreasePercent,
  unknownCost,
  gpuCount,
  runtime,
  timeLimitSlack,
  requiredTimeLimit,
  requiredTags,
  forbiddenGpu,
  endlessSession,
  noGang,
  spotWithoutCheckpoint,
  doesNotFit,
  idleGpus,
]

/**
 * How a job breaks the policies that are about it, in the order of the policies; what is exempt is among them and says so.
 * Budgets are checked for all jobs of a call together, by `checkBudgets`.
 */
export function checkRules(fare: Fare, config: Config, context: RuleContext): readonly Finding[] {
  if (config.policies.length === 0) return []
  const subject = subjectOf(fare, config, context)
  // A job without GPUs costs what gpufare does not count.
  if (subject.roles.length === 0) return []
  const policies = config.policies.filter(({ where }) => isAbout(where, subject))
  const broken = policies.flatMap(policy =>
    (findRule(policy.rule)?.check(subject, policy) ?? []).map(breach => ({
      policy,
      finding: findingOf(breach, policy, subject),
    })),
  )
  const exemptions = {
    written: config.exemptions.filter(({ where }) => isAbout(where, subject)),
    declared: fare.job.declarations.exemptions ?? [],
  }
  return exempt([...broken, ...uncomparable(policies, subject)], exemptions, context.today)
}

/** The rule of this id. */
export function findRule(id: string): Rule | undefined {
  return rules.find(rule => rule.id === id)
}

function findingOf(breach: Breach, policy: Policy, { fare }: Subject): Finding {
  return { rule: policy.rule, jobName: fare.job.name, ...breach }
}

/** A limit on an amount must not be passed in silence by a job of which no amount is known. */
function uncomparable(policies: readonly Policy[], subject: Subject): readonly Broken[] {
  const { totalUsd, upperBoundUsd } = subject.money
  const isCompared = subject.context.change !== undefined
  const [policy] = policies.filter(
    ({ rule }) => rule === jobCost.id || (isCompared && [costIncrease.id, costIncreasePercent.id].includes(rule)),
  )
  const isJudged = policies.some(({ rule }) => rule === unknownCost.id)
  if (policy === undefined || isJudged || totalUsd !== undefined || upperBoundUsd !== undefined) return []
  const { message, remedy } = describeUnknown(subject)
  const breach = { message: `${message}, so ${policy.rule} can't be compared`, remedy }
  const finding = findingOf({ level: 'warn', place: timeLine(subject), ...breach }, policy, subject)
  return [{ policy, finding: { ...finding, rule: unknownCost.id } }]
}
