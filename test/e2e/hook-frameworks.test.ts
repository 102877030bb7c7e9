import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../folders.ts'
import { type Clone, gitEnvironment, makeClone } from '../hooks/repositories.ts'
import { programWords } from './program.ts'

/** The frameworks themselves, from their registries; what they are pinned to is what was tried. */
const tools = makeFolder()
const pinned = { husky: 'husky@9.1.7', lefthook: 'lefthook@2.2.2', preCommit: 'pre-commit==4.7.0' }
// without a network it is better to be told soon
const npm = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0', '--prefix', tools]
const pip = [join(tools, 'python/bin/pip'), 'install', '--quiet', '--disable-pip-version-check', '--retries=0']
const noNpm = install([...npm, pinned.husky, pinned.lefthook])
const noPip = install(['python3', '-m', 'venv', join(tools, 'python')]) ?? install([...pip, pinned.preCommit])

/** Undefined where it went well, else why not. */
function install([file = '', ...words]: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync(file, words, { cwd: tools, encoding: 'utf8', timeout: 120_000 })
  if (status === 0) return undefined
  return `${file} ${words[0]}: ${error?.message ?? stderr.trim().split('\n')[0]}`
}

function titled(name: string, missing: string | undefined): string {
  return missing === undefined ? name : `${name}, which cannot be installed (${missing})`
}

const gpufareFolder = makeFolder()
writeFileSync(join(gpufareFolder, 'gpufare'), `#!/bin/sh\nexec ${programWords} "$@"\n`)
chmodSync(join(gpufareFolder, 'gpufare'), 0o755)

const path = [join(tools, 'node_modules/.bin'), join(tools, 'python/bin'), process.env['PATH']].join(':')
const withGpufare = `${gpufareFolder}:${path}`

function run(folder: string, words: readonly string[], PATH = withGpufare) {
  const [file = '', ...rest] = words
  const home = { HOME: tools, XDG_CACHE_HOME: join(tools, 'cache') }
  const { status, stdout, stderr } = spawnSync(file, rest, {
    cwd: folder,
    encoding: 'utf8',
    env: gitEnvironment({ ...home, PATH, CI: undefined, NO_COLOR: '1' }),
    input: '',
  })
  return { exitCode: status, said: stdout + stderr }
}

const config = `clusters:
  - name: c
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 4, gres: a100, rate: 2}
policies:
  - {rule: job-cost, limit: 100}
`

function jobOf(hours: number): string {
  return `#!/bin/bash\n#SBATCH -p a100\n#SBATCH --gres=gpu:a100:1\n#SBATCH -t 7-0\n#GPUFARE runtime=${hours}h on 1xa100-80gb\npython t.py\n`
}

