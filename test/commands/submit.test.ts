import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type SubmitOptions, submit, submitQuoted } from '../../src/commands/submit.ts'
import { type Config, emptyConfig } from '../../src/config.ts'
import type { Fare } from '../../src/fare.ts'
import type { Manifest } from '../../src/manifest.ts'
import { quoteCandidate } from '../../src/quote.ts'
import type { QuotedManifest } from '../../src/quoted-manifests.ts'
import { budgetOf, policyOf } from '../../src/rulebook.ts'
import type { PolicyRow } from '../../src/rulebook-schema.ts'
import { sourced } from '../../src/sourced.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { usDollars } from '../../src/units.ts'
import { candidateOf, fareWith, gpuOf, hours, jobOf, machineOf, placementOf, pricesOf } from '../builders.ts'
import { makeFolder } from '../folders.ts'

const script = '#!/bin/bash\n#SBATCH --gres=gpu:a100:8\nsrun train\n'
const csi = '\u001b['
const up = `${csi}A`

/** A folder with an sbatch that notes what it was given and answers as `lines` say. */
function pretendSbatch(lines = 'echo "Submitted batch job 7"') {
  const bin = makeFolder()
  const noted = join(bin, 'noted')
  writeFileSync(join(bin, 'sbatch'), `#!/bin/sh\nprintf '%s\\n' "$*" >> ${noted}\n${lines}\n`)
  chmodSync(join(bin, 'sbatch'), 0o755)
  return {
    bin,
    /** The command lines it was called with. */
    calls: () => (existsSync(noted) ? readFileSync(noted, 'utf8').trimEnd().split('\n') : []),
  }
}

/** One hour, more or less, on 8x A100 at $20: $18 to $24, P90 $24. */
function fare(usdPerHour: number | 'unknown' = 20, more: Partial<Fare> = {}): Fare {
  const job = jobOf({ destination: { partition: 'a100', account: 'research' } })
  const machine = machineOf(gpuOf('a100-80gb'), 8)
  const candidate = candidateOf(placementOf(machine, 8), { asRequested: true })
  const prices = pricesOf(usdPerHour === 'unknown' ? {} : { [machine.name]: usdPerHour })
  return fareWith([quoteCandidate(job, candidate, hours(0.9, 1, 1.2), 'on-demand', prices)], { job, ...more })
}

function quotedIn(bin: string, name = 'train.sbatch', more: Partial<QuotedManifest> = {}): QuotedManifest {
  const path = join(makeFolder(), name)
  writeFileSync(path, script)
  const manifest: Manifest = {
    path,
    name: path,
    bytes: Buffer.from(script),
    text: script,
    schedulerArguments: [],
    scriptArguments: [],
    environment: { PATH: `${bin}:${process.env['PATH']}` },
  }
  return { manifest, config: emptyConfig, fares: [fare()], past: {}, ...more }
}

/** Longer than a question is deaf after it has been drawn. */
const readingMilliseconds = 280

/** A terminal that a person sits at, or not; `keys` are typed one after the other, each once what is new has been read. */
function pretendTerminal(keys: readonly string[] | undefined) {
  const isTTY = keys !== undefined
  const stream = () => {
    const pipe = new PassThrough()
    return Object.assign(pipe, { isTTY, columns: 100, end: () => pipe }) // like process.stderr it does not end
  }
  const streams = { stdin: stream(), stdout: stream(), stderr: stream() }
  const shown = { stdout: '', stderr: '' }
  const waiting = [...(keys ?? [])]
  streams.stdout.on('data', chunk => {
    shown.stdout += chunk
  })
  streams.stderr.on('data', chunk => {
    shown.stderr += chunk
    // inquirer hides the cursor when it has drawn its list
    if (String(chunk).includes(`${csi}?25l`)) {
      setTimeout(() => streams.stdin.write(waiting.shift() ?? '\r'), readingMilliseconds)
    }
  })
  return { terminal: describeTerminal(streams, { NO_COLOR: '1' }), shown }
}

