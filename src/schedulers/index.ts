import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { GpufareError } from '../errors.ts'
import type { Job } from '../job.ts'
import { type Manifest, wrapPath } from '../manifest.ts'
import { describeCommand, ProgramNotFound, passThrough } from '../programs.ts'
import { type Terminal, tell, withSpinner } from '../terminal.ts'
import { kubernetes } from './kubernetes/index.ts'
import type { Accepted, Scheduler } from './scheduler.ts'
import { slurm } from './slurm.ts'

/** Every scheduler that jobs can be handed to. */
export const schedulers: readonly Scheduler[] = [slurm, kubernetes]

/** One manifest on its way to its scheduler. */
export interface Handover {
  readonly scheduler: Scheduler
  /** With the text to submit: the file's own, or the changed one that was agreed to. */
  readonly manifest: Manifest
  readonly jobs: readonly Job[]
  /** The text is not the file's. */
  readonly changed: boolean
}

/** The scheduler that a job is written for. */
export function schedulerFor(name: Job['scheduler']): Scheduler {
  const scheduler = schedulers.find(each => each.name === name)
  if (scheduler === undefined) throw new RangeError(`no scheduler is called ${name}`)
  return scheduler
}

/**
 * A manifest as it was read, on its way. One without a job (a Service, a ConfigMap) can only be for Kubernetes. Throws GpufareError
 * for one that is only quoted.
 */
export function handoverOf(manifest: Manifest, jobs: readonly Job[]): Handover {
  if (jobs[0]?.scheduler === 'skypilot') throw onlyQuoted(manifest)
  return { scheduler: schedulerFor(jobs[0]?.scheduler ?? 'kubernetes'), manifest, jobs, changed: false }
}

/** SkyPilot chooses cloud, region and machine itself, by prices of its own: what it would submit is not what was quoted. */
function onlyQuoted({ name }: Manifest): GpufareError {
  const hint = `gpufare estimate ${name} shows the quote; sky launch ${name} or sky jobs launch ${name} submits it`
  return new GpufareError(`${name} is a SkyPilot task: gpufare only quotes it, nothing was submitted`, 2, hint)
}

/** A file no longer holds the bytes that were priced, or is no longer there. */
export class ManifestChanged extends GpufareError {
  readonly what: 'has changed' | 'is gone'

  constructor(manifest: Manifest, what: 'has changed' | 'is gone') {
    super(
      `${manifest.name} ${what} since it was quoted; nothing was submitted`,
      1,
      what === 'is gone' ? undefined : 'run the command again for a quote of what it holds now',
    )
    this.what = what
  }
}

/** Where a text lies while its scheduler's program reads it. */
export interface Placed {
  readonly manifest: Manifest
  /** Takes a private copy away again. */
  remove(): void
}

/**
 * Where the program shall read the text from. What is still in the user's file is read from that path, so that job name
 * and command stay; a changed or piped text goes through standard input, or for `sbatch FILE` from a private copy that
 * has the file's name, which Slurm gives to the job.
 */
export function placeText({ scheduler, manifest, changed }: Handover): Placed {
  const { path } = manifest
  if (!changed && isOwnFile(path)) return { manifest, remove: () => {} }
  if (scheduler.takesStandardInput(manifest)) return { manifest: { ...manifest, path: '-' }, remove: () => {} }
  const copy = writePrivateCopy(manifest)
  return {
    manifest: { ...manifest, path: copy },
    remove: () => rmSync(dirname(copy), { recursive: true, force: true }),
  }
}

/** A file of the same name with the manifest's text, alone in a folder that only this user can read. */
function writePrivateCopy({ path, bytes }: Manifest): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'gpufare-')), path === '-' ? 'stdin' : basename(path))
  writeFileSync(copy, bytes, { mode: 0o600 })
  return copy
}

/** The command that `forward` would run, for a shell. A changed text is left in a private copy, so that the command can be run. */
export function describeHandover(handover: Handover): string {
  const { scheduler, manifest, changed } = handover
  const { program, arguments: words, input } = scheduler.submission(placeText(handover).manifest)
  const command = describeCommand(program, words)
  // What was rendered has no file either.
  const isMade = changed || manifest.folder !== undefined
  return input !== undefined && isMade ? `${command} < ${writePrivateCopy(manifest)}` : command
}

