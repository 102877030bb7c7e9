import { describe, expect, test } from 'vitest'
import { type Candidate, describeGpus, findCandidates } from '../src/candidates.ts'
import { findCommandLines } from '../src/command-lines.ts'
import { type Config, emptyConfig, type Pool } from '../src/config.ts'
import { openTable } from '../src/csv.ts'
import { tiersOf } from '../src/fare.ts'
import { preferencesOf, warnOfGpuTypes } from '../src/gpu-choices.ts'
import type { DeviceShare, GpuTypeBasis, Job, Pin, Role } from '../src/job.ts'
import { listPrices } from '../src/prices/index.ts'
import { readTables } from '../src/pricing-data.ts'
import { type Sourced, sourced } from '../src/sourced.ts'
import type { Parallelism, Precision, Workload } from '../src/workload.ts'

const { gpus } = readTables('pricing-data')

/** A small price table of its own, so that no update of the bundled one changes what is expected here. */
const prices =
  openTable(`provider,machine,region,gpu,gpu_count,cpu_count,memory_gib,on_demand_usd_h,spot_usd_h,reserved_1y_usd_h,reserved_3y_usd_h,as_of,source
aws,p4d.24xlarge,us-east-1,a100-40gb,8,,,21.96,,,,2026,list
aws,p4de.24xlarge,us-east-1,a100-80gb,8,,,27.45,,,,2026,list
aws,g4dn.xlarge,us-east-1,t4,1,4,16,0.526,,,,2026,list
aws,g4dn.2xlarge,us-east-1,t4,1,8,32,0.752,,,,2026,list
aws,g4dn.16xlarge,us-east-1,t4,1,64,256,4.352,,,,2026,list
aws,g4dn.12xlarge,us-east-1,t4,4,48,192,3.912,,,,2026,list
aws,g4dn.metal,us-east-1,t4,8,96,384,7.824,,,,2026,list
aws,p5.4xlarge,us-east-1,h100-80gb,1,,,6.88,,,,2026,list
aws,p5.48xlarge,us-east-1,h100-80gb,8,,,55.04,,,,2026,list
aws,g6e.12xlarge,us-east-1,l40s,4,,,10.5,,,,2026,list
aws,g6e.48xlarge,us-east-1,l40s,8,,,30.1,,,,2026,list
aws,p5en.48xlarge,us-east-1,h200,8,,,63.3,,,,2026,list
gcp,n1-t4,us-central1,t4,1,4,15,0.54,0.3,,,2026,list
gcp,n1-t4-large,us-central1,t4,1,8,30,0.73,0.2,,,2026,list
gcp,n1-t4,europe-west4,t4,1,4,15,0.6,,,,2026,list
oci,MI300X.8,all,mi300x,8,,,48,,,,2026,list
gcp,a2-highgpu-1g,us-central1,a100-40gb,1,,,3.67,,,,2026,list
gcp,a2-highgpu-2g,us-central1,a100-40gb,2,,,7.35,,,,2026,list
gcp,a2-highgpu-4g,us-central1,a100-40gb,4,,,14.69,,,,2026,list
`)
const networks =
  openTable(`provider,machine,gpu,gpu_count,network_gbit_s,network_kind,rdma,link_kind,link_gb_s,clusters,as_of,source
aws,p4d.24xlarge,a100-40gb,8,400,EFA,yes,NVSwitch,600,yes,2026,list
aws,p4de.24xlarge,a100-80gb,8,400,EFA,yes,NVSwitch,600,yes,2026,list
aws,g4dn.xlarge,t4,1,5,ENA,no,none,,no,2026,list
aws,g4dn.2xlarge,t4,1,10,ENA,no,none,,no,2026,list
aws,g4dn.16xlarge,t4,1,50,ENA,no,none,,no,2026,list
aws,g4dn.12xlarge,t4,4,50,EFA,part,PCIe,32,no,2026,list
aws,g4dn.metal,t4,8,100,EFA,part,PCIe,32,no,2026,list
aws,p5.4xlarge,h100-80gb,1,100,EFA,yes,none,,yes,2026,list
aws,p5.48xlarge,h100-80gb,8,3200,EFA,yes,NVSwitch,900,yes,2026,list
`)

const place = { file: 'train.sbatch', line: 3 }
const written = <T>(value: T): Sourced<T> => sourced(value, { kind: 'manifest', place })

interface Wish {
  readonly name?: string
  readonly gpus?: readonly string[]
  readonly basis?: GpuTypeBasis
  readonly replicas?: number
  readonly perReplica?: number
  readonly partition?: string
  readonly exclusive?: boolean
  readonly deviceShare?: DeviceShare
  readonly cpus?: number
  readonly memoryGib?: number
  readonly vendor?: Role['gpuVendor']
  readonly bounds?: NonNullable<Role['gpuBounds']>
  readonly pin?: Pin
  /** The command that starts the work. */
  readonly starts?: string
}

