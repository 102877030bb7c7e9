import * as z from 'zod'

const Place = z.strictObject({
  file: z.string(),
  line: z.int().positive().optional(),
  column: z.int().positive().optional(),
})

const Origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['manifest', 'annotation', 'file', 'config']), place: Place }),
  z.strictObject({ kind: z.literal('command-line'), option: z.string() }),
  z.strictObject({ kind: z.literal('environment'), variable: z.string() }),
  z.strictObject({ kind: z.literal('table'), table: z.string(), row: z.string(), source: z.string() }),
  z.strictObject({ kind: z.literal('computed'), formula: z.string() }),
  z.strictObject({ kind: z.literal('assumed'), reason: z.string() }),
])

function sourcedOf<T extends z.ZodType>(value: T) {
  return z.strictObject({ value, origin: Origin })
}

const Range = z.strictObject({ p10: z.number(), p50: z.number(), p90: z.number() })
const Count = sourcedOf(z.number())
const Text = sourcedOf(z.string())

const Role = z.strictObject({
  name: z.string(),
  replicas: Count.describe('nodes of Slurm, pods of Kubernetes'),
  replicaRange: z
    .strictObject({ smallest: z.number(), largest: z.number() })
    .optional()
    .describe('what an autoscaler, an elastic job or a range of nodes may make of the replicas'),
  gpusPerReplica: Count,
  gpuCount: Count.describe('GPUs of one task, all replicas together'),
  gpuTypes: z
    .array(
      z.strictObject({
        ...Text.shape,
        gpu: z
          .string()
          .optional()
          .describe('the one name for all spellings: a100-80gb, a100 where the memory is open; absent where unknown'),
      }),
    )
    .describe('as the manifest writes them; several where any will do'),
  gpuTypeBasis: z.string(),
  deviceShare: z
    .strictObject({ kind: z.string(), profile: z.string().optional(), share: z.number().optional() })
    .optional(),
  otherAccelerators: z.record(z.string(), z.number()).optional(),
  cpusPerReplica: Count.optional(),
  memoryBytesPerReplica: sourcedOf(z.union([z.number(), z.literal('all')])).optional(),
  exclusive: z.boolean(),
  partitions: z.array(z.string()),
  tasks: z.number(),
  concurrentTasks: z.number(),
  timeLimitSeconds: Count.optional(),
})

const Workload = z.strictObject({
  purpose: z.enum(['train', 'evaluate', 'infer', 'serve', 'other']),
  device: z
    .enum(['cpu', 'gpu'])
    .optional()
    .describe('of work that neither trains nor infers: cpu = the GPUs idle, gpu = for a time that no formula gives'),
  place: Place,
  role: z.string(),
  repetitions: z.number().describe('times one task makes this run'),
  runs: z.number().describe('times the whole job makes it: those of all its tasks'),
  conditional: z.boolean(),
  framework: Text.optional(),
  modelName: Text.optional(),
  model: sourcedOf(
    z.strictObject({
      name: z.string(),
      kind: z.string(),
      parameterCount: z.number(),
      activeParameterCount: z.number(),
    }),
  ).optional(),
  dataset: Text.optional(),
  steps: Count.optional(),
  epochs: Count.optional(),
  samples: Count.optional(),
  tokens: Count.optional(),
  globalBatch: Count.optional(),
  microBatch: Count.optional(),
  gradientAccumulation: Count.optional(),
  sequenceLength: Count.optional(),
  precision: Text.optional(),
  weightBits: Count.optional().describe('bits that a weight is kept in, where an engine keeps it quantised'),
  method: Text.optional(),
  loraRank: Count.optional(),
  parallelism: sourcedOf(
    z.strictObject({
      data: z.number().optional().describe('copies of the model side by side'),
      tensor: z.number(),
      pipeline: z.number(),
      interleave: z.number(),
      context: z.number(),
      expert: z.number(),
      sharding: z.string(),
    }),
  ).optional(),
  activationRecompute: Text.optional(),
  flashAttention: sourcedOf(z.boolean()).optional(),
  compiled: sourcedOf(z.boolean()).optional(),
  optimizer: Text.optional(),
  cpuOffload: sourcedOf(z.boolean()).optional(),
  checkpoint: z
    .strictObject({
      intervalSteps: Count.optional(),
      intervalSeconds: Count.optional(),
      intervalEpochs: Count.optional(),
      destination: Text.optional().describe('folder or address as written'),
      content: Text.optional().describe('full, from which training goes on, or weights alone'),
      resumes: sourcedOf(z.boolean()).optional().describe('started again, it goes on from its last checkpoint'),
    })
    .optional()
    .describe('what the run keeps for an interruption; what is absent is not said'),
  generates: z.literal(true).optional().describe('the model itself writes the text it is trained on (PPO, GRPO)'),
  processes: Count.optional(),
  background: z.literal(true).optional(),
})

