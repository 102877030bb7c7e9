import type { Candidate } from '../candidates.ts'
import { plainText } from '../escaping.ts'
import type { Fare } from '../fare.ts'
import type { Quote } from '../quote.ts'
import type { Sourced } from '../sourced.ts'
import { type Currency, formatCount, formatDuration, formatGib, formatMoney, formatRate } from '../units.ts'
import type { Workload } from '../workload.ts'
import type { RenderOptions } from './reporter.ts'
import { describeCost, describeFit, describeGpus, describeOrigin, describeRuntime } from './words.ts'
import { wrap } from './wrap.ts'

/** Each input with its origin, then the arithmetic of each candidate. */
export function explainFare(fare: Fare, currency: Currency, options: RenderOptions): string[] {
  return [
    options.paint.bold('  what is asked for'),
    ...fare.job.roles.flatMap(role =>
      [
        input(`${role.name}: replicas`, role.replicas),
        input('GPUs of each', role.gpusPerReplica),
        input('GPUs', role.gpuCount),
        ...role.gpuType.names.map(name => input(`GPU type (${role.gpuType.basis})`, name)),
        ...(role.timeLimitSeconds === undefined ? [] : [input('time limit', role.timeLimitSeconds, formatDuration)]),
      ].flatMap(line => wrap(line, options.width, '    ')),
    ),
    ...fare.workloads.flatMap(workload => [
      options.paint.bold(`  what is computed (line ${workload.place.line ?? '?'})`),
      ...workloadInputs(workload).flatMap(line => wrap(line, options.width, '    ')),
    ]),
    ...fare.quotes.flatMap(quote => [
      options.paint.bold(`  ${plainText(describeGpus(quote.candidate))}, ${quote.tier}`),
      ...arithmetic(quote, currency).flatMap(line => wrap(line, options.width, '    ')),
    ]),
  ]
}

function input<T>(label: string, figure: Sourced<T>, format: (value: T) => string = String): string {
  return `${label}: ${format(figure.value)} [${describeOrigin(figure.origin)}]`
}

function workloadInputs(workload: Workload): string[] {
  const lines: string[] = []
  const add = <T>(label: string, figure: Sourced<T> | undefined, format?: (value: T) => string): void => {
    if (figure !== undefined) lines.push(input(label, figure, format))
  }
  add('framework', workload.framework)
  add('model', workload.modelName)
  add('model table', workload.model, model => `${model.name}, ${formatCount(model.parameterCount)} parameters`)
  add('dataset', workload.dataset)
  add('epochs', workload.epochs, formatCount)
  add('samples', workload.samples, formatCount)
  add('steps', workload.steps, formatCount)
  add('global batch', workload.globalBatch, formatCount)
  add('micro batch', workload.microBatch, formatCount)
  add('gradient accumulation', workload.gradientAccumulation, formatCount)
  add('sequence length', workload.sequenceLength, formatCount)
  add('tokens', workload.tokens, formatCount)
  add('precision', workload.precision)
  add('method', workload.method)
  add(
    'parallelism',
    workload.parallelism,
    ({ tensor, pipeline, sharding }) => `tensor ${tensor}, pipeline ${pipeline}, sharding ${sharding}`,
  )
  add('activation recompute', workload.activationRecompute)
  add('flash attention', workload.flashAttention)
  add('optimizer', workload.optimizer)
  add('processes', workload.processes, formatCount)
  return lines
}

function arithmetic(quote: Quote, currency: Currency): string[] {
  return [
    ...memoryLines(quote.candidate),
    ...(quote.runtime?.working ?? []).map(step => `${step.what}: ${step.figure} [${describeOrigin(step.origin)}]`),
    ...quote.candidate.placements.map((placement, index) => priceLine(quote, placement.machine.name, index, currency)),
    `runtime ${describeRuntime(quote)} (${quote.runtime?.basis ?? 'no basis'}), ${rateWords(quote, currency)}, cost ${describeCost(quote, currency)}`,
    ...(quote.limitUsd === undefined ? [] : [`at the time limit: ${formatMoney(quote.limitUsd, currency)}`]),
  ]
}

function memoryLines(candidate: Candidate): string[] {
  const { items, assumed = [], leastBytes } = candidate.fit
  const least = leastBytes === undefined ? '' : `, at least ${formatGib(leastBytes)} however it is run`
  return [
    ...items.map(item => `memory: ${item.what} ${formatGib(item.bytes)}`),
    ...(items.length === 0 ? [] : [`memory: ${describeFit(candidate)}${least}`]),
    ...(assumed.length === 0 ? [] : [`memory: assumed ${assumed.join('; ')}`]),
  ]
}

function priceLine(quote: Quote, machine: string, index: number, currency: Currency): string {
  const price = quote.prices[index]
  if (price === undefined) return `price of ${machine}: ?`
  return `price of ${price.machine.provider} ${price.machine.name}: ${formatRate(price.usdPerMachineHour, currency)} a machine, ${[price.tier, price.asOf].filter(Boolean).join(', ')} [${price.source}]`
}

function rateWords(quote: Quote, currency: Currency): string {
  return quote.usdPerHour === undefined ? 'rate ?' : `rate ${formatRate(quote.usdPerHour, currency)}`
}
