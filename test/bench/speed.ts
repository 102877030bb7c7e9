/**
 * npm run bench:speed [-- --rounds N --row NAME... --json]: how long gpufare takes beside what nobody can be quicker than, and what
 * memory it peaks at. Every round runs everything once, so that a busy moment hits all alike; a row's figure is the
 * median of its times over the median of its yardstick's. No scheduler is in reach.
 *
 * The yardstick is `node -e 0`, except for the bulk rows, whose yardsticks read the same manifests and parse them with `yaml`:
 * 1,000 Jobs, 10,000 Jobs of ten kinds, as many of which no two are alike, and 10,000 objects of which 500 are Jobs, all of them
 * in git; bulk-again checks the last ones against HEAD, with ten files changed. The rows of 10,000 take three rounds at most.
 * quote-million-runs quotes in a repository that keeps a million earlier runs, beside the same quote without them.
 * Rows named -first start with an empty cache folder, as after the installation.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    rounds: { type: 'string', default: '20' },
    row: { type: 'string', multiple: true, default: [] },
  },
})
const rounds = Number(options.rounds)
const folder = mkdtempSync(join(tmpdir(), 'gpufare-speed-'))
const readOnlyYaml = join(folder, 'yardstick.cjs')
const millionRuns = join(folder, 'million-runs')
const reportMemory = join(folder, 'memory.cjs')
const memoryFile = join(folder, 'memory')

interface Row {
  readonly name: string
  readonly words: readonly string[]
  readonly yardstick: keyof typeof yardsticks
  /** The most it should take, as a multiple of the yardstick. */
  readonly goal: number
  readonly firstStart: boolean
  /** Where it runs, below the bench's own folder. */
  readonly folder?: string
}

const yardsticks = {
  'node -e 0': ['-e', '0'],
  'quote without runs': [join(root, 'bin/gpufare.js'), 'estimate', '--no-history', join(millionRuns, 'train.sbatch')],
  'read and parse with yaml': [readOnlyYaml, 'bulk'],
  'read and parse 10,000 Jobs': [readOnlyYaml, 'jobs'],
  'read and parse 10,000 objects': [readOnlyYaml, 'mixed'],
} as const

/** Runs node and answers with its seconds; throws where it fails. */
function time(words: readonly string[], cache: string, nodeOptions = '', below = ''): number {
  const started = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: join(folder, below),
    // git is the one program that a check needs
    env: {
      HOME: folder,
      XDG_CACHE_HOME: cache,
      NODE_OPTIONS: nodeOptions,
      PATH: below === '' ? '' : process.env['PATH'],
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  if (status !== 0) throw new Error(`node ${words.slice(0, 4).join(' ')} ended with ${status}: ${stderr}`)
  return seconds
}

/** Most memory that a run held at once, in MiB. */
function peakMemory(words: readonly string[], cache: string, below = ''): number {
  time(words, cache, `--require=${reportMemory}`, below)
  return Number(readFileSync(memoryFile, 'utf8')) / 1024
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.ceil((sorted.length - 1) / 2))) / 2
}

function round(number: number, digits: number): number {
  return Number(number.toFixed(digits))
}