const Placement = z.strictObject({
  role: z.string(),
  gpu: z.string(),
  gpuCount: z.number(),
  provider: z.string(),
  machine: z.string(),
  machineCount: z.number(),
  gpusPerMachine: z.number(),
  wholeMachine: z.boolean().describe('whole machines are paid, whatever of them is used'),
  price: z
    .strictObject({
      region: z.string(),
      tier: z.enum(['on-demand', 'spot', 'reserved-1y', 'reserved-3y', 'own', 'own-spot']),
      listedFor: z
        .strictObject({ provider: z.string(), machine: z.string(), assumed: z.boolean() })
        .optional()
        .describe('the rented machine whose list price stands in for an own rate'),
      usdPerMachineHour: z.number().describe('less the discount'),
      discount: z
        .strictObject({ share: z.number(), listUsdPerMachineHour: z.number(), place: Place.optional() })
        .optional()
        .describe('what the configuration takes off the list price'),
      lowestZone: z.literal(true).optional().describe('in other zones of the region it may cost more'),
      asOf: z.string().describe('empty where the source does not say a day, and for an own rate'),
      source: z.string(),
    })
    .optional()
    .describe('absent where it is not known'),
})

const Quote = z.strictObject({
  asRequested: z.boolean(),
  canRun: z.boolean(),
  obstacles: z.array(z.string()),
  remarks: z.array(z.string()),
  tier: z.enum(['on-demand', 'spot', 'reserved-1y', 'reserved-3y', 'own', 'own-spot']),
  placements: z.array(Placement),
  memory: z.strictObject({
    verdict: z.enum(['fits', 'tight', 'does not fit', 'unknown']),
    needBytes: z.number().optional().describe('with what is assumed'),
    leastBytes: z.number().optional().describe('with what is not said as lean as it could be'),
    haveBytes: z.number().optional(),
    items: z.array(z.strictObject({ what: z.string(), bytes: z.number() })),
    assumed: z.array(z.string()).optional().describe('what nobody said, and what was taken for it'),
  }),
  basis: z.enum(['history', 'measured', 'declared', 'model', 'limit']).optional(),
  runtimeSeconds: Range.optional().describe('of one task'),
  narrow: z
    .boolean()
    .optional()
    .describe('of earlier runs: false where P90 is more than twice P10, and P50 no typical runtime'),
  evidence: z
    .array(
      z.strictObject({
        basis: z.enum(['history', 'measured', 'declared', 'model']),
        seconds: Range,
        weight: z.number().describe('0 to 1, by the spread of the logarithm'),
      }),
    )
    .optional()
    .describe('where more than one way of knowing has an answer; that which weighs most comes first and is the basis'),
  earlierRuns: z
    .strictObject({ runs: z.number(), failed: z.number(), cancelled: z.number(), timedOut: z.number() })
    .optional()
    .describe('how the latest runs like it ended'),
  runtimeUpperBoundSeconds: z.number().optional().describe('of one task, where only the time limit is known'),
  tasks: z.number(),
  concurrentTasks: z.number(),
  usdPerHour: z.number().optional().describe('while the concurrent tasks run'),
  costUsd: Range.optional().describe('of all tasks, none paid for longer than its time limit'),
  costUpperBoundUsd: z.number().optional(),
  costMissing: z.array(z.string()).optional(),
  wholeRunUsd: Range.optional().describe('if no time limit stopped it'),
  stoppedByLimit: z
    .strictObject({
      limitSeconds: z.number(),
      chance: z.number(),
      lostUsd: z.number().optional().describe('paid when the limit has ended every task'),
      neededLimitSeconds: z.number().optional().describe('what 95 of 100 runs stay within'),
    })
    .optional()
    .describe('present where the time limit is likelier than one in ten to stop it'),
  limitUsd: z.number().optional().describe('if every task runs until its time limit'),
  gpuHours: z.union([Range, z.strictObject({ upperBound: z.number() })]).optional(),
  completedRuns: z
    .strictObject({
      count: z.int().nonnegative(),
      lastEndSeconds: z.number().describe('when the last of them ended, seconds since 1970'),
      source: z.string().describe('where they are recorded: a file, sacct, kubectl get'),
    })
    .optional()
    .describe('completed runs of the job’s name that the runtime goes by'),
  earlierLogs: z
    .array(
      z.strictObject({
        kind: z.literal('log'),
        file: z.string(),
        outcome: z.enum(['finished', 'running', 'time-limit', 'oom', 'crashed', 'cancelled', 'unknown']),
        seconds: z
          .number()
          .optional()
          .describe('what today’s run takes by it, on these GPUs; absent where it was stopped and only bounds it'),
      }),
    )
    .optional()
    .describe('logs of earlier runs that the runtime goes by, the newest first'),
  correction: z
    .strictObject({
      factor: z.number().describe('that the estimate was multiplied by'),
      estimatedSeconds: Range.describe('of one task, before it'),
      fingerprint: z.string().describe('what earlier quotes are put together by; gpufare review --forget takes it'),
      gpus: z.string().describe('that these runs had; of other GPUs than the candidate’s where it never ran on those'),
      runs: z
        .array(
          z.strictObject({
            id: z.string().describe('job id of Slurm, uid of Kubernetes'),
            at: z.string().describe('when it was quoted, ISO 8601, UTC'),
            estimatedSeconds: z.number().describe('P50 that was quoted, before any correction'),
            seconds: z.number(),
            isStopped: z.literal(true).optional().describe('by its time limit: the work takes longer'),
          }),
        )
        .describe('the newest first'),
    })
    .optional()
    .describe('present where earlier quotes of the job, compared by gpufare review, were off'),
  working: z.array(z.strictObject({ what: z.string(), figure: z.string(), origin: Origin })),
})

