import type { EarlierRun } from '../history/earlier-run.ts'

/** A file somebody named, or one of a folder somebody named. */
export interface RunFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** The bytes as UTF-8. */
  readonly text: string
}

/** Runs that were read, and how many rows said too little to be one. */
export interface ReadRuns {
  readonly runs: readonly EarlierRun[]
  /** Steps and runs that have not ended are not counted: they are no rows that lack something. */
  readonly skipped: number
  /** No column says how runs ended: all are taken for completed. */
  readonly lacksStates?: true
}

/** One way that earlier runs are written down. `files` is one file, or everything of a folder. */
export interface RunFormat {
  readonly name: string
  /** Whether the files are of this format, as far as their beginning tells. */
  accepts(files: readonly RunFile[]): boolean
  /** Throws GpufareError where the files are of this format and cannot be read. */
  read(files: readonly RunFile[]): ReadRuns | Promise<ReadRuns>
}
