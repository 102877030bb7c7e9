import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { GpufareError } from '../src/errors.ts'
import { askProgram, describeCommand, ProgramNotFound, passThrough } from '../src/programs.ts'
import { makeFolder } from './folders.ts'

const environment = process.env

function pretendedStreams() {
  return { stdin: {}, stdout: new PassThrough(), stderr: new PassThrough(), environment }
}

async function gone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      process.kill(pid, 0)
    } catch {
      return true
    }
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}

test('a program that was asked answers with both outputs and its exit code', async () => {
  const answer = await askProgram('sh', ['-c', 'cat; echo oops >&2; exit 3'], {
    environment,
    timeoutMilliseconds: 5000,
    input: Buffer.from('bytes in'),
  })
  expect(answer).toEqual({
    exitCode: 3,
    stdout: 'bytes in',
    stdoutBytes: Buffer.from('bytes in'),
    stderr: 'oops\n',
    timedOut: false,
  })
})

test('words reach a program as they are, whatever they hold', async () => {
  const words = ['a b', '', '$HOME', "it's", '*', '-x', 'new\nline']
  const program = ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...words]
  const answer = await askProgram(process.execPath, program, { environment, timeoutMilliseconds: 5000 })
  expect(JSON.parse(answer.stdout)).toEqual(words)
})

test('a program that stays silent is ended with all it started', async () => {
  const answer = await askProgram('sh', ['-c', 'sleep 60 & echo $!; wait'], { environment, timeoutMilliseconds: 300 })
  expect(answer.timedOut).toBe(true)
  expect(await gone(Number(answer.stdout))).toBe(true)
})

test('a program that is not there is named', async () => {
  const asking = askProgram('no-such-scheduler', [], { environment, timeoutMilliseconds: 1000 })
  await expect(asking).rejects.toThrow(ProgramNotFound)
  const passing = passThrough('no-such-scheduler', [], pretendedStreams())
  await expect(passing).rejects.toThrow('no-such-scheduler is not installed here')
})

test('a program that may not be run says so', async () => {
  const file = join(makeFolder(), 'sbatch')
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 })
  const passing = passThrough(file, [], pretendedStreams())
  await expect(passing).rejects.toThrow(GpufareError)
  await expect(passing).rejects.toThrow('EACCES')
})

test('the user’s own program keeps its outputs apart and its exit code', async () => {
  const streams = pretendedStreams()
  const run = await passThrough('sh', ['-c', 'echo 4711; echo "sbatch: hm" >&2; exit 255'], streams)
  streams.stdout.end()
  streams.stderr.end()
  expect(run).toEqual({ exitCode: 255, stdout: '' })
  expect(await text(streams.stdout)).toBe('4711\n')
  expect(await text(streams.stderr)).toBe('sbatch: hm\n')
})

test('stdout can be kept as well as shown, and bytes can be its standard input', async () => {
  const streams = pretendedStreams()
  const run = await passThrough('cat', [], streams, { input: Buffer.from('job.batch/j created\n'), keepStdout: true })
  streams.stdout.end()
  expect(run).toEqual({ exitCode: 0, stdout: 'job.batch/j created\n' })
  expect(await text(streams.stdout)).toBe('job.batch/j created\n')
})

test('input that is not read does no harm', async () => {
  const run = await passThrough('true', [], pretendedStreams(), { input: Buffer.alloc(1_000_000) })
  expect(run.exitCode).toBe(0)
})

test('a program ended by a signal gives the code a shell would give', async () => {
  const run = await passThrough('sh', ['-c', 'kill -TERM $$'], pretendedStreams())
  expect(run.exitCode).toBe(143)
})

/** A process that does what `lines` say with programs.ts, in a process group of its own. */
function ownGroup(lines: string) {
  const source = `import * as programs from ${JSON.stringify(new URL('../src/programs.ts', import.meta.url).href)}
    programs.exitWhenInterrupted()
    const streams = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, environment: process.env }
    ${lines}`
  const file = join(makeFolder(), 'program.mts')
  writeFileSync(file, source)
  return spawn(process.execPath, ['--import', import.meta.resolve('tsx'), file], { detached: true })
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal)
}

test('an interrupt ends what was asked and gives 130', async () => {
  const pidFile = join(makeFolder(), 'pid')
  const words = JSON.stringify(['-c', `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 60`])
  const child = ownGroup(
    `await programs.askProgram('sh', ${words}, { environment: process.env, timeoutMilliseconds: 60000 })`,
  )
  const pid = await appearing(pidFile)
  endGroup(child.pid, 'SIGINT')
  expect(await once(child, 'exit')).toEqual([130, null])
  expect(await gone(pid)).toBe(true)
})

test('an interrupt while the user’s own program runs is that program’s to answer', async () => {
  const pidFile = join(makeFolder(), 'pid')
  const words = JSON.stringify([
    '-c',
    `trap 'exit 7' INT; echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; while :; do sleep 0.05; done`,
  ])
  const child = ownGroup(`process.exitCode = (await programs.passThrough('sh', ${words}, streams)).exitCode`)
  await appearing(pidFile)
  endGroup(child.pid, 'SIGINT')
  expect(await once(child, 'exit')).toEqual([7, null])
})

async function appearing(file: string): Promise<number> {
  for (let tries = 0; tries < 250; tries++) {
    try {
      return Number(readFileSync(file, 'utf8'))
    } catch {
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  throw new Error(`${file} did not appear`)
}

test('a command is written so that a shell reads the same words', async () => {
  const words = ['--comment=a b', "it's", '', '$HOME', 'train.sbatch', '~', '#x']
  const command = describeCommand('printf', ['%s\\n', ...words])
  const answer = await askProgram('sh', ['-c', command], { environment, timeoutMilliseconds: 5000 })
  expect(answer.stdout).toBe(`${words.join('\n')}\n`)
  expect(describeCommand('sbatch', ['-p', 'a100', 'train.sbatch'])).toBe('sbatch -p a100 train.sbatch')
})
