import { InputError } from '../errors.ts'
import type { Job } from '../job.ts'
import type { Manifest } from '../manifest.ts'
import { kubernetes } from './kubernetes/index.ts'
import type { ManifestFormat, Retarget } from './manifest-format.ts'
import { skypilot } from './skypilot/index.ts'
import { slurm } from './slurm/index.ts'

/** The ways of writing a job down, in order of preference: the first that recognises a text reads it. */
export const manifestFormats: readonly ManifestFormat[] = [slurm, skypilot, kubernetes]

/** The format of a manifest. Throws InputError where nobody recognises it. */
export function formatOf(manifest: Manifest): ManifestFormat {
  const format = manifestFormats.find(candidate => candidate.recognises(manifest))
  if (format !== undefined) return format
  throw new InputError([
    {
      place: { file: manifest.name, line: 1 },
      message: 'neither a batch script nor a Kubernetes manifest nor a SkyPilot task',
      hint: 'a batch script begins with #!, a Kubernetes object has apiVersion and kind, a SkyPilot task resources and run',
    },
  ])
}

/** The jobs that a manifest describes. Throws InputError with every fault found. */
export function readJobs(manifest: Manifest): readonly Job[] {
  return formatOf(manifest).read(manifest)
}

/** The manifest's text asking for something else, all the rest untouched. Throws GpufareError where that is not safe. */
export function retarget(manifest: Manifest, target: Retarget): string {
  return formatOf(manifest).retarget(manifest, target)
}
