import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeFolder } from '../folders.ts'
import { keys, openProgram, openTerminal, programWords, runProgram, toTop } from './program.ts'

const script = `#!/bin/bash
#SBATCH --partition=a100
#SBATCH --gres=gpu:a100:8
#SBATCH --time=4:00:00
srun torchrun --nproc_per_node=8 train.py
`
const csi = '\u001b\\['
const showCursor = '\u001b[?25h'
/** The one call that submits as written: the quote goes along beside the script. */
const asWritten = /^--comment=gpufare:1;\S+ train\.sbatch$/
const hideCursor = '\u001b[?25l'

/** Everything here must hold on a machine without Slurm too: sbatch only notes that it was called. */
let folder = ''
let opened: { readonly close: () => void } | undefined

beforeEach(() => {
  folder = makeFolder()
  mkdirSync(join(folder, 'bin'))
  const sbatch = join(folder, 'bin/sbatch')
  writeFileSync(sbatch, `#!/bin/sh\necho "$*" >> '${folder}/called'\necho Submitted batch job 7\n`)
  chmodSync(sbatch, 0o755)
  writeFileSync(join(folder, 'train.sbatch'), script)
})
afterEach(() => opened?.close())

const environment = () => ({ PATH: `${folder}/bin:${process.env['PATH']}` })

const calls = () => (existsSync(join(folder, 'called')) ? readFileSync(join(folder, 'called'), 'utf8').trim() : 'none')

function openSubmit(words: readonly string[] = [], besides: Readonly<Record<string, string>> = {}, columns = 100) {
  const terminal = openProgram(['submit', 'train.sbatch', ...words], {
    environment: environment(),
    besides,
    columns,
    folder,
  })
  opened = terminal
  return terminal
}