/** What `--format json` prints. The published JSON Schema is made from it. */
export const ReportDocument = z.strictObject({
  schemaVersion: z.literal(1),
  currency: z
    .strictObject({ code: z.string(), perUsd: z.number(), source: z.string().optional() })
    .describe('of texts; all amounts here are US dollars'),
  jobs: z.array(
    z.strictObject({
      name: z.string(),
      file: z.string(),
      line: z.number().optional(),
      scheduler: z.enum(['slurm', 'kubernetes', 'skypilot']),
      kind: z.string(),
      endless: z.boolean(),
      destination: z.record(z.string(), z.string()),
      roles: z.array(Role),
      totals: z.strictObject({ gpus: z.number(), gpuHoursAtLimit: z.number().optional() }),
      session: z
        .strictObject({
          what: z.string(),
          place: Place,
          usdPerHour: z.number(),
          workingDayUsd: z.number().describe('of eight hours; here as in the next two a time limit ends it earlier'),
          nightUsd: z.number().describe('fifteen hours, from 18:00 to 9:00'),
          weekendUsd: z.number().describe('63 hours, from Friday 18:00 to Monday 9:00'),
          limitSeconds: z.number().optional().describe('absent where nothing ends it'),
        })
        .optional()
        .describe('what a notebook, an editor or a shell costs that holds GPUs for a person'),
      workloads: z.array(Workload),
      quotes: z.array(Quote).describe('as written first'),
      warnings: z.array(
        z.strictObject({
          code: z.string(),
          text: z.string(),
          place: Place.optional(),
          idleGpus: z.number().optional().describe('GPUs of one task that are paid and not used'),
        }),
      ),
    }),
  ),
  totalUsdToApprove: z.number().optional().describe('P90 total as written, or the time limit’s bound'),
  remarks: z.array(z.string()),
})
export type ReportDocument = z.infer<typeof ReportDocument>

/** What `--format json` prints where nothing can be quoted, with exit code 2. */
export const FaultsDocument = z.strictObject({
  schemaVersion: z.literal(1),
  errors: z
    .array(
      z.strictObject({
        code: z
          .enum(['unresolved-template', 'external-file-missing'])
          .optional()
          .describe('as in warnings; absent for all other faults'),
        ...Place.shape,
        message: z.string(),
        hint: z.string().optional(),
      }),
    )
    .min(1),
})

/** JSON Schema (draft 2020-12) of `--format json`. */
export function reportJsonSchema(): object {
  return { title: 'gpufare report', type: 'object', ...z.toJSONSchema(z.union([ReportDocument, FaultsDocument])) }
}
