/** A manifest as it was read: the very bytes that would be forwarded, and all that its scheduler would add to them. */
export interface Manifest {
  /** The path as typed, `-` for standard input. */
  readonly path: string
  /** What messages call it: the path, or `standard input`. */
  readonly name: string
  readonly bytes: Uint8Array
  readonly text: string
  /** Options for sbatch or kubectl, typed after `--`. */
  readonly schedulerArguments: readonly string[]
  /** Arguments for the batch script itself. */
  readonly scriptArguments: readonly string[]
  /** The submitting shell's variables: `SBATCH_*` count, and the script may use the others. */
  readonly environment: Readonly<Record<string, string | undefined>>
}