describe('the question in a real terminal', () => {
  test('Enter alone stops, with 4', async () => {
    const terminal = openSubmit()
    await terminal.waitFor('stop')
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(4)
    expect(calls()).toBe('none')
  })

  /** What would submit as written if it were heard. */
  const yes = keys.enter + keys.up.repeat(9) + keys.enter

  test.each([
    ['while the program starts', 0],
    ['while the quote is computed', 120],
    ['while the question is about to be drawn', 250],
  ])('keys typed ahead do not say yes: %s', async (_, milliseconds) => {
    const terminal = openSubmit()
    await new Promise(resolve => setTimeout(resolve, milliseconds))
    terminal.write(`text that was pasted\n1\ny\n${yes}`)
    await terminal.waitFor('stop')
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(4)
    expect(calls()).toBe('none')
  })

  test('keys typed in the very moment the question is drawn do not say yes', async () => {
    const terminal = openSubmit()
    await terminal.waitFor('Submit to')
    terminal.write(yes)
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(4)
    expect(calls()).toBe('none')
  })

  test('whoever types on and on before, while and after it is drawn does not say yes', async () => {
    const terminal = openSubmit()
    const typing = setInterval(() => terminal.write(keys.up), 60)
    await terminal.waitFor('stop')
    await new Promise(resolve => setTimeout(resolve, 600))
    clearInterval(typing)
    terminal.write(keys.enter)
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(4)
    expect(calls()).toBe('none')
  })

  test('text pasted while the question stands does not say yes', async () => {
    const terminal = openSubmit()
    await terminal.waitFor('stop')
    await new Promise(resolve => setTimeout(resolve, 400))
    terminal.write(`1\rk\rj\ras written\r${yes}`)
    await terminal.type(keys.controlC)
    expect(await terminal.ended).toBe(130)
    expect(calls()).toBe('none')
  })

  test('Ctrl-Z stops the job, and after fg the question stands anew and can be answered', async () => {
    const terminal = openTerminal(['/bin/bash', '--norc', '-i'], { environment: environment(), folder })
    opened = terminal
    terminal.write(`${programWords} submit train.sbatch\r`)
    await terminal.waitFor('stop')
    await terminal.type(keys.controlZ)
    await terminal.waitFor('Stopped')
    terminal.write('fg\r')
    await terminal.waitFor('Submit to Slurm')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('Submitted batch job 7')
    expect(calls()).toMatch(asWritten)
  })

  test('arrows and Enter submit as written', async () => {
    const terminal = openSubmit()
    await terminal.waitFor('as written')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('Submitted batch job 7')
    expect(await terminal.ended).toBe(0)
    expect(calls()).toMatch(asWritten)
  })

  test.each([
    ['Ctrl-C', keys.controlC, 130],
    ['Ctrl-D', keys.controlD, 4],
  ])('%s submits nothing and gives the cursor back', async (_, key, exitCode) => {
    const terminal = openSubmit()
    await terminal.waitFor('stop')
    await terminal.type(key)
    expect(await terminal.ended).toBe(exitCode)
    expect(calls()).toBe('none')
    expect(terminal.raw().lastIndexOf(showCursor)).toBeGreaterThan(terminal.raw().lastIndexOf(hideCursor))
  })

  test('an interrupt to the whole process group submits nothing: 130', async () => {
    const terminal = openSubmit()
    await terminal.waitFor('stop')
    process.kill(-terminal.processId, 'SIGINT')
    expect(await terminal.ended).toBe(130)
    expect(calls()).toBe('none')
    expect(terminal.raw().lastIndexOf(showCursor)).toBeGreaterThan(terminal.raw().lastIndexOf(hideCursor))
  })

  test('a terminal that is closed submits nothing', async () => {
    const terminal = openSubmit()
    await terminal.waitFor('stop')
    process.kill(terminal.processId, 'SIGHUP')
    expect(await terminal.ended).toBe(129)
    expect(calls()).toBe('none')
  })

  test('Ctrl-C at any moment before the hand-over submits nothing', { timeout: 60_000 }, async () => {
    for (const milliseconds of [20, 60, 100, 150, 200, 300, 450]) {
      const terminal = openSubmit()
      await new Promise(resolve => setTimeout(resolve, milliseconds))
      await terminal.type(keys.controlC)
      expect(await terminal.ended).toBe(130)
    }
    expect(calls()).toBe('none')
  })

  test('fits a window of 40 columns', async () => {
    const terminal = openSubmit([], {}, 40)
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    expect(await terminal.ended).toBe(0)
    // every redrawing begins anew, with the cursor moved up
    const question = terminal.raw().slice(terminal.raw().indexOf('Submit to'))
    const lines = question.split(new RegExp(`\r\n|${csi}[\\d;]*[A-K]`)).map(line => stripVTControlCharacters(line))
    expect(lines.filter(line => line.length > 40)).toEqual([])
    expect(calls()).toMatch(asWritten)
  })

  test('shows colours, and none with NO_COLOR or --no-color', async () => {
    // control sequences that choose a colour or weight, not those that move the cursor
    const colours = new RegExp(`${csi}[\\d;]*m`)
    for (const [words, more, coloured] of [
      [[], {}, true],
      [[], { NO_COLOR: '1' }, false],
      [['--no-color'], {}, false],
    ] as const) {
      const terminal = openSubmit(words, more)
      await terminal.waitFor('stop')
      await terminal.type(keys.enter)
      expect(await terminal.ended).toBe(4)
      expect(colours.test(terminal.raw())).toBe(coloured)
    }
  })

  test('--dry-run asks, then prints the command and runs nothing', async () => {
    const terminal = openSubmit(['--dry-run', '--', '--comment=a b'])
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor("sbatch '--comment=a b' train.sbatch")
    expect(await terminal.ended).toBe(0)
    expect(calls()).toBe('none')
  })

  test('a build machine with a pseudo-terminal is not asked', async () => {
    const terminal = openSubmit([], { CI: 'true' })
    expect(await terminal.ended).toBe(4)
    expect(terminal.text()).toContain('--max-cost')
  })
})

