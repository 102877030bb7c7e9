import { type DocumentPath, valueAt, type YamlDocument } from '../../document.ts'
import type { Retarget } from '../manifest-format.ts'
import { byHand, must } from './by-hand.ts'
import { type Alteration, replaceScalar } from './edits.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'

/** `nprocPerNode` and `slotsPerWorker` follow the GPUs of a pod where they were equal to them. */
export function alterProcesses(
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
export function alterToldGpus({ document }: KubernetesObject, role: RoleReading, target: Retarget): Alteration[] {
  const at = role.row.toldGpus && [...role.path, ...role.row.toldGpus]
  const told = at && Number(valueAt(document.value, at) ?? Number.NaN)
  if (at === undefined || told !== role.reading.gpus.value || told === target.gpusPerReplica) return []
  const alteration = replaceScalar(document, at, target.gpusPerReplica)
  return [must(alteration, document, at, 'the number of GPUs that its program is told cannot be replaced in place')]
}

/** An entrypoint that spreads over all GPUs says their number in words of its own: it has to stay right. */
export function keepEntrypoint(
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
export function alterCommands({ document }: KubernetesObject, role: RoleReading, target: Retarget): Alteration[] {
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
