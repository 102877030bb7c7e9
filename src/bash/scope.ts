import type { Place } from '../errors.ts'
import type { BashScript, Lines } from './syntax.ts'
import { isKnown, isUnknown, mergeTexts, mergeWords, showText, unknownText } from './text.ts'

/** A text, its unknown parts marked, and the line that gave it. */
export interface Cell {
  readonly text: string
  readonly place: Place | undefined
  /** Of a text over several lines: where each part stands. */
  readonly lines?: Lines | undefined
}

/** A variable: one cell with the index `0`, or an array's cells. */
export interface Variable {
  readonly cells: ReadonlyMap<string, Cell>
  readonly isArray: boolean
  readonly exported: boolean
}

/** One word after expansion. */
export interface Field {
  readonly text: string
  readonly place: Place
  /** Of a text over several lines: where each part stands, so that a script in it can say its lines. */
  readonly lines?: Lines | undefined
}

/** What is found on the way and belongs to the whole script. */
export interface Findings {
  /** Values that nobody gave, so that the script's own default counts. */
  readonly defaults: Map<string, Cell>
  /** Arguments of the script that count and were not given. */
  readonly missingArguments: Map<string, Place>
  /** Tests so far that took for empty what nobody set, and for none the arguments that were not given. */
  assumedEmpty: number
  /** How often the script's own arguments were looked for, of which none were given. */
  askedArguments: number
}

/** What words are expanded with. */
export interface Scope {
  script: BashScript
  variables: Map<string, Variable>
  /** `$1`, `$2` …; undefined: the script's own, of which none were given. */
  positional: readonly Cell[] | undefined
  /** A file of unknown content was sourced: what looks unset may be set. */
  mayBeSet: boolean
  readonly findings: Findings
  /** Where it stands, seen from the manifest's folder. */
  folder: string
  /** Files that the script wrote before, by their path. */
  readonly writtenFiles: Map<string, string>
  /** Texts of files beside the manifest, by their paths. */
  readonly sourcedFiles: ReadonlyMap<string, string>
  /** Files beside the manifest that were sourced or read, whether their text is known or not. */
  readonly sources: Set<string>
}

/** Longest text that is followed; what grows beyond becomes unknown, so that no script can eat the memory. */
export const LONGEST_TEXT = 200_000

/** Set by the scheduler, the launcher or the login shell of the machine it runs on, not by who submits. */
const SET_AT_RUN_TIME =
  /^(SLURM|PBS|LSB|OMPI|PMI|PMIX|MPI|PET|KUBERNETES|VK|LWS|RAY|NCCL|CONDA|BASH)_|^(CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|RANK|LOCAL_RANK|NODE_RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|JOB_COMPLETION_INDEX|RANDOM|SECONDS|LINENO|HOSTNAME|HOST|USER|LOGNAME|HOME|PWD|OLDPWD|TMPDIR|UID|EUID|PPID|PATH|LD_LIBRARY_PATH|PYTHONPATH|VIRTUAL_ENV|SHELL|BASH|SCRATCH|WORK|PROJECT)$/

/** Slurm sets them only for options that were given, and who reads the manifest says them then. */
const SET_WHEN_ASKED = /^SLURM_(GPUS|GPUS_PER_NODE|GPUS_PER_TASK|NTASKS_PER_NODE|CPUS_PER_TASK|CPUS_PER_GPU)$/

/** A variable's cell, or that it has none, or that it may have any. */
export type Found = Cell | 'unset' | 'unknown'

/** Looks a variable, one cell of an array, or an argument up. */
export function findCell(scope: Scope, name: string, index = '0'): Found {
  if (!isKnown(index)) return anyOf(scope.variables.get(name))
  const cell = scope.variables.get(name)?.cells.get(index)
  if (cell !== undefined) return cell
  if (scope.variables.has(name)) return scope.variables.get(name)?.cells.has('?') ? 'unknown' : 'unset'
  if (/^\d+$/.test(name)) return findArgument(scope, Number(name))
  if (/^\W$/.test(name)) return 'unknown'
  return isSetAtRunTime(scope, name) ? 'unknown' : 'unset'
}

/** Whether a text is nothing but a variable that is never empty in a job of Slurm's: `[ -z "$SLURM_JOB_ID" ]` asks whether it is one. */
export function isNeverEmpty(scope: Scope, text: string): boolean {
  return (
    isInSlurmJob(scope) && /^\$\{?SLURM_(JOB_?ID|JOB_NODELIST|NODELIST|SUBMIT_DIR)(:?-\w*)?\}?$/.test(showText(text))
  )
}

