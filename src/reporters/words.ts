import type { Candidate, Placement } from '../candidates.ts'
import { describePlace } from '../errors.ts'
import { isGuess, type Job, type Role } from '../job.ts'
import type { Price } from '../prices/price-source.ts'
import type { Quote } from '../quote.ts'
import type { Origin } from '../sourced.ts'
import {
  type Currency,
  countOf,
  formatCount,
  formatDuration,
  formatGib,
  formatMoney,
  formatPercent,
  formatRate,
} from '../units.ts'
import type { Workload } from '../workload.ts'

export { describeGpus } from '../candidates.ts'
export { countOf } from '../units.ts'

/** `2 nodes x 8 GPUs, A100, at most 48h, 4 tasks of which 2 at a time`. */
export function describeRole(role: Role, job: Job): string {
  const machines = job.scheduler === 'kubernetes' ? 'pod' : 'node'
  const names = role.gpuType.names.map(name => name.value).join(' or ')
  const type = names !== '' && isGuess(role.gpuType.basis) ? `(perhaps ${names})` : names
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
    workload.modelName?.value ?? workload.model?.value.name ?? nameOfWork(workload),
    method === 'lora' || method === 'qlora' ? `${method === 'lora' ? 'LoRA' : 'QLoRA'} fine-tune` : undefined,
    amountOfWork(workload),
    describeLength(workload),
    labelled('global batch', workload.globalBatch?.value),
    workload.precision?.value,
    workload.repetitions > 1 ? `${workload.repetitions} times` : undefined,
  ]
    .filter(part => part !== undefined)
    .join(', ')
}

/** Samples of a data set have a longest length, and most are shorter: their tokens are worked out as if none were. */
function describeLength(workload: Workload): string | undefined {
  const { samples, epochs, tokens, sequenceLength } = workload
  if (sequenceLength === undefined) return undefined
  const length = formatCount(sequenceLength.value)
  const isInFull = samples !== undefined && epochs !== undefined && tokens?.origin.kind === 'computed'
  return isInFull && !isBySteps(workload) ? `each counted as ${length} tokens` : `sequence ${length}`
}

/** Steps that are said, and not worked out from epochs, end a run wherever it has both. */
function isBySteps({ steps }: Workload): boolean {
  return steps !== undefined && !['computed', 'assumed'].includes(steps.origin.kind)
}

function nameOfWork({ purpose, device, framework }: Workload): string {
  if (device === 'cpu') return 'work for CPUs'
  if (purpose === 'other' || device === 'gpu') return framework?.value ?? 'a step that is no training'
  return 'a model that is not named'
}

function amountOfWork(workload: Workload): string | undefined {
  const { steps } = workload
  if (workload.epochs !== undefined && !isBySteps(workload)) {
    const samples = workload.samples === undefined ? '' : ` of ${formatCount(workload.samples.value)} samples`
    return `${countOf(workload.epochs.value, 'epoch')}${samples}`
  }
  if (steps !== undefined) return `${formatCount(steps.value)} steps`
  if (workload.tokens !== undefined) return `${formatCount(workload.tokens.value)} tokens`
  return workload.samples === undefined ? undefined : `${formatCount(workload.samples.value)} samples`
}

function labelled(label: string, count: number | undefined): string | undefined {
  return count === undefined ? undefined : `${label} ${formatCount(count)}`
}

/** `2h10m (1h50m-2h40m)`, `up to 48h`, or `?`; `each` where there are several tasks. */
export function describeRuntime({ runtime, tasks }: Quote): string {
  if (runtime === undefined) return '?'
  const each = tasks > 1 ? ' each' : ''
  if (runtime.basis === 'limit') return `up to ${formatDuration(runtime.upperBoundSeconds)}${each}`
  const { p10, p50, p90 } = runtime.seconds
  // Runs that scatter so wide have no typical one.
  if (runtime.narrow === false) return `${formatDuration(p10)}-${formatDuration(p90)}${each}`
  const range = `${formatDuration(p10)}-${formatDuration(p90)}`
  const hours = formatDuration(p10) === formatDuration(p90) ? formatDuration(p50) : `${formatDuration(p50)} (${range})`
  return hours + each
}