/** The manifests, the yardstick's script and the one that reports memory. */
function prepareFolder(): readonly Row[] {
  const manifests = join(root, 'test/bench/speed')
  const job = readFileSync(join(manifests, 'job.yaml'), 'utf8')
  mkdirSync(join(folder, 'bulk'))
  const bulk = Array.from({ length: 1000 }, (_, index) => `bulk/${index}.yaml`)
  for (const [index, path] of bulk.entries()) {
    writeFileSync(join(folder, path), job.replace('name: llama2-7b-sft', `name: llama2-7b-sft-${index}`))
  }
  writeFileSync(
    readOnlyYaml,
    `const { parseAllDocuments } = require(${JSON.stringify(join(root, 'node_modules/yaml'))})
     const { readFileSync } = require('node:fs')
     const { readdirSync } = require('node:fs')
     for (const file of readdirSync(process.argv[2], { recursive: true }))
       if (file.endsWith('.yaml')) parseAllDocuments(readFileSync(process.argv[2] + '/' + file, 'utf8'))`,
  )
  // the kernel's own mark; maxRSS would also count the memory of the process that started this one
  writeFileSync(
    reportMemory,
    `if (require('node:worker_threads').isMainThread) process.on('exit', () => {
       const { readFileSync, writeFileSync } = require('node:fs')
       let kibibytes = process.resourceUsage().maxRSS
       try { kibibytes = /^VmHWM:\\s*(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1] } catch {}
       writeFileSync(${JSON.stringify(memoryFile)}, String(kibibytes))
     })`,
  )
  const quick = { yardstick: 'node -e 0', firstStart: false } as const
  const slurm = ['estimate', join(manifests, 'train.sbatch')]
  const kubernetes = ['estimate', join(manifests, 'job.yaml')]
  return [
    { name: 'help', words: ['--help'], goal: 1.2, ...quick },
    { name: 'quote-slurm', words: slurm, goal: 1.4, ...quick },
    { name: 'quote-kubernetes', words: kubernetes, goal: 1.5, ...quick },
    { name: 'help-first', words: ['--help'], goal: 1.5, ...quick, firstStart: true },
    { name: 'quote-slurm-first', words: slurm, goal: 1.7, ...quick, firstStart: true },
    { name: 'quote-kubernetes-first', words: kubernetes, goal: 1.8, ...quick, firstStart: true },
    {
      name: 'bulk-1000',
      words: ['estimate', ...bulk],
      goal: 1.5,
      yardstick: 'read and parse with yaml',
      firstStart: false,
    },
    ...(options.row.length === 0 || options.row.includes('quote-million-runs') ? prepareRuns(manifests) : []),
    ...(options.row.length === 0 || options.row.some(name => repositoryRows.includes(name))
      ? prepareRepositories(job)
      : []),
  ]
}

/** A repository that keeps a million runs, those of its manifest among the last. */
function prepareRuns(manifests: string): readonly Row[] {
  mkdirSync(join(millionRuns, '.git'), { recursive: true })
  mkdirSync(join(millionRuns, '.gpufare'))
  const script = readFileSync(join(manifests, 'train.sbatch'), 'utf8')
  writeFileSync(join(millionRuns, 'train.sbatch'), script)
  const name = /--job-name=(\S+)/.exec(script)?.[1] ?? ''
  const gpus = /gpu:\w+:(\d+)/.exec(script)?.[1] ?? ''
  const file = join(millionRuns, '.gpufare/runs.csv')
  writeFileSync(file, 'submit,id,state,name,user,partition,gpus,elapsed_seconds,time_limit,submit_line_digest\n')
  const digest = 'abcdefghij'.repeat(6)
  for (let block = 0; block < 100; block++) {
    const lines = Array.from({ length: 10_000 }, (_, line) => {
      const index = block * 10_000 + line
      const called = index % 40 === 0 ? name : `job-${index}`
      const seconds = 7_200 + (index % 900)
      return `${1_500_000_000 + index * 100},${index},COMPLETED,${called},u${index % 50},gpu,${gpus},${seconds},24:00:00,${digest}\n`
    })
    writeFileSync(file, lines.join(''), { flag: 'a' })
  }
  const words = ['estimate', join(millionRuns, 'train.sbatch')]
  return [{ name: 'quote-million-runs', words, goal: 2, yardstick: 'quote without runs', firstStart: false }]
}

/** A repository of 10,000 manifests, hundred to a folder. */
function makeRepository(name: string, manifest: (index: number) => string): void {
  for (let index = 0; index < 10_000; index++) {
    const below = join(folder, name, `team-${Math.floor(index / 100)}`)
    if (index % 100 === 0) mkdirSync(below, { recursive: true })
    writeFileSync(join(below, `${index}.yaml`), manifest(index))
  }
  const git = (...words: readonly string[]) => spawnSync('git', words, { cwd: join(folder, name) })
  git('init', '-q')
  git('add', '-A')
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '-q', '-m', 'all')
}

