import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../folders.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A git that knows nothing of whoever runs the tests: no configuration, no hooks, an author of its own. */
export function gitEnvironment(more: Environment = {}): Record<string, string> {
  const own = Object.entries(process.env).filter(([key]) => !/^(GIT|GPUFARE|PRE_COMMIT|HUSKY|LEFTHOOK)/.test(key))
  const all = {
    ...Object.fromEntries(own),
    HOME: '/nowhere',
    XDG_CONFIG_HOME: '/nowhere',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
    GIT_ALLOW_PROTOCOL: 'file',
    ...more,
  }
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** A clone with a bare remote, both in one new folder. */
export interface Clone {
  readonly folder: string
  readonly remote: string
  /** Runs git in the clone and answers with what it prints. */
  git(...words: string[]): string
  /** Writes files and commits them; answers with the commit. */
  commit(files: Readonly<Record<string, string>>): string
}

/** `name` is the clone's own folder, which may have any name that a folder can have. */
export function makeClone(name = 'clone'): Clone {
  const around = makeFolder()
  const remote = join(around, 'remote.git')
  gitIn(around, 'init', '--quiet', '--bare', '--initial-branch=main', remote)
  return cloneOf(remote, join(around, name))
}

export function cloneOf(remote: string, folder: string, ...how: string[]): Clone {
  gitIn(dirname(remote), 'clone', '--quiet', ...how, how.length > 0 ? `file://${remote}` : remote, folder)
  return openClone(folder, remote)
}

export function openClone(folder: string, remote: string): Clone {
  const git = (...words: string[]) => gitIn(folder, ...words)
  return {
    folder,
    remote,
    git,
    commit(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--no-verify', '-m', Object.keys(files).join(' ') || 'empty')
      return git('rev-parse', 'HEAD')
    },
  }
}

export function gitIn(folder: string, ...words: string[]): string {
  return execFileSync('git', ['-C', folder, ...words], {
    encoding: 'utf8',
    env: gitEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd()
}
