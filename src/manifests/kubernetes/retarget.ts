import { isDeepStrictEqual } from 'node:util'
import { type DocumentPath, isMapping, readYaml, valueAt, type YamlDocument } from '../../document.ts'
import { describePlace, GpufareError } from '../../errors.ts'
import type { Manifest } from '../../manifest.ts'
import type { Retarget } from '../manifest-format.ts'
import { type Alteration, applyEdits, insertEntry, removeLine, renameKey, replaceScalar, withChange } from './edits.ts'
import { labelMeaning, requiredLabels } from './gpu-type.ts'
import type { Kind } from './kinds.ts'
import type { Surroundings } from './neighbours.ts'
import type { KubernetesObject } from './objects.ts'
import { deviceOf } from './resources.ts'
import { type RoleReading, readRoles } from './roles.ts'
import { TranslatedDocument } from './translations/translation.ts'

/** An object that runs pods, and how to read it. */
interface Target {
  readonly object: KubernetesObject
  readonly kind: Kind
}

/**
 * The manifest's text with other GPUs in every role that has some. Only figures and labels are replaced in place; the
 * result must read as the old documents with just these changes, or GpufareError says what to do by hand.
 */
export function retargetObjects(
  manifest: Manifest,
  documents: readonly YamlDocument[],
  objects: readonly Target[],
  surroundings: Surroundings,
  target: Retarget,
): string {
  const altered = new Map<YamlDocument, Alteration[]>()
  for (const { object, kind } of objects) {
    for (const alteration of alterObject(object, kind, surroundings, target)) {
      for (const [document, written] of inFile(object.document, alteration)) {
        altered.set(document, [...(altered.get(document) ?? []), written])
      }
    }
  }
  const elsewhere = [...altered.keys()].find(document => !documents.includes(document))
  if (elsewhere !== undefined) throw byHand({ file: manifest.name }, 'a manifest within the manifest asks for them')
  const edits = [...altered.values()].flat().flatMap(alteration => alteration.edits)
  const text = applyEdits(manifest.text, edits)
  if (text === undefined || !readsAsWanted(text, manifest.name, documents, altered)) {
    throw byHand({ file: manifest.name }, 'anchors or unusual formatting stand where the GPUs are asked for')
  }
  return text
}

/** An alteration of a document that was put together from parts of others, as the changes that these others see. */
function inFile(
  document: YamlDocument,
  { changes, edits }: Alteration,
): readonly (readonly [YamlDocument, Alteration])[] {
  if (!(document instanceof TranslatedDocument)) return [[document, { changes, edits }]]
  const placed = changes.map(change => {
    const { document: holder, path } = document.written(change.path)
    const kind = valueAt(holder.value, ['kind'])
    if (holder !== document.original && typeof kind === 'string' && kind.startsWith('Cluster')) {
      throw byHand(holder.placeOf(path), `a ${kind} is for all jobs that name it: say it in the job that uses it`)
    }
    const isComputed = !isDeepStrictEqual(valueAt(document.value, change.path), valueAt(holder.value, path))
    if (isComputed)
      throw byHand(holder.placeOf(path), 'what it asks for is put together from parameters or several numbers')
    return { holder, change: { ...change, path } }
  })
  const holders = [...new Set(placed.map(({ holder }) => holder))]
  return holders.map((holder, index) => [
    holder,
    { changes: placed.flatMap(each => (each.holder === holder ? [each.change] : [])), edits: index === 0 ? edits : [] },
  ])
}

function readsAsWanted(
  text: string,
  file: string,
  documents: readonly YamlDocument[],
  altered: ReadonlyMap<YamlDocument, readonly Alteration[]>,
): boolean {
  const after = readYaml(text, file, 'kubectl')
  const isAsWanted = (document: YamlDocument, index: number) => {
    const changes = (altered.get(document) ?? []).flatMap(alteration => alteration.changes)
    return isDeepStrictEqual(changes.reduce(withChange, document.value), after[index]?.value)
  }
  return documents.length === after.length && documents.every(isAsWanted)
}

function alterObject(object: KubernetesObject, kind: Kind, surroundings: Surroundings, target: Retarget): Alteration[] {
  const { roles } = readRoles(object, kind, surroundings)
  const gpuRoles = roles.filter(role => role.reading.gpus.value > 0)
  const gpus = gpuRoles.map(role => role.reading.gpus.value)
  return gpuRoles
    .flatMap(role => [
      ...alterReplicas(object, kind, role, target),
      ...alterDevices(object, role, target),
      ...alterLabels(object, role, target),
      ...alterCommands(object, role, target),
      ...alterToldGpus(object, role, target),
    ])
    .concat(alterProcesses(object, kind, gpus, target))
    .concat(keepEntrypoint(object, kind, gpuRoles, target))
}

