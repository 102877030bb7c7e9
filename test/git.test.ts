import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FileSource, readFetched } from '../src/file-source.ts'
import { folderFiles } from '../src/folder-files.ts'
import {
  changedFiles,
  filesHolding,
  findRepository,
  type Head,
  indexFiles,
  mergeBase,
  type Repository,
  resolveRevision,
  revisionFiles,
  workTreeFiles,
} from '../src/git.ts'
import { makeFolder } from './folders.ts'
import { makeRepository, type TestRepository } from './git-repositories.ts'

function opened({ root, environment }: TestRepository): Repository {
  const repository = findRepository(root, environment)
  if (repository === undefined) throw new Error(`${root} is no repository`)
  return repository
}

/** The text of a file, or why there is none. */
async function textIn(source: FileSource, path: string, largestBytes = 1000): Promise<string> {
  const reading = await readFetched(source, () => source.read(path, largestBytes))
  return 'bytes' in reading ? Buffer.from(reading.bytes).toString() : reading.notRead
}

describe('the repository of a folder', () => {
  test('is found from below, and none where there is none', () => {
    const { root, environment } = makeRepository()
    mkdirSync(join(root, 'a/b'), { recursive: true })
    expect(findRepository(join(root, 'a/b'), environment)?.root).toBe(root)
    expect(findRepository(makeFolder(), environment)).toBeUndefined()
  })
})

describe('a revision', () => {
  test('is a branch, a tag, a hash or HEAD~1, and zeros are the empty tree', async () => {
    const test = makeRepository()
    const first = test.commit({ a: '1' })
    const second = test.commit({ a: '2' })
    test.git('tag', '-a', 'v1', '-m', 'v1')
    const repository = opened(test)
    for (const name of ['main', 'v1', 'HEAD', second, second.slice(0, 10)]) {
      expect(await resolveRevision(repository, name)).toBe(second)
    }
    expect(await resolveRevision(repository, 'HEAD~1')).toBe(first)
    expect((await revisionFiles(repository, await resolveRevision(repository, '0'.repeat(40)))).paths).toEqual([])
  })

  test('that is not there is named, also one that looks like an option', async () => {
    const test = makeRepository()
    test.commit({ a: '1' })
    const repository = opened(test)
    for (const name of ['nope', '--output=x', '-h']) {
      await expect(resolveRevision(repository, name)).rejects.toMatchObject({
        exitCode: 2,
        message: `${name}: there is no such revision in ${test.root}`,
      })
    }
    expect(existsSync(join(test.root, 'x'))).toBe(false)
  })

  test('missing from a shallow clone says how to fetch it', async () => {
    const origin = makeRepository()
    origin.commit({ a: '1' })
    origin.commit({ a: '2' })
    const clone = opened(makeRepository(['--depth', '1', `file://${origin.root}`]))
    await expect(resolveRevision(clone, 'HEAD~1')).rejects.toMatchObject({
      hint: expect.stringContaining('fetch-depth: 0'),
    })
  })

  test('of a tree, which has no history, is the tree', async () => {
    const test = makeRepository()
    test.commit({ a: '1' })
    expect(await mergeBase(opened(test), 'HEAD^{tree}', 'HEAD')).toBe(test.git('rev-parse', 'HEAD^{tree}').trim())
  })

  test('without a common commit is refused with a hint', async () => {
    const test = makeRepository()
    const main = test.commit({ a: '1' })
    test.git('checkout', '-q', '--orphan', 'other')
    const other = test.commit({ b: '1' })
    await expect(mergeBase(opened(test), main, other)).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('--exact'),
    })
  })
})

describe('files', () => {
  const oddName = Buffer.concat([Buffer.from('odd\nna me '), Buffer.from([0xe9])])

  function withEverything(): TestRepository {
    const test = makeRepository()
    test.write({ a: 'first', 'folder/b': 'b', '.gitignore': 'ignored\n', ignored: 'x', large: 'x'.repeat(2000) })
    symlinkSync('folder/b', join(test.root, 'link'))
    symlinkSync('folder', join(test.root, 'linked'))
    symlinkSync('/etc/passwd', join(test.root, 'outside'))
    symlinkSync('../../x', join(test.root, 'folder/above'))
    symlinkSync('circle', join(test.root, 'circle'))
    writeFileSync(Buffer.concat([Buffer.from(`${test.root}/`), oddName]), 'odd')
    test.git('add', '-A')
    test.git('commit', '-q', '-m', 'one')
    return test
  }

  const sources: readonly (readonly [string, (repository: Repository) => Promise<FileSource>])[] = [
    ['the work tree', workTreeFiles],
    ['the index', indexFiles],
    ['a revision', repository => revisionFiles(repository, 'HEAD')],
  ]

  test.each(sources)('of %s are read with their links, and nothing outside of it', async (_, open) => {
    const source = await open(opened(withEverything()))
    expect(await textIn(source, 'a')).toBe('first')
    expect(await textIn(source, 'link')).toBe('b')
    expect(await textIn(source, 'linked/b')).toBe('b')
    expect(await textIn(source, 'odd\nna me \\xE9')).toBe('odd')
    expect(await textIn(source, 'folder')).toMatch(/not a file|not found/)
    expect(await textIn(source, 'nowhere')).toBe('not found beside the manifest')
    expect(await textIn(source, 'large')).toBe('larger than 0.001 MB')
    for (const path of ['outside', 'folder/above', 'circle', '../x', 'outside/../../x']) {
      expect(await textIn(source, path), path).toMatch(/^(it lies outside|not found)/)
    }
  })

  test('of the work tree are those tracked and those new, but not those ignored', async () => {
    const test = withEverything()
    test.write({ 'new.yaml': 'x' })
    const { paths } = await workTreeFiles(opened(test))
    expect(paths).toEqual(expect.arrayContaining(['a', 'folder/b', 'new.yaml', 'odd\nna me \\xE9']))
    expect(paths).not.toContain('ignored')
  })

  test('each state has its own: a change that is staged, one that is not', async () => {
    const test = withEverything()
    test.write({ a: 'second' })
    test.git('add', 'a')
    test.write({ a: 'third' })
    const repository = opened(test)
    expect(await textIn(await revisionFiles(repository, 'HEAD'), 'a')).toBe('first')
    expect(await textIn(await indexFiles(repository), 'a')).toBe('second')
    expect(await textIn(await workTreeFiles(repository), 'a')).toBe('third')
  })

  test('of a folder without a repository are found without hidden folders', () => {
    const root = makeFolder()
    for (const folder of ['jobs', '.hidden', 'node_modules']) mkdirSync(join(root, folder))
    for (const file of ['jobs/a.yaml', '.hidden/b.yaml', 'node_modules/c.yaml']) writeFileSync(join(root, file), '')
    symlinkSync('/etc', join(root, 'etc'))
    expect(folderFiles(root).paths).toEqual(['jobs/a.yaml'])
  })
})

