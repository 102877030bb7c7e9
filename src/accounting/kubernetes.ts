import type { EarlierRun } from '../history/earlier-run.ts'
import { askProgram } from '../programs.ts'
import { courseOf } from './kubernetes-course.ts'
import type { KeptObject } from './kubernetes-schema.ts'

/** How a finished object went, without what its pods asked for, which whoever reads manifests knows. */
export type FinishedRun = Omit<EarlierRun, 'gpus' | 'gpuType' | 'nodes' | 'cpus'>

/** An object and how it went. */
export interface Finished {
  readonly run: FinishedRun
  readonly object: KeptObject
}

/**
 * Finished objects of a resource as they are there now (clusters delete them after a while): one `kubectl get`. None where the cluster does
 * not answer in time, does not have the resource or does not allow it.
 */
export async function askForObjects(
  resource: string,
  namespace: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  timeoutMilliseconds: number,
): Promise<readonly Finished[]> {
  const place = namespace === undefined ? [] : [`--namespace=${namespace}`]
  const words = ['get', resource, ...place, '--output=json', '--ignore-not-found']
  const answer = await askProgram('kubectl', words, { environment, timeoutMilliseconds }).catch(() => undefined)
  if (answer === undefined || answer.exitCode !== 0 || answer.timedOut) return []
  return readObjects(answer.stdout)
}

/** The finished objects in what `kubectl get --output=json` prints. */
export async function readObjects(text: string): Promise<readonly Finished[]> {
  const { KeptObject } = await import('./kubernetes-schema.ts')
  return (await readItems(text, KeptObject)).flatMap(object => {
    const run = runOf(object)
    return run === undefined ? [] : [{ run, object }]
  })
}

/** The items that `kubectl get --output=json` prints, without those that cannot be understood. */
export async function readItems<T>(
  text: string,
  schema: { safeParse(item: unknown): { readonly data?: T | undefined } },
): Promise<readonly T[]> {
  const { ObjectList } = await import('./kubernetes-schema.ts')
  const items = text.trim() === '' ? [] : (ObjectList.safeParse(JSON.parse(text)).data?.items ?? [])
  return items.flatMap(item => schema.safeParse(item).data ?? [])
}

function runOf(object: KeptObject): FinishedRun | undefined {
  const { metadata } = object
  const course = courseOf(object)
  if (course === undefined || course.state === 'running' || course.state === 'waiting') return undefined
  const { state, submitSeconds, startSeconds = submitSeconds, endSeconds } = course
  if (endSeconds === undefined || endSeconds < startSeconds) return undefined
  return {
    id: metadata.uid || metadata.name,
    name: nameOf(metadata),
    user: '',
    account: metadata.namespace,
    partition: '',
    qos: '',
    state,
    submitSeconds,
    startSeconds,
    endSeconds,
    elapsedSeconds: Math.round(endSeconds - startSeconds),
  }
}

/** The name that all runs of one manifest have in common: of the CronJob that made it, or what the API server put random letters behind. */
function nameOf({ name, generateName, ownerReferences }: KeptObject['metadata']): string {
  const owner = ownerReferences.find(({ kind }) => kind === 'CronJob' || kind === 'CronWorkflow')
  return owner?.name ?? generateName ?? name
}
