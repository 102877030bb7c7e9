/**
 * npm run bench:hook [-- --rounds N --json]: how long a push takes with the pre-push hook, in a repository of 10,000 manifests of
 * GPU jobs. `git push --dry-run` does everything but send, so each round is the same; its yardstick is the same push without
 * the hook. A row's figure is the difference of the medians.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values: options } = parseArgs({
  options: { json: { type: 'boolean' }, rounds: { type: 'string', default: '5' } },
})
const folder = mkdtempSync(join(tmpdir(), 'gpufare-hook-'))
const clone = join(folder, 'clone')
const manifestCount = 10_000

/** What is pushed, and how many seconds the hook may add: it must end well before its limit of 20 s lets the push go on. */
const rows = [
  { name: 'hook-10000', what: '10 files changed', branch: 'topic', goalSeconds: 1 },
  { name: 'hook-10000-first', what: 'all files new', branch: 'island', goalSeconds: 20 },
] as const

/** Runs a program in the clone and answers with its seconds; throws where it fails. */
function time(words: readonly string[]): number {
  const [file = '', ...rest] = words
  const started = process.hrtime.bigint()
  const { status, stderr } = spawnSync(file, rest, {
    cwd: clone,
    encoding: 'utf8',
    env: {
      ...process.env,
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'bench',
      GIT_AUTHOR_EMAIL: 'bench@example.org',
      GIT_COMMITTER_NAME: 'bench',
      GIT_COMMITTER_EMAIL: 'bench@example.org',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  if (status !== 0 || /not checked|not priced/.test(stderr)) throw new Error(`${words.join(' ')}: ${status}: ${stderr}`)
  return seconds
}

function git(...words: string[]): void {
  time(['git', ...words])
}

/** A remote that has 10,000 manifests, a branch that changes ten of them, and one that has nothing in common with the remote. */
function prepareClone(): void {
  const job = readFileSync(join(root, 'test/bench/speed/job.yaml'), 'utf8')
  const write = (index: number, more = '') => {
    const text = job.replace('name: llama2-7b-sft', `name: llama2-7b-sft-${index}`)
    writeFileSync(join(clone, `jobs/${index % 100}/${index}.yaml`), text + more)
  }
  mkdirSync(clone)
  spawnSync('git', ['init', '--quiet', '--bare', join(folder, 'remote.git')])
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', join(folder, 'remote.git'))
  for (let index = 0; index < 100; index++) mkdirSync(join(clone, `jobs/${index}`), { recursive: true })
  for (let index = 0; index < manifestCount; index++) write(index)
  git('add', '--all')
  git('commit', '--quiet', '-m', 'all')
  git('push', '--quiet', 'origin', 'main')
  git('checkout', '--quiet', '-b', 'topic')
  for (let index = 0; index < 10; index++) write(index, '# changed\n')
  git('commit', '--quiet', '--all', '-m', 'ten')
  git('checkout', '--quiet', '--orphan', 'island')
  git('commit', '--quiet', '-m', 'all anew')
  time([process.execPath, join(root, 'bin/gpufare.js'), 'hook', 'install'])
  // measured to its end; at 20 s it would let the push go on
  git('config', 'gpufare.timeout', '600')
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function bench(): void {
  prepareClone()
  const rounds = Array.from({ length: Number(options.rounds) })
  const measured = rows.map(row => {
    const push = ['git', 'push', '--quiet', '--dry-run']
    const pairs = rounds.map(() => ({
      without: time([...push, '--no-verify', 'origin', row.branch]),
      with: time([...push, 'origin', row.branch]),
    }))
    const seconds = median(pairs.map(pair => pair.with))
    const addedSeconds = seconds - median(pairs.map(pair => pair.without))
    return { ...row, seconds: Number(seconds.toFixed(3)), addedSeconds: Number(addedSeconds.toFixed(3)) }
  })
  console.log(`Node.js ${process.version}, ${manifestCount} manifests, medians of ${rounds.length} rounds\n`)
  console.log(`${'row'.padEnd(20)}${'push s'.padStart(8)}${'added s'.padStart(9)}${'goal s'.padStart(8)}`)
  for (const { name, seconds, addedSeconds, goalSeconds, what } of measured) {
    const figures = [
      seconds.toFixed(2).padStart(8),
      addedSeconds.toFixed(2).padStart(9),
      goalSeconds.toFixed(1).padStart(8),
    ]
    console.log(`${name.padEnd(20)}${figures.join('')}  ${what}`)
  }
  if (options.json === true) console.log(JSON.stringify({ rows: measured }))
}

try {
  bench()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
