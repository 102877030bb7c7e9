import type { CommandLine } from '../command-lines.ts'
import type { Job } from '../job.ts'

/** Programs that wait for a person, and sleepers that hold the GPUs for one. */
const sessionPrograms =
  /^(jupyter(-lab|-notebook|hub-singleuser|lab)?|notebook|marimo|code-server|openvscode-server|code|rserver|rstudio-server|sshd|tmux|screen)$/

/** Whether a job holds GPUs for a person: a notebook, an editor, a shell, or nothing but sleep. */
export function isSession(job: Job): boolean {
  return job.kind === 'Notebook' || job.roles.some(role => role.commandLines.some(startsSession))
}

function startsSession({ program, arguments: words }: CommandLine): boolean {
  const name = program.slice(program.lastIndexOf('/') + 1)
  const [first = ''] = words.map(word => word.written)
  if (name === 'sleep') return /^(inf|infinity|\d+d|\d{5,})$/.test(first)
  if (name === 'tail') return words.some(word => word.written === '/dev/null')
  return sessionPrograms.test(name)
}

/** Options by which notebooks and editors end themselves once nobody uses them. */
const idleOptions = /^--[\w.]*(shutdown_no_activity_timeout|cull_idle_timeout|idle-timeout-seconds)\b/

/** Whether a session ends itself once nobody uses it. */
export function hasIdleLimit(job: Job): boolean {
  return job.roles.some(role =>
    role.commandLines.some(
      ({ arguments: words, environment }) =>
        environment['TMOUT'] !== undefined || words.some(word => idleOptions.test(word.written)),
    ),
  )
}
