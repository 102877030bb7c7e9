import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, configHomes, findConfigs, readConfigs, withPolicyOf } from './config.ts'
import { findEarlierLogs } from './earlier-logs.ts'
import { GpufareError, InputError } from './errors.ts'
import { type Fare, fareOf, QuoteMemory } from './fare.ts'
import { pastFinder, type RunsOptions } from './kept-runs.ts'
import { type Manifest, readManifest, wrapPath } from './manifest.ts'
import { wrappedScript } from './manifests/slurm/read-sbatch.ts'
import { once } from './once.ts'
import { readTables, type Tables } from './pricing-data.ts'
import { readJobsWithFiles } from './referred-files.ts'
import type { Past } from './runtimes/runtime-model.ts'
import type { Terminal } from './terminal.ts'

/** A manifest as it was read, with what its jobs take and cost. */
export interface QuotedManifest {
  readonly manifest: Manifest
  readonly config: Config
  readonly fares: readonly Fare[]
  /** What its quotes know of earlier times. */
  readonly past: Past
}

/** What a command was told about quoting. */
export interface QuoteOptions extends RunsOptions {
  /** A gpufare.yaml to read instead of the one found upward. */
  readonly config?: string
  /** Logs of earlier runs of the job, wherever they are. */
  readonly log?: readonly string[]
  /** Log of a probe of the job, by which alone it goes. */
  readonly probeLog?: string
  /** A policy file that is trusted, whatever the configuration beside the manifest says. */
  readonly policy?: string
}

/** Options for the scheduler and arguments for the script, typed behind `--`. */
export interface PassedOn {
  readonly schedulerArguments: readonly string[]
  readonly scriptArguments: readonly string[]
}

/** The package's own tables: from src/ as from dist/. */
export const tablesFolder = join(import.meta.dirname, '../pricing-data')

/** Reads manifests and all that their quotes need. Throws InputError with the faults of every manifest, not only of the first. */
export async function quoteManifests(
  paths: readonly string[],
  options: QuoteOptions,
  passedOn: PassedOn,
  terminal: Terminal,
): Promise<readonly QuotedManifest[]> {
  if (options.log !== undefined && paths.length > 1) throw new GpufareError('--log is for a single manifest', 2)
  const tables = readTables(tablesFolder)
  const homes = configHomes(terminal.environment)
  const configs = new Map<string, Promise<Config>>()
  // Manifests of many folders may share one file: it is read once.
  const configFor = once((folder: string) => {
    const paths = findConfigs(folder, homes, options.config)
    const key = JSON.stringify(paths)
    const config = configs.get(key) ?? readConfigs(paths).then(config => judgedBy(config, options.policy))
    configs.set(key, config)
    return config
  })
  const memory = paths.length > 1 ? new QuoteMemory() : undefined
  const pastOf = pastFinder(terminal.environment, tables, options)
  const quoted: QuotedManifest[] = []
  const failures: InputError[] = []
  for (const path of pathsOf(paths, passedOn)) {
    try {
      const manifest = await readPath(path, passedOn, terminal)
      const folder = folderOf(manifest)
      const jobs = readJobsWithFiles(manifest, folder)
      const found = jobs.map(([job]) => job)
      const { environment } = terminal
      const known = await pastOf(folder, found)
      const logs =
        options.history === false
          ? []
          : await findEarlierLogs(manifest, found, folder, environment, options, known.runs)
      const past = { ...known, ...(logs.length > 0 && { logs }) }
      quoted.push(quote(manifest, jobs, await configFor(folder), tables, past, memory))
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new InputError(failures.flatMap(failure => failure.faults))
  return quoted
}

async function judgedBy(config: Config, policy: string | undefined): Promise<Config> {
  return policy === undefined ? config : withPolicyOf(config, await readConfigs([{ path: policy, trusted: true }]))
}

/** The paths typed, or that of `--wrap`, which sbatch takes only without a file. */
function pathsOf(paths: readonly string[], { schedulerArguments }: PassedOn): readonly string[] {
  const wraps = wrappedScript(schedulerArguments) !== undefined
  if (wraps && paths.length > 0)
    throw new GpufareError('--wrap and a file exclude each other', 2, 'leave one of them out')
  if (wraps) return [wrapPath]
  if (paths.length > 0) return paths
  throw new GpufareError('no manifest is named', 2, 'name files, - for standard input, or for Slurm -- --wrap=COMMAND')
}

async function readPath(path: string, passedOn: PassedOn, terminal: Terminal): Promise<Manifest> {
  const { environment } = terminal
  if (path === wrapPath) {
    const text = wrappedScript(passedOn.schedulerArguments) ?? ''
    return { path, name: path, text, bytes: new TextEncoder().encode(text), environment, ...passedOn }
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    const { renderFolder } = await import('./rendering.ts')
    return { ...(await renderFolder(path, environment)), ...passedOn }
  }
  return readManifest(path, {
    get stdin() {
      return terminal.stdin
    },
    environment,
    ...passedOn,
  })
}

/** The same manifest with another text, quoted anew. */
export function quoteText(quoted: QuotedManifest, text: string): QuotedManifest {
  const manifest = { ...quoted.manifest, text, bytes: new TextEncoder().encode(text) }
  const jobs = readJobsWithFiles(manifest, folderOf(manifest))
  // Where the earlier runs were is known from the manifest as it was.
  const logs = quoted.fares.flatMap(fare => fare.earlierLogs ?? [])
  return quote(manifest, jobs, quoted.config, readTables(tablesFolder), { ...quoted.past, logs })
}

function quote(
  manifest: Manifest,
  jobs: ReturnType<typeof readJobsWithFiles>,
  config: Config,
  tables: Tables,
  past: Past,
  memory?: QuoteMemory,
): QuotedManifest {
  const fares = jobs.map(([job, files]) => fareOf(job, files, tables, config, memory, past))
  return { manifest, config, fares, past }
}

function folderOf(manifest: Manifest): string {
  return manifest.folder ?? (manifest.name === manifest.path ? dirname(manifest.path) : '.')
}
