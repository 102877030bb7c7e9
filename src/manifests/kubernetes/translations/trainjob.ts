import { type DocumentPath, isMapping, type Mapping, valueAt, wrongValue } from '../../../document.ts'
import type { Fault } from '../../../errors.ts'
import type { Warning } from '../../../warning.ts'
import { findKind, type Kind } from '../kinds.ts'
import type { KubernetesObject } from '../objects.ts'
import { amountOf } from '../resource-rules.ts'
import { deviceOf } from '../resources.ts'
import { countAt, listOf, mappingOf, partAt } from './pod-parts.ts'
import { type Entry, TranslatedDocument } from './translation.ts'

const GROUP = 'trainer.kubeflow.org'
/** The Job of a runtime that a TrainJob's `trainer` is about, by the label of its template (pkg/constants of kubeflow/trainer). */
const STEP_LABEL = 'trainer.kubeflow.org/trainjob-ancestor-step'
/** The name of that Job where no label says so, and of its container in every case. */
const NODE = 'node'
const LAUNCHER = 'launcher'
const JOBS = ['jobSet', 'replicatedJobs']

/** A TrainJob as its controller completes it. */
export interface ResolvedTrainJob {
  readonly object: KubernetesObject
  readonly kind: Kind
  readonly warnings: readonly Warning[]
}

/**
 * Kubeflow's TrainJob with the (Cluster)TrainingRuntime of the same file that it names: the runtime's JobSet, over which
 * lies what the TrainJob says of nodes, resources, program and pods (kubeflow/trainer pkg/runtime/core/trainingruntime.go
 * and plugins jobset, torch, mpi, plainml). Without its runtime it is read as far as it goes; a fault where nothing says the GPUs.
 * Undefined for objects of another kind.
 */
export function resolveTrainJob(
  object: KubernetesObject,
  objects: readonly KubernetesObject[],
): ResolvedTrainJob | { readonly fault: Fault } | undefined {
  const kind = findKind(object.group, object.kind)
  if (object.group !== GROUP || object.kind !== 'TrainJob' || kind === undefined) return undefined
  const runtime = runtimeOf(object, objects)
  if (runtime === undefined && !isMapping(valueAt(object.value, ['spec', 'trainer', 'resourcesPerNode']))) {
    return { fault: missingRuntime(object) }
  }
  const policy = runtime === undefined ? undefined : mappingOf(runtime, ['spec', 'mlPolicy'])
  const base: Entry[] = [{ at: [], from: object.path, value: object.value }, ...runtimeEntries(object, runtime)]
  const jobs = valueAt(new TranslatedDocument(object.document, base).value, JOBS)
  const entries = (Array.isArray(jobs) ? jobs : []).flatMap((job, index) =>
    jobEntries({ object, runtime, policy, job, at: [...JOBS, index] }),
  )
  const document = new TranslatedDocument(object.document, [...base, ...entries])
  const value = isMapping(document.value) ? document.value : {}
  const isMpi = isMapping(policy?.['mpi'])
  return {
    object: { ...object, document, path: [], value },
    kind: isMpi ? { ...kind, startsOn: { launcher: LAUNCHER, workers: NODE } } : kind,
    warnings: runtime === undefined ? unresolvedWarnings(object) : [],
  }
}

function runtimeOf(object: KubernetesObject, objects: readonly KubernetesObject[]): KubernetesObject | undefined {
  const { kind, name } = runtimeName(object)
  return objects.find(other => other.group === GROUP && other.kind === kind && other.name === name)
}

/** A runtime of the whole cluster unless another kind is named (TrainJob API, RuntimeRef). */
function runtimeName(object: KubernetesObject): { readonly kind: string; readonly name: string } {
  const { kind, name } = mappingOf(object, ['spec', 'runtimeRef'])
  return { kind: String(kind ?? 'ClusterTrainingRuntime'), name: String(name) }
}

