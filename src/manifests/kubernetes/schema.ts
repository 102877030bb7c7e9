// Every quote of a Kubernetes manifest makes these schemas: those of the small zod are made in a third of the time.
import * as z from 'zod/mini'

/** The API server takes null for "not set" everywhere. */
function optional<T extends z.ZodMiniType>(schema: T) {
  return z.pipe(
    z.nullish(schema),
    z.transform(value => value ?? undefined),
  )
}

const text = z.string({ error: 'text is expected' })
const optionalText = optional(text)
/** In lists and mappings of text the API server takes null for empty text. */
const textOrNothing = z.pipe(
  z.nullable(text),
  z.transform(value => value ?? ''),
)
const texts = z.array(textOrNothing, { error: 'a list of words is expected' })
const labels = z.record(z.string(), textOrNothing, { error: 'a mapping of text is expected' })
const optionalLabels = optional(labels)

/** A number that counts something. */
export const WholeNumber = z
  .int({ error: 'a whole number is expected' })
  .check(z.minimum(0, { error: 'a whole number from 0 on is expected' }))
const optionalWholeNumber = optional(WholeNumber)

/** Amounts are checked by the rules in resource-rules.ts, which know which of them must be whole. */
const quantities = optional(z.record(z.string(), z.unknown(), { error: 'a mapping of quantities is expected' }))

const Resources = z.object({
  limits: quantities,
  requests: quantities,
  claims: optional(z.array(z.object({ name: text }))),
})
export type Resources = z.infer<typeof Resources>

const KeyReference = z.object({ name: optionalText, key: text })
const EnvironmentVariable = z.object({
  name: text,
  value: optionalText,
  valueFrom: optional(z.object({ configMapKeyRef: optional(KeyReference) })),
})
const EnvironmentSource = z.object({
  prefix: optionalText,
  configMapRef: optional(z.object({ name: optionalText })),
})

const Container = z.object({
  name: optionalText,
  image: optionalText,
  command: optional(texts),
  args: optional(texts),
  env: optional(z.array(EnvironmentVariable)),
  envFrom: optional(z.array(EnvironmentSource)),
  resources: optional(Resources),
  restartPolicy: optionalText,
  workingDir: optionalText,
  volumeMounts: optional(z.array(z.object({ name: text, mountPath: text, subPath: optionalText }))),
})
export type Container = z.infer<typeof Container>

const MatchExpression = z.object({ key: text, operator: text, values: optional(z.array(text)) })
const NodeSelectorTerm = z.object({ matchExpressions: optional(z.array(MatchExpression)) })
export type NodeSelectorTerm = z.infer<typeof NodeSelectorTerm>
const Affinity = z.object({
  nodeAffinity: optional(
    z.object({
      requiredDuringSchedulingIgnoredDuringExecution: optional(
        z.object({ nodeSelectorTerms: optional(z.array(NodeSelectorTerm)) }),
      ),
    }),
  ),
})

const configMapFiles = optional(
  z.object({
    name: optionalText,
    items: optional(z.array(z.object({ key: text, path: text }))),
  }),
)
const Volume = z.object({
  name: text,
  emptyDir: optional(z.unknown()),
  ephemeral: optional(z.unknown()),
  configMap: configMapFiles,
  projected: optional(z.object({ sources: optional(z.array(z.object({ configMap: configMapFiles }))) })),
})

const ResourceClaim = z.object({
  name: text,
  resourceClaimName: optionalText,
  resourceClaimTemplateName: optionalText,
})

const PodSpec = z.object({
  containers: z
    .array(Container, { error: 'a list of containers is expected' })
    .check(z.minLength(1, { error: 'at least one container is expected' })),
  initContainers: optional(z.array(Container, { error: 'a list of containers is expected' })),
  nodeSelector: optionalLabels,
  affinity: optional(Affinity),
  tolerations: optional(z.array(z.object({ key: optionalText, value: optionalText }))),
  activeDeadlineSeconds: optionalWholeNumber,
  restartPolicy: optionalText,
  volumes: optional(z.array(Volume)),
  resources: optional(Resources),
  resourceClaims: optional(z.array(ResourceClaim)),
  schedulingGates: optional(z.array(z.object({ name: text }))),
})
export type PodSpec = z.infer<typeof PodSpec>

/** What every object says of itself. */
export const Metadata = z.object({
  name: optionalText,
  generateName: optionalText,
  namespace: optionalText,
  labels: optionalLabels,
  annotations: optionalLabels,
})
export type Metadata = z.infer<typeof Metadata>

/** A pod, or the template that pods are made from. */
export const Pod = z.object({ metadata: optional(Metadata), spec: PodSpec })
export type Pod = z.infer<typeof Pod>

/** Texts by name, as a ConfigMap holds them. */
export const ConfigMap = z.object({ metadata: optional(Metadata), data: optional(z.record(z.string(), z.string())) })

/** What an autoscaler may do to another object: HorizontalPodAutoscaler and KEDA's ScaledObject. */
export const Autoscaler = z.object({
  spec: z.object({
    scaleTargetRef: z.object({ kind: optionalText, name: text }),
    minReplicas: optionalWholeNumber,
    maxReplicas: optionalWholeNumber,
    minReplicaCount: optionalWholeNumber,
    maxReplicaCount: optionalWholeNumber,
  }),
})
