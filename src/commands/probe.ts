import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { agree } from '../agreement.ts'
import { GpufareError } from '../errors.ts'
import { plainText } from '../escaping.ts'
import { requestedQuotes } from '../fare.ts'
import type { RunProgress } from '../logs/run-progress.ts'
import { describeProgress } from '../logs/words.ts'
import type { Manifest } from '../manifest.ts'
import { type ProbeJob, probeJob } from '../manifests/kubernetes/probe-job.ts'
import { probeOptions } from '../manifests/slurm/probe-options.ts'
import { startProbe } from '../probing/command.ts'
import { followProbe, type Probe, type Probed } from '../probing/follow.ts'
import { createProbe } from '../probing/kubernetes.ts'
import { submitProbe } from '../probing/slurm.ts'
import { type PassedOn, type QuotedManifest, quoteManifests, quoteText } from '../quoted-manifests.ts'
import type { Handover } from '../schedulers/index.ts'
import { processTerminal, type Terminal, tell, withProgress } from '../terminal.ts'
import { formatCount, formatDuration, formatMoney, formatPercent } from '../units.ts'
import { showQuotes } from './estimate.ts'

/** What `gpufare probe` can be told. */
export interface ProbeOptions {
  /** Seconds it runs at most. */
  readonly for: number
  readonly yes?: true
  readonly config?: string
  readonly explain?: true
  readonly color: boolean
}

/** How long a probe of Kubernetes that ended by itself, and its log, can be looked at. */
const keptSeconds = 600

/**
 * Runs a batch script or a Job for a few minutes until its rate is steady, and quotes the whole job by it; of a command, prints what its log tells.
 * Answers with 1 where nothing could be measured, with 130 where it was interrupted.
 */
export async function probe(
  file: string | undefined,
  options: ProbeOptions,
  passedOn: PassedOn,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  if (file === undefined) return probeCommand(passedOn, options, terminal)
  const [whole, ...others] = await quoteManifests([file], options, passedOn, terminal)
  if (whole === undefined || others.length > 0) return 0
  const plan = await planProbe(whole, options, passedOn, terminal)
  tell(terminal, plan.words)
  // On other GPUs it would measure another job than the one that is quoted.
  const [agreed] = await agree([plan.probed], options, terminal)
  if (agreed === undefined) return 0
  const { log, why, progress } = await follow(async () => {
    const { title, running } = await plan.start(agreed)
    tell(terminal, `${title} is the probe; Ctrl-C ends it, its output goes to ${running.log}`)
    return running
  }, terminal)
  if (why === 'interrupted') return tellInterrupted(log, terminal)
  if (progress?.secondsPerStep === undefined) return tellNothing(log, terminal)
  tell(terminal, describeRate(progress))
  const quoted = await quoteManifests([file], { ...options, probeLog: log }, passedOn, terminal)
  await showQuotes(quoted, options, terminal, 'stdout')
  return 0
}

function logOf(id: string): string {
  return resolve(`gpufare-probe-${id}.out`)
}

/** A probe that is only to be agreed to. */
interface Plan {
  readonly probed: QuotedManifest
  /** What the person should know before saying yes. */
  readonly words: string
  start(agreed: Handover): Promise<{ readonly title: string; readonly running: Probe }>
}

/** The same job as a short one, quoted. Throws GpufareError for what cannot be probed. */
async function planProbe(
  whole: QuotedManifest,
  options: ProbeOptions,
  passedOn: PassedOn,
  terminal: Terminal,
): Promise<Plan> {
  const { manifest, fares } = whole
  const [fare, ...others] = fares
  if (fare === undefined || others.length > 0 || fare.job.roles.length > 1)
    throw new GpufareError('a probe runs a single job that is alike on all its nodes', 2)
  if (manifest.name !== manifest.path) throw new GpufareError('a probe needs the manifest in a file', 2)
  const { job } = fare
  const limitSeconds = Math.min(options.for, job.roles[0]?.timeLimitSeconds?.value ?? options.for)
  if (job.scheduler === 'slurm') return planSlurm(manifest, limitSeconds, options, passedOn, terminal)
  if (job.kind === 'Job') return planKubernetes(whole, limitSeconds)
  const hint = `start it yourself with a short activeDeadlineSeconds and keep its output (kubectl logs -f ... > probe.log); then gpufare estimate --log probe.log ${manifest.name}`
  throw new GpufareError(
    `gpufare probe runs batch scripts of Slurm, Jobs of Kubernetes and commands, not a ${job.kind}`,
    2,
    hint,
  )
}

