import { type DocumentPath, inWords, isMapping, valueAt } from '../../document.ts'
import type { Warning } from '../../warning.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'

/** A row made up for a kind that has none, from the pod templates in an object; undefined where it holds none. */
export function inferKind(object: KubernetesObject): Kind | undefined {
  const templates = findPodTemplates(object.value, [])
  if (templates.length === 0) return undefined
  const [deadline, ...more] = findDeadlines(object)
  const isOfAll = more.length === 0 && deadline?.every(step => typeof step === 'string') === true
  return {
    group: object.group,
    kind: object.kind,
    ...(isOfAll && { deadline }),
    roles: templates.map(path => ({
      at: [],
      pod: path,
      name: roleName(path, object),
      copies: countsAbove(path, object),
    })),
  }
}

/** What was assumed of an object that is read through its pod templates alone, and which numbers may mean more of them. */
export function inferredWarnings(object: KubernetesObject, kind: Kind): readonly Warning[] {
  const templates = kind.roles.map(role => inWords([...object.path, ...role.at, ...role.pod])).join(', ')
  const text = `${object.kind} (${object.group}/${object.version}) is not a kind gpufare knows: its pods are read from ${templates}, as many as "replicas" and "parallelism" above them say`
  const inferred = {
    code: 'gpu-count-inferred',
    text,
    place: object.document.placeOf([...object.path, 'kind']),
  } as const
  const [doubt, ...more] = kind.roles.flatMap(role => otherNumbersAbove([...role.at, ...role.pod], object))
  if (doubt === undefined) return [inferred]
  const others = [doubt, ...more].map(path => `${inWords([...object.path, ...path])}: ${valueAt(object.value, path)}`)
  const asked = `whether these are numbers of pods is not known, and they count for none: ${[...new Set(others)].join(', ')}`
  const place = object.document.placeOf([...object.path, ...doubt])
  return [inferred, { code: 'gpu-count-unknown', text: asked, place }]
}

/** Keys that may say how many pods there are, in APIs that nobody here knows. */
const NUMBER_KEY =
  /count|size|num(?:ber)?(?:of)?[_A-Z]|instances|nodes|workers|pods|hosts|(?:min|max|desired)_?replicas/i

function otherNumbersAbove(path: DocumentPath, { value }: KubernetesObject): readonly DocumentPath[] {
  return path.flatMap((_, depth) => {
    const at = path.slice(0, depth)
    const beside = valueAt(value, at)
    const numbers = Object.entries(isMapping(beside) ? beside : {}).filter(
      ([key, number]) => typeof number === 'number' && number > 1 && NUMBER_KEY.test(key),
    )
    return numbers.map(([key]) => [...at, key])
  })
}

function findPodTemplates(value: unknown, path: DocumentPath): readonly DocumentPath[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findPodTemplates(item, [...path, index]))
  if (!isMapping(value)) return []
  const spec = value['spec']
  if (path.length > 0 && isMapping(spec) && Array.isArray(spec['containers'])) return [path]
  return Object.entries(value).flatMap(([key, inner]) => findPodTemplates(inner, [...path, key]))
}

/** Where an object says activeDeadlineSeconds, its pods' own left out: in every API that has it, what it stands in may take no longer. */
export function findDeadlines({ value }: KubernetesObject): readonly DocumentPath[] {
  return deadlinesIn(value, [])
}

function deadlinesIn(value: unknown, path: DocumentPath): readonly DocumentPath[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => deadlinesIn(item, [...path, index]))
  if (!isMapping(value) || Array.isArray(value['containers'])) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'activeDeadlineSeconds' ? [[...path, key]] : deadlinesIn(inner, [...path, key]),
  )
}

/** The numbers of pods or copies on the way to a pod template: each multiplies those above it. */
function countsAbove(path: DocumentPath, object: KubernetesObject): readonly DocumentPath[] {
  return path
    .flatMap((_, depth) => ['replicas', 'parallelism'].map(key => [...path.slice(0, depth), key]))
    .filter(count => valueAt(object.value, count) !== undefined)
}

/** `spec.worker.template` is the role "worker". */
function roleName(path: DocumentPath, object: KubernetesObject): string {
  const names = path.filter(step => typeof step === 'string' && step !== 'template' && step !== 'spec')
  return String(names.at(-1) ?? object.kind.toLowerCase())
}