describe('nobody to ask', () => {
  test('yes | gpufare submit does not submit', async () => {
    const command = `yes | ${programWords} submit train.sbatch; echo "code $?"`
    const terminal = openTerminal(['/bin/sh', '-c', command], { environment: environment(), folder })
    opened = terminal
    await terminal.waitFor('code 4')
    expect(calls()).toBe('none')
  })

  test('without any terminal it answers with 4 and names the flags', async () => {
    const run = await runProgram(['submit', 'train.sbatch'], { environment: environment(), folder, input: 'y\ny\n' })
    expect(run.exitCode).toBe(4)
    expect(run.stdout).toBe('')
    expect(run.stderr).toMatch(/--max-cost AMOUNT.*--yes/)
    expect(calls()).toBe('none')
  })

  test('a manifest on standard input without a terminal is not submitted', async () => {
    const run = await runProgram(['submit', '-'], { environment: environment(), folder, input: script })
    expect(run.exitCode).toBe(4)
    expect(calls()).toBe('none')
  })

  test('--yes submits, and stdout is sbatch’s alone', async () => {
    const run = await runProgram(['submit', '--yes', 'train.sbatch'], { environment: environment(), folder })
    expect(run).toMatchObject({ exitCode: 0, stdout: 'Submitted batch job 7\n' })
  })

  test.each([
    ['a quote', 'estimate train.sbatch'],
    ['a quote as JSON', 'estimate --format json train.sbatch'],
  ])('a disk that is full fails %s in one line, with 1', async (_, words) => {
    const command = `${programWords} ${words} > /dev/full; echo "code $?"`
    const terminal = openTerminal(['/bin/sh', '-c', command], { environment: environment(), folder })
    opened = terminal
    await terminal.waitFor('code 1')
    expect(terminal.text()).toMatch(/^gpufare: the output can't be written: ENOSPC.*\r\ncode 1\r\n$/)
  })

  test('a fault of gpufare’s own is told with its trace, not with the text of the bundle', async () => {
    const breaking = 'data:text/javascript,setTimeout(()=>{throw%20Error(42)},1)'
    const run = await runProgram(['estimate', 'train.sbatch'], {
      environment: { NODE_OPTIONS: `--import ${breaking}` },
      folder,
    })
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toMatch(/^Error: 42\n( {4}at .*\n)+gpufare: this is a fault in gpufare; report/)
  })

  test('a wait for a scheduler turns a spinner and comes to its end', async () => {
    writeFileSync(join(folder, 'bin/kubectl'), '#!/bin/sh\nsleep 1\necho slow >&2\nexit 1\n')
    chmodSync(join(folder, 'bin/kubectl'), 0o755)
    const resources = 'resources: {limits: {nvidia.com/gpu: 1}}'
    writeFileSync(
      join(folder, 'pod.yaml'),
      `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: m, image: i, ${resources}}]}\n`,
    )
    const terminal = openProgram(['submit', '--yes', 'pod.yaml'], { environment: environment(), folder })
    opened = terminal
    await terminal.waitFor('asking Kubernetes')
    expect(await terminal.ended).toBe(1)
    expect(terminal.text()).toContain('slow')
    expect(terminal.text()).not.toContain('fault in gpufare')
  })

  test('an unknown option is repeated without what a terminal would obey', async () => {
    const run = await runProgram(['estimate', '--x\u001b[2J', 'train.sbatch'], { folder })
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toContain('--x\\u001b[2J')
  })

  test('a scheduler that is not there is said plainly', async () => {
    const path = join(folder, 'empty')
    mkdirSync(path)
    const run = await runProgram(['submit', '--yes', 'train.sbatch'], { environment: { PATH: path }, folder })
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain('sbatch is not installed here')
    expect(run.stderr).toContain('login node')
  })
})
