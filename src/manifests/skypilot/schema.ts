import * as z from 'zod/mini'

/** SkyPilot takes null for "not set" everywhere. */
function optional<T extends z.ZodMiniType>(schema: T) {
  return z.pipe(
    z.nullish(schema),
    z.transform(value => value ?? undefined),
  )
}

const text = z.string({ error: 'text is expected' })
const count = z
  .int({ error: 'a whole number is expected' })
  .check(z.minimum(0, { error: 'a whole number from 0 on is expected' }))
const values = z.record(z.string(), z.unknown(), { error: 'a mapping is expected' })

/** What a task's machines have to be; alternatives under `any_of` and `ordered` say the same again, each over what stands above. */
const Requirements = z.object({
  accelerators: optional(z.unknown()),
  gpus: optional(z.unknown()),
  infra: optional(text),
  cloud: optional(text),
  region: optional(text),
  use_spot: optional(z.boolean({ error: 'true or false is expected' })),
  cpus: optional(z.union([z.number(), text])),
  memory: optional(z.union([z.number(), text])),
  instance_type: optional(text),
})
export type Requirements = z.infer<typeof Requirements>

const alternatives = optional(z.array(Requirements, { error: 'a list of alternatives is expected' }))

/** One task, as far as it bears on cost (sky/utils/schemas.py, get_task_schema and get_resources_schema). */
export const Task = z.object({
  name: optional(text),
  num_nodes: optional(count),
  resources: optional(
    z.extend(Requirements, { any_of: alternatives, ordered: alternatives, autostop: optional(z.unknown()) }),
  ),
  envs: optional(values),
  secrets: optional(z.unknown()),
  setup: optional(text),
  run: optional(text),
  service: optional(
    z.object({
      replicas: optional(count),
      replica_policy: optional(z.object({ min_replicas: optional(count), max_replicas: optional(count) })),
    }),
  ),
  pool: optional(z.object({ workers: optional(count), min_workers: optional(count), max_workers: optional(count) })),
})
export type Task = z.infer<typeof Task>