/** `20 tasks, 4 at a time: about 4h20m in all`; undefined for a single one, and where their time is not known. */
export function describeTasks({ runtime, tasks, concurrentTasks }: Quote): string | undefined {
  if (tasks <= 1 || runtime === undefined || runtime.basis === 'limit') return undefined
  const atOnce = concurrentTasks < tasks ? `${formatCount(concurrentTasks)} at a time` : 'all at one time'
  const { p10, p50, p90 } = runtime.seconds
  const inAll = (seconds: number) => formatDuration(seconds * Math.ceil(tasks / concurrentTasks))
  const time = runtime.narrow === false ? `${inAll(p10)}-${inAll(p90)}` : `about ${inAll(p50)}`
  return `${formatCount(tasks)} tasks, ${atOnce}: ${time} in all`
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

const fitWords = { fits: 'yes', tight: 'tight', 'does not fit': 'no', unknown: 'unsure' } as const

/**
 * `yes, 61 of 79 GiB`, `tight, 75 of 79 GiB`, `no, 31 of 15 GiB`; `unsure, 29-157 of 79 GiB` where it hangs on what is not said, and
 * `unsure, 29+ of 79 GiB` where only a part of the need is known; `?`.
 */
export function describeFit({ fit: { verdict, needBytes, leastBytes, haveBytes } }: Candidate): string {
  const isSure = verdict === 'fits' || verdict === 'tight'
  const least = isSure ? needBytes : (leastBytes ?? needBytes)
  if (least === undefined || haveBytes === undefined) return '?'
  const plain = (bytes: number): string => formatGib(bytes).replace(' GiB', '')
  const most = needBytes === undefined ? '+' : plain(needBytes) === plain(least) ? '' : `-${plain(needBytes)}`
  return `${fitWords[verdict]}, ${plain(least)}${most} of ${formatGib(haveBytes)}`
}

/** Where it runs and what an hour costs there: `4x aws p4d.24xlarge us-east-1, $87.83/h on-demand`. */
export function describeOffer(quote: Quote, currency: Currency): string {
  const machineCounts = new Map<string, number>()
  quote.candidate.placements.forEach(({ machine, machineCount }, index) => {
    const price = quote.prices[index]
    const where = [machine.provider, machine.name, price && describeListing(price)].filter(Boolean).join(' ')
    machineCounts.set(where, (machineCounts.get(where) ?? 0) + machineCount)
  })
  const where = [...machineCounts].map(([name, count]) => (count > 1 ? `${count}x ${name}` : name)).join(' + ')
  return quote.usdPerHour === undefined
    ? `${where}, price not known`
    : `${where}, ${describeRate(quote, quote.usdPerHour, currency)}`
}

function describeListing({ region, listedFor }: Price): string {
  if (listedFor === undefined) return region
  const label = listedFor.assumed ? 'no own rate, list price of ' : ''
  return `(${label}${listedFor.provider} ${listedFor.machine} ${region})`
}

function describeRate(quote: Quote, usdPerHour: number, currency: Currency): string {
  const tiers = [...new Set(quote.prices.flatMap(price => (price === undefined ? [] : [describeTier(price)])))]
  const [placement] = quote.candidate.placements.filter(isShared)
  const total = placement && placement.machine.gpuCount * placement.machineCount
  const part =
    placement === undefined || placement.share !== undefined ? '' : ` for ${placement.gpuCount} of ${total} GPUs`
  const tasks = quote.concurrentTasks > 1 ? ` for ${formatCount(quote.concurrentTasks)} tasks` : part
  return `${formatRate(usdPerHour, currency)}${tasks} ${tiers.join(' and ')}`
}

/** Whether a job pays for a part of a machine. */
function isShared({ wholeMachine, gpuCount, share, machine, machineCount }: Placement): boolean {
  return !wholeMachine && gpuCount * (share ?? 1) < machine.gpuCount * machineCount
}

/** `on-demand less 10 %`, `spot, lowest zone`, `own rate`: how an hour is bought, and what its price is not. */
function describeTier({ tier, discount, lowestZone }: Price): string {
  const less = discount === undefined ? '' : ` less ${formatPercent(discount.share)}`
  return `${tierWords[tier]}${less}${lowestZone === true ? ', lowest zone' : ''}`
}

/** `aws on-demand 2026-07-20`, `research own rate gpufare.yaml:7:15`: whose price it is, and of which day or file. */
export function describeSource(price: Price): string {
  const { machine, listedFor, tier, asOf, source, discount } = price
  const isOwn = tier === 'own' || tier === 'own-spot'
  const place = discount?.place === undefined ? '' : `(${describePlace(discount.place)})`
  return [listedFor?.provider ?? machine.provider, describeTier(price), place, isOwn ? source : asOf]
    .filter(Boolean)
    .join(' ')
}

/** How tiers are called. */
const tierWords = {
  'on-demand': 'on-demand',
  spot: 'spot',
  'reserved-1y': 'reserved 1 year',
  'reserved-3y': 'reserved 3 years',
  own: 'own rate',
  'own-spot': 'own spot rate',
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
