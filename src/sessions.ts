import type { CommandLine } from './command-lines.ts'
import type { Place } from './errors.ts'
import type { Job, Role } from './job.ts'
import { baseName } from './launchers.ts'
import { imageName } from './serving-images.ts'

/** What holds a job's GPUs for a person, who may go home and forget it. */
export interface Session {
  /** `jupyter lab`, `sleep infinity`. */
  readonly what: string
  readonly place: Place
  /** What was started goes on in the background, and its script may come to an end. */
  readonly isDetached?: true
}

/** Programs that wait for a person whatever they are told; `start-notebook.sh` and its like are those of the Jupyter Docker Stacks. */
const waiting =
  /^(?:jupyter-(?:lab|notebook|server)|jupyterhub-singleuser|start-(?:notebook|singleuser)\.(?:sh|py)|notebook|jupyterlab|code-server|openvscode-server|rserver|rstudio-server|sshd|tmux|screen|salloc|sinteractive)$/
/** Programs that do so for some of their subcommands: VS Code's tunnel, marimo's editor. */
const waitingFor: ReadonlyMap<string, RegExp> = new Map([
  ['jupyter', /^(?:lab|notebook|server|-)|^$/],
  ['code', /^(?:tunnel|serve-web)$/],
  ['marimo', /^edit$/],
])
/** Programs that may leave the terminal at once, and what they started behind. */
const detaching = /^(?:sshd|tmux|screen)$/
/** Images that are an editor or a notebook when they are told nothing: Coder's and LinuxServer's, the Jupyter Docker Stacks, Kubeflow's, Rocker's. */
const images =
  /(?:^|\/)(?:(?:codercom|linuxserver)\/code-server|gitpod\/openvscode-server|(?:quay\.io\/)?jupyter\/[\w-]*notebook|kubeflownotebookswg\/[\w.-]+|rocker\/(?:rstudio|geospatial|tidyverse|ml))(?=[:@]|$)/
const shells = /^(?:ba|z|da|k|fi|tc|c)?sh$/

/** The session that a job is: a notebook, an editor, a shell, or nothing but sleep; undefined where it is none. */
export function findSession(
  job: Pick<Job, 'kind' | 'place'> & { readonly roles: readonly Pick<Role, 'commandLines'>[] },
): Session | undefined {
  if (job.kind === 'Notebook' || job.kind === 'Workspace') return { what: job.kind, place: job.place }
  for (const { commandLines } of job.roles) {
    const waiter =
      commandLines.find(waits) ?? (commandLines.some(line => line.background) ? undefined : commandLines.find(sleeps))
    if (waiter === undefined) continue
    const isDetached = detaching.test(baseName(waiter.program))
    return { what: describe(waiter), place: waiter.place, ...(isDetached && { isDetached }) }
  }
  return undefined
}

function waits({ program, arguments: words, launches }: CommandLine): boolean {
  const name = baseName(program)
  if (launches.length === 0 && isSessionImage(program)) return true
  if (waiting.test(name) || waitingFor.get(name)?.test(words[0]?.written ?? '') === true) return true
  return shells.test(name) && launches.some(({ options }) => options.some(({ written }) => written === '--pty'))
}

/** Whether a container of this image that is given at most options waits for a person. */
export function isSessionImage(image: string): boolean {
  return images.test(image)
}

/** Whether it holds the machine for as long as it may: a day of sleep is no pause between two steps. */
function sleeps({ program, arguments: words }: CommandLine): boolean {
  const name = baseName(program)
  if (name === 'tail') return words.some(({ written }) => written === '/dev/null')
  return name === 'sleep' && /^(?:inf|infinity|\d+d|\d{2,}h|\d{5,}s?)$/.test(words[0]?.written ?? '')
}

/** The program and its first word, as far as that is no path or option. */
function describe({ program, arguments: words }: CommandLine): string {
  const [first = ''] = words.map(({ written }) => written)
  const name = isSessionImage(program) ? imageName(program) : baseName(program)
  if (name === 'tail') return 'tail -f /dev/null'
  return /^[\w]+$/.test(first) ? `${name} ${first}` : name
}

/** Options by which notebooks and editors end themselves once nobody uses them. */
const idleOptions = /(?:^|\s)--[\w.]*(shutdown_no_activity_timeout|cull_idle_timeout|idle-timeout-seconds)\b/

/** Whether one of these options stands in a text. */
export function saysIdleLimit(text: string): boolean {
  return idleOptions.test(text)
}

/** Whether a session ends itself once nobody uses it. */
export function hasIdleLimit(job: Job): boolean {
  if (job.endsWhenIdle === true) return true
  return job.roles.some(role =>
    role.commandLines.some(
      ({ arguments: words, environment }) =>
        environment['TMOUT'] !== undefined || words.some(word => saysIdleLimit(word.written)),
    ),
  )
}
