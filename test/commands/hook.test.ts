import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type HookAction, hook, hookRun } from '../../src/commands/hook.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { gitEnvironment, gitIn, makeClone } from '../hooks/repositories.ts'

const itself = ['/opt/node 20/bin/node', "/opt/it's/gpufare.js"] as const

function pretendTerminal(environment: Readonly<Record<string, string>> = {}, input = '') {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  streams.stdin.end(input)
  const terminal = describeTerminal(streams, gitEnvironment(environment))
  const read = (name: 'stdout' | 'stderr') => String(streams[name].read() ?? '')
  return { terminal, read }
}

/** What the command says. */
async function run(action: HookAction, folder: string, environment: Readonly<Record<string, string>> = {}) {
  const { terminal, read } = pretendTerminal(environment)
  expect(await hook(action, terminal, folder, itself)).toBe(0)
  return read('stdout')
}

function makeRepository(): string {
  const folder = makeFolder()
  gitIn(folder, 'init', '--quiet', folder)
  return folder
}

/** Content, kind and mode of a file. */
function stateOf(path: string) {
  if (!existsSync(path)) return undefined
  const { mode } = lstatSync(path)
  return { mode, text: readFileSync(path, 'utf8') }
}

describe('in a plain repository', () => {
  test('the hook is installed, says where, and starts gpufare by the paths it was installed with', async () => {
    const folder = makeRepository()
    const path = join(folder, '.git/hooks/pre-push')
    expect(await run('status', folder)).toContain('not installed')
    expect(await run('install', folder)).toContain(`installed ${path}`)
    expect(lstatSync(path).mode & 0o111).toBe(0o111)
    expect(readFileSync(path, 'utf8')).toContain("program='/opt/it'\\''s/gpufare.js'")
    expect(await run('status', folder)).toMatch(/^installed/)
  })

  test('installing twice is as installing once, also from a folder within', async () => {
    const folder = makeRepository()
    await run('install', folder)
    const first = stateOf(join(folder, '.git/hooks/pre-push'))
    mkdirSync(join(folder, 'a/b'), { recursive: true })
    expect(await run('install', join(folder, 'a/b'))).toContain('already installed')
    expect(stateOf(join(folder, '.git/hooks/pre-push'))).toEqual(first)
  })

  test('a hook that was installed by other paths is renewed', async () => {
    const folder = makeRepository()
    const { terminal } = pretendTerminal()
    await hook('install', terminal, folder, ['/old/node', '/old/gpufare.js'])
    expect(await run('install', folder)).toContain('renewed')
    expect(readFileSync(join(folder, '.git/hooks/pre-push'), 'utf8')).not.toContain('/old/')
  })

  test('uninstalling leaves nothing behind, and has nothing to do twice', async () => {
    const folder = makeRepository()
    await run('install', folder)
    expect(await run('uninstall', folder)).toContain('took away')
    expect(existsSync(join(folder, '.git/hooks/pre-push'))).toBe(false)
    expect(await run('uninstall', folder)).toContain('nothing to take away')
  })

  test('a hook that was edited is neither renewed nor taken away', async () => {
    const folder = makeRepository()
    const path = join(folder, '.git/hooks/pre-push')
    await run('install', folder)
    writeFileSync(path, readFileSync(path, 'utf8').replace('\n\n', '\nmine\n\n'))
    const edited = stateOf(path)
    await expect(run('uninstall', folder)).rejects.toMatchObject({ exitCode: 2 })
    await expect(run('install', folder)).rejects.toThrow(/was edited/)
    expect(await run('status', folder)).toContain('edited')
    expect(stateOf(path)).toEqual(edited)
  })
})

