import type { CommandLine } from '../command-lines.ts'
import type { Job, Role } from '../job.ts'
import type { ModelTable } from '../model.ts'
import type { Sourced } from '../sourced.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import type { Peers } from './processes.ts'

/** Text of the files that command lines refer to, by the path as written there; a path that was not read says why. */
export type ReferredFiles = ReadonlyMap<string, { readonly text: string } | { readonly notRead: string }>

/** The same as a command line names them, from the folder that it runs in. */
export type FilesAtHand = Pick<ReferredFiles, 'get' | 'has'>

/** Where a command line runs. */
export interface RunContext {
  readonly job: Job
  readonly role: Role
  /** Machines and GPUs of all roles that start this same command. */
  readonly peers: Peers
  /** Processes its launchers start, as far as known. */
  readonly processes: Sourced<number> | undefined
  readonly files: FilesAtHand
  /** Known models: tokenizers are called after them. */
  readonly models: ModelTable
}

/** What a reader found: the run, and what the user should know about how it was read. */
export interface WorkloadReading {
  /** Only what is written; what follows from it is worked out in one place for all frameworks. */
  readonly workload: Workload
  /**
   * What the other values do not give: steps where the batch grows, tokens where the training text is generated, the model's size
   * where only a part of it is named.
   */
  readonly notDerived?: readonly ('steps' | 'tokens' | 'model')[]
  /** What an epoch goes through: each sample of the data set once, or its text packed into full sequences; absent = not known. */
  readonly epochOf?: 'samples' | 'packed-text'
  /** Where the data lies; its name may hint at a public data set. */
  readonly dataFolder?: Sourced<string>
  readonly warnings: readonly Warning[]
}

/** Understands one training framework's command line. */
export interface WorkloadReader {
  readonly name: string
  /** Files it would like to see, as written in the command line or in those of its files that were read. */
  refersTo(commandLine: CommandLine, files: FilesAtHand): readonly string[]
  /** The run this command line makes; undefined when it is not this framework's. */
  read(commandLine: CommandLine, context: RunContext): WorkloadReading | undefined
}
