import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Declarations } from '../../src/declarations.ts'
import type { Gpu } from '../../src/gpu.ts'
import { readTables } from '../../src/pricing-data.ts'
import { predictRuntime } from '../../src/runtimes/index.ts'
import type { Range, Runtime } from '../../src/runtimes/runtime-model.ts'
import { type Sourced, sourced } from '../../src/sourced.ts'
import { planRun } from '../../src/throughput/run-plan.ts'
import { stepTime } from '../../src/throughput/step-time.ts'
import { secondsPerHour } from '../../src/units.ts'
import type { Workload } from '../../src/workload.ts'
import { candidateOf, jobOf, machineOf, placementOf, roleOf } from '../builders.ts'
import { llama2 } from '../published-models.ts'

const tables = readTables(fileURLToPath(new URL('../../pricing-data/', import.meta.url)))

function said<T>(value: T): Sourced<T> {
  return sourced(value, { kind: 'manifest', place: { file: 'job.sbatch', line: 7 } })
}

function gpuNamed(name: string): Gpu {
  const gpu = tables.gpus.find(each => each.name === name)
  if (gpu === undefined) throw new Error(`no ${name} in the table`)
  return gpu
}

/** One candidate of machines with eight GPUs. */
function on(gpuName: string, gpuCount: number, asRequested = false) {
  const gpu = gpuNamed(gpuName)
  return candidateOf(placementOf(machineOf(gpu, Math.min(8, gpuCount)), gpuCount), { asRequested })
}

function training(facts: Partial<Workload> = {}): Workload {
  return {
    purpose: 'train',
    place: { file: 'job.sbatch', line: 7 },
    role: 'job',
    repetitions: 1,
    conditional: false,
    model: said(llama2),
    steps: said(1_000),
    globalBatch: said(128),
    microBatch: said(2),
    sequenceLength: said(2_048),
    precision: said('fp16'),
    method: said('full'),
    activationRecompute: said('full'),
    parallelism: said({ tensor: 1, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'weights' }),
    ...facts,
  }
}

const declaredOn = (declarations: Declarations) =>
  jobOf({
    declarations,
    roles: [
      roleOf({
        gpuType: { names: [said('a100-80gb')], basis: 'directive' },
        timeLimitSeconds: said(24 * secondsPerHour),
      }),
    ],
  })
const undeclared = declaredOn({})

function secondsOf(runtime: Runtime | undefined): Range {
  if (runtime === undefined || runtime.basis === 'limit') throw new Error('no estimate')
  return runtime.seconds
}

const widthOf = ({ p10, p90 }: Range): number => p90 / p10

describe('a declared runtime', () => {
  const job = declaredOn({ runtime: said({ seconds: 4 * secondsPerHour, gpuCount: 8, gpuName: 'a100-80gb' }) })

  it('is taken as said on the GPUs it was said of', () => {
    const runtime = predictRuntime(job, [training()], on('a100-80gb', 8), {}, tables)
    expect(runtime?.basis).toBe('declared')
    expect(secondsOf(runtime).p50).toBe(4 * secondsPerHour)
  })

  it('is scaled to another GPU with a wider range, and says so', () => {
    const here = predictRuntime(job, [training()], on('a100-80gb', 8), {}, tables)
    const there = predictRuntime(job, [training()], on('h100-80gb', 8), {}, tables)
    expect(there?.basis).toBe('declared')
    expect(secondsOf(there).p50).toBeLessThan(4 * secondsPerHour)
    expect(widthOf(secondsOf(there))).toBeGreaterThan(widthOf(secondsOf(here)))
    expect(there?.working.map(line => line.what)).toContain('from 8x a100-80gb to 8x h100-80gb')
  })

  it('is never scaled by peak rates: an H100 has 3.2 times the peak of an A100 and is 2 to 2.8 times as fast on such a model', () => {
    // Published: llm-foundry, BF16, H100 over A100-80: 2.2 to 2.6 for 1B to 70B.
    const facts = { precision: said('bf16' as const) }
    const there = predictRuntime(job, [training(facts)], on('h100-80gb', 8), {}, tables)
    const ratio = (4 * secondsPerHour) / secondsOf(there).p50
    expect(ratio).toBeGreaterThan(1.8)
    expect(ratio).toBeLessThan(2.8)
  })

  it('without GPUs is of the job as requested', () => {
    const short = declaredOn({ runtime: said({ seconds: secondsPerHour }) })
    expect(secondsOf(predictRuntime(short, [], on('a100-80gb', 8, true), {}, tables)).p50).toBe(secondsPerHour)
    expect(secondsOf(predictRuntime(short, [], on('t4', 8), {}, tables)).p50).toBeGreaterThan(secondsPerHour)
  })

  it('on a GPU that nobody knows is not carried over to others', () => {
    const strange = declaredOn({ runtime: said({ seconds: secondsPerHour, gpuCount: 8, gpuName: 'xpu9000' }) })
    expect(predictRuntime(strange, [], on('t4', 8), {}, tables)?.basis).toBe('limit')
  })
})

