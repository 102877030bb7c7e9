import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/errors.ts'
import type { Job, Role } from '../../src/job.ts'
import { manifestOf } from '../../src/manifest.ts'
import { formatOf, readJobs, retarget } from '../../src/manifests/index.ts'
import { handoverOf } from '../../src/schedulers/index.ts'

function jobs(text: string): readonly Job[] {
  return readJobs(manifestOf('task.yaml', Buffer.from(text)))
}

function onlyJob(text: string): Job {
  const [job, ...others] = jobs(text)
  if (job === undefined || others.length > 0) throw new Error('one job is expected')
  return job
}

function onlyRole(text: string): Role {
  const [role] = onlyJob(text).roles
  if (role === undefined) throw new Error('a role is expected')
  return role
}

const TASK = (resources: string, more = '') => `resources:\n${resources}\n${more}\nrun: python train.py\n`

function sizes(role: Role): object {
  return {
    nodes: role.replicas.value,
    perNode: role.gpusPerReplica.value,
    gpus: role.gpuCount.value,
    names: role.gpuType.names.map(name => name.value),
  }
}

describe('accelerators', () => {
  test.each([
    ['accelerators: A100-80GB:8', ['A100-80GB'], 8],
    ['accelerators: H100', ['H100'], 1],
    ['accelerators: {A100: 4}', ['A100'], 4],
    ['accelerators: {L4:1, A10G:1}', ['L4', 'A10G'], 1],
    ['accelerators: {L4, A10G}', ['L4', 'A10G'], 1],
    ['accelerators: [H200:8, H100:8]', ['H200', 'H100'], 8],
    ['gpus: L40S:2', ['L40S'], 2],
    ['any_of: [{accelerators: H100:8, infra: aws}, {accelerators: A100:8, infra: gcp}]', ['H100', 'A100'], 8],
    ['accelerators: H100:8\n  ordered: [{infra: aws}, {infra: gcp}]', ['H100'], 8],
  ])('%s', (written, names, count) => {
    expect(sizes(onlyRole(TASK(`  ${written}`)))).toEqual({ nodes: 1, perNode: count, gpus: count, names })
  })

  test('of alternatives with other numbers the first counts, and all are named', () => {
    const job = onlyJob(TASK('  accelerators: {L4:8, A100:4, A10G:8}'))
    expect(sizes(job.roles[0] ?? onlyRole(''))).toMatchObject({ perNode: 8, names: ['L4', 'A10G'] })
    expect(job.warnings).toContainEqual(
      expect.objectContaining({
        code: 'gpu-type-ambiguous',
        text: expect.stringContaining('L4:8, A100:4, A10G:8; figures are for 8'),
      }),
    )
  })

  test('a TPU is no GPU', () => {
    const job = onlyJob(TASK('  accelerators: tpu-v5p-8'))
    expect(job.roles[0]).toMatchObject({ gpuCount: { value: 0 }, otherAccelerators: { 'tpu-v5p-8': 1 } })
    expect(job.warnings.map(({ code }) => code)).toContain('accelerator-not-gpu')
  })

  test('what is no accelerator is refused with its line', () => {
    expect(() => jobs(TASK('  accelerators: A100:eight'))).toThrow(InputError)
    expect(() => jobs(TASK('  accelerators: A100:eight'))).toThrow(/task\.yaml:2:.*such as A100:8/)
  })
})

test('nodes multiply GPUs; CPUs and memory are at least what is asked for', () => {
  const role = onlyRole(TASK('  accelerators: A100:8\n  cpus: 96+\n  memory: 512+', 'num_nodes: 4'))
  expect(sizes(role)).toMatchObject({ nodes: 4, gpus: 32 })
  expect([role.cpusPerReplica?.value, role.memoryBytesPerReplica?.value]).toEqual([96, 512 * 2 ** 30])
})

