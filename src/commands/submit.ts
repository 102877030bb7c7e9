import { agree, asWritten, type Quoted, wantsNewQuote } from '../agreement.ts'
import { plainText } from '../escaping.ts'
import { notifyOfJobs } from '../notify.ts'
import { exitWhenInterrupted } from '../programs.ts'
import { type PassedOn, quoteManifests } from '../quoted-manifests.ts'
import { keepRecords, type Recorded, withRecords } from '../recording.ts'
import {
  checkOptions,
  describeHandover,
  forward,
  type Handover,
  ManifestChanged,
  rehearse,
} from '../schedulers/index.ts'
import { processTerminal, type Terminal, tell, withSpinner } from '../terminal.ts'
import { type EstimateOptions, showQuotes } from './estimate.ts'

/** What `gpufare submit` can be told. */
export interface SubmitOptions extends EstimateOptions {
  readonly yes?: true
  /** In the currency of the configuration. */
  readonly maxCost?: number
  /** A policy file that is trusted, whatever the configuration says. */
  readonly policy?: string
  readonly dryRun?: true
  /** `false`: the scheduler is not given the quote to keep beside the job. */
  readonly stamp?: boolean
}

/**
 * Quotes manifests, asks, and hands them to their scheduler; answers with the scheduler's own exit code. All that gpufare
 * says itself goes to stderr: stdout is the scheduler's, as in `id=$(gpufare submit --yes x.sbatch -- --parsable)`.
 */
export async function submit(
  paths: readonly string[],
  options: SubmitOptions,
  passedOn: PassedOn,
  terminal: Terminal = ownTerminal(options),
): Promise<number> {
  const [first, ...others] = await quoteManifests(paths, options, passedOn, terminal)
  const startAgain = () => submit(paths, options, passedOn, terminal)
  return first === undefined ? 0 : submitQuoted([first, ...others], options, terminal, startAgain)
}

/** The same from the quotes on; `startAgain` quotes what a manifest holds that changed meanwhile. */
export async function submitQuoted(
  quoted: Quoted,
  options: SubmitOptions,
  terminal: Terminal,
  startAgain: () => Promise<number>,
): Promise<number> {
  for (const { scheduler, manifest } of quoted.map(asWritten)) checkOptions(scheduler, manifest)
  await show(quoted, options, terminal)
  const agreed = (await agree(quoted, options, terminal, () => show(quoted, { ...options, all: true }, terminal))).map(
    each => withRecords(each, options.stamp !== false && each.quoted.config.stamp?.value !== 'off'),
  )
  if (options.dryRun === true) return showCommands(agreed, terminal)
  try {
    await rehearseAll(agreed, terminal)
  } catch (error) {
    const isChange = error instanceof ManifestChanged
    if (isChange && (await wantsNewQuote(error, quoted, options, terminal))) return startAgain()
    throw error
  }
  const exitCode = await forwardAll(agreed, terminal)
  if (exitCode === 0) await tellOfBudgets(quoted, terminal)
  return exitCode
}

/** Runs the configured program where these jobs took a budget over a threshold; a fault of it is said and no more. */
async function tellOfBudgets(quoted: Quoted, terminal: Terminal): Promise<void> {
  if (quoted.every(({ config }) => config.notify === undefined || config.budgets.length === 0)) return
  const today = new Date().toISOString().slice(0, 10)
  for (const fault of await notifyOfJobs(quoted, { environment: terminal.environment, today })) {
    tell(terminal, `nobody was told of a budget: ${fault}`)
  }
}

/** The terminal of this process, which from now on ends in order when it is interrupted. */
function ownTerminal(options: SubmitOptions): Terminal {
  exitWhenInterrupted()
  return processTerminal(options.color ? undefined : false)
}

async function show(quoted: Quoted, options: SubmitOptions, terminal: Terminal): Promise<void> {
  await showQuotes(quoted, options, terminal, 'stderr')
}

/** What a yes would have run. */
function showCommands(agreed: readonly Handover[], terminal: Terminal): number {
  tell(terminal, 'nothing was submitted; without --dry-run this would have been run:')
  for (const command of agreed.map(describeHandover)) {
    // A shell that reads it gets it exactly.
    terminal.stdout.write(`${terminal.stdout.isTTY === true ? plainText(command) : command}\n`)
  }
  return 0
}

/** Nothing is handed over while one manifest of the call would be refused. */
async function rehearseAll(agreed: readonly Handover[], terminal: Terminal): Promise<void> {
  for (const handover of agreed) {
    const waiting = `asking ${handover.scheduler.title} whether it takes ${handover.manifest.name}`
    const remarks = await withSpinner(terminal, waiting, rehearse(handover))
    for (const remark of remarks) tell(terminal, remark)
  }
}

/** In the order given; the first that is not taken ends it, with its own exit code. */
async function forwardAll(agreed: readonly Recorded[], terminal: Terminal): Promise<number> {
  for (const [index, handover] of agreed.entries()) {
    let exitCode = 1
    try {
      const forwarded = await forward(handover, terminal)
      exitCode = forwarded.exitCode
      for (const fault of await keepRecords(handover, forwarded.accepted)) tell(terminal, fault)
    } finally {
      if (exitCode !== 0 && agreed.length > 1) tellWhatBecame(agreed, index, terminal)
    }
    if (exitCode !== 0) return exitCode
  }
  return 0
}

function tellWhatBecame(agreed: readonly Handover[], failedIndex: number, terminal: Terminal): void {
  const names = agreed.map(({ manifest }) => manifest.name)
  const listed = (some: readonly string[]) => (some.length === 0 ? 'none' : some.join(', '))
  tell(
    terminal,
    `${names[failedIndex]} was not taken; submitted before it: ${listed(names.slice(0, failedIndex))}; not tried: ${listed(names.slice(failedIndex + 1))}`,
  )
}