describe('a declared throughput', () => {
  const job = declaredOn({
    throughput: said({ perSecond: 20, unit: 'samples', gpuCount: 8, gpuName: 'a100-80gb' } as const),
  })

  it('divides the work: 1,000 steps of 128 samples at 20 samples/s take 6,400 s and what runs lose besides', () => {
    const { p10, p50 } = secondsOf(predictRuntime(job, [training()], on('a100-80gb', 8), {}, tables))
    expect(p50).toBeGreaterThan(6_400)
    expect(p10).toBeLessThan(1.2 * 6_400)
  })

  it('says nothing of a run whose work is unknown', () => {
    const { steps: _, ...endless } = training()
    expect(predictRuntime(job, [endless], on('a100-80gb', 8), {}, tables)?.basis).toBe('limit')
  })
})

describe('the model', () => {
  it('is asked when nobody declared anything, and shows its arithmetic', () => {
    const runtime = predictRuntime(undeclared, [training()], on('a100-80gb', 8), {}, tables)
    expect(runtime?.basis).toBe('model')
    expect(runtime?.working.map(line => line.what)).toEqual(
      expect.arrayContaining([
        'work',
        'forward pass of a sample',
        'one step by the formulas',
        'correction by measured runs',
      ]),
    )
  })

  it('puts Llama 2 7B on eight A100 where publications do', () => {
    // 6·N FLOPs a token of 312 TFLOPS: llm-foundry reports 0.50 to 0.64 for 7B, IBM's FSDP 0.49 from start to end, 0.8 of that with recompute.
    const facts = { precision: said('bf16' as const), activationRecompute: said('none' as const) }
    const tokens = 1_000 * 128 * 2_048
    const seconds = secondsOf(predictRuntime(undeclared, [training(facts)], on('a100-80gb', 8), {}, tables)).p50
    const modelFlopsShare = (6 * 6.74e9 * tokens) / seconds / (8 * 312e12)
    expect(modelFlopsShare).toBeGreaterThan(0.4)
    expect(modelFlopsShare).toBeLessThan(0.65)
  })

  it('is undefined where steps, samples and tokens are unknown: only the limit is left', () => {
    const { steps: _, ...endless } = training()
    expect(predictRuntime(undeclared, [endless], on('a100-80gb', 8), {}, tables)?.basis).toBe('limit')
  })

  it('takes twice as long for twice the steps, but for the start', () => {
    const { startSeconds } = tables.calibration.efficiency
    const once = secondsOf(predictRuntime(undeclared, [training()], on('a100-80gb', 8), {}, tables)).p50
    const twice = secondsOf(
      predictRuntime(undeclared, [training({ steps: said(2_000) })], on('a100-80gb', 8), {}, tables),
    ).p50
    expect((twice - startSeconds) / (once - startSeconds)).toBeCloseTo(2, 6)
  })

  it('adds up runs that follow each other, and takes the longest of roles side by side', () => {
    const one = secondsOf(predictRuntime(undeclared, [training()], on('a100-80gb', 8), {}, tables)).p50
    const two = secondsOf(predictRuntime(undeclared, [training(), training()], on('a100-80gb', 8), {}, tables)).p50
    expect(two / one).toBeCloseTo(2, 6)
  })

  it('has a wider range where the framework is not known', () => {
    const known = predictRuntime(
      undeclared,
      [training({ framework: said('Megatron-LM') })],
      on('a100-80gb', 8),
      {},
      tables,
    )
    const unknown = predictRuntime(undeclared, [training()], on('a100-80gb', 8), {}, tables)
    expect(widthOf(secondsOf(unknown))).toBeGreaterThan(widthOf(secondsOf(known)))
  })

  it('has no answer for a precision that the GPU cannot compute', () => {
    expect(predictRuntime(undeclared, [training({ precision: said('bf16') })], on('t4', 8), {}, tables)?.basis).toBe(
      'limit',
    )
  })
})

