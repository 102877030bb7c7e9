import { askForObjects, type Finished } from './accounting/kubernetes.ts'
import { resourceOf } from './accounting/kubernetes-resources.ts'
import type { KeptObject } from './accounting/kubernetes-schema.ts'
import type { EarlierRun } from './history/earlier-run.ts'
import { maskedName } from './history/names.ts'
import type { Job } from './job.ts'
import { readJobs } from './manifests/index.ts'

/** How long the cluster is waited for beside a quote. */
const timeoutMilliseconds = 2_000

/** Objects of one name that are read as manifests; older ones no longer change a forecast. */
const mostObjects = 50

type Environment = Readonly<Record<string, string | undefined>>

/** Finished runs of jobs that the cluster still has, found by their names. */
export async function runsOfKubernetes(jobs: readonly Job[], environment: Environment): Promise<readonly EarlierRun[]> {
  const asked = new Map<string, Job[]>()
  for (const job of jobs) {
    const resource = resourceOf(job.kind)
    if (resource === undefined || job.scheduler !== 'kubernetes') continue
    const key = JSON.stringify([resource, job.destination['namespace'] ?? null])
    asked.set(key, [...(asked.get(key) ?? []), job])
  }
  const answers = await Promise.all(
    [...asked.values()].map(async ([first, ...others]) => {
      const resource = first === undefined ? undefined : resourceOf(first.kind)
      if (first === undefined || resource === undefined) return []
      const found = await askForObjects(resource, first.destination['namespace'], environment, timeoutMilliseconds)
      const names = new Set([first, ...others].map(({ name }) => maskedName(name)))
      const alike = found.filter(({ run }) => names.has(maskedName(run.name)))
      const latest = alike.toSorted((a, b) => a.run.endSeconds - b.run.endSeconds).slice(-mostObjects)
      return latest.flatMap(each => runOf(each) ?? [])
    }),
  )
  return answers.flat()
}

function runOf({ run, object }: Finished): EarlierRun | undefined {
  const request = requestOf(object)
  // In turns it took more than one run.
  if (request === undefined || request.inTurns) return undefined
  const { inTurns: _, gpusAtOnce: __, ...asked } = request
  return { ...run, ...asked }
}

/** What an object asks for: GPUs and nodes of one task. */
interface ObjectRequest extends Pick<EarlierRun, 'gpus' | 'gpuType' | 'nodes'> {
  /** Of all tasks that run at one time. */
  readonly gpusAtOnce: number
  /** Some tasks run after others. */
  readonly inTurns: boolean
}

/** What an object asks for, read as its manifest is, so that both are counted alike; undefined where its kind or version is not known. */
export function requestOf(object: KeptObject): ObjectRequest | undefined {
  const { name } = object.metadata
  const text = JSON.stringify(object)
  const manifest = { path: name, name, text, bytes: new TextEncoder().encode(text), environment: {} }
  const [job] = readable({ ...manifest, schedulerArguments: [], scriptArguments: [] })
  if (job === undefined) return undefined
  const types = new Set(job.roles.flatMap(role => role.gpuType.names.map(({ value }) => value)))
  const [gpuType] = types
  return {
    gpus: job.roles.reduce((sum, role) => sum + role.gpuCount.value, 0),
    gpusAtOnce: job.roles.reduce((sum, role) => sum + role.gpuCount.value * role.concurrentTasks, 0),
    nodes: job.roles.reduce((sum, role) => sum + role.replicas.value, 0),
    ...(types.size === 1 && gpuType !== undefined && { gpuType }),
    inTurns: job.roles.some(role => role.tasks > role.concurrentTasks),
  }
}

function readable(manifest: Parameters<typeof readJobs>[0]): readonly Job[] {
  try {
    return readJobs(manifest)
  } catch {
    // an object of a version that is not known
    return []
  }
}