const plain: SubmitOptions = { color: false }

async function submitWith(
  quoted: QuotedManifest | readonly [QuotedManifest, ...QuotedManifest[]],
  options: Partial<SubmitOptions> = {},
  keys?: readonly string[],
) {
  const { terminal, shown } = pretendTerminal(keys)
  const all = 'manifest' in quoted ? ([quoted] as const) : quoted
  const exitCode = await submitQuoted(all, { ...plain, stamp: false, ...options }, terminal, async () => 99)
  return { exitCode, ...shown }
}

test('with --yes the quote goes to stderr and stdout is the scheduler’s alone', async () => {
  const { bin, calls } = pretendSbatch('echo 4711')
  const quoted = quotedIn(bin)
  const { exitCode, stdout, stderr } = await submitWith(quoted, { yes: true })
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '4711\n' })
  expect(stderr).toContain('A100-80GB')
  expect(stderr).toContain('$20')
  expect(calls()).toEqual([quoted.manifest.path])
})

test('options behind -- and script arguments go along as they are', async () => {
  const { bin, calls } = pretendSbatch()
  const quoted = quotedIn(bin)
  const manifest = {
    ...quoted.manifest,
    schedulerArguments: ['--parsable', '-p', 'a100'],
    scriptArguments: ['--lr', '1'],
  }
  await submitWith({ ...quoted, manifest }, { yes: true })
  expect(calls()).toEqual([`--parsable -p a100 ${manifest.path} --lr 1`])
})

test('the exit code and the words of the scheduler are its own', async () => {
  const { bin } = pretendSbatch('echo "sbatch: error: Batch job submission failed: no" >&2; exit 255')
  const { exitCode, stdout, stderr } = await submitWith(quotedIn(bin), { yes: true })
  expect({ exitCode, stdout }).toEqual({ exitCode: 255, stdout: '' })
  expect(stderr).toMatch(/sbatch: error: Batch job submission failed: no\n$/)
})

test('with nobody to ask nothing is submitted, and the flags to pass are named', async () => {
  const { bin, calls } = pretendSbatch()
  await expect(submitWith(quotedIn(bin))).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringMatching(/--max-cost.*--yes/),
  })
  expect(calls()).toEqual([])
})

test.each<[string, number, number | 'unknown', number | undefined]>([
  ['an amount over the P90 total approves', 24.5, 20, undefined],
  ['an amount under the P90 total refuses, although the median is less', 23, 20, 3],
  ['an unknown price cannot be approved', 1000, 'unknown', 5],
])('--max-cost: %s', async (_, maxCost, usdPerHour, refusal) => {
  const { bin, calls } = pretendSbatch()
  const submitting = submitWith(quotedIn(bin, 'train.sbatch', { fares: [fare(usdPerHour)] }), { maxCost })
  if (refusal === undefined) expect((await submitting).exitCode).toBe(0)
  else await expect(submitting).rejects.toMatchObject({ exitCode: refusal })
  expect(calls()).toHaveLength(refusal === undefined ? 1 : 0)
})

test('--max-cost counts in the currency of the configuration', async () => {
  const { bin } = pretendSbatch()
  const config: Config = { ...emptyConfig, currency: { code: 'SEK', perUsd: 10 } }
  await expect(submitWith(quotedIn(bin, 'train.sbatch', { config }), { maxCost: 239 })).rejects.toMatchObject({
    exitCode: 3,
  })
  expect((await submitWith(quotedIn(bin, 'train.sbatch', { config }), { maxCost: 241 })).exitCode).toBe(0)
})

test('under the configured threshold no question is asked, and it says why', async () => {
  const { bin, calls } = pretendSbatch()
  const askAboveUsd = sourced(25, { kind: 'config', place: { file: 'gpufare.yaml', line: 1 } } as const)
  const config: Config = { ...emptyConfig, askAboveUsd }
  const { exitCode, stderr } = await submitWith(quotedIn(bin, 'train.sbatch', { config }))
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(/no question asked: .*\$24.*ask-above.*\$25/)
  expect(calls()).toHaveLength(1)
})

