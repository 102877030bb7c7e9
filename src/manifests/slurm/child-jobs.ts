import { followScript } from '../../bash/run.ts'
import { showText } from '../../bash/text.ts'
import type { Job, Role } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import type { Warning } from '../../warning.ts'

/** A job that a script submits: `sbatch <<EOF` with all that the script's own shell puts into the text. */
export interface ChildScript {
  readonly manifest: Manifest
  readonly line: number
  readonly times: number
}

/** The scripts that a script writes and hands to sbatch on the way, loops followed as far as the text decides them. */
export function findChildScripts(manifest: Manifest): readonly ChildScript[] {
  const { started } = followScript(manifest.text, {
    file: manifest.name,
    firstLine: 1,
    lines: 'as-written',
    variables: {},
    arguments:
      manifest.scriptArguments.length === 0
        ? undefined
        : manifest.scriptArguments.map(text => ({ text, place: undefined })),
    findings: { defaults: new Map(), missingArguments: new Map(), assumedEmpty: 0, askedArguments: 0 },
  })
  return started.flatMap(command => {
    const [program, ...options] = command.words.map(word => showText(word.text))
    if (program?.split('/').at(-1) !== 'sbatch' || command.input === undefined) return []
    const line = command.place.line ?? 1
    const text = showText(command.input.text)
    const name = `script of ${manifest.name}:${line}`
    return [{ manifest: { ...manifest, name, text, schedulerArguments: options }, line, times: command.repetitions }]
  })
}

/** The jobs that a script submits as one: those that ask for the same are tasks of one role. */
export function gatherChildren(
  manifest: Manifest,
  children: readonly (ChildScript & { readonly job: Job })[],
): Job | undefined {
  const [first] = children
  if (first === undefined) return undefined
  const roles = new Map<string, Role>()
  for (const child of children) {
    for (const role of child.job.roles) {
      const key = requestOf(role)
      const before = roles.get(key)
      const tasks = (before?.tasks ?? 0) + role.tasks * child.times
      const concurrentTasks = (before?.concurrentTasks ?? 0) + role.concurrentTasks * child.times
      roles.set(key, { ...(before ?? role), tasks, concurrentTasks })
    }
  }
  const count = children.reduce((sum, child) => sum + child.times, 0)
  const text = `this script asks for nothing itself and submits ${count} jobs: figures are for all of them together`
  const warning: Warning = { code: 'child-jobs', text, place: { file: manifest.name, line: first.line } }
  return {
    ...first.job,
    name: manifest.path.split('/').at(-1) ?? manifest.path,
    place: { file: manifest.name, line: 1 },
    roles: [...roles.values()].map((role, index) => ({
      ...role,
      name: roles.size === 1 ? 'child-job' : `child-job-${index}`,
    })),
    warnings: [warning, ...first.job.warnings],
  }
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
