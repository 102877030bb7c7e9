import { readYaml, valueAt, type YamlDocument } from '../../document.ts'
import { type Fault, InputError, NothingToPrice } from '../../errors.ts'
import type { Job, Turns } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import type { Warning } from '../../warning.ts'
import type { ManifestFormat } from '../manifest-format.ts'
import { namedClaims } from './claims.ts'
import { readJob } from './jobs.ts'
import { findKind, KINDS, type Kind } from './kinds.ts'
import { runsNoPods } from './kinds-without-pods.ts'
import { readSurroundings, type Surroundings } from './neighbours.ts'
import { type KubernetesObject, readObjects } from './objects.ts'
import { explainSyntaxError, placeholderWarnings, refusePlaceholders } from './placeholders.ts'
import { retargetObjects } from './retarget.ts'
import { isOnlyReferredTo } from './translations/argo/templates.ts'
import { TRANSLATED_KINDS, translationFor } from './translations/index.ts'
import { resolveTrainJob } from './translations/trainjob.ts'
import { asObject } from './translations/translation.ts'
import { inferKind, inferredWarnings } from './unknown-kinds.ts'

/** Kubernetes objects in YAML or JSON, as kubectl reads them. */
export const kubernetes: ManifestFormat = {
  name: 'kubernetes',
  recognises: manifest => {
    if (/^#!/.test(manifest.text) || /^#SBATCH/m.test(manifest.text)) return false
    return /^[ \t{,]*["']?(?:apiVersion|kind)["']?\s*:/m.test(manifest.text) || /\.(?:ya?ml|json)$/i.test(manifest.name)
  },
  read: manifest => {
    const { running, surroundings } = readRunning(manifest)
    const taken = new Set<string>()
    const readings = running.map(({ object, kind, warnings, turns }) => {
      const reading = readJob(object, kind, withoutClaims(surroundings, taken))
      for (const name of namedClaims(object.value)) taken.add(name)
      if ('faults' in reading) return reading
      const all = [...warnings, ...placeholderWarnings(object), ...reading.job.warnings]
      return { job: { ...reading.job, ...(turns !== undefined && { turns }), warnings: all } }
    })
    const faults = readings.flatMap(reading => ('faults' in reading ? reading.faults : []))
    if (faults.length > 0) throw new InputError(faults)
    const jobs = readings.flatMap(reading => ('job' in reading ? [reading.job] : []))
    return withOptions(withAccelerators(jobs), manifest.schedulerArguments)
  },
  retarget: (manifest, target) => {
    const { documents, running, surroundings } = readRunning(manifest)
    return retargetObjects(manifest, documents, running, surroundings, target)
  },
}

/** What of the surroundings is left to an object, where those before it hold claims already. */
function withoutClaims(surroundings: Surroundings, taken: ReadonlySet<string>): Surroundings {
  return { ...surroundings, claims: { ...surroundings.claims, taken: new Set(taken) } }
}

interface RunningObject {
  readonly object: KubernetesObject
  readonly kind: Kind
  /** What has to be known of how it was read. */
  readonly warnings: readonly Warning[]
  readonly turns?: Turns | undefined
}

/** The objects that run pods. Throws InputError where there are none, or where the text is none of kubectl's. */
function readRunning(manifest: Manifest): {
  readonly documents: readonly YamlDocument[]
  readonly running: readonly RunningObject[]
  readonly surroundings: Surroundings
} {
  const documents = readDocuments(manifest)
  const { objects, faults: objectFaults } = readObjects(documents)
  const faults: Fault[] = [...objectFaults]
  const unknown: Fault[] = []
  const running: RunningObject[] = []
  const asked = objects.filter(object => !runsNoPods(object.group, object.kind) && !isOnlyReferredTo(object, objects))
  refusePlaceholders(
    manifest,
    asked.filter(object => translationFor(object) !== undefined || kindOf(object) !== undefined),
  )
  const open = [...asked]
  for (let object = open.shift(); object !== undefined; object = open.shift()) {
    const trainJob = resolveTrainJob(object, objects)
    if (trainJob !== undefined) {
      if ('fault' in trainJob) unknown.push(trainJob.fault)
      else running.push(trainJob)
      continue
    }
    const translation = translationFor(object)?.(object, objects)
    const kind = kindOf(object)
    if (translation !== undefined) {
      const { warnings = [], turns, creates = [] } = translation
      open.push(...creates.filter(created => translationFor(created) !== undefined || kindOf(created) !== undefined))
      if (translation.roles.length === 0 && object.group !== 'argoproj.io') unknown.push(unknownKind(object))
      else if (translation.roles.length > 0) running.push({ ...asObject(object, translation), warnings, turns })
    } else if (kind === undefined) unknown.push(unknownKind(object))
    else if (isOnOther(object, kind)) {
      if (!objects.some(other => other.kind === kind.runsOnOther?.kind)) unknown.push(onOther(object, kind))
    } else running.push({ object, kind, warnings: isKnown(object) ? [] : inferredWarnings(object, kind) })
  }
  if (running.length === 0 && faults.length === 0) throw new NothingToPrice(noJob(manifest, unknown), 'no job')
  if (faults.length + unknown.length > 0) throw new InputError([...faults, ...unknown])
  return { documents, running, surroundings: readSurroundings(objects) }
}

function kindOf(object: KubernetesObject): Kind | undefined {
  return findKind(object.group, object.kind) ?? inferKind(object)
}

function isKnown(object: KubernetesObject): boolean {
  return findKind(object.group, object.kind) !== undefined
}

function noJob(manifest: Manifest, unknown: readonly Fault[]): readonly Fault[] {
  if (unknown.length > 0) return unknown
  const hint = `gpufare reads ${[...new Set([...KINDS.map(kind => kind.kind), ...TRANSLATED_KINDS])].join(', ')}`
  return [{ place: { file: manifest.name }, message: 'no document in the file describes a job', hint }]
}

function readDocuments(manifest: Manifest): readonly YamlDocument[] {
  try {
    return readYaml(manifest.text, manifest.name, 'kubectl')
  } catch (error) {
    throw explainSyntaxError(manifest, error)
  }
}

function isOnOther(object: KubernetesObject, { runsOnOther }: Kind): boolean {
  return runsOnOther !== undefined && valueAt(object.value, runsOnOther.at) != null
}

function onOther({ document, path, kind: own }: KubernetesObject, { runsOnOther }: Kind): Fault {
  const at = [...path, ...(runsOnOther?.at ?? [])]
  const other = runsOnOther?.kind ?? ''
  return {
    place: document.placeOfKey(at),
    message: `this ${own} runs on a ${other} that stands already: it has no pods and no price of its own`,
    hint: `estimate the ${other}, or put it into this file`,
  }
}

function unknownKind(object: KubernetesObject): Fault {
  const name = `${object.kind} (${[object.group, object.version].filter(part => part !== '').join('/')})`
  return {
    place: object.document.placeOf([...object.path, 'kind']),
    message: `${name} is not a kind gpufare knows, and no pod template stands in it`,
    hint: 'what it would cost cannot be told; if it runs no pods, put it into a file of its own',
  }
}

/** A database beside a training is not what is asked about; without any GPU, everything is. */
function withAccelerators(jobs: readonly Job[]): readonly Job[] {
  const accelerated = jobs.filter(job =>
    job.roles.some(role => role.gpusPerReplica.value > 0 || role.otherAccelerators !== undefined),
  )
  return accelerated.length > 0 ? accelerated : jobs
}

/** `-n` and `--context` of kubectl say where it goes; a namespace in the file has to be the same one, or kubectl refuses. */
function withOptions(jobs: readonly Job[], options: readonly string[]): readonly Job[] {
  const namespace = optionValue(options, '--namespace', '-n')
  const context = optionValue(options, '--context')
  const given = { ...(namespace === undefined ? {} : { namespace }), ...(context === undefined ? {} : { context }) }
  return jobs.map(job => ({ ...job, destination: { ...given, ...job.destination } }))
}

function optionValue(options: readonly string[], long: string, short?: string): string | undefined {
  for (const [index, option] of options.entries()) {
    if (option === long || option === short) return options[index + 1]
    if (option.startsWith(`${long}=`)) return option.slice(long.length + 1)
    if (short !== undefined && option.startsWith(short) && !option.startsWith('--')) {
      return option.slice(short.length).replace(/^=/, '')
    }
  }
  return undefined
}
