import type { Candidate, Placement } from '../src/candidates.ts'
import type { Fare } from '../src/fare.ts'
import type { Gpu } from '../src/gpu.ts'
import type { Job, Role } from '../src/job.ts'
import type { Machine } from '../src/machine.ts'
import type { Price, Tier } from '../src/prices/price-source.ts'
import type { PriceOf } from '../src/quote.ts'
import type { Runtime } from '../src/runtimes/runtime-model.ts'
import { sourced } from '../src/sourced.ts'

const said = { kind: 'manifest', place: { file: 'job.sbatch', line: 1 } } as const

/** A GPU of round figures, so that expectations can be worked out by hand. */
export function gpuOf(name: string, more: Partial<Gpu> = {}): Gpu {
  return {
    name,
    vendor: 'NVIDIA',
    architecture: 'Ampere',
    year: 2020,
    memoryBytes: 80 * 2 ** 30,
    bandwidthBytesPerSecond: 2e12,
    flopsPerSecond: { fp32: 20e12, fp16: 300e12, bf16: 300e12 },
    migProfiles: [],
    aliases: [],
    source: 'made up for a test',
    ...more,
  }
}

export function machineOf(gpu: Gpu, gpuCount: number, more: Partial<Machine> = {}): Machine {
  return { provider: 'cloud', name: `${gpuCount}x${gpu.name}`, gpu, gpuCount, ...more }
}

export function placementOf(machine: Machine, gpuCount: number, more: Partial<Placement> = {}): Placement {
  return {
    role: 'job',
    gpu: machine.gpu,
    gpuCount,
    machine,
    machineCount: Math.ceil(gpuCount / machine.gpuCount),
    wholeMachine: true,
    ...more,
  }
}

export function candidateOf(placement: Placement, more: Partial<Candidate> = {}): Candidate {
  return {
    asRequested: false,
    placements: [placement],
    fit: { verdict: 'unknown', haveBytes: 80 * 2 ** 30, items: [] },
    obstacles: [],
    remarks: [],
    ...more,
  }
}

export function roleOf(more: Partial<Role> = {}): Role {
  return {
    name: 'job',
    replicas: sourced(1, said),
    gpusPerReplica: sourced(8, said),
    gpuCount: sourced(8, said),
    gpuType: { names: [], basis: 'none' },
    exclusive: false,
    partitions: [],
    commandLines: [],
    tasks: 1,
    concurrentTasks: 1,
    ...more,
  }
}

export function jobOf(more: Partial<Job> = {}): Job {
  return {
    name: 'train',
    scheduler: 'slurm',
    kind: 'batch script',
    place: { file: 'job.sbatch', line: 1 },
    roles: [roleOf()],
    endless: false,
    destination: {},
    declarations: {},
    warnings: [],
    ...more,
  }
}

export function fareWith(quotes: Fare['quotes'], more: Partial<Fare> = {}): Fare {
  return { job: jobOf(), gpuNames: new Map(), workloads: [], quotes, warnings: [], ...more }
}

/** A runtime of whole hours. */
export function hours(p10: number, p50: number, p90: number): Runtime {
  return { basis: 'model', seconds: { p10: p10 * 3_600, p50: p50 * 3_600, p90: p90 * 3_600 }, working: [] }
}

export function limitOf(upperBoundHours: number): Runtime {
  return { basis: 'limit', upperBoundSeconds: upperBoundHours * 3_600, working: [] }
}

/** Prices by machine name, US dollars per machine-hour, for one tier. */
export function pricesOf(usdPerMachineHour: Readonly<Record<string, number>>, tier: Tier = 'on-demand'): PriceOf {
  return (machine, wanted): Price | undefined => {
    const usd = usdPerMachineHour[machine.name]
    if (usd === undefined || wanted !== tier) return undefined
    return {
      machine,
      region: 'here-1',
      tier,
      usdPerMachineHour: usd,
      asOf: '2026-11-01',
      source: 'made up for a test',
    }
  }
}
