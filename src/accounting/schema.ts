import * as z from 'zod'

/**
 * A number of `sacct --json`: plain up to 22.05, `{set, infinite, number}` from 23.02 on, null where nothing is set.
 * Infinity stands for a limit without end.
 */
const Count = z
  .union([
    z.number(),
    z.null(),
    z.object({ set: z.boolean().optional(), infinite: z.boolean().optional(), number: z.number().optional() }),
  ])
  .optional()
  .transform(value => {
    if (value === null || value === undefined || typeof value === 'number') return value ?? undefined
    if (value.infinite === true) return Number.POSITIVE_INFINITY
    return value.set === false ? undefined : value.number
  })

/** A word up to 22.05, a list of words from 23.02 on. */
const State = z
  .union([z.string(), z.array(z.string())])
  .transform(state => (typeof state === 'string' ? state : (state[0] ?? '')))

const text = z
  .string()
  .nullish()
  .transform(value => value ?? '')

const Tres = z.object({ type: z.string(), name: text, count: Count })

/** A job of `sacct --json`; only the fields that are used. */
export const SacctJob = z.object({
  job_id: z.number(),
  name: text,
  user: text,
  account: text,
  partition: text,
  qos: text,
  cluster: text,
  submit_line: text,
  working_directory: text,
  allocation_nodes: Count,
  array: z.object({ job_id: Count, task_id: Count }).optional(),
  het: z.object({ job_id: Count, job_offset: Count }).optional(),
  state: z.object({ current: State }),
  time: z.object({ elapsed: Count, start: Count, end: Count, submission: Count, limit: Count }),
  tres: z.object({ allocated: z.array(Tres).nullish(), requested: z.array(Tres).nullish() }).optional(),
})

export type SacctJob = z.infer<typeof SacctJob>

/** What `sacct --json` prints: jobs that cannot be understood are left to whoever counts them. */
export const SacctAnswer = z.object({ jobs: z.array(z.unknown()) })

/** A run as W&B's public API writes it: which keys it has depends on the version. */
export const WandbRun = z.record(z.string(), z.unknown())
