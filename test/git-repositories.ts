import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from './folders.ts'

const environment = {
  PATH: process.env['PATH'],
  HOME: '/nowhere',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
}

/** A real git repository in a folder of its own, gone when the tests of the file have run. */
export interface TestRepository {
  readonly root: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Runs git in it and answers with what it printed. */
  git(...words: readonly string[]): string
  /** Writes files; undefined takes one away. */
  write(files: Readonly<Record<string, string | undefined>>): void
  /** Writes files, adds all that is there and commits it. */
  commit(files: Readonly<Record<string, string | undefined>>): string
}

/** An empty repository on a branch `main`, or a clone of another one. */
export function makeRepository(cloneWords?: readonly string[]): TestRepository {
  const root = join(makeFolder(), 'repository')
  mkdirSync(root)
  const git = (...words: readonly string[]) =>
    execFileSync('git', words, { cwd: root, env: environment, encoding: 'utf8', stdio: 'pipe' }).trim()
  if (cloneWords === undefined) git('init', '-q', '-b', 'main')
  else git('clone', '-q', ...cloneWords, '.')
  const write: TestRepository['write'] = files => {
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) rmSync(join(root, path))
      else {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), text)
      }
    }
  }
  return {
    root,
    environment,
    git,
    write,
    commit(files) {
      write(files)
      git('add', '-A')
      git('commit', '-q', '--allow-empty', '-m', 'a change')
      return git('rev-parse', 'HEAD')
    },
  }
}
