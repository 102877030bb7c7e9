import { basename, dirname, resolve } from 'node:path'
import { GpufareError } from '../errors.ts'
import { type AskGit, answerOf, gitIn } from './ask-git.ts'

/** Where a repository keeps its hooks. */
export interface HookRepository {
  /** Top folder of the work tree. */
  readonly root: string
  readonly hooksFolder: string
  /** Where `core.hooksPath` is set; undefined where it is not. */
  readonly hooksPathScope: string | undefined
  /** What git keeps for all work trees of the repository. */
  readonly gitFolder: string
  readonly workTrees: number
}

/** The repository of a folder: a clone, one of its work trees or a submodule. Throws GpufareError outside, and in a bare one. */
export async function findHookRepository(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<HookRepository> {
  const bare = await gitIn(folder, environment)(['rev-parse', '--is-bare-repository'])
  if (bare.exitCode !== 0) throw new GpufareError(`no git repository: ${bare.stderr.trim()}`, 2)
  if (bare.stdout.trim() === 'true') {
    throw new GpufareError(
      `${folder} is a bare repository, which is pushed to and not from`,
      2,
      'install the hook in a clone of it; a check of what arrives belongs into CI: gpufare check --base REV',
    )
  }
  const root = await answerOf(gitIn(folder, environment), ['rev-parse', '--show-toplevel'])
  if (root === undefined) throw new GpufareError(`${folder} is in a .git folder, not in a work tree`, 2)
  // relative paths are meant from the top
  const git = gitIn(root, environment)
  const hooks = await answerOf(git, ['rev-parse', '--git-path', 'hooks'])
  const common = await answerOf(git, ['rev-parse', '--git-common-dir'])
  return {
    root,
    hooksFolder: resolve(root, hooks ?? '.git/hooks'),
    hooksPathScope: await scopeOfHooksPath(git),
    gitFolder: resolve(root, common ?? '.git'),
    workTrees: ((await answerOf(git, ['worktree', 'list', '--porcelain'])) ?? '').split(/^worktree /m).length - 1,
  }
}

/**
 * The folder whose objects are pushed, from within a hook: its top, also where git was told of the repository by --git-dir
 * from somewhere else.
 */
export async function findPushedRepository(git: AskGit): Promise<string> {
  const gitFolder = await answerOf(git, ['rev-parse', '--absolute-git-dir'])
  if (gitFolder !== undefined && basename(gitFolder) === '.git') return dirname(gitFolder)
  const root = await answerOf(git, ['rev-parse', '--show-toplevel'])
  if (root === undefined) throw new GpufareError('pushed from a bare repository, which gpufare does not check', 1)
  return root
}

async function scopeOfHooksPath(git: AskGit): Promise<string | undefined> {
  const setting = await answerOf(git, ['config', '--show-scope', '-z', '--get', 'core.hooksPath'])
  return setting?.split('\0')[0]
}