function roleOf(wish: Wish): Role {
  const { name = 'main', gpus: names = [], replicas = 1, perReplica = 8, exclusive = false } = wish
  return {
    name,
    replicas: written(replicas),
    gpusPerReplica: written(perReplica),
    gpuCount: written(replicas * perReplica),
    gpuType: { names: names.map(written), basis: wish.basis ?? (names.length > 0 ? 'directive' : 'none') },
    ...(wish.deviceShare && { deviceShare: wish.deviceShare }),
    exclusive,
    partitions: wish.partition === undefined ? [] : [written(wish.partition)],
    ...(wish.vendor && { gpuVendor: wish.vendor }),
    ...(wish.bounds && { gpuBounds: wish.bounds }),
    ...(wish.pin && { pin: wish.pin }),
    ...(wish.cpus !== undefined && { cpusPerReplica: written(wish.cpus) }),
    ...(wish.memoryGib !== undefined && { memoryBytesPerReplica: written(wish.memoryGib * 2 ** 30) }),
    commandLines: wish.starts === undefined ? [] : commandLinesOf(wish.starts, replicas),
    tasks: 1,
    concurrentTasks: 1,
  }
}

function commandLinesOf(command: string, nodes: number): Role['commandLines'] {
  const variables = { SLURM_NNODES: String(nodes) }
  return findCommandLines(command, { file: 'train.sbatch', firstLine: 3, variables, arguments: [] }).commandLines
}

function jobOf(wishes: readonly Wish[], more: Partial<Job> = {}): Job {
  return {
    name: 'train',
    scheduler: 'slurm',
    kind: 'batch script',
    place: { file: 'train.sbatch' },
    roles: wishes.map(roleOf),
    endless: false,
    destination: {},
    declarations: {},
    warnings: [],
    ...more,
  }
}

/** A command that starts a process for each of eight GPUs on whichever nodes it gets. */
const spanning = 'srun -n 8 python train.py'

interface Setting {
  readonly config?: Partial<Config>
  readonly workloads?: readonly Workload[]
  readonly wanted?: readonly string[]
}

function candidatesOf(job: Job, { config = {}, workloads = [], wanted = [] }: Setting = {}): readonly Candidate[] {
  const whole = { ...emptyConfig, ...config }
  const list = listPrices({ gpus, prices, networks }, preferencesOf(job, whole))
  return findCandidates(job, workloads, { gpus, prices: list, config: whole, wanted })
}

/** `8x t4 on 1x aws g4dn.metal`, with a star before what was requested. */
function inWords({ asRequested, placements }: Candidate): string {
  const parts = placements.map(
    ({ gpu, gpuCount, machine, machineCount }) =>
      `${gpuCount}x ${gpu.name} on ${machineCount}x ${machine.provider} ${machine.name}`,
  )
  return (asRequested ? '* ' : '') + parts.join(' + ')
}

const requestedOf = (job: Job, setting?: Setting) => candidatesOf(job, setting).filter(each => each.asRequested)
const wordsOf = (job: Job, setting?: Setting) => candidatesOf(job, setting).map(inWords)

function poolOf(pool: Partial<Pool>): Pool {
  return { name: 'gpu', gpu: 'a100-40gb', gpusPerNode: 8, spot: false, resourceName: 'gpu', ...pool }
}

function clusterWith(pools: readonly Pool[], scheduler: 'slurm' | 'kubernetes' = 'slurm'): Partial<Config> {
  return { clusters: [{ name: 'ada', scheduler, pools }] }
}

function workloadOf(more: { precision?: Precision; parallelism?: Partial<Parallelism>; role?: string }): Workload {
  const parallelism: Parallelism = {
    tensor: 1,
    pipeline: 1,
    interleave: 1,
    context: 1,
    expert: 1,
    sharding: 'none',
    ...more.parallelism,
  }
  return {
    purpose: 'train',
    place,
    role: more.role ?? 'main',
    ...(more.precision && { precision: written(more.precision) }),
    parallelism: written(parallelism),
    repetitions: 1,
    conditional: false,
  }
}