function byHand(place: { file: string; line?: number }, reason: string): GpufareError {
  return new GpufareError(
    `${describePlace(place)}  cannot be changed to other GPUs safely: ${reason}`,
    2,
    'change it by hand, or submit it as it is',
  )
}

/** An alteration that must be possible. */
function must(
  alteration: Alteration | undefined,
  document: YamlDocument,
  path: DocumentPath,
  reason: string,
): Alteration {
  if (alteration === undefined) throw byHand(document.placeOf(path), reason)
  return alteration
}

function alterReplicas(object: KubernetesObject, kind: Kind, role: RoleReading, { replicas }: Retarget): Alteration[] {
  const { document } = object
  if (replicas === role.replicas.value) return []
  if (role.tasks > 1 || kind.onEveryNode === true) {
    throw byHand(document.placeOf(role.path), `its pods are runs of their own, ${replicas} cannot share one`)
  }
  const { row } = role
  const copies = (row.copies ?? []).map(copy => valueAt(document.value, [...role.path, ...copy]) ?? 1)
  if (row.apartFrom !== undefined || copies.some(copy => copy !== 1)) {
    throw byHand(document.placeOf(role.path), 'several numbers make up its pods')
  }
  const [smallest, largest] = [row.range?.smallest, row.range?.largest].map(bound =>
    Number(bound && (valueAt(document.value, [...role.path, ...bound]) ?? Number.NaN)),
  )
  if (replicas < (smallest ?? Number.NaN) || replicas > (largest ?? Number.NaN)) {
    throw byHand(document.placeOf(role.path), `its bounds are ${smallest} and ${largest} pods, not ${replicas}`)
  }
  if (row.replicas === undefined)
    throw byHand(document.placeOf(role.path), `${object.kind} is one pod, ${replicas} would be needed`)
  const counts = [row.replicas, ...(row.completions === undefined ? [] : [row.completions])]
  return counts.flatMap(count => {
    const path = [...role.path, ...count]
    const current = valueAt(document.value, path)
    // A Job without completions is done when any of its pods is: that stays so.
    if (current === undefined && count === row.completions) return []
    const alteration =
      current === undefined
        ? insertEntry(document, path.slice(0, -1), String(path.at(-1)), replicas)
        : replaceScalar(document, path, replicas)
    return [must(alteration, document, path, 'the number of pods cannot be replaced in place')]
  })
}

function alterDevices({ document }: KubernetesObject, role: RoleReading, target: Retarget): Alteration[] {
  const { claim, share } = role.reading
  if (claim !== undefined) throw byHand(document.placeOf(role.podPath), 'its GPUs come by a resource claim')
  if (share?.kind === 'fraction') throw byHand(document.placeOf(role.podPath), 'it takes a part of a GPU')
  const holders = deviceHolders(document, role)
  const [holder] = holders
  const resourceName = target.resourceName ?? holder?.name
  const isSame = role.reading.gpus.value === target.gpusPerReplica && holders.every(({ name }) => name === resourceName)
  if (isSame || resourceName === undefined) return []
  if (
    new Set(holders.map(({ container }) => container.join('/'))).size > 1 ||
    new Set(holders.map(({ name }) => name)).size > 1
  ) {
    throw byHand(document.placeOf(role.podPath), 'several containers of its pod share the GPUs')
  }
  return holders.flatMap(({ name, mapping }) => {
    const path = [...mapping, name]
    const amount = must(
      replaceScalar(document, path, target.gpusPerReplica),
      document,
      path,
      'the number of GPUs cannot be replaced in place',
    )
    if (name === resourceName) return [amount]
    const renamed = must(
      renameKey(document, mapping, name, resourceName),
      document,
      path,
      'the resource name cannot be replaced in place',
    )
    // The key moves with the figure that was just replaced.
    const [removal] = renamed.changes
    const changes = [
      ...(removal === undefined ? [] : [removal]),
      { path: [...mapping, resourceName], value: amount.changes[0]?.value },
    ]
    return [{ changes, edits: [...renamed.edits, ...amount.edits] }]
  })
}

interface DeviceHolder {
  readonly name: string
  readonly container: DocumentPath
  /** Path of the `limits` or `requests` that it stands in. */
  readonly mapping: DocumentPath
}

