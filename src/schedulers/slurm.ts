import { type Manifest, wrapPath } from '../manifest.ts'
import { readSbatch } from '../manifests/slurm/read-sbatch.ts'
import { askProgram } from '../programs.ts'
import type { Accepted, Scheduler } from './scheduler.ts'

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

  withStamp: (manifest, stamp) =>
    hasComment(manifest)
      ? undefined
      : { ...manifest, schedulerArguments: [`--comment=${stamp}`, ...manifest.schedulerArguments] },

  accepted: async (_, jobs, printed) => {
    const found = readAccepted(printed)
    return jobs.map(job => ({ job, ...found }))
  },
}

/** `Submitted batch job 7 on cluster east`, or of `--parsable` `7;east`; of a heterogeneous job its first component's id. */
function readAccepted(printed: string): Omit<Accepted, 'job'> {
  const [, id, cluster] =
    /^Submitted batch job (\d+)(?: on cluster (\S+))?$/m.exec(printed) ?? /^(\d+)(?:;(\S+))?$/m.exec(printed) ?? []
  return { ...(id !== undefined && { id }), ...(cluster !== undefined && { cluster }) }
}

/** Whether the user comments on the job: in the script, by an option, or by a variable that newer versions may know. */
function hasComment({ name, text, schedulerArguments, environment }: Manifest): boolean {
  if (environment['SBATCH_COMMENT'] !== undefined) return true
  const { components } = readSbatch({ file: name, script: text, schedulerArguments, environment })
  return components.some(settings => settings.has('comment'))
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
