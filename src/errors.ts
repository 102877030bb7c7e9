import { plainText } from './escaping.ts'

/** Where something stands: a file (or "standard input"), its line and column, both counted from 1. */
export interface Place {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** One thing wrong at one place: what is wrong, what was seen, what was expected, and what to do about it. */
export interface Fault {
  /** What programs tell the kind by, where it is one that a warning could be of. */
  readonly code?: 'unresolved-template' | 'external-file-missing'
  readonly place: Place
  readonly message: string
  readonly hint?: string
}

/** What the process answers with; README lists them for users. */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 130

/** A failure a person can act on. `cli.ts` turns it into words on stderr and the exit code. */
export class GpufareError extends Error {
  readonly exitCode: ExitCode
  readonly hint: string | undefined

  constructor(message: string, exitCode: ExitCode, hint?: string) {
    super(message)
    this.exitCode = exitCode
    this.hint = hint
  }
}

/** A manifest, a configuration file or another input is wrong; holds every fault found, not only the first. */
export class InputError extends GpufareError {
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    super(faults.map(describeFault).join('\n'), 2)
    this.faults = faults
  }
}

/** A text that is fine, and that no job can be read from: it describes none, or is a template whose values are missing. */
export class NothingToPrice extends InputError {
  readonly reason: 'no job' | 'template'

  constructor(faults: readonly Fault[], reason: 'no job' | 'template') {
    super(faults)
    this.reason = reason
  }
}

/** `file:line:column`, without what is not known. */
export function describePlace(place: Place): string {
  return [place.file, place.line, place.line === undefined ? undefined : place.column]
    .filter(part => part !== undefined)
    .join(':')
}

/** One line of plain text for one fault: place, message and hint. */
export function describeFault(fault: Fault): string {
  const hint = fault.hint === undefined ? '' : ` (${fault.hint})`
  const message = fault.message.length > longestMessage ? `${fault.message.slice(0, longestMessage)}...` : fault.message
  return plainText(`${describePlace(fault.place)}  ${message}${hint}`)
}

/** A fault names what it saw, which in a file that is no manifest may be all of it. */
const longestMessage = 2_000

/** What the system's usual refusals of a file mean. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file: a part of its path is no folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'nothing may be written there',
  ENOSPC: 'the disk is full',
  ELOOP: 'links in its path lead in a circle',
  ENAMETOOLONG: 'the name is too long for a file',
  EISDIR: 'is a folder, a file is expected',
}

/** The code of an error of the system, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Why the system refused a file, in words; its own words where the refusal is a rare one. */
export function systemReason(error: unknown): string {
  const code = codeOf(error)
  return (code === undefined ? undefined : reasons[code]) ?? (error instanceof Error ? error.message : String(error))
}
