import type { Declarations } from '../declarations.ts'
import { findModel, type Model, type ModelTable } from '../model.ts'
import { type Sourced, sourced, withoutAbsent } from '../sourced.ts'
import type { Precision, TrainingMethod, Workload } from '../workload.ts'
import { precisionOf } from './config-files.ts'

/** What the user declares wins over what was read; what was read and cannot hold beside it is dropped. */
export function applyDeclarations(workload: Workload, declared: Declarations): Workload {
  const { steps, tokens, samples, epochs, batch, sequenceLength, model } = declared
  const precision = precisionOf(declared.precision?.value)
  const method = trainingMethod(declared.method?.value)
  return {
    ...withoutContradicted(workload, declared),
    ...withoutAbsent({
      steps,
      tokens,
      samples,
      epochs,
      globalBatch: batch,
      sequenceLength,
      modelName: model,
      precision: precision && declared.precision && sourced<Precision>(precision, declared.precision.origin),
      method: method && declared.method && sourced(method, declared.method.origin),
    }),
  }
}

/** Steps and tokens are a length of their own; samples and epochs complete each other. */
function withoutContradicted(workload: Workload, declared: Declarations): Workload {
  let kept = workload
  if (declared.steps ?? declared.tokens ?? declared.samples ?? declared.epochs) {
    const { steps, tokens, ...others } = kept
    kept = others
  }
  if (declared.steps ?? declared.tokens) {
    const { samples, epochs, ...others } = kept
    kept = others
  }
  if (declared.batch !== undefined) {
    const { gradientAccumulation, ...others } = kept
    kept = others
  }
  if (declared.model !== undefined) {
    const { model, ...others } = kept
    kept = others
  }
  return kept
}

function trainingMethod(word: string | undefined): TrainingMethod | undefined {
  return word === 'full' || word === 'lora' || word === 'qlora' ? word : undefined
}

/** The network: declared parameters, else the reader's own count, else the model table's by name. */
export function resolveModel(workload: Workload, declared: Declarations, models: ModelTable): Workload {
  const found = workload.model ?? (workload.modelName && findModel(workload.modelName.value, models))
  const { params } = declared
  if (params === undefined || workload.purpose !== 'train')
    return found === undefined ? workload : { ...workload, model: found }
  // A name and a count that agree keep the shape that goes with the name.
  if (found !== undefined && Math.abs(found.value.parameterCount / params.value - 1) < 0.05)
    return { ...workload, model: found }
  const model: Model = {
    name: workload.modelName?.value ?? 'declared',
    kind: found?.value.kind ?? 'other',
    parameterCount: params.value,
    activeParameterCount: params.value,
  }
  return { ...workload, model: sourced(model, params.origin) }
}

/** Works out what follows from what was read, but for what is not to be: the global batch, steps, tokens. */
export function deriveValues(workload: Workload, notDerived: readonly ('steps' | 'tokens' | 'model')[]): Workload {
  const batched = deriveAccumulation(deriveGlobalBatch(workload))
  const stepped = notDerived.includes('steps') ? batched : deriveSteps(batched)
  return notDerived.includes('tokens') ? stepped : deriveTokens(stepped)
}

function computed(value: number, formula: string): Sourced<number> {
  return sourced(value, { kind: 'computed', formula })
}

/** What follows from values of which one was assumed is no more than assumed. */
function following(value: number, formula: string, ...from: readonly Sourced<number>[]): Sourced<number> {
  const reasons = from.flatMap(({ origin }) => (origin.kind === 'assumed' ? [origin.reason] : []))
  return reasons.length === 0
    ? computed(value, formula)
    : sourced(value, { kind: 'assumed', reason: [formula, ...new Set(reasons)].join('; ') })
}

/** Processes that each see other data: those of one model replica share theirs. */
function dataParallelRanks(workload: Workload): number | undefined {
  if (workload.processes === undefined) return undefined
  const split = workload.parallelism?.value
  const perReplica = split === undefined ? 1 : split.tensor * split.pipeline * split.context
  const ranks = workload.processes.value / perReplica
  return Number.isInteger(ranks) ? ranks : undefined
}

function deriveGlobalBatch(workload: Workload): Workload {
  const { globalBatch, microBatch, gradientAccumulation, purpose } = workload
  const ranks = dataParallelRanks(workload)
  const accumulation = purpose === 'train' ? gradientAccumulation?.value : 1
  if (globalBatch !== undefined || microBatch === undefined || accumulation === undefined || ranks === undefined)
    return workload
  const formula = `${microBatch.value} per process x ${accumulation} accumulated x ${ranks} data-parallel processes`
  return { ...workload, globalBatch: following(microBatch.value * accumulation * ranks, formula, microBatch) }
}

function deriveAccumulation(workload: Workload): Workload {
  const { globalBatch, microBatch, gradientAccumulation, purpose } = workload
  const ranks = dataParallelRanks(workload)
  if (
    gradientAccumulation !== undefined ||
    globalBatch === undefined ||
    microBatch === undefined ||
    ranks === undefined ||
    purpose !== 'train'
  )
    return workload
  const accumulation = globalBatch.value / (microBatch.value * ranks)
  if (!Number.isInteger(accumulation) || accumulation < 1) return workload
  const formula = `global batch ${globalBatch.value} / (${microBatch.value} per process x ${ranks} data-parallel processes)`
  return { ...workload, gradientAccumulation: computed(accumulation, formula) }
}

function deriveSteps(workload: Workload): Workload {
  const { steps, samples, epochs, globalBatch, tokens, sequenceLength } = workload
  if (steps !== undefined || globalBatch === undefined) return workload
  if (samples !== undefined) {
    const passes = epochs?.value ?? 1
    const formula = `${samples.value} samples${epochs === undefined ? '' : ` x ${passes} epochs`} / ${globalBatch.value} a step`
    return {
      ...workload,
      steps: following(
        Math.max(1, Math.floor((samples.value * passes) / globalBatch.value)),
        formula,
        samples,
        globalBatch,
      ),
    }
  }
  if (tokens === undefined || sequenceLength === undefined) return workload
  const formula = `${tokens.value} tokens / (${globalBatch.value} x ${sequenceLength.value} a step)`
  return {
    ...workload,
    steps: following(
      Math.max(1, Math.round(tokens.value / (globalBatch.value * sequenceLength.value))),
      formula,
      tokens,
    ),
  }
}

function deriveTokens(workload: Workload): Workload {
  const { tokens, steps, samples, epochs, globalBatch, sequenceLength, purpose } = workload
  if (tokens !== undefined || sequenceLength === undefined || purpose !== 'train') return workload
  if (samples !== undefined) {
    const passes = epochs?.value ?? 1
    return {
      ...workload,
      tokens: following(
        samples.value * passes * sequenceLength.value,
        `${samples.value * passes} samples x ${sequenceLength.value}`,
        samples,
      ),
    }
  }
  if (steps === undefined || globalBatch === undefined) return workload
  const formula = `${steps.value} steps x ${globalBatch.value} x ${sequenceLength.value}`
  return {
    ...workload,
    tokens: following(steps.value * globalBatch.value * sequenceLength.value, formula, steps, globalBatch),
  }
}
