import type { CommandLine } from '../command-lines.ts'
import type { Job, Role } from '../job.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'

/** Text of the files that command lines refer to, by the path as written there; a path that was not read says why. */
export type ReferredFiles = ReadonlyMap<string, { readonly text: string } | { readonly notRead: string }>

/** What a reader found: the run, and what the user should know about how it was read. */
export interface WorkloadReading {
  readonly workload: Workload
  readonly warnings: readonly Warning[]
}

/** Understands one training framework's command line. */
export interface WorkloadReader {
  readonly name: string
  /** Files it would like to see, as written in the command line. */
  refersTo(commandLine: CommandLine): readonly string[]
  /** The run this command line makes; undefined when it is not this framework's. */
  read(commandLine: CommandLine, role: Role, job: Job, files: ReferredFiles): WorkloadReading | undefined
}
