import { isDeepStrictEqual } from 'node:util'
import { type DocumentPath, isMapping, valueAt, type YamlDocument } from '../../document.ts'
import type { Manifest } from '../../manifest.ts'
import type { Retarget } from '../manifest-format.ts'
import { byHand, must } from './by-hand.ts'
import { type Alteration, alterText, insertEntry, removeLine, renameKey, replaceScalar } from './edits.ts'
import { labelMeaning, requiredLabels } from './gpu-type.ts'
import type { Kind } from './kinds.ts'
import type { Surroundings } from './neighbours.ts'
import type { KubernetesObject } from './objects.ts'
import { deviceOf } from './resources.ts'
import { alterCommands, alterProcesses, alterToldGpus, keepEntrypoint } from './retarget-programs.ts'
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
  const text = alterText(manifest, documents, altered)
  if (text === undefined) {
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
