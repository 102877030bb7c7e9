import * as z from 'zod/mini'

const figure = z.number().check(z.nonnegative())
const text = z.string()

/** A line of the jobs that have ended. Keys of later versions are passed over. */
export const EndedLine = z.object({
  schemaVersion: z.literal(1),
  cluster: text,
  jobId: text,
  task: text,
  component: text,
  state: z.enum(['completed', 'failed', 'out-of-memory', 'timeout', 'cancelled', 'interrupted']),
  submitSeconds: figure,
  startSeconds: z.exactOptional(figure),
  elapsedSeconds: figure,
  gpus: figure,
  gpuType: z.exactOptional(text),
  user: text,
  account: text,
  name: text,
  comment: text,
  isAllTasks: z.exactOptional(z.literal(true)),
})