function deviceHolders(document: YamlDocument, role: RoleReading): readonly DeviceHolder[] {
  return (['initContainers', 'containers'] as const).flatMap(part =>
    (role.pod.spec[part] ?? []).flatMap((_, index) => {
      const container = [...role.podPath, 'spec', part, index]
      return ['limits', 'requests'].flatMap(kind => {
        const mapping = [...container, 'resources', kind]
        const amounts = valueAt(document.value, mapping)
        const names = Object.keys(isMapping(amounts) ? amounts : {}).filter(name => isGpu(name))
        return names.map(name => ({ name, container, mapping }))
      })
    }),
  )
}

function isGpu(resourceName: string): boolean {
  const device = deviceOf(resourceName)
  return device?.kind === 'gpu' || device?.kind === 'share'
}

/** Labels about the GPU or machine that was asked for give way to those of the new one. */
const ABOUT_OLD_GPU = /(?:gpu|accelerator)[-.](?:count|memory|family|machine|manufacturer|compute|replicas)/

function alterLabels({ document }: KubernetesObject, role: RoleReading, { nodeSelector }: Retarget): Alteration[] {
  if (nodeSelector === undefined) return []
  const podSpec = [...role.podPath, 'spec']
  const labels = requiredLabels(role.pod.spec, podSpec)
  const isSelector = (paths: readonly DocumentPath[]) => paths[0]?.at(-2) === 'nodeSelector'
  const obsolete = labels.filter(({ key }) => labelMeaning(key) !== undefined || ABOUT_OLD_GPU.test(key))
  const alterations: Alteration[] = []
  const missing = new Map(Object.entries(nodeSelector))
  for (const { key, paths } of labels) {
    const value = missing.get(key)
    const [path] = paths
    if (value === undefined || path === undefined) continue
    if (paths.length > 1) throw byHand(document.placeOf(path), `its affinity rule allows several values of ${key}`)
    if (valueAt(document.value, path) !== value) {
      alterations.push(
        must(replaceScalar(document, path, value), document, path, `label ${key} cannot be replaced in place`),
      )
    }
    missing.delete(key)
  }
  const leftOver = obsolete.filter(({ key }) => nodeSelector[key] === undefined)
  for (const { key, paths } of leftOver) {
    const [path = podSpec] = paths
    if (!isSelector(paths)) throw byHand(document.placeOf(path), `its affinity rule asks for ${key}`)
    alterations.push(replaceLabel(document, path.slice(0, -1), key, missing))
  }
  return [...alterations, ...addLabels(document, podSpec, role, missing)]
}

/** Writes a new label where an obsolete one stood, or takes the obsolete one away. */
function replaceLabel(
  document: YamlDocument,
  selector: DocumentPath,
  key: string,
  missing: Map<string, string>,
): Alteration {
  const path = [...selector, key]
  const [next] = missing
  if (next === undefined)
    return must(removeLine(document, selector, key), document, path, `label ${key} cannot be taken out in place`)
  const [newKey, value] = next
  missing.delete(newKey)
  const renamed = must(
    renameKey(document, selector, key, newKey),
    document,
    path,
    `label ${key} cannot be replaced in place`,
  )
  const replaced = must(
    replaceScalar(document, path, value),
    document,
    path,
    `label ${key} cannot be replaced in place`,
  )
  return {
    changes: [
      { path, value: undefined },
      { path: [...selector, newKey], value },
    ],
    edits: [...renamed.edits, ...replaced.edits],
  }
}

function addLabels(
  document: YamlDocument,
  podSpec: DocumentPath,
  role: RoleReading,
  missing: ReadonlyMap<string, string>,
): Alteration[] {
  if (missing.size === 0) return []
  const reason = 'a nodeSelector cannot be added in place'
  const selector = [...podSpec, 'nodeSelector']
  if (role.pod.spec.nodeSelector === undefined) {
    return [
      must(insertEntry(document, podSpec, 'nodeSelector', Object.fromEntries(missing)), document, podSpec, reason),
    ]
  }
  return [...missing].map(([key, value]) =>
    must(insertEntry(document, selector, key, value), document, selector, reason),
  )
}