describe('a hook that was there before', () => {
  test.each<[string, string, number]>([
    ['a script', '#!/bin/sh\necho earlier\n', 0o755],
    ['a script that git does not run', '#!/bin/sh\necho earlier\n', 0o644],
    [
      'that of Git LFS',
      `#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || { printf >&2 '%s' "delete the '$(basename "$0")' file"; exit 2; }\ngit lfs pre-push "$@"\n`,
      0o755,
    ],
    ['a script without a line end', '#!/usr/bin/env python3\nprint("earlier")', 0o700],
  ])('is kept, and is back after uninstalling: %s', async (_, text, mode) => {
    const folder = makeRepository()
    const path = join(folder, '.git/hooks/pre-push')
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    writeFileSync(path, text)
    chmodSync(path, mode)
    const before = stateOf(path)
    expect(await run('install', folder)).toContain('pre-push.before-gpufare')
    expect(stateOf(`${path}.before-gpufare`)).toEqual(before)
    await run('install', folder)
    expect(await run('status', folder)).toContain('first it runs')
    await run('uninstall', folder)
    expect(stateOf(path)).toEqual(before)
    expect(existsSync(`${path}.before-gpufare`)).toBe(false)
  })

  test('may be a link to a script of the repository', async () => {
    const folder = makeRepository()
    const path = join(folder, '.git/hooks/pre-push')
    writeFileSync(join(folder, 'push.sh'), '#!/bin/sh\n')
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    symlinkSync('../../push.sh', path)
    await run('install', folder)
    expect(readFileSync(join(folder, 'push.sh'), 'utf8')).toBe('#!/bin/sh\n')
    await run('uninstall', folder)
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
  })

  test.each([
    ['is no script', '\u007fELF\u0000\u0001'],
    ['looks at its own name', '#!/bin/sh\nexec run-hook "$(basename "$0")" "$@"\n'],
  ])('is left as it is where it %s, and what to do is said', async (reason, text) => {
    const folder = makeRepository()
    const path = join(folder, '.git/hooks/pre-push')
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    writeFileSync(path, text)
    await expect(run('install', folder)).rejects.toMatchObject({
      message: expect.stringContaining(reason),
      hint: expect.stringContaining('gpufare hook run "$@"'),
    })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('is left as it is where another is kept already', async () => {
    const folder = makeRepository()
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    writeFileSync(join(folder, '.git/hooks/pre-push'), '#!/bin/sh\n')
    writeFileSync(join(folder, '.git/hooks/pre-push.before-gpufare'), '#!/bin/sh\n')
    await expect(run('install', folder)).rejects.toThrow(/there is such a file/)
  })
})

test('a disk that refuses is named, and what was there stays', async () => {
  const folder = makeRepository()
  // a file where the folder of hooks would be made
  gitIn(folder, 'config', 'core.hooksPath', join(folder, 'file/hooks'))
  writeFileSync(join(folder, 'file'), '')
  await expect(run('install', folder)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/nothing was done: ENOTDIR/),
  })
})

