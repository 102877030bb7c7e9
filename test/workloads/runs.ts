import { type CommandLine, findCommandLines } from '../../src/command-lines.ts'
import { openDatasets } from '../../src/dataset.ts'
import { type Declarations, readDeclarations } from '../../src/declarations.ts'
import type { Job, Role } from '../../src/job.ts'
import type { Model, ModelTable } from '../../src/model.ts'
import { sourced } from '../../src/sourced.ts'
import type { Warning } from '../../src/warning.ts'
import type { Workload } from '../../src/workload.ts'
import { readWorkloads } from '../../src/workloads/index.ts'
import type { ReferredFiles } from '../../src/workloads/workload-reader.ts'

const said = { kind: 'manifest', place: { file: 'job.sbatch', line: 1 } } as const

/** What a test job asks for and says besides its script. */
export interface Setting {
  readonly nodes?: number
  readonly gpus?: number
  readonly variables?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  /** `#GPUFARE` lines, `epochs=3`. */
  readonly declared?: readonly string[]
  readonly moreRoles?: readonly Role[]
}

export function roleNamed(name: string, nodes: number, gpus: number, commandLines: readonly CommandLine[]): Role {
  return {
    name,
    replicas: sourced(nodes, said),
    gpusPerReplica: sourced(gpus, said),
    gpuCount: sourced(nodes * gpus, said),
    gpuType: { names: [], basis: 'none' },
    exclusive: false,
    partitions: [],
    commandLines,
    tasks: 1,
    concurrentTasks: 1,
  }
}

/** The model that tests know by name, with round figures. */
export const tinyModel: Model = { name: 'tiny-1b', kind: 'decoder', parameterCount: 1e9, activeParameterCount: 1e9 }

const models: ModelTable = {
  find: spelling => (spelling === 'tiny1b' ? { model: tinyModel, source: 'made up for a test' } : undefined),
}

/** The data sets that tests know by name, with round figures. */
const datasets = openDatasets([
  { name: 'tiny-images', aliases: 'lab/tiny-images;tinyimg', samples: '1000', source: 'made up for a test' },
  { name: 'tiny-text', aliases: 'lab/tiny-text/raw', tokens: '8192', tokenizer: 'gpt2', source: 'made up for a test' },
])

/** Reads the runs of a script on so many GPUs. */
export function readScript(
  script: string,
  setting: Setting = {},
): { workloads: readonly Workload[]; warnings: readonly Warning[] } {
  const { nodes = 1, gpus = 1, variables = {}, declared = [], moreRoles = [] } = setting
  const found = findCommandLines(script, { file: 'job.sbatch', firstLine: 1, variables, arguments: [] })
  const job: Job = {
    name: 'job',
    scheduler: 'slurm',
    kind: 'batch script',
    place: { file: 'job.sbatch', line: 1 },
    roles: [roleNamed('job', nodes, gpus, found.commandLines), ...moreRoles],
    endless: false,
    destination: {},
    declarations: declarationsOf(declared),
    warnings: [],
  }
  const files: ReferredFiles = new Map(Object.entries(setting.files ?? {}).map(([path, text]) => [path, { text }]))
  return readWorkloads(job, files, models, datasets)
}

function declarationsOf(lines: readonly string[]): Declarations {
  return readDeclarations(
    lines.map((line, index) => {
      const at = line.indexOf('=')
      return { key: line.slice(0, at), value: line.slice(at + 1), place: { file: 'job.sbatch', line: index + 2 } }
    }),
  ).declarations
}

/** The values of the only run, without where they came from. */
export function valuesOf(script: string, setting: Setting = {}): Record<string, unknown> {
  const { workloads } = readScript(script, setting)
  const [workload, ...more] = workloads
  if (workload === undefined || more.length > 0) throw new Error(`${workloads.length} runs, where one was to be read`)
  return Object.fromEntries(
    Object.entries(workload).map(([key, value]) => [
      key,
      typeof value === 'object' && 'origin' in value ? value.value : value,
    ]),
  )
}