/** `nprocPerNode` and `slotsPerWorker` follow the GPUs of a pod where they were equal to them. */
function alterProcesses(
  { document, path }: KubernetesObject,
  kind: Kind,
  gpus: readonly number[],
  target: Retarget,
): Alteration[] {
  const at = kind.processesPerPod && [...path, ...kind.processesPerPod]
  const processes = at && Number(valueAt(document.value, at))
  if (at === undefined || processes === target.gpusPerReplica || !gpus.some(count => count === processes)) return []
  return [
    must(
      replaceScalar(document, at, target.gpusPerReplica),
      document,
      at,
      'the number of processes cannot be replaced in place',
    ),
  ]
}

/** What a program is told of its pod's GPUs follows where it was right. */
function alterToldGpus({ document }: KubernetesObject, role: RoleReading, target: Retarget): Alteration[] {
  const at = role.row.toldGpus && [...role.path, ...role.row.toldGpus]
  const told = at && Number(valueAt(document.value, at) ?? Number.NaN)
  if (at === undefined || told !== role.reading.gpus.value || told === target.gpusPerReplica) return []
  const alteration = replaceScalar(document, at, target.gpusPerReplica)
  return [must(alteration, document, at, 'the number of GPUs that its program is told cannot be replaced in place')]
}

/** An entrypoint that spreads over all GPUs says their number in words of its own: it has to stay right. */
function keepEntrypoint(
  { document, path }: KubernetesObject,
  kind: Kind,
  gpuRoles: readonly RoleReading[],
  target: Retarget,
): Alteration[] {
  const at = kind.entrypoint && [...path, ...kind.entrypoint.command]
  const command = at && valueAt(document.value, at)
  const before = gpuRoles.reduce((sum, role) => sum + role.reading.gpus.value * role.replicas.value, 0)
  const after = target.gpusPerReplica * target.replicas * gpuRoles.length
  const repeats = typeof command === 'string' && new RegExp(`[= ]${before}(?![\\w.:])`).test(command)
  if (at === undefined || after === before || !repeats) return []
  throw byHand(document.placeOf(at), `its entrypoint says ${before}, the number of GPUs it has now`)
}

/** Flags of launchers that repeat the size of a job: torchrun, accelerate, mpirun. */
const PROCESSES_PER_POD = '--nproc[-_]per[-_]node|--gpus[-_]per[-_]node'
const PODS = '--nnodes|--num[-_]machines|--num[-_]nodes'
const PROCESSES = '--num[-_]processes|-np|--np'

/** The launcher's flags follow where they repeat the old size: 8 processes cannot start on 4 GPUs. */
function alterCommands({ document }: KubernetesObject, role: RoleReading, target: Retarget): Alteration[] {
  const gpus = role.reading.gpus.value
  const pods = role.replicas.value
  const sizes = [
    { flags: PROCESSES_PER_POD, from: gpus, to: target.gpusPerReplica },
    { flags: PODS, from: pods, to: target.replicas },
    { flags: PROCESSES, from: gpus * pods, to: target.gpusPerReplica * target.replicas },
  ].filter(({ from, to }) => from !== to)
  if (sizes.length === 0) return []
  return (['command', 'args'] as const).flatMap(part =>
    role.pod.spec.containers.flatMap((container, index) =>
      (container[part] ?? []).flatMap((word, wordIndex, words) => {
        const path = [...role.podPath, 'spec', 'containers', index, part, wordIndex]
        return alterWord(document, path, word, words[wordIndex - 1] ?? '', sizes)
      }),
    ),
  )
}

interface Size {
  readonly flags: string
  readonly from: number
  readonly to: number
}

function alterWord(
  document: YamlDocument,
  path: DocumentPath,
  word: string,
  before: string,
  sizes: readonly Size[],
): Alteration[] {
  const replaceIn = (text: string) =>
    sizes.reduce(
      (result, { flags, from, to }) =>
        result.replace(new RegExp(`(^|[\\s"'])(${flags})([= ]+)${from}(?![\\w.:])`, 'g'), `$1$2$3${to}`),
      text,
    )
  const separate = sizes.find(({ flags, from }) => word === String(from) && new RegExp(`^(?:${flags})$`).test(before))
  const value = separate === undefined ? replaceIn(word) : String(separate.to)
  if (value === word) return []
  if (separate !== undefined) {
    return [
      must(replaceScalar(document, path, value), document, path, 'the launcher’s size cannot be replaced in place'),
    ]
  }
  const scalar = document.scalarAt(path)
  if (scalar === undefined) throw byHand(document.placeOf(path), 'the launcher’s size cannot be replaced in place')
  const text = replaceIn(document.source.slice(scalar.start, scalar.end))
  return [{ changes: [{ path, value }], edits: [{ start: scalar.start, end: scalar.end, text }] }]
}
