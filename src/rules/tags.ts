import type { Rule } from './rule.ts'

export const requiredTags: Rule = {
  id: 'required-tags',
  explanation: 'Wants every job to say who pays for it, in the manifest or in a gpufare.yaml above it.',
  settings: ['tags: team, cost-center, or both'],
  example: '{rule: required-tags, tags: [team, cost-center], level: deny}',
  smallestChange: 'the lines that are missing',
  check({ fare: { job }, team, costCenter }, policy) {
    const known = { team, 'cost-center': costCenter }
    const missing = policy.requiredTags.filter(tag => known[tag] === undefined)
    if (missing.length === 0) return []
    const lines = missing.map(tag =>
      job.scheduler === 'kubernetes' ? `annotation gpufare.dev/${tag}: NAME` : `#GPUFARE ${tag}=NAME`,
    )
    const message = `nobody is named who pays for it: ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing`
    const remedy = `${lines.join(' and ')}, or ${missing.join(' and ')} in gpufare.yaml, would pass`
    return [{ level: policy.level ?? 'warn', place: job.place, message, remedy }]
  },
}