function missingRuntime(object: KubernetesObject): Fault {
  const { kind, name } = runtimeName(object)
  const message = `its pods and GPUs are described by ${kind} ${name}, which is not in this file`
  const command = `kubectl get ${kind.toLowerCase()} ${name} -o yaml`
  const path = [...object.path, 'spec', 'runtimeRef']
  if (valueAt(object.value, ['spec', 'runtimeRef', 'name']) === undefined) {
    return wrongValue(object.document, [...path, 'name'], 'the name of a training runtime is expected')
  }
  const hint = `put both into one file, as ${command} prints it, or say trainer.numNodes and trainer.resourcesPerNode`
  return { place: object.document.placeOf(path), message, hint }
}

function unresolvedWarnings(object: KubernetesObject): readonly Warning[] {
  const { kind, name } = runtimeName(object)
  const place = object.document.placeOf([...object.path, 'spec', 'runtimeRef'])
  const text = `${kind} ${name} is not in this file: node labels, limits and programs that stand there are not known`
  const missing: Warning = { code: 'external-file-missing', text, place }
  if (countAt(object, ['spec', 'trainer', 'numNodes']) !== undefined) return [missing]
  const count = `the number of nodes stands in ${kind} ${name}, which is not in this file: figures are for one`
  return [missing, { code: 'gpu-count-unknown', text: count, place }]
}

/** The runtime's JobSet; where the runtime is not there, the one pod that every runtime has. */
function runtimeEntries(object: KubernetesObject, runtime: KubernetesObject | undefined): readonly Entry[] {
  if (runtime === undefined) {
    const job = { name: NODE, template: { spec: { template: { spec: { containers: [{ name: NODE }] } } } } }
    return [
      { at: ['jobSet'], from: [...object.path, 'spec', 'runtimeRef'], value: { replicatedJobs: [job] } },
      ...processEntry([partAt(object, ['spec', 'trainer', 'numProcPerNode'])]),
    ]
  }
  const { document } = runtime
  const template = partAt(runtime, ['spec', 'template', 'spec'])
  const group = partAt(runtime, ['spec', 'podGroupPolicy'])
  const processes = ['torch', 'mpi'].map(each => partAt(runtime, ['spec', 'mlPolicy', each, 'numProcPerNode']))
  return [
    ...(template === undefined ? [] : [{ at: ['jobSet'], document, ...template }]),
    ...(group === undefined ? [] : [{ at: ['podGroupPolicy'], document, ...group }]),
    ...processEntry([
      partAt(object, ['spec', 'trainer', 'numProcPerNode']),
      ...processes.map(part => part && { document, ...part }),
    ]),
  ]
}

function processEntry(parts: readonly (Omit<Entry, 'at'> | undefined)[]): readonly Entry[] {
  const part = parts.find(each => each !== undefined)
  return part === undefined ? [] : [{ at: ['processesPerNode'], ...part }]
}

interface ReplicatedJob {
  readonly object: KubernetesObject
  readonly runtime: KubernetesObject | undefined
  /** The runtime's `mlPolicy`; undefined where the runtime is not there. */
  readonly policy: Mapping | undefined
  readonly job: unknown
  readonly at: DocumentPath
}

/** What the TrainJob changes of one of the runtime's Jobs. */
function jobEntries(part: ReplicatedJob): readonly Entry[] {
  const { job, policy, runtime, object, at } = part
  const name = valueAt(job, ['name'])
  const mpi = isMapping(policy?.['mpi']) ? policy['mpi'] : undefined
  const launcherIsNode = mpi?.['runLauncherAsNode'] === true
  const isTrainer = isTrainerJob(job, runtime)
  const isNode = mpi !== undefined && name === NODE
  const container = containerIndex(job)
  const podAt = [...at, 'template', 'spec', 'template', 'spec']
  const containerAt = [...podAt, 'containers', container]
  const own = valueAt(job, ['template', 'spec', 'template', 'spec', 'containers', container])
  const takesResources = isTrainer || (isNode && launcherIsNode)
  const size = mpi === undefined ? isTrainer && nodeCount(part) : isNode && mpiNodeCount(object, launcherIsNode)
  return [
    ...(size ? ['parallelism', 'completions'].map(key => ({ at: [...at, 'template', 'spec', key], ...size })) : []),
    ...(isTrainer ? programEntries(object, containerAt) : []),
    ...(takesResources ? resourceEntries(object, own, containerAt) : []),
    ...(takesResources ? environmentEntries(part, own, containerAt, size || undefined) : []),
    ...podEntries(object, String(name), podAt),
  ]
}