/** Rows of whole repositories; made only when one of them is wanted. */
function prepareRepositories(job: string): readonly Row[] {
  const named = (index: number) => job.replace('name: llama2-7b-sft', `name: llama2-7b-sft-${index}`)
  // ten kinds, as in repositories where some do for many what differs in a setting
  makeRepository('jobs', index => named(index).replace('epochs=3', `epochs=${1 + (index % 10)}`))
  makeRepository('unlike', index => named(index).replace('samples=52002', `samples=${52002 + index}`))
  const ofNoGpu = (text: string) => text.replaceAll(/^.*(?:nvidia|NCCL).*\n(?: {10}(?:operator|effect).*\n)*/gm, '')
  const mixed = (index: number) =>
    index % 20 === 0 ? named(index) : ofNoGpu(named(index)).replace(/^ +(?:tolerations:|limits:) *\n/gm, '')
  makeRepository('mixed', mixed)
  makeRepository('again', mixed)
  for (let index = 0; index < 10; index++) {
    const path = join(folder, 'again/team-0', `${index * 10}.yaml`)
    writeFileSync(path, readFileSync(path, 'utf8').replace('epochs=3', 'epochs=4'))
  }
  const check = { firstStart: false, goal: 0.25, yardstick: 'read and parse 10,000 objects' } as const
  return [
    {
      ...check,
      name: 'bulk-10000',
      words: ['check'],
      goal: 1.3,
      yardstick: 'read and parse 10,000 Jobs',
      folder: 'jobs',
    },
    {
      ...check,
      name: 'bulk-unlike',
      words: ['check'],
      goal: 1.3,
      yardstick: 'read and parse 10,000 Jobs',
      folder: 'unlike',
    },
    { ...check, name: 'bulk-mixed', words: ['check'], folder: 'mixed' },
    { ...check, name: 'bulk-again', words: ['check', '--base', 'HEAD'], goal: 0.05, folder: 'again' },
  ]
}

const repositoryRows = ['bulk-10000', 'bulk-unlike', 'bulk-mixed', 'bulk-again']
/** Rounds of rows that take seconds each. */
const mostLongRounds = 3

/** Seconds of every round, by row and by yardstick. */
function measure(rows: readonly Row[], kept: string): ReadonlyMap<string, readonly number[]> {
  const seconds = new Map<string, number[]>()
  const note = (name: string, took: number) => seconds.set(name, [...(seconds.get(name) ?? []), took])
  const program = join(root, 'bin/gpufare.js')
  for (let index = 0; index < rounds; index++) {
    const due = rows.filter(row => row.folder === undefined || index < mostLongRounds)
    for (const name of new Set(due.map(row => row.yardstick))) note(name, time(yardsticks[name], kept))
    for (const { name, words, firstStart, folder: below } of due) {
      note(name, time([program, ...words], firstStart ? mkdtempSync(join(folder, 'cache-')) : kept, '', below))
    }
    if (process.stderr.isTTY) process.stderr.write(`\rround ${index + 1} of ${rounds}`)
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  return seconds
}

function bench(): void {
  const rows = prepareFolder().filter(({ name }) => options.row.length === 0 || options.row.includes(name))
  const kept = join(folder, 'cache')
  const program = join(root, 'bin/gpufare.js')
  for (const { words, folder: below } of rows) time([program, ...words], kept, '', below)
  const seconds = measure(rows, kept)
  const medianOf = (name: string) => median(seconds.get(name) ?? [])
  const measured = rows.map(({ name, words, yardstick, goal, firstStart, folder: below }) => ({
    name,
    ratio: round(medianOf(name) / medianOf(yardstick), 3),
    yardstick,
    goal,
    milliseconds: round(medianOf(name) * 1000, 1),
    peakMemoryMib: round(
      peakMemory([program, ...words], firstStart ? mkdtempSync(join(folder, 'cache-')) : kept, below),
      1,
    ),
  }))
  console.log(`Node.js ${process.version}, medians of ${rounds} rounds`)
  for (const name of new Set(rows.map(row => row.yardstick))) {
    console.log(`${name}: ${round(medianOf(name) * 1000, 1)} ms, ${round(peakMemory(yardsticks[name], kept), 1)} MiB`)
  }
  console.log(
    `\n${'row'.padEnd(24)}${'times'.padStart(8)}${'goal'.padStart(8)}${'ms'.padStart(10)}${'MiB'.padStart(8)}  yardstick`,
  )
  for (const { name, ratio, goal, milliseconds, peakMemoryMib, yardstick } of measured) {
    const figures = [
      ratio.toFixed(2).padStart(8),
      goal.toFixed(2).padStart(8),
      milliseconds.toFixed(1).padStart(10),
      peakMemoryMib.toFixed(1).padStart(8),
    ]
    console.log(`${name.padEnd(24)}${figures.join('')}  ${yardstick}`)
  }
  if (options.json === true) console.log(JSON.stringify({ rows: measured }))
}

try {
  bench()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
