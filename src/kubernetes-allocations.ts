import {
  askForJobs,
  askForNodeLabels,
  askForPods,
  type ClusterQuery,
  type KeptJobs,
} from './accounting/kubernetes-cluster.ts'
import { courseOf } from './accounting/kubernetes-course.ts'
import { resourceOf } from './accounting/kubernetes-resources.ts'
import type { KeptObject, Pod } from './accounting/kubernetes-schema.ts'
import { startsOf } from './accounting/kubernetes-starts.ts'
import { GpufareError } from './errors.ts'
import type { Allocation } from './history/allocation.ts'
import { requestOf } from './kubernetes-runs.ts'
import { gpuTypeOfNode } from './manifests/kubernetes/gpu-type.ts'
import type { QuoteRecord } from './quote-record.ts'
import { quoteAnnotation } from './schedulers/kubernetes/accepted.ts'
import { readContext } from './schedulers/kubernetes/rehearsal.ts'

/** Whose jobs are asked for. */
export interface KubernetesReview {
  /** What was quoted: says where else than here it is looked. */
  readonly records: readonly QuoteRecord[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Seconds since 1970; what had ended before is left out. */
  readonly sinceSeconds: number
  readonly nowSeconds: number
  /** In every namespace of the current context. */
  readonly everybody: boolean
  readonly timeoutMilliseconds: number
}

/** What clusters tell, and what could not be asked. */
export interface KubernetesAnswer {
  readonly allocations: readonly Allocation[]
  /** Those of them that were quoted, by their ids. */
  readonly quoted: ReadonlySet<string>
  readonly faults: readonly string[]
}

/**
 * What jobs of Kubernetes held, as far as their objects are still there: in the current context and namespace, and where quoted jobs were
 * created. Clusters that do not answer are told of and left out.
 */
export async function kubernetesAllocations(review: KubernetesReview): Promise<KubernetesAnswer> {
  const records = review.records.filter(({ scheduler }) => scheduler === 'kubernetes')
  const answers = await Promise.all(
    (await placesOf(records, review)).map(async (query): Promise<KubernetesAnswer> => {
      try {
        const jobs = await askForJobs(query)
        const own = records.filter(each => isAt(each, query))
        const allocations = [...(await heldIn(jobs, own, query, review)), ...goneFrom(jobs, own)]
        const ids = new Set(own.flatMap(({ id }) => id ?? []))
        const quoted = allocations.filter(({ jobId, comment }) => comment !== '' || ids.has(jobId))
        const { refusal } = jobs
        return {
          allocations,
          quoted: new Set(quoted.map(({ jobId }) => jobId)),
          faults: refusal === undefined ? [] : [`not every job of ${query.context} can be seen: ${refusal}`],
        }
      } catch (error) {
        if (!(error instanceof GpufareError)) throw error
        return {
          allocations: [],
          quoted: new Set(),
          faults: [`what jobs of ${query.context} took is not known: ${error.message}`],
        }
      }
    }),
  )
  return {
    allocations: onceEach(answers),
    quoted: new Set(answers.flatMap(({ quoted }) => [...quoted])),
    faults: [...new Set(answers.flatMap(({ faults }) => faults))],
  }
}

/** Several contexts may be one cluster: of a job counts the first answer that knows it. */
function onceEach(answers: readonly KubernetesAnswer[]): readonly Allocation[] {
  const knowing = new Map<string, KubernetesAnswer>()
  for (const isGone of [false, true]) {
    for (const answer of answers) {
      for (const { jobId, state } of answer.allocations) {
        if ((state === 'gone') === isGone && !knowing.has(jobId)) knowing.set(jobId, answer)
      }
    }
  }
  return answers.flatMap(answer => answer.allocations.filter(({ jobId }) => knowing.get(jobId) === answer))
}

/** The current context with its namespace, and wherever else records are of. */
async function placesOf(records: readonly QuoteRecord[], review: KubernetesReview): Promise<readonly ClusterQuery[]> {
  const { environment, timeoutMilliseconds } = review
  const asking = { environment, timeoutMilliseconds }
  const here = await readContext({ schedulerArguments: [], environment }).catch(() => undefined)
  const current: ClusterQuery[] =
    here === undefined || here.context === ''
      ? []
      : [{ ...asking, context: here.context, ...(!review.everybody && { namespace: here.namespace || 'default' }) }]
  const places = new Map(current.map(query => [keyOf(query), query]))
  for (const record of records) {
    const { cluster: context, namespace = 'default' } = record
    if (context === undefined || current.some(query => isAt(record, query))) continue
    const query = { ...asking, context, namespace }
    places.set(keyOf(query), query)
  }
  return [...places.values()]
}

function keyOf({ context, namespace }: ClusterQuery): string {
  return JSON.stringify([context, namespace])
}

function isAt({ cluster, namespace = 'default' }: QuoteRecord, query: ClusterQuery): boolean {
  return cluster === query.context && (query.namespace === undefined || query.namespace === namespace)
}

/** What the objects that nobody else made held in the time; of those that were quoted, their pods tell more. */
async function heldIn(
  { objects }: KeptJobs,
  records: readonly QuoteRecord[],
  query: ClusterQuery,
  { sinceSeconds, nowSeconds }: KubernetesReview,
): Promise<readonly Allocation[]> {
  const ids = new Set(records.flatMap(({ id }) => id ?? []))
  const owners = new Map(objects.map(object => [object.metadata.uid, object]))
  const runs = objects.flatMap(object => runIn(object, owners))
  const isRecent = ({ object }: Run) => (courseOf(object)?.endSeconds ?? nowSeconds) >= sinceSeconds
  const recent = runs.filter(isRecent)
  const quoted = recent.filter(({ id, stamp }) => stamp !== '' || ids.has(id))
  const pods = await askForPods(
    quoted.map(({ object }) => object),
    query,
  )
  const nodes = new Set([...pods.values()].flat().flatMap(({ spec }) => spec.nodeName ?? []))
  const labels = await askForNodeLabels([...nodes], query)
  return recent.flatMap(run => {
    const own = pods.get(run.object.metadata.uid) ?? []
    const types = new Set(own.flatMap(({ spec }) => gpuTypeOfNode(labels.get(spec.nodeName ?? '') ?? {}) ?? []))
    return allocationsOf(run, own, types, query, nowSeconds)
  })
}

/** An object that is a run, and the submission that it belongs to. */
interface Run {
  readonly object: KeptObject
  readonly id: string
  readonly name: string
  /** Of the runs of what starts again and again, its own name; empty elsewhere. */
  readonly task: string
  readonly stamp: string
}

/** None of what another object made (it is that one's), unless by the clock: then all runs of a CronJob are tasks of it. */
function runIn(object: KeptObject, objects: ReadonlyMap<string, KeptObject>): readonly Run[] {
  const { name, uid, ownerReferences, annotations } = object.metadata
  const stamp = annotations[quoteAnnotation] ?? ''
  const [owner] = ownerReferences
  if (owner === undefined) {
    const isClock = /^Cron(?:Job|Workflow)$/.test(object.kind ?? '')
    const hasRuns = isClock && [...objects.values()].some(each => each.metadata.ownerReferences[0]?.uid === uid)
    return hasRuns ? [] : [{ object, id: uid, name, task: '', stamp }]
  }
  if (!/^Cron(?:Job|Workflow)$/.test(owner.kind)) return []
  const ownerStamp = objects.get(owner.uid)?.metadata.annotations[quoteAnnotation] ?? ''
  return [{ object, id: owner.uid, name: owner.name, task: name, stamp: ownerStamp }]
}

function allocationsOf(
  { object, id, name, task, stamp }: Run,
  pods: readonly Pod[],
  typesOfNodes: ReadonlySet<string>,
  { context }: ClusterQuery,
  nowSeconds: number,
): readonly Allocation[] {
  const course = courseOf(object)
  if (course === undefined) return []
  const request = requestOf(object)
  const [ofNodes] = typesOfNodes
  const gpuType = typesOfNodes.size === 1 ? ofNodes : request?.gpuType
  return startsOf(course, pods, nowSeconds).map(start => ({
    ...start,
    cluster: context,
    jobId: id,
    task,
    component: '',
    submitSeconds: course.submitSeconds,
    gpus: request?.gpusAtOnce ?? 0,
    ...(gpuType !== undefined && { gpuType }),
    user: '',
    account: object.metadata.namespace,
    name,
    comment: stamp,
    ...(request?.inTurns === true && { isAllTasks: true }),
  }))
}

/** Those that were created and are no longer there, where every kind could be looked at. */
function goneFrom({ objects, refusal }: KeptJobs, records: readonly QuoteRecord[]): readonly Allocation[] {
  const there = new Set(objects.flatMap(({ metadata }) => [metadata.uid, ...metadata.ownerReferences.map(o => o.uid)]))
  return records.flatMap((record): Allocation[] => {
    const { id, cluster = '', namespace = '', name, kind, at } = record
    const canEnd = kind === 'Pod' || resourceOf(kind) !== undefined
    if (refusal !== undefined || id === undefined || there.has(id) || !canEnd) return []
    return [
      {
        cluster,
        jobId: id,
        task: '',
        component: '',
        state: 'gone',
        submitSeconds: Date.parse(at) / 1_000,
        elapsedSeconds: 0,
        gpus: 0,
        user: '',
        account: namespace,
        name,
        comment: '',
      },
    ]
  })
}
