import type { RunState } from './earlier-run.ts'

/** One time that GPUs were held for a task or component of a job; one that was started again has several. */
export interface Allocation {
  readonly cluster: string
  /** Of the whole submission: array tasks and components have the same. */
  readonly jobId: string
  /** Array task; empty where there is one. */
  readonly task: string
  /** Component of a heterogeneous job; empty where there is one. */
  readonly component: string
  /** `interrupted` also of one that was put back into the queue; `gone` of one that the cluster no longer knows. */
  readonly state: RunState | 'waiting' | 'running' | 'gone'
  /** Seconds since 1970. */
  readonly submitSeconds: number
  /** Absent where it has not begun. */
  readonly startSeconds?: number
  readonly elapsedSeconds: number
  readonly gpus: number
  readonly gpuType?: string
  readonly user: string
  readonly account: string
  readonly name: string
  readonly comment: string
  /** Share of its time that its GPUs had work, 0 to 1; absent where nobody counts. */
  readonly gpuBusyShare?: number
  /** It stands for all tasks, some of which ran after others: how long one took is not known. */
  readonly isAllTasks?: true
}
