import * as z from 'zod'

const Range = z.strictObject({ p10: z.number(), p50: z.number(), p90: z.number() })
const Ending = z
  .enum(['done', 'failed', 'timed out', 'cancelled', 'interrupted', 'running', 'waiting', 'gone', 'unknown'])
  .describe('gone: the cluster no longer has it, and what it took was not seen before')

const Job = z.strictObject({
  id: z.string(),
  cluster: z.string(),
  name: z.string(),
  user: z.string(),
  team: z
    .string()
    .describe("tag of the quote; where only the scheduler knows the job Slurm's account, the namespace of Kubernetes"),
  submitted: z.string().describe('ISO 8601, UTC'),
  gpus: z.string(),
  quoted: z.strictObject({
    basis: z.enum(['history', 'measured', 'declared', 'model', 'limit']).optional(),
    runtimeSeconds: Range.optional().describe('of one task'),
    runtimeUpperBoundSeconds: z.number().optional().describe('where only the time limit was known'),
    usd: Range.optional(),
    upperBoundUsd: z.number().optional(),
  }),
  ending: Ending.describe('of several tasks the one that needs most attention'),
  endings: z.partialRecord(Ending, z.number()).describe('tasks by how they ended'),
  restarts: z.number(),
  runtimeSeconds: z.number().optional().describe('of one task when it was last started; median of those that are done'),
  gpuHours: z.number().describe('of all tasks, components and starts'),
  usd: z.number().optional().describe('absent where the price is not known'),
  runtimeError: z.number().optional().describe('runtime over the quoted P50, less 1'),
  withinRange: z.boolean().optional(),
  waste: z.strictObject({
    failedUsd: z.number(),
    timedOutUsd: z.number().describe('0 where it goes on from a checkpoint'),
    cancelledUsd: z.number(),
    interruptedUsd: z.number().describe('starts that were begun anew without a checkpoint'),
    idleUsd: z.number(),
  }),
  idleShare: z.number().optional().describe('absent where the site does not count it'),
  unitCost: z.strictObject({ usd: z.number(), unit: z.enum(['billion tokens', 'epoch', 'run']) }).optional(),
})

const Group = z.strictObject({
  name: z.string(),
  jobs: z.number(),
  gpuHours: z.number(),
  usd: z.number().describe('of jobs whose price is known'),
  wastedUsd: z.number(),
  quotedUsd: z.number().describe('P50, of runs that are done and had a range'),
  takenUsd: z.number().describe('of the same runs'),
  compared: z.number().describe('runs that are done and had a range'),
  within: z.number().describe('of those, how many stayed within it'),
  idleShare: z.number().optional(),
  cheaperChoices: z.number(),
})

/** What `gpufare review --format json` prints. */
export const ReviewDocument = z.strictObject({
  schemaVersion: z.literal(1),
  since: z.string(),
  until: z.string(),
  jobs: z.array(Job),
  total: Group,
  by: z.enum(['team', 'user', 'gpu', 'model']),
  groups: z.array(Group),
  weeks: z.array(Group).describe('named by their Monday'),
  baselines: z.array(
    z.strictObject({
      gpuType: z.string(),
      gpus: z.number().describe('that were never all free in the whole time'),
      share: z.number().describe('of the GPU-hours of this type'),
      savedUsd: z.number().optional().describe("what a year's commitment to just these would have saved"),
    }),
  ),
})

/** JSON Schema (draft 2020-12) of the review. */
export function reviewJsonSchema(): object {
  return { title: 'gpufare review', ...z.toJSONSchema(ReviewDocument) }
}
