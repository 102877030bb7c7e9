import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { InputError } from '../../src/errors.ts'
import { findGpus } from '../../src/gpu.ts'
import type { Job, Role } from '../../src/job.ts'
import { slurm } from '../../src/manifests/slurm/index.ts'
import { readTables } from '../../src/pricing-data.ts'
import { findCases, readInvocation } from '../cases.ts'
import { scriptManifest } from './script-manifest.ts'

const number = z.number().nullable()
const ExpectedRole = z.object({
  role: z.string(),
  nodes: number,
  gpus_per_replica: number,
  total_gpus: number,
  gpu_type: z.string().nullable(),
  gpu_type_hint: z.string().optional(),
  gpu_type_alternatives: z.array(z.string()).optional(),
  gpu_type_basis: z.string(),
  gpu_share: z.number().optional(),
  mig_profile: z.string().optional(),
  cpus: number,
  memory: z.string().nullable(),
  time_limit_hours: number,
  tasks: z.number().optional(),
  max_concurrent: z.number().optional(),
})
type ExpectedRole = z.infer<typeof ExpectedRole>
const Expected = z.object({
  scheduler: z.literal('slurm'),
  input: z.array(z.string()),
  invocation: z.string().optional(),
  job_name: z.string().optional(),
  resources: z.array(ExpectedRole),
  totals: z.object({ gpus: number, gpu_hours_at_limit: number }),
  must_warn: z.array(z.string()),
})

/** Warnings that need more than the manifest: the workload, or files beside it. */
const fromElsewhere = new Set([
  'time-limit-too-short-to-judge',
  'external-file-missing',
  'no-training-facts',
  'idle-gpus',
  // A flag of the training command given twice; a number of nodes among its arguments; runs in a loop.
  'last-flag-wins:14-hf-trainer-deepspeed-hostfile',
  'conflict:24-nodes-disagree-with-script',
  'multiple-runs:21-loops-many-runs-one-job',
  'multiple-runs:slurm-evaluations-in-a-loop',
  'multiple-runs:slurm-hydra-sweep',
  'multiple-runs:slurm-zoo-side-by-side',
])
/** A partition whose name only those know who know the site. */
const siteKnowledge = new Set(['20-mi250x-site-partition'])

const tables = readTables(fileURLToPath(new URL('../../pricing-data', import.meta.url)))
const cases = findCases().flatMap(({ name, folder, expected }) => {
  const parsed = Expected.safeParse(expected)
  return parsed.success ? [{ name, folder, expected: parsed.data }] : []
})

function readCase(folder: string, file: string, invocation = ''): Job {
  const { environment, schedulerArguments, scriptArguments } = readInvocation(invocation)
  const given = { name: file, environment, schedulerArguments, scriptArguments }
  const [job] = slurm.read(scriptManifest(readFileSync(`${folder}/${file}`, 'utf8'), given))
  if (job === undefined) throw new Error(`${file} holds no job`)
  return job
}

