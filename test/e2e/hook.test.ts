import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../folders.ts'
import { type Clone, cloneOf, gitEnvironment, makeClone, openClone } from '../hooks/repositories.ts'
import { openTerminal, programWords } from './program.ts'

const program = fileURLToPath(new URL('../../bin/gpufare.js', import.meta.url))

/** $2 per GPU-hour, and no job over $100. */
const config = `clusters:
  - name: c
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 4, gres: a100, rate: 2}
policies:
  - {rule: job-cost, limit: 100, self-exempt: true}
`

/** A job that takes this long on one GPU. */
function jobOf(hours: number, more = ''): string {
  return `#!/bin/bash
#SBATCH --partition=a100
#SBATCH --gres=gpu:a100:1
#SBATCH --time=7-00:00:00
#GPUFARE runtime=${hours}h on 1xa100-80gb
${more}python train.py
`
}

const cheap = jobOf(10)
const dear = jobOf(100)

interface Surroundings {
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly folder?: string
}

/** Runs a program as a graphical tool would: no terminal is to be found, and standard input is empty. */
async function start(words: readonly [string, ...string[]], { environment = {}, folder }: Surroundings, input = '') {
  const [file, ...rest] = words
  const child = spawn(file, rest, { cwd: folder, env: gitEnvironment(environment), detached: true })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exitCode: await ended, stdout, stderr }
}

/** What gpufare said of a push. */
function said(stderr: string): readonly string[] {
  return stderr.split('\n').filter(line => line.startsWith('gpufare:'))
}

function push(clone: Pick<Clone, 'folder'>, words: readonly string[], surroundings: Surroundings = {}) {
  return start(['git', 'push', '--quiet', ...words], { folder: clone.folder, ...surroundings })
}

async function installIn(folder: string, itself = program): Promise<void> {
  const { exitCode, stderr } = await start([process.execPath, itself, 'hook', 'install'], { folder })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
}

/** A clone with the hook, whose main branch the remote has. */
async function makeGuarded(name?: string): Promise<Clone> {
  const clone = makeClone(name)
  clone.commit({ 'gpufare.yaml': config, 'old.sbatch': cheap })
  clone.git('push', '--quiet', 'origin', 'HEAD:main')
  clone.git('checkout', '--quiet', '-b', 'topic')
  await installIn(clone.folder)
  return clone
}

function remoteHas(clone: Clone, ref: string): boolean {
  return clone.git('ls-remote', clone.remote, ref) !== ''
}

