import * as z from 'zod'

const Count = z.number().nullable()
const Word = z.string().nullable()
const Names = z.union([z.string(), z.array(z.string())]).nullable()

/** One role that holds machines; null = cannot be known, a key left out is not graded. */
export const ExpectedRole = z.object({
  role: z.string(),
  nodes: Count.optional(),
  replicas: Count.optional(),
  min_replicas: Count.optional(),
  max_replicas: Count.optional(),
  gpus_per_replica: Count.optional(),
  total_gpus: Count.optional(),
  gpu_type: Word.optional(),
  gpu_type_hint: z.string().optional(),
  gpu_type_alternatives: z.array(z.string()).optional(),
  gpu_type_basis: z.string().optional(),
  gpu_share: Count.optional(),
  mig_profile: Word.optional(),
  cpus: Count.optional(),
  memory: Word.optional(),
  time_limit_hours: Count.optional(),
  tasks: Count.optional(),
  max_concurrent: Count.optional(),
})
export type ExpectedRole = z.infer<typeof ExpectedRole>

/** What is run. */
export const ExpectedWorkload = z.object({
  purpose: Word.optional(),
  framework: Word.optional(),
  model: Names.optional(),
  params_b: Count.optional(),
  active_params_b: Count.optional(),
  dataset: Names.optional(),
  steps: Count.optional(),
  epochs: Count.optional(),
  samples: Count.optional(),
  tokens: Count.optional(),
  global_batch: Count.optional(),
  micro_batch: Count.optional(),
  grad_accum: Count.optional(),
  seq_len: Count.optional(),
  precision: Word.optional(),
  method: Word.optional(),
  runs: Count.optional(),
  parallel: z.object({ tp: Count.optional(), pp: Count.optional(), dp: Count.optional() }).nullish(),
})
export type ExpectedWorkload = z.infer<typeof ExpectedWorkload>

const Totals = z.object({
  gpus: Count.optional(),
  gpus_max: Count.optional(),
  gpu_hours_at_limit: Count.optional(),
})

const OtherStep = z.object({
  purpose: z.string(),
  framework: z.string().optional(),
  model: z.string().optional(),
  runs: z.number().optional(),
})

/** The right answer on a job that can be quoted. */
export const ExpectedAnswer = z.object({
  resources: z.array(ExpectedRole).nullish(),
  totals: Totals.optional(),
  workload: ExpectedWorkload.nullish(),
  other_steps: z.array(OtherStep).optional(),
  must_warn: z.array(z.string()).optional(),
  uncertain: z.boolean().optional(),
  uncertain_why: z.string().optional(),
})
export type ExpectedAnswer = z.infer<typeof ExpectedAnswer>

/** The right answer on input that has to be refused or warned about. */
export const ExpectedRefusal = z.object({
  outcome: z.enum(['error', 'warning', 'error or answer']),
  message_must_say: z.array(z.string()).default([]),
  exit: z.string().optional(),
  totals: Totals.optional(),
  totals_still: Totals.optional(),
  resources_still: ExpectedRole.omit({ role: true }).optional(),
  workload: ExpectedWorkload.optional(),
  cost: z.null().optional(),
  limits: z.object({ seconds: z.number(), memory_mb: z.number() }).optional(),
})
export type ExpectedRefusal = z.infer<typeof ExpectedRefusal>

/** Where the input of a case comes from. */
export const CaseInput = z.object({
  input: z.array(z.string()).optional(),
  generate: z.array(z.string()).optional(),
  generator: z.string().optional(),
  /** `sbatch --nodes=2 job.sbatch one two`, with variables before it. */
  invocation: z.string().optional(),
  /** Form of input that comes later: graded only where the program takes it. */
  later: z.boolean().optional(),
})

export type CaseInput = z.infer<typeof CaseInput>

/** Several inputs in one case, each graded as a case of its own. */
export const CaseInputs = z.object({ inputs: z.array(z.record(z.string(), z.unknown())).min(1) })