describe('where it runs', () => {
  test.each([
    ['infra: aws/us-east-1', { provider: 'aws', regions: ['us-east-1'] }],
    ['infra: gcp', { provider: 'gcp' }],
    ["infra: '*/us-east-1'", { regions: ['us-east-1'] }],
    ['infra: k8s/my-cluster', {}],
    ['cloud: gcp\n  region: us-central1\n  use_spot: true', { provider: 'gcp', regions: ['us-central1'], spot: true }],
    ['any_of: [{use_spot: true}, {use_spot: false}]', {}],
    ['any_of: [{infra: aws/us-east-1}, {infra: aws/us-west-2}]', { provider: 'aws' }],
  ])('%s', (written, expected) => {
    const { pin } = onlyRole(TASK(`  accelerators: A100:8\n  ${written}`))
    expect({
      ...(pin?.provider && { provider: pin.provider.value }),
      ...(pin?.regions && { regions: pin.regions.map(region => region.value) }),
      ...(pin?.spot && { spot: pin.spot.value }),
    }).toEqual(expected)
  })
})

test('run sees the variables of SkyPilot and the task, and none whose value is given at launch', () => {
  const [line] = onlyRole(`
envs: {SIZE: 8B, HF_TOKEN: }
num_nodes: 2
resources: {accelerators: "H100:4"}
run: |
  torchrun --nnodes=$SKYPILOT_NUM_NODES --nproc_per_node=$SKYPILOT_NUM_GPUS_PER_NODE train.py --model llama-$SIZE --token $HF_TOKEN
`).commandLines
  expect(line?.launches[0]).toMatchObject({ nodes: 2, processesPerNode: 4 })
  expect(line?.arguments.map(word => word.text)).toEqual(['--model', 'llama-8B', '--token', undefined])
  expect(line?.place.line).toBe(6)
})

test('a service has no end and a range; a pipeline has a job for each task with GPUs', () => {
  const service = onlyJob(
    TASK('  accelerators: L4:1', 'service: {readiness_probe: /, replica_policy: {min_replicas: 1, max_replicas: 3}}'),
  )
  expect(service).toMatchObject({ endless: true, kind: 'service' })
  expect(service.roles[0]?.replicaRange).toEqual({ smallest: 1, largest: 3 })
  const pipeline = jobs(`name: both\n---\n${TASK('  cpus: 8+')}---\n${TASK('  accelerators: A100:1')}`)
  expect(pipeline.map(({ kind, roles }) => [kind, roles[0]?.gpuCount.value])).toEqual([['task of a pipeline', 1]])
})

test('a declaration is a comment', () => {
  const job = onlyJob(`#GPUFARE team=nlp\n${TASK('  accelerators: A100:8')}`)
  expect(job.declarations.team?.value).toBe('nlp')
})

test.each([
  ['apiVersion: v1\nkind: Pod\nspec: {containers: []}\nresources: {}\nrun: x\n', 'kubernetes'],
  ['#!/bin/bash\n#SBATCH --gres=gpu:1\nrun: x\n', 'slurm'],
  [TASK('  accelerators: A100:8'), 'skypilot'],
])('%j is recognised', (text, name) => {
  expect(formatOf(manifestOf('a.yaml', Buffer.from(text))).name).toBe(name)
})

test('it is quoted and neither changed nor handed over', () => {
  const manifest = manifestOf('task.yaml', Buffer.from(TASK('  accelerators: A100:8')))
  expect(() => handoverOf(manifest, readJobs(manifest))).toThrow(/only quotes it, nothing was submitted/)
  expect(() => retarget(manifest, { replicas: 1, gpusPerReplica: 4 })).toThrow(/only quotes/)
})

test('the case of the collection', () => {
  const path = fileURLToPath(new URL('../cases/46-skypilot-lora/task.yaml', import.meta.url))
  const [job, ...others] = readJobs(manifestOf('task.yaml', readFileSync(path)))
  expect(others).toEqual([])
  expect(job?.roles.map(sizes)).toEqual([{ nodes: 2, perNode: 8, gpus: 16, names: ['A100-80GB'] }])
  expect(job?.roles[0]).toMatchObject({ gpuType: { basis: 'directive' }, pin: { spot: { value: true } } })
  expect(job?.warnings.map(({ code }) => code)).toEqual(['no-time-limit'])
})
