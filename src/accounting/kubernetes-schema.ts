import * as z from 'zod'

const Time = z
  .string()
  .nullish()
  .transform(time => time ?? undefined)

/** Where an object of Kubernetes says how it went; other fields are left as they are, for whoever reads manifests. */
export const FinishedObject = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string().default(''),
    namespace: z.string().default(''),
    generateName: z.string().optional(),
    creationTimestamp: z.string(),
    ownerReferences: z.array(z.looseObject({ kind: z.string(), name: z.string() })).default([]),
  }),
  status: z
    .looseObject({
      conditions: z
        .array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            reason: z.string().optional(),
            lastTransitionTime: Time,
          }),
        )
        .nullish()
        .transform(conditions => conditions ?? []),
      // Job and PyTorchJob; RayJob; Workflow
      startTime: Time,
      completionTime: Time,
      endTime: Time,
      startedAt: Time,
      finishedAt: Time,
      jobStatus: z.string().optional(),
      phase: z.string().optional(),
    })
    .optional(),
})

export type FinishedObject = z.infer<typeof FinishedObject>

/** What `kubectl get --output=json` prints: objects that cannot be understood are left out one by one. */
export const ObjectList = z.object({ items: z.array(z.unknown()) })
