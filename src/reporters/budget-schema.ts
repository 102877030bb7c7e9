import * as z from 'zod'

const Budget = z.strictObject({
  name: z.string(),
  teams: z.array(z.string()),
  file: z.string(),
  line: z.int().positive().optional(),
  from: z.string().optional().describe('first day, ISO 8601; absent where the period is Slurm’s own'),
  until: z.string().optional().describe('last day'),
  limitUsd: z.number().optional(),
  limitGpuHours: z.number().optional(),
  spentUsd: z.number().optional(),
  spentGpuHours: z.number().optional(),
  missing: z.string().optional().describe('why it is not known what is spent'),
  source: z.string().optional().describe('where it was read what is spent'),
  remarks: z.array(z.string()).optional(),
  warnAtShare: z.number(),
  denyAtShare: z.number(),
  usage: z.enum(['within', 'warn', 'deny']),
})

/** What `gpufare budget --format json` prints. The published JSON Schema is made from it. */
export const BudgetDocument = z.strictObject({
  schemaVersion: z.literal(1),
  currency: z
    .strictObject({ code: z.string(), perUsd: z.number(), source: z.string().optional() })
    .describe('of texts; all amounts here are US dollars'),
  budgets: z.array(Budget),
})

/** JSON Schema (draft 2020-12) of `budget --format json`. */
export function budgetJsonSchema(): object {
  return { title: 'gpufare budget', ...z.toJSONSchema(BudgetDocument) }
}
