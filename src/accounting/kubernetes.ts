import type { EarlierRun, RunState } from '../history/earlier-run.ts'
import { askProgram } from '../programs.ts'
import { timeSeconds } from './fields.ts'
import type { FinishedObject } from './kubernetes-schema.ts'

/** Whose runs are asked for: the objects that a kind of manifest leaves behind (those of a CronJob are Jobs). */
const resources: Readonly<Record<string, string>> = {
  Job: 'jobs.batch',
  CronJob: 'jobs.batch',
  PyTorchJob: 'pytorchjobs.kubeflow.org',
  JobSet: 'jobsets.jobset.x-k8s.io',
  RayJob: 'rayjobs.ray.io',
  Workflow: 'workflows.argoproj.io',
  CronWorkflow: 'workflows.argoproj.io',
}

/** How conditions, phases and states of these kinds are called. */
const states: Readonly<Record<string, RunState>> = {
  Complete: 'completed',
  Completed: 'completed',
  Succeeded: 'completed',
  SUCCEEDED: 'completed',
  Failed: 'failed',
  FAILED: 'failed',
  Error: 'failed',
  STOPPED: 'cancelled',
}

/** How a finished object went, without what its pods asked for, which whoever reads manifests knows. */
export type FinishedRun = Omit<EarlierRun, 'gpus' | 'gpuType' | 'nodes' | 'cpus'>

/** An object and how it went. */
export interface Finished {
  readonly run: FinishedRun
  readonly object: FinishedObject
}

/** The resource that holds the runs of a kind; undefined for kinds that do not end. */
export function resourceOf(kind: string): string | undefined {
  return resources[kind]
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
  if (answer === undefined || answer.exitCode !== 0 || answer.timedOut || answer.stdout.trim() === '') return []
  return readObjects(answer.stdout)
}

/** The finished objects in what `kubectl get --output=json` prints. */
export async function readObjects(text: string): Promise<readonly Finished[]> {
  const schema = await import('./kubernetes-schema.ts')
  const list = schema.ObjectList.safeParse(JSON.parse(text))
  return (list.data?.items ?? []).flatMap(item => {
    const { data: object } = schema.FinishedObject.safeParse(item)
    const run = object === undefined ? undefined : runOf(object)
    return object === undefined || run === undefined ? [] : [{ run, object }]
  })
}

function runOf(object: FinishedObject): FinishedRun | undefined {
  const { metadata, status } = object
  const condition = status?.conditions.find(({ type, status }) => status === 'True' && states[type] !== undefined)
  const word = condition?.type ?? status?.jobStatus ?? status?.phase ?? ''
  const state = condition?.reason === 'DeadlineExceeded' ? 'timeout' : states[word]
  const submit = timeSeconds(metadata.creationTimestamp)
  const start = timeSeconds(status?.startTime ?? status?.startedAt ?? metadata.creationTimestamp)
  const end = timeSeconds(
    status?.completionTime ?? status?.endTime ?? status?.finishedAt ?? condition?.lastTransitionTime ?? '',
  )
  if (state === undefined || submit === undefined || start === undefined || end === undefined || end < start)
    return undefined
  return {
    id: metadata.uid || metadata.name,
    name: nameOf(metadata),
    user: '',
    account: metadata.namespace,
    partition: '',
    qos: '',
    state,
    submitSeconds: submit,
    startSeconds: start,
    endSeconds: end,
    elapsedSeconds: Math.round(end - start),
  }
}

/** The name that all runs of one manifest have in common: of the CronJob that made it, or what the API server put random letters behind. */
function nameOf({ name, generateName, ownerReferences }: FinishedObject['metadata']): string {
  const owner = ownerReferences.find(({ kind }) => kind === 'CronJob' || kind === 'CronWorkflow')
  return owner?.name ?? generateName ?? name
}