describe('what changed', () => {
  test('since a revision, in another one, in the index and in the work tree', async () => {
    const test = makeRepository()
    const base = test.commit({ kept: '1', changed: '1', gone: '1', 'odd\nname': '1' })
    const head = test.commit({ changed: '2', gone: undefined, added: '1', 'odd\nname': '2' })
    const repository = opened(test)
    const expected = [
      { path: 'added', kind: 'added' },
      { path: 'changed', kind: 'modified' },
      { path: 'gone', kind: 'deleted' },
      { path: 'odd\nname', kind: 'modified' },
    ]
    const heads: readonly Head[] = [{ revision: head }, 'index', 'work tree']
    for (const each of heads) expect(await changedFiles(repository, base, each)).toEqual(expected)
    test.write({ untracked: '1', kept: '2' })
    expect(await changedFiles(repository, head, 'index')).toEqual([])
    const { untracked } = await workTreeFiles(repository)
    expect(untracked).toEqual(['untracked'])
    expect(await changedFiles(repository, head, 'work tree', untracked)).toEqual([
      { path: 'kept', kind: 'modified' },
      { path: 'untracked', kind: 'added' },
    ])
  })

  test('is looked for by name in every state', async () => {
    const test = makeRepository()
    const head = test.commit({ a: 'uses ds.json', b: 'uses none', 'c\nd': 'uses ds.json' })
    const repository = opened(test)
    const heads: readonly Head[] = [{ revision: head }, 'index', 'work tree']
    for (const each of heads) expect(await filesHolding(repository, ['ds.json'], each)).toEqual(['a', 'c\nd'])
    expect(await filesHolding(repository, ['-v', 'nothing'], 'work tree')).toEqual([])
  })
})

test('nothing that a hostile repository configures is run', async () => {
  const test = makeRepository()
  const base = test.commit({
    'a.yaml': 'one',
    '.gitattributes': '*.yaml filter=bad diff=bad\n*.txt filter=so=bad\n',
    'b.txt': 'old',
  })
  const trap = join(test.root, '.git/trap')
  const mark = join(test.root, '.git/sprung')
  writeFileSync(trap, `#!/bin/sh\ntouch '${mark}'\ncat\n`)
  chmodSync(trap, 0o755)
  for (const key of [
    'core.fsmonitor',
    'filter.bad.clean',
    'filter.bad.smudge',
    'diff.bad.textconv',
    'diff.bad.command',
  ]) {
    test.git('config', key, trap)
  }
  for (const key of [
    'diff.bad.command',
    'diff.external',
    'core.pager',
    'pager.grep',
    'core.sshCommand',
    'core.editor',
    'core.askPass',
  ]) {
    test.git('config', key, trap)
  }
  test.git('config', 'core.worktree', '/')
  test.git('config', 'alias.ls-files', `!${trap}`)
  for (const hook of ['post-index-change', 'post-checkout', 'pre-auto-gc']) {
    writeFileSync(join(test.root, '.git/hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
  }
  test.write({ 'a.yaml': 'two', 'b.txt': 'new' })
  const repository = opened(test)
  const source = await workTreeFiles(repository)
  expect(source.paths).toContain('a.yaml')
  expect(await changedFiles(repository, base, 'work tree')).toContainEqual({ path: 'a.yaml', kind: 'modified' })
  expect(await changedFiles(repository, base, 'index')).toEqual([])
  expect(await filesHolding(repository, ['two'], 'work tree')).toEqual(['a.yaml'])
  expect(await filesHolding(repository, ['one'], { revision: base })).toEqual(['a.yaml'])
  expect(await textIn(await revisionFiles(repository, base), 'a.yaml')).toBe('one')
  expect(await textIn(await indexFiles(repository), 'a.yaml')).toBe('one')
  expect(await mergeBase(repository, base, 'HEAD')).toBe(base)
  expect(existsSync(mark)).toBe(false)
})