describe('a push', () => {
  test('within the limits goes on with one line', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': cheap })
    const { exitCode, stdout, stderr } = await push(clone, ['origin', 'topic'])
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringMatching(/^gpufare: 1 job changed, up to \$\d+ together, within the limits\n$/),
    })
  })

  test('without a job in it goes on without a word', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'README.md': 'hello' })
    expect(await push(clone, ['origin', 'topic'])).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('over a limit is stopped: which job, how much, how to go on', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'jobs/new.sbatch': dear })
    const { exitCode, stderr } = await push(clone, ['origin', 'topic'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('jobs/new.sbatch:')
    expect(stderr).toMatch(/job-cost: \$200.*\$100/)
    expect(stderr).toContain('--no-verify')
    expect(remoteHas(clone, 'refs/heads/topic')).toBe(false)
  })

  test('over a limit goes on once the job says why, and by whom asks for it', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'topic'], { environment: { GPUFARE_SKIP: '1' } })).exitCode).toBe(0)
    clone.commit({ 'other.sbatch': dear })
    expect((await push(clone, ['--no-verify', 'origin', 'topic'])).stderr).toBe('')
    clone.commit({
      'third.sbatch': jobOf(100, '#GPUFARE exempt=job-cost until 2999-12-31: the last run of the paper\n'),
    })
    const { exitCode, stderr } = await push(clone, ['origin', 'topic'])
    expect({ exitCode, said: said(stderr) }).toEqual({ exitCode: 0, said: [expect.stringContaining('1 exempted')] })
  })

  test('cannot raise its own limit: what the remote has counts', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'gpufare.yaml': config.replace('limit: 100', 'limit: 1000'), 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'topic'])).exitCode).toBe(1)
  })

  test('is checked by what is committed: the work tree and the index count for nothing', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': cheap })
    writeFileSync(join(clone.folder, 'new.sbatch'), dear)
    writeFileSync(join(clone.folder, 'staged.sbatch'), dear)
    clone.git('add', 'staged.sbatch')
    expect((await push(clone, ['origin', 'topic'])).exitCode).toBe(0)
    clone.git('reset', '--quiet', '--hard')
    clone.commit({ 'new.sbatch': dear })
    writeFileSync(join(clone.folder, 'new.sbatch'), cheap)
    expect((await push(clone, ['origin', 'topic'])).exitCode).toBe(1)
  })

  test('is checked whichever branch is checked out', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    clone.git('checkout', '--quiet', 'origin/main')
    expect((await push(clone, ['origin', 'topic'])).exitCode).toBe(1)
    expect((await push(clone, ['origin', 'topic~:refs/heads/earlier'])).exitCode).toBe(0)
  })

  test('with a manifest that is broken is stopped, and the line is named', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'bad.sbatch': '#!/bin/bash\n#SBATCH --gres=gpu:a100:1\n#SBATCH --time=banana\npython train.py\n' })
    const { exitCode, stderr } = await push(clone, ['origin', 'topic'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('bad.sbatch:3')
  })

  test('by force is checked from the last commit that the remote has', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': cheap })
    await push(clone, ['origin', 'topic'])
    clone.git('reset', '--quiet', '--hard', 'HEAD~')
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['--force', 'origin', 'topic'])).exitCode).toBe(1)
    clone.git('reset', '--quiet', '--hard', 'HEAD~')
    expect(await push(clone, ['--force', 'origin', 'topic'])).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('of a tag is checked as that of a branch', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    clone.git('tag', '-a', '-m', 'v1', 'v1')
    clone.git('tag', 'light')
    expect((await push(clone, ['origin', 'v1'])).exitCode).toBe(1)
    expect((await push(clone, ['origin', 'light'])).exitCode).toBe(1)
    clone.git('tag', '-a', '-m', 'v0', 'v0', 'HEAD~')
    expect(await push(clone, ['origin', 'v0'])).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('that deletes a branch has nothing to check', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    await push(clone, ['--no-verify', 'origin', 'topic'])
    expect(await push(clone, ['origin', '--delete', 'topic'])).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(remoteHas(clone, 'refs/heads/topic')).toBe(false)
  })

  test('of several refs is stopped by one of them, and names it once', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': cheap })
    clone.git('checkout', '--quiet', '-b', 'two')
    clone.commit({ 'other.sbatch': dear })
    clone.git('branch', 'three')
    clone.git('push', '--quiet', 'origin', 'origin/main:refs/heads/done')
    const { exitCode, stderr } = await push(clone, ['origin', 'topic', 'two', 'three', ':done'])
    expect(exitCode).toBe(1)
    expect(stderr.match(/other\.sbatch/g)).toHaveLength(1)
    expect(stderr).not.toContain('new.sbatch')
    expect((await push(clone, ['--all', 'origin'])).exitCode).toBe(1)
    expect((await push(clone, ['--mirror', 'origin'])).exitCode).toBe(1)
  })

  test('of a history without a commit in common is checked as a whole', async () => {
    const clone = await makeGuarded()
    clone.git('checkout', '--quiet', '--orphan', 'island')
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'island'])).stderr).toContain('new.sbatch')
  })

  test('to an empty remote, or from a first commit, is checked as a whole', async () => {
    const clone = makeClone()
    clone.commit({ 'gpufare.yaml': config, 'old.sbatch': dear })
    await installIn(clone.folder)
    expect((await push(clone, ['origin', 'HEAD:main'])).exitCode).toBe(1)
  })

  test('of a merge is not stopped by what others brought to the main branch', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': cheap })
    await push(clone, ['origin', 'topic'])
    clone.git('checkout', '--quiet', '-b', 'trunk', 'origin/main')
    clone.commit({ 'theirs.sbatch': dear })
    await push(clone, ['--no-verify', 'origin', 'trunk:main'])
    clone.git('checkout', '--quiet', 'topic')
    clone.git('merge', '--quiet', '--no-edit', 'trunk')
    expect(await push(clone, ['origin', 'topic'])).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('from a shallow clone is checked by what it brings', async () => {
    const source = await makeGuarded()
    const clone = cloneOf(source.remote, join(makeFolder(), 'shallow'), '--depth=1')
    await installIn(clone.folder)
    clone.commit({ 'new.sbatch': cheap })
    expect((await push(clone, ['origin', 'HEAD:refs/heads/a'])).exitCode).toBe(0)
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'HEAD:refs/heads/b'])).exitCode).toBe(1)
  })

  test('from a partial clone fetches nothing, and does not wait for what it lacks', async () => {
    const source = await makeGuarded()
    source.git('-C', source.remote, 'config', 'uploadpack.allowFilter', 'true')
    const clone = cloneOf(source.remote, join(makeFolder(), 'partial'), '--filter=blob:none', '--no-checkout')
    clone.git('sparse-checkout', 'set', '--no-cone', '/nothing')
    clone.git('checkout', '--quiet', 'main')
    await installIn(clone.folder)
    writeFileSync(join(clone.folder, 'new.sbatch'), dear)
    clone.git('add', '--sparse', 'new.sbatch')
    clone.git('commit', '--quiet', '-m', 'new')
    const missing = () => clone.git('rev-list', '--objects', '--all', '--missing=print').match(/^\?/gm)?.length ?? 0
    const before = missing()
    expect(before).toBeGreaterThan(0)
    const { stderr } = await push(clone, ['origin', 'HEAD:refs/heads/topic'])
    expect(said(stderr)).toEqual([expect.stringMatching(/not checked \(git .*\); it goes on/)])
    expect(missing()).toBe(before)
  })

  test('by a URL is checked by what its remote is known to have', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': cheap })
    expect(said((await push(clone, [clone.remote, 'topic'])).stderr)).toEqual([
      expect.stringContaining('1 job changed'),
    ])
  })
})