describe('where the hooks are', () => {
  test('a work tree has those of its repository, and it is said that they are shared', async () => {
    const clone = makeClone()
    clone.commit({ 'a.txt': '1' })
    const tree = join(makeFolder(), 'tree')
    clone.git('worktree', 'add', '--quiet', tree)
    expect(await run('install', tree)).toMatch(/all 2 work trees/)
    expect(existsSync(join(clone.folder, '.git/hooks/pre-push'))).toBe(true)
  })

  test('a submodule has its own', async () => {
    const inner = makeClone()
    inner.commit({ 'a.txt': '1' })
    inner.git('push', '--quiet', 'origin', 'HEAD:main')
    const outer = makeClone()
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.remote, 'sub')
    await run('install', join(outer.folder, 'sub'))
    expect(existsSync(join(outer.folder, '.git/modules/sub/hooks/pre-push'))).toBe(true)
    expect(existsSync(join(outer.folder, '.git/hooks/pre-push'))).toBe(false)
  })

  test('core.hooksPath in the work tree is committed, so no path of this machine is in it', async () => {
    const folder = makeRepository()
    gitIn(folder, 'config', 'core.hooksPath', '.githooks')
    expect(await run('install', folder)).toMatch(/commit it/)
    const text = readFileSync(join(folder, '.githooks/pre-push'), 'utf8')
    expect(text).toContain("program=''")
    expect(text).not.toContain('/opt/')
    await run('uninstall', folder)
    expect(existsSync(join(folder, '.githooks/pre-push'))).toBe(false)
  })

  test('core.hooksPath outside of the work tree is taken as it is', async () => {
    const folder = makeRepository()
    const hooks = makeFolder()
    gitIn(folder, 'config', 'core.hooksPath', hooks)
    await run('install', folder)
    expect(readFileSync(join(hooks, 'pre-push'), 'utf8')).toContain('gpufare.js')
  })

  test('core.hooksPath for all repositories is refused, and what to do is said', async () => {
    const folder = makeRepository()
    const hooks = makeFolder()
    const config = join(makeFolder(), 'config')
    writeFileSync(config, `[core]\n\thooksPath = ${hooks}\n`)
    await expect(run('install', folder, { GIT_CONFIG_GLOBAL: config })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/global.*all repositories/),
      hint: expect.stringContaining('gpufare hook run'),
    })
    expect(existsSync(join(hooks, 'pre-push'))).toBe(false)
  })

  test('a bare repository and a folder outside of any are refused', async () => {
    const { remote } = makeClone()
    await expect(run('install', remote)).rejects.toMatchObject({
      message: expect.stringContaining('bare'),
      exitCode: 2,
    })
    await expect(run('install', makeFolder())).rejects.toThrow(/no git repository/)
  })
})