describe('the GPUs asked for', () => {
  test('come first, on the machine that has them: eight A100 of 40 GB are a p4d', () => {
    expect(wordsOf(jobOf([{ gpus: ['A100-SXM4-40GB'] }]))[0]).toBe('* 8x a100-40gb on 1x aws p4d.24xlarge')
  })

  test('have a row for each type that an ambiguous name may mean', () => {
    const requested = requestedOf(jobOf([{ gpus: ['a100'] }]))
    expect(requested.map(inWords)).toEqual([
      '* 8x a100-40gb on 1x aws p4d.24xlarge',
      '* 8x a100-80gb on 1x aws p4de.24xlarge',
    ])
    expect(requested[0]?.remarks).toContain('one of several types that the job may get')
  })

  test('have a row for each of the types that will do', () => {
    const words = requestedOf(jobOf([{ gpus: ['h200', 'h100'], basis: 'constraint' }])).map(inWords)
    expect(words).toEqual(['* 8x h200 on 1x aws p5en.48xlarge', '* 8x h100-80gb on 1x aws p5.48xlarge'])
  })

  test('are paid in eights where they are sold in eights, and the row says so', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['h200'], perReplica: 4 }]))
    expect(requested?.placements[0]).toMatchObject({ gpuCount: 4, machineCount: 1, wholeMachine: true })
    expect(requested?.placements[0]?.machine.gpuCount).toBe(8)
    expect(requested?.remarks).toEqual(['sold 8 at a time: 4 of 8 GPUs stand idle and are paid'])
  })

  test('are rented where none stands idle, if the first cloud sells them only in eights', () => {
    expect(wordsOf(jobOf([{ gpus: ['a100-40gb'], perReplica: 4 }]))[0]).toBe('* 4x a100-40gb on 1x gcp a2-highgpu-4g')
  })

  test('of one node stay in one machine', () => {
    expect(wordsOf(jobOf([{ gpus: ['h100'], perReplica: 4 }]))[0]).toBe('* 4x h100-80gb on 1x aws p5.48xlarge')
  })

  test('of several nodes fill as many machines as they need', () => {
    const job = jobOf([{ gpus: ['a100-40gb'], replicas: 4, perReplica: 8 }])
    expect(wordsOf(job)[0]).toBe('* 32x a100-40gb on 4x aws p4d.24xlarge')
  })

  test('named by an instance type are on that machine', () => {
    const job = jobOf([{ gpus: ['p4de.24xlarge'], basis: 'instance', replicas: 2, perReplica: 8 }])
    expect(requestedOf(job).map(inWords)).toEqual(['* 16x a100-80gb on 2x aws p4de.24xlarge'])
  })

  test('of an unknown type are shown by number and name, and taken for no other', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['NVIDIA-H1000-160GB'], basis: 'label', perReplica: 2 }]))
    expect(requested?.placements[0]).toMatchObject({
      gpu: { name: 'NVIDIA-H1000-160GB', vendor: 'unknown' },
      gpuCount: 2,
    })
    expect(requested?.fit).toEqual({ verdict: 'unknown', items: [] })
    expect(requested?.obstacles).toEqual([])
  })

  test('of no type are shown by number, and what stands beside them is assumed', () => {
    const [requested, ...others] = candidatesOf(jobOf([{ perReplica: 8 }]))
    expect(requested?.placements[0]).toMatchObject({ gpu: { name: '', vendor: 'unknown' }, gpuCount: 8 })
    expect(others.length).toBeGreaterThan(3)
    for (const other of others) expect(other.remarks).toContain('assumed: the job names no GPU type')
  })

  test('guessed from the name of a partition give way to what the configuration says of it', () => {
    const job = jobOf([{ gpus: ['h100'], basis: 'partition-hint', partition: 'h100' }])
    const config = clusterWith([poolOf({ name: 'h100', gpu: 'a100-80gb' }), poolOf({ name: 't4', gpu: 't4' })])
    const [requested] = requestedOf(job, { config })
    expect(requested?.placements[0]?.gpu.name).toBe('a100-80gb')
    expect(requested?.obstacles).toEqual([])
  })

  test('guessed from the name of a partition say so', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['h100'], basis: 'partition-hint' }]))
    expect(requested?.remarks).toContain("the type is guessed from a partition's name")
  })

  test('are not looked for in a constraint that is about something else', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['a100-40gb', 'nvlink'], basis: 'constraint' }]))
    expect(requested?.placements[0]?.gpu.name).toBe('a100-40gb')
  })

  test('that are MIG slices have the memory of a slice and are paid by their part', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['a100_3g.20gb'], perReplica: 1 }]))
    const [placement] = requested?.placements ?? []
    expect(placement?.machine.name).toBe('p4d.24xlarge')
    expect(placement?.gpu).toMatchObject({ name: 'a100-40gb 3g.20gb', memoryBytes: 20 * 2 ** 30 })
    expect(placement?.share).toBeCloseTo(3 / 7)
    expect(placement?.wholeMachine).toBe(false)
    expect(requested?.remarks).toEqual(['each is priced as 43 % of a GPU'])
  })

  test('that are MIG slices of no named GPU may be of any that has the profile', () => {
    const deviceShare = { kind: 'mig', profile: '3g.40gb' } as const
    const words = requestedOf(jobOf([{ deviceShare, perReplica: 1 }])).map(inWords)
    expect(words).toEqual([
      '* 1x a100-80gb 3g.40gb on 1x aws p4de.24xlarge',
      '* 1x h100-80gb 3g.40gb on 1x aws p5.4xlarge',
    ])
  })

  test('of roles of different types each have their machines', () => {
    const job = jobOf([
      { name: 'actor', gpus: ['h100'], perReplica: 8 },
      { name: 'judge', gpus: ['t4'], perReplica: 8 },
    ])
    expect(wordsOf(job)[0]).toBe('* 8x h100-80gb on 1x aws p5.48xlarge + 8x t4 on 1x aws g4dn.metal')
  })

  test('of pods fill a machine together where none is sold of their size', () => {
    const wishes = [
      { name: 'master', gpus: ['a100-80gb'], perReplica: 1 },
      { name: 'worker', gpus: ['a100-80gb'], replicas: 7, perReplica: 1 },
    ]
    const job = jobOf(wishes, { scheduler: 'kubernetes', kind: 'PyTorchJob' })
    const [requested] = requestedOf(job)
    expect(requested?.placements.map(each => [each.gpuCount, each.wholeMachine])).toEqual([
      [1, false],
      [7, false],
    ])
    expect(requested?.remarks).toEqual([])
  })

  test('are in a machine for each node, however few machines could hold them', () => {
    const words = requestedOf(jobOf([{ gpus: ['a100-40gb'], replicas: 3, perReplica: 2 }])).map(inWords)
    expect(words).toEqual(['* 6x a100-40gb on 3x gcp a2-highgpu-2g'])
  })

  test.each([1, 3, 4, 9])('are in the cheapest machine of that size, of %i nodes as of one', replicas => {
    const words = requestedOf(jobOf([{ gpus: ['t4'], replicas, perReplica: 1 }])).map(inWords)
    expect(words).toEqual([`* ${replicas}x t4 on ${replicas}x aws g4dn.xlarge`])
  })

  test('are in a machine for each pod, and pods that fill a larger one together are another candidate', () => {
    const pods = jobOf([{ gpus: ['t4'], replicas: 4, perReplica: 1 }], { scheduler: 'kubernetes', kind: 'Job' })
    const words = wordsOf(pods).filter(each => each.includes('x t4'))
    expect(words).toEqual(['* 4x t4 on 4x aws g4dn.xlarge', '4x t4 on 1x aws g4dn.12xlarge'])
  })

  test('are in a machine with the processors and the memory that a node asks for', () => {
    const machineFor = (wish: Wish) => requestedOf(jobOf([{ gpus: ['t4'], perReplica: 1, ...wish }])).map(inWords)
    expect(machineFor({ cpus: 4, memoryGib: 16 })).toEqual(['* 1x t4 on 1x aws g4dn.xlarge'])
    expect(machineFor({ cpus: 6 })).toEqual(['* 1x t4 on 1x aws g4dn.2xlarge'])
    expect(machineFor({ memoryGib: 100 })).toEqual(['* 1x t4 on 1x aws g4dn.16xlarge'])
    // Only the machine of eight has so much, and 7 of its GPUs stand idle.
    expect(machineFor({ memoryGib: 300 })).toEqual(['* 1x t4 on 1x aws g4dn.metal'])
  })

  test('say what a machine lacks where none has the processors or the memory', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['t4'], perReplica: 8, cpus: 128, memoryGib: 512 }]))
    expect(requested && inWords(requested)).toBe('* 8x t4 on 1x aws g4dn.metal')
    expect(requested?.remarks).toEqual([
      'asks for 128 CPUs a node, g4dn.metal has 96',
      'asks for 512 GiB a node, g4dn.metal has 384 GiB',
    ])
  })

  test('of more than any machine has in one pod fit nowhere, and the largest machine is named', () => {
    const job = jobOf([{ gpus: ['h100'], perReplica: 2000 }], { scheduler: 'kubernetes', kind: 'Job' })
    const [requested, ...others] = candidatesOf(job)
    expect(requested?.placements[0]).toMatchObject({ gpuCount: 2000, machine: { provider: 'kubernetes' } })
    expect(requested?.obstacles).toEqual([
      'needs 2,000 GPUs in one pod, the largest machine known with h100-80gb has 8 (aws p5.48xlarge)',
    ])
    expect(others.filter(each => each.obstacles.length === 0)).toEqual([])
  })

  test('of more than the instance type named has do not fit it', () => {
    const job = jobOf([{ gpus: ['p4d.24xlarge'], basis: 'instance', perReplica: 16 }], { scheduler: 'kubernetes' })
    expect(requestedOf(job).map(each => each.obstacles)).toEqual([['needs 16 GPUs in one pod, p4d.24xlarge has 8']])
  })

  test('are none for a job without GPUs', () => {
    expect(candidatesOf(jobOf([{ perReplica: 0 }]))).toEqual([])
  })
})

