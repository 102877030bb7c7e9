import type { Model, ModelKind } from '../model.ts'
import type { Workload } from '../workload.ts'
import type { Hardware } from './communication.ts'
import { fastestRun } from './fastest-run.ts'
import { type InferenceEfficiency, inferenceSeconds } from './inference-time.ts'
import { type Counted, estimateLogError, type Likeness, type MeasuredRun, type RunTraits } from './nearest-runs.ts'
import { type Plan, planRun } from './run-plan.ts'
import { type StepEfficiency, stepTime } from './step-time.ts'

/** All that was fitted on published runs: pricing-data/efficiency.csv, and the runs that it was fitted on. */
export interface Calibration {
  readonly efficiency: InferenceEfficiency & RunEfficiency
  readonly likeness: Readonly<Record<Counted, Likeness>>
  /** Measured runs of networks of this kind: only they are alike enough to be asked. */
  runsOf(kind: ModelKind): readonly MeasuredRun[]
}

/** Constants of a whole run. */
export interface RunEfficiency {
  /** Elapsed time over steady time: evaluation, checkpoints, restarts. */
  readonly elapsedFactor: number
  /** From the launcher's start to the first step. */
  readonly startSeconds: number
  /** Makes the ranges as wide as 8 of 10 runs not fitted on need, by what is judged and by where FLOPs are known from. */
  readonly rangeFactor: Readonly<Record<Judged, Readonly<Record<Counted, number>>>>
  /** Spread that each assumption adds, as a standard deviation of the logarithm. */
  readonly assumptionSpread: number
}

/** A rate of training, a whole training run, or inference: their ranges are as wide as each needs. */
export type Judged = RunTraits['measured'] | 'serving'

export function judgedAs({ method, measured }: RunTraits): Judged {
  return method === 'inference' ? 'serving' : measured
}

/** How fast a run goes on some hardware: log-normal around `secondsPerSample`. */
export interface Pace {
  readonly plan: Plan
  /** ln(expected / step model) by the measured runs like it. */
  readonly correction: number
  /** Seconds of the whole job for one sample. */
  readonly secondsPerSample: number
  /** No sample takes less, whatever the spread. */
  readonly leastSecondsPerSample: number
  /** Standard deviation of ln(seconds). */
  readonly sigma: number
  readonly nearest: MeasuredRun | undefined
}

/** Beyond this spread P90 is ten times P10: that is no estimate. */
const usefulSigma = 0.9

/** How long a sample takes, all GPUs together; undefined where the model is unknown or no measured run is like it. */
export function predictPace(
  workload: Workload,
  hardware: Hardware,
  calibration: Calibration,
  measured: RunTraits['measured'],
  greatestSigma = usefulSigma,
): Pace | undefined {
  const plan = planRun(workload, hardware)
  if (plan === undefined) return undefined
  const { efficiency, likeness } = calibration
  const traits = traitsOf(plan, workload, hardware, efficiency, measured)
  const error = estimateLogError(traits, calibration.runsOf(traits.kind), likeness[traits.counted])
  const sigma = Math.hypot(
    error.sigma * efficiency.rangeFactor[judgedAs(traits)][traits.counted],
    efficiency.assumptionSpread * Math.sqrt(plan.assumed.length),
  )
  if (!(sigma <= greatestSigma)) return undefined
  // A correction learned elsewhere must not carry a run past what its GPUs can do.
  const fastest = workload.purpose === 'train' ? fastestRun(plan, workload, hardware) : { p10: 0, p50: 0 }
  const corrected = modelledSeconds(plan, workload, hardware, efficiency, measured) * Math.exp(error.mean)
  return {
    plan,
    correction: error.mean,
    secondsPerSample: Math.max(corrected, fastest.p50),
    leastSecondsPerSample: fastest.p10,
    sigma,
    nearest: error.nearest,
  }
}

/** A rate somebody measured, as one more run to go by: what the step model would have said of it is its error. */
export function measuredRun(
  id: string,
  workload: Workload,
  hardware: Hardware,
  calibration: Calibration,
  measured: RunTraits['measured'],
  secondsPerSample: number,
): MeasuredRun | undefined {
  const plan = planRun(workload, hardware)
  if (plan === undefined) return undefined
  const { efficiency } = calibration
  const modelled = modelledSeconds(plan, workload, hardware, efficiency, measured)
  return {
    id,
    traits: traitsOf(plan, workload, hardware, efficiency, measured),
    logError: Math.log(secondsPerSample / modelled),
  }
}

/** Seconds of one sample by the formulas alone. */
function modelledSeconds(
  plan: Plan,
  workload: Workload,
  hardware: Hardware,
  efficiency: Calibration['efficiency'],
  measured: RunTraits['measured'],
): number {
  const steady =
    workload.purpose === 'train'
      ? stepTime(plan, hardware, efficiency).seconds / plan.globalBatch
      : inferenceSeconds(plan, hardware, efficiency, workload.outputTokens?.value)
  return measured === 'elapsed' ? steady * efficiency.elapsedFactor : steady
}

