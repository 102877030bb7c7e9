import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Manifest } from '../../src/manifest.ts'
import { forward, type Handover, placeText, schedulerFor } from '../../src/schedulers/index.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'

const script = '#!/bin/bash\n#SBATCH --gres=gpu:a100:8\nsrun train\n'
const folder = makeFolder()
let count = 0

/** A script in a folder of its own, as it was read and priced. */
function readScript(more: Partial<Manifest> = {}): Manifest {
  const own = join(folder, String(count++))
  mkdirSync(own)
  const path = join(own, 'train.sbatch')
  writeFileSync(path, script)
  return {
    path,
    name: path,
    bytes: Buffer.from(script),
    text: script,
    schedulerArguments: [],
    scriptArguments: [],
    environment: { PATH: process.env['PATH'] },
    ...more,
  }
}

function handover(manifest: Manifest, scheduler: 'slurm' | 'kubernetes' = 'slurm', changed = false): Handover {
  return { scheduler: schedulerFor(scheduler), manifest, jobs: [], changed }
}

/** A folder with an `sbatch` that does what `lines` say, for what the real one cannot be made to do. */
function pretendSbatch(lines: string): string {
  const bin = join(folder, `bin-${count++}`)
  mkdirSync(bin)
  writeFileSync(join(bin, 'sbatch'), `#!/bin/sh\n${lines}\n`)
  chmodSync(join(bin, 'sbatch'), 0o755)
  return `${bin}:${process.env['PATH']}`
}

async function forwardAndListen(given: Handover) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const { exitCode } = await forward(given, describeTerminal(streams, {}))
  streams.stdout.end()
  streams.stderr.end()
  return { exitCode, stdout: await text(streams.stdout), stderr: await text(streams.stderr) }
}

test('a file that still holds what was priced is handed over by its path', () => {
  const manifest = readScript({ schedulerArguments: ['--parsable'], scriptArguments: ['--lr', '1e-4'] })
  const placed = placeText(handover(manifest))
  expect(placed.manifest).toBe(manifest)
  expect(schedulerFor('slurm').submission(placed.manifest)).toEqual({
    program: 'sbatch',
    arguments: ['--parsable', manifest.path, '--lr', '1e-4'],
  })
})

test('a script from standard input goes to standard input', () => {
  const manifest = readScript({ path: '-', schedulerArguments: ['-p', 'a100'] })
  const placed = placeText(handover(manifest))
  expect(schedulerFor('slurm').submission(placed.manifest)).toEqual({
    program: 'sbatch',
    arguments: ['-p', 'a100'],
    input: manifest.bytes,
  })
})

test('a changed script goes to sbatch from a private copy with the file’s name, which is gone afterwards', () => {
  const changed = script.replace('a100', 't4')
  const manifest = readScript({ bytes: Buffer.from(changed), text: changed })
  const placed = placeText(handover(manifest, 'slurm', true))
  expect(placed.manifest.path).toMatch(/\/train\.sbatch$/)
  expect(placed.manifest.path).not.toBe(manifest.path)
  expect(readFileSync(placed.manifest.path, 'utf8')).toBe(changed)
  expect(readFileSync(manifest.path, 'utf8')).toBe(script)
  placed.remove()
  expect(existsSync(placed.manifest.path)).toBe(false)
})

test('a script from standard input that has arguments gets a file, since sbatch takes none without', () => {
  const manifest = readScript({ path: '-', scriptArguments: ['--lr', '1e-4'] })
  const placed = placeText(handover(manifest))
  const submission = schedulerFor('slurm').submission(placed.manifest)
  expect(submission).toEqual({ program: 'sbatch', arguments: [placed.manifest.path, '--lr', '1e-4'] })
  expect(readFileSync(placed.manifest.path, 'utf8')).toBe(script)
  placed.remove()
})

test('what came through <(...) can be read only once, so its bytes are handed on', () => {
  const manifest = readScript({ path: '/dev/fd/63', name: '/dev/fd/63' })
  expect(placeText(handover(manifest, 'kubernetes')).manifest.path).toBe('-')
  const placed = placeText(handover(manifest))
  expect(placed.manifest.path).toMatch(/\/63$/)
  expect(readFileSync(placed.manifest.path, 'utf8')).toBe(script)
  placed.remove()
})

test('a changed text goes to kubectl through standard input', () => {
  const manifest = readScript()
  const placed = placeText(handover(manifest, 'kubernetes', true))
  expect(schedulerFor('kubernetes').submission(placed.manifest)).toEqual({
    program: 'kubectl',
    arguments: ['create', '-f', '-'],
    input: manifest.bytes,
  })
})

test.each([
  ['has changed', (path: string) => writeFileSync(path, script.replace('a100:8', 'a100:64'))],
  ['has changed', (path: string) => writeFileSync(path, `${script}\n`)],
  ['is gone', (path: string) => rmSync(path)],
  [
    'has changed',
    (path: string) => {
      rmSync(path)
      mkdirSync(path)
    },
  ],
])('a file that %s since it was quoted is not handed over', async (what, change) => {
  const witness = join(folder, `witness-${count++}`)
  const manifest = readScript({ environment: { PATH: pretendSbatch(`touch ${witness}`) } })
  change(manifest.path)
  await expect(forwardAndListen(handover(manifest))).rejects.toMatchObject({
    exitCode: 1,
    message: `${manifest.path} ${what} since it was quoted; nothing was submitted`,
  })
  expect(existsSync(witness)).toBe(false)
})

test('a file that is replaced while sbatch starts is told about afterwards', async () => {
  const manifest = readScript()
  const other = `${manifest.path}.new`
  writeFileSync(other, script)
  const environment = { PATH: pretendSbatch(`mv ${other} ${manifest.path}; echo 4711`) }
  const { exitCode, stdout, stderr } = await forwardAndListen(handover({ ...manifest, environment }))
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '4711\n' })
  expect(stderr).toContain('was changed in the very moment it was handed over')
  expect(stderr).toContain('scontrol write batch_script')
})

test('a file that stays as it is needs no words', async () => {
  const manifest = readScript()
  const environment = { PATH: pretendSbatch(`cat ${manifest.path}; exit 3`) }
  const answer = await forwardAndListen(handover({ ...manifest, environment }))
  expect(answer).toEqual({ exitCode: 3, stdout: script, stderr: '' })
})

test('a file replaced by one with the same bytes before the hand-over is the same', async () => {
  const manifest = readScript()
  writeFileSync(`${manifest.path}.new`, script)
  renameSync(`${manifest.path}.new`, manifest.path)
  const environment = { PATH: pretendSbatch('echo 4711') }
  expect(await forwardAndListen(handover({ ...manifest, environment }))).toMatchObject({ exitCode: 0, stderr: '' })
})

test('a scheduler that is not installed is said with what to do', async () => {
  const given = handover(readScript({ environment: { PATH: folder } }))
  await expect(forwardAndListen(given)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('sbatch is not installed here'),
    hint: expect.stringContaining('login node'),
  })
})

test('where the question goes without a scheduler stays empty', async () => {
  const manifest = readScript({ environment: { PATH: folder } })
  expect(await schedulerFor('slurm').findDestination(manifest)).toEqual({})
  expect(await schedulerFor('kubernetes').findDestination(manifest)).toEqual({})
})