function isTrainerJob(job: unknown, runtime: KubernetesObject | undefined): boolean {
  const step = valueAt(job, ['template', 'metadata', 'labels', STEP_LABEL])
  if (step !== undefined) return step === 'trainer'
  const jobs = runtime === undefined ? [] : listOf(runtime, ['spec', 'template', 'spec', 'replicatedJobs'])
  const isLabelled = jobs.some(each => valueAt(each, ['template', 'metadata', 'labels', STEP_LABEL]) === 'trainer')
  return !isLabelled && valueAt(job, ['name']) === NODE
}

function containerIndex(job: unknown): number {
  const containers = valueAt(job, ['template', 'spec', 'template', 'spec', 'containers'])
  const list: readonly unknown[] = Array.isArray(containers) ? containers : []
  return Math.max(
    0,
    list.findIndex(each => valueAt(each, ['name']) === NODE),
  )
}

function nodeCount({ object, runtime, policy }: ReplicatedJob): Omit<Entry, 'at'> | undefined {
  const own = partAt(object, ['spec', 'trainer', 'numNodes'])
  if (own !== undefined || runtime === undefined) return own
  const inRuntime = partAt(runtime, ['spec', 'mlPolicy', 'numNodes'])
  return policy === undefined || inRuntime === undefined ? undefined : { document: runtime.document, ...inRuntime }
}

/** The launcher is one of the nodes where it takes part in the work, and at least one other is there. */
function mpiNodeCount(object: KubernetesObject, launcherIsNode: boolean): Omit<Entry, 'at'> | undefined {
  const own = partAt(object, ['spec', 'trainer', 'numNodes'])
  if (own === undefined || typeof own.value !== 'number') return own
  return { ...own, value: launcherIsNode ? Math.max(own.value - 1, 1) : own.value }
}

function programEntries(object: KubernetesObject, containerAt: DocumentPath): readonly Entry[] {
  return ['image', 'command', 'args'].flatMap(key => {
    const part = partAt(object, ['spec', 'trainer', key])
    return part === undefined ? [] : [{ at: [...containerAt, key], ...part }]
  })
}

/** Amounts by name over those of the runtime; a whole mapping where none of the runtime's is left. */
function resourceEntries(object: KubernetesObject, container: unknown, containerAt: DocumentPath): readonly Entry[] {
  return ['limits', 'requests'].flatMap(part => {
    const path = ['spec', 'trainer', 'resourcesPerNode', part]
    const written = partAt(object, path)
    const amounts = mappingOf(object, path)
    const below = valueAt(container, ['resources', part])
    const at = [...containerAt, 'resources', part]
    if (written === undefined) return []
    const isWhole = Object.keys(isMapping(below) ? below : {}).every(name => name in amounts)
    if (isWhole) return [{ at, ...written }]
    return Object.entries(amounts).map(([name, value]) => ({
      at: [...at, name],
      from: [...object.path, ...path, name],
      value,
    }))
  })
}

