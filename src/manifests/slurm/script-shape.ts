import type { Fault } from '../../errors.ts'
import type { Warning } from '../../warning.ts'

/** Whether a text can be a batch script at all. */
export interface ScriptShape {
  readonly faults: readonly Fault[]
  /** What makes sbatch refuse a script that can be read all the same. */
  readonly warnings: readonly Warning[]
}

/** Looks at what sbatch looks at before it reads a line: emptiness, `#!`, NUL characters and line ends. */
export function checkShape(script: string, file: string): ScriptShape {
  if (script.trim() === '') {
    const message = script === '' ? 'the file is empty' : 'the file is empty but for blanks and line ends'
    return { faults: [{ place: { file }, message: `${message}; sbatch refuses it` }], warnings: [] }
  }
  const warnings: Warning[] = []
  const refuse = (line: number, text: string): number =>
    warnings.push({ code: 'scheduler-will-refuse', text, place: { file, line, column: 1 } })
  if (!script.startsWith('#!')) {
    refuse(1, 'sbatch will refuse this file: its first line has to begin with #! and an interpreter, as in #!/bin/bash')
  }
  if (script.includes('\r\n')) {
    refuse(
      lineOf(script, '\r\n'),
      `sbatch will refuse this file: it has Windows line ends (CRLF); convert it with dos2unix or sed -i 's/\\r$//' ${file}`,
    )
  }
  if (script.includes('\0')) {
    refuse(lineOf(script, '\0'), 'sbatch will refuse this file: it holds a NUL character')
  }
  return { faults: [], warnings }
}

function lineOf(text: string, part: string): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < text.indexOf(part); at = text.indexOf('\n', at + 1)) line += 1
  return line
}