describe('a push from', () => {
  test('another work tree of the repository', async () => {
    const clone = await makeGuarded()
    const tree = join(makeFolder(), 'tree')
    clone.git('worktree', 'add', '--quiet', '-b', 'beside', tree)
    openClone(tree, clone.remote).commit({ 'new.sbatch': dear })
    expect((await push({ folder: tree }, ['origin', 'beside'])).stderr).toContain('new.sbatch')
  })

  test('a submodule', async () => {
    const inner = await makeGuarded()
    const outer = makeClone()
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.remote, 'sub')
    const clone = openClone(join(outer.folder, 'sub'), inner.remote)
    await installIn(clone.folder)
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'HEAD:refs/heads/topic'])).stderr).toContain('new.sbatch')
  })

  test('a folder far away, by --git-dir', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    const words = ['--git-dir', join(clone.folder, '.git'), 'push', '--quiet', 'origin', 'topic']
    expect((await start(['git', ...words], { folder: makeFolder() })).stderr).toContain('new.sbatch')
  })

  test('a folder with spaces, quotes and a line end in its name', async () => {
    const clone = await makeGuarded(`it's a "clone"\n$HOME`)
    clone.commit({ "jobs/a 'b'\n.sbatch": dear })
    const { exitCode, stderr } = await push(clone, ['origin', 'topic'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain("jobs/a 'b' .sbatch")
  })

  test('a graphical tool with hardly a PATH', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'topic'], { environment: { PATH: bareFolder() } })).stderr).toContain('$200')
  })

  test('a terminal, which is not read', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    const terminal = openTerminal(['git', 'push', 'origin', 'topic'], {
      folder: clone.folder,
      environment: gitEnvironment(),
    })
    expect(await terminal.ended).toBe(1)
    expect(terminal.text()).toContain('$200')
    const byHand = openTerminal(['/bin/sh', '-c', `${programWords} hook run origin`], { folder: clone.folder })
    expect(await byHand.ended).toBe(2)
    expect(byHand.text()).toContain('gpufare check --base')
  })
})

/** A folder of PATH with nothing in it but git and what a shell script cannot do without. */
function bareFolder(): string {
  const folder = makeFolder()
  for (const name of ['git', 'sh', 'cat']) {
    const at = (process.env['PATH'] ?? '').split(':').find(each => existsSync(join(each, name))) ?? '/usr/bin'
    symlinkSync(join(at, name), join(folder, name))
  }
  return folder
}

/** A process that has ended stays listed as a zombie where nobody collects it. */
function runs(processId: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(processId)], { encoding: 'utf8' }).stdout.trim()
  return state !== '' && !state.startsWith('Z')
}