test('one manifest without a threshold is asked about with all the others', async () => {
  const { bin, calls } = pretendSbatch()
  const askAboveUsd = sourced(100, { kind: 'config', place: { file: 'gpufare.yaml', line: 1 } } as const)
  const withThreshold = quotedIn(bin, 'a.sbatch', { config: { ...emptyConfig, askAboveUsd } })
  await expect(submitWith([withThreshold, quotedIn(bin, 'b.sbatch')])).rejects.toMatchObject({ exitCode: 4 })
  expect(calls()).toEqual([])
})

test('Enter alone stops: exit 4, nothing submitted', async () => {
  const { bin, calls } = pretendSbatch()
  await expect(submitWith(quotedIn(bin), {}, ['\r'])).rejects.toMatchObject({ exitCode: 4 })
  expect(calls()).toEqual([])
})

test('a person who chooses as written submits; the question says where it goes and what it costs', async () => {
  const { bin, calls } = pretendSbatch()
  const { exitCode, stdout, stderr } = await submitWith(quotedIn(bin), {}, [up, up, '\r'])
  expect(exitCode).toBe(0)
  expect(stderr).toContain('Submit to Slurm (partition a100, account research)?')
  expect(stderr).toContain('as written, 8x A100-80GB, about $20')
  expect(stdout).toBe('Submitted batch job 7\n')
  expect(calls()).toHaveLength(1)
})

test('every candidate is shown on request, and the question comes again', async () => {
  const { bin, calls } = pretendSbatch()
  const { exitCode, stderr } = await submitWith(quotedIn(bin), {}, [up, '\r', up, '\r'])
  expect(exitCode).toBe(0)
  expect(stderr.split('Submit to Slurm').length).toBeGreaterThan(2)
  expect(stderr.lastIndexOf('show every candidate')).toBeLessThan(stderr.lastIndexOf('as written, 8x'))
  expect(calls()).toHaveLength(1)
})

test('--dry-run prints the command a shell would run, and runs nothing', async () => {
  const { bin, calls } = pretendSbatch()
  const quoted = quotedIn(bin, "it's a job.sbatch")
  const manifest = { ...quoted.manifest, schedulerArguments: ['--comment=a b'] }
  const { exitCode, stdout } = await submitWith({ ...quoted, manifest }, { yes: true, dryRun: true })
  expect(exitCode).toBe(0)
  expect(stdout).toBe(`sbatch '--comment=a b' '${manifest.path.replace("'", "'\\''")}'\n`)
  expect(calls()).toEqual([])
})

test('--dry-run leaves what was rendered in a file of its own, so that the command can be run', async () => {
  const { bin } = pretendSbatch()
  const quoted = quotedIn(bin)
  const manifest = { ...quoted.manifest, path: '-', folder: 'overlays/prod' }
  const { stdout } = await submitWith({ ...quoted, manifest }, { yes: true, dryRun: true })
  const [, copy = ''] = /^sbatch < (\S+)\n$/.exec(stdout) ?? []
  expect(readFileSync(copy)).toEqual(Buffer.from(manifest.bytes))
})

test('--dry-run asks as well', async () => {
  const { bin } = pretendSbatch()
  await expect(submitWith(quotedIn(bin), { dryRun: true }, ['\r'])).rejects.toMatchObject({ exitCode: 4 })
})

test('several manifests have one total and one question, and go in their order', async () => {
  const { bin, calls } = pretendSbatch()
  const [first, second] = [quotedIn(bin, 'a.sbatch'), quotedIn(bin, 'b.sbatch')]
  const { exitCode, stderr } = await submitWith([first, second], {}, [up, up, '\r'])
  expect(exitCode).toBe(0)
  expect(stderr).toContain('as written, 2 jobs, about $40')
  expect(calls()).toEqual([first.manifest.path, second.manifest.path])
})

