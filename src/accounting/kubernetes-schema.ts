import * as z from 'zod'

const Text = z
  .string()
  .nullish()
  .transform(text => text ?? undefined)

const Count = z
  .number()
  .nullish()
  .transform(count => count ?? undefined)

const Texts = z
  .record(z.string(), z.string())
  .nullish()
  .transform(texts => texts ?? {})

function listOf<T>(item: z.ZodType<T>) {
  return z
    .array(item)
    .nullish()
    .transform(list => list ?? [])
}

/** Where an object of Kubernetes says how it went; other fields are left as they are, for whoever reads manifests. */
export const KeptObject = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string().default(''),
    namespace: z.string().default(''),
    generateName: z.string().optional(),
    creationTimestamp: z.string(),
    annotations: Texts,
    ownerReferences: z
      .array(z.looseObject({ kind: z.string(), name: z.string(), uid: z.string().default('') }))
      .default([]),
  }),
  status: z
    .looseObject({
      conditions: listOf(
        z.looseObject({
          // Volcano has a list of its own form: a phase stands as `status`.
          type: z.string().default(''),
          status: z.string(),
          reason: Text,
          message: Text,
          lastTransitionTime: Text,
        }),
      ),
      // Job and PyTorchJob; RayJob; Workflow
      startTime: Text,
      completionTime: Text,
      endTime: Text,
      startedAt: Text,
      finishedAt: Text,
      jobStatus: Text,
      jobDeploymentStatus: Text,
      phase: Text,
      reason: Text,
      message: Text,
      state: z
        .looseObject({ phase: Text, lastTransitionTime: Text })
        .nullish()
        .transform(state => state ?? undefined),
      // Job
      active: Count,
      ready: Count,
      // JobSet; Volcano
      restarts: Count,
      retryCount: Count,
    })
    .optional(),
})

export type KeptObject = z.infer<typeof KeptObject>

const Ran = z
  .looseObject({ startedAt: Text, finishedAt: Text })
  .nullish()
  .transform(ran => ran ?? undefined)

/** A pod, with when its containers ran. */
export const Pod = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string().default(''), labels: Texts }),
  spec: z.object({ nodeName: Text }),
  status: z.object({
    phase: Text,
    startTime: Text,
    containerStatuses: listOf(
      z.object({ restartCount: z.number().default(0), state: z.object({ running: Ran, terminated: Ran }).optional() }),
    ),
  }),
})

export type Pod = z.infer<typeof Pod>

/** A node and what its labels say of it. */
export const Node = z.object({ metadata: z.object({ name: z.string(), labels: Texts }) })

/** What `kubectl get --output=json` prints: objects that cannot be understood are left out one by one. */
export const ObjectList = z.object({ items: z.array(z.unknown()) })
