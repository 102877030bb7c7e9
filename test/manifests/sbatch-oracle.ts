import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SbatchReading } from '../../src/manifests/slurm/read-sbatch.ts'

/** What sbatch is given. */
export interface SbatchCase {
  readonly script: string
  readonly schedulerArguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** What sbatch makes of it: refused, or the options of every component. */
export type SbatchAnswer =
  | { readonly refused: true; readonly why: string }
  | { readonly refused: false; readonly components: readonly Readonly<Record<string, string | null>>[] }

/** Real sbatch, asked without a cluster: a filter inside it prints the merged options, and no controller answers afterwards. */
export interface SbatchOracle {
  ask(question: SbatchCase): Promise<SbatchAnswer>
  close(): void
}

/** Nothing listens on port 1; a timeout of 1 s makes sbatch give up at once. */
const configuration = `ClusterName=x
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=1
AuthType=auth/none
CredType=cred/none
SelectType=select/cons_tres
GresTypes=gpu
MessageTimeout=1
CliFilterPlugins=lua
`

const filter = `function slurm_cli_setup_defaults(options, early) return slurm.SUCCESS end
function slurm_cli_pre_submit(options, het_offset)
  io.stdout:write(slurm.json_cli_options(options), "\\n")
  io.stdout:flush()
  return slurm.SUCCESS
end
function slurm_cli_post_submit(het_offset, job_id, step_id) return slurm.SUCCESS end
`

/** Why there is no sbatch to ask, or undefined when there is one. */
export function whyNoSbatch(): string | undefined {
  try {
    const help = execFileSync('sbatch', ['--help'], { env: withConfiguration(writeConfiguration()), stdio: 'pipe' })
    return help.length > 0 ? undefined : 'sbatch answers nothing'
  } catch {
    return 'no sbatch on this machine: npm run servers:up brings it'
  }
}

function writeConfiguration(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gpufare-sbatch-'))
  writeFileSync(join(folder, 'slurm.conf'), configuration)
  writeFileSync(join(folder, 'cli_filter.lua'), filter)
  return folder
}

function withConfiguration(folder: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: folder, SLURM_CONF: join(folder, 'slurm.conf') }
}

export function openSbatchOracle(): SbatchOracle {
  const folder = writeConfiguration()
  let scripts = 0
  return {
    ask(question) {
      scripts += 1
      const path = join(folder, `script-${scripts}`)
      writeFileSync(path, question.script)
      const env = { ...withConfiguration(folder), ...question.environment }
      const wraps = question.schedulerArguments.some(option => option.startsWith('--wrap'))
      const argv = [...question.schedulerArguments, ...(wraps ? [] : [path])]
      return new Promise(resolve => {
        execFile('sbatch', argv, { env, cwd: folder, timeout: 20_000 }, (_failure, stdout, stderr) => {
          rmSync(path)
          resolve(readAnswer(stdout, stderr, folder))
        })
      })
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function readAnswer(stdout: string, stderr: string, folder: string): SbatchAnswer {
  const lines = stdout.split('\n').filter(line => line.startsWith('{'))
  if (lines.length === 0 || !/Unable to contact slurm controller/.test(stderr)) {
    return { refused: true, why: (stderr + stdout).replaceAll(folder, '').slice(0, 400) }
  }
  return { refused: false, components: lines.map(readComponent) }
}

function readComponent(line: string): Readonly<Record<string, string | null>> {
  const options: Record<string, string | null> = {}
  const parsed: unknown = JSON.parse(line)
  for (const [name, value] of Object.entries(parsed ?? {})) {
    if (typeof value === 'string' || value === null) options[name] = value
  }
  return options
}

/** Options whose value hangs on the clock or is printed in a form of its own; only that they are set is compared. */
const comparedBySetting = new Set(['begin', 'deadline', 'mem-bind', 'get-user-env'])
/** sbatch makes these absolute once it has read them. */
const paths = new Set(['chdir', 'error', 'input', 'output'])

/** Our reading in the oracle's form. */
export function answerOf(reading: SbatchReading): SbatchAnswer {
  const refusals = reading.faults.map(fault => fault.message)
  const unfit = reading.warnings
    .filter(warning => warning.code === 'scheduler-will-refuse')
    .map(warning => warning.text)
  if (refusals.length + unfit.length > 0) return { refused: true, why: [...refusals, ...unfit].join('; ') }
  return {
    refused: false,
    components: reading.components.map(settings =>
      Object.fromEntries([...settings].map(([name, setting]) => [name, setting.text ?? null])),
    ),
  }
}

/** How two answers differ, in words; undefined when they say the same. */
export function difference(theirs: SbatchAnswer, ours: SbatchAnswer): string | undefined {
  if (theirs.refused || ours.refused) {
    if (theirs.refused === ours.refused) return undefined
    return theirs.refused ? `sbatch refuses: ${theirs.why}` : `we refuse: ${'why' in ours ? ours.why : ''}`
  }
  if (theirs.components.length !== ours.components.length) {
    return `components: sbatch ${theirs.components.length}, we ${ours.components.length}`
  }
  for (const [index, component] of theirs.components.entries()) {
    const other = ours.components[index] ?? {}
    for (const name of new Set([...Object.keys(component), ...Object.keys(other)])) {
      const [their, our] = [component[name], other[name]]
      if (!sameValue(name, their, our)) return `component ${index} ${name}: sbatch ${show(their)}, we ${show(our)}`
    }
  }
  return undefined
}

function sameValue(name: string, theirs: string | null | undefined, ours: string | null | undefined): boolean {
  if (theirs === ours) return true
  if (typeof theirs !== 'string' || typeof ours !== 'string') return false
  return comparedBySetting.has(name) || (paths.has(name) && theirs.endsWith(`/${ours}`))
}

function show(value: string | null | undefined): string {
  return value === undefined ? 'does not set it' : JSON.stringify(value)
}
