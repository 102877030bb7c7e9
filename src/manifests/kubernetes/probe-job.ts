import { type DocumentPath, isMapping, readYaml, valueAt, type YamlDocument } from '../../document.ts'
import { GpufareError } from '../../errors.ts'
import type { Manifest } from '../../manifest.ts'
import { type Alteration, alterText, insertEntry, replaceScalar } from './edits.ts'
import { deviceOf } from './resources.ts'

/** Longest name of a Job: its pods carry it as a label (Kubernetes, "Labels and selectors"). */
const longestName = 63

/** A Job made a probe. */
export interface ProbeJob {
  readonly text: string
  /** The container whose log is followed; absent where kubectl's own choice will do. */
  readonly container?: string
}

/** How a probe differs from its Job. */
export interface ProbeLimits {
  /** Seconds from its start, waiting for a node included. */
  readonly limitSeconds: number
  /** Seconds that it is kept once it has ended by itself. */
  readonly keptSeconds: number
  /** Letters and digits that make its name its own. */
  readonly suffix: string
}

/**
 * The Job as one run of a few minutes under a name of its own, which is never tried again; nothing else of the text changes. Throws
 * GpufareError where the file holds more than a Job, or where that cannot be changed in place.
 */
export function probeJob(manifest: Manifest, { limitSeconds, keptSeconds, suffix }: ProbeLimits): ProbeJob {
  const documents = readYaml(manifest.text, manifest.name, 'kubectl')
  const [document, ...others] = documents.filter(({ value }) => value !== null)
  if (document === undefined || others.length > 0 || !isJob(document.value)) {
    const hint = 'create what the Job needs first, and probe the Job in a file of its own'
    throw new GpufareError(`${manifest.name} holds more than a Job: the probe would create all of it again`, 2, hint)
  }
  const { value } = document
  const base = textAt(value, ['metadata', 'name']) ?? textAt(value, ['metadata', 'generateName']) ?? 'job'
  const end = `-probe-${suffix}`
  const name = base.slice(0, longestName - end.length).replace(/[-.]+$/, '') + end
  const isInTurns = numberAt(value, ['spec', 'completions'], 1) > numberAt(value, ['spec', 'parallelism'], 1)
  const alterations = [
    set(document, ['metadata', 'name'], name),
    set(document, ['spec', 'activeDeadlineSeconds'], Math.ceil(limitSeconds)),
    set(document, ['spec', 'ttlSecondsAfterFinished'], keptSeconds),
    set(document, ['spec', 'backoffLimit'], 0),
    ...(isInTurns ? [set(document, ['spec', 'completions'], 1), set(document, ['spec', 'parallelism'], 1)] : []),
  ]
  const text = alterText(manifest, documents, new Map([[document, alterations]]))
  if (text === undefined) throw notInPlace(document, [])
  const container = containerWithGpu(value)
  return { text, ...(container !== undefined && { container }) }
}

function isJob(value: unknown): boolean {
  return valueAt(value, ['kind']) === 'Job' && /^batch\/v1$/.test(String(valueAt(value, ['apiVersion'])))
}

function set(document: YamlDocument, path: DocumentPath, value: string | number): Alteration {
  const isThere = valueAt(document.value, path) != null
  const alteration = isThere
    ? replaceScalar(document, path, value)
    : insertEntry(document, path.slice(0, -1), String(path.at(-1)), value)
  if (alteration === undefined) throw notInPlace(document, path)
  return alteration
}

function notInPlace(document: YamlDocument, path: DocumentPath): GpufareError {
  const { file, line } = document.placeOf(path)
  const at = line === undefined ? file : `${file}:${line}`
  const hint = 'anchors or unusual formatting stand where its name and limits belong; write these out'
  return new GpufareError(`${at}  cannot be made a probe by changing its text in place`, 2, hint)
}

/** The first that asks for GPUs, which is not always the one that kubectl takes the log of. */
function containerWithGpu(value: unknown): string | undefined {
  const containers = valueAt(value, ['spec', 'template', 'spec', 'containers'])
  const found = (Array.isArray(containers) ? containers : []).find(container => {
    const limits = valueAt(container, ['resources', 'limits'])
    return isMapping(limits) && Object.keys(limits).some(name => deviceOf(name) !== undefined)
  })
  return textAt(found, ['name'])
}

function textAt(value: unknown, path: DocumentPath): string | undefined {
  const found = valueAt(value, path)
  return typeof found === 'string' ? found : undefined
}

function numberAt(value: unknown, path: DocumentPath, otherwise: number): number {
  const found = valueAt(value, path)
  return typeof found === 'number' ? found : otherwise
}
