import { readYaml, tryCheck, type YamlDocument } from '../../document.ts'
import { type Fault, GpufareError, InputError } from '../../errors.ts'
import type { Job } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import type { ManifestFormat } from '../manifest-format.ts'
import { looksLikeTask } from './recognise.ts'
import { Task } from './schema.ts'
import { readTask } from './tasks.ts'

/** Tasks, pipelines and services of SkyPilot (`sky launch`, `sky jobs launch`, `sky serve up`): they are quoted, never forwarded. */
export const skypilot: ManifestFormat = {
  name: 'skypilot',
  recognises: manifest => looksLikeTask(manifest.text),
  read: manifest => {
    const documents = readYaml(manifest.text, manifest.name, 'kubectl').filter(({ value }) => value !== null)
    const [first, ...others] = documents
    // The first document of a pipeline may hold nothing but its name.
    const tasks = others.length > 0 && first !== undefined && isNameOnly(first) ? others : documents
    const readings = tasks.map(document => readDocument(document, manifest, tasks.length > 1))
    const faults = readings.flatMap(reading => ('faults' in reading ? reading.faults : []))
    if (faults.length > 0) throw new InputError(faults)
    const jobs = readings.flatMap(reading => ('job' in reading ? [reading.job] : []))
    const accelerated = jobs.filter(({ roles }) =>
      roles.some(role => role.gpusPerReplica.value > 0 || role.otherAccelerators !== undefined),
    )
    return accelerated.length > 0 ? accelerated : jobs
  },
  retarget: ({ name }) => {
    throw new GpufareError(
      `${name} is a SkyPilot task, which gpufare only quotes`,
      2,
      'change resources.accelerators by hand',
    )
  },
}

function isNameOnly({ value }: YamlDocument): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every(key => ['name', 'execution', 'primary_tasks'].includes(key))
  )
}

function readDocument(
  document: YamlDocument,
  manifest: Manifest,
  isPipeline: boolean,
): { readonly job: Job } | { readonly faults: readonly Fault[] } {
  const checked = tryCheck(Task, document)
  return 'faults' in checked ? checked : readTask(checked.value, document, manifest, isPipeline)
}
