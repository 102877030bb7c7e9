import { describe, expect, test } from 'vitest'
import { readPreCommitPush, readPushedRefs } from '../../src/hooks/pushed-refs.ts'

const one = '1'.repeat(40)
const two = '2'.repeat(40)
const zeros = '0'.repeat(40)

describe('the lines git tells a pre-push hook', () => {
  test('name what is pushed, and where the remote stands', () => {
    expect(readPushedRefs(`refs/heads/a ${one} refs/heads/b ${two}\n`)).toEqual([
      { localRef: 'refs/heads/a', localObject: one, remoteRef: 'refs/heads/b', remoteObject: two },
    ])
  })

  test('may be several, or none where everything is up to date', () => {
    const lines = `refs/heads/a ${one} refs/heads/a ${two}\nrefs/tags/v1 ${two} refs/tags/v1 ${zeros}\n`
    expect(readPushedRefs(lines).map(ref => ref.remoteRef)).toEqual(['refs/heads/a', 'refs/tags/v1'])
    expect(readPushedRefs('')).toEqual([])
    expect(readPushedRefs('\n')).toEqual([])
  })

  test('have zeros for what is not there: a new branch, a deletion, also in a repository of SHA-256', () => {
    expect(readPushedRefs(`refs/heads/a ${one} refs/heads/a ${zeros}\n`)[0]?.remoteObject).toBeUndefined()
    const deletion = readPushedRefs(`(delete) ${'0'.repeat(64)} refs/heads/a ${'a'.repeat(64)}\n`)
    expect(deletion).toEqual([
      { localRef: '(delete)', localObject: undefined, remoteRef: 'refs/heads/a', remoteObject: 'a'.repeat(64) },
    ])
  })

  test('may hold a revision with spaces, as it was typed', () => {
    const [ref] = readPushedRefs(`HEAD^{/fix it} ${one} refs/heads/a ${zeros}\n`)
    expect(ref).toMatchObject({ localRef: 'HEAD^{/fix it}', localObject: one })
  })

  test.each(['rubbish', `a ${one} b`, `a ${one.slice(1)} b ${two}`])('are nothing else: %s', line => {
    expect(() => readPushedRefs(line)).toThrow(/standard input says/)
  })
})

describe('the variables of pre-commit', () => {
  const told = {
    PRE_COMMIT_LOCAL_BRANCH: 'refs/heads/a',
    PRE_COMMIT_REMOTE_BRANCH: 'refs/heads/b',
    PRE_COMMIT_REMOTE_NAME: 'origin',
    PRE_COMMIT_REMOTE_URL: '/r.git',
  }

  test('tell a push', () => {
    const push = readPreCommitPush({ ...told, PRE_COMMIT_FROM_REF: one, PRE_COMMIT_TO_REF: two })
    expect(push).toEqual({
      refs: [{ localRef: 'refs/heads/a', localObject: two, remoteRef: 'refs/heads/b', remoteObject: one }],
      target: { name: 'origin', url: '/r.git' },
    })
  })

  test('tell no range where all of a history is new: then it is the branch', () => {
    expect(readPreCommitPush(told)?.refs).toMatchObject([{ localObject: 'refs/heads/a', remoteObject: undefined }])
  })

  test('are absent elsewhere', () => {
    expect(readPreCommitPush({ PRE_COMMIT: '1' })).toBeUndefined()
  })
})
