import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { FaultsDocument, ReportDocument } from '../../../src/reporters/schema.ts'
import { readInvocation } from '../../cases.ts'
import { buildProgram } from '../built-program.ts'

/** What a user, or a program, gets to see of one call. */
export interface Answer {
  readonly exitCode: number
  /** Absent where the program refused. */
  readonly report: ReportDocument | undefined
  /** Of what is wrong, where the program refused. */
  readonly faultCodes: readonly string[]
  /** Everything that was written, for what a message has to say. */
  readonly text: string
  readonly seconds: number
  readonly memoryMegabytes: number
}

/** Makes the program write to a pipe of its own how much memory it took at most. */
const memoryReporter = `process.on('exit', () => require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS)))`
const { program, cache } = await buildProgram()
const reporterFile = join(dirname(cache), 'memory.cjs')
writeFileSync(reporterFile, memoryReporter)
/** Past this a call counts as one that hangs. */
const mostMilliseconds = 60_000

/** Runs `gpufare estimate --format json` in a folder, with no configuration and nothing of Slurm in the environment. */
export async function estimate(folder: string, file: string, invocation = ''): Promise<Answer> {
  const { environment, schedulerArguments, scriptArguments } = readInvocation(invocation)
  const home = mkdtempSync(join(tmpdir(), 'gpufare-bench-'))
  const words = ['estimate', '--format', 'json', file, '--', ...schedulerArguments, '--', ...scriptArguments]
  const start = performance.now()
  const child = spawn(process.execPath, ['--require', reporterFile, program, ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: cache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: mostMilliseconds,
  })
  const [stdout = '', stderr = '', kilobytes = ''] = await Promise.all(child.stdio.slice(1).map(textOf))
  const exitCode =
    child.exitCode ?? (await new Promise<number>(resolve => child.once('close', code => resolve(code ?? 130))))
  rmSync(home, { recursive: true, force: true })
  return {
    exitCode,
    ...documentIn(stdout),
    text: stdout + stderr,
    seconds: (performance.now() - start) / 1_000,
    memoryMegabytes: Number(kilobytes) / 1_024,
  }
}

async function textOf(stream: unknown): Promise<string> {
  return stream instanceof Readable ? text(stream) : ''
}

/** The report or the faults in its place, which have to be as their schemas say. */
function documentIn(stdout: string): Pick<Answer, 'report' | 'faultCodes'> {
  if (stdout.trim() === '') return { report: undefined, faultCodes: [] }
  const document: unknown = JSON.parse(stdout)
  const faults = FaultsDocument.safeParse(document)
  return faults.success
    ? { report: undefined, faultCodes: faults.data.errors.flatMap(({ code }) => code ?? []) }
    : { report: ReportDocument.parse(document), faultCodes: [] }
}
