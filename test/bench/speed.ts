/**
 * npm run bench:speed [-- --rounds N --row NAME... --json]: how long gpufare takes beside what nobody can be quicker than, and what
 * memory it peaks at. Every round runs everything once, so that a busy moment hits all alike; a row's figure is the
 * median of its times over the median of its yardstick's. No scheduler is in reach.
 *
 * The yardstick is `node -e 0`, except for bulk-1000, whose yardstick reads the same manifests and parses them with `yaml`.
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
const reportMemory = join(folder, 'memory.cjs')
const memoryFile = join(folder, 'memory')

interface Row {
  readonly name: string
  readonly words: readonly string[]
  readonly yardstick: 'node -e 0' | 'read and parse with yaml'
  /** The most it should take, as a multiple of the yardstick. */
  readonly goal: number
  readonly firstStart: boolean
}

const yardsticks = {
  'node -e 0': ['-e', '0'],
  'read and parse with yaml': [readOnlyYaml],
} as const

/** Runs node and answers with its seconds; throws where it fails. */
function time(words: readonly string[], cache: string, nodeOptions = ''): number {
  const started = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: folder,
    env: { HOME: folder, XDG_CACHE_HOME: cache, NODE_OPTIONS: nodeOptions, PATH: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  if (status !== 0) throw new Error(`node ${words.slice(0, 4).join(' ')} ended with ${status}: ${stderr}`)
  return seconds
}

/** Most memory that a run held at once, in MiB. */
function peakMemory(words: readonly string[], cache: string): number {
  time(words, cache, `--require=${reportMemory}`)
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
     for (let index = 0; index < 1000; index++) parseAllDocuments(readFileSync('bulk/' + index + '.yaml', 'utf8'))`,
  )
  // the kernel's own mark; maxRSS would also count the memory of the process that started this one
  writeFileSync(
    reportMemory,
    `process.on('exit', () => {
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
  ]
}

/** Seconds of every round, by row and by yardstick. */
function measure(rows: readonly Row[], kept: string): ReadonlyMap<string, readonly number[]> {
  const seconds = new Map<string, number[]>()
  const note = (name: string, took: number) => seconds.set(name, [...(seconds.get(name) ?? []), took])
  const program = join(root, 'bin/gpufare.js')
  for (let index = 0; index < rounds; index++) {
    for (const name of new Set(rows.map(row => row.yardstick))) note(name, time(yardsticks[name], kept))
    for (const { name, words, firstStart } of rows) {
      note(name, time([program, ...words], firstStart ? mkdtempSync(join(folder, 'cache-')) : kept))
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
  for (const { words } of rows) time([program, ...words], kept)
  const seconds = measure(rows, kept)
  const medianOf = (name: string) => median(seconds.get(name) ?? [])
  const measured = rows.map(({ name, words, yardstick, goal, firstStart }) => ({
    name,
    ratio: round(medianOf(name) / medianOf(yardstick), 3),
    yardstick,
    goal,
    milliseconds: round(medianOf(name) * 1000, 1),
    peakMemoryMib: round(peakMemory([program, ...words], firstStart ? mkdtempSync(join(folder, 'cache-')) : kept), 1),
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