/** Who reads a batch script says how many nodes it has. */
function isInSlurmJob(scope: Scope): boolean {
  return scope.variables.has('SLURM_NNODES')
}

/** What all cells of an array have in common, where which of them is meant is only known when the job runs. */
function anyOf(variable: Variable | undefined): Found {
  const [first, ...others] = variable?.isArray ? [...variable.cells.values()] : []
  if (first === undefined || variable?.cells.has('?')) return 'unknown'
  const text = others.reduce((merged, { text }) => mergeWords(merged, text), first.text)
  return isUnknown(text) ? 'unknown' : { text, place: first.place }
}

function isSetAtRunTime(scope: Scope, name: string): boolean {
  const isOfOtherJobs = name.startsWith('SLURM_ARRAY_') && !scope.variables.has('SLURM_ARRAY_TASK_COUNT')
  return SET_AT_RUN_TIME.test(name) && !((SET_WHEN_ASKED.test(name) || isOfOtherJobs) && isInSlurmJob(scope))
}

function findArgument(scope: Scope, number: number): Found {
  if (number === 0) return 'unknown'
  return scope.positional?.[number - 1] ?? 'unset'
}

/** Whether a name is an argument of the script itself, of which none were given. */
export function isOwnArgument(scope: Scope, name: string): boolean {
  return scope.positional === undefined && /^([1-9]\d*|[@*#])$/.test(name)
}

/** Notes that the script looks for arguments of its own. */
export function noteAsked(scope: Scope, name: string): void {
  if (isOwnArgument(scope, name)) scope.findings.askedArguments++
}

/** Cells of `${name[@]}`, `$@` or `$*`; undefined where they cannot be known. */
export function findCells(scope: Scope, name: string): readonly Cell[] | undefined {
  if (name === '@' || name === '*') return scope.positional ?? []
  const variable = scope.variables.get(name)
  if (variable !== undefined) return [...variable.cells.values()]
  return isSetAtRunTime(scope, name) ? undefined : []
}

/** Sets a scalar, or one cell of an array. */
export function setVariable(scope: Scope, name: string, cell: Cell, index = '0'): void {
  const before = scope.variables.get(name)
  const text = cell.text.length > LONGEST_TEXT ? unknownText(`$${name}`) : cell.text
  const cells = new Map(before?.isArray ? before.cells : [])
  cells.set(index, text === cell.text ? cell : { text, place: cell.place })
  scope.variables.set(name, {
    cells,
    isArray: (before?.isArray ?? false) || index !== '0',
    exported: before?.exported ?? false,
  })
}

/** What two courses of a script agree on; what only one of them says is unknown. */
export function mergeVariables(a: Map<string, Variable>, b: Map<string, Variable>): Map<string, Variable> {
  const merged = new Map<string, Variable>()
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const [one, other] = [a.get(name), b.get(name)]
    if (one === other && one !== undefined) merged.set(name, one)
    else merged.set(name, mergeVariable(name, one, other))
  }
  return merged
}

function mergeVariable(name: string, a: Variable | undefined, b: Variable | undefined): Variable {
  const some = a ?? b
  const exported = some?.exported ?? false
  const unknownCell: Cell = { text: unknownText(`$${name}`), place: undefined }
  if (a === undefined || b === undefined) return { cells: new Map([['0', unknownCell]]), isArray: false, exported }
  if (!a.isArray && !b.isArray) {
    const [one, other] = [a.cells.get('0'), b.cells.get('0')]
    const text = mergeTexts(one?.text ?? '', other?.text ?? '', name)
    return { cells: new Map([['0', { text, place: one?.place }]]), isArray: false, exported }
  }
  const [shorter, longer] = a.cells.size < b.cells.size ? [a, b] : [b, a]
  const cells = new Map(shorter.cells)
  const agree = [...shorter.cells].every(([key, cell]) => longer.cells.get(key)?.text === cell.text)
  if (!agree) return { cells: new Map([['?', unknownCell]]), isArray: true, exported }
  for (const [key, cell] of longer.cells) {
    if (!cells.has(key)) cells.set(key, { text: unknownText(`[${showText(cell.text)}]`), place: cell.place })
  }
  return { cells, isArray: true, exported }
}
