import type { Manifest } from '../../src/manifest.ts'

/** A batch script as if it had been read from a file. */
export function scriptManifest(
  text: string,
  given: Partial<
    Pick<Manifest, 'name' | 'schedulerArguments' | 'scriptArguments' | 'environment' | 'sourcedFiles'>
  > = {},
): Manifest {
  const name = given.name ?? 'job.sbatch'
  return {
    path: name,
    name,
    bytes: new TextEncoder().encode(text),
    text,
    schedulerArguments: [],
    scriptArguments: [],
    environment: {},
    ...given,
  }
}
