import * as z from 'zod'

const Place = z.strictObject({
  file: z.string(),
  line: z.int().positive().optional(),
  column: z.int().positive().optional(),
})
const Range = z.strictObject({ p10: z.number(), p50: z.number(), p90: z.number() })

const money = {
  totalUsd: Range.optional().describe('absent where it is not known, or only a bound is'),
  upperBoundUsd: z.number().optional().describe('what the time limit lets it cost'),
  usdPerHour: z.number().optional(),
}
const runtime = {
  runtimeSeconds: Range.optional().describe('of one task'),
  runtimeUpperBoundSeconds: z.number().optional().describe('where only the time limit is known'),
}

const Job = z.strictObject({
  name: z.string(),
  kind: z.string(),
  place: Place,
  team: z.string().optional(),
  gpuCount: z.number().describe('GPUs at one time'),
  gpus: z.string(),
  basis: z.enum(['history', 'measured', 'declared', 'model', 'limit']).optional(),
  ...runtime,
  gpuHours: z.union([Range, z.strictObject({ upperBound: z.number() })]).optional(),
  ...money,
  candidates: z
    .array(
      z.strictObject({
        asRequested: z.boolean(),
        gpus: z.string(),
        offer: z.string(),
        ...runtime,
        canRun: z.boolean(),
        note: z.string().optional(),
        ...money,
      }),
    )
    .describe('as written, then at most three others that can run, cheapest first'),
  warnings: z.array(z.string()),
})

const Finding = z.strictObject({
  rule: z.string(),
  level: z.enum(['warn', 'deny']),
  jobName: z.string(),
  place: Place,
  message: z.string(),
  remedy: z.string(),
  exemption: z
    .strictObject({ rule: z.string(), reason: z.string(), until: z.string(), place: Place })
    .optional()
    .describe('present where it was let pass'),
})

/** What `check --format json` prints. The published JSON Schema is made from it. */
export const CheckDocument = z.strictObject({
  schemaVersion: z.literal(1),
  verdict: z.enum(['pass', 'warn', 'deny', 'broken', 'unknown']),
  currency: z
    .strictObject({ code: z.string(), perUsd: z.number(), source: z.string().optional() })
    .describe('of texts; all amounts here are US dollars'),
  filesLookedAt: z.int(),
  filesWithJobs: z.int(),
  jobsPriced: z.int(),
  jobsUnknown: z.int(),
  jobs: z.array(Job),
  findings: z.array(Finding),
  faults: z.array(z.strictObject({ place: Place, message: z.string(), hint: z.string().optional() })),
  notRendered: z
    .array(z.strictObject({ file: z.string(), reason: z.string() }))
    .describe('charts, kustomizations and templates: seen and not priced'),
  base: z
    .strictObject({
      revision: z.string(),
      changes: z.array(
        z.strictObject({
          file: z.string(),
          renamedFrom: z.string().optional(),
          before: Job.optional().describe('absent where the job is new'),
          after: Job.optional().describe('absent where it was deleted'),
          differenceUsd: z.number().optional().describe('of the medians, or of the bounds where only these are known'),
        }),
      ),
    })
    .optional(),
  remarks: z.array(z.string()),
})

/** JSON Schema (draft 2020-12) of `check --format json`. */
export function checkJsonSchema(): object {
  return { title: 'gpufare check', ...z.toJSONSchema(CheckDocument) }
}