test('the first manifest that is not taken ends it, and it says which were', async () => {
  const { bin, calls } = pretendSbatch('case "$1" in *b.sbatch) exit 3;; esac')
  const quoted = [quotedIn(bin, 'a.sbatch'), quotedIn(bin, 'b.sbatch'), quotedIn(bin, 'c.sbatch')] as const
  const { exitCode, stderr } = await submitWith(quoted, { yes: true })
  const [a, b, c] = quoted.map(each => each.manifest.path)
  expect(exitCode).toBe(3)
  expect(stderr).toContain(`${b} was not taken; submitted before it: ${a}; not tried: ${c}`)
  expect(calls()).toEqual([a, b])
})

test.each<[string, readonly string[], number | undefined]>([
  ['is quoted anew on request', [up, up, '\r', up, '\r'], 99],
  ['is not where Enter alone answers', [up, up, '\r', '\r'], undefined],
])('a manifest that changed while the question stood %s', async (_, keys, exitCode) => {
  const { bin, calls } = pretendSbatch()
  const quoted = quotedIn(bin)
  writeFileSync(quoted.manifest.path, `${script}# changed`)
  const submitting = submitWith(quoted, {}, keys)
  if (exitCode !== undefined) expect((await submitting).exitCode).toBe(exitCode)
  else await expect(submitting).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining('has changed') })
  expect(calls()).toEqual([])
})

test('none of several manifests goes where one has changed since it was quoted', async () => {
  const { bin, calls } = pretendSbatch()
  const [first, second] = [quotedIn(bin, 'a.sbatch'), quotedIn(bin, 'b.sbatch')]
  writeFileSync(second.manifest.path, `${script}# changed`)
  await expect(submitWith([first, second], { yes: true })).rejects.toMatchObject({ exitCode: 1 })
  expect(calls()).toEqual([])
})

test('an option that would submit another manifest is refused before anything is shown', async () => {
  const { bin } = pretendSbatch()
  const quoted = quotedIn(bin, 'job.yaml')
  const fares = [fare(20, { job: jobOf({ scheduler: 'kubernetes', kind: 'Job' }) })]
  const manifest = { ...quoted.manifest, schedulerArguments: ['-f', 'other.yaml'] }
  await expect(submitWith({ ...quoted, manifest, fares }, { yes: true })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('-f'),
  })
})

test('a manifest that is gone offers no quote of what it holds now', async () => {
  const { bin, calls } = pretendSbatch()
  const quoted = quotedIn(bin)
  rmSync(quoted.manifest.path)
  await expect(submitWith(quoted, {}, [up, up, '\r'])).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('is gone'),
    hint: undefined,
  })
  expect(calls()).toEqual([])
})

test.each([
  ['in the script', '#SBATCH --gres=gpu:a100:8', [], true],
  ['behind --, where it wins over any change', '', ['--gres=gpu:a100:8'], false],
])('other GPUs are offered where the request stands %s', async (_, directive, schedulerArguments, isOffered) => {
  const folder = makeFolder()
  const path = join(folder, 'train.sbatch')
  writeFileSync(path, `#!/bin/bash\n#SBATCH --partition=a100\n#SBATCH --time=1:00:00\n${directive}\npython train.py\n`)
  const row = (name: string) => `{name: ${name}, gpu: ${name}, gpus-per-node: 8, gres: ${name}, rate: 2}`
  const config = join(folder, 'gpufare.yaml')
  writeFileSync(config, `clusters: [{name: lab, scheduler: slurm, partitions: [${row('a100')}, ${row('l40s')}]}]\n`)
  const { terminal, shown } = pretendTerminal(['\r'])
  const submitting = submit([path], { ...plain, config }, { schedulerArguments, scriptArguments: [] }, terminal)
  await expect(submitting).rejects.toMatchObject({ exitCode: 4 })
  expect(shown.stderr).toContain('as written, 8x A100')
  expect(shown.stderr.includes('on 8x L40S instead')).toBe(isOffered)
})

