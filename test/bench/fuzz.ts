/**
 * npm run bench:fuzz -- N [--seed S] [--from I] [--json]: N mutated manifests, configurations and command lines. None may crash the
 * program, keep it for over 2 s (more than 250 KB at most as much longer as they are larger), take over 300 MB, make it print a control character raw or read a file outside of the folder.
 * What a worker finds slow or large is run again alone, by the built program, before it counts: a machine may be busy.
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fuzzCase, readSeeds } from './fuzz/cases.ts'
import type { Outcome } from './fuzz/worker.ts'

const mostMilliseconds = 2_000
/** Larger input may hold thousands of jobs, each of which is priced: it gets time by its size. */
const usualBytes = 250_000
/** After so long a worker is given up, and its case is run alone. The first case of a worker also loads the program. */
const patienceMilliseconds = 10_000
const mostMegabytes = 300
/** A worker that has read many manifests holds more than one run does: it is replaced now and then. */
const casesOfWorker = 2_000
const shownFindings = 20
const shownText = 1_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    seed: { type: 'string' },
    from: { type: 'string', default: '0' },
  },
})
const root = fileURLToPath(new URL('../..', import.meta.url))
const total = Number(positionals[0] ?? 10_000)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
const first = Number(values.from)
const seeds = readSeeds(join(root, 'test/cases'))
const home = mkdtempSync(join(tmpdir(), 'gpufare-fuzz-'))
const findings: { readonly index: number; readonly finding: string }[] = []
let next = first
let done = 0

await Promise.all(Array.from({ length: availableParallelism() }, (_, number) => work(number)))
rmSync(home, { recursive: true, force: true })
findings.sort((a, b) => a.index - b.index)
if (values.json) console.log(JSON.stringify({ tried: done, seed, findings }))
else {
  console.log(`tried ${done}, seed ${seed}, findings ${findings.length}`)
  for (const { index, finding } of findings.slice(0, shownFindings)) console.log(`\n${index}: ${finding}`)
}

/** Hands one worker after the other its cases until there are no more. */
async function work(number: number): Promise<void> {
  while (next < first + total) await workOne(join(home, `${number}`))
}

function workOne(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const worker = fork(join(root, 'test/bench/fuzz/worker.ts'), [folder, String(seed)], {
    execArgv: ['--import', 'tsx'],
    cwd: root,
    silent: true,
  })
  return new Promise(resolve => {
    let asked: number | undefined
    let count = 0
    let timer: NodeJS.Timeout | undefined
    let ends = ''
    worker.stderr?.on('data', chunk => {
      ends = `${ends}${chunk}`.slice(-2_000)
    })
    worker.on('message', (message: Outcome | 'ready') => {
      clearTimeout(timer)
      if (message !== 'ready') {
        done++
        if (message.finding !== undefined) keep(message.index, message.finding)
        if (done % 5_000 === 0) process.stderr.write(`${done} tried, ${findings.length} findings\n`)
        asked = undefined
      }
      if (next >= first + total || count >= casesOfWorker) return void worker.kill('SIGKILL')
      count++
      asked = next++
      timer = setTimeout(() => worker.kill('SIGKILL'), patienceMilliseconds)
      worker.send(asked)
    })
    worker.on('exit', () => {
      clearTimeout(timer)
      if (asked !== undefined) {
        done++
        const finding = runAlone(asked, ends)
        if (finding !== undefined) keep(asked, finding)
      }
      resolve()
    })
    largeWorkers(worker, () => asked)
  })
}

/** Tells it at once as well: many cases take hours. */
function keep(index: number, finding: string): void {
  const shown = finding.slice(0, shownText)
  findings.push({ index, finding: shown })
  process.stderr.write(`${index}: ${shown}\n`)
}

/** A case during which a worker is large is looked at alone. */
function largeWorkers(worker: ChildProcess, askedNow: () => number | undefined): void {
  const checked = new Set<number>()
  const timer = setInterval(() => {
    const index = askedNow()
    const pages = residentMegabytes(worker.pid)
    if (index === undefined || pages === undefined || pages < 2 * mostMegabytes || checked.has(index)) return
    checked.add(index)
    const finding = runAlone(index, '')
    if (finding !== undefined) keep(index, finding)
  }, 200)
  worker.on('exit', () => clearInterval(timer))
}

function residentMegabytes(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024
  } catch {
    return undefined
  }
}

/** The built program with this case alone: its time, its memory, its end. */
function runAlone(index: number, ends: string): string | undefined {
  const { files, words } = fuzzCase(seed, index, seeds)
  const folder = mkdtempSync(join(home, 'alone-'))
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
  const usageFile = join(home, `usage-${index}`)
  const reporter = join(home, 'usage.cjs')
  writeFileSync(
    reporter,
    `process.on('exit', () => require('node:fs').writeFileSync(process.env.USAGE_FILE, JSON.stringify(process.resourceUsage())))`,
  )
  const { status, signal, stderr } = spawnSync(process.execPath, [join(root, 'bin/gpufare.js'), ...words], {
    cwd: folder,
    env: { HOME: home, PATH: '', USAGE_FILE: usageFile, NODE_OPTIONS: `--require=${reporter}` },
    timeout: 6 * patienceMilliseconds,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status === null) return `ends by ${signal}: gpufare ${words.join(' ')} ${ends}`
  if (status === 1) return `a fault of the program: ${stderr.split('\n').slice(0, 4).join(' / ')}`
  const usage: unknown = JSON.parse(readFileSync(usageFile, 'utf8'))
  const used = (key: string) => Number(new Map(Object.entries(usage ?? {})).get(key))
  // Its own time, not the clock's: the machine may be busy with other things.
  const milliseconds = (used('userCPUTime') + used('systemCPUTime')) / 1_000
  const megabytes = used('maxRSS') / 1024
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0)
  if (milliseconds > mostMilliseconds * Math.max(1, bytes / usualBytes))
    return `takes ${Math.round(milliseconds)} ms: gpufare ${words.join(' ')}`
  return megabytes > mostMegabytes ? `takes ${Math.round(megabytes)} MB: gpufare ${words.join(' ')}` : undefined
}
