import type { Manifest } from '../../manifest.ts'
import { formatSlurmSeconds } from './quantities.ts'
import { readSbatch } from './read-sbatch.ts'

/** Options of sbatch, behind those of the user, that make a batch job a short one: one array task, and output in a file of its own. */
export function probeOptions(manifest: Manifest, limitSeconds: number, output: string): readonly string[] {
  const settings = readSbatch({ ...manifest, file: manifest.name, script: manifest.text }).components[0]
  const task = /\d+/.exec(settings?.get('array')?.value ?? '')?.[0]
  return [
    '--parsable',
    '--no-requeue',
    `--time=${formatSlurmSeconds(Math.ceil(limitSeconds))}`,
    `--output=${output}`,
    `--error=${output}`,
    ...(task === undefined ? [] : [`--array=${task}`]),
  ]
}
