import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { check, readYaml, valueAt } from '../../src/document.ts'
import { InputError } from '../../src/errors.ts'
import { findGpus } from '../../src/gpu.ts'
import { gpusAtOnce } from '../../src/gpus-in-use.ts'
import type { Job, Role } from '../../src/job.ts'
import { readManifest } from '../../src/manifest.ts'
import { readJobs } from '../../src/manifests/index.ts'
import { readTables } from '../../src/pricing-data.ts'

const casesFolder = fileURLToPath(new URL('../cases', import.meta.url))
const tables = readTables(fileURLToPath(new URL('../../pricing-data', import.meta.url)))

/** Warnings that need more than the manifest: what its program computes, and files beside it. */
const fromElsewhere = new Set(['external-file-missing:k8s-karpenter', 'no-training-facts:k8s-karpenter'])

const number = z.number().nullable()
const ExpectedRole = z.object({
  role: z.string(),
  replicas: number,
  gpus_per_replica: number,
  total_gpus: number,
  gpu_type: z.string().nullable(),
  gpu_type_hint: z.string().optional(),
  gpu_type_alternatives: z.array(z.string()).optional(),
  gpu_type_basis: z.string(),
  gpu_share: number.optional(),
  cpus: number,
  memory: z.string().nullable(),
  time_limit_hours: number,
  tasks: z.number().optional(),
  max_concurrent: z.number().optional(),
  min_replicas: z.number().optional(),
  max_replicas: z.number().optional(),
})
type ExpectedRole = z.infer<typeof ExpectedRole>
const Expected = z.object({
  input: z.array(z.string()).optional(),
  kind: z.string().optional(),
  resources: z.array(ExpectedRole).nullish(),
  totals: z.object({ gpus: number, gpu_hours_at_limit: number }).optional(),
  must_warn: z.array(z.string()).optional(),
})

const cases = readdirSync(casesFolder)
  .filter(name => existsSync(`${casesFolder}/${name}/expected.yaml`))
  .flatMap(name => {
    const file = `${casesFolder}/${name}/expected.yaml`
    const [document] = readYaml(readFileSync(file, 'utf8'), file, 'yaml-1.2')
    if (document === undefined || valueAt(document.value, ['scheduler']) !== 'kubernetes') return []
    return [{ name, expected: check(Expected, document) }]
  })

async function read(path: string): Promise<readonly Job[]> {
  return readJobs(await readManifest(`${casesFolder}/${path}`, { stdin: process.stdin }))
}

async function faultsOf(path: string): Promise<string> {
  const outcome = await read(path).catch((error: unknown) => error)
  if (outcome instanceof InputError) return outcome.message
  throw new Error(`${path} was read`)
}

const BYTES: Readonly<Record<string, number>> = { Gi: 2 ** 30, Mi: 2 ** 20, G: 1e9 }

function bytesIn(memory: string): number {
  const unit = memory.replace(/^\d+/, '')
  return Number.parseInt(memory, 10) * (BYTES[unit] ?? Number.NaN)
}

/** The GPU types that a role's names mean; an instance type means the GPU that it holds. */
function gpuTypes(role: Role): readonly string[] {
  return role.gpuType.names.flatMap(({ value }) => {
    const inMachine = tables.prices.rows().flatMap(row => (row['machine'] === value ? [row['gpu'] ?? ''] : []))
    return inMachine.length > 0 ? inMachine : findGpus(value, tables.gpus).map(gpu => gpu.name)
  })
}

/** NaN stands for hours that nothing bounds. */
function expectHours(hours: number, expected: number | null | undefined): void {
  if (expected == null) expect(hours).toBeNaN()
  else expect(hours).toBeCloseTo(expected, 2)
}

function compareRole(role: Role, expected: ExpectedRole): void {
  expect(role.replicas.value).toBe(expected.replicas)
  expect(role.gpusPerReplica.value).toBe(expected.gpus_per_replica)
  expect(role.gpuCount.value * role.concurrentTasks).toBe(expected.total_gpus)
  expect([role.tasks, role.concurrentTasks]).toEqual([expected.tasks ?? 1, expected.max_concurrent ?? 1])
  expect(role.cpusPerReplica?.value ?? null).toBe(expected.cpus)
  expect(role.memoryBytesPerReplica?.value ?? null).toBe(expected.memory === null ? null : bytesIn(expected.memory))
  expectHours((role.timeLimitSeconds?.value ?? Number.NaN) / 3600, expected.time_limit_hours)
  if (expected.gpus_per_replica === 0) return
  const { names } = role.gpuType
  const alternatives = expected.gpu_type_alternatives
  const called = (type: string | null) => expect.stringMatching(new RegExp(`^${type}(-|$)`))
  if (alternatives !== undefined) expect(gpuTypes(role)).toEqual(expect.arrayContaining(alternatives.map(called)))
  else if (expected.gpu_type_hint !== undefined) expect(gpuTypes(role)[0]).toEqual(called(expected.gpu_type_hint))
  else if (expected.gpu_type === null) expect(names).toEqual([])
  else expect(gpuTypes(role)[0]).toEqual(called(expected.gpu_type))
  if (expected.gpu_type !== null || alternatives !== undefined || expected.gpu_type_hint !== undefined)
    expect(role.gpuType.basis).toBe(expected.gpu_type_basis)
  if (expected.gpu_share === null) expect(role.deviceShare?.share).toBeUndefined()
  else if (expected.gpu_share !== undefined) {
    expect((role.deviceShare?.share ?? 0) * role.gpusPerReplica.value).toBeCloseTo(expected.gpu_share, 3)
  }
  if (expected.max_replicas !== undefined) {
    expect(role.replicaRange).toEqual({ smallest: expected.min_replicas, largest: expected.max_replicas })
  }
}

