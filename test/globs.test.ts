import { describe, expect, test } from 'vitest'
import { fitsGlob } from '../src/globs.ts'

describe('a glob', () => {
  test.each([
    ['*.yaml', 'a/b.yaml'],
    ['old/', 'a/old/b/c.yaml'],
    ['old', 'old'],
    ['/a/*.yaml', 'a/b.yaml'],
    ['./a/*.yaml', 'a/b.yaml'],
    ['a/**', 'a/b/c'],
    ['a/**/c.yaml', 'a/c.yaml'],
    ['a/**/c.yaml', 'a/x/y/c.yaml'],
    ['**/a/c', 'q/a/c'],
    ['*.{yaml,yml}', 'a.yml'],
    ['{a,b{c,d}}.yml', 'bd.yml'],
    ['[a-c]?.yml', 'bx.yml'],
    ['[!a-c].yml', 'd.yml'],
    ['*a*b*', 'xaxxbx'],
    ['wei*', 'weiß'],
    ['odd*', 'odd\nname'],
  ])('%s fits %j', (glob, path) => {
    expect(fitsGlob(path, glob)).toBe(true)
  })

  test.each([
    ['*.yaml', 'a.yml'],
    ['/*.yaml', 'a/b.yaml'],
    ['a/*.yaml', 'x/a/b.yaml'],
    ['a/*', 'ab/c'],
    ['a.b', 'axb'],
    ['[a-c].yml', 'd.yml'],
    ['a?b', 'a/b'],
    ['', 'a'],
  ])('%s does not fit %j', (glob, path) => {
    expect(fitsGlob(path, glob)).toBe(false)
  })

  test('comes to an end, whatever is written in it', () => {
    // Tried one way after the other, each of these would outlive the test.
    expect(fitsGlob('a'.repeat(4_000), `${'*a'.repeat(1_000)}b`)).toBe(false)
    expect(fitsGlob('a/'.repeat(1_000), `${'**/a/'.repeat(300)}b`)).toBe(false)
    expect(fitsGlob('a', '{a,b}'.repeat(40))).toBe(false)
  })
})
