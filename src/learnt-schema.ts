import * as z from 'zod/mini'

const seconds = z.number().check(z.positive())
const moment = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT/))

/** A line of what was learnt: a run, or that what was quoted before a moment is forgotten. Keys of later versions are passed over. */
export const LearntLine = z.union([
  z.object({
    schemaVersion: z.literal(1),
    key: z.string(),
    fingerprint: z.string(),
    gpus: z.string(),
    name: z.string(),
    id: z.string(),
    at: moment,
    estimatedSeconds: seconds,
    seconds,
    isStopped: z.exactOptional(z.literal(true)),
  }),
  z.object({
    schemaVersion: z.literal(1),
    forgotten: z.union([z.object({ fingerprint: z.string() }), z.literal('all')]),
    at: moment,
  }),
])
