import type { Job } from '../job.ts'
import type { Manifest } from '../manifest.ts'

/** A program to run: argument array and what to write to its standard input. */
export interface Submission {
  readonly program: string
  readonly arguments: readonly string[]
  readonly input?: Uint8Array
}

/** A job that a scheduler has taken, as its program says. */
export interface Accepted {
  readonly job: Job
  /** Job id of Slurm, uid of Kubernetes; absent where the program did not print it or nobody answered in time. */
  readonly id?: string
  readonly cluster?: string
  readonly namespace?: string
  /** How the scheduler's program calls it, `job.batch/train`. */
  readonly reference?: string
}

/**
 * What a manifest is handed to. A scheduler says what to run and what can be known before and after; running it, with
 * the terminal's own streams, is done in one place for all (`forward`).
 */
export interface Scheduler {
  readonly name: Job['scheduler']
  /** What people call it. */
  readonly title: string
  /** What to do when its program is not there. */
  readonly whenMissing: string
  /** Whether a text that is in no file of the user's can go through standard input without changing the job. */
  takesStandardInput(manifest: Manifest): boolean
  /** What to run. Throws GpufareError where an option would submit something else than what was quoted. */
  submission(manifest: Manifest): Submission
  /** Cluster, context and the like that the manifest itself does not name; empty where the scheduler does not answer at once. */
  findDestination(manifest: Manifest): Promise<Readonly<Record<string, string>>>
  /** Asks for a verdict on the whole manifest without creating anything. Throws where a part would be refused; answers with what could not be checked. */
  rehearse?(manifest: Manifest): Promise<readonly string[]>
  /** Whether what was handed over is really accepted, from what the program printed; answers with what stands in its way. */
  lookAfter?(manifest: Manifest, jobs: readonly Job[], printed: string): Promise<readonly string[]>
  /** The same with a short text that the scheduler keeps beside the job; undefined where its place is the user's already. */
  withStamp?(manifest: Manifest, stamp: string): Manifest | undefined
  /** Jobs that were taken, from what the program printed. */
  accepted(manifest: Manifest, jobs: readonly Job[], printed: string): Promise<readonly Accepted[]>
  /** Puts the text beside a job that was taken, where `withStamp` cannot; answers with why it could not. */
  annotate?(manifest: Manifest, accepted: Accepted, stamp: string): Promise<string | undefined>
  /** Where to see what was submitted, if the file changed in the very moment. */
  readonly whereToLook: string
}
