/** A program to run: argument array and what to write to its standard input. */
export interface Submission {
  readonly program: string
  readonly arguments: readonly string[]
  readonly input?: Uint8Array
}