test('--policy FILE judges in place of the configuration beside the manifest', async () => {
  const folder = makeFolder()
  const [path, config, policy] = ['train.sbatch', 'gpufare.yaml', 'site.yaml'].map(name => join(folder, name))
  if (path === undefined || config === undefined || policy === undefined) throw new Error('three files')
  writeFileSync(path, '#!/bin/bash\n#SBATCH --gres=gpu:a100:8\n#SBATCH --time=1:00:00\npython train.py\n')
  writeFileSync(config, 'policies: [{rule: gpu-count, limit: 64}]\n')
  writeFileSync(policy, 'policies: [{rule: gpu-count, limit: 4}]\n')
  const { terminal } = pretendTerminal([])
  const submitting = submit(
    [path],
    { ...plain, config, policy, yes: true },
    { schedulerArguments: [], scriptArguments: [] },
    terminal,
  )
  await expect(submitting).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining('gpu-count: 8') })
})

describe('policies', () => {
  const context = { currency: usDollars, place: { file: 'gpufare.yaml', line: 1 }, trusted: true }
  const policies = (...rows: readonly PolicyRow[]): Config => ({
    ...emptyConfig,
    policies: rows.map(row => policyOf(row, context)),
  })
  const budget: Config = {
    ...emptyConfig,
    budgets: [budgetOf({ name: 'small', amount: 26, period: 'year' }, context)],
  }

  test('that deny stop what --yes approved, with 3 and the figures', async () => {
    const { bin, calls } = pretendSbatch()
    const config = policies({ rule: 'job-cost', limit: 19 })
    await expect(submitWith(quotedIn(bin, 'train.sbatch', { config }), { yes: true })).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('job-cost: $20 (P50) is over $19'),
    })
    expect(calls()).toEqual([])
  })

  test('that warn are shown before the question, and stop nothing', async () => {
    const { bin, calls } = pretendSbatch()
    const config = policies({ rule: 'job-cost', limit: 23 })
    const { exitCode, stderr } = await submitWith(quotedIn(bin, 'train.sbatch', { config }), {}, [up, up, '\r'])
    expect(exitCode).toBe(0)
    expect(stderr.indexOf('job-cost: $24 (P90) is over $23')).toBeGreaterThan(0)
    expect(stderr.indexOf('job-cost:')).toBeLessThan(stderr.indexOf('Submit to Slurm'))
    expect(calls()).toHaveLength(1)
  })

  test('of budgets count all manifests of a call together', async () => {
    const { bin, calls } = pretendSbatch()
    const [a, b] = ['a.sbatch', 'b.sbatch'].map(name => quotedIn(bin, name, { config: budget }))
    if (a === undefined || b === undefined) throw new Error('two manifests')
    const { exitCode, stderr } = await submitWith(a, { yes: true })
    expect(exitCode).toBe(0)
    expect(stderr).toContain('budget of small')
    await expect(submitWith([a, b], { yes: true })).rejects.toMatchObject({ exitCode: 3 })
    expect(calls()).toHaveLength(1)
  })

  test('have a program told when a submitted job takes a budget over a threshold, and only then', async () => {
    const { bin } = pretendSbatch()
    const told = join(makeFolder(), 'told')
    const notify = ['sh', '-c', 'cat >> "$1"', 'sh', told]
    const wide = { ...budget, budgets: [budgetOf({ amount: 1_000, period: 'year' }, context)] }
    await submitWith(quotedIn(bin, 'train.sbatch', { config: { ...wide, notify } }), { yes: true })
    await submitWith(quotedIn(bin, 'train.sbatch', { config: { ...budget, notify } }), { yes: true, dryRun: true })
    expect(existsSync(told)).toBe(false)
    await submitWith(quotedIn(bin, 'train.sbatch', { config: { ...budget, notify } }), { yes: true })
    expect(JSON.parse(readFileSync(told, 'utf8'))).toMatchObject({
      budget: 'small',
      added: 24,
      limit: 26,
      usage: 'warn',
    })
  })
})