describe('the other candidates', () => {
  test('of eight A100 are the neighbours that somebody rents, among them eight T4 in one machine and in eight', () => {
    expect(wordsOf(jobOf([{ gpus: ['a100-40gb'], starts: spanning }]))).toEqual([
      '* 8x a100-40gb on 1x aws p4d.24xlarge',
      '8x t4 on 1x aws g4dn.metal',
      '8x t4 on 8x aws g4dn.xlarge',
      '8x a100-80gb on 1x aws p4de.24xlarge',
      '8x l40s on 1x aws g6e.48xlarge',
      '8x h100-80gb on 1x aws p5.48xlarge',
      '8x h200 on 1x aws p5en.48xlarge',
    ])
  })

  test('in several small machines say that the network decides', () => {
    const candidates = candidatesOf(jobOf([{ gpus: ['t4'], starts: spanning }]))
    const small = candidates.find(each => inWords(each) === '8x t4 on 8x aws g4dn.xlarge')
    expect(small?.remarks).toEqual(['8 machines, the network between them decides: 5 Gbit/s'])
  })

  test('of roles that work on the same run count all machines', () => {
    const roles = [
      { gpus: ['t4'], perReplica: 8 },
      { gpus: ['t4'], perReplica: 8, replicas: 3 },
    ]
    const candidates = candidatesOf(jobOf(roles, { scheduler: 'kubernetes', kind: 'PyTorchJob' }))
    const others = candidates.filter(({ asRequested, obstacles }) => !asRequested && obstacles.length === 0)
    const told = others.flatMap(({ remarks }) => remarks.filter(remark => remark.includes('network')))
    expect(told.length).toBeGreaterThan(0)
    expect(told.filter(remark => !remark.startsWith('4 machines'))).toEqual([])
  })

  test('in several small machines have their part of the processors that the node asks for', () => {
    const words = wordsOf(jobOf([{ gpus: ['t4'], cpus: 64, starts: spanning }]))
    expect(words).toContain('8x t4 on 8x aws g4dn.2xlarge')
  })

  test.each([
    ['a launcher of one node', 'torchrun --standalone --nproc_per_node=8 train.py'],
    ['a launcher that nothing starts on the other nodes', 'torchrun --nnodes=1 --nproc_per_node=8 train.py'],
    [
      'processes that meet on this very machine',
      'srun torchrun --nproc_per_node=8 --rdzv_endpoint=localhost:0 train.py',
    ],
    ['one process for all GPUs', 'srun -n 1 python train.py'],
    ['a launcher that is not known', 'python train.py'],
    ['nodes that are written down', 'srun -N 1 -n 8 python train.py'],
  ])('stay on their node with %s', (_, starts) => {
    const words = wordsOf(jobOf([{ gpus: ['t4'], starts }])).filter(each => each.includes('x t4'))
    expect(words).toEqual(['* 8x t4 on 1x aws g4dn.metal'])
  })

  test.each([
    'srun -n 8 python train.py',
    'mpirun -np 8 python train.py',
    'srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=8 --rdzv_endpoint=$HEAD:29500 train.py',
    'deepspeed --hostfile hosts train.py',
  ])('may be on more nodes with %s', starts => {
    expect(wordsOf(jobOf([{ gpus: ['t4'], starts }]))).toContain('8x t4 on 8x aws g4dn.xlarge')
  })

  test('may be on fewer nodes where the launcher takes the nodes it gets', () => {
    const fewer = (starts: string) => wordsOf(jobOf([{ gpus: ['t4'], replicas: 4, perReplica: 1, starts }]))
    expect(fewer('srun -n 4 python train.py')).toContain('4x t4 on 1x aws g4dn.12xlarge')
    expect(fewer('./train')).not.toContain('4x t4 on 1x aws g4dn.12xlarge')
  })

  test('of a node larger than any machine are on several, where the launcher can do it', () => {
    const [requested, ...others] = candidatesOf(
      jobOf([{ gpus: ['h100'], perReplica: 16, starts: 'srun -n 16 ./train' }]),
    )
    expect(requested?.obstacles).toHaveLength(1)
    const able = others.filter(each => each.obstacles.length === 0).map(inWords)
    expect(able).toContain('16x h100-80gb on 2x aws p5.48xlarge')
  })

  test('of a pod are in one machine, never in several', () => {
    const job = jobOf([{ gpus: ['t4'], perReplica: 4, starts: 'torchrun --nproc_per_node=4 train.py' }], {
      scheduler: 'kubernetes',
      kind: 'Job',
    })
    const counts = candidatesOf(job).flatMap(each => each.placements.map(({ machineCount }) => machineCount))
    expect(new Set(counts)).toEqual(new Set([1]))
  })

  test('of a service say nothing of a network, since its pods work each on their own', () => {
    const service = { scheduler: 'kubernetes', kind: 'Deployment', endless: true } as const
    expect(requestedOf(jobOf([{ gpus: ['t4'], replicas: 3, perReplica: 1 }], service))[0]?.remarks).toEqual([])
  })

  test('are not split over small machines whose network is not known', () => {
    expect(wordsOf(jobOf([{ gpus: ['l40s'] }])).filter(words => words.includes('g6e.12xlarge'))).toEqual([])
  })

  test('are not split over machines that are smaller than a layer is', () => {
    const workloads = [workloadOf({ parallelism: { tensor: 8 } })]
    const words = wordsOf(jobOf([{ gpus: ['t4'] }]), { workloads })
    expect(words.filter(each => each.includes('x t4'))).toEqual(['* 8x t4 on 1x aws g4dn.metal'])
  })

  test('are those that the manifest names', () => {
    const job = jobOf([{ gpus: ['a100-40gb'], starts: spanning }], {
      declarations: { gpus: written(['16xt4', 'l40s']) },
    })
    expect(wordsOf(job, { config: { candidates: [written('h100')] } })).toEqual([
      '* 8x a100-40gb on 1x aws p4d.24xlarge',
      '16x t4 on 2x aws g4dn.metal',
      '16x t4 on 16x aws g4dn.xlarge',
      '8x l40s on 1x aws g6e.48xlarge',
    ])
  })

  test('are those that the configuration names, where the manifest names none', () => {
    const config = { candidates: [written('h100')] }
    expect(wordsOf(jobOf([{ gpus: ['a100-40gb'] }]), { config })).toEqual([
      '* 8x a100-40gb on 1x aws p4d.24xlarge',
      '8x h100-80gb on 1x aws p5.48xlarge',
    ])
  })

  test('that are asked for when quoting win over both', () => {
    const job = jobOf([{ gpus: ['a100-40gb'] }], { declarations: { gpus: written(['l40s']) } })
    expect(wordsOf(job, { wanted: ['h200'] })).toHaveLength(2)
  })
})

