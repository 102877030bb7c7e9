import { describeGpus } from '../candidates.ts'
import { canRun } from '../fare.ts'
import type { Job } from '../job.ts'
import { isSpot } from '../prices/price-source.ts'
import { isStoppedShort, type Quote } from '../quote.ts'
import type { Runtime } from '../runtimes/runtime-model.ts'
import { countOf, formatClock, formatCount, formatDuration, formatMoney, secondsPerMinute } from '../units.ts'
import type { Figures } from './limits.ts'
import type { Subject } from './subject.ts'

/** Money of one quote, to be held against a limit. */
export function costFigures({ cost, limitUsd }: Quote): Figures {
  return {
    range: cost.kind === 'range' ? cost.usd : undefined,
    bound: limitUsd ?? (cost.kind === 'bound' ? cost.upperBoundUsd : undefined),
  }
}

/** Seconds of a task, to be held against a limit. */
export function runtimeFigures(runtime: Runtime | undefined): Figures {
  if (runtime === undefined) return { range: undefined, bound: undefined }
  return runtime.basis === 'limit'
    ? { range: undefined, bound: runtime.upperBoundSeconds }
    : { range: runtime.seconds, bound: undefined }
}

/** The other candidate that would pass and keeps the job's time best, in words; spot only where the job is on spot already. */
export function anotherCandidate(subject: Subject, passes: (quote: Quote) => boolean): string | undefined {
  const onSpot = subject.asWritten.some(({ tier }) => isSpot(tier))
  const [best] = subject.fare.quotes
    .filter(({ candidate, tier }) => !candidate.asRequested && canRun(candidate) && (onSpot || !isSpot(tier)))
    .filter(quote => !isStoppedShort(quote, subject.asWritten[0]) && passes(quote))
    .toSorted((a, b) => medianSeconds(a) - medianSeconds(b))
  return best && `on ${describeGpus(best.candidate)} it would ${describeQuote(best, subject)}`
}

function medianSeconds({ runtime }: Quote): number {
  return runtime === undefined || runtime.basis === 'limit' ? Number.POSITIVE_INFINITY : runtime.seconds.p50
}

function describeQuote({ cost, runtime, usdPerHour }: Quote, { config: { currency } }: Subject): string {
  const time = runtime === undefined || runtime.basis === 'limit' ? '' : ` in ${formatDuration(runtime.seconds.p50)}`
  if (cost.kind === 'range') return `cost about ${formatMoney(cost.usd.p50, currency)}${time}`
  if (cost.kind === 'bound') return `cost at most ${formatMoney(cost.upperBoundUsd, currency)}`
  return usdPerHour === undefined ? `run${time}` : `cost ${formatMoney(usdPerHour, currency)} an hour`
}

/** A time limit as the job's scheduler writes it, cut to whole minutes, to five of them from half an hour on. */
export function writeTimeLimit(job: Job, seconds: number): string {
  const step = seconds >= 30 * secondsPerMinute ? 5 * secondsPerMinute : secondsPerMinute
  const cut = Math.max(step, Math.floor(seconds / step + 1e-9) * step)
  if (job.scheduler === 'skypilot') return `timeout ${cut} in front of its command`
  return job.scheduler === 'kubernetes' ? `activeDeadlineSeconds: ${cut}` : `--time=${formatClock(cut)}`
}

/** A time limit that costs no more than `usd`, where it leaves the job the time that it is expected to take. */
export function shorterTimeLimit(subject: Subject, usd: number): string | undefined {
  const { asWritten, fare, config, roles } = subject
  const limits = roles.map(role => role.timeLimitSeconds?.value)
  const [limitSeconds] = limits
  const limitUsd = subject.money.upperBoundUsd
  if (limitSeconds === undefined || limitUsd === undefined || limits.some(each => each !== limitSeconds))
    return undefined
  const seconds = (limitSeconds * usd) / limitUsd
  const expected = Math.max(...asWritten.map(quote => (quote.runtime === undefined ? 0 : shortest(quote))))
  if (seconds < Math.max(expected, secondsPerMinute) || seconds >= limitSeconds) return undefined
  return `${writeTimeLimit(fare.job, seconds)} would cost at most ${formatMoney(usd, config.currency)}`
}

/** What a job needs of its time limit: its median; nothing where only that limit is known. */
function shortest({ runtime }: Quote): number {
  return runtime === undefined || runtime.basis === 'limit' ? 0 : runtime.seconds.p50
}

/** A part of the job's array tasks, of its epochs or steps, that stays within a share of its cost. */
export function lessWork({ fare: { workloads, job }, roles }: Subject, share: number): string | undefined {
  const [role, ...otherRoles] = roles
  const tasks = role === undefined ? 0 : Math.floor(role.tasks * share)
  if (role !== undefined && otherRoles.length === 0 && tasks >= 1) {
    const called = job.scheduler === 'slurm' ? 'array tasks' : 'completions'
    return `${formatCount(tasks)} of the ${formatCount(role.tasks)} ${called} would pass`
  }
  const [run, ...otherRuns] = workloads
  if (run === undefined || otherRuns.length > 0) return undefined
  const epochs = Math.floor((run.epochs?.value ?? 0) * share)
  if (run.epochs !== undefined && epochs >= 1)
    return `${countOf(epochs, 'epoch')} instead of ${run.epochs.value} would pass`
  const steps = Math.floor((run.steps?.value ?? 0) * share)
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, steps))) - 1)
  const rounded = Math.floor(steps / step) * step
  if (run.steps === undefined || rounded < 1) return undefined
  return `${formatCount(rounded)} steps instead of ${formatCount(run.steps.value)} would pass`
}

/** As many machines or GPUs as stay within a share of those asked for. */
export function fewerGpus({ fare: { job }, roles }: Subject, share: number): string | undefined {
  const [role, ...others] = roles
  if (role === undefined || others.length > 0) return undefined
  const atOnce = Math.floor(role.concurrentTasks * share)
  if (role.concurrentTasks > 1 && atOnce >= 1) {
    return job.scheduler === 'slurm'
      ? `at most ${countOf(atOnce, 'array task')} at a time (--array=...%${atOnce}) would pass`
      : `parallelism: ${atOnce} would pass`
  }
  const shareOfOne = share * role.concurrentTasks
  const machines = Math.floor(role.replicas.value * shareOfOne)
  const called = job.scheduler === 'kubernetes' ? 'pod' : 'node'
  if (role.replicas.value > 1 && machines >= 1) {
    return `${countOf(machines, called)} instead of ${role.replicas.value} would pass`
  }
  const gpus = Math.floor(role.gpuCount.value * shareOfOne)
  return gpus >= 1 ? `${countOf(gpus, 'GPU')} instead of ${role.gpuCount.value} would pass` : undefined
}

/** The first two changes that are possible, or the way that is always open. */
export function firstOf(rule: string, ...changes: readonly (string | undefined)[]): string {
  const possible = [...new Set(changes.filter(change => change !== undefined))]
  return possible.length > 0 ? possible.slice(0, 2).join('; or ') : askForExemption(rule)
}

/** What to do where no change of the job would pass. */
export function askForExemption(rule: string): string {
  return `no smaller job is known that passes: raise the limit, or have it exempted with a reason and a last day (rule: ${rule})`
}
