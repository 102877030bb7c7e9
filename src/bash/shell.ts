import type { Place } from '../errors.ts'
import { type Cell, type Field, type Scope, setVariable, type Variable } from './scope.ts'
import type { ArrayValue, Assignment, FunctionNode, Redirection } from './syntax.ts'
import { unknownText } from './text.ts'
import { expandText, expandValue, expandWord, heredocText, joinCells, redirectedText } from './words.ts'

/** A command that a script would start, its words expanded, launchers still in front. */
export interface StartedCommand {
  readonly words: readonly Field[]
  readonly place: Place
  /** What its standard input would be, where the script says. */
  readonly input: Field | undefined
  readonly environment: Readonly<Record<string, string>>
  /** The same for a shell that it starts: of some variables only parts are known, and those are marked. */
  readonly exported: Readonly<Record<string, string>>
  /** Files that the script wrote before, by their path. */
  readonly writtenFiles: ReadonlyMap<string, string>
  readonly conditional: boolean
  readonly arm: BranchArm | undefined
  readonly repetitions: number
  readonly background: boolean
  /** Where it runs, seen from the manifest's folder; empty = there, or where is not known. */
  readonly folder: string
}

/** Which way it stands on, where a script takes one of several and which is not known. */
export interface BranchArm {
  readonly branch: number
  readonly arm: number
}

/** A script's shell while it is followed: its variables and where in the script's course it stands. */
export interface Shell extends Scope {
  readonly functions: Map<string, FunctionNode>
  /** Shared by all subshells: what was found so far, and how much more is followed. */
  readonly course: {
    started: StartedCommand[]
    steps: number
    branches: number
    unfollowed: Place | undefined
  }
  /** Paths whose file is a copy of another one. */
  readonly copies: Map<string, string>
  conditional: boolean
  arm: BranchArm | undefined
  repetitions: number
  /** Passes through the loops around it that are followed one by one. */
  passes: number
  background: boolean
  input: string | undefined
  depth: number
}

/** How a command leaves: on to the next one, or out of its loop, function or script. */
export type Flow = 'next' | 'break' | 'continue' | 'return' | 'exit'

/** `ran`: a program, which is taken to succeed, though nobody knows. */
export interface Outcome {
  readonly flow: Flow
  readonly status: boolean | undefined | 'ran'
}

export const RAN: Outcome = { flow: 'next', status: 'ran' }
export const SUCCEEDED: Outcome = { flow: 'next', status: true }
export const UNKNOWN: Outcome = { flow: 'next', status: undefined }

/** What a command reads: its here-document, here-string, or what its pipe brings. */
export function inputOf(redirects: readonly Redirection[], shell: Shell): string | undefined {
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') return heredocText(redirect, shell)
    if (redirect.type === 'HereString') return `${expandText(redirect.target, shell)}\n`
    if (redirect.type === 'Redirect' && redirect.operator === '<') return redirectedText(redirect.target, shell)
  }
  return shell.input
}

/** Cells of an array that are followed; a longer one becomes unknown. */
const MOST_CELLS = 10_000

/** Makes an assignment, `name=value`, `name+=value` or `name=(…)`. */
export function assign(assignment: Assignment, shell: Shell, exported = false): void {
  const { name, value, append } = assignment
  const before = shell.variables.get(name)
  const place = shell.script.placeOf(assignment.pos)
  if (value.type === 'ArrayValue') {
    const listed = arrayCells(value, append === true ? before?.cells : undefined, shell)
    const unknown: Cell = { text: unknownText(`\${${name}[@]}`), place }
    const cells = listed.size > MOST_CELLS ? new Map([['?', unknown]]) : listed
    shell.variables.set(name, { cells, isArray: true, exported })
    return
  }
  const index = assignment.index === undefined ? '0' : expandText(assignment.index, shell)
  const given = expandValue(value, shell)
  const old = append === true ? (before?.cells.get(index) ?? unsetCell(name, before, shell)) : undefined
  setVariable(shell, name, old === undefined ? given : joinCells([old, given], place), index)
  if (exported) exportVariable(name, shell)
}

function arrayCells(value: ArrayValue, before: ReadonlyMap<string, Cell> | undefined, shell: Shell): Map<string, Cell> {
  const cells = new Map(before)
  let next = cells.size
  for (const element of value.elements) {
    const keyed = /^\[([^\]]+)\]=/.exec(element.text)
    if (keyed?.[1] !== undefined) {
      const text = element.parts === undefined ? element.value : expandText(element, shell)
      cells.set(keyed[1].replace(/^(['"])(.*)\1$/, '$2'), {
        text: text.slice(text.indexOf(']=') + 2),
        place: shell.script.placeOf(element.pos),
      })
      continue
    }
    for (const field of expandWord(element, shell)) cells.set(String(next++), { text: field.text, place: field.place })
  }
  return cells
}

/** What `+=` adds to where nothing was set. */
function unsetCell(name: string, before: Variable | undefined, shell: Shell): Cell {
  const text = before === undefined && shell.mayBeSet ? unknownText(`$${name}`) : ''
  return { text, place: undefined }
}

/** Lets the programs that are started see a variable. */
export function exportVariable(name: string, shell: Shell): void {
  const variable = shell.variables.get(name)
  if (variable !== undefined) shell.variables.set(name, { ...variable, exported: true })
}