describe('in a cluster of the configuration', () => {
  const pools = [
    poolOf({ name: 'a100', gpu: 'a100-80gb', gpusPerNode: 4, nodes: 2 }),
    poolOf({ name: 't4', gpu: 't4', gpusPerNode: 8, nodes: 10 }),
  ]

  test('the GPUs asked for stand in the partition asked for, and the others in theirs', () => {
    const job = jobOf([{ gpus: ['a100'], partition: 'a100', replicas: 2, perReplica: 4 }])
    expect(wordsOf(job, { config: clusterWith(pools) })).toEqual([
      '* 8x a100-80gb on 2x ada a100',
      '8x t4 on 2x ada t4',
    ])
  })

  test('a job goes on other nodes than it asks for only where its launcher takes what it gets', () => {
    const wish = { gpus: ['t4'], partition: 't4', perReplica: 8 }
    const elsewhere = (starts: string) => candidatesOf(jobOf([{ ...wish, starts }]), { config: clusterWith(pools) })[1]
    const spread = elsewhere('srun -n 8 python train.py')
    expect(spread && inWords(spread)).toBe('8x a100-80gb on 2x ada a100')
    expect(spread?.obstacles).toEqual([])
    expect(elsewhere('torchrun --standalone --nproc_per_node=8 train.py')?.obstacles).toEqual([
      'needs 8 GPUs in one node, a node of a100 has 4',
    ])
  })

  test('a job that names no type gets that of its partition', () => {
    const job = jobOf([{ partition: 't4', perReplica: 2 }])
    expect(wordsOf(job, { config: clusterWith(pools) })[0]).toBe('* 2x t4 on 1x ada t4')
  })

  test('each role stands in its own partition', () => {
    const job = jobOf([
      { name: 'actor', gpus: ['a100'], partition: 'a100', perReplica: 4 },
      { name: 'judge', partition: 't4', perReplica: 2 },
    ])
    const [requested] = requestedOf(job, { config: clusterWith(pools) })
    expect(requested && inWords(requested)).toBe('* 4x a100-80gb on 1x ada a100 + 2x t4 on 1x ada t4')
    expect(requested?.obstacles).toEqual([])
  })

  test('a shared node is paid by the GPU, an exclusive one whole', () => {
    const wholeness = [false, true].map(exclusive => {
      const job = jobOf([{ partition: 't4', perReplica: 2, exclusive }])
      return requestedOf(job, { config: clusterWith(pools) })[0]?.placements[0]?.wholeMachine
    })
    expect(wholeness).toEqual([false, true])
  })

  test('Slurm gives as many nodes as were asked for, though fewer would hold the GPUs', () => {
    const job = jobOf([{ partition: 't4', replicas: 4, perReplica: 2, exclusive: true }])
    expect(wordsOf(job, { config: clusterWith(pools) })[0]).toBe('* 8x t4 on 4x ada t4')
  })

  test('a pool with too few nodes, or too small ones, says need and have', () => {
    const job = jobOf([{ gpus: ['a100-80gb'], replicas: 3, perReplica: 8 }])
    expect(requestedOf(job, { config: clusterWith(pools) })[0]?.obstacles).toEqual([
      'needs 6 nodes, a100 has 2',
      'needs 8 GPUs in one node, a node of a100 has 4',
    ])
  })

  test('a pod is not cut in two to fit smaller nodes', () => {
    const job = jobOf([{ gpus: ['t4'], perReplica: 8 }], { scheduler: 'kubernetes', kind: 'Job' })
    const other = candidatesOf(job, { config: clusterWith(pools, 'kubernetes') })[1]
    expect(other && inWords(other)).toBe('8x a100-80gb on 2x ada a100')
    expect(other?.obstacles).toEqual(['needs 8 GPUs in one pod, a node of a100 has 4'])
  })

  test('a type that it does not have is an obstacle, and its list price is shown all the same', () => {
    const job = jobOf([{ gpus: ['h100'] }])
    const [requested] = requestedOf(job, { config: clusterWith(pools) })
    expect(requested && inWords(requested)).toBe('* 8x h100-80gb on 1x aws p5.48xlarge')
    expect(requested?.obstacles).toEqual(['no pool of ada in gpufare.yaml has it'])
  })

  test('a name of the site for its GPUs means the pool that it gives this name', () => {
    const config = clusterWith([poolOf({ name: 'big', gpu: 'h100', gresType: 'zx9000' })])
    expect(wordsOf(jobOf([{ gpus: ['zx9000'] }]), { config })[0]).toBe('* 8x h100-80gb on 1x ada big')
  })

  test('a type that only its configuration knows is found by its name', () => {
    const config = clusterWith([poolOf({ name: 'odd', gpu: 'zx9000', gpusPerNode: 4 })])
    const [requested] = requestedOf(jobOf([{ gpus: ['zx9000'], perReplica: 4 }]), { config })
    expect(requested && inWords(requested)).toBe('* 4x zx9000 on 1x ada odd')
    expect(requested?.obstacles).toEqual([])
  })
})

