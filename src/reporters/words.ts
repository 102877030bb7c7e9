import type { Candidate, Placement } from '../candidates.ts'
import { describePlace } from '../errors.ts'
import type { Job, Role } from '../job.ts'
import type { Price } from '../prices/price-source.ts'
import type { Quote } from '../quote.ts'
import type { Origin } from '../sourced.ts'
import { type Currency, formatCount, formatDuration, formatGib, formatMoney, formatRate } from '../units.ts'
import type { Workload } from '../workload.ts'

/** `8x A100-80GB`, or `6x H100 + 2x T4` where the roles differ. */
export function describeGpus(candidate: Candidate): string {
  return candidate.placements
    .map(({ gpu, gpuCount }) =>
      gpu.name === '' ? `${countOf(gpuCount, 'GPU')} of any type` : `${gpuCount}x ${gpu.name.toUpperCase()}`,
    )
    .join(' + ')
}

/** `2 nodes x 8 GPUs, A100, at most 48h, 4 tasks of which 2 at a time`. */
export function describeRole(role: Role, job: Job): string {
  const machines = job.scheduler === 'slurm' ? 'node' : 'pod'
  const type = role.gpuType.names.map(name => name.value).join(' or ')
  return [
    `${countOf(role.replicas.value, machines)} x ${countOf(role.gpusPerReplica.value, 'GPU')}${type === '' ? '' : ` ${type}`}`,
    ...(role.deviceShare === undefined ? [] : [`each a ${role.deviceShare.profile ?? role.deviceShare.kind}`]),
    ...(role.timeLimitSeconds === undefined ? [] : [`at most ${formatDuration(role.timeLimitSeconds.value)}`]),
    ...(role.tasks > 1 ? [taskWords(role)] : []),
  ].join(', ')
}

function taskWords(role: Role): string {
  const atOnce = role.concurrentTasks < role.tasks ? `, ${formatCount(role.concurrentTasks)} at a time` : ''
  return `${formatCount(role.tasks)} tasks${atOnce}`
}

/** One line: model, method, amount of work, batch, precision; only what is known. */
export function describeWorkload(workload: Workload): string {
  const method = workload.method?.value
  return [
    workload.modelName?.value ?? workload.model?.value.name ?? 'a model that is not named',
    method === 'lora' || method === 'qlora' ? `${method === 'lora' ? 'LoRA' : 'QLoRA'} fine-tune` : undefined,
    amountOfWork(workload),
    labelled('sequence', workload.sequenceLength?.value),
    labelled('global batch', workload.globalBatch?.value),
    workload.precision?.value,
    workload.repetitions > 1 ? `${workload.repetitions} times` : undefined,
  ]
    .filter(part => part !== undefined)
    .join(', ')
}

function amountOfWork(workload: Workload): string | undefined {
  if (workload.epochs !== undefined) {
    const samples = workload.samples === undefined ? '' : ` of ${formatCount(workload.samples.value)} samples`
    return `${countOf(workload.epochs.value, 'epoch')}${samples}`
  }
  if (workload.steps !== undefined) return `${formatCount(workload.steps.value)} steps`
  if (workload.tokens !== undefined) return `${formatCount(workload.tokens.value)} tokens`
  return workload.samples === undefined ? undefined : `${formatCount(workload.samples.value)} samples`
}

function labelled(label: string, count: number | undefined): string | undefined {
  return count === undefined ? undefined : `${label} ${formatCount(count)}`
}

/** `1 node`, `8 GPUs`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `2h10m` with its range, `up to 48h`, or `?`. */
export function describeRuntime(quote: Quote): string {
  const runtime = quote.runtime
  if (runtime === undefined) return '?'
  if (runtime.basis === 'limit') return `up to ${formatDuration(runtime.upperBoundSeconds)}`
  const { p10, p50, p90 } = runtime.seconds
  const range = `${formatDuration(p10)}-${formatDuration(p90)}`
  return formatDuration(p10) === formatDuration(p90) ? formatDuration(p50) : `${formatDuration(p50)} (${range})`
}

/** `$70-$102`, `up to $1,900`, or `?`. */
export function describeCost(quote: Quote, currency: Currency): string {
  const cost = quote.cost
  if (cost.kind === 'unknown') return '?'
  if (cost.kind === 'bound') return `up to ${formatMoney(cost.upperBoundUsd, currency)}`
  const low = formatMoney(cost.usd.p10, currency)
  const high = formatMoney(cost.usd.p90, currency)
  return low === high ? low : `${low}-${high}`
}

/** `yes, 61 of 79 GiB`, `tight, 75 of 79 GiB`, `no, 31 of 15 GiB`, `?`. */
export function describeFit(candidate: Candidate): string {
  const { fit } = candidate
  if (fit.verdict === 'unknown' || fit.needBytes === undefined || fit.haveBytes === undefined) return '?'
  const verdict = fit.verdict === 'fits' ? 'yes' : fit.verdict === 'tight' ? 'tight' : 'no'
  return `${verdict}, ${formatGib(fit.needBytes)} of ${formatGib(fit.haveBytes)}`
}

/** Where it runs and what an hour costs there: `aws p4d.24xlarge us-east-1, $21.96/h on-demand`. */
export function describeOffer(placement: Placement, price: Price | undefined, currency: Currency): string {
  const machines = placement.machineCount > 1 ? `${placement.machineCount}x ` : ''
  const place = [machines + placement.machine.provider, placement.machine.name, price?.region]
    .filter(part => part !== undefined && part !== '')
    .join(' ')
  if (price === undefined) return `${place}, price not known`
  const perHour = placement.wholeMachine
    ? formatRate(price.usdPerMachineHour * placement.machineCount, currency)
    : `${formatRate(price.usdPerMachineHour / placement.machine.gpuCount, currency)} a GPU`
  return `${place}, ${perHour} ${tierWords[price.tier]}`
}

/** How tiers are called. */
export const tierWords = {
  'on-demand': 'on-demand',
  spot: 'spot',
  'reserved-1y': 'reserved 1 year',
  'reserved-3y': 'reserved 3 years',
  own: 'own rate',
} as const

/** `line 14 of train.sbatch`, `assumed: …`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'manifest':
    case 'file':
    case 'config':
      return describePlace(origin.place)
    case 'annotation':
      return `${describePlace(origin.place)}, said by the manifest itself`
    case 'command-line':
      return `option ${origin.option}`
    case 'environment':
      return `variable ${origin.variable}`
    case 'table':
      return `${origin.table}, ${origin.row} (${origin.source})`
    case 'computed':
      return `computed: ${origin.formula}`
    case 'assumed':
      return `assumed: ${origin.reason}`
  }
}