function bytesOf(quantity: string): number {
  const [, amount, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? []
  return Number(amount) * 2 ** (unit === 'Gi' ? 30 : 20)
}

function expectRole(role: Role, wanted: ExpectedRole, name: string): void {
  const tasks = wanted.tasks ?? 1
  const concurrent = wanted.max_concurrent ?? tasks
  expect({
    role: role.name,
    nodes: role.replicas.value,
    perNode: role.gpusPerReplica.value,
    total: role.gpuCount.value * role.concurrentTasks,
    tasks: role.tasks,
    concurrent: role.concurrentTasks,
    profile: role.deviceShare?.profile,
    memory: role.memoryBytesPerReplica?.value,
  }).toEqual({
    role: wanted.role,
    nodes: wanted.nodes,
    perNode: wanted.gpus_per_replica,
    total: wanted.total_gpus,
    tasks,
    concurrent,
    profile: wanted.mig_profile,
    memory: wanted.memory === null || wanted.memory === 'all' ? (wanted.memory ?? undefined) : bytesOf(wanted.memory),
  })
  if (wanted.gpu_share !== undefined) expect(role.deviceShare?.share).toBeCloseTo(wanted.gpu_share, 3)
  if (wanted.cpus !== null) expect(role.cpusPerReplica?.value).toBe(wanted.cpus)
  if (wanted.time_limit_hours === null) expect(role.timeLimitSeconds).toBeUndefined()
  else expect((role.timeLimitSeconds?.value ?? 0) / 3600).toBeCloseTo(wanted.time_limit_hours, 3)
  if (siteKnowledge.has(name)) return
  expect(role.gpuType.basis).toBe(wanted.gpu_type_basis)
  expectTypes(role, wanted)
}

/** Names are compared as the table knows them: `L40S` is `l40s`, and `a100` is one of the A100s. */
function expectTypes(role: Role, wanted: ExpectedRole): void {
  const names =
    wanted.gpu_type_alternatives ?? [wanted.gpu_type ?? wanted.gpu_type_hint].filter(name => name !== undefined)
  const read = role.gpuType.names.map(name => name.value)
  expect(read).toHaveLength(names.filter(name => name !== null).length)
  const meant = read.flatMap(name => findGpus(name, tables.gpus).map(gpu => gpu.name))
  for (const name of names) {
    const right = findGpus(name ?? '', tables.gpus).map(gpu => gpu.name)
    expect(
      right.some(each => meant.includes(each)),
      `${name} is read as ${read.join()}`,
    ).toBe(true)
  }
}

describe('batch scripts of test/cases', () => {
  test('there are all of them', () => {
    expect(cases.length).toBeGreaterThanOrEqual(24)
  })

  test.each(cases)('$name asks for what its user means', ({ name, folder, expected }) => {
    const job = readCase(folder, expected.input[0] ?? '', expected.invocation)
    expect(job.roles).toHaveLength(expected.resources.length)
    for (const [index, wanted] of expected.resources.entries()) {
      const role = job.roles[index]
      if (role !== undefined) expectRole(role, wanted, name)
    }
    if (expected.job_name !== undefined) expect(job.name).toBe(expected.job_name)
    const held = job.roles.reduce((sum, role) => sum + role.gpuCount.value * role.concurrentTasks, 0)
    expect(held).toBe(expected.totals.gpus)
    const hours = job.roles.reduce(
      (sum, role) => sum + (role.gpuCount.value * role.tasks * (role.timeLimitSeconds?.value ?? Number.NaN)) / 3600,
      0,
    )
    if (expected.totals.gpu_hours_at_limit === null) expect(hours).toBeNaN()
    else expect(hours).toBeCloseTo(expected.totals.gpu_hours_at_limit, 2)
  })

  test.each(cases)('$name is warned of', ({ name, folder, expected }) => {
    const codes = readCase(folder, expected.input[0] ?? '').warnings.map(warning => warning.code)
    const wanted = expected.must_warn.filter(code => !fromElsewhere.has(code) && !fromElsewhere.has(`${code}:${name}`))
    expect(codes).toEqual(expect.arrayContaining(wanted))
  })
})

/** What is said of a script that cannot be read. */
function faultsOf(text: string, name = 'job.sbatch'): string {
  try {
    slurm.read(scriptManifest(text, { name }))
  } catch (error) {
    if (error instanceof InputError) return error.message
    throw error
  }
  throw new Error('it was read')
}

function fileOf(caseName: string, file: string): string {
  return readFileSync(new URL(`../cases/${caseName}/${file}`, import.meta.url), 'utf8')
}

describe('batch scripts that are wrong', () => {
  test('no node, no GPU and eight processes are three faults of one file', () => {
    const message = faultsOf(fileOf('bad-03-impossible-requests', 'zero.sbatch'))
    expect(message).toMatch(/:3:9 .*--nodes=0: no nodes/)
    expect(message).toMatch(/:4:9 .*no GPUs/)
    expect(message).toMatch(/:6:1 .*8 processes/)
  })

  test('memory for a node and for a GPU exclude each other, and so do two numbers of GPUs', () => {
    const message = faultsOf(fileOf('bad-03-impossible-requests', 'both.sbatch'))
    expect(message).toMatch(/:5:20 .*--mem-per-gpu=20G.*--mem=100G/)
    expect(message).toMatch(/:4:9 .*--gres=gpu:4 and --gpus-per-node=8/)
  })

  test('a time that is none names the forms that are', () => {
    expect(faultsOf(fileOf('bad-09-time-banana', 'a.sbatch'))).toMatch(/:3:16 .*--time=banana.*90.*1:30:00.*2-12/)
  })

  test('all faults are told at once, in the order of their lines', () => {
    const lines = faultsOf(fileOf('bad-09-time-banana', 'b.sbatch')).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatch(/:3:\d+ .*2h30m.*02:30:00/)
    expect(lines[1]).toMatch(/:4:\d+ .*--nodes=two/)
    expect(lines[2]).toMatch(/:5:\d+ .*gpu:a100:x/)
    expect(lines[3]).toMatch(/:6:\d+ .*--cpus-per-tsk.*did you mean --cpus-per-task/)
    expect(lines[4]).toMatch(/:7:\d+ .*quote/)
  })

  test('an empty file is said to be empty', () => {
    expect(faultsOf('')).toMatch(/job.sbatch.*empty/)
    expect(faultsOf(' \n\t\n')).toMatch(/empty but for blanks/)
  })

  test('a script of fifty megabytes is refused by its size', () => {
    const message = faultsOf(`#!/bin/bash\n#SBATCH --gres=gpu:2\ntorchrun ${'--a '.repeat(13_000_000)}\n`)
    expect(message).toMatch(/49\.\d MiB.*4 MiB/)
    expect(message.length).toBeLessThan(300)
  })

  test('Windows line ends are warned of, and the values are right all the same', () => {
    const [job] = slurm.read(scriptManifest(fileOf('bad-10-windows-line-ends', 'job.sbatch')))
    expect(job?.name).toBe('from-windows')
    expect(job?.roles[0]?.gpuCount.value).toBe(2)
    expect(job?.roles[0]?.gpuType.names.map(name => name.value)).toEqual(['a100'])
    expect(job?.roles[0]?.timeLimitSeconds?.value).toBe(4 * 3600)
    const warning = job?.warnings.find(each => each.code === 'scheduler-will-refuse')
    expect(warning?.text).toMatch(/CRLF.*dos2unix/)
  })

  test('a script without directives is read, with what to do about it', () => {
    const [job] = slurm.read(scriptManifest(fileOf('bad-08-shell-without-sbatch', 'run.sh')))
    expect(job?.warnings.find(each => each.code === 'no-directives')?.text).toMatch(/no #SBATCH line.*options after --/)
  })
})