describe('a job that its node labels pin', () => {
  const kubernetes = { scheduler: 'kubernetes', kind: 'Job' } as const
  const onGke = { provider: written('gcp') }

  test('to a cloud is quoted there and nowhere else', () => {
    const words = wordsOf(jobOf([{ gpus: ['t4'], perReplica: 1, pin: onGke }], kubernetes))
    expect(words).toEqual(['* 1x t4 on 1x gcp n1-t4', '1x a100-40gb on 1x gcp a2-highgpu-1g'])
  })

  test('to a cloud that the configuration does not name is quoted there, whatever its regions', () => {
    const config = { providers: ['aws'], regions: ['us-east-1'] }
    const job = jobOf([{ gpus: ['t4'], perReplica: 1, pin: onGke }], kubernetes)
    expect(requestedOf(job, { config }).map(inWords)).toEqual(['* 1x t4 on 1x gcp n1-t4'])
  })

  test('to a region has the prices of that region', () => {
    const pin = { ...onGke, regions: [written('europe-west4')] }
    const job = jobOf([{ gpus: ['t4'], perReplica: 1, pin }], kubernetes)
    const list = listPrices({ gpus, prices, networks }, preferencesOf(job, emptyConfig))
    const [machine] = list.machinesNamed('n1-t4')
    expect(machine && list.priceOf(machine, 'on-demand')).toMatchObject({
      region: 'europe-west4',
      usdPerMachineHour: 0.6,
    })
    // Nobody has an A100 there.
    expect(wordsOf(job)).toEqual(['* 1x t4 on 1x gcp n1-t4'])
  })

  test('to spot machines is on the one whose spot price is lowest, and all its candidates are spot', () => {
    const pin = { ...onGke, spot: written(true) }
    const candidates = candidatesOf(jobOf([{ gpus: ['t4'], perReplica: 1, pin }], kubernetes))
    expect(candidates[0] && inWords(candidates[0])).toBe('* 1x t4 on 1x gcp n1-t4-large')
    expect(candidates.map(candidate => tiersOf(candidate))).toEqual([['spot'], ['spot']])
  })

  test('to nothing may be on demand or spot as written', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['t4'], perReplica: 1 }], kubernetes))
    expect(requested && tiersOf(requested)).toEqual(['on-demand', 'spot'])
  })

  test('to spot machines takes the pool of such machines in its cluster', () => {
    const pools = [poolOf({ name: 'firm', gpu: 't4' }), poolOf({ name: 'loose', gpu: 't4', spot: true })]
    const placeWith = (spot: boolean) => {
      const job = jobOf([{ gpus: ['t4'], perReplica: 1, pin: { spot: written(spot) } }], kubernetes)
      return requestedOf(job, { config: clusterWith(pools, 'kubernetes') }).map(inWords)
    }
    expect(placeWith(true)).toEqual(['* 1x t4 on 1x ada loose'])
    expect(placeWith(false)).toEqual(['* 1x t4 on 1x ada firm'])
  })
})

