import { fileText } from '../../bash/files.ts'
import { followScript } from '../../bash/run.ts'
import type { StartedCommand } from '../../bash/shell.ts'
import { isKnown, showText } from '../../bash/text.ts'
import type { CommandLine } from '../../command-lines.ts'
import type { Job, Role } from '../../job.ts'
import { baseName } from '../../launchers.ts'
import type { Manifest } from '../../manifest.ts'
import type { Warning } from '../../warning.ts'
import { readArguments } from './arguments.ts'
import { sbatchOptions } from './options.ts'
import type { SbatchReading } from './read-sbatch.ts'

/** A job that a script submits, with all that the script's own shell puts into its text, options and arguments. */
export interface ChildScript {
  readonly manifest: Manifest
  readonly line: number
  readonly times: number
  /** Which job it waits for, as far as it is written: `afterok:$(sbatch …)`; absent for none. */
  readonly waitsFor: string | undefined
}

/** What a script submits: every one of its jobs, or that one of them cannot be known; and which files would tell more. */
export interface Submissions {
  readonly children: readonly ChildScript[]
  readonly isComplete: boolean
  readonly sources: readonly string[]
}

/** The jobs that a script hands to sbatch on the way, loops followed as far as the text decides them. */
export function findChildScripts(manifest: Manifest): Submissions {
  const { started, sources: read } = followScript(manifest.text, {
    file: manifest.name,
    firstLine: 1,
    lines: 'as-written',
    variables: {},
    arguments:
      manifest.scriptArguments.length === 0
        ? undefined
        : manifest.scriptArguments.map(text => ({ text, place: undefined })),
    findings: { defaults: new Map(), missingArguments: new Map(), assumedEmpty: 0, askedArguments: 0 },
    sourcedFiles: manifest.sourcedFiles,
  })
  const sources = new Set(read)
  const submitted = onOneWay(started.filter(({ words }) => baseName(showText(words[0]?.text ?? '')) === 'sbatch'))
  const children = submitted.map(command => childOf(command, manifest, sources))
  return {
    children: children.flatMap(child => child ?? []),
    isComplete: !children.includes(undefined),
    sources: [...sources],
  }
}

/** Whether a script has no request of its own and submits jobs that have. */
export function asksThroughOthers(manifest: Manifest, { directives }: Pick<SbatchReading, 'directives'>): boolean {
  if (directives.length > 0 || manifest.schedulerArguments.length > 0 || !/\bsbatch\b/.test(manifest.text)) return false
  const { children, isComplete } = findChildScripts(manifest)
  return children.length > 0 || !isComplete
}

/** Where one of several ways is taken, the submissions of the first of them. */
function onOneWay(commands: readonly StartedCommand[]): readonly StartedCommand[] {
  const armOf = new Map<number, number>()
  for (const { arm } of commands) if (arm !== undefined && !armOf.has(arm.branch)) armOf.set(arm.branch, arm.arm)
  return commands.filter(({ arm }) => arm === undefined || armOf.get(arm.branch) === arm.arm)
}

/** Options that say nothing of what a job takes: their values need not be known. */
const BESIDE_THE_POINT =
  /^--(job-name|output|error|dependency|comment|mail-\w+|chdir|account|wckey|begin|open-mode|reservation|nice)\b|^-[JoedDAb]/

function childOf(command: StartedCommand, manifest: Manifest, sources: Set<string>): ChildScript | undefined {
  const given = command.words.slice(1)
  const line = command.place.line ?? 1
  const options = given.map(({ text }) => ({
    text,
    origin: { kind: 'command-line', option: text } as const,
    place: command.place,
  }))
  const { given: read, end } = readArguments(options, sbatchOptions())
  if (
    read.some(({ option, written }) => !isKnown(written) && option.name !== 'wrap' && !BESIDE_THE_POINT.test(written))
  )
    return undefined
  const file = given[end]
  const wrapped = read.find(({ option }) => option.name === 'wrap')
  const { folder, writtenFiles } = command
  const files = { folder, writtenFiles, sourcedFiles: manifest.sourcedFiles ?? new Map(), sources }
  const text = wrapped ? '' : file === undefined ? command.input?.text : fileText(files, file.text)
  if (text === undefined || (file !== undefined && showText(file.text) === manifest.name)) return undefined
  const isOwn = file === undefined
  const waitsFor = read.findLast(({ option }) => option.name === 'dependency')?.value
  const name = isOwn ? `script of ${manifest.name}:${line}` : showText(file.text)
  return {
    manifest: {
      ...manifest,
      name,
      text: isOwn ? showText(text) : text,
      // What `--wrap` runs is read by a shell again, which knows unknown parts by their marks.
      schedulerArguments: given.slice(0, end).map(word => (wrapped ? word.text : showText(word.text))),
      scriptArguments: given.slice(end + 1).map(word => word.text),
      environment: { ...manifest.environment, ...command.environment },
    },
    line,
    times: command.repetitions,
    waitsFor: waitsFor === undefined || waitsFor === 'singleton' ? undefined : showText(waitsFor),
  }
}

