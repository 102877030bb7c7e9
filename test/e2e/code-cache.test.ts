import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const program = fileURLToPath(new URL('../../bin/gpufare.js', import.meta.url))
let caches = ''

beforeEach(() => {
  caches = mkdtempSync(join(tmpdir(), 'gpufare-code-cache-'))
})
afterEach(() => rmSync(caches, { recursive: true, force: true }))

/** Starts a bundle, not only the help texts; what it says is always the same. */
function start(environment: NodeJS.ProcessEnv = { XDG_CACHE_HOME: caches }, nodeOptions: readonly string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, program, 'estimate', '--formt'], {
    encoding: 'utf8',
    env: environment,
  })
  return { status, stdout, stderr }
}

const answer = {
  status: 2,
  stdout: '',
  stderr: "error: unknown option '--formt'\n(Did you mean --format?)\n(--help shows what can be typed)\n",
}
const folder = () => join(caches, 'gpufare')
const files = () => readdirSync(folder())
const onlyFile = () => {
  expect(files()).toHaveLength(1)
  return join(folder(), files()[0] ?? '')
}

describe('the code cache', () => {
  test('is made by the first run, for its owner alone, and left as it is by the next', () => {
    expect(start()).toEqual(answer)
    expect(statSync(folder()).mode & 0o777).toBe(0o700)
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600)
    const { mtimeMs, ino } = statSync(onlyFile())
    expect(start()).toEqual(answer)
    expect(statSync(onlyFile())).toMatchObject({ mtimeMs, ino })
  })

  test.each([
    [
      'payload that was changed',
      (bytes: Buffer) => bytes.fill(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1),
    ],
    ['hash of another bundle', (bytes: Buffer) => bytes.fill(bytes.readUInt8(0) ^ 1, 0, 1)],
    ['payload with a byte too many', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1)])],
    ['hash and nothing more', (bytes: Buffer) => bytes.subarray(0, 64)],
    ['file that was cut off', (bytes: Buffer) => bytes.subarray(0, 1000)],
    ['file shorter than a hash', (bytes: Buffer) => bytes.subarray(0, 5)],
    ['empty file', () => Buffer.alloc(0)],
  ])('is not believed and made anew: a %s', (_, change) => {
    start()
    const good = readFileSync(onlyFile())
    writeFileSync(onlyFile(), change(Buffer.from(good)))
    expect(start()).toEqual(answer)
    const { mtimeMs, ino, size } = statSync(onlyFile())
    expect(size).toBeGreaterThan(1000)
    // one that is good again is left as it is
    expect(start()).toEqual(answer)
    expect(statSync(onlyFile())).toMatchObject({ mtimeMs, ino })
  })

  test('is not read from a folder that others may write to', () => {
    start()
    chmodSync(folder(), 0o777)
    writeFileSync(onlyFile(), 'not a cache')
    expect(start()).toEqual(answer)
    expect(readFileSync(onlyFile(), 'utf8')).toBe('not a cache')
  })

  test('is made anew for other flags of V8, which cannot use it', () => {
    start()
    const { ino } = statSync(onlyFile())
    expect(start({ XDG_CACHE_HOME: caches }, ['--no-opt'])).toEqual(answer)
    expect(statSync(onlyFile()).ino).not.toBe(ino)
  })

  test('lies under ~/.cache where XDG_CACHE_HOME is not set or not absolute', () => {
    expect(start({ HOME: caches, XDG_CACHE_HOME: 'here' })).toEqual(answer)
    expect(readdirSync(join(caches, '.cache/gpufare'))).toHaveLength(1)
  })

  test.each([
    ['without a home', () => ({})],
    ['where its folder cannot be made', () => ({ XDG_CACHE_HOME: program })],
    [
      'where its folder is a file',
      () => {
        writeFileSync(folder(), '')
        return { XDG_CACHE_HOME: caches }
      },
    ],
    [
      'where its file is a folder',
      () => {
        start()
        const file = onlyFile()
        rmSync(file)
        mkdirSync(file)
        return { XDG_CACHE_HOME: caches }
      },
    ],
  ])('is done without: %s', (_, prepare) => {
    expect(start(prepare())).toEqual(answer)
  })
})

test.each(['late/yaml', '../dist/estimate', 'help.json'])('%s is no command, whatever lies in dist', word => {
  const { status, stderr } = spawnSync(process.execPath, [program, word], { encoding: 'utf8', env: {} })
  expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(`unknown command '${word}'`) })
})
