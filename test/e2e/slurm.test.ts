import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from '../folders.ts'
import { describeSlurm } from '../servers/state.ts'
import { keys, openProgram, openTerminal, programWords, runProgram, toTop } from './program.ts'

const folder = makeFolder()
let count = 0

/** What the partitions of the test cluster are, with round rates. */
const configuration = `clusters:
  - name: gpushop
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 4, gres: a100, rate: 2.00}
      - {name: t4, gpu: t4, gpus-per-node: 8, nodes: 2, gres: t4, rate: 0.50}
`

describeSlurm('gpufare submit', environment => {
  const slurm = (program: string, ...words: string[]) =>
    execFileSync(program, words, { env: environment, encoding: 'utf8' })
  const submitted: string[] = []
  afterAll(() => {
    if (submitted.length > 0) slurm('scancel', '--quiet', ...submitted)
  })

  /** A script in a folder of its own that says at its end what it saw. */
  function writeScript(directives: readonly string[], body = 'echo "arguments: $*"', name = 'train.sbatch') {
    const own = join(folder, String(count++))
    execFileSync('mkdir', [own])
    const path = join(own, name)
    writeFileSync(join(own, 'gpufare.yaml'), configuration)
    writeFileSync(path, ['#!/bin/bash', ...directives.map(line => `#SBATCH ${line}`), body, ''].join('\n'))
    return { path, own }
  }

  const small = ['--partition=a100', '--gres=gpu:a100:2', '--time=5', '--output=%j.out']

  /** What Slurm says of a job, as `key: value`. */
  function jobRecord(id: string): Readonly<Record<string, string>> {
    submitted.push(id)
    const record = slurm('scontrol', 'show', 'job', id)
    return Object.fromEntries(
      Array.from(record.matchAll(/(\w[\w/:]*)=(\S*)/g), ([, key = '', value = '']) => [key, value]),
    )
  }

  function idIn(printed: string): string {
    return /\d+/.exec(printed)?.[0] ?? 'none'
  }

  async function endOf(id: string): Promise<Readonly<Record<string, string>>> {
    for (;;) {
      const record = jobRecord(id)
      if (!/PENDING|RUNNING|COMPLETING|CONFIGURING/.test(record['JobState'] ?? '')) return record
      await new Promise(resolve => setTimeout(resolve, 200))
    }
  }

  test('a job lands with what its script asks for, under its own name, runs and ends', async () => {
    const { path, own } = writeScript(small, 'echo "arguments: $*, GPUs: $CUDA_VISIBLE_DEVICES"')
    const words = ['submit', '--yes', path, '--', '--parsable', '--comment=from gpufare', '--', '--lr', '1e-4']
    const { exitCode, stdout, stderr } = await runProgram(words, { environment, folder: own })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^\d+\n$/)
    expect(stderr).toContain('A100-80GB')
    const record = await endOf(stdout.trim())
    expect(record).toMatchObject({
      JobName: 'train.sbatch',
      Command: path,
      Partition: 'a100',
      TresPerNode: 'gres:gpu:a100:2',
      TimeLimit: '00:05:00',
      JobState: 'COMPLETED',
      WorkDir: own,
    })
    const printed = execFileSync('cat', [join(own, `${stdout.trim()}.out`)], { encoding: 'utf8' })
    expect(printed).toBe('arguments: --lr 1e-4, GPUs: 0,1\n')
    expect(slurm('scontrol', 'write', 'batch_script', stdout.trim(), '-')).toContain('#SBATCH --gres=gpu:a100:2')
  })

  test('a script on standard input is submitted as sbatch does it', async () => {
    const script = `#!/bin/bash\n#SBATCH -p a100 --gres=gpu:1 -t 5 -o /dev/null\ntrue\n`
    const words = ['submit', '--yes', '-', '--', '--parsable']
    const { exitCode, stdout } = await runProgram(words, { environment, input: script })
    expect(exitCode).toBe(0)
    expect(jobRecord(stdout.trim())).toMatchObject({ JobName: 'sbatch', Command: '(null)', Partition: 'a100' })
  })

  test('what sbatch refuses, it refuses in its own words and with its own code', async () => {
    const { path } = writeScript(['--partition=a100', '--gres=gpu:a100:9', '--time=5'])
    const refused = await runProgram(['submit', '--yes', path], { environment })
    expect(refused.exitCode).toBe(1)
    expect(refused.stdout).toBe('')
    expect(refused.stderr).toMatch(
      /sbatch: error: Batch job submission failed: Requested node configuration is not available\n$/,
    )
    const waited = await runProgram(['submit', '--yes', writeScript(small, 'exit 3').path, '--', '-W'], { environment })
    expect(waited.exitCode).toBe(3)
  })

  test('several scripts go in their order, and stop at the first that is refused', async () => {
    const good = writeScript(small, 'true', 'good.sbatch')
    const bad = writeScript(['--partition=nowhere', '--gres=gpu:1', '--time=5'], 'true', 'bad.sbatch')
    const last = writeScript(small, 'true', 'last.sbatch')
    const words = ['submit', '--yes', good.path, bad.path, last.path]
    const { exitCode, stdout, stderr } = await runProgram(words, { environment, folder: good.own })
    submitted.push(idIn(stdout))
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^Submitted batch job \d+\n$/)
    expect(stderr).toContain('invalid partition specified: nowhere')
    expect(stderr).toContain(`${bad.path} was not taken; submitted before it: ${good.path}; not tried: ${last.path}`)
  })

  test('at a terminal it asks, names the cluster, and a yes submits', async () => {
    const { path, own } = writeScript(small)
    const terminal = openProgram(['submit', path], { environment, folder: own })
    await terminal.waitFor('Submit to Slurm (cluster gpushop, partition a100)?')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('Submitted batch job ')
    expect(await terminal.ended).toBe(0)
    const record = jobRecord(idIn(terminal.text().split('Submitted batch job ')[1] ?? ''))
    expect(record).toMatchObject({ JobName: 'train.sbatch', TresPerNode: 'gres:gpu:a100:2' })
  })

  test('another GPU type is shown as a change first, and lands as that under the same name', async () => {
    const { path, own } = writeScript(small)
    const terminal = openProgram(['submit', path], { environment, folder: own })
    await terminal.waitFor('on 2x T4 instead')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.down, keys.enter)
    await terminal.waitFor('-#SBATCH --gres=gpu:a100:2')
    await terminal.waitFor('+#SBATCH --gres=gpu:t4:2')
    await terminal.waitFor('with this change?')
    await terminal.waitFor('no, back to the question')
    await terminal.type(keys.up, keys.enter)
    await terminal.waitFor('Submitted batch job ')
    expect(await terminal.ended).toBe(0)
    const record = jobRecord(idIn(terminal.text().split('Submitted batch job ')[1] ?? ''))
    expect(record).toMatchObject({ JobName: 'train.sbatch', Partition: 't4', TresPerNode: 'gres:gpu:t4:2' })
    expect(execFileSync('cat', [path], { encoding: 'utf8' })).toContain('gpu:a100:2')
  })

  test('a change that an option behind -- would undo is not offered', async () => {
    const { path, own } = writeScript(small)
    const words = ['submit', path, '--', '--gres=gpu:a100:2', '--partition=a100']
    const terminal = openProgram(words, { environment, folder: own })
    await terminal.waitFor('as written')
    await terminal.waitFor('stop')
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(4)
    expect(terminal.text()).not.toContain('on 2x T4 instead')
  })

  test('a file that changes while the question stands is not submitted', async () => {
    const { path, own } = writeScript([...small, '--job-name=changes-meanwhile'])
    const terminal = openProgram(['submit', path], { environment, folder: own })
    await terminal.waitFor('stop')
    writeFileSync(path, `#!/bin/bash\n#SBATCH -p a100 --gres=gpu:a100:8 --job-name=changes-meanwhile\ntrue\n`)
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('has changed since it was quoted; nothing was submitted')
    await terminal.waitFor('stop')
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(1)
    expect(slurm('squeue', '--noheader', '--name=changes-meanwhile')).toBe('')
  })

  test('what a changed file holds now is quoted on request, and is what is submitted', async () => {
    const { path, own } = writeScript(small)
    const terminal = openProgram(['submit', path], { environment, folder: own })
    await terminal.waitFor('as written, 2x A100-80GB')
    await terminal.waitFor('stop')
    writeFileSync(path, '#!/bin/bash\n#SBATCH -p a100 --gres=gpu:a100:4 -t 5 -o /dev/null\ntrue\n')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('quote what it holds now')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('as written, 4x A100-80GB')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('Submitted batch job ')
    expect(await terminal.ended).toBe(0)
    const record = jobRecord(idIn(terminal.text().split('Submitted batch job ')[1] ?? ''))
    expect(record).toMatchObject({ TresPerNode: 'gres:gpu:a100:4' })
  })

  test('a script piped in at a terminal is asked about at the keyboard', async () => {
    const { path, own } = writeScript([...small, '--job-name=piped'])
    const command = `cat '${path}' | ${programWords} submit -`
    const terminal = openTerminal(['/bin/sh', '-c', command], { environment, folder: own })
    await terminal.waitFor('Submit to Slurm')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('Submitted batch job ')
    expect(await terminal.ended).toBe(0)
    const record = jobRecord(idIn(terminal.text().split('Submitted batch job ')[1] ?? ''))
    expect(record).toMatchObject({ JobName: 'piped', Command: '(null)' })
  })

  test('stdout can be captured at a terminal while the question is asked', async () => {
    const { path, own } = writeScript(small)
    const command = `id=$(${programWords} submit '${path}' -- --parsable); echo "got:$id:"`
    const terminal = openTerminal(['/bin/sh', '-c', command], { environment, folder: own })
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('got:')
    const id = /got:(\d+):/.exec(terminal.text())?.[1] ?? 'none'
    expect(jobRecord(id)).toMatchObject({ JobName: 'train.sbatch' })
    await terminal.ended
  })
})