describe('a gpufare that', () => {
  test('lies at an odd path is found', async () => {
    const odd = join(makeFolder(), `it's "odd"\n$1`)
    mkdirSync(odd)
    symlinkSync(dirname(program), join(odd, 'bin'))
    const clone = makeClone()
    await installIn(clone.folder, join(odd, 'bin', basename(program)))
    clone.commit({ 'gpufare.yaml': config, 'old.sbatch': dear })
    expect((await push(clone, ['origin', 'HEAD:main'])).stderr).toContain('$200')
  })

  test('is gone lets the push go on with one line', async () => {
    const link = join(makeFolder(), 'gpufare.js')
    symlinkSync(program, link)
    const clone = makeClone()
    await installIn(clone.folder, link)
    clone.commit({ 'gpufare.yaml': config, 'old.sbatch': dear })
    rmSync(link)
    const { exitCode, stderr } = await push(clone, ['origin', 'HEAD:main'], { environment: { PATH: bareFolder() } })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^gpufare: not found.*\n$/) })
  })

  test('is gone from where it was is found on PATH', async () => {
    const bin = bareFolder()
    writeFileSync(join(bin, 'gpufare'), `#!/bin/sh\nexec ${programWords} "$@"\n`)
    chmodSync(join(bin, 'gpufare'), 0o755)
    const link = join(makeFolder(), 'gpufare.js')
    symlinkSync(program, link)
    const clone = makeClone()
    await installIn(clone.folder, link)
    clone.commit({ 'gpufare.yaml': config, 'old.sbatch': dear })
    rmSync(link)
    expect((await push(clone, ['origin', 'HEAD:main'], { environment: { PATH: bin } })).stderr).toContain('$200')
  })

  test('fails lets the push go on with one line', async () => {
    const broken = join(makeFolder(), 'gpufare.js')
    symlinkSync(program, broken)
    const clone = makeClone()
    await installIn(clone.folder, broken)
    clone.commit({ 'a.txt': '1' })
    rmSync(broken)
    writeFileSync(broken, 'process.exit(70)\n')
    const { exitCode, stderr } = await push(clone, ['origin', 'HEAD:main'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^gpufare: failed \(70\).*\n$/) })
  })

  test('is not done in time lets the push go on, or stops it where it has to be strict', async () => {
    const clone = await makeGuarded()
    clone.commit({ 'new.sbatch': dear })
    clone.git('config', 'gpufare.timeout', '0.001')
    clone.git('config', 'gpufare.strict', 'true')
    const stopped = await push(clone, ['origin', 'topic'])
    expect(stopped).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/not checked within 0\.001 s; stopped/),
    })
    clone.git('config', '--unset', 'gpufare.strict')
    const passed = await push(clone, ['origin', 'topic'])
    expect(passed).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^gpufare: .* it goes on\n$/) })
  })

  test('waits for a git that hangs ends it with itself', async () => {
    const clone = await makeGuarded()
    const head = clone.commit({ 'new.sbatch': dear })
    const bin = bareFolder()
    const noted = join(bin, 'noted')
    const git = join(bin, 'git')
    rmSync(git)
    writeFileSync(
      git,
      `#!/bin/sh\ncase "$*" in *rev-list*) echo $$ > '${noted}'; exec /bin/sleep 60;; esac\nPATH=${process.env['PATH']} exec git "$@"\n`,
    )
    chmodSync(git, 0o755)
    const { exitCode, stderr } = await start(
      [process.execPath, program, 'hook', 'run', '--timeout', '1.5', 'origin', clone.remote],
      { folder: clone.folder, environment: { PATH: bin } },
      `refs/heads/topic ${head} refs/heads/topic ${'0'.repeat(40)}\n`,
    )
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('within 1.5 s') })
    expect(runs(Number(readFileSync(noted, 'utf8')))).toBe(false)
  })
})

describe('a hook that was there before', () => {
  async function guardedAfter(script: string): Promise<Clone> {
    const clone = makeClone()
    clone.commit({ 'gpufare.yaml': config })
    clone.git('push', '--quiet', 'origin', 'HEAD:main')
    clone.git('checkout', '--quiet', '-b', 'topic')
    const path = join(clone.folder, '.git/hooks/pre-push')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, script)
    chmodSync(path, 0o755)
    await installIn(clone.folder)
    return clone
  }

  test('runs first, with the same words and the same refs', async () => {
    const noted = join(makeFolder(), 'noted')
    const clone = await guardedAfter(`#!/bin/sh\necho "$0 $@" > ${noted}\ncat >> ${noted}\n`)
    const head = clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'topic'])).stderr).toContain('$200')
    const zeros = '0'.repeat(40)
    expect(readFileSync(noted, 'utf8')).toBe(
      `.git/hooks/pre-push.before-gpufare origin ${clone.remote}\nrefs/heads/topic ${head} refs/heads/topic ${zeros}\n`,
    )
  })

  test('may read nothing', async () => {
    const clone = await guardedAfter('#!/bin/sh\nexit 0\n')
    clone.commit({ 'new.sbatch': dear })
    expect((await push(clone, ['origin', 'topic'])).stderr).toContain('$200')
  })

  test('stops a push by itself, and gpufare is not asked then', async () => {
    const clone = await guardedAfter('#!/bin/sh\necho no >&2\nexit 7\n')
    clone.commit({ 'new.sbatch': dear })
    const { exitCode, stderr } = await push(clone, ['origin', 'topic'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^no\n/)
    expect(said(stderr)).toEqual([])
  })

  test('may push by itself, which does not go round in circles', async () => {
    const clone = await guardedAfter(
      '#!/bin/sh\n[ "$1" = mirror ] && exit 0\nexec git push --quiet mirror HEAD:refs/heads/copy\n',
    )
    const mirror = makeClone()
    clone.git('remote', 'add', 'mirror', mirror.remote)
    clone.commit({ 'new.sbatch': cheap })
    expect((await push(clone, ['origin', 'topic'])).exitCode).toBe(0)
    expect(mirror.git('ls-remote', mirror.remote, 'refs/heads/copy')).not.toBe('')
  })
})
