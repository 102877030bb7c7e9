/** One process of bench:fuzz: it confronts the program with one case after the other, and says what each came to. */
import fs, { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fuzzCase, readSeeds } from './cases.ts'

/** What came of one case; `finding` where something is wrong. */
export interface Outcome {
  readonly index: number
  readonly finding?: string
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const [home = '', seedText = '0'] = process.argv.slice(2)
const folder = join(home, 'jobs')
/** What the files outside say. */
const secret = 'SECRET-OF-ANOTHER-FOLDER'
const seeds = readSeeds(join(root, 'test/cases'))
process.env['HOME'] = join(home, 'home')
for (const name of ['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME']) process.env[name] = join(home, 'home', name)
process.env['PATH'] = ''
const allowed = [folder, join(home, 'home'), root].map(path => resolve(path) + sep)
const strayReads: string[] = []
watchReads()
// Loaded only now: it has to see the watched functions.
const { run } = await import('../../../src/cli.ts')

/** Every way to open a file tells which one it was. */
function watchReads(): void {
  const note = (path: unknown) => {
    if (typeof path !== 'string' && !(path instanceof URL) && !Buffer.isBuffer(path)) return
    const named = resolve(path instanceof URL ? fileURLToPath(path) : String(path))
    const real = realPath(named)
    if (!allowed.some(below => `${real}${sep}`.startsWith(below))) strayReads.push(real)
  }
  const watched = <Given extends unknown[], Result>(open: (...given: Given) => Result) => {
    return (...given: Given): Result => {
      // A file that would not open, being a link, was not read.
      const opened = open(...given)
      note(given[0])
      return opened
    }
  }
  Object.assign(fs, {
    readFileSync: watched(fs.readFileSync),
    openSync: watched(fs.openSync),
    open: watched(fs.open),
    readFile: watched(fs.readFile),
    createReadStream: watched(fs.createReadStream),
    readdirSync: watched(fs.readdirSync),
  })
  Object.assign(fs.promises, { readFile: watched(fs.promises.readFile), open: watched(fs.promises.open) })
  syncBuiltinESMExports()
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function prepare(files: ReadonlyMap<string, Uint8Array>): void {
  process.chdir(home)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'links'), { recursive: true })
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
  symlinkSync('../outside/secret.sh', join(folder, 'link.sh'))
  symlinkSync('../../outside/secret.yaml', join(folder, 'links/secret.yaml'))
  process.chdir(folder)
}

/** Runs the program and answers with all that it printed. */
async function confront(words: readonly string[]): Promise<{ readonly exitCode: number; readonly printed: string }> {
  const printed: string[] = []
  const { stdout, stderr } = process
  const writes = [stdout.write, stderr.write] as const
  const collect = (chunk: Uint8Array | string) => {
    printed.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'))
    return true
  }
  Object.assign(stdout, { write: collect })
  Object.assign(stderr, { write: collect })
  try {
    return { exitCode: await run(words), printed: printed.join('') }
  } finally {
    Object.assign(stdout, { write: writes[0] })
    Object.assign(stderr, { write: writes[1] })
  }
}

function judge(exitCode: number, printed: string): string | undefined {
  if (exitCode === 1) return `a fault of the program: ${printed.split('\n').slice(0, 4).join(' / ')}`
  if (![0, 2, 3, 4, 5].includes(exitCode)) return `ends with ${exitCode}`
  // control characters, reversed text, and half of a surrogate pair
  const raw = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]|\p{Cs}/u.exec(printed)
  if (raw !== null)
    return `prints U+${raw[0].charCodeAt(0).toString(16).padStart(4, '0')} raw: ${JSON.stringify(printed.slice(Math.max(0, raw.index - 40), raw.index + 20))}`
  if (printed.includes(secret)) return 'prints what stands in a file outside'
  const [stray] = strayReads
  return stray === undefined ? undefined : `reads ${stray}`
}

mkdirSync(join(home, 'outside'), { recursive: true })
mkdirSync(join(home, 'home'), { recursive: true })
for (const ending of ['sh', 'yaml', 'json', 'py']) {
  writeFileSync(join(home, 'outside', `secret.${ending}`), `# ${secret}\npython train.py --model ${secret}\n`)
}
writeFileSync(join(home, 'home/secret.yaml'), `model: ${secret}\n`)

process.on('message', async (index: number) => {
  const { files, words } = fuzzCase(Number(seedText), index, seeds)
  prepare(files)
  strayReads.length = 0
  let finding: string | undefined
  try {
    const { exitCode, printed } = await confront(words)
    finding = judge(exitCode, printed)
  } catch (error) {
    finding = `throws ${error instanceof Error ? error.stack : String(error)}`
  }
  process.send?.({ index, ...(finding !== undefined && { finding }) } satisfies Outcome)
})
process.send?.('ready')