/** The TrainJob's variables, and the size of the job as torchrun takes it from its environment. */
function environmentEntries(
  { object, policy }: ReplicatedJob,
  container: unknown,
  containerAt: DocumentPath,
  size: Omit<Entry, 'at'> | undefined,
): readonly Entry[] {
  const below = valueAt(container, ['env'])
  const names = (Array.isArray(below) ? below : []).map(each => valueAt(each, ['name']))
  const at = [...containerAt, 'env']
  const put = (name: unknown, entry: Omit<Entry, 'at'>): Entry => {
    const index = names.indexOf(name)
    return { at: [...at, index === -1 ? names.push(name) - 1 : index], ...entry }
  }
  const path = ['spec', 'trainer', 'env']
  const own = listOf(object, path).map((value, index) =>
    put(valueAt(value, ['name']), { from: [...object.path, ...path, index], value }),
  )
  const torch = torchPolicy(object, policy)
  if (torch === undefined) return own
  const from = [...object.path, 'spec', 'trainer']
  const processes = processesOf(object, torch, container)
  const sizes = [
    ['PET_NNODES', size?.value ?? 1],
    ['PET_NPROC_PER_NODE', processes],
  ] as const
  const given = sizes.filter(([, value]) => value !== undefined)
  return [...own, ...given.map(([name, value]) => put(name, { from, value: { name, value: String(value) } }))]
}

/** A runtime that is not here prepares its pods for torchrun, where that is what they are told to start. */
function torchPolicy(object: KubernetesObject, policy: Mapping | undefined): Mapping | undefined {
  if (policy !== undefined) return isMapping(policy['torch']) ? policy['torch'] : undefined
  const told = ['command', 'args'].flatMap(key => listOf(object, ['spec', 'trainer', key])).join(' ')
  return /\btorchrun\b|\btorch\.distributed\.run\b/.test(told) ? {} : undefined
}

/** As many as the node has GPUs where nothing else is said; undefined where that is none. */
function processesOf(object: KubernetesObject, torch: Mapping, container: unknown): number | undefined {
  const written = countAt(object, ['spec', 'trainer', 'numProcPerNode']) ?? Number(torch['numProcPerNode'])
  if (Number.isInteger(written)) return written
  const below = valueAt(container, ['resources', 'limits'])
  const limits = {
    ...(isMapping(below) ? below : {}),
    ...mappingOf(object, ['spec', 'trainer', 'resourcesPerNode', 'limits']),
  }
  const gpus = Object.keys(limits).filter(name => deviceOf(name)?.kind === 'gpu')
  return gpus.reduce((sum, name) => sum + amountOf(limits, name), 0) || undefined
}

/** What the TrainJob changes of the pods of a Job: by the fields of three versions of its API. */
function podEntries(object: KubernetesObject, job: string, podAt: DocumentPath): readonly Entry[] {
  return podChanges(object, job).flatMap(path => {
    const labels = Object.keys(mappingOf(object, [...path, 'nodeSelector']))
    const whole = ['affinity', 'schedulingGates'].flatMap(key => {
      const part = partAt(object, [...path, key])
      return part === undefined ? [] : [{ at: [...podAt, key], ...part }]
    })
    return [
      ...whole,
      ...labels.flatMap(label => {
        const part = partAt(object, [...path, 'nodeSelector', label])
        return part === undefined ? [] : [{ at: [...podAt, 'nodeSelector', label], ...part }]
      }),
    ]
  })
}

/** Paths of the pod specs that are laid over a Job's: `podSpecOverrides`, `podTemplateOverrides`, `runtimePatches`. */
function podChanges(object: KubernetesObject, job: string): readonly DocumentPath[] {
  const concerns = (change: unknown) => {
    const targets = valueAt(change, ['targetJobs'])
    return Array.isArray(targets) && targets.some(target => valueAt(target, ['name']) === job)
  }
  const overrides = (key: string, rest: DocumentPath) =>
    listOf(object, ['spec', key]).flatMap((change, index) => (concerns(change) ? [['spec', key, index, ...rest]] : []))
  const patches = listOf(object, ['spec', 'runtimePatches']).flatMap((_, index) => {
    const at = ['spec', 'runtimePatches', index, 'trainingRuntimeSpec', 'template', 'spec', 'replicatedJobs']
    return listOf(object, at).flatMap((patch, each) =>
      valueAt(patch, ['name']) === job ? [[...at, each, 'template', 'spec', 'template', 'spec']] : [],
    )
  })
  return [...overrides('podSpecOverrides', []), ...overrides('podTemplateOverrides', ['spec']), ...patches]
}
