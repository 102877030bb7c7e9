import { tagOf } from '../tags.ts'
import type { Rule } from './rule.ts'

/** Tags that have keys of their own. */
const ownKeys: ReadonlySet<string> = new Set(['team', 'cost-center'])

function keyOf(tag: string): string {
  return ownKeys.has(tag) ? tag : `tag.${tag}`
}

export const requiredTags: Rule = {
  id: 'required-tags',
  explanation: 'Wants every job to say who pays for it, in the manifest or in a gpufare.yaml above it.',
  settings: ['tags: team, cost-center, or any other tag or label'],
  example: '{rule: required-tags, tags: [team, cost-center], level: deny}',
  smallestChange: 'the lines that are missing',
  check({ fare: { job }, config }, policy) {
    const missing = policy.requiredTags.filter(tag => tagOf(tag, job, config) === undefined)
    if (missing.length === 0) return []
    const lines = missing.map(tag =>
      job.scheduler === 'kubernetes' ? `the label ${tag}` : `#GPUFARE ${keyOf(tag)}=NAME`,
    )
    const names = missing.join(' and ')
    const message = `what costs are told apart by is missing: ${names}`
    const remedy = `${lines.join(' and ')}, or ${names} in gpufare.yaml, would pass`
    return [{ level: policy.level ?? 'warn', place: job.place, message, remedy }]
  },
}