describe('the maker that a resource name says', () => {
  const kubernetes = { scheduler: 'kubernetes', kind: 'Job' } as const

  test('is that of every candidate, and of the GPUs asked for where no type is named', () => {
    const candidates = candidatesOf(jobOf([{ vendor: 'AMD', perReplica: 8 }], kubernetes))
    expect(candidates.map(inWords)).toEqual(['* 8x  on 1x kubernetes node', '8x mi300x on 1x oci MI300X.8'])
    expect(candidates[0] && describeGpus(candidates[0])).toBe('8 AMD GPUs of any type')
  })

  test('leaves no candidate where nobody rents GPUs of it', () => {
    expect(wordsOf(jobOf([{ vendor: 'Intel', perReplica: 1 }], kubernetes))).toHaveLength(1)
  })

  test('keeps GPUs of other makers out, in the cluster too', () => {
    const pools = [poolOf({ name: 'red', gpu: 'mi300x' }), poolOf({ name: 'green', gpu: 't4' })]
    const places = (vendor: Role['gpuVendor']) =>
      wordsOf(jobOf([{ vendor, perReplica: 1 }], kubernetes), { config: clusterWith(pools, 'kubernetes') })
    expect(places('NVIDIA').filter(words => words.includes('red'))).toEqual([])
    expect(places('AMD').filter(words => words.includes('green'))).toEqual([])
  })

  test('is an obstacle for a GPU of another one that is wished for', () => {
    const job = jobOf([{ gpus: ['t4'], vendor: 'NVIDIA', perReplica: 8 }], kubernetes)
    const wished = candidatesOf(job, { wanted: ['mi300x'] }).filter(each => !each.asRequested)
    expect(wished.map(each => each.obstacles)).toEqual([['asks for GPUs of NVIDIA, this one is of AMD']])
  })
})

describe('bounds of node labels', () => {
  const bounded = (bounds: Role['gpuBounds']) =>
    jobOf([{ vendor: 'NVIDIA', perReplica: 8, ...(bounds && { bounds }) }], { scheduler: 'kubernetes', kind: 'Job' })
  const typesFor = (bounds: Role['gpuBounds']) =>
    candidatesOf(bounded(bounds)).flatMap(({ placements }) => placements.map(({ gpu }) => gpu.name))

  test('keep out types that are ruled out, and those with less memory', () => {
    expect(typesFor(undefined)).toEqual(expect.arrayContaining(['t4', 'a100-80gb']))
    const excluded = [written('Tesla-T4')]
    expect(typesFor({ excluded })).not.toContain('t4')
    const large = typesFor({ excluded: [], leastMemoryBytes: written(60 * 2 ** 30) })
    expect(large).toContain('a100-80gb')
    expect(large).not.toContain('a100-40gb')
  })

  test('are an obstacle for a type that is wished for', () => {
    const job = bounded({ excluded: [], leastMemoryBytes: written(40 * 2 ** 30) })
    const wished = candidatesOf(job, { wanted: ['t4'] }).filter(each => !each.asRequested)
    expect(wished.map(each => each.obstacles)).toEqual([['asks for GPUs of 40 GiB, this one has 16 GiB']])
  })
})

