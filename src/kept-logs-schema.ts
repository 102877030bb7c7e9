import * as z from 'zod/mini'
import { progressWarningCodes } from './logs/progress-warning.ts'

const Figure = z.object({
  value: z.number(),
  line: z.exactOptional(z.int()),
  formula: z.exactOptional(z.string()),
  reason: z.exactOptional(z.string()),
})

/** A line of the logs that were learnt from: what one tells, or that one is forgotten. Keys of later versions are passed over. */
export const KeptLogLine = z.union([
  z.object({
    schemaVersion: z.literal(1),
    path: z.string(),
    jobName: z.exactOptional(z.string()),
    digest: z.string(),
    writtenSeconds: z.number(),
    framework: z.exactOptional(z.string()),
    outcome: z.enum(['finished', 'running', 'time-limit', 'oom', 'crashed', 'cancelled', 'unknown']),
    runs: z.int(),
    unit: z.enum(['optimizer-step', 'micro-step', 'sample', 'token', 'epoch', 'other', 'none']),
    figures: z.record(z.string(), Figure),
    warnings: z.array(z.enum(progressWarningCodes)),
    gpuNames: z.array(z.string()),
  }),
  z.object({ schemaVersion: z.literal(1), forgottenPath: z.string() }),
])
export type KeptLogLine = z.infer<typeof KeptLogLine>
