import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gitIn } from '../../src/hooks/ask-git.ts'
import { findPushedRanges } from '../../src/hooks/pushed-ranges.ts'
import type { PushedRef } from '../../src/hooks/pushed-refs.ts'
import { makeFolder } from '../folders.ts'
import { type Clone, cloneOf, gitEnvironment, makeClone, gitIn as runGit } from './repositories.ts'

const origin = { name: 'origin', url: undefined }

function pushOf(localObject: string | undefined, remoteObject?: string, name = 'x'): PushedRef {
  return { localRef: `refs/heads/${name}`, localObject, remoteRef: `refs/heads/${name}`, remoteObject }
}

/** Head and bases of what a push brings. */
async function rangesOf(clone: Clone, refs: readonly PushedRef[], target = origin) {
  const ranges = await findPushedRanges(refs, target, gitIn(clone.folder, gitEnvironment()))
  return ranges.map(({ head, bases }) => [head, ...bases])
}

/** A clone whose main branch the remote has. */
function published() {
  const clone = makeClone()
  const first = clone.commit({ 'a.txt': '1' })
  clone.git('push', '--quiet', 'origin', 'HEAD:main')
  return { clone, first }
}

describe('what a push brings to the remote', () => {
  test('is what a branch grew by', async () => {
    const { clone, first } = published()
    const second = clone.commit({ 'a.txt': '2' })
    expect(await rangesOf(clone, [pushOf(second, first)])).toEqual([[second, first]])
  })

  test('of a new branch begins where it left the branches the remote has', async () => {
    const { clone, first } = published()
    clone.git('checkout', '--quiet', '-b', 'topic')
    clone.commit({ 'b.txt': '1' })
    const head = clone.commit({ 'b.txt': '2' })
    expect(await rangesOf(clone, [pushOf(head)])).toEqual([[head, first]])
  })

  test('of a new branch without a commit of its own is nothing', async () => {
    const { clone, first } = published()
    expect(await rangesOf(clone, [pushOf(first)])).toEqual([])
  })

  test('of a branch that is deleted is nothing', async () => {
    const { clone, first } = published()
    expect(await rangesOf(clone, [pushOf(undefined, first)])).toEqual([])
  })

  test('by force begins at the last commit in common', async () => {
    const { clone, first } = published()
    const second = clone.commit({ 'a.txt': '2' })
    clone.git('push', '--quiet', 'origin', 'HEAD:main')
    clone.git('reset', '--quiet', '--hard', first)
    const other = clone.commit({ 'a.txt': '3' })
    expect(await rangesOf(clone, [pushOf(other, second)])).toEqual([[other, first]])
  })

  test('by force back to an older commit is nothing', async () => {
    const { clone, first } = published()
    const second = clone.commit({ 'a.txt': '2' })
    clone.git('push', '--quiet', 'origin', 'HEAD:main')
    expect(await rangesOf(clone, [pushOf(first, second)])).toEqual([])
  })

  test('by force over a commit that was never fetched begins at what is known', async () => {
    const { clone, first } = published()
    const head = clone.commit({ 'a.txt': '2' })
    expect(await rangesOf(clone, [pushOf(head, 'f'.repeat(40))])).toEqual([[head, first]])
  })

  test('with a tag is the commit it is put on, which may be there already', async () => {
    const { clone, first } = published()
    clone.git('tag', '-a', '-m', 'old', 'old')
    expect(await rangesOf(clone, [pushOf(clone.git('rev-parse', 'old'))])).toEqual([])
    const head = clone.commit({ 'a.txt': '2' })
    clone.git('tag', '-a', '-m', 'new', 'new')
    expect(await rangesOf(clone, [pushOf(clone.git('rev-parse', 'new'))])).toEqual([[head, first]])
  })

  test('with a tag on no commit is nothing', async () => {
    const { clone } = published()
    clone.git('tag', 'text', clone.git('rev-parse', 'HEAD:a.txt'))
    expect(await rangesOf(clone, [pushOf(clone.git('rev-parse', 'text'))])).toEqual([])
  })

  test('with several refs is counted once where they are one commit', async () => {
    const { clone, first } = published()
    const one = clone.commit({ 'a.txt': '2' })
    const two = clone.commit({ 'a.txt': '3' })
    const refs = [pushOf(one, undefined, 'x'), pushOf(two, first, 'main'), pushOf(one, undefined, 'y')]
    expect(await rangesOf(clone, refs)).toEqual([
      [one, first],
      [two, first],
    ])
  })

  test('is everything where the remote has nothing in common with it', async () => {
    const { clone } = published()
    clone.git('checkout', '--quiet', '--orphan', 'other')
    const head = clone.commit({ 'a.txt': 'other' })
    expect(await rangesOf(clone, [pushOf(head)])).toEqual([[head]])
    const fresh = makeClone()
    const start = fresh.commit({ 'a.txt': '1' })
    expect(await rangesOf(fresh, [pushOf(start)])).toEqual([[start]])
  })

  test('after a merge of a published branch stands on both, and the older ones that these contain do not count', async () => {
    const { clone, first } = published()
    clone.git('checkout', '--quiet', '-b', 'topic')
    const topic = clone.commit({ 'b.txt': '1' })
    clone.git('push', '--quiet', 'origin', 'topic')
    clone.git('checkout', '--quiet', '-b', 'trunk', first)
    const trunk = clone.commit({ 'a.txt': '2' })
    clone.git('push', '--quiet', 'origin', 'HEAD:main')
    clone.git('checkout', '--quiet', 'topic')
    clone.git('merge', '--quiet', '--no-edit', 'trunk')
    const merge = clone.git('rev-parse', 'HEAD')
    const [range = []] = await rangesOf(clone, [pushOf(merge, topic)])
    expect(range[0]).toBe(merge)
    expect(range.slice(1).sort()).toEqual([topic, trunk].sort())
    // a branch that was made before main grew, and never pushed
    clone.git('checkout', '--quiet', '-b', 'late', first)
    clone.commit({ 'c.txt': '1' })
    clone.git('merge', '--quiet', '--no-edit', 'trunk')
    const late = clone.git('rev-parse', 'HEAD')
    expect(await rangesOf(clone, [pushOf(late)])).toEqual([[late, trunk]])
  })

  test('in a shallow clone begins at what was cloned', async () => {
    const { clone } = published()
    const tip = clone.commit({ 'a.txt': '2' })
    clone.git('push', '--quiet', 'origin', 'HEAD:main')
    const shallow = cloneOf(clone.remote, join(makeFolder(), 'shallow'), '--depth=1')
    const head = shallow.commit({ 'b.txt': '1' })
    expect(await rangesOf(shallow, [pushOf(head, tip)])).toEqual([[head, tip]])
    expect(await rangesOf(shallow, [pushOf(head)])).toEqual([[head, tip]])
  })

  test('is judged by the branches of the remote it goes to, known by its name or its URL', async () => {
    const { clone, first } = published()
    clone.git('remote', 'add', 'backup', '/nowhere/backup.git')
    const head = clone.commit({ 'a.txt': '2' })
    expect(await rangesOf(clone, [pushOf(head)], { name: 'backup', url: undefined })).toEqual([[head]])
    const byUrl = { name: clone.remote, url: undefined }
    expect(await rangesOf(clone, [pushOf(head)], byUrl)).toEqual([[head, first]])
    const unknown = { name: '/nowhere/else.git', url: undefined }
    expect(await rangesOf(clone, [pushOf(head)], unknown)).toEqual([[head, first]])
  })

  test('is the objects that are pushed, not those that replace them here', async () => {
    const { clone, first } = published()
    const second = clone.commit({ 'a.txt': '2' })
    clone.git('replace', second, first)
    expect(await rangesOf(clone, [pushOf(second, first)])).toEqual([[second, first]])
  })

  test('works in a repository of SHA-256', async () => {
    const folder = makeFolder()
    runGit(folder, 'init', '--quiet', '--object-format=sha256', folder)
    runGit(folder, 'commit', '--quiet', '--allow-empty', '-m', 'one')
    const first = runGit(folder, 'rev-parse', 'HEAD')
    runGit(folder, 'commit', '--quiet', '--allow-empty', '-m', 'two')
    const second = runGit(folder, 'rev-parse', 'HEAD')
    const ranges = await findPushedRanges([pushOf(second, first)], origin, gitIn(folder, gitEnvironment()))
    expect(ranges).toMatchObject([{ head: second, bases: [first] }])
  })
})
