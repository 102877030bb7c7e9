import { existsSync } from 'node:fs'
import { delimiter, join, relative, resolve } from 'node:path'
import { findUpward } from './config.ts'
import type { Gpu } from './gpu.ts'
import type { EarlierRun } from './history/earlier-run.ts'
import type { Job } from './job.ts'
import { once } from './once.ts'
import type { Past } from './runtimes/runtime-model.ts'
import { statePath } from './state-files.ts'

/** What is told of earlier runs on the command line. */
export interface RunsOptions {
  /** False: go by no earlier runs. */
  readonly history?: boolean
  /** Days of runs that Slurm's accounting is asked for. */
  readonly since?: number
  /** Whose runs; one's own where left out. */
  readonly user?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Where a repository keeps its runs, made by `gpufare runs import`. */
export const usualRunsFile = '.gpufare/runs.csv'

/**
 * Finds the earlier runs of a manifest's jobs: those its repository keeps, and of Slurm jobs those that Slurm's accounting has, where its
 * program is here, and of Kubernetes what its cluster has of finished objects; and what earlier quotes were off by. Where there are none,
 * nothing that reads or weighs runs is loaded. Each source is read once.
 */
export function pastFinder(
  environment: Environment,
  tables: { readonly gpus: readonly Gpu[] },
  options: RunsOptions,
): (folder: string, jobs: readonly Job[]) => Promise<Past> {
  const isThere = once((program: string) => isInstalled(program, environment))
  const readSlurm = once(async (key: string): Promise<Past> => {
    const [file = '', asks] = key.split('\0')
    return read(file, asks === 'sacct', [])
  })
  const read = async (file: string, asksSlurm: boolean, others: readonly EarlierRun[]): Promise<Past> => {
    const [{ readKept }, { pastRunsOf }] = await Promise.all([import('./accounting/kept.ts'), import('./past-runs.ts')])
    const kept = await readKept({
      ...(file !== '' && { file, shown: relative('.', file) }),
      asksSlurm,
      others,
      environment,
      nowSeconds: Math.floor(Date.now() / 1_000),
      ...options,
    })
    return { runs: pastRunsOf(kept, tables.gpus, kept.asker) }
  }
  const readCorrections = once(async (path: string) => (await import('./past-corrections.ts')).correctionsIn(path))
  const runsOf = async (folder: string, jobs: readonly Job[]): Promise<Past> => {
    const file = findUpward(resolve(folder), usualRunsFile) ?? ''
    if (jobs.some(job => job.scheduler === 'kubernetes') && isThere('kubectl') && hasCluster(environment)) {
      const runs = await (await import('./kubernetes-runs.ts')).runsOfKubernetes(jobs, environment)
      if (runs.length > 0) return read(file, false, runs)
    }
    const asksSlurm = jobs.some(job => job.scheduler === 'slurm') && isThere('sacct')
    return file === '' && !asksSlurm ? {} : readSlurm(`${file}\0${asksSlurm ? 'sacct' : ''}`)
  }
  return async (folder, jobs) => {
    if (options.history === false) return {}
    const learnt = statePath(environment, 'learnt.jsonl')
    const corrections = learnt !== undefined && existsSync(learnt) ? await readCorrections(learnt) : undefined
    return { ...(await runsOf(folder, jobs)), ...(corrections !== undefined && { corrections }) }
  }
}

/** Whether kubectl is told of a cluster: without a file it would look for one on this machine. */
function hasCluster({ KUBECONFIG, HOME }: Environment): boolean {
  return KUBECONFIG !== undefined || existsSync(join(HOME ?? '/', '.kube/config'))
}

/** Whether a folder of PATH has a program; nothing is started. */
function isInstalled(program: string, environment: Environment): boolean {
  const folders = (environment['PATH'] ?? '').split(delimiter)
  return folders.some(folder => folder !== '' && existsSync(join(folder, program)))
}