async function planSlurm(
  manifest: Manifest,
  limitSeconds: number,
  options: ProbeOptions,
  passedOn: PassedOn,
  terminal: Terminal,
): Promise<Plan> {
  const schedulerArguments = [...passedOn.schedulerArguments, ...probeOptions(manifest, limitSeconds, logOf('%j'))]
  const told = { ...passedOn, schedulerArguments }
  const [probed] = await quoteManifests([manifest.path], { ...options, history: false }, told, terminal)
  if (probed === undefined) throw new GpufareError('there is nothing to probe', 2)
  return {
    probed,
    words: `the probe runs the script as it is for ${costOf(probed)}; what the script writes, it writes`,
    start: async agreed => {
      const running = await submitProbe(agreed, logOf)
      return { title: `job ${running.id}`, running }
    },
  }
}

function planKubernetes(whole: QuotedManifest, limitSeconds: number): Plan {
  const suffix = randomBytes(3).toString('hex')
  const made: ProbeJob = probeJob(whole.manifest, { limitSeconds, keptSeconds, suffix })
  const probed = quoteText({ ...whole, past: {}, fares: [] }, made.text)
  const name = probed.fares[0]?.job.name ?? ''
  return {
    probed,
    words: `the probe runs the Job once more as ${name} for ${costOf(probed)}, waiting for a node included; what it writes, it writes`,
    start: async agreed => {
      const running = await createProbe(agreed.manifest, made.container, logOf)
      return { title: `job.batch/${running.name}`, running }
    },
  }
}

function costOf({ fares, config }: QuotedManifest): string {
  const [fare] = fares
  const seconds = fare?.job.roles[0]?.timeLimitSeconds?.value ?? Number.NaN
  const limits = fare === undefined ? [] : requestedQuotes(fare).map(({ limitUsd }) => limitUsd ?? Number.NaN)
  // It may get any of the types: a price that is not known makes all of it unknown.
  const most = Math.max(...limits)
  const usd = Number.isFinite(most) ? most : undefined
  const cost = usd === undefined ? 'its price is not known' : `${formatMoney(usd, config.currency)} at most`
  return `${formatDuration(seconds)} at most, ${cost}`
}

/** A command on this machine: nothing is submitted, nothing asked. */
async function probeCommand(
  { schedulerArguments, scriptArguments }: PassedOn,
  options: ProbeOptions,
  terminal: Terminal,
): Promise<number> {
  const words = scriptArguments.length === 0 ? schedulerArguments : [...schedulerArguments, '--', ...scriptArguments]
  if (words.length === 0)
    throw new GpufareError('nothing to probe is named', 2, 'name a batch script, or a command behind --')
  const { log, why, progress } = await follow(async () => {
    const running = startProbe(words, logOf(String(process.pid)), options.for, terminal.environment)
    tell(terminal, `it runs for ${formatDuration(options.for)} at most; its output goes to ${running.log}`)
    return running
  }, terminal)
  if (why === 'interrupted') return tellInterrupted(log, terminal)
  if (progress?.secondsPerStep === undefined) return tellNothing(log, terminal)
  const { elapsedSeconds, remainingSeconds } = progress
  const whole = (elapsedSeconds?.value ?? Number.NaN) + (remainingSeconds?.value ?? Number.NaN)
  const end = Number.isNaN(whole) ? [] : [`whole run       about ${formatDuration(whole)} on this machine`]
  const lines = [...describeProgress(progress), ...end].map(line => `  ${plainText(line)}`)
  terminal.stdout.write(`${lines.join('\n')}\n`)
  return 0
}

/** Exit code of what SIGINT ended. */
function tellInterrupted(log: string, terminal: Terminal): number {
  tell(terminal, `the probe was interrupted and is ended, nothing is quoted; what it printed stays in ${log}`)
  return 130
}

async function follow(start: () => Promise<Probe>, terminal: Terminal): Promise<Probed> {
  return withProgress(terminal, show => followProbe(start, (state, progress) => show(describeLook(state, progress))))
}

function describeLook(state: 'waiting' | 'running', progress: RunProgress | undefined): string {
  if (state === 'waiting') return 'the probe waits in the queue'
  const { stepsDone, secondsPerStep } = progress ?? {}
  if (stepsDone === undefined) return 'the probe runs, and has not reported a step'
  const rate = secondsPerStep === undefined ? '' : `, ${secondsPerStep.value.toPrecision(3)} s each`
  return `the probe runs: ${formatCount(stepsDone.value)} steps${rate}`
}

/** Nothing could be measured: the log, where there is one, may tell why. */
function tellNothing(log: string, terminal: Terminal): number {
  const seen = existsSync(log) ? `${plainText(log)} shows what it printed` : 'it never began to run'
  tell(terminal, `the probe reported no rate: ${seen}`)
  return 1
}

function describeRate({ dataShare, secondsPerStep, warnings }: RunProgress): string {
  const rate = `each step takes ${secondsPerStep?.value.toPrecision(3)} s`
  const waiting = dataShare === undefined ? '' : `, ${formatPercent(dataShare.value)} of it waiting for data`
  const ending = warnings.find(({ code }) => ['out-of-memory', 'host-out-of-memory', 'crashed'].includes(code))
  return `${rate}${waiting}${ending === undefined ? '' : `; but the probe broke off: ${ending.text}`}`
}
