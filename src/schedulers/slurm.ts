import { type Manifest, wrapPath } from '../manifest.ts'
import { askProgram } from '../programs.ts'
import type { Scheduler } from './scheduler.ts'

/** The quote is on the screen meanwhile. */
const lookUpMilliseconds = 1_000

/** `sbatch [options] FILE [arguments]`, or the script on standard input. */
export const slurm: Scheduler = {
  name: 'slurm',
  title: 'Slurm',
  whenMissing: 'run this where jobs are submitted, on a login node, or install the package slurm-client',
  whereToLook: 'scontrol write batch_script JOBID - shows what Slurm has',

  // On standard input sbatch takes no script arguments, and names the job `sbatch` whatever its file was called.
  takesStandardInput: manifest => manifest.path === '-' && manifest.scriptArguments.length === 0,

  submission: ({ path, bytes, schedulerArguments, scriptArguments }) => {
    if (path === '-') return { program: 'sbatch', arguments: schedulerArguments, input: bytes }
    const script = path === wrapPath ? [] : [path]
    return { program: 'sbatch', arguments: [...schedulerArguments, ...script, ...scriptArguments] }
  },

  findDestination: async manifest => {
    const name = /^ClusterName\s*=\s*(\S+)/m.exec(await showConfig(manifest))?.[1]
    return name === undefined ? {} : { cluster: name }
  },
}

async function showConfig(manifest: Manifest): Promise<string> {
  try {
    const { environment } = manifest
    const asking = { environment, timeoutMilliseconds: lookUpMilliseconds }
    return (await askProgram('scontrol', ['show', 'config'], asking)).stdout
  } catch {
    return '' // no Slurm here: the question goes without its cluster's name
  }
}
