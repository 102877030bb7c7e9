import * as z from 'zod'
import { exemptibleRules, policyRules } from './finding.ts'
import { isDay, parseDuration } from './units.ts'

const amount = z.number().nonnegative()
const name = z.string().min(1)
const names = z.union([name, z.array(name).min(1)])
const aDay = 'a day such as 2026-12-31 is expected'
const day = z.string(aDay).refine(isDay, aDay)
const aDuration = 'a duration such as 24h is expected'
const duration = z.string(aDuration).refine(text => parseDuration(text) !== undefined, aDuration)

const Where = z.strictObject({
  cluster: names.optional().describe('Clusters of this file'),
  path: names.optional().describe('Manifests, such as experiments/** or *.sbatch'),
  team: names.optional(),
  gpu: names.optional().describe('GPU types, by any usual name'),
  tag: z
    .record(name, name)
    .optional()
    .describe(
      'cost-center or any other tag or label, or where the job goes: account, partition, namespace, queue, qos',
    ),
})
const where = Where.optional().describe('The jobs it is about; all where left out')

/** What every policy may say. */
const common = {
  where,
  level: z.enum(['warn', 'deny']).optional(),
  'self-exempt': z.boolean().optional().describe('Manifests may exempt themselves even where this denies'),
}
const basis = z
  .enum(['p50', 'p90', 'bound'])
  .optional()
  .describe('The figure that counts: P50 where it denies, P90 where it warns, if left out')
const ofMoney = { ...common, basis, limit: amount.describe('In the currency of this file') }

/** Kinds of jobs that a policy can be about. */
export const jobKinds = ['session', 'train', 'evaluate', 'infer', 'serve', 'other'] as const

/** One policy as it is written. */
export const PolicyRow = z.discriminatedUnion(
  'rule',
  [
    z.strictObject({ rule: z.literal('job-cost'), ...ofMoney }),
    z.strictObject({
      rule: z.literal('hourly-cost'),
      ...common,
      limit: amount.describe('In the currency of this file'),
    }),
    z.strictObject({ rule: z.literal('cost-increase'), ...ofMoney }),
    z.strictObject({ rule: z.literal('cost-increase-percent'), ...common, basis, limit: amount.describe('Per cent') }),
    z.strictObject({ rule: z.literal('gpu-count'), ...common, limit: z.int().nonnegative() }),
    z.strictObject({ rule: z.literal('runtime'), ...common, basis, limit: duration }),
    z.strictObject({
      rule: z.literal('time-limit-slack'),
      ...common,
      limit: z.number().min(1).describe('The time limit may be so many times the P90 runtime'),
    }),
    z.strictObject({ rule: z.literal('unknown-cost'), ...common, basis: basis.describe('What has to be known') }),
    z.strictObject({
      rule: z.literal('required-tags'),
      ...common,
      tags: z.array(name).min(1).describe('Such as team, cost-center, project'),
    }),
    z.strictObject({ rule: z.literal('required-time-limit'), ...common }),
    z
      .strictObject({
        rule: z.literal('forbidden-gpu'),
        ...common,
        gpus: z.array(name).min(1).optional().describe('GPU types that are forbidden'),
        allowed: z.array(name).min(1).optional().describe('GPU types that alone are allowed; slice is any part of one'),
        jobs: z.array(z.enum(jobKinds)).min(1).optional().describe('The kinds of jobs it is about'),
      })
      .refine(({ gpus, allowed }) => (gpus === undefined) !== (allowed === undefined), 'gpus or allowed is expected'),
    z.strictObject({ rule: z.literal('endless-session'), ...common }),
    z.strictObject({ rule: z.literal('no-gang'), ...common }),
    z.strictObject({ rule: z.literal('spot-without-checkpoint'), ...common }),
    z.strictObject({ rule: z.literal('does-not-fit'), ...common }),
    z.strictObject({ rule: z.literal('idle-gpus'), ...common }),
  ],
  {
    error: ({ input }) =>
      typeof input === 'object' && input !== null
        ? `a rule is expected: ${policyRules.join(', ')}`
        : 'a mapping such as {rule: job-cost, limit: 500} is expected',
  },
)
export type PolicyRow = z.infer<typeof PolicyRow>

const Spent = z.discriminatedUnion('from', [
  z.strictObject({
    from: z.literal('file'),
    file: name.describe('CSV or JSON rows of date, team and amount or gpu-hours; beside this file'),
  }),
  z.strictObject({ from: z.literal('sacct'), account: names.describe('Slurm accounts') }),
  z.strictObject({ from: z.literal('sshare'), account: name.describe('Slurm account whose GrpTRESMins count') }),
])

const share = z.number().positive().describe('Per cent of the budget')

/** One budget as it is written. */
export const BudgetRow = z
  .strictObject({
    name: name.optional(),
    team: names.optional().describe('Teams whose jobs it pays; all where left out'),
    amount: amount.optional().describe('In the currency of this file'),
    'gpu-hours': amount.optional(),
    period: z.enum(['month', 'quarter', 'year']).optional(),
    from: day.optional().describe('First day, where it is no period of the calendar'),
    until: day.optional().describe('Last day'),
    'warn-at': share.optional().describe('80 where left out'),
    'deny-at': share.optional().describe('100 where left out'),
    basis: z.enum(['p50', 'p90']).optional().describe('Figure of a job that counts; p90 where left out'),
    spent: Spent.optional().describe('Where it is written what was spent; nothing was where left out'),
  })
  .refine(
    row => [row.amount, row['gpu-hours']].filter(each => each !== undefined).length + (isOfSlurm(row) ? 1 : 0) === 1,
    'amount or gpu-hours is expected, and neither of them with sshare, where Slurm knows the limit',
  )
  .refine(
    row => isOfSlurm(row) || (row.period !== undefined) !== (row.from !== undefined && row.until !== undefined),
    'period, or from and until, is expected',
  )
export type BudgetRow = z.infer<typeof BudgetRow>

function isOfSlurm(row: { readonly spent?: { readonly from: string } | undefined }): boolean {
  return row.spent?.from === 'sshare'
}

/** One exemption as it is written. */
export const ExemptionRow = z.strictObject({
  rule: z.enum(exemptibleRules),
  where,
  until: day.describe('Last day it holds'),
  reason: name,
})
export type ExemptionRow = z.infer<typeof ExemptionRow>