describe('a case is read as its expected.yaml says', () => {
  test.each(cases.filter(({ expected }) => expected.totals?.gpus != null))('$name', async ({ name, expected }) => {
    const [job, ...others] = await read(`${name}/${expected.input?.[0]}`)
    expect(others).toEqual([])
    expect(job?.kind).toBe(expected.kind)
    const roles = job?.roles ?? []
    expect(roles.map(role => role.name)).toEqual(expected.resources?.map(resource => resource.role))
    for (const [index, resource] of (expected.resources ?? []).entries()) {
      const role = roles[index]
      if (role !== undefined) compareRole(role, resource)
    }
    expect(job === undefined ? 0 : gpusAtOnce(job)).toBe(expected.totals?.gpus)
    const hours = roles.reduce(
      (sum, role) =>
        sum +
        (role.gpuCount.value === 0
          ? 0
          : (role.gpuCount.value *
              (role.limitSpansTasks === true ? role.concurrentTasks : role.tasks) *
              (role.timeLimitSeconds?.value ?? Number.NaN)) /
            3600),
      0,
    )
    expectHours(hours, expected.totals?.gpu_hours_at_limit)
    const wanted = (expected.must_warn ?? []).filter(code => !fromElsewhere.has(`${code}:${name}`))
    expect(job?.warnings.map(warning => warning.code)).toEqual(expect.arrayContaining(wanted))
  })
})

describe('a case without figures names what is missing', () => {
  test('a Helm template, with its placeholders and their lines', async () => {
    const said = await faultsOf('42-helm-template-unrendered/templates/train.yaml')
    expect(said).toMatch(/templates\/train\.yaml:1 {2}an unrendered Helm template: /)
    expect(said).toContain('{{ .Values.train.pods }} (line 13)')
    expect(said).toContain('helm template')
  })

  test('variables for envsubst, those in arguments too', async () => {
    const said = await faultsOf('28-pytorchjob-elastic-unresolved/job.yaml-template')
    for (const name of [
      'NUM_NODES',
      'GPU_PER_NODE',
      'GPU_RESOURCE',
      'INSTANCE_TYPE',
      'IMAGE_URI',
      'POD_MEMORY',
      'TP',
      'PP',
      'GLOBAL_BATCH',
    ]) {
      expect(said).toContain(`\${${name}} (line `)
    }
  })
})

describe('bad input is refused with every fault', () => {
  test.each<[string, readonly RegExp[]]>([
    [
      'bad-01-malformed-yaml/job.yaml',
      [/job\.yaml:11:8 {2}not valid YAML: wrong indentation/, /job\.yaml:13:1 {2}.*a tab/],
    ],
    [
      'bad-02-wrong-types/job.yaml',
      [
        /job\.yaml:4:9 {2}metadata\.name: text is expected, found 12345/,
        /job\.yaml:8:17 {2}spec\.pytorchReplicaSpecs\.Worker\.replicas: a whole number is expected, found "four"/,
        /job\.yaml:15:\d+ {2}.*containers\[0\]\.command: a list of words is expected, found "torchrun/,
        /job\.yaml:18:\d+ {2}.*limits\["nvidia\.com\/gpu"\]: a whole number is expected, found a list/,
        /job\.yaml:19:\d+ {2}.*limits\.memory: a quantity is expected, found true/,
      ],
    ],
    [
      'bad-02-wrong-types/list.yaml',
      [
        /list\.yaml:5:\d+ {2}spec\.parallelism: a whole number is expected, found 2\.5/,
        /containers: a list of containers is expected, found a mapping/,
        /"nvidia\.com\/gpu"\]: a whole number is expected, found "500m"/,
      ],
    ],
    [
      'bad-03-impossible-requests/unequal.yaml',
      [
        /unequal\.yaml:9:\d+ {2}container a: .*\(2\) must equal its limit \(1\)/,
        /unequal\.yaml:14:\d+ {2}container b: .*needs a limit/,
      ],
    ],
    ['bad-05-anchor-bomb/job.yaml', [/job\.yaml:1\d:\d+ {2}aliases are repeated too often.*limit/]],
    ['bad-07-empty-file/blank.yaml', [/the file is empty \(only blank lines\)/]],
    ['bad-07-empty-file/nodocs.yaml', [/no document in the file describes a job/]],
  ])('%s', async (path, patterns) => {
    const said = await faultsOf(path)
    for (const pattern of patterns) expect(said).toMatch(pattern)
    expect(said).not.toMatch(/undefined|NaN|\bat .*\.ts:/)
  })

  test('a GPU type that nobody knows keeps its name and its hours', async () => {
    const [job] = await read('bad-04-unknown-gpu-type/job.yaml')
    const [role] = job?.roles ?? []
    expect(role?.gpuType.names.map(name => name.value)).toEqual(['NVIDIA-H1000-160GB'])
    expect([role?.gpuCount.value, role?.timeLimitSeconds?.value]).toEqual([2, 3600])
  })
})