/** Throws where the manifest's options would submit something else than what is quoted. */
export function checkOptions(scheduler: Scheduler, manifest: Manifest): void {
  scheduler.submission(manifest)
}

/**
 * Whether the file still holds what was priced and the scheduler would take all of it, creating nothing; answers with what
 * could not be checked, throws ManifestChanged, or GpufareError where a part would be refused.
 */
export async function rehearse(handover: Handover): Promise<readonly string[]> {
  return atItsPlace(handover, async ({ scheduler }, manifest) => {
    if (manifest === handover.manifest) checkBytes(manifest)
    return (await scheduler.rehearse?.(manifest)) ?? []
  })
}

/** How a hand-over went. */
export interface Forwarded {
  readonly exitCode: number
  /** What was taken; also where the program failed later. */
  readonly accepted: readonly Accepted[]
}

/**
 * Hands a manifest over and answers with the program's own exit code; its output and messages pass through untouched. Throws ManifestChanged, having run nothing, where the file no longer holds the bytes that were priced.
 */
export async function forward(handover: Handover, terminal: Terminal): Promise<Forwarded> {
  return atItsPlace(handover, async ({ scheduler }, manifest) => {
    const { program, arguments: words, input } = scheduler.submission(manifest)
    const streams = { ...terminal, environment: manifest.environment }
    const how = { keepStdout: true, ...(input === undefined ? {} : { input }) }
    const fileState = manifest === handover.manifest ? checkBytes(manifest) : undefined
    const { exitCode, stdout } = await passThrough(program, words, streams, how)
    if (fileState !== undefined && stateOf(manifest.path) !== fileState) warnOfRace(handover, terminal)
    const remarks = await withSpinner(terminal, 'looking whether it can run', lookAfter(handover, manifest, stdout))
    for (const remark of remarks) tell(terminal, remark)
    const known = await scheduler.accepted(manifest, handover.jobs, stdout)
    return {
      exitCode,
      accepted: known.filter(({ id, reference }) => exitCode === 0 || (id ?? reference) !== undefined),
    }
  })
}

async function lookAfter(
  { scheduler, jobs }: Handover,
  manifest: Manifest,
  printed: string,
): Promise<readonly string[]> {
  return (await scheduler.lookAfter?.(manifest, jobs, printed)) ?? []
}

/** Does something while the text lies where the scheduler's program reads it. */
async function atItsPlace<T>(
  handover: Handover,
  work: (handover: Handover, manifest: Manifest) => Promise<T>,
): Promise<T> {
  const placed = placeText(handover)
  try {
    return await work(handover, placed.manifest)
  } catch (error) {
    if (error instanceof ProgramNotFound) throw error.withHint(handover.scheduler.whenMissing)
    throw error
  } finally {
    placed.remove()
  }
}

/** Throws unless the file holds the priced bytes now; answers with its state for the look afterwards. */
function checkBytes(manifest: Manifest): string | undefined {
  if (manifest.path === wrapPath) return undefined // the command itself carries it
  const state = stateOf(manifest.path)
  if (state !== undefined && holds(manifest.path, manifest.bytes)) return state
  throw new ManifestChanged(manifest, state === undefined ? 'is gone' : 'has changed')
}

function holds(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes)
  } catch {
    return false // a folder by now, or no longer ours to read
  }
}

/**
 * Between the comparison and the program's own reading a few milliseconds pass in which a file can still be replaced;
 * no lock keeps others from that. So inode, time of change (which nobody can set back) and size are compared afterwards.
 */
function stateOf(path: string): string | undefined {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false })
  return state && [state.dev, state.ino, state.ctimeNs, state.size].join(':')
}

function warnOfRace({ scheduler, manifest }: Handover, terminal: Terminal): void {
  tell(
    terminal,
    `${manifest.name} was changed in the very moment it was handed over, so what was submitted may not be what was quoted; ${scheduler.whereToLook}`,
  )
}

/** Standard input, a named pipe or `<(...)` can be read only once; what is gone or a folder by now was a file. */
function isOwnFile(path: string): boolean {
  if (path === '-' || /^\/(?:dev|proc)\//.test(path)) return false
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() !== true
}
