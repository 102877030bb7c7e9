import { execFileSync } from 'node:child_process'
import { chmodSync, createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { InputError } from '../src/errors.ts'
import { readManifest } from '../src/manifest.ts'

const folder = mkdtempSync(join(tmpdir(), 'gpufare-manifest-'))
afterAll(() => rmSync(folder, { recursive: true }))

const noInput = Readable.from([])

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function faultOf(reading: Promise<unknown>): Promise<string> {
  const outcome = await reading.then(
    () => 'it was read',
    (error: unknown) => error,
  )
  if (outcome instanceof InputError) {
    expect(outcome.exitCode).toBe(2)
    return outcome.message
  }
  throw outcome
}

describe('a manifest', () => {
  test('keeps its bytes exactly and its text without the byte order mark', async () => {
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('a: é\r\n')])
    const manifest = await readManifest(file('bom.yaml', bytes), { stdin: noInput })
    expect(Buffer.from(manifest.bytes).equals(bytes)).toBe(true)
    expect(manifest.text).toBe('a: é\r\n')
  })

  test.each(['utf16le', 'utf16be'])('in %s with its mark is read as text', async encoding => {
    const bytes = Buffer.from('\uFEFFkind: Pod\n', 'utf16le')
    const manifest = await readManifest(file(encoding, encoding === 'utf16le' ? bytes : bytes.swap16()), {
      stdin: noInput,
    })
    expect(manifest.text).toBe('kind: Pod\n')
  })

  test('carries what it is submitted with', async () => {
    const manifest = await readManifest(file('a.sh', '#!/bin/sh\n'), {
      stdin: noInput,
      schedulerArguments: ['-n', 'team-a'],
      environment: { HOME: '/home/a' },
    })
    expect(manifest).toMatchObject({
      schedulerArguments: ['-n', 'team-a'],
      scriptArguments: [],
      environment: { HOME: '/home/a' },
    })
  })

  test('comes from standard input as -', async () => {
    const manifest = await readManifest('-', { stdin: Readable.from([Buffer.from('kind: '), Buffer.from('Pod')]) })
    expect(manifest).toMatchObject({ path: '-', name: 'standard input', text: 'kind: Pod' })
  })

  test('comes from /dev/stdin as from -', async () => {
    const manifest = await readManifest('/dev/stdin', { stdin: Readable.from(['kind: Pod']) })
    expect(manifest).toMatchObject({ path: '/dev/stdin', name: 'standard input', text: 'kind: Pod' })
  })

  test('comes from a named pipe, however slowly it is written', async () => {
    const path = join(folder, 'slow-pipe')
    execFileSync('mkfifo', [path])
    const reading = readManifest(path, { stdin: noInput, silenceMilliseconds: 2_000 })
    await sleep(60)
    const writer = createWriteStream(path)
    for (const part of ['kind', ': ', 'Pod']) {
      writer.write(part)
      await sleep(30)
    }
    writer.end()
    expect((await reading).text).toBe('kind: Pod')
  })
})

describe('what is no manifest is refused with its reason', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['empty', '', 'the file is empty'],
    ['blank', '\n   \n\t\n', 'the file is empty (only blank lines)'],
    ['binary', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1]), 'is not text: it holds binary data'],
    ['large', 'x'.repeat(2_500), 'is larger than the limit: 0.0025 MB, limit 0.002 MB'],
  ])('%s', async (name, content, reason) => {
    const path = file(name, content)
    expect(await faultOf(readManifest(path, { stdin: noInput, maxBytes: 2_000 }))).toBe(`${path}  ${reason}`)
  })

  test('a file of fifty megabytes is not even opened', async () => {
    const path = file('fifty', '')
    execFileSync('truncate', ['-s', '50M', path])
    expect(await faultOf(readManifest(path, { stdin: noInput }))).toBe(
      `${path}  is larger than the limit: 52.4 MB, limit 10 MB`,
    )
  })

  test('a device without end is left at the limit', async () => {
    expect(await faultOf(readManifest('/dev/zero', { stdin: noInput, maxBytes: 100_000 }))).toBe(
      '/dev/zero  is larger than the limit of 0.1 MB',
    )
  })

  test('a missing file, a folder, a file below a file', async () => {
    const script = file('script', '#!/bin/sh\n')
    expect(await faultOf(readManifest(join(folder, 'nope'), { stdin: noInput }))).toContain('there is no such file')
    expect(await faultOf(readManifest(folder, { stdin: noInput }))).toContain('is a folder, a file is expected')
    expect(await faultOf(readManifest(`${script}/x`, { stdin: noInput }))).toContain('a part of its path is no folder')
  })

  test('a file that may not be read', async () => {
    const path = file('secret', 'kind: Pod\n')
    chmodSync(path, 0)
    const isRoot = process.getuid?.() === 0
    // Root may read everything: it steps down for as long as it takes.
    if (isRoot) process.seteuid?.(65_534)
    try {
      expect(await faultOf(readManifest(path, { stdin: noInput }))).toBe(`${path}  permission denied`)
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })

  test('a named pipe that nobody writes to', async () => {
    const path = join(folder, 'dead-pipe')
    execFileSync('mkfifo', [path])
    expect(await faultOf(readManifest(path, { stdin: noInput, silenceMilliseconds: 50 }))).toContain(
      'nothing was written to it for 0.05 seconds',
    )
  })

  test('standard input that stays silent', async () => {
    const stdin = new PassThrough()
    stdin.write('kind: ')
    expect(await faultOf(readManifest('-', { stdin, silenceMilliseconds: 50 }))).toContain('nothing was written to it')
    expect(stdin.destroyed).toBe(true)
  })

  test('standard input that is closed, or a terminal', async () => {
    expect(await faultOf(readManifest('-', { stdin: Readable.from([]) }))).toBe('standard input  is empty')
    const terminal = Object.assign(new PassThrough(), { isTTY: true })
    expect(await faultOf(readManifest('-', { stdin: terminal }))).toContain('is a terminal')
  })

  test('standard input larger than the limit is left at once', async () => {
    const stdin = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1_000)
      })(),
    )
    expect(await faultOf(readManifest('-', { stdin, maxBytes: 5_000 }))).toContain(
      'is larger than the limit of 0.005 MB',
    )
  })
})
