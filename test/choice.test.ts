import { describe, expect, test } from 'vitest'
import { describeDestination, describeFares, optionsFor, targetOf } from '../src/choice.ts'
import { type Cluster, type Config, emptyConfig, type Pool } from '../src/config.ts'
import type { Fare } from '../src/fare.ts'
import type { Job } from '../src/job.ts'
import { type Quote, quoteCandidate } from '../src/quote.ts'
import type { Runtime } from '../src/runtimes/runtime-model.ts'
import { sourced } from '../src/sourced.ts'
import { usDollars } from '../src/units.ts'
import { candidateOf, fareWith, gpuOf, hours, jobOf, machineOf, placementOf, pricesOf, roleOf } from './builders.ts'

const assumed = { kind: 'assumed', reason: 'a test' } as const

function poolOf(name: string, more: Partial<Pool> = {}): Pool {
  return { name, gpu: name, gpusPerNode: 8, spot: false, resourceName: 'nvidia.com/gpu', ...more }
}

function configWith(scheduler: Cluster['scheduler'], pools: readonly Pool[]): Config {
  return { ...emptyConfig, clusters: [{ name: 'ours', scheduler, pools }] }
}

const rates = { a100: 16, t4: 4, l40s: 8, 'p4d.24xlarge': 22 }

/** A job on 8 GPUs of a pool (or of a cloud), at the rates above. */
function quoteOn(
  pool: keyof typeof rates,
  runtime: Runtime | undefined,
  more: Partial<Quote['candidate']> = {},
): Quote {
  const machine = machineOf(gpuOf(pool), 8, { provider: pool.startsWith('p4d') ? 'aws' : 'ours', name: pool })
  return quoteCandidate(jobOf(), candidateOf(placementOf(machine, 8), more), runtime, 'on-demand', pricesOf(rates))
}

const asWritten = quoteOn('a100', hours(0.9, 1, 1.2), { asRequested: true })
const slurm = configWith('slurm', [
  poolOf('a100', { gresType: 'a100' }),
  poolOf('t4', { gresType: 't4' }),
  poolOf('l40s'),
])

const labelsOf = (fares: readonly Fare[], config: Config) =>
  optionsFor(fares, config, false, () => true).map(({ label }) => label)

describe('what can be chosen', () => {
  test('as written first, then what the cluster has instead, stop last', () => {
    const fare = fareWith([asWritten, quoteOn('t4', hours(2, 2.5, 3)), quoteOn('l40s', hours(1, 1.25, 1.5))])
    expect(labelsOf([fare], slurm)).toEqual([
      'as written, 8x A100, about $16',
      'on 8x T4 instead: saves $6.00, takes 1h30m longer',
      'on 8x L40S instead: saves $6.00, takes 15m longer',
      'show every candidate',
      'stop',
    ])
  })

  test('a candidate that cannot run is not offered, nor one that the cluster does not have', () => {
    const tooSmall = quoteOn('t4', hours(2, 2.5, 3), { obstacles: ['needs 31 GiB per GPU, has 15'] })
    const fare = fareWith([asWritten, tooSmall, quoteOn('p4d.24xlarge', hours(1, 1, 1))])
    expect(labelsOf([fare], slurm)).toEqual(['as written, 8x A100, about $16', 'show every candidate', 'stop'])
  })

  test('where it may get one of several types, the dearest of them counts', () => {
    const fare = fareWith([quoteOn('t4', hours(2, 2.5, 3), { asRequested: true }), asWritten])
    expect(describeFares([fare], usDollars)).toBe('8x T4 or 8x A100, about $16')
    const unpriced = quoteOn('t4', undefined, { asRequested: true })
    expect(describeFares([fareWith([asWritten, unpriced])], usDollars)).toBe('8x A100 or 8x T4, cost not known')
  })

  test('several jobs are submitted as written or not at all', () => {
    const fare = fareWith([asWritten, quoteOn('t4', hours(2, 2.5, 3))])
    expect(labelsOf([fare, fare], slurm)).toEqual(['as written, 2 jobs, about $32', 'show every candidate', 'stop'])
  })

  test('GPUs that the manifest cannot be changed to are not offered', () => {
    const fare = fareWith([asWritten, quoteOn('t4', hours(2, 2.5, 3)), quoteOn('l40s', hours(1, 1.25, 1.5))])
    const options = optionsFor([fare], slurm, true, ({ gpus }) => gpus === '8x L40S')
    expect(options.map(({ label }) => label.replace(/[,:].*/, ''))).toEqual([
      'as written',
      'on 8x L40S instead',
      'stop',
    ])
  })

  test('a job without GPUs has no candidates to show and no cost to name', () => {
    expect(labelsOf([fareWith([])], slurm)).toEqual(['as written, 1 job without GPUs, not priced', 'stop'])
  })

  test('every candidate is shown once', () => {
    expect(optionsFor([fareWith([asWritten])], slurm, true, () => true).map(({ value }) => value.kind)).toEqual([
      'as written',
      'stop',
    ])
  })
})

