import * as z from 'zod'

const Number_ = z.union([z.number(), z.strictObject({ value: z.number(), within: z.union([z.string(), z.number()]) })])
const Fact = Number_.nullable().optional()

/** expected.yaml of a log: what a careful reader can know from it; null is what nobody can. */
export const ExpectedProgress = z.object({
  framework: z.string().nullable().optional(),
  outcome: z.string().nullable().optional(),
  runs: Fact,
  unit: z.string().nullable().optional(),
  steps_done: Fact,
  steps_total: Fact,
  seconds_per_step: Fact,
  samples_per_second: Fact,
  tokens_per_second: Fact,
  global_batch: Fact,
  epochs_done: Fact,
  epochs_total: Fact,
  started_to_first_step_seconds: Fact,
  elapsed_seconds: Fact,
  remaining_seconds: Fact,
  data_share: Fact,
  peak_memory_gib: Fact,
  world_size: Fact,
  must_warn: z.array(z.string()).default([]),
  may_warn: z.array(z.string()).default([]),
})
export type ExpectedProgress = z.infer<typeof ExpectedProgress>
export type ExpectedNumber = z.infer<typeof Fact>
