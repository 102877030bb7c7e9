import type { ManifestFormat } from '../manifest-format.ts'
import { readBatchJob } from './read-job.ts'
import { wrappedScript } from './read-sbatch.ts'
import { retargetScript } from './retarget.ts'

/** Batch scripts, read as sbatch reads them: directives, `#PBS` lines, SBATCH_ variables, options, `--wrap`. */
export const slurm: ManifestFormat = {
  name: 'slurm',
  recognises: manifest =>
    /^#!|^#SBATCH/m.test(manifest.text.slice(0, 65_536)) ||
    /\.(?:sbatch|slurm|sh|bash|job)$/i.test(manifest.name) ||
    wrappedScript(manifest.schedulerArguments) !== undefined,
  read: manifest => [readBatchJob(manifest)],
  retarget: retargetScript,
}