describe('a partition that the configured cluster does not have', () => {
  const config = clusterWith([poolOf({ name: 'a100', gpu: 'a100-80gb' })])

  test('is not silently taken as another that has the GPUs', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['a100'], partition: 'elsewhere', perReplica: 8 }]), { config })
    expect(requested && inWords(requested)).toBe('* 8x a100-80gb on 1x ada a100')
    expect(requested?.remarks).toEqual(['elsewhere is not in ada of gpufare.yaml: taken as a100, which has these GPUs'])
  })

  test('gives no GPU type, though the cluster has only one pool', () => {
    const [requested] = requestedOf(jobOf([{ partition: 'elsewhere', perReplica: 8 }]), { config })
    expect(requested?.placements[0]?.gpu.name).toBe('')
    expect(requested?.remarks).toEqual(['elsewhere is not in ada of gpufare.yaml'])
  })

  test('is found by a label that selects the nodes of a pool', () => {
    const labelled = clusterWith([poolOf({ name: 'big', nodeSelector: { pool: 'gpu-large' } })], 'kubernetes')
    const job = jobOf([{ partition: 'gpu-large', perReplica: 8 }], { scheduler: 'kubernetes', kind: 'Job' })
    expect(requestedOf(job, { config: labelled }).map(each => [inWords(each), each.remarks])).toEqual([
      ['* 8x a100-40gb on 1x ada big', []],
    ])
  })
})

describe('what cannot run', () => {
  test('is a BF16 job on a GPU without BF16', () => {
    const candidates = candidatesOf(jobOf([{ gpus: ['a100-40gb'] }]), {
      workloads: [workloadOf({ precision: 'bf16' })],
    })
    const obstacles = candidates.map(each => [each.placements[0]?.gpu.name, each.obstacles.join()])
    expect(obstacles).toContainEqual(['t4', 'needs BF16, t4 has none'])
    expect(obstacles).toContainEqual(['l40s', ''])
  })

  test('is not an FP16 job on a T4', () => {
    const [requested] = requestedOf(jobOf([{ gpus: ['t4'] }]), { workloads: [workloadOf({ precision: 'fp16' })] })
    expect(requested?.obstacles).toEqual([])
  })

  test('is a model that the memory cannot hold, with need and have', () => {
    const model = {
      name: 'seventy',
      kind: 'decoder' as const,
      parameterCount: 70e9,
      activeParameterCount: 70e9,
      shape: {
        layers: 80,
        hidden: 8192,
        heads: 64,
        keyValueHeads: 8,
        headSize: 128,
        feedForward: 28672,
        gatedFeedForward: true,
        vocabulary: 32000,
        contextLength: 4096,
        tiedEmbeddings: false,
      },
    }
    const workload = { ...workloadOf({ precision: 'fp16' }), model: written(model), sequenceLength: written(4096) }
    const [requested] = requestedOf(jobOf([{ gpus: ['t4'] }]), { workloads: [workload] })
    expect(requested?.fit.verdict).toBe('does not fit')
    expect(requested?.obstacles.join()).toMatch(/^needs [\d,]+ GiB per GPU, has 1[56] GiB$/)
  })
})

describe('warnings about GPU types', () => {
  const warningsOf = (job: Job, more: Partial<Config> = {}) => {
    const config = { ...emptyConfig, ...more }
    const list = listPrices({ gpus, prices, networks }, config)
    const requested = findCandidates(job, [], { gpus, prices: list, config }).filter(each => each.asRequested)
    const possible = new Set(requested.flatMap(({ placements }) => placements.map(({ gpu }) => gpu.name)))
    return warnOfGpuTypes(job, gpus, list, config, possible).map(({ code, text }) => [code, text])
  }

  test('name the unknown type, the known ones most like it, and how to give it a price', () => {
    const [[code, text] = []] = warningsOf(jobOf([{ gpus: ['zx9000'] }]))
    expect(code).toBe('gpu-type-unknown')
    expect(text).toMatch(/^zx9000 is no GPU type gpufare knows, and it is taken for none of them \(most alike: .+\)/)
    expect(text).toContain('gres: zx9000, and gpu) or what it costs (gpu: zx9000, rate: 1.20)')
  })

  test('name the types of an ambiguous name', () => {
    expect(warningsOf(jobOf([{ gpus: ['v100'] }]))).toEqual([
      ['gpu-variant-open', 'v100 may be v100-16gb or v100-32gb: each has a row of its own'],
    ])
  })

  test('are none where the cluster has only one of the types', () => {
    const config = clusterWith([poolOf({ gpu: 'v100-32gb', gresType: 'v100' })])
    expect(warningsOf(jobOf([{ gpus: ['v100'] }]), config)).toEqual([])
  })

  test('are none where the type is clear, or an instance type says it', () => {
    expect(warningsOf(jobOf([{ gpus: ['h100'] }]))).toEqual([])
    expect(warningsOf(jobOf([{ gpus: ['p4d.24xlarge'], basis: 'instance' }]))).toEqual([])
    const config = clusterWith([poolOf({ gpu: 'h100', gresType: 'zx9000' })])
    expect(warningsOf(jobOf([{ gpus: ['zx9000'] }]), config)).toEqual([])
  })
})
