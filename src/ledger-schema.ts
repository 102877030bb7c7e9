import * as z from 'zod/mini'

const figure = z.number().check(z.nonnegative())
const Range = z.object({ p10: figure, p50: figure, p90: figure })
const text = z.string()

/** A line of the ledger. Keys of later versions are passed over. */
export const LedgerLine = z.object({
  schemaVersion: z.literal(1),
  key: text,
  at: text.check(z.regex(/^\d{4}-\d\d-\d\dT/)),
  scheduler: z.enum(['slurm', 'kubernetes']),
  cluster: z.exactOptional(text),
  namespace: z.exactOptional(text),
  id: z.exactOptional(text),
  reference: z.exactOptional(text),
  name: text,
  kind: text,
  user: z.exactOptional(text),
  team: z.exactOptional(text),
  costCenter: z.exactOptional(text),
  digest: text,
  basis: z.exactOptional(z.enum(['history', 'measured', 'declared', 'model', 'limit'])),
  runtimeSeconds: z.exactOptional(Range),
  estimatedSeconds: z.exactOptional(figure),
  fingerprint: z.exactOptional(text),
  runtimeUpperBoundSeconds: z.exactOptional(figure),
  usd: z.exactOptional(Range),
  upperBoundUsd: z.exactOptional(figure),
  usdPerTaskHour: z.exactOptional(figure),
  gpus: figure,
  billedGpus: figure,
  tasks: figure,
  gpuModel: text,
  rates: z.array(
    z.object({
      provider: text,
      machine: text,
      region: text,
      tier: text,
      usdPerMachineHour: figure,
      machineGpus: figure,
      asOf: text,
    }),
  ),
  framework: z.exactOptional(text),
  model: z.exactOptional(text),
  tokens: z.exactOptional(figure),
  epochs: z.exactOptional(figure),
  resumes: z.exactOptional(z.boolean()),
  insteadOfUsd: z.exactOptional(figure),
  gpufareVersion: text,
})