describe('with husky', () => {
  function huskyRepository() {
    const folder = makeRepository()
    gitIn(folder, 'config', 'core.hooksPath', '.husky/_')
    mkdirSync(join(folder, '.husky/_'), { recursive: true })
    return { folder, path: join(folder, '.husky/pre-push') }
  }

  test('its file gets a few lines, and is gone again where it had none', async () => {
    const { folder, path } = huskyRepository()
    expect(await run('install', folder)).toContain(path)
    expect(readFileSync(path, 'utf8')).toContain('gpufare hook run "$@"')
    expect(await run('install', folder)).toContain('already installed')
    expect(await run('status', folder)).toMatch(/^installed.*husky/)
    await run('uninstall', folder)
    expect(existsSync(path)).toBe(false)
  })

  test.each(['npm test\n', '#!/bin/sh\nnpm test', '#!/usr/bin/env sh\n\n'])('other lines stay: %j', async text => {
    const { folder, path } = huskyRepository()
    writeFileSync(path, text)
    await run('install', folder)
    expect(readFileSync(path, 'utf8')).toMatch(/# gpufare: begin/)
    await run('uninstall', folder)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})

describe('with lefthook', () => {
  function lefthookRepository(text: string) {
    const folder = makeRepository()
    const path = join(folder, 'lefthook.yml')
    writeFileSync(path, text)
    return { folder, path }
  }

  test.each([
    '',
    '# nothing yet\n',
    'pre-commit:\n  commands:\n    lint:\n      run: npm run lint\n',
    'min_version: 1.5.0',
  ])('its configuration gets the command, and is as it was after uninstalling: %j', async text => {
    const { folder, path } = lefthookRepository(text)
    expect(await run('install', folder)).toMatch(/lefthook install/)
    expect(readFileSync(path, 'utf8')).toMatch(/^pre-push:/m)
    expect(await run('install', folder)).toContain('already installed')
    expect(await run('status', folder)).toMatch(/^installed.*lefthook/)
    await run('uninstall', folder)
    expect(existsSync(path) ? readFileSync(path, 'utf8') : '').toBe(text)
  })

  test.each([
    ['pre-push commands of its own', 'pre-push:\n  commands:\n    test:\n      run: npm test\n'],
    ['braces', '{pre-commit: {commands: {}}}\n'],
    ['a list in place of a mapping', '- a\n'],
    ['no YAML', 'a: [\n'],
  ])('a configuration with %s is left as it is, and what to add is shown', async (_, text) => {
    const { folder, path } = lefthookRepository(text)
    await expect(run('install', folder)).rejects.toMatchObject({ hint: expect.stringContaining('use_stdin: true') })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})

describe('with pre-commit', () => {
  test('its configuration is not touched, what to add is shown, and found when it is there', async () => {
    const folder = makeRepository()
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    writeFileSync(
      join(folder, '.git/hooks/pre-push'),
      '#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n',
    )
    const path = join(folder, '.pre-commit-config.yaml')
    writeFileSync(path, 'repos: []\n')
    await expect(run('install', folder)).rejects.toMatchObject({
      hint: expect.stringMatching(/entry: gpufare hook run/),
    })
    expect(readFileSync(path, 'utf8')).toBe('repos: []\n')
    expect(await run('status', folder)).toContain('not installed')
    writeFileSync(path, 'repos:\n- repo: https://example.org/gpufare\n  hooks:\n  - id: gpufare\n')
    expect(await run('status', folder)).toContain('not installed')
    for (const hook of ['- id: x\n    entry: gpufare hook run', '- id: gpufare-push']) {
      writeFileSync(path, `repos:\n- repo: local\n  hooks:\n  ${hook}\n`)
      expect(await run('status', folder)).toMatch(/^installed.*pre-commit/)
    }
  })
})

describe('what the hook runs', () => {
  const noTime = { timeout: 0 }

  test('checks each range that is pushed, and what stops it is said on stderr', async () => {
    const clone = makeClone()
    const first = clone.commit({ 'a.txt': '1' })
    const zeros = '0'.repeat(40)
    const { terminal, read } = pretendTerminal(
      { GIT_DIR: join(clone.folder, '.git') },
      `refs/heads/a ${first} refs/heads/a ${zeros}\n`,
    )
    const asked: unknown[] = []
    const exitCode = await hookRun(['origin', clone.remote], noTime, terminal, itself, async (...commits) => {
      asked.push(commits)
      throw new Error('no need to go on')
    }).catch(error => error.message)
    expect(exitCode).toBe('no need to go on')
    expect(asked).toEqual([[clone.folder, undefined, first]])
    expect(read('stdout')).toBe('')
  })

  test('with GPUFARE_SKIP looks at nothing', async () => {
    const { terminal } = pretendTerminal({ GPUFARE_SKIP: '1' }, 'rubbish\n')
    expect(await hookRun([], noTime, terminal, itself)).toBe(0)
  })

  test('without commits has nothing to check', async () => {
    const { terminal, read } = pretendTerminal()
    expect(await hookRun(['origin'], noTime, terminal, itself)).toBe(0)
    expect(read('stderr')).toBe('')
  })

  test('reads no terminal', async () => {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    Object.assign(streams.stdin, { isTTY: true })
    const running = hookRun([], {}, describeTerminal(streams, gitEnvironment()), itself)
    await expect(running).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('standard input') })
  })

  test.each([
    [{}, 0, 'it goes on'],
    [{ strict: true as const }, 5, 'stopped'],
  ])('does not wait for refs for ever: %j', async (how, exitCode, outcome) => {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const terminal = describeTerminal(streams, gitEnvironment())
    expect(await hookRun([], { timeout: 0.05, ...how }, terminal, itself)).toBe(exitCode)
    expect(String(streams.stderr.read())).toContain(outcome)
  })

  test('a setting of git that is no time is named', async () => {
    const { terminal } = pretendTerminal({
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'gpufare.timeout',
      GIT_CONFIG_VALUE_0: 'soon',
    })
    await expect(hookRun([], {}, terminal, itself)).rejects.toThrow(/gpufare.timeout.*"soon"/)
  })
})