describe('the cost of all jobs', () => {
  test('is at most what the limits allow as soon as one is only bounded', () => {
    const bounded = fareWith([{ ...asWritten, cost: { kind: 'bound', upperBoundUsd: 160 } }])
    expect(describeFares([fareWith([asWritten]), bounded], usDollars)).toBe('2 jobs, up to $176')
  })

  test('is not known as soon as one is not', () => {
    const unknown = fareWith([quoteOn('a100', undefined, { asRequested: true })])
    expect(describeFares([fareWith([asWritten]), unknown], usDollars)).toBe('2 jobs, cost not known')
    expect(describeFares([fareWith([])], usDollars)).toBe('1 job without GPUs, not priced')
  })
})

describe('how the cluster calls a candidate', () => {
  test('on Slurm by partition and GRES type, with the nodes it takes', () => {
    const machine = machineOf(gpuOf('t4'), 8, { provider: 'ours', name: 't4' })
    const candidate = candidateOf(placementOf(machine, 16))
    expect(targetOf(candidate, fareWith([]), slurm)).toEqual({
      replicas: 2,
      gpusPerReplica: 8,
      partition: 't4',
      gresType: 't4',
    })
  })

  test('GPUs that cannot be divided evenly among nodes are not offered', () => {
    const machine = machineOf(gpuOf('t4'), 8, { provider: 'ours', name: 't4' })
    expect(targetOf(candidateOf(placementOf(machine, 9)), fareWith([]), slurm)).toBeUndefined()
  })

  test('on Kubernetes by labels and resource, with as many pods as before', () => {
    const nodeSelector = { 'nvidia.com/gpu.product': 'Tesla-T4' }
    const config = configWith('kubernetes', [poolOf('t4', { nodeSelector })])
    const role = roleOf({ replicas: sourced(4, assumed), gpusPerReplica: sourced(2, assumed) })
    const job = jobOf({ scheduler: 'kubernetes', roles: [role] })
    const machine = machineOf(gpuOf('t4'), 8, { provider: 'ours', name: 't4' })
    expect(targetOf(candidateOf(placementOf(machine, 8)), fareWith([], { job }), config)).toEqual({
      replicas: 4,
      gpusPerReplica: 2,
      nodeSelector,
      resourceName: 'nvidia.com/gpu',
    })
  })

  test('a cluster of another scheduler has nothing for the job', () => {
    const machine = machineOf(gpuOf('t4'), 8, { provider: 'ours', name: 't4' })
    const config = configWith('kubernetes', [poolOf('t4')])
    expect(targetOf(candidateOf(placementOf(machine, 8)), fareWith([]), config)).toBeUndefined()
  })
})

describe('where it goes', () => {
  const onPartition = (partition: string, destination: Job['destination'] = {}) =>
    jobOf({ destination: { ...destination, partition } })

  test('is said from the large to the small', () => {
    const job = onPartition('a100', { qos: 'high', account: 'research' })
    expect(describeDestination({ cluster: 'gpushop' }, [job])).toBe(
      'cluster gpushop, partition a100, account research, qos high',
    )
  })

  test('what the manifest says wins over what the scheduler takes by itself', () => {
    const job = jobOf({ scheduler: 'kubernetes', destination: { namespace: 'team-a' } })
    expect(describeDestination({ context: 'admin', namespace: 'default' }, [job])).toBe(
      'context admin, namespace team-a',
    )
  })

  test('names every place that several jobs go to, once', () => {
    const jobs = [onPartition('a100'), onPartition('t4'), onPartition('a100')]
    expect(describeDestination({}, jobs)).toBe('partition a100 and t4')
  })
})
