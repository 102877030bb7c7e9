import { GpufareError } from '../errors.ts'
import { type Answer, askProgram } from '../programs.ts'
import { readItems } from './kubernetes.ts'
import { barePods, runResources } from './kubernetes-resources.ts'
import { KeptObject, Node, Pod } from './kubernetes-schema.ts'

/** Where in which cluster it is asked. */
export interface ClusterQuery {
  readonly context: string
  /** Absent: in all of them. */
  readonly namespace?: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly timeoutMilliseconds: number
}

/** The jobs that a namespace has. */
export interface KeptJobs {
  readonly objects: readonly KeptObject[]
  /** Why not every kind could be asked for; absent where what is not there is gone. */
  readonly refusal?: string
}

/**
 * The jobs that are there now, finished or not, of every kind that the cluster has, and pods of their own: one call for the kinds, one for each of
 * the two. Throws GpufareError where kubectl is not there or the cluster does not answer.
 */
export async function askForJobs(query: ClusterQuery): Promise<KeptJobs> {
  const offered = new Set((await ask(['api-resources', '--verbs=list', '--output=name'], query)).stdout.split('\n'))
  const names = runResources.map(({ name }) => name).filter(name => offered.has(name))
  const [jobs, pods] = await Promise.all([
    names.length === 0 ? undefined : get([names.join(',')], query),
    get(['pods', `--selector=${barePods}`], query),
  ])
  const answers = [jobs, pods].flatMap(answer => answer ?? [])
  const objects = await Promise.all(answers.map(({ stdout }) => readItems(stdout, KeptObject)))
  const refused = answers.find(({ exitCode }) => exitCode !== 0)
  return { objects: objects.flat(), ...(refused !== undefined && { refusal: causeIn(refused) }) }
}

/** Pods of jobs by the uid of their job (a pod is its own), one call for each label that pods name their job by; none where they may not be read. */
export async function askForPods(
  objects: readonly KeptObject[],
  query: ClusterQuery,
): Promise<ReadonlyMap<string, readonly Pod[]>> {
  const labels = new Set(objects.flatMap(object => podLabelOf(object) ?? []))
  const found = await Promise.all(
    Array.from(labels, async label => {
      const own = objects.filter(object => podLabelOf(object) === label)
      const selector = `--selector=${label} in (${own.map(podsNameFor).join(',')})`
      const pods = await readItems((await get(['pods', selector], query)).stdout, Pod)
      return own.map((object): readonly [string, readonly Pod[]] => [
        object.metadata.uid,
        pods.filter(
          ({ metadata }) =>
            metadata.labels[label] === podsNameFor(object) && metadata.namespace === object.metadata.namespace,
        ),
      ])
    }),
  )
  const own = objects.flatMap((object): readonly (readonly [string, readonly Pod[]])[] => {
    const pod = object.kind === 'Pod' ? Pod.safeParse(object).data : undefined
    return pod === undefined ? [] : [[object.metadata.uid, [pod]]]
  })
  return new Map([...found.flat(), ...own])
}

/** Labels of nodes by their names; of none where they may not be read, as developers often may not. */
export async function askForNodeLabels(
  names: readonly string[],
  query: ClusterQuery,
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  if (names.length === 0) return new Map()
  const words = ['get', 'nodes', ...names, '--ignore-not-found', '--output=json', `--context=${query.context}`]
  const { stdout } = await askProgram('kubectl', words, query)
  const nodes = await readItems(names.length === 1 && stdout !== '' ? `{"items":[${stdout}]}` : stdout, Node)
  return new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels]))
}

function podLabelOf({ apiVersion = '', kind = '' }: KeptObject): string | undefined {
  const group = apiVersion.split('/')[0]
  return runResources.find(({ name }) => name === `${kind.toLowerCase()}s.${group}`)?.podLabel
}

/** KubeRay's pods name their Ray cluster, which a RayJob has one of. */
function podsNameFor({ metadata, status }: KeptObject): string {
  const cluster = status?.['rayClusterName']
  return typeof cluster === 'string' && cluster !== '' ? cluster : metadata.name
}

function get(words: readonly string[], query: ClusterQuery): Promise<Answer> {
  const { namespace } = query
  const where = namespace === undefined ? '--all-namespaces' : `--namespace=${namespace}`
  return ask(['get', ...words, where, '--output=json'], query)
}

/** What kubectl answers, also where it may not show all of it. Throws GpufareError where the cluster does not answer. */
async function ask(words: readonly string[], query: ClusterQuery): Promise<Answer> {
  const answer = await askProgram('kubectl', [...words, `--context=${query.context}`], query)
  if (answer.timedOut) throw new GpufareError('the cluster does not answer', 1)
  if (answer.stdout.trim() !== '' || answer.exitCode === 0) return answer
  throw new GpufareError(causeIn(answer), 1)
}

/** Before it gives up, kubectl tells each of its tries on a line of its own; what is refused for several kinds is alike. */
function causeIn({ stderr }: Answer): string {
  const last = stderr.trim().split('\n').at(-1) ?? ''
  return last.replace(/^error: |^Error from server \(\w+\): /, '')
}
