/** What a job is known by before it runs: what earlier runs are compared by. Texts are empty where nothing is known. */
export interface RunRequest {
  readonly name: string
  /** Users and accounts in lower case, as Slurm stores them. */
  readonly user: string
  readonly account: string
  readonly partition: string
  readonly qos: string
  /** Seconds since 1970-01-01 UTC. */
  readonly submitSeconds: number
  /** Absent where nobody knows it. A partition's default is nobody's estimate. */
  readonly limitSeconds?: number | 'unlimited' | 'partition-default'
  readonly nodes?: number
  readonly cpus?: number
  readonly gpus: number
  readonly gpuType?: string
  /** Digests, since a command line may hold secrets. */
  readonly submitLineDigest?: string
  readonly workDirDigest?: string
}

/** How a run ended. Those that someone or something stopped early say nothing of how long the work takes. */
export type RunState = 'completed' | 'failed' | 'out-of-memory' | 'timeout' | 'cancelled' | 'interrupted'

/** A run that has ended. */
export interface EarlierRun extends RunRequest {
  readonly id: string
  readonly state: RunState
  /** Equal to `submitSeconds` where the source knows no wait. */
  readonly startSeconds: number
  readonly endSeconds: number
  /** Of one task, wall clock; the thing to predict. */
  readonly elapsedSeconds: number
}

/** The time limit where it is a number somebody chose. */
export function chosenLimit({ limitSeconds }: RunRequest): number | undefined {
  return typeof limitSeconds === 'number' ? limitSeconds : undefined
}

/** Whether a run was ended by its time limit, as far as can be told. */
export function reachedLimit(run: EarlierRun): boolean {
  const limit = chosenLimit(run)
  return run.state === 'timeout' || (limit !== undefined && run.elapsedSeconds >= limit)
}
