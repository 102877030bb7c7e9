import { relative } from 'node:path'
import type { CheckReport } from '../check-report.ts'
import { GpufareError } from '../errors.ts'
import { gitIn } from '../hooks/ask-git.ts'
import { type CheckCommits, checkPush } from '../hooks/checked-push.ts'
import { findFramework } from '../hooks/frameworks.ts'
import type { HookHome } from '../hooks/hook-home.ts'
import { findHookRepository, type HookRepository } from '../hooks/hook-repository.ts'
import { type Itself, plainHook } from '../hooks/plain-hook.ts'
import { readPreCommitPush, readPushedRefs } from '../hooks/pushed-refs.ts'
import { readPushSettings } from '../hooks/settings.ts'
import { readRefLines, unchecked, watchPush } from '../hooks/watched-push.ts'
import { exitWhenInterrupted } from '../programs.ts'
import { processTerminal, type Terminal } from '../terminal.ts'

/** Without an answer by then, as on a network disk that hangs, the usual settings count. */
const settingsPatienceMilliseconds = 5_000

/** What can be done with the hook of a repository. */
export type HookAction = 'install' | 'uninstall' | 'status'

/** What `gpufare hook run` can be told. */
export interface HookRunOptions {
  /** Seconds after which the push goes on unchecked; 0 = no limit. */
  readonly timeout?: number
  readonly strict?: true
}

/** Installs, removes or describes the pre-push hook of the repository one stands in. */
export async function hook(
  action: HookAction,
  terminal: Terminal = processTerminal(false),
  folder: string = process.cwd(),
  itself: Itself = thisProgram(),
): Promise<number> {
  const repository = await findHookRepository(folder, terminal.environment)
  const home = findFramework(repository) ?? gitsOwn(repository, itself, action)
  const words = act(home, action)
  for (const sentence of words) terminal.stdout.write(`${sentence}\n`)
  if (action === 'install' && repository.workTrees > 1) {
    terminal.stdout.write(`it counts for all ${repository.workTrees} work trees of this repository\n`)
  }
  return 0
}

/** Sentences of what was done. Throws GpufareError also where the disk refuses. */
function act(home: HookHome, action: HookAction): readonly string[] {
  try {
    return action === 'status' ? describeState(home) : action === 'install' ? home.install() : home.uninstall()
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw new GpufareError(`nothing was done: ${error.message}`, 1)
    throw error
  }
}

function describeState(home: HookHome): readonly string[] {
  const { installed, words } = home.state()
  return [`${installed ? 'installed' : 'not installed'} (hooks are run by ${home.title})`, ...words]
}

/** Git's hooks folder, where it is this repository's alone. */
function gitsOwn(repository: HookRepository, itself: Itself, action: HookAction): HookHome {
  const { hooksFolder, hooksPathScope: scope } = repository
  if (action === 'install' && scope !== undefined && scope !== 'local' && scope !== 'worktree') {
    throw new GpufareError(
      `core.hooksPath of the ${scope} git configuration sends all repositories to ${hooksFolder}: a hook there would count for each of them`,
      2,
      'to have hooks of its own here: git config core.hooksPath .git/hooks; for all: have the pre-push there run gpufare hook run "$@"',
    )
  }
  return plainHook(hooksFolder, isCommitted(repository) ? undefined : itself)
}

/** Hooks in the work tree belong to the whole team, on whose machines gpufare lies elsewhere. */
function isCommitted({ root, hooksFolder, gitFolder }: HookRepository): boolean {
  const isWithin = (folder: string) => !/^\.\.(\/|$)|^\//.test(relative(folder, hooksFolder))
  return isWithin(root) && !isWithin(gitFolder)
}

/** Node and the file it was started with, by their absolute paths. */
function thisProgram(): Itself {
  return [process.execPath, process.argv[1] ?? '']
}

/**
 * What git's pre-push hook runs; `words` are the remote's name and URL. Answers with 0 where the push may go on. It asks
 * nobody and ends in time.
 */
export async function hookRun(
  words: readonly string[],
  options: HookRunOptions,
  terminal: Terminal = processTerminal(false),
  itself: Itself = thisProgram(),
  checkCommits: CheckCommits = (...commits) => checkRevision(...commits, terminal.environment),
): Promise<number> {
  exitWhenInterrupted()
  const { environment, stdin } = terminal
  if (!['', '0', undefined].includes(environment['GPUFARE_SKIP'])) return 0
  const settings = await readPushSettings(options, gitIn('.', environment, settingsPatienceMilliseconds))
  const preCommit = readPreCommitPush(environment)
  const { timeoutSeconds, strict } = settings
  const input = preCommit === undefined ? await readRefLines(stdin, timeoutSeconds) : ''
  if (input === undefined) return unchecked(`not told of within ${timeoutSeconds} s`, strict, terminal)
  if (timeoutSeconds > 0) {
    const again = [...itself, 'hook', 'run', '--timeout', '0', ...(strict ? ['--strict'] : []), ...words] as const
    return watchPush(again, input, settings, terminal)
  }
  const [name = '', url] = words
  const { refs, target } = preCommit ?? { refs: readPushedRefs(input), target: { name, url } }
  const outcome = await checkPush(refs, target, strict, gitIn('.', environment), checkCommits)
  if (outcome.text !== '') terminal.stderr.write(`${outcome.text}\n`)
  return outcome.exitCode
}

/** The check of `gpufare check` on two commits; loaded when there is something to check. */
async function checkRevision(
  folder: string,
  base: string | undefined,
  head: string,
  environment: Terminal['environment'],
): Promise<CheckReport> {
  const { checkRevisions } = await import('../check.ts')
  const today = new Date().toISOString().slice(0, 10)
  return checkRevisions({ folder, base, head, strict: false, today, environment })
}