describe('the step model', () => {
  const { efficiency } = tables.calibration

  it('never computes longer for a step on more GPUs', () => {
    const gpu = gpuNamed('a100-80gb')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 8 }), (exponent, microBatch) => {
        const secondsOn = (gpuCount: number): number => {
          const hardware = { gpu, gpuCount, gpusPerMachine: Math.min(8, gpuCount) }
          const plan = planRun(training({ microBatch: said(microBatch) }), hardware)
          if (plan === undefined) throw new Error('no plan')
          return stepTime(plan, hardware, efficiency).computeSeconds
        }
        expect(secondsOn(2 ** (exponent + 1))).toBeLessThanOrEqual(secondsOn(2 ** exponent) * (1 + 1e-9))
      }),
    )
  })

  it('spends (p-1)/m of the work in the bubble of a pipeline', () => {
    // Narayanan et al., arXiv 2104.04473, section 2.2.1: 8 stages and 32 micro-batches idle 7/32 of the ideal time.
    const hardware = { gpu: gpuNamed('a100-80gb'), gpuCount: 8, gpusPerMachine: 8 }
    const split = { tensor: 1, pipeline: 8, interleave: 1, context: 1, expert: 1, sharding: 'none' } as const
    const plan = planRun(training({ globalBatch: said(32), microBatch: said(1), parallelism: said(split) }), hardware)
    if (plan === undefined) throw new Error('no plan')
    const { bubbleSeconds, computeSeconds } = stepTime(plan, hardware, efficiency)
    expect(bubbleSeconds / computeSeconds).toBeCloseTo(7 / 32, 6)
  })

  it('exchanges more slowly over a network than inside a machine', () => {
    const gpu = gpuNamed('a100-80gb')
    const secondsOf = (gpusPerMachine: number): number => {
      const hardware = { gpu, gpuCount: 8, gpusPerMachine, networkBytesPerSecond: 1.25e9 }
      const plan = planRun(training({ globalBatch: said(8) }), hardware)
      if (plan === undefined) throw new Error('no plan')
      return stepTime(plan, hardware, efficiency).communicationSeconds
    }
    expect(secondsOf(1)).toBeGreaterThan(secondsOf(8))
  })
})

describe('the time limit', () => {
  it('is a bound and no estimate', () => {
    const runtime = predictRuntime(undeclared, [], on('a100-80gb', 8), {}, tables)
    expect(runtime).toMatchObject({ basis: 'limit', upperBoundSeconds: 24 * secondsPerHour })
  })

  it('that a role without GPUs lacks is a bound all the same', () => {
    const limited = roleOf({ timeLimitSeconds: said(60) })
    const job = jobOf({ roles: [roleOf({ name: 'driver', gpuCount: said(0) }), limited] })
    expect(predictRuntime(job, [], on('a100-80gb', 8), {}, tables)).toMatchObject({ upperBoundSeconds: 60 })
  })

  it('that one of several roles lacks bounds nothing', () => {
    const job = jobOf({ roles: [roleOf({ timeLimitSeconds: said(60) }), roleOf({ name: 'other' })] })
    expect(predictRuntime(job, [], on('a100-80gb', 8), {}, tables)).toBeUndefined()
  })
})

describe('idle GPUs', () => {
  it('do not make a run quicker: four processes on eight GPUs take as long as on four', () => {
    const facts = training({ processes: said(4) })
    const eight = predictRuntime(undeclared, [facts], on('a100-80gb', 8), {}, tables)
    const four = jobOf({ roles: [roleOf({ gpuCount: said(4) })] })
    expect(secondsOf(eight).p50).toBeCloseTo(
      secondsOf(predictRuntime(four, [facts], on('a100-80gb', 4), {}, tables)).p50,
    )
    expect(eight?.working.find(line => line.what === 'GPUs at work')?.figure).toBe('4 of 8')
  })
})