/** A run that would wait for more than this share of its step, in a layout that nobody said, is not laid out so. */
const mostGuessedWaiting = 0.3

function waitsByGuess(plan: Plan, workload: Workload, hardware: Hardware, efficiency: StepEfficiency): boolean {
  if (workload.purpose !== 'train' || workload.parallelism !== undefined) return false
  const { communicationSeconds, bubbleSeconds, seconds } = stepTime(plan, hardware, efficiency)
  return communicationSeconds + bubbleSeconds > mostGuessedWaiting * seconds
}

function traitsOf(
  plan: Plan,
  workload: Workload,
  hardware: Hardware,
  efficiency: StepEfficiency,
  measured: RunTraits['measured'],
): RunTraits {
  const { model, split } = plan
  const { gpu, gpuCount } = hardware
  // Its time tells of the layout, not of the GPU: only runs guessed alike learn from it.
  const guessed = waitsByGuess(plan, workload, hardware, efficiency) ? ' in a guessed layout' : ''
  const shards = { none: 0, optimizer: 0.5, gradients: 0.7, weights: 1, unknown: 0 }
  const recomputes = { none: 0, selective: 0.5, full: 1 }
  return {
    model: model.shape === undefined ? plainKey(model.name) : `${model.shape.layers}x${model.shape.hidden}`,
    kind: likeKindOf(model),
    counted: countedOf(model),
    ...(workload.framework === undefined ? {} : { stack: plainKey(workload.framework.value) }),
    gpu: gpu.name + guessed,
    architecture: gpu.architecture + guessed,
    precision: plan.precision,
    method: workload.purpose === 'train' ? plan.method : 'inference',
    measured,
    sizes: [
      Math.log(model.activeParameterCount),
      Math.log(plan.tokensPerSample),
      Math.log(plan.microBatch * plan.tokensPerSample),
      Math.log(plan.microBatches),
      Math.log(gpuCount),
      Math.log(split.tensor),
      Math.log(split.pipeline),
      recomputes[plan.recompute],
      split.data > 1 ? shards[split.sharding] : 0,
      Math.log(1 + (workload.outputTokens?.value ?? 0)),
    ],
  }
}

/** Transformers are alike in two kinds, whatever they read: those that predict every token of a sequence, and the others. */
function likeKindOf({ kind, shape }: Model): ModelKind {
  if (shape === undefined || kind === 'other') return kind
  return kind === 'decoder' || kind === 'multimodal' ? 'decoder' : 'encoder'
}

function countedOf(model: Model): Counted {
  if (model.shape !== undefined) return 'shape'
  return model.forwardFlopsPerSample === undefined ? 'guess' : 'table'
}

/** A name without remarks in brackets, versions and punctuation: `ResNet-50 v1.5 (MLPerf)` is `resnet50`, `Megatron-LM` is `megatronlm`. */
export function plainKey(name: string): string {
  return name
    .toLowerCase()
    .replace(/\(.*?\)/g, '')
    .replace(/\bv\d+\b|\bv?\d+(\.\d+)+/g, '')
    .replace(/[^a-z0-9]/g, '')
}

/** A calibration that knows one more run. */
export function withRun(calibration: Calibration, run: MeasuredRun): Calibration {
  return {
    ...calibration,
    runsOf: kind => (kind === run.traits.kind ? [...calibration.runsOf(kind), run] : calibration.runsOf(kind)),
  }
}

/** Time on other hardware as a multiple of the time on known hardware, and the spread of its logarithm. */
export interface Scale {
  readonly factor: number
  readonly sigma: number
}

/**
 * How much longer a run takes on other hardware than where its time is known. The step model's ratio, corrected by measured runs on
 * both; a run whose model nobody knows is taken for a network that computes and moves memory as convolutional networks do.
 */
export function scaleBetween(
  workload: Workload | undefined,
  from: Hardware,
  to: Hardware,
  calibration: Calibration,
): Scale | undefined {
  const known = workload?.model === undefined ? unknownNetwork : workload
  const there = predictPace(known, from, calibration, 'rate', Number.POSITIVE_INFINITY)
  if (there === undefined) return undefined
  const anchor = measuredRun('declared', known, from, calibration, 'rate', there.secondsPerSample)
  if (anchor === undefined) return undefined
  const anchored = withRun(calibration, anchor)
  const here = predictPace(known, to, anchored, 'rate')
  return here === undefined ? undefined : { factor: here.secondsPerSample / there.secondsPerSample, sigma: here.sigma }
}

const nobodySaid = { kind: 'assumed', reason: 'no model is known; only the ratio of two GPUs is asked' } as const

const unknownNetwork: Workload = {
  purpose: 'train',
  place: { file: '' },
  role: '',
  model: {
    value: {
      name: 'unknown network',
      kind: 'convolutional',
      parameterCount: 1e8,
      activeParameterCount: 1e8,
      forwardFlopsPerSample: 1e10,
    },
    origin: nobodySaid,
  },
  microBatch: { value: 64, origin: nobodySaid },
  repetitions: 1,
  conditional: false,
}
