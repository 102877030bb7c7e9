import * as z from 'zod'
import { BudgetRow, ExemptionRow, PolicyRow } from './rulebook-schema.ts'

const amount = z.number().nonnegative()
const name = z.string().min(1)

const Machine = z.strictObject({
  provider: name.describe('Cloud whose list price counts, such as aws'),
  'instance-type': name.describe('Such as p4d.24xlarge'),
  region: name.describe('Such as us-east-1'),
})

const pool = {
  name: name.describe('Partition or node pool'),
  gpu: name.describe('GPU type of its nodes, by any usual name, such as a100-80gb'),
  'gpus-per-node': z.int().positive(),
  nodes: z.int().positive().optional().describe('How many there are'),
  rate: amount.optional().describe('Own price of one GPU-hour, in the currency of this file'),
  machine: Machine.optional().describe('The rented machine behind it; its list price counts where no rate is given'),
  spot: z.boolean().optional().describe('Its machines can be taken away at any time'),
}

const Partition = z.strictObject({
  ...pool,
  gres: name.optional().describe('How --gres calls the GPU, as in gpu:TYPE:8'),
})

const NodePool = z.strictObject({
  ...pool,
  'node-selector': z.record(name, z.string()).optional().describe('Labels that select its nodes'),
  resource: name.optional().describe('Resource name of the GPUs; nvidia.com/gpu where left out'),
})

const SlurmCluster = z.strictObject({
  name,
  scheduler: z.literal('slurm'),
  partitions: z.array(Partition).min(1),
})

const KubernetesCluster = z.strictObject({
  name,
  scheduler: z.literal('kubernetes'),
  context: name.optional().describe('Kube context it stands for; any where left out'),
  'node-pools': z.array(NodePool).min(1),
})

/** gpufare.yaml as it is written. The published JSON Schema is made from it. */
export const ConfigFile = z.strictObject({
  clusters: z.array(z.discriminatedUnion('scheduler', [SlurmCluster, KubernetesCluster])).optional(),
  candidates: z.array(name).optional().describe('GPU types worth a row, such as l40s or 8xt4'),
  providers: z.array(name).optional().describe('Clouds whose list prices count, in order of preference'),
  regions: z.array(name).optional().describe('Regions, in order of preference'),
  currency: z
    .strictObject({
      code: z.string().regex(/^[A-Z]{3}$/, 'a currency code of three capital letters is expected, such as EUR'),
      'per-usd': z.number().positive().describe('Units of it for one US dollar'),
    })
    .optional(),
  discount: z.number().min(0).max(1).optional().describe('Taken off list prices: 0.1 is ten per cent'),
  'ask-above': amount
    .optional()
    .describe("P90 total under which no question is asked; counts only in the user's or the site's file"),
  ignore: z.array(name).optional().describe('Globs of files that `gpufare check` passes over, from this file on'),
  team: name.optional(),
  'cost-center': name.optional(),
  tags: z.record(name, name).optional().describe('Other tags of its jobs, such as project: apollo'),
  policies: z.array(PolicyRow).optional().describe('Limits and rules; `gpufare policy explain` lists them'),
  budgets: z.array(BudgetRow).optional(),
  exemptions: z.array(ExemptionRow).optional().describe('Rules that do not count for a while, and why'),
  stamp: z
    .enum(['on', 'off'])
    .optional()
    .describe('Whether the scheduler keeps the quote beside the job, as a comment or annotation; on where left out'),
  notify: z
    .array(name)
    .min(1)
    .optional()
    .describe("Program and arguments to run when a budget is crossed; counts only in the user's or the site's file"),
})
export type ConfigFile = z.infer<typeof ConfigFile>

/** Clusters whose scheduler is missing or misspelt, for the faults that they have beside it. */
export const looseClusters = {
  slurm: SlurmCluster.extend({ scheduler: z.unknown().optional() }),
  kubernetes: KubernetesCluster.extend({ scheduler: z.unknown().optional() }),
}

/** JSON Schema (draft 2020-12) of gpufare.yaml, for editors. */
export function configJsonSchema(): object {
  return { title: 'gpufare.yaml', ...z.toJSONSchema(ConfigFile) }
}
