import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type CheckOptions, check } from '../../src/commands/check.ts'
import { CheckDocument } from '../../src/reporters/check-schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { makeRepository } from '../git-repositories.ts'

async function checked(folder: string, options: Partial<CheckOptions> = {}, home = '/nowhere') {
  const stdout = new PassThrough()
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() }
  const terminal = describeTerminal(streams, { HOME: home, PATH: process.env['PATH'] })
  const exitCode = await check([], { format: [{ format: 'json' }], color: false, ...options }, terminal, folder)
  return { exitCode, ...CheckDocument.parse(JSON.parse(String(stdout.read()))) }
}

/** Eight GPUs at $1 for so many hours. */
function script(hours: number, more = ''): string {
  return `#!/bin/bash\n#SBATCH --partition=a100 --gres=gpu:8 --time=48:00:00\n#GPUFARE runtime=${hours}h\n${more}\npython train.py\n`
}

const cluster = `clusters:
  - {name: ours, scheduler: slurm, partitions: [{name: a100, gpu: a100-80gb, gpus-per-node: 8, rate: 1}]}
`
const limit = (usd: number, more = '') => `policies: [{rule: job-cost, level: deny, limit: ${usd}${more}}]\n`
const exemption = 'exemptions: [{rule: job-cost, until: 2099-12-31, reason: agreed}]\n'
const exemptLine = '#GPUFARE exempt=job-cost until 2099-12-31: the paper'

/** A base with a policy of $100 a job and a cheap job, and a change on top of it. */
async function change(files: Readonly<Record<string, string>>, base: Readonly<Record<string, string>> = {}) {
  const { root, commit } = makeRepository()
  commit({ 'gpufare.yaml': cluster + limit(100), 'train.sbatch': script(1), ...base })
  commit(files)
  return checked(root, { base: 'HEAD~1' })
}

describe('a change', () => {
  test('that is cheap passes, and one that is dear is denied with what to do', async () => {
    expect(await change({ 'train.sbatch': script(2) })).toMatchObject({ exitCode: 0, findings: [] })
    expect(await change({ 'train.sbatch': script(20) })).toMatchObject({
      exitCode: 3,
      findings: [{ rule: 'job-cost', level: 'deny', message: expect.stringContaining('is over $100') }],
    })
  })

  test.each([
    ['raise the limit', { 'gpufare.yaml': cluster + limit(10_000) }, script(20)],
    ['take the policy away', { 'gpufare.yaml': cluster }, script(20)],
    ['exempt itself in the configuration', { 'gpufare.yaml': cluster + limit(100) + exemption }, script(20)],
    ['exempt itself in the manifest', {}, script(20, exemptLine)],
    ['take itself out of the check', { 'gpufare.yaml': `${cluster + limit(100)}ignore: ["*.sbatch"]\n` }, script(20)],
    ['bring a nearer configuration', { 'sub/gpufare.yaml': cluster, 'sub/x.sbatch': script(20) }, script(1)],
  ])('cannot %s', async (_, files, text) => {
    expect(await change({ ...files, 'train.sbatch': text })).toMatchObject({ exitCode: 3 })
  })

  test('that says other policies than the base is told that they do not count', async () => {
    const { remarks } = await change({ 'gpufare.yaml': cluster + limit(10_000), 'train.sbatch': script(2) })
    expect(remarks.join()).toContain(
      'policies, budgets and exemptions do not count here, those of the base revision do',
    )
  })

  test('may exempt itself where the base says so, and the reason is shown', async () => {
    const base = { 'gpufare.yaml': cluster + limit(100, ', self-exempt: true') }
    expect(await change({ 'train.sbatch': script(20, exemptLine) }, base)).toMatchObject({
      exitCode: 0,
      findings: [{ rule: 'job-cost', exemption: { reason: 'the paper', until: '2099-12-31' } }],
    })
  })

  test('is exempt where the base exempts it', async () => {
    const base = { 'gpufare.yaml': cluster + limit(100) + exemption }
    expect(await change({ 'train.sbatch': script(20) }, base)).toMatchObject({ exitCode: 0 })
  })

  test('counts as the first policy where the base has none', async () => {
    const base = { 'gpufare.yaml': cluster }
    const files = { 'gpufare.yaml': cluster + limit(100), 'train.sbatch': script(20) }
    expect(await change(files, base)).toMatchObject({ exitCode: 3 })
  })
})

describe('a policy that --policy names', () => {
  const policy = () => {
    const path = join(makeFolder(), 'policy.yaml')
    writeFileSync(path, limit(100))
    return path
  }

  test("stands in for the repository's, whatever that says", async () => {
    const { root, commit } = makeRepository()
    commit({ 'gpufare.yaml': cluster + limit(1) + exemption, 'train.sbatch': script(2) })
    expect(await checked(root, { policy: policy() })).toMatchObject({ exitCode: 0, findings: [] })
    commit({ 'train.sbatch': script(20, exemptLine) })
    const { exitCode, findings, remarks } = await checked(root, { policy: policy() })
    expect(exitCode).toBe(3)
    expect(findings).toMatchObject([{ rule: 'job-cost' }])
    expect(remarks.join()).toContain('do not count here')
  })

  test("leaves the user's own counting", async () => {
    const { root, commit } = makeRepository()
    commit({ 'gpufare.yaml': cluster, 'train.sbatch': script(2) })
    const home = makeFolder()
    mkdirSync(join(home, '.config/gpufare'), { recursive: true })
    writeFileSync(join(home, '.config/gpufare/gpufare.yaml'), limit(1))
    expect(await checked(root, { policy: policy() }, home)).toMatchObject({ exitCode: 3 })
  })
})

describe('a budget', () => {
  test('is broken by jobs of several files together', async () => {
    const { root, commit } = makeRepository()
    const budgets = 'budgets: [{name: all, amount: 30, period: year}]\n'
    commit({ 'gpufare.yaml': cluster + budgets, 'a.sbatch': script(2) })
    expect(await checked(root)).toMatchObject({ exitCode: 0, findings: [] })
    commit({ 'b.sbatch': script(2) })
    expect(await checked(root)).toMatchObject({ exitCode: 3, findings: [{ rule: 'budget', level: 'deny' }] })
  })
})