/** The jobs that a script submits as one: those that ask for the same are tasks of one role. */
export function gatherChildren(
  manifest: Manifest,
  children: readonly (ChildScript & { readonly job: Job })[],
  sources: readonly string[],
): Job | undefined {
  const [first] = children
  if (first === undefined) return undefined
  const roles = new Map<string, Role>()
  const turns: Map<string, number>[] = []
  const turnOf = turnsOf(children)
  children.forEach((child, index) => {
    const at = turnOf[index] ?? 0
    const turn = turns[at] ?? new Map<string, number>()
    turns[at] = turn
    for (const role of child.job.roles) {
      const key = requestOf(role)
      const before = roles.get(key)
      const tasks = (before?.tasks ?? 0) + role.tasks * child.times
      const commandLines = before === undefined ? role.commandLines : agreeing(before.commandLines, role.commandLines)
      roles.set(key, { ...(before ?? role), commandLines, tasks })
      turn.set(key, (turn.get(key) ?? 0) + role.concurrentTasks * child.times)
    }
  })
  const names = new Map(
    [...roles.keys()].map((key, index) => [key, roles.size === 1 ? 'child-job' : `child-job-${index}`]),
  )
  const together = turns.map(turn => [...turn].map(([key, tasks]) => ({ role: names.get(key) ?? key, tasks })))
  const count = children.reduce((sum, child) => sum + child.times, 0)
  const jobs = count === 1 ? 'a job: figures are for that one' : `${count} jobs: figures are for all of them together`
  const text = `this script asks for nothing itself and submits ${jobs}`
  const warning: Warning = { code: 'child-jobs', text, place: { file: manifest.name, line: first.line } }
  return {
    ...first.job,
    name: manifest.path.split('/').at(-1) ?? manifest.path,
    place: { file: manifest.name, line: 1 },
    roles: [...roles].map(([key, role]) => ({
      ...role,
      name: names.get(key) ?? role.name,
      concurrentTasks: Math.max(...turns.map(turn => turn.get(key) ?? 0)),
    })),
    ...(together.length > 1 && roles.size > 1 && { turns: { together } }),
    warnings: [warning, ...first.job.warnings],
    ...(sources.length > 0 && { sources }),
  }
}

const NUMBER = /(^|=)[+-]?\d[\d._]*(e[+-]?\d+)?$/i

/**
 * Which turn each job runs in: what waits for another one comes after all that was submitted before, together with what the same line
 * submits, unless each of them waits for the one before (`id=$(sbatch --dependency=afterok:$id …)`).
 */
function turnsOf(children: readonly ChildScript[]): readonly number[] {
  const ofLine = new Map<number, number>()
  let last = 0
  return children.map(({ waitsFor, line }) => {
    if (waitsFor === undefined) return 0
    const isChain = /--dependency|\s-d\b/.test(waitsFor)
    const turn = (isChain ? undefined : ofLine.get(line)) ?? last + 1
    ofLine.set(line, turn)
    last = Math.max(last, turn)
    return turn
  })
}

/** The first job's programs, without the numbers in which the others' differ. */
function agreeing(some: readonly CommandLine[], others: readonly CommandLine[]): readonly CommandLine[] {
  return some.map((line, index) => {
    const other = others[index]
    if (other?.program !== line.program || other.arguments.length !== line.arguments.length) return line
    const words = line.arguments.map((word, at) => {
      const differs = word.written !== other.arguments[at]?.written
      return differs && NUMBER.test(word.written) ? { ...word, text: undefined } : word
    })
    return { ...line, arguments: words }
  })
}

/** What a role asks for, apart from where it is written and what it runs. */
function requestOf(role: Role): string {
  return JSON.stringify([
    role.replicas.value,
    role.gpuCount.value,
    role.gpuType.names.map(name => name.value),
    role.cpusPerReplica?.value,
    role.memoryBytesPerReplica?.value,
    role.timeLimitSeconds?.value,
    role.partitions.map(partition => partition.value),
    role.exclusive,
  ])
}