/** Pushes a dear job, which has to be stopped, then a cheap one, which has to go on; then without gpufare. */
function pushBoth(clone: Clone): void {
  clone.commit({ 'new.sbatch': jobOf(100) })
  const stopped = run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/topic'])
  expect(stopped.said).toMatch(/new\.sbatch:\d.*job-cost: \$200/)
  expect(stopped.exitCode).toBe(1)
  const missing = run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/unpriced'], path)
  clone.git('reset', '--quiet', '--hard', 'HEAD~')
  clone.commit({ 'new.sbatch': jobOf(10) })
  const passed = run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/topic'])
  expect(passed.said).toContain('gpufare: 1 job changed')
  expect(passed.exitCode).toBe(0)
  expect(missing.said).toMatch(/gpufare.* not (found|installed)|gpufare` not found/)
}

function published(files: Readonly<Record<string, string>>): Clone {
  const clone = makeClone()
  clone.commit({ 'gpufare.yaml': config, ...files })
  clone.git('push', '--quiet', '--no-verify', 'origin', 'HEAD:main')
  return clone
}

describe.skipIf(noNpm !== undefined)(titled('husky', noNpm), () => {
  test('runs the hook, and the lines behind it get the refs as well', () => {
    const clone = published({ 'package.json': '{"name":"x"}', '.husky/pre-push': 'cat > "$NOTED"\n' })
    const noted = join(makeFolder(), 'noted')
    expect(run(clone.folder, ['husky']).exitCode).toBe(0)
    expect(run(clone.folder, ['gpufare', 'hook', 'install']).said).toContain('.husky/pre-push')
    clone.commit({
      '.husky/pre-push': readFileSync(join(clone.folder, '.husky/pre-push'), 'utf8').replace('$NOTED', noted),
    })
    pushBoth(clone)
    expect(readFileSync(noted, 'utf8')).toMatch(
      new RegExp(`^\\S+ ${clone.git('rev-parse', 'HEAD')} refs/heads/topic 0{40}\n$`),
    )
    expect(run(clone.folder, ['gpufare', 'hook', 'status']).said).toMatch(/^installed.*husky/)
    run(clone.folder, ['gpufare', 'hook', 'uninstall'])
    expect(readFileSync(join(clone.folder, '.husky/pre-push'), 'utf8')).toBe(`cat > "${noted}"\n`)
  })
})

describe.skipIf(noNpm !== undefined)(titled('lefthook', noNpm), () => {
  test('runs the command that is added to its configuration', () => {
    const text = 'pre-commit:\n  commands:\n    hello:\n      run: echo hello\n'
    const clone = published({ 'lefthook.yml': text })
    expect(run(clone.folder, ['gpufare', 'hook', 'install']).said).toContain('lefthook.yml')
    clone.commit({})
    expect(run(clone.folder, ['lefthook', 'install']).exitCode).toBe(0)
    expect(existsSync(join(clone.folder, '.git/hooks/pre-push'))).toBe(true)
    pushBoth(clone)
    run(clone.folder, ['gpufare', 'hook', 'uninstall'])
    expect(readFileSync(join(clone.folder, 'lefthook.yml'), 'utf8')).toBe(text)
  })
})

describe.skipIf(noPip !== undefined)(titled('pre-commit', noPip), () => {
  const snippet = readFileSync('src/integrations/pre-commit.yaml', 'utf8')

  test('runs the hook that is shown, in a push of a new branch', () => {
    const clone = published({ '.pre-commit-config.yaml': 'repos: []\n' })
    run(clone.folder, ['pre-commit', 'install', '--hook-type', 'pre-push'])
    const refused = run(clone.folder, ['gpufare', 'hook', 'install'])
    expect(refused).toEqual({ exitCode: 2, said: expect.stringContaining(snippet) })
    clone.commit({ '.pre-commit-config.yaml': `repos:\n${snippet}` })
    expect(run(clone.folder, ['gpufare', 'hook', 'status']).said).toMatch(/^installed.*pre-commit/)
    clone.commit({ 'new.sbatch': jobOf(100) })
    const stopped = run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/topic'])
    expect(stopped.said).toMatch(/new\.sbatch:\d.*job-cost: \$200/)
    expect(stopped.exitCode).toBe(1)
    clone.git('reset', '--quiet', '--hard', 'HEAD~')
    clone.commit({ 'new.sbatch': jobOf(10) })
    const passed = run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/topic'])
    expect(passed).toEqual({ exitCode: 0, said: expect.stringContaining('gpufare: 1 job changed') })
  })

  test('runs it in the very first push, of which it tells no range', () => {
    const clone = makeClone()
    clone.commit({ 'gpufare.yaml': config, 'new.sbatch': jobOf(100), '.pre-commit-config.yaml': `repos:\n${snippet}` })
    run(clone.folder, ['pre-commit', 'install', '--hook-type', 'pre-push'])
    const stopped = run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/main'])
    expect(stopped.said).toMatch(/new\.sbatch:\d.*job-cost: \$200/)
    expect(stopped.exitCode).toBe(1)
  })

  test('that is installed later runs a hook of git alone before its own', () => {
    const clone = published({ '.pre-commit-config.yaml': 'repos: []\n' })
    expect(run(clone.folder, ['gpufare', 'hook', 'install']).exitCode).toBe(0)
    run(clone.folder, ['pre-commit', 'install', '--hook-type', 'pre-push'])
    clone.commit({ 'new.sbatch': jobOf(100) })
    expect(run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/topic']).said).toContain('job-cost: $200')
  })

  test('runs what this repository offers it: before a commit what is staged, before a push what is pushed', () => {
    const offer = makeClone()
    offer.commit({ '.pre-commit-hooks.yaml': readFileSync('.pre-commit-hooks.yaml', 'utf8') })
    const hooks = `repos:\n  - repo: ${offer.folder}\n    rev: ${offer.git('rev-parse', 'HEAD')}\n    hooks: [{id: gpufare}, {id: gpufare-push}]\n`
    const clone = published({ '.pre-commit-config.yaml': hooks })
    expect(
      run(clone.folder, ['pre-commit', 'validate-manifest', join(offer.folder, '.pre-commit-hooks.yaml')]).exitCode,
    ).toBe(0)
    run(clone.folder, ['pre-commit', 'install', '--hook-type', 'pre-commit', '--hook-type', 'pre-push'])
    const commit = (hours: number, ...words: readonly string[]) => {
      writeFileSync(join(clone.folder, 'new.sbatch'), jobOf(hours))
      clone.git('add', 'new.sbatch')
      return run(clone.folder, ['git', 'commit', '-m', 'new job', ...words])
    }
    const stopped = commit(100)
    expect(stopped.said).toMatch(/new\.sbatch:\d.*job-cost: \$200/)
    expect(stopped.exitCode).toBe(1)
    expect(commit(100, '--no-verify').exitCode).toBe(0)
    const push = () => run(clone.folder, ['git', 'push', 'origin', 'HEAD:refs/heads/topic'])
    expect(push()).toEqual({ exitCode: 1, said: expect.stringMatching(/job-cost: \$200/) })
    expect(commit(10).exitCode).toBe(0)
    expect(push().exitCode).toBe(0)
  })
})
